//! The program of a project, before and after.

use super::files::{TunedFile, added, changes, flags_of};
use super::options::TuneOptions;
use super::subject::{Hot, Subject, check};
use crate::budget::WallTime;
use crate::causes::NotKept;
use crate::request::{Checks, Error, Event, Focus, FpPolicy, Phase, Progress, ProjectRun};
use crate::stages::ProgramReport;
use crate::whole::{InDoubt, compare_in_threads, printed_tolerance, rules};
use oxeye_measure::{Left, Limits, WholeComparison, WholeOptions};
use oxeye_project::UnitIdx;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// How long a program may take that was changed, compared with the one before.
pub(super) const PATIENCE: (f64, f64) = (5.0, 30.0);
/// A patch has to make the program faster by this.
const LEAST_GAIN: f64 = 1.01;

/// Compares the program before and after; files whose changes spoil it, or give it nothing, are taken back, the least gain
/// first. `clock` is when the budget began to count, and how it is divided.
pub(super) fn settle(
    subject: &mut Subject,
    files: &mut [TunedFile],
    before: &[PathBuf],
    hot: &Hot,
    options: &TuneOptions,
    clock: (Instant, WallTime),
    progress: &dyn Progress,
) -> Result<ProgramReport, Error> {
    progress.event(Event::Phase(Phase::Finishing));
    let (begin, time) = clock;
    loop {
        let mut changed = files.iter_mut().filter(|file| file.report.changed);
        let (program, reason) = match (changed.next(), changed.next()) {
            (None, _) => return Ok(ProgramReport::unchanged(hot.run.seconds, hot.run.outputs.len())),
            // That was compared when the file was done.
            (Some(only), None) if only.was_compared_alone => {
                let program = only.report.report.as_ref().map(|report| report.program.clone());
                let program = program.unwrap_or_default();
                match program.is_within_noise() {
                    // Noise, or a gain? Once more.
                    true => compared(subject, files, before, hot, options, clock, progress)?,
                    false => (program.clone(), no_gain(&program, &options.focus)),
                }
            }
            _ => compared(subject, files, before, hot, options, clock, progress)?,
        };
        let Some(why) = reason else { return Ok(program) };
        let changed = || (0..files.len()).filter(|k| files[*k].report.changed);
        let last = changed().min_by(|a, b| files[*a].speedup.total_cmp(&files[*b].speedup));
        // Without time for further comparisons, what was compared by itself is all that is known to be good.
        let known = changed().filter(|k| !files[*k].was_compared_alone).collect::<Vec<_>>();
        let is_over = time.left(begin.elapsed()).as_secs_f64() < 2.0 * time.run_seconds;
        let dropped = if is_over && !known.is_empty() { known } else { last.into_iter().collect() };
        for k in dropped {
            take_back(subject, files, k, &why)?;
        }
    }
}

/// Puts a file back as it was.
fn take_back(
    subject: &mut Subject,
    files: &mut [TunedFile],
    which: usize,
    why: &NotKept,
) -> Result<(), Error> {
    let file = &mut files[which];
    (file.report.note, file.report.help) = (Some(why.to_string()), Some(why.remedy().to_owned()));
    file.report.changed = false;
    let unit = file.unit;
    let mut objects = std::mem::take(&mut file.objects_before);
    let left: BTreeMap<PathBuf, String> =
        changes(files).map(|change| (change.path.clone(), change.after.clone())).collect();
    for (unit, object) in &mut objects {
        // What was changed later stands on what is taken back.
        let mut later = files[which + 1..].iter_mut().filter(|file| file.report.changed);
        if let Some(before) = later.find_map(|file| file.objects_before.get_mut(unit)) {
            let source = subject.build.project().units[*unit].source.clone();
            before.clone_from(object);
            let flags = flags_of(files, *unit);
            *object =
                subject.compile_with((*unit, &source), &left, &flags, &format!("left{unit}-{which}"))?;
        }
    }
    subject.replace(objects, &added(files), &format!("without{unit}"))?;
    Ok(())
}

/// Why a change is not worth a patch, if it is not.
fn no_gain(program: &ProgramReport, focus: &Focus) -> Option<NotKept> {
    let speedup = program.speedup.unwrap_or(1.0);
    match speedup < LEAST_GAIN {
        true => Some(NotKept::NoGain(speedup)),
        false if program.is_within_noise() => Some(NotKept::Noise(speedup)),
        false => focus.too_little(speedup, program.speedup_interval),
    }
}

