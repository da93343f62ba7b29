//! The files of a project, tuned one after the other, each in the program that those before it made.

use super::options::TuneOptions;
use super::report::{FileReport, NOT_LOOKED_AT};
use super::subject::{Hot, Subject, check};
use super::woken::Woken;
use crate::budget::{WallTime, share_of};
use crate::commands::changes::relative;
use crate::commands::optimize::tuned;
use crate::nest::Workpiece;
use crate::openmp::{OPENMP_FLAG, SIMD_FLAG};
use crate::request::{
    Compiler, Error, Event, FileRecipes, Machines, Observed, Options, OtherFiles, Progress, ProjectFile,
};
use crate::session::Session;
use crate::stages::{Report, known_witnesses, read_options, report, wake_directives};
use crate::written::ChangedFile;
use oxeye_host::HostProfile;
use oxeye_ir::Span;
use oxeye_measure::{Left, Replay, ReplayOptions};
use oxeye_project::UnitIdx;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Files that take less of the program's time are not looked at.
pub(super) const LEAST_SHARE: f64 = 0.02;

/// What was seen of the nests of each file when all were observed.
pub(super) type Observations = BTreeMap<UnitIdx, Arc<Observed>>;

/// A file on its way.
pub(super) struct TunedFile {
    pub(super) unit: usize,
    pub(super) path: PathBuf,
    /// It and the files that it includes, as far as they are changed.
    pub(super) changes: Vec<ChangedFile>,
    /// Objects before that, of all units with changed files in them.
    pub(super) objects_before: BTreeMap<usize, PathBuf>,
    /// Flags besides its own that the tuned file needs.
    pub(super) flags: BTreeSet<String>,
    /// Flags for linking that the files changed before it need.
    pub(super) link_flags: BTreeSet<String>,
    /// Whether the program was compared with this file changed and no other.
    pub(super) was_compared_alone: bool,
    /// Speedup of the program from this file's nests.
    pub(super) speedup: f64,
    /// What the program leaves when the original of this file is built with and without reordering, if that was asked.
    pub(super) witnesses: Vec<Left>,
    /// Its rewritten nests, with the file that each is in, and as bytes of that.
    pub(super) spans: Vec<(PathBuf, Span)>,
    /// What makes the tuned file.
    pub(super) recipes: Option<FileRecipes>,
    pub(super) report: FileReport,
}

impl TunedFile {
    /// Before it is looked at, in a program in which some files have their directives on, and these were tuned.
    fn before(
        (unit, path, share): (UnitIdx, &Path, f64),
        woken: &Woken,
        done: &[TunedFile],
        root: &Path,
    ) -> Self {
        let is_woken = woken.objects.contains_key(&unit);
        let woken_flags = woken.objects.keys().flat_map(|unit| woken.flags(*unit));
        TunedFile {
            unit,
            path: path.to_owned(),
            changes: Vec::new(),
            objects_before: woken
                .objects
                .get(&unit)
                .map(|object| (unit, object.clone()))
                .into_iter()
                .collect(),
            flags: woken.flags(unit),
            link_flags: added(done).into_iter().chain(woken_flags).collect(),
            was_compared_alone: woken.objects.is_empty() && !done.iter().any(|file| file.report.changed),
            speedup: 1.0,
            witnesses: if is_woken { woken.witnesses.clone() } else { Vec::new() },
            spans: Vec::new(),
            recipes: None,
            report: FileReport {
                path: relative(path, root),
                share,
                changed: is_woken,
                added: Vec::new(),
                report: None,
                note: None,
                help: None,
            },
        }
    }

    /// Whether it has another text. Flags may be all that makes its program faster.
    pub(super) fn is_rewritten(&self) -> bool {
        self.report.changed && self.changes.iter().any(|change| change.before != change.after)
    }

    /// What is told of it in the end.
    pub(super) fn into_report(self) -> FileReport {
        let added = if self.report.changed { self.flags.into_iter().collect() } else { Vec::new() };
        FileReport { added, ..self.report }
    }
}

