//! The compiler that the user compiles with.

use serde::{Deserialize, Serialize};
use std::path::Path;

/// A C compiler with the arguments the user compiles with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiler {
    /// The command.
    pub command: String,
    /// Flags, further sources and libraries, without the file itself, `-o` and `-c`.
    pub args: Vec<String>,
    /// Whether the user named it, or it is our default.
    pub chosen: bool,
}

impl Default for Compiler {
    fn default() -> Self {
        let args = ["-O3", "-march=native", "-lm"].map(str::to_owned).to_vec();
        Self { command: "cc".into(), args, chosen: false }
    }
}

impl Compiler {
    /// From the words of a compile command (`gcc -O3 gemm.c -o gemm -lm`) for `file`: the file itself, `-o NAME` and
    /// `-c` are left out. No words give the default.
    pub fn from_words(words: &[String], file: &Path) -> Self {
        let Some((command, rest)) = words.split_first() else { return Self::default() };
        let same_file = |word: &str| {
            word == file.as_os_str()
                || matches!((Path::new(word).canonicalize(), file.canonicalize()), (Ok(a), Ok(b)) if a == b)
        };
        let mut args = Vec::new();
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            match word.as_str() {
                "-o" => drop(rest.next()),
                "-c" => {}
                w if w.starts_with("-o") && !w.starts_with("-openmp") && w.len() > 2 => {}
                w if !w.starts_with('-') && same_file(w) => {}
                _ => args.push(word.clone()),
            }
        }
        Self { command: command.clone(), args, chosen: true }
    }

    /// The command line, for people.
    pub fn line(&self) -> String {
        std::iter::once(&self.command).chain(&self.args).map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// Whether the flags let the compiler itself reorder floating-point operations; the last word counts.
    pub fn allows_reassociation(&self) -> bool {
        self.args.iter().fold(false, |allowed, flag| match flag.as_str() {
            "-ffast-math" | "-Ofast" | "-fassociative-math" | "-funsafe-math-optimizations" => true,
            "-fno-fast-math" | "-fno-associative-math" | "-fno-unsafe-math-optimizations" => false,
            "-ffp-model=strict" | "-ffp-model=precise" => false,
            "-ffp-model=fast" | "-ffp-model=aggressive" => true,
            _ => allowed,
        })
    }

    /// Whether the compiler makes vectors of floating-point sums without being asked: it may reorder them, and optimises
    /// as far as that.
    pub fn vectorizes_sums(&self) -> bool {
        let level = self.args.iter().rfind(|flag| flag.starts_with("-O"));
        let tries = level.is_some_and(|level| matches!(level.as_str(), "-O3" | "-O4" | "-Ofast"));
        let told_not_to =
            self.args.iter().any(|flag| flag.starts_with("-fno-tree-") || flag == "-fno-vectorize");
        self.allows_reassociation() && tries && !told_not_to
    }

    /// Further C sources among the arguments.
    pub fn sources(&self) -> impl Iterator<Item = &Path> {
        self.args.iter().filter(|a| !a.starts_with('-') && a.ends_with(".c")).map(Path::new)
    }

    /// Whether objects or archives are linked in.
    pub fn links_objects(&self) -> bool {
        self.args.iter().any(|a| !a.starts_with('-') && (a.ends_with(".o") || a.ends_with(".a")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiler(line: &str) -> Compiler {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Compiler::from_words(&words, Path::new("gemm.c"))
    }

    #[test]
    fn a_pasted_compile_command_loses_what_names_its_product() {
        let c = compiler("gcc -O3 gemm.c -o gemm util.c -lm -c -ogemm");
        assert_eq!(c.args, ["-O3", "util.c", "-lm"]);
        assert_eq!(c.sources().collect::<Vec<_>>(), [Path::new("util.c")]);
    }

    #[test]
    fn the_last_floating_point_flag_counts() {
        assert!(!compiler("gcc -O3").allows_reassociation());
        assert!(compiler("gcc -O3 -ffast-math").allows_reassociation());
        assert!(!compiler("gcc -Ofast -fno-associative-math").allows_reassociation());
        assert!(compiler("gcc -fno-fast-math -fassociative-math").allows_reassociation());
    }

    #[test]
    fn sums_become_vectors_by_themselves_where_flags_allow_it() {
        assert!(compiler("gcc -O3 -ffast-math").vectorizes_sums());
        assert!(compiler("clang -Ofast -march=native").vectorizes_sums());
        assert!(!compiler("gcc -O3").vectorizes_sums());
        assert!(!compiler("gcc -O3 -ffast-math -O2").vectorizes_sums());
        assert!(!compiler("gcc -O3 -ffast-math -fno-tree-vectorize").vectorizes_sums());
    }
}
