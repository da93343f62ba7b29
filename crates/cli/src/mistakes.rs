//! Wrong invocations, each with what to do instead.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;

/// Words of a command line that cannot be what was meant.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Mistake(String);

impl Mistake {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// A file, and the words of the command that compiles it.
struct Given<'a> {
    file: &'a Path,
    compiler: &'a [String],
}

/// What is wrong, and what to say then.
type Rule = (fn(&Given<'_>) -> bool, fn(&Given<'_>) -> String);

/// The first that applies counts.
const RULES: [Rule; 8] = [
    (
        |given| given.file.is_dir(),
        |given| {
            format!(
                "{} is a folder; name a C file, or tune the project in it: \
                 cd there, and give --build and --run instead of a file",
                given.shown()
            )
        },
    ),
    (
        |given| given.file.is_file() && is_binary(given.file),
        |given| format!("{} is not text; name the C file that it was compiled from", given.shown()),
    ),
    (
        |given| given.has_extension(&["cc", "cpp", "cxx", "c++", "C", "hh", "hpp", "hxx", "cu"]),
        |given| {
            format!(
                "{} is C++, and only C is read; move the loops into a C file \
                 (extern \"C\" in C++ declares its functions), and tune that",
                given.shown()
            )
        },
    ),
    (
        |given| given.has_extension(&["f", "for", "f77", "f90", "f95", "f03", "f08", "F", "F77", "F90"]),
        |given| {
            format!(
                "{} is Fortran, and only C is read; move the loops into a C file \
                 (bind(c) in Fortran declares its functions), and tune that",
                given.shown()
            )
        },
    ),
    (
        |given| given.first().starts_with('-'),
        |given| {
            format!("`{}` is a flag; the compiler stands before it: -- cc {}", given.first(), given.line())
        },
    ),
    (
        |given| given.first().contains(char::is_whitespace) && !Path::new(given.first()).exists(),
        |given| format!("`{}` is quoted, so it is one word; write it as: -- {}", given.first(), given.line()),
    ),
    (
        |given| {
            given.is_of(&["g++", "c++", "clang++", "icpc", "icpx", "mpicxx", "mpic++"]) || given.says("c++")
        },
        |given| {
            format!(
                "{} compiles C++, and only C is read; compile C files by a C compiler, \
                 and link C++ with: -- gcc ... -lstdc++",
                given.first()
            )
        },
    ),
    (
        |given| given.is_of(&["gfortran", "flang", "flang-new", "ifort", "ifx", "mpif90", "mpifort"]),
        |given| {
            format!(
                "{} compiles Fortran, and only C is read; compile C files by a C compiler, \
                 and link Fortran with: -- gcc ... -lgfortran",
                given.first()
            )
        },
    ),
];

impl Given<'_> {
    fn shown(&self) -> String {
        self.file.display().to_string()
    }

    fn first(&self) -> &str {
        self.compiler.first().map_or("", String::as_str)
    }

    fn line(&self) -> String {
        self.compiler.join(" ")
    }

    fn has_extension(&self, known: &[&str]) -> bool {
        self.file.extension().is_some_and(|end| known.iter().any(|known| end == *known))
    }

    /// Whether the compiler has one of these names, perhaps with a target before it and a version behind.
    fn is_of(&self, names: &[&str]) -> bool {
        let program = program(self.first());
        names.iter().any(|name| program == *name || program.ends_with(&format!("-{name}")))
    }

    /// Whether the flags say that files are in this language.
    fn says(&self, language: &str) -> bool {
        let pairs = self.compiler.windows(2).any(|pair| pair[0] == "-x" && pair[1] == language);
        pairs || self.compiler.contains(&format!("-x{language}"))
    }
}

/// Long options of the command that compilers and what starts them have, too.
const SHARED_OPTIONS: [&str; 5] = ["output", "verbose", "help", "version", "quiet"];
/// Options of compilers whose value may look like an option of ours.
const PASS_ON: [&str; 6] = ["-Xlinker", "-Xclang", "-Xpreprocessor", "-Xassembler", "-mllvm", "-Xcompiler"];

