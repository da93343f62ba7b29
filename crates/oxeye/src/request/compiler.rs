//! The compiler that the user compiles with.

use super::reading_args::reading_args;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

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

/// A compiler that may be run without anybody's word for it, in place of one that a file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainCompiler {
    /// `cc`, with the arguments that say what a source means.
    pub compiler: Compiler,
    /// The arguments that were left out and might say something too.
    pub left_out: Vec<String>,
    /// Whether the one that was named is another program than `cc`.
    pub is_other: bool,
}

impl PlainCompiler {
    /// That it stands in for `named`, in a sentence; `None` if that makes no difference.
    pub fn note(&self, named: &Compiler) -> Option<String> {
        let command = &self.compiler.command;
        match (self.is_other, self.left_out.as_slice()) {
            (false, []) => None,
            (true, []) => Some(format!(
                "read with `{command}`: `{}` of the recipe file is only run if it is named",
                named.command
            )),
            (_, left_out) => Some(format!(
                "read with `{command}`, without {} of the recipe file's flags",
                left_out.join(" ")
            )),
        }
    }
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
                "-c" | "-xc" => {}
                // It would be said of the objects that are linked, too; what is read is C by its name.
                "-x" if rest.as_slice().first().is_some_and(|language| language == "c") => drop(rest.next()),
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

