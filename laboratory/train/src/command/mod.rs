//! The command line, one file per subcommand.

mod database;
mod generate;
mod input;
mod measure;
mod merge;
mod shard;
#[cfg(feature = "torch")]
mod train;

use anyhow::Result;
use clap::Parser;

/// Makes the data that performance embeddings are trained on, and trains them.
#[derive(Parser, Debug)]
#[command(name = "oxeye-train", version)]
pub(crate) enum Command {
    /// Draws random nests.
    Generate(generate::Args),
    /// Measures how nests respond to the panel of templates; can be stopped and resumed at any time.
    Measure(measure::Args),
    /// Measures nests for an `oxeye-train measure` that runs elsewhere; ends when that does.
    Worker(measure::WorkerArgs),
    /// Merges datasets and journals into one dataset.
    Merge(merge::MergeArgs),
    /// Makes a recipe database from datasets and from the results of searches.
    Database(database::Args),
    /// Summarises datasets and journals: families, templates, responses, noise.
    Stats(merge::StatsArgs),
    /// Trains the encoder.
    #[cfg(feature = "torch")]
    Train(train::Args),
    /// Measures how well an encoder predicts responses.
    #[cfg(feature = "torch")]
    Evaluate(train::EvaluateArgs),
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Command::Generate(args) => generate::run(&args),
            Command::Measure(args) => measure::run(&args),
            Command::Worker(args) => measure::work(&args),
            Command::Merge(args) => merge::merge(&args),
            Command::Database(args) => database::run(&args),
            Command::Stats(args) => merge::stats(&args),
            #[cfg(feature = "torch")]
            Command::Train(args) => train::run(&args),
            #[cfg(feature = "torch")]
            Command::Evaluate(args) => train::evaluate(&args),
        }
    }
}