/// What to say of a command line that is understood, in which an option of the command stands among those of the compiler.
pub(crate) fn behind_dashes(words: &[OsString], cli: &Command) -> Option<String> {
    let words: Vec<&str> = words.iter().skip(1).map(|word| word.to_str()).collect::<Option<_>>()?;
    let end = words.iter().position(|word| *word == "--")?;
    let command = words[..end].iter().find_map(|word| cli.find_subcommand(word))?;
    // Whether it takes a value, by name.
    let known: BTreeMap<&str, bool> = (command.get_arguments().chain(cli.get_arguments()))
        .filter_map(|option| Some((option.get_long()?, option.get_action().takes_values())))
        .filter(|(name, _)| !SHARED_OPTIONS.contains(name))
        .collect();
    let (mut own, mut compiler) = (Vec::new(), Vec::new());
    let mut behind = words[end + 1..].iter().copied();
    while let Some(word) = behind.next() {
        let option = word.strip_prefix("--").map(|rest| rest.split_once('=').unwrap_or((rest, "")).0);
        let is_passed_on = compiler.last().is_some_and(|before| PASS_ON.contains(before));
        match option.and_then(|name| known.get(name)).filter(|_| !is_passed_on) {
            Some(takes_value) => {
                own.push(word);
                if *takes_value && !word.contains('=') {
                    own.extend(behind.next());
                }
            }
            None => compiler.push(word),
        }
    }
    let first = own.first()?.split('=').next().unwrap_or_default();
    Some(format!(
        "`{first}` is an option of Oxeye, and those stand before `--`:\n  oxeye {} {} -- {}",
        line(&words[..end]),
        line(&own),
        line(&compiler)
    ))
}

/// The name of a program without its folder and its version.
fn program(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-')
}

/// Whether a file has bytes that no text has.
fn is_binary(file: &Path) -> bool {
    let mut start = Vec::new();
    let read = std::fs::File::open(file).and_then(|file| file.take(4096).read_to_end(&mut start));
    read.is_ok() && start.contains(&0)
}

/// Checks a file and the words behind `--`.
///
/// # Errors
/// What to do instead.
pub(crate) fn check(file: &Path, compiler: &[String]) -> Result<(), Mistake> {
    let given = Given { file, compiler };
    match RULES.iter().find(|(is_wrong, _)| is_wrong(&given)) {
        Some((_, words)) => Err(Mistake(words(&given))),
        None => Ok(()),
    }
}

/// Checks the folder that a program is to run in.
///
/// # Errors
/// If there is none.
pub(crate) fn check_folder(folder: Option<&Path>) -> Result<(), Mistake> {
    match folder.filter(|folder| !folder.is_dir()) {
        Some(folder) => Err(Mistake(format!("--cwd: there is no folder {}", folder.display()))),
        None => Ok(()),
    }
}

/// What to do instead of a command line that the parser refuses; `None` where its own words are as good.
pub(crate) fn instead(error: &clap::Error, words: &[OsString], cli: &Command) -> Option<String> {
    let words: Vec<&str> = words.iter().skip(1).map(|word| word.to_str()).collect::<Option<_>>()?;
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let unknown = context(error, ContextKind::InvalidArg)?;
            Some(compile_command(&words).unwrap_or_else(|| no_argument(error, unknown, &words, cli)))
        }
        ErrorKind::MissingRequiredArgument => {
            if let Some(word) = words.iter().find(|word| is_of_file(word))
                && ["--build", "--compile-commands"].iter().any(|build| words.contains(build))
            {
                return Some(format!(
                    "{word} is for one FILE, and a build for a project, in which --only names files, lines or functions"
                ));
            }
            let end = words.iter().position(|word| *word == "--")?;
            let (mut own, mut behind) = (words[..end].to_vec(), words[end..].to_vec());
            match only_source(&mut behind) {
                Some(file) => own.push(file),
                None => {
                    return Some(format!(
                        "name the FILE before `--`:\n  oxeye {} FILE {}",
                        line(&own),
                        line(&behind)
                    ));
                }
            }
            Some(format!("the file stands before `--`:\n  oxeye {} {}", line(&own), line(&behind)))
        }
        ErrorKind::InvalidSubcommand => {
            let word = *words.first()?;
            if word == "version" {
                return Some("`version` is no command; for the version:\n  oxeye -V".to_owned());
            }
            let is_file = word.ends_with(".c") || word.ends_with(".sdfg") || Path::new(word).is_file();
            let with_tune = [&["tune"][..], &words].concat();
            let tune =
                || with_compile_command(&with_tune).unwrap_or_else(|| format!("oxeye {}", line(&with_tune)));
            is_file.then(|| format!("`{word}` is no command; to make it fast:\n  {}", tune()))
        }
        _ => None,
    }
}