/// What came of a file.
struct Outcome {
    changes: Vec<ChangedFile>,
    spans: Vec<(PathBuf, Span)>,
    report: Report,
    /// Speedup of the program from this file's nests; if that was not measured, as it follows from theirs.
    speedup: f64,
    is_compared: bool,
    witnesses: Vec<Left>,
    recipes: FileRecipes,
}

/// A file has no time to speak of where less than this is left, besides a run of the program to capture.
const LEAST_TIME: Duration = Duration::from_secs(2);
/// Runs of the program that a file's share of the time has room for, as far as there is as much, if its nests were not observed
/// with those of others: to capture, and to compare.
const LEAST_RUNS: f64 = 3.0;

/// The files that take time and may be tuned, with the part and the unit that each is, and its share.
pub(super) fn hot_files(subject: &Subject, hot: &Hot, options: &TuneOptions) -> Vec<(usize, UnitIdx, f64)> {
    let units = &subject.build.project().units;
    let is_wanted = |(_, unit, share): &&(usize, UnitIdx, f64)| {
        *share >= LEAST_SHARE && options.focus.may_tune(&units[*unit].source, *share)
    };
    hot.files.iter().filter(is_wanted).copied().collect()
}

/// The time for all files.
fn time_for_files(
    subject: &Subject,
    files: &[(usize, UnitIdx, f64)],
    woken: &Woken,
    (begin, time): (Instant, WallTime),
) -> Duration {
    let usual = time.end_of_trials(begin.elapsed());
    match files {
        // One file compares the program itself, and keeps the time for that.
        [(_, unit, _)] if woken.objects.is_empty() => {
            let build = Duration::from_secs_f64(subject.build.compile_seconds(*unit));
            time.budget.saturating_sub(build).max(usual)
        }
        _ => usual,
    }
}

/// Tunes the files that take time, each in the program that those before it made, some with their directives on. `begin` is
/// when the budget began to count.
pub(super) fn tune_files(
    subject: &mut Subject,
    (hot, woken, mut observations): (&Hot, &Woken, Observations),
    options: &TuneOptions,
    (begin, time): (Instant, WallTime),
    progress: &dyn Progress,
    root: &Path,
) -> Result<Vec<TunedFile>, Error> {
    let matters = hot_files(subject, hot, options);
    let end = begin + time_for_files(subject, &matters, woken, (begin, time));
    let mut rest: f64 = matters.iter().map(|(.., share)| share).sum();
    let mut done: Vec<TunedFile> = Vec::new();
    let mut machine = None;
    let replay = shared_replay(subject, &matters);
    for (n_done, (part, unit, share)) in matters.iter().copied().enumerate() {
        check(progress)?;
        if progress.enough() {
            break;
        }
        let path = subject.build.project().units[unit].source.clone();
        progress.event(Event::File { path: &path, share, n_done, n_files: matters.len() });
        let is_woken = woken.objects.contains_key(&unit);
        let left = end.saturating_duration_since(Instant::now());
        let observed = observations.remove(&unit);
        let runs = |n: f64| match observed {
            Some(_) => LEAST_TIME,
            None => LEAST_TIME + Duration::from_secs_f64(n * time.run_seconds),
        };
        let needed = runs(LEAST_RUNS);
        let allowed = share_of(left, share, rest).max(needed.min(left)).max(LEAST_TIME);
        let mut file = TunedFile::before((unit, &path, share), woken, &done, root);
        rest -= share;
        if n_done > 0 && left.min(time.left(begin.elapsed())) < runs(1.0) {
            file.report.note = Some(NOT_LOOKED_AT.into());
            done.push(file);
            continue;
        }
        // What was changed for a file with more time stays so.
        let closed = changes(&done).filter(|change| change.path != path).map(|change| change.path.clone());
        let (closed, link_flags) = (closed.collect(), file.link_flags.clone());
        let stays_asleep = woken.stay_asleep.contains(&unit);
        let spot = Spot {
            part,
            unit,
            path: &path,
            link_flags: &link_flags,
            owned: root,
            closed,
            observed,
            stays_asleep,
            replay: replay.clone(),
        };
        match tune_file(subject, &spot, hot, machine.clone(), options, allowed, progress) {
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => file.report.note = Some(error.to_string()),
            Ok(Outcome { changes, spans, mut report, speedup, is_compared, witnesses, mut recipes }) => {
                (file.spans, file.speedup) = (spans, speedup);
                file.witnesses.extend(witnesses);
                file.was_compared_alone &= is_compared;
                // What its text means without the flag is another matter.
                recipes.recipes.directives |= is_woken;
                report.build.added.extend(file.flags.iter().cloned());
                file.recipes = Some(recipes.portable(root));
                machine = machine.or_else(|| report.host_profile.clone());
                // The directives of a file may be worth a flag as they are.
                if report.changed || report.build.added.len() > file.flags.len() {
                    file.changes = changes;
                    file.flags = report.build.added.iter().cloned().collect();
                    match take_up(subject, &mut file, &done) {
                        Ok(()) => file.report.changed = true,
                        Err(error) => file.report.note = Some(error.to_string()),
                    }
                }
                file.report.report = Some(report);
            }
        }
        done.push(file);
    }
    Ok(done)
}

