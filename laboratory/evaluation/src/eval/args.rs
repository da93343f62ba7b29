//! Options of the task.

use std::path::PathBuf;

use oxeye_nodes::NodesArgs;

/// Options of `cargo xtask eval`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Programs to search: names without `.c`, or the groups all, base (the thirty) and b (their variants)
    #[arg(long, value_delimiter = ',', default_value = "base,b")]
    pub(super) kernels: Vec<String>,
    /// Divide every size by this number
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) shrink: u64,
    /// Candidates that a search measures for each nest, at most
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_trials: u32,
    /// Seconds for the search of one program
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(super) budget: u64,
    /// Seed of the searches
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Candidates that each method may pick for a nest
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(super) top_k: u32,
    /// Threads that may be used [default: all cores]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(super) threads: Option<u32>,
    /// Compiler and flags
    #[arg(long, default_value = "gcc -O3 -march=native -ffast-math", allow_hyphen_values = true)]
    pub(super) compiler: String,
    /// Further options for `oxeye search`
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    pub(super) oxeye_options: String,
    /// The `oxeye` to run instead of a freshly built one
    #[arg(long)]
    pub(super) oxeye: Option<PathBuf>,
    /// Folder for reports and logs; programs with a report are not searched again
    #[arg(long, default_value = "target/eval")]
    pub(super) work: PathBuf,
    /// Search all programs again
    #[arg(long)]
    pub(super) refresh: bool,
    /// Search nothing: make tables and plots of the existing reports
    #[arg(long, conflicts_with = "refresh")]
    pub(super) no_search: bool,
    /// The recipe database whose nests are plotted and compared with those of the programs
    #[arg(long, default_value = "models/recipes.sqlite")]
    pub(super) database: PathBuf,
    /// The file that training wrote beside the weights; its tables are copied
    #[arg(long, default_value = "models/encoder.json")]
    pub(super) card: PathBuf,
    /// Folder for eval.md, eval.csv, eval-nests.csv, eval.svg and embedding.svg
    #[arg(long, default_value = "models")]
    pub(super) out: PathBuf,
    /// Where programs are searched, each by one node
    #[command(flatten)]
    pub(super) nodes: NodesArgs,
}
