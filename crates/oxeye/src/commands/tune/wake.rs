//! OpenMP directives that a project's build leaves off, switched on in all of its hot files at once. A file by itself has too
//! little of the budget to find out whether it may, and too little of the program's time for its threads to pay.

use super::files::{LEAST_SHARE, Spot, file_options};
use super::options::TuneOptions;
use super::programs::{Rules, compare};
use super::subject::{Hot, Subject, available_cores, check};
use super::woken::Woken;
use crate::budget::WallTime;
use crate::request::{Error, Event, Phase, Progress};
use crate::session::has_openmp;
use crate::stages::{odd, read_options};
use crate::workshop::{OPENMP_FLAG, has_openmp_flag};
use oxeye_frontend::read_c;
use oxeye_measure::{WholeComparison, in_parallel};
use oxeye_project::{Unit, UnitIdx};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// One file alone finds out by itself.
const LEAST_FILES: usize = 2;
/// Runs of the program that finding out takes: as it is, once more where it prints times, and in three numbers of threads.
const RUNS: f64 = 4.0;
/// Threads have to pay by this; from the other figure on, it takes more runs to tell.
const LEAST_GAIN: f64 = 1.05;
const DOUBTFUL: f64 = 0.9;

/// Switches the directives of all hot files on, if the program then does the same in several numbers of threads, and is faster; or
/// says why they stay off. `clock` is when the budget began to count, and how it is divided.
///
/// # Errors
/// If the run is interrupted, or a process cannot be started.
pub(super) fn wake(
    subject: &mut Subject,
    hot: &Hot,
    options: &TuneOptions,
    (begin, time): (Instant, WallTime),
    progress: &dyn Progress,
    root: &Path,
) -> Result<(Woken, Option<String>), Error> {
    let asleep = if options.threads > 1 && !options.focus.is_dry {
        asleep(subject, hot, options, root)
    } else {
        Vec::new()
    };
    let seconds = RUNS * time.run_seconds;
    if asleep.len() < LEAST_FILES || !time.allows(begin.elapsed(), seconds) {
        return Ok((Woken::default(), None));
    }
    progress.event(Event::Phase(Phase::Directives));
    let before: Vec<PathBuf> = subject.parts.iter().map(|part| part.file.clone()).collect();
    let flags = BTreeSet::from([OPENMP_FLAG.to_owned()]);
    let is_reordered = asleep.iter().any(|file| file.is_reordered);
    let compiled = |Asleep { unit, .. }: &Asleep| {
        let source = &subject.build.project().units[*unit].source;
        let args = ["-g".to_owned(), OPENMP_FLAG.to_owned()];
        // One that does not build stays as it is.
        let object = subject.build.compile(*unit, source, &format!("woken{unit}"), &args, None).ok()?;
        Some((*unit, object))
    };
    let objects: BTreeMap<UnitIdx, PathBuf> =
        in_parallel(&asleep, available_cores(), compiled).into_iter().flatten().collect();
    check(progress)?;
    let woken: BTreeSet<UnitIdx> = objects.keys().copied().collect();
    if woken.len() < LEAST_FILES {
        return Ok((Woken::default(), None));
    }
    let Ok(objects) = subject.replace(objects, &flags, "woken") else { return Ok((Woken::default(), None)) };
    let compared = compared(subject, (&before, hot), options, is_reordered, progress);
    let n_files = woken.len();
    let begin = format!(
        "{n_files} files have OpenMP directives that their build leaves off; with {OPENMP_FLAG} the program"
    );
    let why = match compared {
        Ok(whole) if whole.difference.is_none() && whole.speedup.median >= LEAST_GAIN => {
            subject.add_flag(&woken, OPENMP_FLAG);
            let speedup = whole.speedup.median;
            let note = format!("{begin} does the same, {speedup:.2}x as fast, so they are on");
            return Ok((Woken { objects, speedup }, Some(note)));
        }
        Ok(WholeComparison { difference: Some(difference), .. }) => {
            format!("{begin} behaves differently ({difference})")
        }
        Ok(whole) => format!("{begin} gains nothing ({:.2}x)", whole.speedup.median),
        Err(Error::Cancelled) => return Err(Error::Cancelled),
        Err(error) => format!("{begin} does not run ({error})"),
    };
    subject.replace(objects, &BTreeSet::new(), "asleep")?;
    Ok((Woken::default(), Some(why)))
}

/// A source with directives that its build leaves off.
struct Asleep {
    unit: UnitIdx,
    /// Whether its flags let sums be reordered.
    is_reordered: bool,
}

/// The hot sources with directives that their build leaves off, but for those whose threads would race.
fn asleep(subject: &Subject, hot: &Hot, options: &TuneOptions, root: &Path) -> Vec<Asleep> {
    let asleep = |(part, unit, share): &(usize, UnitIdx, f64)| {
        let Unit { source, flags, .. } = &subject.build.project().units[*unit];
        if *share < LEAST_SHARE || has_openmp_flag(flags) || !has_openmp(source) {
            return None;
        }
        let link_flags = BTreeSet::new();
        let closed = BTreeSet::new();
        let spot = Spot {
            part: *part,
            unit: *unit,
            path: source,
            link_flags: &link_flags,
            owned: root,
            closed,
            observed: None,
        };
        let options = file_options(subject, &spot, hot, None, options, options.budget);
        let read = read_c(source, &read_options(&options)).ok()?;
        let is_reordered = options.reassociate();
        read.races.is_empty().then_some(Asleep { unit: *unit, is_reordered })
    };
    hot.files.iter().filter_map(asleep).collect()
}

/// The program with directives on beside the program as it is: in as many threads as there may be, an odd number of them, and one.
fn compared(
    subject: &Subject,
    (before, hot): (&[PathBuf], &Hot),
    options: &TuneOptions,
    is_reordered: bool,
    progress: &dyn Progress,
) -> Result<WholeComparison, Error> {
    let rules = Rules {
        checks: &options.checks,
        fp: options.fp,
        threads: options.threads,
        is_reordered,
        others: (LEAST_GAIN, &[odd(options.threads), 1]),
        witnesses: &|_| Ok(Vec::new()),
    };
    let times = |n_runs: usize| {
        let whole = compare(subject, before, &hot.run, &rules, n_runs);
        check(progress)?;
        whole
    };
    let several = times(1)?;
    if several.difference.is_none() && (DOUBTFUL..LEAST_GAIN).contains(&several.speedup.median) {
        // Noise, or no gain? Once more, and longer.
        return times(2);
    }
    Ok(several)
}