/// What to say of words of a compile command, if there are some, that stand before `--`.
fn compile_command(words: &[&str]) -> Option<String> {
    Some(format!("the compile command stands behind `--`:\n  {}", with_compile_command(words)?))
}

/// The command line with the words of a compile command, if there are some, behind `--`.
fn with_compile_command(words: &[&str]) -> Option<String> {
    let end = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    let at = words[..end].iter().position(|word| is_of_compiler(word)).filter(|at| *at > 0)?;
    let (mut own, mut flags) = (words[..at].to_vec(), words[at..end].to_vec());
    if !own.iter().any(|word| word.ends_with(".c")) {
        own.extend(only_source(&mut flags));
    }
    let command = match words.get(end + 1..) {
        Some(behind) if !behind.is_empty() => [behind, &flags[..]].concat(),
        _ if flags.first().is_some_and(|flag| flag.starts_with('-')) => [&["cc"][..], &flags[..]].concat(),
        _ => flags,
    };
    Some(format!("oxeye {} -- {}", line(&own), line(&command)))
}

/// What is wrong with a word that a command does not know, and what was probably meant.
fn no_argument(error: &clap::Error, unknown: &str, words: &[&str], cli: &Command) -> String {
    let n_names = if matches!(words.first(), Some(&("db" | "cache"))) { 2 } else { 1 };
    let names = words.iter().take(n_names).take_while(|word| !word.starts_with('-'));
    let command = ["oxeye"].iter().chain(names).copied().collect::<Vec<_>>().join(" ");
    let arguments = Arguments::of(&words[..n_names.min(words.len())], cli);
    if !unknown.starts_with('-') {
        let why = match &arguments {
            Arguments { takes_compiler: true, .. } if unknown.ends_with(".c") => {
                "; the command that compiles FILE stands behind `--`, further sources too, and"
            }
            Arguments { takes_compiler: true, .. } => {
                "; the command that compiles FILE stands behind `--`, and"
            }
            Arguments { is_of_project: true, .. } => ": the project in the present folder is meant;",
            Arguments { takes_words: false, .. } => ": it takes options only;",
            _ => ";",
        };
        return format!("`{unknown}` is one word too many{why} `{command} -h` lists options");
    }
    if let Some((option, value)) = arguments.negative(words, unknown) {
        return format!("{option} {value}: it must not be negative; `{command} --help` says what it takes");
    }
    // What begins otherwise is hardly a slip.
    let begins_alike = |known: &&str| known.chars().take(3).eq(unknown.chars().take(3));
    let Some(known) = context(error, ContextKind::SuggestedArg).filter(begins_alike) else {
        let more =
            if arguments.takes_compiler { ", and flags of the compiler stand behind `--`" } else { "" };
        return format!("`{command}` has no option `{unknown}`; `{command} --help` lists them{more}");
    };
    let is_it =
        |word: &str| word.strip_prefix(unknown).is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
    let meant = words
        .iter()
        .map(|word| if is_it(word) { word.replacen(unknown, known, 1) } else { (*word).to_owned() });
    let meant: Vec<String> = meant.collect();
    let meant: Vec<&str> = meant.iter().map(String::as_str).collect();
    format!("`{command}` has no option `{unknown}`; perhaps `{known}` is meant:\n  oxeye {}", line(&meant))
}

