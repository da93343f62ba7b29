//! Measuring on several nodes: each takes one computation after another, with all its spellings.

use crate::journal::{Journal, read_journal};
use crate::measure::{MeasureOptions, MeasuredHost, RunError, measure};
use crate::nest::GeneratedNest;
use crate::record::Record;
use oxeye_measure::WorkDir;
use oxeye_nodes::{Nodes, NodesError, Task, Trouble, Worked, work_at};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// One computation.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Computation {
    options: MeasureOptions,
    spellings: Vec<GeneratedNest>,
}

impl Task for Computation {
    type Finding = Vec<Record>;

    fn identity(&self) -> impl Serialize {
        self
    }

    fn lost(_: String, _: usize) -> Vec<Record> {
        Vec::new()
    }
}

/// As [`measure`], on nodes, which run [`work`]. `progress` hears of nests that are done. A computation that several nodes have
/// died of is left out.
///
/// # Errors
/// As of [`measure`], or if nodes cannot be used.
pub fn measure_on(
    nodes: &Nodes,
    nests: &[GeneratedNest],
    options: &MeasureOptions,
    journal: &mut Journal,
    progress: &mut dyn FnMut(&GeneratedNest, Option<&Record>),
) -> Result<usize, RunError> {
    let started = Instant::now();
    let mut computations: BTreeMap<&str, Vec<GeneratedNest>> = BTreeMap::new();
    for nest in nests.iter().filter(|nest| !journal.has(&nest.id)) {
        computations.entry(&nest.group).or_default().push(nest.clone());
    }
    let task = |spellings| Computation { options: options.clone(), spellings };
    let round = nodes.post(computations.into_values().map(task).collect())?;
    let goes_on = || options.limit.is_none_or(|limit| started.elapsed() < limit);
    let mut n_done = 0;
    round.wait(&goes_on, &mut |_, records: Vec<Record>| -> Result<(), RunError> {
        for record in &records {
            journal.append(record)?;
            progress(&record.nest, Some(record));
            n_done += 1;
        }
        Ok(())
    })?;
    Ok(n_done)
}

/// Measures for a [`measure_on`] that runs elsewhere, until that ends; see [`work_at`].
///
/// # Errors
/// As of [`work_at`].
pub fn work(root: &Path, name: Option<&str>, stop: &dyn Fn() -> bool) -> Result<Worked, NodesError> {
    work_at((root, name), stop, |_, computation: &Computation| {
        measured(computation).map_err(|error| Trouble::Here(error.to_string()))
    })
}

fn measured(computation: &Computation) -> Result<Vec<Record>, RunError> {
    let Computation { options, spellings } = computation;
    let host = MeasuredHost::this_machine(options.threads);
    let folder = WorkDir::new()?;
    let path = folder.join("journal.jsonl");
    measure(spellings, &host, options, &mut Journal::open(&path)?, &mut |_, _| {})?;
    Ok(read_journal(&path)?)
}
