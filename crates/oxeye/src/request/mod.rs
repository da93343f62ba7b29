//! What a run is asked to do, and what it tells: options, compiler, progress, errors, and the files that are read and
//! written.
//!
//! In: words of the user. Out: values that every other module may rely on; nothing here knows of nests.

pub(crate) mod compiler;
pub(crate) mod error;
pub(crate) mod files;
pub(crate) mod options;
pub(crate) mod progress;
pub(crate) mod recipe_file;
