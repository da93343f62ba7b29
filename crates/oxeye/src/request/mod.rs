//! What a run is asked to do, and what it tells: options, compiler, progress, errors, and the files that are read and
//! written.
//!
//! In: words of the user. Out: values that every other module may rely on; nothing here knows of nests.

mod checks;
mod compiler;
mod duration;
mod error;
pub(crate) mod files;
mod focus;
mod found_values;
mod launcher;
mod options;
mod progress;
mod project_recipes;
mod reading_args;
mod recipe_file;
mod run_command;
mod shell;

pub use checks::Checks;
pub use compiler::{Compiler, PlainCompiler};
pub use duration::parse_duration;
pub use error::Error;
pub(crate) use error::Setback;
pub use files::{check_writable, is_same_file, write_atomically};
pub(crate) use focus::Stand;
pub use focus::{Focus, LEAST_SPEEDUP, NamedLines, NamedPlace};
pub use found_values::{FoundValue, FoundValues, VALUES_SCHEMA, ValueRecipe};
pub use options::{DonorSearch, FpPolicy, Knowledge, Machines, Options, ProjectFile, default_output};
pub(crate) use options::{Observed, ProjectRun};
pub use progress::{Event, Phase, Progress, Silent};
pub(crate) use project_recipes::PROJECT_LOCK_SCHEMA;
pub use project_recipes::{FileRecipes, OtherFiles, PROJECT_RECIPES_SCHEMA, ProjectRecipes, SavedRecipes};
pub use recipe_file::{Guard, NestRecipe, RECIPE_SCHEMA, REPORT_SCHEMA, RecipeFile};
pub use run_command::RunCommand;
pub(crate) use run_command::{StandIn, Started};