    /// What stands in for this compiler where a file names it: files come from anywhere, and neither the command in one nor
    /// a flag that loads or starts something is run unless the user says so.
    pub fn plain(&self) -> PlainCompiler {
        let command = Self::default().command;
        let (args, left_out) = reading_args(&self.args);
        let is_other = match (program(&self.command), program(&command)) {
            (Some(named), Some(plain)) => named != plain,
            _ => self.command != command,
        };
        PlainCompiler { compiler: Self { command, args, chosen: self.chosen }, left_out, is_other }
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

    /// Whether the flags say that numbers are finite and that zeros have no sign, so that a product with zero is zero; the last
    /// word counts.
    pub fn has_finite_math(&self) -> bool {
        let said = self.args.iter().fold((false, false), |(finite, signless), flag| match flag.as_str() {
            "-ffast-math" | "-Ofast" | "-ffp-model=aggressive" => (true, true),
            "-fno-fast-math" | "-ffp-model=strict" | "-ffp-model=precise" => (false, false),
            "-ffinite-math-only" => (true, signless),
            "-fno-finite-math-only" | "-fhonor-nans" | "-fhonor-infinities" => (false, signless),
            "-fno-signed-zeros" | "-funsafe-math-optimizations" => (finite, true),
            "-fsigned-zeros" | "-fno-unsafe-math-optimizations" => (finite, false),
            _ => (finite, signless),
        });
        said == (true, true)
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

    /// Whether the compiler makes no vectors of loops with square roots, since these may set `errno`: clang, by default.
    pub fn keeps_errno_of_roots(&self) -> bool {
        let is_clang =
            Path::new(&self.command).file_name().is_some_and(|name| name.to_string_lossy().contains("clang"));
        let keeps = self.args.iter().fold(true, |keeps, flag| match flag.as_str() {
            "-fmath-errno" | "-fno-fast-math" => true,
            "-fno-math-errno" | "-ffast-math" | "-Ofast" => false,
            _ => keeps,
        });
        is_clang && keeps
    }

    /// Whether the flags want declarations at the beginnings of blocks only: a dialect from before 1999, the last word on which
    /// counts, or a warning of others.
    pub fn declares_first(&self) -> bool {
        const OLD: [&str; 6] = ["c89", "c90", "gnu89", "gnu90", "iso9899:1990", "iso9899:199409"];
        let dialect = self.args.iter().fold(false, |is_old, flag| match flag.as_str() {
            "-ansi" | "--ansi" => true,
            flag => match flag.strip_prefix("-std=").or_else(|| flag.strip_prefix("--std=")) {
                Some(name) => OLD.contains(&name),
                None => is_old,
            },
        });
        dialect
            || self.args.iter().any(|flag| {
                flag.strip_prefix("-W").is_some_and(|name| {
                    name == "declaration-after-statement" || name == "error=declaration-after-statement"
                })
            })
    }

    /// Further C sources among the arguments.
    pub fn sources(&self) -> impl Iterator<Item = &Path> {
        self.args.iter().filter(|a| !a.starts_with('-') && a.ends_with(".c")).map(Path::new)
    }

    /// Whether anything is compiled or linked besides the file, so that its functions may be called from there.
    pub fn links_others(&self) -> bool {
        const CODE: &[&str] = &["c", "cc", "cpp", "cxx", "C", "f", "f90", "F90", "s", "S", "o", "a", "so"];
        let is_code = |a: &String| a.rsplit_once('.').is_some_and(|(_, end)| CODE.contains(&end));
        self.args.iter().any(|a| !a.starts_with('-') && is_code(a))
    }

    /// Whether objects or archives are linked in.
    pub fn links_objects(&self) -> bool {
        self.args.iter().any(|a| !a.starts_with('-') && (a.ends_with(".o") || a.ends_with(".a")))
    }
}

/// The file that a command of one word runs; `None` for paths, which mean something else elsewhere.
fn program(command: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").filter(|_| !command.contains('/'))?;
    std::env::split_paths(&folders).find_map(|folder| folder.join(command).canonicalize().ok())
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
        let c = compiler("gcc -O3 -x c gemm.c -o gemm util.c -xc -lm -c -ogemm");
        assert_eq!(c.args, ["-O3", "util.c", "-lm"]);
        assert_eq!(c.sources().collect::<Vec<_>>(), [Path::new("util.c")]);
    }

    #[test]
    fn what_a_file_names_is_not_run() {
        let c = compiler("./evil.sh -O3 -DN=3 -fplugin=./evil.so util.c -lm");
        let plain = c.plain();
        assert_eq!(plain.compiler.command, "cc");
        assert_eq!(plain.compiler.args, ["-O3", "-DN=3", "util.c"]);
        assert_eq!((plain.left_out.len(), plain.is_other), (1, true));
        assert!(plain.note(&c).is_some_and(|note| note.contains("-fplugin=./evil.so")));
        let same = compiler("cc -O3 -lm");
        assert_eq!(same.plain().note(&same), None);
    }

    #[test]
    fn the_last_floating_point_flag_counts() {
        assert!(!compiler("gcc -O3").allows_reassociation());
        assert!(compiler("gcc -O3 -ffast-math").allows_reassociation());
        assert!(!compiler("gcc -Ofast -fno-associative-math").allows_reassociation());
        assert!(compiler("gcc -fno-fast-math -fassociative-math").allows_reassociation());
        assert!(compiler("gcc -O3 -ffast-math").has_finite_math());
        assert!(compiler("gcc -ffinite-math-only -fno-signed-zeros").has_finite_math());
        assert!(!compiler("gcc -O3 -ffinite-math-only").has_finite_math());
        assert!(!compiler("gcc -Ofast -fsigned-zeros").has_finite_math());
        assert!(!compiler("gcc -O3 -fassociative-math").has_finite_math());
    }

    #[test]
    fn other_code_may_call_functions_of_the_file() {
        assert!(!compiler("gcc -O3 -DX=a.c -o prog -lm").links_others());
        for other in ["util.c", "solve.f90", "lib/part.o", "libx.a", "x.so"] {
            assert!(compiler(&format!("gcc -O3 {other}")).links_others(), "{other}");
        }
    }

    #[test]
    fn dialects_before_1999_declare_first() {
        for line in
            ["gcc -std=gnu89", "gcc -ansi -O2", "gcc -std=c99 -std=c90", "cc -Wdeclaration-after-statement"]
        {
            assert!(compiler(line).declares_first(), "{line}");
        }
        for line in
            ["gcc", "gcc -std=c89 -std=gnu11", "gcc -ansi -std=c99", "gcc -Wno-declaration-after-statement"]
        {
            assert!(!compiler(line).declares_first(), "{line}");
        }
    }

    #[test]
    fn sums_become_vectors_by_themselves_where_flags_allow_it() {
        assert!(compiler("gcc -O3 -ffast-math").vectorizes_sums());
        assert!(compiler("clang -Ofast -march=native").vectorizes_sums());
        assert!(!compiler("gcc -O3").vectorizes_sums());
        assert!(!compiler("gcc -O3 -ffast-math -O2").vectorizes_sums());
        assert!(!compiler("gcc -O3 -ffast-math -fno-tree-vectorize").vectorizes_sums());
    }

    #[test]
    fn clang_keeps_errno_unless_it_is_told_otherwise() {
        for line in ["clang -O3", "/usr/bin/clang-19", "clang -Ofast -fmath-errno"] {
            assert!(compiler(line).keeps_errno_of_roots(), "{line}");
        }
        for line in ["gcc -O3", "clang -ffast-math", "clang -fno-math-errno"] {
            assert!(!compiler(line).keeps_errno_of_roots(), "{line}");
        }
    }
}