/// Where a file stands in a project.
pub(super) struct Spot<'a> {
    pub(super) part: usize,
    pub(super) unit: usize,
    pub(super) path: &'a Path,
    /// Flags for linking besides the project's own.
    pub(super) link_flags: &'a BTreeSet<String>,
    /// The folder of the project's own files.
    pub(super) owned: &'a Path,
    /// Those of them that were changed for other files.
    pub(super) closed: BTreeSet<PathBuf>,
    /// What was seen of its nests.
    pub(super) observed: Option<Arc<Observed>>,
    /// Whether it is known that the program gains nothing from directives that the build leaves off.
    pub(super) stays_asleep: bool,
    /// What the nests of all files are replayed with.
    pub(super) replay: Option<Replay>,
}

/// What the nests of several files are replayed with, so that it is not built for each; if it cannot be, they will say so.
fn shared_replay(subject: &Subject, files: &[(usize, UnitIdx, f64)]) -> Option<Replay> {
    let [(_, unit, _), _, ..] = files else { return None };
    let compiler = oxeye_measure::Compiler::new(&subject.build.project().units[*unit].compiler, [""; 0]);
    Replay::new(&compiler, &subject.work, ReplayOptions::default()).ok()
}

/// What a run on one file of a project is asked to do.
pub(super) fn file_options(
    subject: &Subject,
    spot: &Spot<'_>,
    hot: &Hot,
    machine: Option<HostProfile>,
    options: &TuneOptions,
    budget: Duration,
) -> Options {
    let unit = &subject.build.project().units[spot.unit];
    Options {
        top_k: options.top_k,
        knowledge: options.knowledge.clone(),
        donors: options.donors,
        budget,
        focus: options.focus.clone(),
        quick: options.quick,
        fresh: options.fresh,
        threads: options.threads,
        fp: options.fp,
        checks: options.checks.clone(),
        no_alias: options.no_alias,
        machines: Machines { profile: machine, nodes: options.nodes.clone() },
        compiler: Compiler { command: unit.compiler.clone(), args: unit.flags.clone(), chosen: true },
        run: subject.run_for(spot.part),
        project: Some(ProjectFile {
            build: Arc::clone(&subject.build),
            readings: subject.readings.clone(),
            product: subject.parts[spot.part].product.clone(),
            unit: spot.unit,
            link_flags: spot.link_flags.iter().cloned().collect(),
            run: Arc::clone(&hot.run),
            owned: spot.owned.to_owned(),
            closed: spot.closed.clone(),
            observed: spot.observed.clone(),
            stays_asleep: spot.stays_asleep,
            replay: spot.replay.clone(),
        }),
        ..Options::new(spot.path)
    }
}