/// What a subcommand takes besides options.
struct Arguments {
    /// A compile command behind `--`.
    takes_compiler: bool,
    /// Any words at all.
    takes_words: bool,
    /// Whether it has options on how a project is built.
    is_of_project: bool,
    /// Its options with values, as they are typed.
    with_values: Vec<String>,
}

impl Arguments {
    /// Those of the subcommand with these names.
    fn of(names: &[&str], cli: &Command) -> Self {
        let command = names.iter().try_fold(cli, |command, name| command.find_subcommand(name));
        let has = |name: &str| command.is_some_and(|c| c.get_arguments().any(|a| a.get_id() == name));
        let takes_words = command.is_none_or(|command| command.get_positionals().next().is_some());
        let options = command.into_iter().flat_map(|command| command.get_arguments());
        let with_values = options.filter(|option| option.get_action().takes_values()).flat_map(|option| {
            let long = option.get_long_and_visible_aliases().unwrap_or_default();
            let short = option.get_short_and_visible_aliases().unwrap_or_default();
            let long = long.into_iter().map(|name| format!("--{name}"));
            long.chain(short.into_iter().map(|name| format!("-{name}"))).collect::<Vec<_>>()
        });
        Self {
            takes_compiler: has("compiler"),
            takes_words,
            is_of_project: has("build"),
            with_values: with_values.collect(),
        }
    }

    /// The option and the negative number behind it that was taken for another option.
    fn negative<'w>(&self, words: &[&'w str], unknown: &str) -> Option<(&'w str, &'w str)> {
        let is_number = |word: &str| word[1..].starts_with(|c: char| c.is_ascii_digit() || c == '.');
        let pairs = words.windows(2).map(|pair| (pair[0], pair[1]));
        let mut of_number = pairs.filter(|(_, value)| value.starts_with(unknown) && is_number(value));
        of_number.find(|(option, _)| self.with_values.iter().any(|known| known == option))
    }
}

/// Whether a word is an option that only a file has.
fn is_of_file(word: &str) -> bool {
    const OF_FILE: [&str; 9] = [
        "-f",
        "--function",
        "--set",
        "--input",
        "--python",
        "--recipes",
        "--values",
        "--keep-candidates",
        "--learn",
    ];
    OF_FILE.contains(&word.split('=').next().unwrap_or_default())
}

/// A text that the parser gives with an error.
fn context(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// Words as they are typed.
fn line(words: &[&str]) -> String {
    shlex::try_join(words.iter().copied()).unwrap_or_else(|_| words.join(" "))
}

/// Takes the C file out of a compile command that has one.
fn only_source<'w>(command: &mut Vec<&'w str>) -> Option<&'w str> {
    let mut sources = command.iter().enumerate().filter(|(_, word)| word.ends_with(".c"));
    let (at, _) = sources.next()?;
    sources.next().is_none().then(|| command.remove(at))
}