/// The program before and after, and what is wrong with it after.
fn compared(
    subject: &Subject,
    files: &[TunedFile],
    before: &[PathBuf],
    hot: &Hot,
    options: &TuneOptions,
    (begin, time): (Instant, WallTime),
    progress: &dyn Progress,
) -> Result<(ProgramReport, Option<NotKept>), Error> {
    let n_runs = time.verdict_runs(begin.elapsed()).max(2);
    let changed = || files.iter().filter(|file| file.report.changed);
    let witnesses =
        |_: &WholeOptions| Ok(changed().flat_map(|file| file.witnesses.iter().cloned()).collect());
    let rules = Rules {
        checks: &options.checks,
        fp: options.fp,
        threads: options.threads,
        is_reordered: is_reordered(files),
        others: (0.0, &[]),
        patience: PATIENCE,
        witnesses: &witnesses,
    };
    let mut whole = compare(subject, before, &hot.run, &rules, n_runs)?;
    check(progress)?;
    let tolerance = printed_tolerance(&options.checks, options.fp, is_reordered(files));
    let mut program = ProgramReport::compared(&options.checks, tolerance, &whole);
    let has_time = time.left(begin.elapsed()).as_secs_f64() > 4.0 * n_runs as f64 * time.run_seconds;
    if has_time && whole.equal && no_gain(&program, &options.focus).is_some() && whole.speedup.high > 1.0 {
        // Noise, or not? Once more, and longer.
        whole = compare(subject, before, &hot.run, &rules, 2 * n_runs)?;
        check(progress)?;
        program = ProgramReport::compared(&options.checks, tolerance, &whole);
    }
    let reason = match &whole.difference {
        Some(difference) => Some(NotKept::Differs(difference.clone())),
        None => no_gain(&program, &options.focus),
    };
    let program = ProgramReport { mismatch: whole.difference.clone(), ..program };
    Ok((program, reason))
}

/// How the program is compared before and after.
pub(super) struct Rules<'a> {
    pub(super) checks: &'a Checks,
    pub(super) fp: FpPolicy,
    pub(super) threads: u32,
    /// Whether operations of a changed file may be reordered.
    pub(super) is_reordered: bool,
    /// Other numbers of threads in which it has to do the same, where it is so much faster.
    pub(super) others: (f64, &'a [u32]),
    /// No run takes longer than this many times what the program takes as it is, and this many seconds more.
    pub(super) patience: (f64, f64),
    /// What other builds of the original leave.
    pub(super) witnesses: &'a dyn Fn(&WholeOptions) -> Result<Vec<Left>, Error>,
}

/// Runs the program so many times in turns: made of these parts before, and of the present ones. `run` is how it ran before.
pub(super) fn compare(
    subject: &Subject,
    before: &[PathBuf],
    run: &ProjectRun,
    how: &Rules<'_>,
    n_runs: usize,
) -> Result<WholeComparison, Error> {
    let whole = WholeOptions {
        limits: Limits { seconds: how.patience.0 * run.seconds + how.patience.1, ..Limits::default() },
        threads: Some(how.threads as usize),
        earlier: run.outputs.iter().cloned().map(Left::printed).collect(),
        ..rules(how.checks, how.fp, how.is_reordered)
    };
    let after = subject.run_for(0).of(&subject.parts[0].file);
    let before: BTreeMap<&Path, &Path> = subject
        .parts
        .iter()
        .map(|part| part.file.as_path())
        .zip(before.iter().map(PathBuf::as_path))
        .collect();
    let mut original = subject.run_for(0);
    if let Some(stand_in) = &mut original.stand_in {
        for file in stand_in.files_mut() {
            if let Some(original) = before.get(file.as_path()) {
                *file = (*original).to_owned();
            }
        }
    }
    let original = original.of(before.get(subject.parts[0].file.as_path()).unwrap_or(&Path::new("")));
    let in_doubt = InDoubt { seconds: run.seconds, clocks: &run.clocks, witnesses: how.witnesses };
    compare_in_threads(&original, &after, n_runs, &whole, &in_doubt, how.others)
}

/// What the program leaves with these builds of a unit's original, which round differently, where other units are these objects; those that
/// fail tell nothing.
pub(super) fn other_builds(
    subject: &Subject,
    (part, unit): (usize, UnitIdx),
    others: &BTreeMap<UnitIdx, PathBuf>,
    (builds, how): (&[&[&str]], &WholeOptions),
) -> Vec<Left> {
    let source = &subject.build.project().units[unit].source;
    let left = |(k, flags): (usize, &&[&str])| {
        let name = format!("witness{unit}-{k}");
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let object = subject.build.compile(unit, source, &name, &flags, None).ok()?;
        let mut replaced = others.clone();
        replaced.insert(unit, object);
        let linked = subject.link(&subject.parts[part].product, &replaced, &BTreeSet::new(), &name).ok()?;
        Some(how.run(&subject.run_for(part).of(&linked)).ok()?.1)
    };
    builds.iter().enumerate().filter_map(left).collect()
}

/// Whether operations of a changed file may be reordered.
fn is_reordered(files: &[TunedFile]) -> bool {
    let mut changed = files.iter().filter(|file| file.report.changed);
    changed.any(|file| file.report.report.as_ref().is_some_and(|report| report.fp.reassociate))
}
