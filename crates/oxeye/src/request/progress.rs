//! What a run tells while it runs, and how it is told to stop.

/// Receives the events of a run. Nothing in this crate prints.
pub trait Progress: Sync {
    /// Something happened. Called from the thread that runs the pipeline.
    fn event(&self, event: Event<'_>) {
        let _ = event;
    }

    /// Whether no more should be tried: the run ends with the best so far, checked and written as ever. Asked between
    /// candidates.
    fn enough(&self) -> bool {
        false
    }

    /// Whether the run should stop as soon as it can, leaving every file as it was. Asked between steps, and while
    /// waiting for a child process.
    fn cancelled(&self) -> bool {
        false
    }
}

/// No one is listening.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {}

/// One step of a run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A phase begins.
    Phase(Phase),
    /// The machine is measured so far, which takes from seconds to a minute.
    Machine {
        /// What is being measured now.
        label: &'static str,
        /// Approximate fraction that is done, 0 to 1.
        fraction: f64,
    },
    /// The budget counts, and what a run of the program takes is known. All times of it are from when it began to count.
    Budget {
        /// Used of it by now.
        used: std::time::Duration,
        /// What the user gives.
        budget: std::time::Duration,
        /// When all will be done at the latest: with the budget, or later if the program takes long.
        end: std::time::Duration,
        /// One run of the program; nothing without one.
        run: std::time::Duration,
    },
    /// So many of the sources of a project are compiled.
    Compiled {
        /// Compiled so far.
        n_done: usize,
        /// All of them.
        n_units: usize,
    },
    /// A file of a project is about to be tuned.
    File {
        /// The file.
        path: &'a std::path::Path,
        /// Its share of the program's time.
        share: f64,
        /// Files tuned so far.
        n_done: usize,
        /// Files that take time.
        n_files: usize,
    },
    /// A message of the frontend about the user's file, rendered with its source lines.
    Diagnostic(&'a str),
    /// A nest is about to be profiled.
    Profiled {
        /// Function it stands in.
        function: &'a str,
        /// Its first line.
        line: u32,
        /// Nests profiled so far.
        n_done: usize,
        /// Nests of the file.
        n_nests: usize,
    },
    /// The candidates of a nest are about to be tried.
    Nest {
        /// Function it stands in.
        function: &'a str,
        /// Its first line.
        line: u32,
        /// How many candidates there are.
        n_candidates: usize,
    },
    /// A candidate was tried.
    Candidate {
        /// Candidates of this nest tried so far.
        n_done: usize,
        /// Candidates of this nest.
        n_candidates: usize,
        /// Best speedup over the baseline so far.
        best_speedup: Option<f64>,
    },
    /// Nodes measure candidates.
    Nodes {
        /// How many take part.
        n_nodes: usize,
    },
    /// A search is one trial further.
    Searched {
        /// Candidates of this nest that were measured so far.
        n_measured: usize,
        /// Time used of what the nest has.
        used: std::time::Duration,
        /// Time left of it.
        left: std::time::Duration,
        /// Best speedup over the baseline so far.
        best_speedup: Option<f64>,
    },
}

/// Phases of a run, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Finding out what the machine can do, if that is not known yet.
    Machine,
    /// Building a project as its user does.
    Learning,
    /// Looking where a program spends its time.
    Sampling,
    /// Reading the file.
    Reading,
    /// Trying OpenMP directives that the build leaves off.
    Directives,
    /// Building the original program.
    Building,
    /// Running it once to capture what its nests are called with.
    Capturing,
    /// Timing and counting nests as they are.
    Profiling,
    /// Trying candidates.
    Trying,
    /// Running the whole program before and after.
    Finishing,
}

impl Phase {
    /// A verb in the progressive, for display.
    pub fn label(self) -> &'static str {
        match self {
            Phase::Machine => "measuring the machine",
            Phase::Learning => "running the build",
            Phase::Sampling => "looking where the time goes",
            Phase::Reading => "reading",
            Phase::Directives => "trying the directives of the file",
            Phase::Building => "building",
            Phase::Capturing => "capturing",
            Phase::Profiling => "profiling",
            Phase::Trying => "trying candidates",
            Phase::Finishing => "final runs",
        }
    }
}
