//! Runs of the `oxeye` command, in one program: each of its own would link the whole crate once more.

mod awkward;
mod builds;
mod checks;
mod dace;
mod debug_builds;
mod directives;
mod edited;
mod groups;
mod hostile;
mod includes;
mod normal_forms;
mod optimize;
mod pencils;
mod profile;
mod project_files;
mod recipes;
mod rows;
mod shares;
mod sizes;
mod teams;
mod time_loops;
mod transfer;
mod tune;
mod until_done;
mod value_recipes;
mod values;
