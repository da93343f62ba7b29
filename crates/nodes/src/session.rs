//! What all tasks in a shared folder have in common, and who works at them.

use oxeye_host::HostKey;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Version of the files.
pub(crate) const SCHEMA: &str = "oxeye.nodes/1";

/// What all tasks have in common.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SessionFile {
    /// Version of the files.
    pub(crate) schema: String,
    /// Version of Oxeye.
    pub(crate) version: String,
    /// The machine that nodes have to be like; `None` if all of them are this one.
    pub(crate) machine: Option<HostKey>,
    /// Where compilers run.
    pub(crate) folder: PathBuf,
    /// A node that has said nothing for so many seconds has died.
    pub(crate) lapse_seconds: f64,
}

/// A node that takes part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct NodeFile {
    /// Its machine.
    pub(crate) host: String,
    /// Why it takes part no more.
    pub(crate) aside: Option<String>,
    /// Tasks that it has finished.
    pub(crate) finished: usize,
}
