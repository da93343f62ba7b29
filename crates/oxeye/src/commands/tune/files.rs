//! The files of a project, tuned one after the other, each in the program that those before it made.

use super::options::TuneOptions;
use super::report::FileReport;
use super::subject::{Hot, Subject, check};
use crate::budget::{WallTime, share_of};
use crate::commands::changes::relative;
use crate::commands::optimize::tuned;
use crate::request::{
    Compiler, Error, Event, FileRecipes, Options, OtherFiles, Progress, ProjectFile, files,
};
use crate::session::Session;
use crate::stages::{Report, read_options, report, wake_directives};
use crate::workshop::passing_for;
use oxeye_frontend::encoded;
use oxeye_host::HostProfile;
use oxeye_ir::Span;
use oxeye_measure::Left;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Files that take less of the program's time are not looked at.
const LEAST_SHARE: f64 = 0.02;

/// A file on its way.
pub(super) struct TunedFile {
    pub(super) part: usize,
    pub(super) unit: usize,
    pub(super) path: PathBuf,
    /// Its text, and that of the tuned file.
    pub(super) before: String,
    pub(super) after: String,
    /// Its object before it was changed.
    pub(super) object_before: Option<PathBuf>,
    /// Flags besides its own that the tuned file needs.
    pub(super) flags: BTreeSet<String>,
    /// Flags for linking that the files changed before it need.
    pub(super) link_flags: BTreeSet<String>,
    /// Whether other files had been changed when it was compared.
    pub(super) was_with_others: bool,
    /// Speedup of the program from this file's nests.
    pub(super) speedup: f64,
    /// What the program leaves when the original of this file is built with and without reordering, if that was asked.
    pub(super) witnesses: Vec<Left>,
    /// Its rewritten nests, as bytes of its text.
    pub(super) spans: Vec<Span>,
    /// What makes the tuned file.
    pub(super) recipes: Option<FileRecipes>,
    pub(super) report: FileReport,
}

impl TunedFile {
    /// Whether it has another text. Flags may be all that makes its program faster.
    pub(super) fn is_rewritten(&self) -> bool {
        self.report.changed && self.before != self.after
    }
}

/// What came of a file.
struct Outcome {
    text: String,
    spans: Vec<Span>,
    report: Report,
    witnesses: Vec<Left>,
    recipes: FileRecipes,
}

/// A file has no time to speak of where less than this is left, besides a run of the program to capture.
const LEAST_TIME: Duration = Duration::from_secs(2);
/// Runs of the program that a file's share of the time has room for, as far as there is as much: to capture, and to compare.
const LEAST_RUNS: f64 = 3.0;

