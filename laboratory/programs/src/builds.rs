//! Compilers, flags, and the sizes that programs are built and run with.

use oxeye_measure::{Compiler, Exit, Invocation, Limits, MeasureError, run_program};
use oxeye_random::Rng;
use std::path::Path;

/// A compiler with flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Build {
    pub(crate) compiler: &'static str,
    pub(crate) flags: &'static [&'static str],
}

/// Compiled several times faster than with optimisation, which also hides what the sanitizers look for.
const SANITIZED: &[&str] =
    &["-O0", "-g", "-fopenmp", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
const FAST: &[&[&str]] = &[&["-O2", "-fopenmp"], &["-O3", "-march=native", "-fopenmp"], &["-O2"]];

/// For all: products are not fused with sums, so that every build computes the same bits.
const COMMON: &[&str] = &["-std=gnu99", "-ffp-contract=off", "-w"];

/// Seconds for compiling one program, and for running it.
const SECONDS: f64 = 120.0;

/// The compilers there are.
#[derive(Clone, Debug)]
pub struct Builds {
    compilers: Vec<&'static str>,
    /// Those of them whose sanitizers work.
    sanitizing: Vec<&'static str>,
}

/// Sizes that are fixed when a program is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lengths {
    /// `-DN=… -DM=…`; `None`: those that the program has by itself.
    pub(crate) given: Option<(u32, u32)>,
}

impl Lengths {
    /// As arguments of a compiler.
    pub(crate) fn args(self) -> Vec<String> {
        self.given.map_or_else(Vec::new, |(n, m)| vec![format!("-DN={n}"), format!("-DM={m}")])
    }

    /// Those that a program is read with, and others.
    pub(crate) fn pair(rng: &mut Rng) -> (Self, Self) {
        let sizes = [0, 1, 2, 3, 5, 7, 8, 11, 13, 17, 24];
        let mut any = || Lengths { given: Some((*rng.pick(&sizes), *rng.pick(&sizes))) };
        let (read, other) = (any(), any());
        (if rng.chance(0.5) { Lengths { given: None } } else { read }, other)
    }
}

impl Builds {
    /// Looks for gcc and clang; `None` if neither is there.
    pub fn found() -> Option<Self> {
        let exists = |compiler: &&str| {
            let asked = run_program(&Invocation::new(*compiler).args(["--version"]), &Limits::default());
            asked.is_ok_and(|outcome| outcome.exit.success())
        };
        let compilers: Vec<&str> = ["gcc", "clang-19", "clang"].into_iter().filter(exists).take(2).collect();
        let sanitizes =
            |compiler: &&str| Compiler::new(*compiler, SANITIZED.iter().copied()).makes_programs(&[]).is_ok();
        let sanitizing = compilers.iter().copied().filter(sanitizes).collect();
        (!compilers.is_empty()).then_some(Self { compilers, sanitizing })
    }

    /// Names of the compilers.
    pub fn compilers(&self) -> &[&'static str] {
        &self.compilers
    }

    /// Names of those with sanitizers that work.
    pub fn sanitizing(&self) -> &[&'static str] {
        &self.sanitizing
    }

    /// The one that preprocesses.
    pub(crate) fn first(&self) -> &'static str {
        self.compilers[0]
    }

    /// With sanitizers; compilers take turns. Where no compiler has them, without.
    pub(crate) fn sanitized(&self, turn: usize) -> Build {
        match self.sanitizing.len() {
            0 => self.fast(turn),
            n => Build { compiler: self.sanitizing[turn % n], flags: SANITIZED },
        }
    }

    /// Optimised; compilers and flags take turns.
    pub(crate) fn fast(&self, turn: usize) -> Build {
        Build {
            compiler: self.compilers[turn % self.compilers.len()],
            flags: FAST[turn / self.compilers.len() % FAST.len()],
        }
    }
}

/// How building and running went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ran {
    /// What it printed.
    Printed(String),
    /// It does not compile.
    DoesNotCompile(String),
    /// It ended otherwise than with exit code 0.
    Failed(String),
}

/// Sizes and kinds of data, four numbers a run: small ones, primes, larger ones.
const RUNS: &[[u32; 4]] = &[
    [0, 0, 1, 0],
    [1, 1, 0, 1],
    [0, 5, 2, 2],
    [4, 0, 1, 3],
    [2, 3, 2, 4],
    [7, 5, 3, 0],
    [13, 17, 2, 1],
    [16, 9, 1, 2],
    [41, 29, 2, 0],
    [37, 64, 3, 3],
];

impl Build {
    /// In words.
    pub(crate) fn line(&self, lengths: Lengths) -> String {
        format!(
            "{} {} {} {}",
            self.compiler,
            COMMON.join(" "),
            self.flags.join(" "),
            lengths.args().join(" ")
        )
    }

    /// Builds a file and runs it with all sizes.
    pub(crate) fn run(&self, file: &Path, lengths: Lengths, threads: u32) -> Result<Ran, MeasureError> {
        let executable = file.with_extension("exe");
        let name = |path: &Path| path.file_name().unwrap_or_default().to_os_string();
        let folder = file.parent().map(Path::to_owned);
        let compile = Invocation::new(self.compiler)
            .args(COMMON)
            .args(self.flags)
            .args(lengths.args())
            .args([name(file), "-o".into(), name(&executable), "-lm".into()])
            .cwd(folder.clone());
        let limits = Limits { seconds: SECONDS, ..Limits::default() };
        let built = run_program(&compile, &limits)?;
        if !built.exit.success() {
            let words = String::from_utf8_lossy(&built.stderr).chars().take(3000).collect::<String>();
            return Ok(Ran::DoesNotCompile(format!("{}\n{words}", built.exit)));
        }
        let run = Invocation::new(executable)
            .args(RUNS.iter().flatten().map(u32::to_string))
            .env("OMP_NUM_THREADS", threads.to_string())
            .env("OMP_WAIT_POLICY", "passive")
            .env("ASAN_OPTIONS", "detect_leaks=1:detect_stack_use_after_return=0")
            .env("UBSAN_OPTIONS", "print_stacktrace=1")
            .cwd(folder);
        let ran = run_program(&run, &limits)?;
        let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
        if ran.exit == Exit::Exited(0) {
            return Ok(Ran::Printed(printed));
        }
        let last = printed
            .lines()
            .rev()
            .find(|line| line.starts_with("sizes "))
            .unwrap_or("at its start")
            .to_owned();
        let words = String::from_utf8_lossy(&ran.stderr).chars().take(4000).collect::<String>();
        Ok(Ran::Failed(format!("{} ({last})\n{words}", ran.exit)))
    }
}
