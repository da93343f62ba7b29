//! What a run is asked to do, and what it tells: options, compiler, progress, errors, and the files that are read and
//! written.
//!
//! In: words of the user. Out: values that every other module may rely on; nothing here knows of nests.

mod checks;
mod compiler;
mod error;
pub(crate) mod files;
mod options;
mod progress;
mod recipe_file;
mod run_command;

pub use checks::Checks;
pub use compiler::Compiler;
pub use error::Error;
pub(crate) use error::Setback;
pub use files::{check_writable, write_atomically};
pub(crate) use options::ProjectRun;
pub use options::{DonorSearch, FpPolicy, Knowledge, Options, ProjectFile, default_output};
pub use progress::{Event, Phase, Progress, Silent};
pub use recipe_file::{Guard, NestRecipe, RECIPE_SCHEMA, REPORT_SCHEMA, RecipeFile};
pub use run_command::RunCommand;
pub(crate) use run_command::StandIn;