/// Whether a word is of a compile command rather than one of ours.
fn is_of_compiler(word: &str) -> bool {
    const COMPILERS: [&str; 9] = ["cc", "gcc", "clang", "icx", "icc", "tcc", "mpicc", "nvc", "c99"];
    const FLAGS: [&str; 16] = [
        "-O", "-m", "-l", "-L", "-I", "-D", "-U", "-W", "-g", "-x", "-std", "-ff", "-fo", "-fno", "-pthread",
        "-static",
    ];
    let program = program(word);
    let is_compiler = COMPILERS.iter().any(|name| program == *name || program.ends_with(&format!("-{name}")));
    is_compiler || FLAGS.iter().any(|flag| word.starts_with(flag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;
    use clap::{CommandFactory, Parser};

    /// What is said of `FILE -- CC ARGS`.
    fn said(file: &str, compiler: &[&str]) -> String {
        let compiler: Vec<String> = compiler.iter().map(|word| (*word).to_owned()).collect();
        check(Path::new(file), &compiler).err().map(|mistake| mistake.to_string()).unwrap_or_default()
    }

    #[test]
    fn compile_commands_that_are_none() {
        for (compiler, words) in [
            (&["-O3", "-lm"][..], "`-O3` is a flag; the compiler stands before it: -- cc -O3 -lm"),
            (&["gcc -O2"], "`gcc -O2` is quoted, so it is one word; write it as: -- gcc -O2"),
            (&["/usr/bin/g++-12", "-O2"], "/usr/bin/g++-12 compiles C++, and only C is read"),
            (&["gcc", "-x", "c++"], "gcc compiles C++"),
            (&["gfortran"], "gfortran compiles Fortran, and only C is read"),
        ] {
            assert!(said("a.c", compiler).starts_with(words), "{}", said("a.c", compiler));
        }
        for right in [&["gcc", "-O2"][..], &["x86_64-linux-gnu-gcc-12"], &["clang-19"], &[]] {
            assert_eq!(said("a.c", right), "");
        }
    }

    #[test]
    fn files_that_are_not_c() {
        assert!(said("x.cpp", &[]).contains("is C++") && said("x.f90", &["gcc"]).contains("is Fortran"));
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("prog.c");
        std::fs::write(&file, b"\x7fELF\x02\x01\x00").expect("written");
        let said = |path: &Path| said(path.to_str().expect("text"), &[]);
        assert!(said(&file).ends_with("is not text; name the C file that it was compiled from"));
        assert!(said(folder.path()).contains("is a folder; name a C file"));
        std::fs::write(&file, "int main(void) { return 0; }\n").expect("written");
        assert_eq!(said(&file), "");
        assert!(check_folder(Some(&file)).is_err() && check_folder(None).is_ok());
    }

    #[test]
    fn words_that_belong_behind_dashes() {
        let instead = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
            let error = Cli::try_parse_from(&words).err().expect("it is no command line");
            super::instead(&error, &words, &Cli::command())
        };
        let behind = |line: &str| format!("the compile command stands behind `--`:\n  {line}");
        assert_eq!(instead("oxeye tune x.c gcc -O3"), Some(behind("oxeye tune x.c -- gcc -O3")));
        assert_eq!(instead("oxeye optimize x.c -O3"), Some(behind("oxeye optimize x.c -- cc -O3")));
        assert_eq!(
            instead("oxeye tune x.c --budget 5s -fopenmp -O3 -- gcc"),
            Some(behind("oxeye tune x.c --budget 5s -- gcc -fopenmp -O3"))
        );
        assert_eq!(instead("oxeye tune gcc -O3 x.c"), Some(behind("oxeye tune x.c -- gcc -O3")));
        let before = instead("oxeye tune -- gcc -O3 x.c -lm").expect("a hint");
        assert_eq!(before, "the file stands before `--`:\n  oxeye tune x.c -- gcc -O3 -lm");
        let quoted: Vec<OsString> =
            ["oxeye", "tune", "x.c", "--run", "./x 3", "-O2"].map(Into::into).to_vec();
        let error = Cli::try_parse_from(&quoted).err().expect("it is no command line");
        assert_eq!(
            super::instead(&error, &quoted, &Cli::command()),
            Some(behind("oxeye tune x.c --run './x 3' -- cc -O2"))
        );
        assert_eq!(
            instead("oxeye tune -- gcc -O3").as_deref(),
            Some("name the FILE before `--`:\n  oxeye tune FILE -- gcc -O3")
        );
        let file = instead("oxeye x.c -- gcc").expect("a hint");
        assert!(file.ends_with("oxeye tune x.c -- gcc"), "{file}");
        for (line, meant) in [
            ("oxeye x.c -O3", "oxeye tune x.c -- cc -O3"),
            ("oxeye x.c gcc -O3 -lm", "oxeye tune x.c -- gcc -O3 -lm"),
            ("oxeye x.c", "oxeye tune x.c"),
        ] {
            let said = instead(line).expect("a hint");
            assert_eq!(said, format!("`x.c` is no command; to make it fast:\n  {meant}"));
        }
        let version = instead("oxeye version").expect("a hint");
        assert!(version.ends_with("oxeye -V"), "{version}");
    }

    #[test]
    fn options_that_belong_before_dashes() {
        let said = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
            behind_dashes(&words, &Cli::command())
        };
        for (line, meant) in [
            ("oxeye tune a.c -- gcc -O2 --dry-run", "oxeye tune a.c --dry-run -- gcc -O2"),
            ("oxeye optimize a.c -- gcc --budget 5s -lm", "oxeye optimize a.c --budget 5s -- gcc -lm"),
            ("oxeye -v tune a.c -- cc --fp=strict -O2", "oxeye -v tune a.c '--fp=strict' -- cc -O2"),
        ] {
            let said = said(line).expect("a hint");
            assert!(
                said.contains("is an option of Oxeye") && said.ends_with(&format!(":\n  {meant}")),
                "{said}"
            );
        }
        for right in [
            "oxeye tune a.c -- gcc -Xlinker --threads --sysroot=/ --verbose -Wl,--threads",
            "oxeye tune a.c --dry-run -- gcc",
            "oxeye profile a.c -- gcc --budget",
            "oxeye check",
        ] {
            assert_eq!(said(right), None, "{right}");
        }
    }

    #[test]
    fn words_that_no_command_knows() {
        let instead = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
            let error = Cli::try_parse_from(&words).err().expect("it is no command line");
            super::instead(&error, &words, &Cli::command()).expect("a hint")
        };
        for (line, meant) in [
            (
                "oxeye tune x.c --bugdet 3s",
                "`oxeye tune` has no option `--bugdet`; perhaps `--budget` is meant:\n  oxeye tune x.c --budget 3s",
            ),
            ("oxeye tune x.c --bugdet=3s -- gcc -O2", "oxeye tune x.c '--budget=3s' -- gcc -O2"),
            ("oxeye profile x.c --thread 2", "oxeye profile x.c --threads 2"),
            ("oxeye db list --limt 3", "`oxeye db list` has no option `--limt`; perhaps `--limit` is meant"),
        ] {
            assert!(instead(line).contains(meant), "{line}: {}", instead(line));
        }
        let other = instead("oxeye profile x.c --budget 3s");
        assert!(
            other.starts_with("`oxeye profile` has no option `--budget`; `oxeye profile --help`"),
            "{other}"
        );
        let project = instead("oxeye tune --build make --run ./x -f step");
        assert!(project.starts_with("-f is for one FILE") && project.contains("--only"), "{project}");
        let none = instead("oxeye tune x.c --zzz");
        assert!(
            none.starts_with("`oxeye tune` has no option `--zzz`; `oxeye tune --help` lists them"),
            "{none}"
        );
        for (line, said) in [
            ("oxeye tune x.c --budget -5", "--budget -5: it must not be negative; `oxeye tune --help`"),
            ("oxeye tune x.c --budget -1.5m -- cc", "--budget -1.5m: it must not be negative"),
            ("oxeye tune x.c --min-share -2 -q", "--min-share -2: it must not be negative"),
            ("oxeye db list --limit -2", "--limit -2: it must not be negative; `oxeye db list --help`"),
            ("oxeye tune x.c --dry-run -2", "`oxeye tune` has no option `-2`"),
        ] {
            assert!(instead(line).starts_with(said), "{line}: {}", instead(line));
        }
        for (line, said) in [
            (
                "oxeye check x.c",
                "`x.c` is one word too many: the project in the present folder is meant; `oxeye check -h` lists options",
            ),
            (
                "oxeye doctor x",
                "`x` is one word too many: it takes options only; `oxeye doctor -h` lists options",
            ),
            ("oxeye db list x", "`x` is one word too many: it takes options only; `oxeye db list -h`"),
            ("oxeye check --zzz", "has no option `--zzz`; `oxeye check --help` lists them"),
        ] {
            let instead = instead(line);
            assert!(instead.contains(said) && !instead.contains("--`"), "{line}: {instead}");
        }
        let second = instead("oxeye tune x.c y.c");
        assert!(
            second.contains("`y.c` is one word too many") && second.contains("further sources too"),
            "{second}"
        );
    }
}
