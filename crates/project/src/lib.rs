//! How a project is built, learnt by watching its build or from `compile_commands.json`; and its programs built anew with
//! other objects in the places of some.
//!
//! ```no_run
//! use oxeye_measure::{Compiler, Limits, WorkDir};
//! use oxeye_project::{Build, Project, observe_build};
//!
//! let work = WorkDir::new()?;
//! let cc = Compiler::new("cc", [""; 0]);
//! let calls = observe_build("make -B", ".".as_ref(), &cc, &work, &Limits::default())?;
//! let project = Project::of(&calls);
//! let solver = project.product_at("./solver".as_ref()).expect("it is built").clone();
//! let build = Build::new(project, &[&solver], work.path().into(), &|_, _| {})?;
//! build.link(&solver, &Default::default(), &[], &work.join("solver"))?;
//! # Ok::<(), oxeye_project::ProjectError>(())
//! ```
//!
//! It knows commands, objects and files, and nothing of what is in the sources. Builds run in the user's folders as the user
//! runs them; what is built here goes into a folder of ours.

mod build;
mod command;
mod compile_commands;
mod error;
mod observe;
mod project;
mod stand_in;
mod symbols;

pub use build::Build;
pub use compile_commands::read_compile_commands;
pub use error::ProjectError;
pub use observe::{ToolCall, observe_build};
pub use project::{Member, Product, Project, Unit, UnitIdx, Word};
pub use stand_in::stand_in_library;
