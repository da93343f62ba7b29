//! What can keep a run from being done.

use std::path::PathBuf;

/// Why a run could not be done. Every message names the thing and what would help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be read as C.
    #[error(transparent)]
    Frontend(#[from] oxeye_frontend::FrontendError),
    /// A program, library or process could not be built or run.
    #[error(transparent)]
    Measure(#[from] oxeye_measure::MeasureError),
    /// How a project is built could not be learnt, or it could not be built so.
    #[error(transparent)]
    Project(#[from] oxeye_project::ProjectError),
    /// The recipe database cannot be read.
    #[error(transparent)]
    Database(#[from] oxeye_database::DatabaseError),
    /// The program does not build.
    #[error("{command} fails on {}, so there is nothing to compare with; its words:\n{message}{help}", file.display())]
    Build {
        /// The command line.
        command: String,
        /// The user's file.
        file: PathBuf,
        /// What the compiler wrote.
        message: String,
        /// What to do, in a line of its own; empty if that is not known.
        help: String,
    },
    /// The program was built and does not run to its end.
    #[error("{} {reason}", file.display())]
    ProgramRun {
        /// The user's file.
        file: PathBuf,
        /// What happened.
        reason: String,
    },
    /// There is no program to take sizes and data from.
    #[error(
        "no main in {}, and the size `{symbol}` of the nest in `{function}`, line {line}, is not given; \
         add `--set {symbol}=...`, or give a source with a main after `--`",
        file.display()
    )]
    MissingSize {
        /// The user's file.
        file: PathBuf,
        /// The symbol.
        symbol: String,
        /// The function that needs it.
        function: String,
        /// First line of the nest.
        line: u32,
    },
    /// An input or a size does not fit the program.
    #[error("{0}")]
    Input(String),
    /// A recipe file cannot be used.
    #[error("cannot apply {}: {reason}", path.display())]
    Recipe {
        /// The recipe file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The log of a search cannot be gone on with.
    #[error("cannot use {} as the log of this search: {reason}", path.display())]
    Log {
        /// The log.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// `read` or `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// The run was told to stop.
    #[error("interrupted; no file was changed")]
    Cancelled,
}

/// Why something did not come about: the run cannot go on, or only the thing at hand is out.
#[derive(Debug)]
pub(crate) enum Setback<R> {
    /// The run cannot go on.
    Run(Error),
    /// The thing at hand is out, for this reason.
    Item(R),
}

impl<R> Setback<R> {
    /// The reason why the thing at hand is out.
    ///
    /// # Errors
    /// If it is the run that cannot go on.
    pub(crate) fn item(self) -> Result<R, Error> {
        match self {
            Setback::Item(reason) => Ok(reason),
            Setback::Run(error) => Err(error),
        }
    }

    /// The same for another reason.
    pub(crate) fn because<S>(self, reason: impl FnOnce(R) -> S) -> Setback<S> {
        match self {
            Setback::Item(why) => Setback::Item(reason(why)),
            Setback::Run(error) => Setback::Run(error),
        }
    }
}

impl<R> From<Error> for Setback<R> {
    fn from(error: Error) -> Self {
        Setback::Run(error)
    }
}

impl<R> From<oxeye_measure::MeasureError> for Setback<R> {
    fn from(error: oxeye_measure::MeasureError) -> Self {
        Setback::Run(error.into())
    }
}

impl<R> From<oxeye_database::DatabaseError> for Setback<R> {
    fn from(error: oxeye_database::DatabaseError) -> Self {
        Setback::Run(error.into())
    }
}
