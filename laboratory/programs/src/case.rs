//! A program with what its original prints, and what comes of a version of it.

use crate::builds::{Build, Builds, Lengths, Ran};
use crate::compare::difference;
use crate::program::Program;
use oxeye::RecipeFile;
use oxeye_frontend::{FrontendError, ReadOptions, Unit, encoded, read_c};
use oxeye_measure::MeasureError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

const HELPERS: &str = include_str!("helpers.h");

/// Threads of runs.
const THREADS: u32 = 2;

/// Runs of the original when a version is wrong: it might be wrong now and then, too.
const RUNS_IN_DOUBT: usize = 4;

/// What numbers may differ by where sums may be reordered. Data are such that little is ever rounded.
const TOLERANCE: f64 = 2e-5;

/// A program that does something else than its original.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What and where, in a few lines.
    pub what: String,
    /// Where the smallest program that fails like this lies, if there is one.
    pub folder: Option<PathBuf>,
}

/// Why a program says nothing about Oxeye.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// The generator made something undefined, or no C.
    #[error("seed {seed}: the original itself is wrong ({build}): {what}")]
    Original {
        /// Of the program.
        seed: u64,
        /// Compiler and flags.
        build: String,
        /// What is said of it.
        what: String,
    },
    /// A process could not be started.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// A file could not be written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// A program with what its originals print.
pub(crate) struct Case<'p> {
    pub(crate) program: &'p Program,
    pub(crate) folder: &'p Path,
    pub(crate) options: ReadOptions,
    /// By lengths: what is printed.
    expected: Vec<(Lengths, String)>,
}

/// A version that was found wrong.
pub(crate) struct Wrong {
    pub(crate) build: Build,
    pub(crate) lengths: Lengths,
    pub(crate) what: String,
}

/// Does something that may panic; the words of the panic.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|cause| {
        let text = cause.downcast_ref::<String>().map(String::as_str);
        text.or(cause.downcast_ref::<&str>().copied()).unwrap_or("unknown").to_owned()
    })
}

impl<'p> Case<'p> {
    /// Builds the original for two lengths with sanitizers; what it prints is what is expected.
    pub(crate) fn new(
        program: &'p Program,
        folder: &'p Path,
        builds: &Builds,
        lengths: [Lengths; 2],
        openmp: bool,
        turn: usize,
    ) -> Result<Self, Unusable> {
        let mut args = vec!["-O2".to_owned(), "-std=gnu99".to_owned()];
        if openmp {
            args.push("-fopenmp".into());
        }
        args.extend(lengths[0].args());
        let options = ReadOptions { compiler: builds.first().to_owned(), args, ..ReadOptions::default() };
        let mut case = Self { program, folder, options, expected: Vec::new() };
        std::fs::write(folder.join("helpers.h"), HELPERS)?;
        std::fs::write(folder.join("program.c"), encoded(&case.source()))?;
        for (k, lengths) in lengths.into_iter().enumerate() {
            let build = builds.sanitized(turn + k);
            match build.run(&folder.join("program.c"), lengths, THREADS)? {
                Ran::Printed(text) => case.expected.push((lengths, text)),
                Ran::DoesNotCompile(what) | Ran::Failed(what) => {
                    return Err(Unusable::Original { seed: program.seed, build: build.line(lengths), what });
                }
            }
        }
        Ok(case)
    }

    pub(crate) fn source(&self) -> String {
        self.program.text()
    }

    /// The lengths that it is read with, and others.
    pub(crate) fn lengths(&self) -> [Lengths; 2] {
        [self.expected[0].0, self.expected[1].0]
    }

    /// Reads the original.
    pub(crate) fn read(&self) -> Result<Unit, FrontendError> {
        read_c(&self.folder.join("program.c"), &self.options)
    }

    /// What is wrong with a version.
    pub(crate) fn check(
        &self,
        text: &str,
        build: &Build,
        lengths: Lengths,
        tolerant: bool,
    ) -> Result<Option<Wrong>, Unusable> {
        let file = self.folder.join("version.c");
        std::fs::write(&file, encoded(text))?;
        let expected = self.expected.iter().find(|(l, _)| *l == lengths).map_or("", |(_, text)| text);
        let wrong = match build.run(&file, lengths, THREADS)? {
            Ran::Printed(text) => difference(expected, &text, tolerant.then_some(TOLERANCE)),
            Ran::DoesNotCompile(what) => Some(format!("does not compile: {what}")),
            Ran::Failed(what) => Some(what),
        };
        Ok(wrong.map(|what| Wrong { build: build.clone(), lengths, what }))
    }

    /// Whether the original does right with this build, every time.
    pub(crate) fn is_own_fault(
        &self,
        build: &Build,
        lengths: Lengths,
        tolerant: bool,
    ) -> Result<bool, Unusable> {
        for _ in 0..RUNS_IN_DOUBT {
            if self.check(&self.source(), build, lengths, tolerant)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Keeps what shows a failure.
    pub(crate) fn failure(
        &self,
        what: &str,
        text: &str,
        recipes: Option<&RecipeFile>,
        keep: Option<&Path>,
    ) -> Result<Failure, Unusable> {
        let seed = self.program.seed;
        let what = format!("seed {seed}: {what}\n  read with {}", self.options.args.join(" "));
        let Some(keep) = keep else { return Ok(Failure { what, folder: None }) };
        let mut folder = keep.join(format!("seed-{seed}"));
        for more in 2.. {
            if !folder.exists() {
                break;
            }
            folder = keep.join(format!("seed-{seed}-{more}"));
        }
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("helpers.h"), HELPERS)?;
        std::fs::write(folder.join("program.c"), encoded(&self.source()))?;
        std::fs::write(folder.join("version.c"), encoded(text))?;
        std::fs::write(folder.join("what.txt"), format!("{what}\n"))?;
        if let Some(recipes) = recipes {
            std::fs::write(folder.join("recipes.json"), recipes.to_json())?;
        }
        Ok(Failure { what, folder: Some(folder) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_found() {
        let builds = Builds::found().expect("a compiler");
        let program = Program::new(3);
        let work = tempfile::tempdir().expect("a folder");
        let lengths = [Lengths { given: None }, Lengths { given: Some((0, 1)) }];
        let case = Case::new(&program, work.path(), &builds, lengths, false, 0).expect("a program");
        let check = |text: &str| {
            let wrong = case.check(text, &builds.sanitized(0), lengths[1], false).expect("it can be run");
            wrong.map(|wrong| wrong.what)
        };
        let source = case.source();
        assert_eq!(check(&source), None);
        let said = check(
            &source.replace("let_go();", "if (n == 7)\n            printf(\"more\\n\");\n        let_go();"),
        );
        assert!(
            said.as_ref().is_some_and(|what| what.contains("`more` in place of `sizes 13 17 2 1`")),
            "{said:?}"
        );
        let said =
            check(&source.replace(
                "let_go();",
                "let_go();\n        if (m == 29)\n            ((char *)keep(4))[4] = 1;",
            ));
        assert!(
            said.as_ref().is_some_and(|what| what.contains("sizes 41 29 2 0") && what.contains("overflow")),
            "{said:?}"
        );
        let said = check(&source.replace("let_go();", "let_go()"));
        assert!(said.as_ref().is_some_and(|what| what.starts_with("does not compile")), "{said:?}");
        // The original does right, so that these are faults of the version.
        assert!(case.is_own_fault(&builds.sanitized(0), lengths[1], false).expect("it can be run"));
    }
}