/// Tunes one file.
fn tune_file(
    subject: &Subject,
    spot: &Spot<'_>,
    hot: &Hot,
    machine: Option<HostProfile>,
    options: &TuneOptions,
    budget: Duration,
    progress: &dyn Progress,
) -> Result<Outcome, Error> {
    let options = file_options(subject, spot, hot, machine, options, budget);
    let mut session = Session::for_reading(&options, progress)?;
    if !options.focus.is_dry {
        let woken = wake_directives(&mut session);
        session.outcome(woken)?;
    }
    let emitted = session.outcome(tuned(&session))?;
    let report = report(&session, &emitted);
    let program = emitted.workpiece.program.as_ref();
    let witnesses =
        program.and_then(|program| known_witnesses(&session, program).get()).cloned().unwrap_or_default();
    let is_compared = emitted.whole.is_some();
    let speedup =
        report.program.speedup.filter(|_| is_compared).unwrap_or_else(|| emitted.expected_speedup());
    let recipes =
        FileRecipes { path: spot.path.to_owned(), others: others_of(&options), recipes: emitted.recipes };
    let Workpiece { unit, nests, .. } = &emitted.workpiece;
    let mut won: Vec<Span> =
        nests.iter().filter(|nest| nest.winner.is_some()).map(|nest| nest.place.span).collect();
    won.sort_by_key(|span| span.start);
    let in_file = |span: &Span| {
        let (file, span) = unit.included.place(*span)?;
        let path = if file == 0 { &unit.path } else { &unit.included.files()[file].path };
        Some((path.clone(), span))
    };
    let spans = won.iter().filter_map(in_file).collect();
    Ok(Outcome { changes: emitted.files, spans, report, speedup, is_compared, witnesses, recipes })
}

/// The sources that a file is read together with, by their flags.
fn others_of(options: &Options) -> Vec<OtherFiles> {
    let mut groups: Vec<OtherFiles> = Vec::new();
    for other in read_options(options).others {
        match groups.iter_mut().find(|group| group.args == other.args) {
            Some(group) => group.paths.push(other.path),
            None => groups.push(OtherFiles { args: other.args, paths: vec![other.path] }),
        }
    }
    groups
}

/// From now on, the program has the tuned file in it, and what it includes; so have all other sources that include that.
fn take_up(subject: &mut Subject, file: &mut TunedFile, done: &[TunedFile]) -> Result<(), Error> {
    let all: BTreeMap<PathBuf, String> = changes(done)
        .chain(&file.changes)
        .map(|change| (change.path.clone(), change.after.clone()))
        .collect();
    let own = subject.build.project().units[file.unit].source.clone();
    let included: BTreeSet<PathBuf> =
        file.changes.iter().map(|change| change.path.clone()).filter(|path| *path != own).collect();
    let mut objects = BTreeMap::new();
    for unit in subject.units_with(file.unit, &included) {
        let flags = if unit == file.unit { file.flags.clone() } else { flags_of(done, unit) };
        let source = subject.build.project().units[unit].source.clone();
        let name = format!("tuned{unit}-{}", done.len());
        let made = subject.compile_with((unit, &source), &all, &flags, &name);
        if subject.runs(unit) {
            objects.insert(unit, made?);
        } else if let Err(error) = made
            // It is of another program, and may not be there as a whole.
            && subject.compile_with((unit, &source), &BTreeMap::new(), &flags, &name).is_ok()
        {
            return Err(error);
        }
    }
    let flags = file.link_flags.union(&file.flags).cloned().collect();
    let before = subject.replace(objects, &flags, &format!("tuned{}", file.unit))?;
    before.into_iter().for_each(|(unit, object)| {
        file.objects_before.entry(unit).or_insert(object);
    });
    Ok(())
}

/// What was changed so far, and stays.
pub(super) fn changes(files: &[TunedFile]) -> impl Iterator<Item = &ChangedFile> {
    files.iter().filter(|file| file.report.changed).flat_map(|file| &file.changes)
}

/// Flags besides its own that a unit has because it was changed.
pub(super) fn flags_of(files: &[TunedFile], unit: usize) -> BTreeSet<String> {
    let changed = files.iter().filter(|file| file.report.changed && file.unit == unit);
    changed.flat_map(|file| file.flags.clone()).collect()
}

/// Flags besides their own that the changed files need, for compiling and linking. One of them may say more than another.
pub(super) fn added(files: &[TunedFile]) -> BTreeSet<String> {
    let changed = files.iter().filter(|file| file.report.changed);
    let mut flags: BTreeSet<String> = changed.flat_map(|file| file.flags.clone()).collect();
    if flags.contains(OPENMP_FLAG) {
        flags.remove(SIMD_FLAG);
    }
    flags
}
