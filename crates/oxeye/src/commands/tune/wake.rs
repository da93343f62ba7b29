//! OpenMP directives that a project's build leaves off, switched on in all of its hot files at once. A file by itself has too
//! little of the budget to find out whether it may, and too little of the program's time for its threads to pay. Of a program
//! that takes long, a single file is tried here as well: the stages would run it more often.

use super::files::{LEAST_SHARE, Spot, file_options, hot_files};
use super::options::TuneOptions;
use super::programs::{Rules, compare, other_builds};
use super::subject::{Hot, Subject, check};
use super::woken::Woken;
use crate::budget::WallTime;
use crate::commands::changes::relative;
use crate::openmp::{OPENMP_FLAG, has_openmp_flag};
use crate::request::{Error, Event, Phase, Progress};
use crate::session::has_openmp;
use crate::stages::{LEAST_RUNS, odd, read_options};
use crate::whole::{OTHER_BUILDS, as_time_allows};
use oxeye_measure::{Exit, Left, WholeComparison, WholeOptions, available_cores, in_parallel};
use oxeye_project::{Unit, UnitIdx};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Runs of the program that finding out takes: as it is, once more where it prints times, and in three numbers of threads.
const RUNS: f64 = 4.0;
/// So many times the time that it takes has to be left.
const WELL_WITHIN: f64 = 1.5;
/// A program that takes longer than this many times the one without, and this many seconds more, gains nothing.
const PATIENCE: (f64, f64) = (2.0, 2.0);
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
    let build = |file: &Asleep| subject.build.compile_seconds(file.unit);
    let builds = asleep.iter().map(build).sum::<f64>() / (asleep.len().min(available_cores()).max(1) as f64);
    let seconds = builds + RUNS * time.run_seconds;
    // A file that has all of the budget, and whose program is soon over, finds out by itself, and which directive it is that does harm.
    let alone = builds + LEAST_RUNS * time.run_seconds;
    let is_all = hot_files(subject, hot, options).len() == 1;
    let by_itself = asleep.len() == 1 && is_all && time.allows(begin.elapsed(), WELL_WITHIN * alone);
    // The nests need time as well.
    if asleep.is_empty() || by_itself || !time.allows(begin.elapsed(), WELL_WITHIN * seconds) {
        return Ok((Woken::default(), None));
    }
    progress.event(Event::Phase(Phase::Directives));
    let before: Vec<PathBuf> = subject.parts.iter().map(|part| part.file.clone()).collect();
    let flags = BTreeSet::from([OPENMP_FLAG.to_owned()]);
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
    if woken.is_empty() {
        return Ok((Woken::default(), None));
    }
    let Ok(objects) = subject.replace(objects, &flags, "woken") else { return Ok((Woken::default(), None)) };
    let left = OnceCell::new();
    let compared =
        compared(subject, (&before, hot), (options, (begin, time)), (&asleep, &objects, &left), progress);
    let witnesses = left.into_inner().unwrap_or_default();
    let name = |unit: &UnitIdx| {
        let source = &subject.build.project().units[*unit].source;
        format!("{} has OpenMP directives that its", relative(source, root).display())
    };
    let whose = match woken.iter().collect::<Vec<_>>().as_slice() {
        [only] => name(only),
        several => format!("{} files have OpenMP directives that their", several.len()),
    };
    let begin = format!("{whose} build leaves off; with {OPENMP_FLAG} the program");
    let mut stay_asleep = BTreeSet::new();
    let is_late = |whole: &WholeComparison| whole.after_exit == Exit::TimedOut && !whole.before_timed_out;
    let why = match compared {
        Ok(whole) if whole.difference.is_none() && whole.speedup.median >= LEAST_GAIN => {
            subject.add_flag(&woken, OPENMP_FLAG);
            let speedup = whole.speedup.median;
            let note = format!("{begin} does the same, {speedup:.2}x as fast, so they are on");
            return Ok((Woken { objects, speedup, witnesses, ..Woken::default() }, Some(note)));
        }
        Ok(whole) if is_late(&whole) => {
            stay_asleep = woken;
            format!("{begin} is far slower, so one thread is used")
        }
        Ok(WholeComparison { difference: Some(difference), .. }) => {
            format!("{begin} behaves differently ({difference})")
        }
        Ok(whole) => {
            stay_asleep = woken;
            format!("{begin} gains nothing ({:.2}x), so one thread is used", whole.speedup.median)
        }
        Err(Error::Cancelled) => return Err(Error::Cancelled),
        Err(error) => format!("{begin} does not run ({error})"),
    };
    subject.replace(objects, &BTreeSet::new(), "asleep")?;
    Ok((Woken { stay_asleep, ..Woken::default() }, Some(why)))
}

/// A source with directives that its build leaves off.
struct Asleep {
    part: usize,
    unit: UnitIdx,
    /// Whether its flags let sums be reordered.
    is_reordered: bool,
    /// Whether its directives leave open in which order sums are added up.
    leaves_order_open: bool,
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
            stays_asleep: false,
            replay: None,
        };
        let options = file_options(subject, &spot, hot, None, options, options.budget);
        let read = subject.readings.read(source, &read_options(&options)).ok()?;
        let is_reordered = options.reassociate();
        let (part, unit, leaves_order_open) = (*part, *unit, read.leaves_order_open);
        read.races.is_empty().then_some(Asleep { part, unit, is_reordered, leaves_order_open })
    };
    hot.files.iter().filter_map(asleep).collect()
}

/// The program with directives on beside the program as it is: in as many threads as there may be, an odd number of them, and one.
/// `left` gets what builds of these files leave that round differently, if numbers are in doubt.
fn compared(
    subject: &Subject,
    (before, hot): (&[PathBuf], &Hot),
    (options, clock): (&TuneOptions, (Instant, WallTime)),
    (asleep, objects, left): (&[Asleep], &BTreeMap<UnitIdx, PathBuf>, &OnceCell<Vec<Left>>),
    progress: &dyn Progress,
) -> Result<WholeComparison, Error> {
    let (begin, time) = clock;
    let has_seconds = |seconds| time.allows(begin.elapsed(), seconds);
    let of_file = |file: &Asleep, how: &WholeOptions| {
        let seconds = time.run_seconds + subject.build.compile_seconds(file.unit);
        let builds = as_time_allows(&OTHER_BUILDS, seconds, has_seconds);
        other_builds(subject, (file.part, file.unit), objects, (builds, how))
    };
    let open = || asleep.iter().filter(|file| file.leaves_order_open);
    let witnesses = |how: &WholeOptions| {
        Ok(left.get_or_init(|| open().flat_map(|file| of_file(file, how)).collect()).clone())
    };
    let rules = Rules {
        checks: &options.checks,
        fp: options.fp,
        threads: options.threads,
        is_reordered: asleep.iter().any(|file| file.is_reordered),
        others: (LEAST_GAIN, &[odd(options.threads), 1]),
        patience: PATIENCE,
        witnesses: &witnesses,
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