/// Tunes the files that take time, each in the program that those before it made. `begin` is when the budget began to count.
pub(super) fn tune_files(
    subject: &mut Subject,
    hot: &Hot,
    options: &TuneOptions,
    (begin, time): (Instant, WallTime),
    progress: &dyn Progress,
    root: &Path,
) -> Result<Vec<TunedFile>, Error> {
    let matters: Vec<(usize, usize, f64)> =
        hot.files.iter().copied().filter(|(.., share)| *share >= LEAST_SHARE).collect();
    let end = begin + time.end_of_trials(begin.elapsed());
    let needed = LEAST_TIME + Duration::from_secs_f64(LEAST_RUNS * time.run_seconds);
    let mut rest: f64 = matters.iter().map(|(.., share)| share).sum();
    let mut done: Vec<TunedFile> = Vec::new();
    let mut machine = None;
    for (n_done, (part, unit, share)) in matters.iter().copied().enumerate() {
        check(progress)?;
        if progress.enough() {
            break;
        }
        let path = subject.build.project().units[unit].source.clone();
        progress.event(Event::File { path: &path, share, n_done, n_files: matters.len() });
        let left = end.saturating_duration_since(Instant::now());
        let allowed = share_of(left, share, rest).max(needed.min(left)).max(LEAST_TIME);
        let mut file = TunedFile {
            part,
            unit,
            path: path.clone(),
            before: String::new(),
            after: String::new(),
            object_before: None,
            flags: BTreeSet::new(),
            link_flags: added(&done),
            was_with_others: done.iter().any(|file| file.report.changed),
            speedup: 1.0,
            witnesses: Vec::new(),
            spans: Vec::new(),
            recipes: None,
            report: FileReport {
                path: relative(&path, root),
                share,
                changed: false,
                report: None,
                note: None,
            },
        };
        rest -= share;
        let one_run = Duration::from_secs_f64(time.run_seconds);
        if n_done > 0 && time.left(begin.elapsed()) < LEAST_TIME + one_run {
            file.report.note = Some("the budget was spent before it could be looked at".into());
            done.push(file);
            continue;
        }
        match tune_file(subject, &file, hot, machine.clone(), options, allowed, progress) {
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => file.report.note = Some(error.to_string()),
            Ok(Outcome { text, spans, report, witnesses, recipes }) => {
                (file.witnesses, file.spans) = (witnesses, spans);
                file.recipes = Some(recipes.portable(root));
                machine = machine.or_else(|| report.host_profile.clone());
                file.speedup = report.program.speedup.unwrap_or(1.0);
                // The directives of a file may be worth a flag as they are.
                if report.changed || !report.build.added.is_empty() {
                    file.before = files::text(&path)?;
                    file.after = text;
                    file.flags = report.build.added.iter().cloned().collect();
                    match take_up(subject, &mut file) {
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
        quick: options.quick,
        fresh: options.fresh,
        threads: options.threads,
        fp: options.fp,
        checks: options.checks.clone(),
        no_alias: options.no_alias,
        machine,
        compiler: Compiler { command: unit.compiler.clone(), args: unit.flags.clone(), chosen: true },
        run: subject.run_for(spot.part),
        project: Some(ProjectFile {
            build: Arc::clone(&subject.build),
            product: subject.parts[spot.part].product.clone(),
            unit: spot.unit,
            link_flags: spot.link_flags.iter().cloned().collect(),
            run: Arc::clone(&hot.run),
        }),
        ..Options::new(spot.path)
    }
}

/// Tunes one file.
fn tune_file(
    subject: &Subject,
    file: &TunedFile,
    hot: &Hot,
    machine: Option<HostProfile>,
    options: &TuneOptions,
    budget: Duration,
    progress: &dyn Progress,
) -> Result<Outcome, Error> {
    let spot = Spot { part: file.part, unit: file.unit, path: &file.path, link_flags: &file.link_flags };
    let options = file_options(subject, &spot, hot, machine, options, budget);
    let mut session = Session::for_reading(&options, progress)?;
    let woken = wake_directives(&mut session);
    session.outcome(woken)?;
    let emitted = session.outcome(tuned(&session))?;
    let report = report(&session, &emitted);
    let program = emitted.workpiece.program.as_ref();
    let witnesses = program.and_then(|program| program.witnesses.get()).cloned().unwrap_or_default();
    let recipes =
        FileRecipes { path: file.path.clone(), others: others_of(&options), recipes: emitted.recipes };
    let won = emitted.workpiece.nests.iter().filter(|nest| nest.winner.is_some());
    let mut spans: Vec<Span> = won.map(|nest| nest.place.span).collect();
    spans.sort_by_key(|span| span.start);
    Ok(Outcome { text: emitted.text, spans, report, witnesses, recipes })
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

/// From now on, the program has the tuned file in it.
pub(super) fn take_up(subject: &mut Subject, file: &mut TunedFile) -> Result<(), Error> {
    let name = format!("tuned{}", file.unit);
    let text = passing_for(&file.path, &file.after);
    let source = subject.work.write(format!("{name}.c"), encoded(&text))?;
    let folder = file.path.parent().unwrap_or(Path::new("/")).display().to_string();
    let mut args = vec!["-g".to_owned(), "-iquote".into(), folder];
    args.extend(file.flags.iter().cloned());
    let flags = file.link_flags.union(&file.flags).cloned().collect();
    let object = subject.build.compile(file.unit, &source, &name, &args, None)?;
    let replaced = BTreeMap::from([(file.unit, object.clone())]);
    let linked = subject.link(&subject.parts[file.part].product, &replaced, &flags, &name)?;
    file.object_before = subject.replace(file.part, file.unit, object, linked);
    Ok(())
}

/// Flags besides their own that the changed files need, for compiling and linking.
pub(super) fn added(files: &[TunedFile]) -> BTreeSet<String> {
    files.iter().filter(|file| file.report.changed).flat_map(|file| file.flags.clone()).collect()
}
