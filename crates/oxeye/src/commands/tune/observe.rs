//! The nests of all hot files of a project, observed in one run of its program: a run for each file would take most of the budget.

use super::files::{Observations, Spot, file_options, hot_files};
use super::options::TuneOptions;
use super::subject::{Hot, Subject, check};
use super::woken::Woken;
use crate::request::{Error, Event, Observed, Phase, Progress};
use crate::session::Session;
use crate::stages::{observed_object, reading};
use oxeye_measure::{Invocation, Limits, available_cores, capture_parts, in_parallel};
use oxeye_project::UnitIdx;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One file alone is observed when it is looked at.
const LEAST_FILES: usize = 2;

/// Runs the program once, with the nests of all files observed that take time. Files that cannot be observed so are missing; so
/// are all if the program does not run to its end then.
///
/// # Errors
/// If the run is interrupted, or has no process of the number that is asked for.
pub(super) fn observe(
    subject: &mut Subject,
    (hot, woken): (&Hot, &Woken),
    options: &TuneOptions,
    progress: &dyn Progress,
    root: &Path,
) -> Result<Observations, Error> {
    let matters = hot_files(subject, hot, options);
    if matters.len() < LEAST_FILES {
        return Ok(Observations::new());
    }
    progress.event(Event::Phase(Phase::Capturing));
    let files = instrumented(subject, &matters, (hot, woken), options, progress, root);
    check(progress)?;
    let objects: BTreeMap<UnitIdx, PathBuf> =
        files.iter().map(|file| (file.unit, file.object.clone())).collect();
    if objects.len() < LEAST_FILES {
        return Ok(Observations::new());
    }
    let flags: BTreeSet<String> = woken.objects.keys().flat_map(|unit| woken.flags(*unit)).collect();
    let Ok(before) = subject.replace(objects, &flags, "observed") else { return Ok(Observations::new()) };
    let run = subject.run_for(0);
    let program: Invocation = run.of(&subject.parts[0].file);
    let limits = Limits { seconds: 3.0 * hot.run.seconds + 5.0, ..Limits::default() };
    let names: Vec<String> = files.iter().map(|file| part_of(file.unit)).collect();
    let folder = subject.work.subdir("samples")?;
    let runs = capture_parts(&program, &limits, &folder, &names, run.rank);
    subject.replace(before, &flags, "unobserved")?;
    check(progress)?;
    let Ok(runs) = runs else { return Ok(Observations::new()) };
    run.expect_rank(&runs.iter().flat_map(|seen| seen.ranks.iter().copied()).collect())?;
    let seen = files.into_iter().zip(runs).filter(|(_, seen)| run.is_success(seen.outcome.exit));
    Ok(seen.map(|(file, run)| (file.unit, Arc::new(Observed { text: file.text, run }))).collect())
}

/// A file with its nests observed.
struct Instrumented {
    unit: UnitIdx,
    text: String,
    object: PathBuf,
}

/// The folder for the samples of a unit.
fn part_of(unit: UnitIdx) -> String {
    format!("unit{unit}")
}

fn instrumented(
    subject: &Subject,
    units: &[(usize, UnitIdx, f64)],
    (hot, woken): (&Hot, &Woken),
    options: &TuneOptions,
    progress: &dyn Progress,
    root: &Path,
) -> Vec<Instrumented> {
    let all_flags: BTreeSet<String> = woken.objects.keys().flat_map(|unit| woken.flags(*unit)).collect();
    let made = |(part, unit, _): &(usize, UnitIdx, f64)| {
        let path = &subject.build.project().units[*unit].source;
        let closed = BTreeSet::new();
        let spot = Spot {
            part: *part,
            unit: *unit,
            path,
            link_flags: &all_flags,
            owned: root,
            closed,
            observed: None,
            stays_asleep: false,
            replay: None,
        };
        let options = file_options(subject, &spot, hot, None, options, options.budget);
        let session = Session::for_watching(&options, progress).ok()?;
        let read = subject.readings.read(path, &reading(&session)).ok()?;
        let (text, object) = observed_object(&session, &read, &part_of(*unit))?;
        Some(Instrumented { unit: *unit, text, object })
    };
    in_parallel(units, available_cores(), made).into_iter().flatten().collect()
}
