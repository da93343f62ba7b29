//! The crate's error type, and the reasons for which a candidate is rejected.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Anything that makes a measurement fail.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The compiler cannot be started because it is not there.
    #[error("compiler `{program}` was not found; install it, or name another one (for example `-- gcc -O3`)")]
    CompilerNotFound {
        /// The compiler as the user named it.
        program: String,
    },
    /// The named command is not a compiler.
    #[error("`{program} --version` {text}; is it a C compiler?")]
    NotACompiler {
        /// The compiler as the user named it.
        program: String,
        /// What it does instead of printing its version.
        text: String,
    },
    /// The compiler refused a translation unit.
    #[error("{program} could not compile {}:\n{text}", file.display())]
    CompileFailed {
        /// The compiler as the user named it.
        program: String,
        /// The translation unit.
        file: PathBuf,
        /// The first lines of the compiler's diagnostics.
        text: String,
    },
    /// The compiler did not finish in time.
    #[error("{program} did not finish compiling {} within {seconds:.0} s", file.display())]
    CompileTimedOut {
        /// The compiler as the user named it.
        program: String,
        /// The translation unit.
        file: PathBuf,
        /// The limit.
        seconds: f64,
    },
    /// A program cannot be started.
    #[error("cannot start `{program}`: {source}")]
    Spawn {
        /// The program.
        program: String,
        /// The reason the system gives.
        source: io::Error,
    },
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted, such as `read`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason the system gives.
        source: io::Error,
    },
    /// A capture or a sample file is invalid or missing.
    #[error("{}: {text}", path.display())]
    Sample {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        text: String,
    },
    /// An `.npy` file cannot be used.
    #[error("{}: {text}", path.display())]
    Npy {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what would help.
        text: String,
    },
    /// A file that is to be compared cannot be.
    #[error("{} {text}", path.display())]
    NotComparable {
        /// The file.
        path: PathBuf,
        /// Why not.
        text: String,
    },
    /// The original program does not write a file that is to be compared.
    #[error("the program did not write {}, which is to be compared", path.display())]
    NotWritten {
        /// The file.
        path: PathBuf,
    },
    /// The replay process misbehaved in a way that is not the library's fault.
    #[error("replay process: {text}")]
    Runner {
        /// What happened.
        text: String,
    },
    /// A replay library cannot be used; says which and why.
    #[error("{}: {rejection}", library.display())]
    Rejected {
        /// The library that was running.
        library: PathBuf,
        /// What it did.
        rejection: Rejection,
    },
}

impl MeasureError {
    pub(crate) fn io<'a>(
        action: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> MeasureError + use<'a> {
        move |source| MeasureError::Io { action, path: path.to_path_buf(), source }
    }

    pub(crate) fn sample(path: &Path, text: impl Into<String>) -> MeasureError {
        MeasureError::Sample { path: path.to_path_buf(), text: text.into() }
    }

    pub(crate) fn rejected(library: &Path, rejection: Rejection) -> MeasureError {
        MeasureError::Rejected { library: library.to_path_buf(), rejection }
    }

    /// The reason to drop the candidate when the error is a candidate's fault: a failed compilation, a crash, a hang.
    /// `None` when measuring itself failed.
    pub fn rejection(&self) -> Option<Rejection> {
        match self {
            MeasureError::Rejected { rejection, .. } => Some(rejection.clone()),
            MeasureError::CompileFailed { text, .. } => Some(Rejection::CompileFailed { text: text.clone() }),
            MeasureError::CompileTimedOut { seconds, .. } => {
                let text = format!("the compiler had not ended after {seconds:.0} s");
                Some(Rejection::CompileFailed { text })
            }
            _ => None,
        }
    }
}

/// Why a replay library is not usable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Rejection {
    /// The process died of a signal.
    #[error("crashed ({})", signal_name(*signal))]
    Crashed {
        /// The signal's number.
        signal: i32,
    },
    /// The process ended by itself in the middle of a call.
    #[error("ended the process with exit code {code}")]
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// An access outside an argument's bytes: a write next to it was found, or the guard page was hit.
    #[error("accessed memory outside argument {argument}")]
    OutOfBounds {
        /// Position of the argument.
        argument: usize,
    },
    /// A call did not return in time.
    #[error("did not finish within {} s", two_digits(*seconds))]
    TimedOut {
        /// The limit.
        seconds: f64,
    },
    /// The outputs differ from the original's.
    #[error("wrong output: {0}")]
    WrongOutput(Mismatch),
    /// Machines that ran it were not heard of again.
    #[error("{nodes} nodes ended while they ran it")]
    Lost {
        /// How many.
        nodes: usize,
    },
    /// Memory ran out under the limit in force.
    #[error("ran out of memory")]
    OutOfMemory,
    /// It does not compile.
    #[error("does not compile: {text}")]
    CompileFailed {
        /// The first lines of the compiler's diagnostics.
        text: String,
    },
    /// The library compiles but cannot be loaded, for example for an undefined symbol.
    #[error("cannot be loaded: {text}")]
    LoadFailed {
        /// What the dynamic loader says.
        text: String,
    },
}

/// An element that is wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{name}[{index}] is {actual:?} instead of {expected:?}")]
pub struct Mismatch {
    /// Position of the argument.
    pub argument: usize,
    /// Its name.
    pub name: String,
    /// Position of the first wrong element in the flat array.
    pub index: u64,
    /// What the original computed.
    pub expected: f64,
    /// What the candidate computed.
    pub actual: f64,
}

/// A time with two digits, or with all of those before the point.
fn two_digits(seconds: f64) -> String {
    let before_point = seconds.max(1e-6).log10().floor() as i32 + 1;
    let decimals = (2 - before_point).clamp(0, 6) as usize;
    format!("{seconds:.decimals$}")
}

/// `segmentation fault` for `SIGSEGV` and so on.
pub(crate) fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGSEGV => "segmentation fault",
        libc::SIGBUS => "bus error",
        libc::SIGFPE => "arithmetic exception",
        libc::SIGILL => "illegal instruction",
        libc::SIGABRT => "abort",
        libc::SIGKILL => "killed",
        libc::SIGXCPU => "processor time used up",
        libc::SIGTRAP => "trap",
        _ => return format!("signal {signal}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_no_more_digits_than_it_takes() {
        let shown = |seconds| Rejection::TimedOut { seconds }.to_string();
        assert_eq!(shown(7.427_137_483), "did not finish within 7.4 s");
        assert_eq!([0.0516, 12.3, 600.0].map(two_digits), ["0.052", "12", "600"]);
    }
}
