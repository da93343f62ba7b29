//! The command that would go on where a tuning run ended.

use crate::program::ProgramArgs;
use std::time::Duration;

/// The subcommand.
const TUNE: &str = "tune";
/// A run this long is worth starting.
const LEAST_MINUTES: u64 = 5;
/// How many times as long as the run before it one is.
const LONGER: u32 = 5;

/// `oxeye tune` for the same program, as it would have to be typed.
pub(crate) struct GoOn {
    /// The words before `-f`, those behind it, and the compiler's.
    parts: Option<[Vec<String>; 3]>,
}

impl GoOn {
    /// After a run with these arguments. `options` are words of further options, if they can be typed.
    pub(crate) fn after(program: &ProgramArgs, options: Option<Vec<String>>, budget: Duration) -> Self {
        let parts = || {
            let minutes = (LONGER * budget).as_secs().div_ceil(60).max(LEAST_MINUTES);
            let name = std::env::args().next().unwrap_or_else(|| "oxeye".into());
            let file = program.file.to_str()?.to_owned();
            let before = vec![name, TUNE.into(), file, "--budget".into(), format!("{minutes}m")];
            let mut behind = program.words()?;
            behind.extend(options?);
            Some([before, behind, program.compiler.clone()])
        };
        Self { parts: parts() }
    }

    /// The command line for the nests of one function, or of all of those that the run was about. `None` if it cannot be
    /// typed, or `is_tune` says that the words are no arguments of `tune`.
    pub(crate) fn command(
        &self,
        function: Option<&str>,
        given: Option<&str>,
        is_tune: &dyn Fn(&[String]) -> bool,
    ) -> Option<String> {
        let [before, behind, compiler] = self.parts.clone()?;
        let function = given.or(function).map(|name| vec!["-f".to_owned(), name.to_owned()]);
        let mut words = [before, function.unwrap_or_default(), behind].concat();
        if !compiler.is_empty() {
            words.push("--".into());
            words.extend(compiler);
        }
        let line = words.iter().map(|word| typed(word)).collect::<Option<Vec<String>>>()?.join(" ");
        // What the shell and the parser would make of it.
        let words = shlex::split(&line)?;
        is_tune(words.get(2..)?).then_some(line)
    }
}

/// A word as a shell takes it, in quotes only where it needs them.
fn typed(word: &str) -> Option<String> {
    // No shell does anything about a `=` inside of a word, which compilers are full of.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+=.,:/@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) && !word.starts_with('=') {
        return Some(word.to_owned());
    }
    shlex::try_quote(word).ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cli, Command, tune};
    use clap::Parser;

    fn parsed(words: &[String]) -> tune::Args {
        match Cli::try_parse_from(words).unwrap_or_else(|error| panic!("{words:?}: {error}")).command {
            Command::Tune(args) => args,
            _ => panic!("{words:?} tunes nothing"),
        }
    }

    /// The command after `oxeye tune` with these words, and what a shell and the parser make of it.
    fn after(words: &[&str], function: Option<&str>) -> (String, ProgramArgs) {
        let words: Vec<String> = ["oxeye", "tune"].iter().chain(words).map(|word| (*word).into()).collect();
        let args = parsed(&words);
        let go_on = args.go_on().expect("a file");
        let line =
            go_on.command(function, args.given_function(), &tune::are_arguments).expect("it can be typed");
        let typed = parsed(&shlex::split(&line).expect("a shell reads it"));
        (line, typed.program().expect("a program").expect("a file"))
    }

    #[test]
    fn a_search_of_the_same_program() {
        let (line, args) =
            after(&["gemm.c", "--", "gcc", "-O3", "-march=native", "-lm"], Some("kernel_gemm"));
        let line = line.split_once(' ').expect("words").1;
        assert_eq!(line, "tune gemm.c --budget 5m -f kernel_gemm -- gcc -O3 -march=native -lm");
        let options = args.options().expect("options");
        assert_eq!(options.focus.function.as_deref(), Some("kernel_gemm"));
        assert_eq!(options.compiler.args, ["-O3", "-march=native", "-lm"]);
        let (line, _) = after(&["gemm.c", "--budget", "2m"], None);
        assert!(line.ends_with("tune gemm.c --budget 10m"), "{line}");
    }

    #[test]
    fn everything_that_was_said_is_said_again_in_quotes() {
        let words = [
            "my file.c",
            "-f",
            "a",
            "-o",
            "o'ut.c",
            "--set",
            "n=2000",
            "--set",
            "m=3",
            "--input",
            "A=my data.npy",
            "--threads",
            "2",
            "--no-alias",
            "--fp",
            "strict",
            "--tolerance",
            "1e-4",
            "--ignore",
            "took .* s",
            "--compare",
            "u.bin:f32",
            "--database",
            "team db.sqlite",
            "--",
            "gcc",
            "-O2",
            "-DNAME=\"a b\"",
            "-DF(x)=$x;",
        ];
        let (line, args) = after(&words, Some("b"));
        let options = args.options().expect("options");
        assert_eq!(options.file.to_str(), Some("my file.c"));
        assert_eq!(options.focus.function.as_deref(), Some("a"), "{line}");
        assert_eq!(options.sizes.get("n"), Some(&2000));
        assert_eq!(options.sizes.get("m"), Some(&3));
        assert_eq!(options.inputs.get("A").and_then(|path| path.to_str()), Some("my data.npy"));
        assert!(options.threads == 2 && options.no_alias);
        assert_eq!(options.compiler.args, ["-O2", "-DNAME=\"a b\"", "-DF(x)=$x;"]);
        for part in [
            "'my file.c'",
            "--fp strict",
            "--database 'team db.sqlite'",
            "-o \"o'ut.c\"",
            "--tolerance=1e-4",
            "'--ignore=took .* s'",
            "--compare=u.bin:f32",
        ] {
            assert!(line.contains(part), "{part}: {line}");
        }
    }
}
