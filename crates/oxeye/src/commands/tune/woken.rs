//! The files of a project whose OpenMP directives are on, though their build leaves them off.

use super::subject::Hot;
use crate::openmp::OPENMP_FLAG;
use crate::request::ProjectRun;
use oxeye_measure::Left;
use oxeye_project::UnitIdx;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Sources whose directives are on, though their build leaves them off.
#[derive(Default)]
pub(super) struct Woken {
    /// Their objects before.
    pub(super) objects: BTreeMap<UnitIdx, PathBuf>,
    /// How often the program is faster.
    pub(super) speedup: f64,
    /// What other builds of the sources leave, if the program with their directives on printed other numbers.
    pub(super) witnesses: Vec<Left>,
    /// Those whose directives stay off, as the program gains nothing from them.
    pub(super) stay_asleep: BTreeSet<UnitIdx>,
}

impl Woken {
    /// The flags that a unit has because its directives are on.
    pub(super) fn flags(&self, unit: UnitIdx) -> BTreeSet<String> {
        self.objects.get(&unit).map(|_| OPENMP_FLAG.to_owned()).into_iter().collect()
    }

    /// How the program runs in which the files are tuned.
    pub(super) fn run(&self, hot: &Hot) -> Hot {
        let run = match self.objects.is_empty() {
            true => Arc::clone(&hot.run),
            false => {
                let seconds = hot.run.seconds / self.speedup;
                // What it printed with its directives off tells nothing of it.
                let outputs = Vec::new();
                Arc::new(ProjectRun { seconds, outputs, ..hot.run.as_ref().clone() })
            }
        };
        Hot { run, files: hot.files.clone(), is_known: hot.is_known }
    }
}
