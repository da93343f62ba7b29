//! Tuning a project: its build is learnt, its program sampled, the files that take time tuned one after the other, each on
//! top of those before it, and what changed becomes a patch.

mod config;
mod options;
mod replay;
mod report;
mod subject;

pub use config::{CONFIG_FILE, ProjectConfig};
pub use options::{BuildSource, TuneOptions};
pub use replay::{ProjectReading, ProjectReplay, REPLAY_SCHEMA, ReplayOptions, ReplayedFile, replay_project};
pub use report::{FileReport, PhaseSeconds, TUNE_SCHEMA, TuneReport};

use super::changes::{ChangedFile, relative, root};
use super::optimize::tuned;
use crate::budget::{n_runs, share_of};
use crate::request::{
    Compiler, Error, Event, FileRecipes, FpPolicy, Options, OtherFiles, Phase, Progress, ProjectFile,
    ProjectRecipes, check_writable, write_atomically,
};
use crate::session::Session;
use crate::stages::{ProgramReport, Report, read_options, report};
use crate::whole::{printed_tolerance, rules};
use crate::workshop::passing_for;
use oxeye_frontend::encoded;
use oxeye_host::HostProfile;
use oxeye_measure::{Left, Limits, WholeComparison, WholeOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use subject::{Hot, Subject, check};

/// Files that take less of the program's time are not looked at.
const LEAST_SHARE: f64 = 0.02;

/// A patch has to make the program faster by this.
const LEAST_GAIN: f64 = 1.01;

/// Tunes the files of a project that take its time, and writes a patch.
///
/// # Errors
/// If the project does not build or run. What cannot be done with one file is in its part of the report.
pub fn tune(options: &TuneOptions, progress: &dyn Progress) -> Result<TuneReport, Error> {
    let result = tune_project(options, progress);
    result.map_err(|error| if progress.cancelled() { Error::Cancelled } else { error })
}

fn tune_project(options: &TuneOptions, progress: &dyn Progress) -> Result<TuneReport, Error> {
    let root = root(Path::new("."));
    options.output.check(&root)?;
    if let Some(path) = &options.save_recipe {
        check_writable(path, options.output.patch().as_slice())?;
    }
    let mut stages = Stopwatch::new();
    let mut subject = Subject::learn(options, progress)?;
    stages.lap("building");
    let before: Vec<PathBuf> = subject.parts.iter().map(|part| part.file.clone()).collect();
    let hot = subject.sample(&options.checks, progress)?;
    stages.lap("sampling");
    let mut notes = Vec::new();
    if !hot.is_known {
        notes.push(format!(
            "the program ran {:.2} s, too short to see where its time goes; give it more to do",
            hot.run.seconds
        ));
    }
    let mut files = tune_files(&mut subject, &hot, options, progress, &root)?;
    stages.lap("tuning files");
    let program = settle(&mut subject, &mut files, &before, &hot, options, progress)?;
    stages.lap("final runs");
    let changed: Vec<ChangedFile> = files
        .iter()
        .filter(|file| file.report.changed)
        .map(|file| ChangedFile {
            path: file.path.clone(),
            before: file.before.clone(),
            after: file.after.clone(),
        })
        .collect();
    check(progress)?;
    options.output.write(&changed, &root)?;
    let recipes = ProjectRecipes::new(
        files.iter_mut().filter(|file| file.report.changed).filter_map(|file| file.recipes.take()).collect(),
    );
    if let Some(path) = &options.save_recipe {
        write_atomically(path, recipes.to_json().as_bytes())?;
    }
    let written = |path: Option<&Path>| path.filter(|_| !changed.is_empty()).map(Path::to_owned);
    let coverages: Vec<f64> = files
        .iter()
        .filter_map(|file| Some(file.report.report.as_ref()?.coverage.as_ref()?.tunable))
        .collect();
    Ok(TuneReport {
        schema: TUNE_SCHEMA,
        build: match &options.build {
            BuildSource::Command(command) => command.clone(),
            BuildSource::CompileCommands(path) => path.display().to_string(),
        },
        n_sources: subject.parts.iter().flat_map(|part| part.product.units()).count(),
        patch: written(options.output.patch()),
        folder: written(options.output.folder()),
        program,
        tunable: (!coverages.is_empty()).then(|| coverages.iter().sum::<f64>().min(1.0)),
        added: added(&files).into_iter().collect(),
        files: files.into_iter().map(|file| file.report).collect(),
        recipes,
        seconds: stages.begin.elapsed().as_secs_f64(),
        budget_seconds: options.budget.as_secs_f64(),
        phases: stages.laps,
        notes,
    })
}

/// A file on its way.
struct TunedFile {
    part: usize,
    unit: usize,
    path: PathBuf,
    /// Its text, and that of the tuned file.
    before: String,
    after: String,
    /// Its object before it was changed.
    object_before: Option<PathBuf>,
    /// Flags for linking that the files changed before it need.
    link_flags: BTreeSet<String>,
    /// Whether other files had been changed when it was compared.
    was_with_others: bool,
    /// Speedup of the program from this file's nests.
    speedup: f64,
    /// What the program leaves when the original of this file is built with and without reordering, if that was asked.
    witnesses: Vec<Left>,
    /// What makes the tuned file.
    recipes: Option<FileRecipes>,
    report: FileReport,
}

/// What came of a file.
struct Outcome {
    text: String,
    report: Report,
    witnesses: Vec<Left>,
    recipes: FileRecipes,
}

/// Tunes the files that take time, each in the program that those before it made.
fn tune_files(
    subject: &mut Subject,
    hot: &Hot,
    options: &TuneOptions,
    progress: &dyn Progress,
    root: &Path,
) -> Result<Vec<TunedFile>, Error> {
    let matters: Vec<(usize, usize, f64)> =
        hot.files.iter().copied().filter(|(.., share)| *share >= LEAST_SHARE).collect();
    let mut left = options.budget;
    let mut rest: f64 = matters.iter().map(|(.., share)| share).sum();
    let mut files = Vec::new();
    let mut machine = None;
    for (n_done, (part, unit, share)) in matters.iter().copied().enumerate() {
        check(progress)?;
        if progress.enough() {
            break;
        }
        let path = subject.build.project().units[unit].source.clone();
        progress.event(Event::File { path: &path, share, n_done, n_files: matters.len() });
        let start = Instant::now();
        let allowed = share_of(left, share, rest).max(Duration::from_secs(2));
        let mut file = TunedFile {
            part,
            unit,
            path: path.clone(),
            before: String::new(),
            after: String::new(),
            object_before: None,
            link_flags: added(&files),
            was_with_others: files.iter().any(|file: &TunedFile| file.report.changed),
            speedup: 1.0,
            witnesses: Vec::new(),
            recipes: None,
            report: FileReport {
                path: relative(&path, root),
                share,
                changed: false,
                report: None,
                note: None,
            },
        };
        match tune_file(subject, &file, hot, machine.clone(), options, allowed, (root, progress)) {
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => file.report.note = Some(error.to_string()),
            Ok(Outcome { text, report, witnesses, recipes }) => {
                file.witnesses = witnesses;
                file.recipes = Some(recipes.portable(root));
                machine = machine.or_else(|| report.host_profile.clone());
                file.speedup = report.program.speedup.unwrap_or(1.0);
                if report.changed {
                    file.before = decoded(&path);
                    file.after = text;
                    if let Err(error) = take_up(subject, &mut file, &report) {
                        file.report.note = Some(error.to_string());
                    }
                }
                file.report.report = Some(report);
            }
        }
        files.push(file);
        left = left.saturating_sub(start.elapsed().min(allowed));
        rest -= share;
    }
    Ok(files)
}

fn decoded(path: &Path) -> String {
    std::fs::read(path).ok().and_then(oxeye_frontend::decoded).unwrap_or_default()
}

/// Tunes one file; returns its new text, and what other builds of the original leave.
fn tune_file(
    subject: &Subject,
    file: &TunedFile,
    hot: &Hot,
    machine: Option<HostProfile>,
    options: &TuneOptions,
    budget: Duration,
    (root, progress): (&Path, &dyn Progress),
) -> Result<Outcome, Error> {
    let unit = &subject.build.project().units[file.unit];
    let part = &subject.parts[file.part];
    let options = Options {
        top_k: options.top_k,
        knowledge: options.knowledge.clone(),
        donors: options.donors,
        budget,
        quick: options.quick,
        threads: options.threads,
        fp: options.fp,
        checks: options.checks.clone(),
        no_alias: options.no_alias,
        machine,
        compiler: Compiler { command: unit.compiler.clone(), args: unit.flags.clone(), chosen: true },
        run: subject.run_for(file.part),
        project: Some(ProjectFile {
            build: Arc::clone(&subject.build),
            product: part.product.clone(),
            unit: file.unit,
            link_flags: file.link_flags.iter().cloned().collect(),
            run: Arc::clone(&hot.run),
        }),
        ..Options::new(&file.path)
    };
    let session = Session::for_reading(&options, progress)?;
    let emitted = session.outcome(tuned(&session))?;
    let report = report(&session, &emitted);
    let program = emitted.workpiece.program.as_ref();
    let witnesses = program.and_then(|program| program.witnesses.get()).cloned().unwrap_or_default();
    let recipes = FileRecipes {
        path: relative(&file.path, root),
        others: others_of(&options, root),
        keeps_order: options.fp == FpPolicy::Strict,
        recipes: emitted.recipes,
    };
    Ok(Outcome { text: emitted.text, report, witnesses, recipes })
}

/// The sources that a file is read together with, by their flags.
fn others_of(options: &Options, root: &Path) -> Vec<OtherFiles> {
    let mut groups: Vec<OtherFiles> = Vec::new();
    for other in read_options(options).others {
        let path = relative(&other.path, root);
        match groups.iter_mut().find(|group| group.args == other.args) {
            Some(group) => group.paths.push(path),
            None => groups.push(OtherFiles { args: other.args, paths: vec![path] }),
        }
    }
    groups
}

/// From now on, the program has the tuned file in it.
fn take_up(subject: &mut Subject, file: &mut TunedFile, report: &Report) -> Result<(), Error> {
    let name = format!("tuned{}", file.unit);
    let text = passing_for(&file.path, &file.after);
    let source = subject.work.write(format!("{name}.c"), encoded(&text))?;
    let folder = file.path.parent().unwrap_or(Path::new("/")).display().to_string();
    let mut args = vec!["-g".to_owned(), "-iquote".into(), folder];
    args.extend(report.build.added.iter().cloned());
    let mut flags = file.link_flags.clone();
    flags.extend(report.build.added.iter().cloned());
    let object = subject.build.compile(file.unit, &source, &name, &args, None)?;
    let replaced = BTreeMap::from([(file.unit, object.clone())]);
    let linked = subject.link(&subject.parts[file.part].product, &replaced, &flags, &name)?;
    file.object_before = subject.replace(file.part, file.unit, object, linked);
    file.report.changed = true;
    Ok(())
}

/// Flags besides their own that the changed files need, for compiling and linking.
fn added(files: &[TunedFile]) -> BTreeSet<String> {
    let changed = files.iter().filter(|file| file.report.changed);
    changed
        .filter_map(|file| file.report.report.as_ref())
        .flat_map(|report| report.build.added.clone())
        .collect()
}

/// Compares the program before and after; files whose changes spoil it, or give it nothing, are taken back, the least gain
/// first.
fn settle(
    subject: &mut Subject,
    files: &mut [TunedFile],
    before: &[PathBuf],
    hot: &Hot,
    options: &TuneOptions,
    progress: &dyn Progress,
) -> Result<ProgramReport, Error> {
    progress.event(Event::Phase(Phase::Finishing));
    loop {
        let mut changed = files.iter_mut().filter(|file| file.report.changed);
        let (program, reason) = match (changed.next(), changed.next()) {
            (None, _) => return Ok(unchanged(hot)),
            // That was compared when the file was done.
            (Some(only), None) if !only.was_with_others => {
                let program = only.report.report.as_ref().map(|report| report.program.clone());
                let program = program.unwrap_or_default();
                let gain = program.speedup.unwrap_or(1.0);
                (program, (gain < LEAST_GAIN).then(|| no_gain(gain)))
            }
            _ => compared(subject, files, before, hot, options, progress)?,
        };
        let Some(why) = reason else { return Ok(program) };
        let changed = files.iter_mut().filter(|file| file.report.changed);
        let Some(last) = changed.min_by(|a, b| a.speedup.total_cmp(&b.speedup)) else { return Ok(program) };
        last.report.note = Some(why);
        last.report.changed = false;
        let (unit, part, object) = (last.unit, last.part, last.object_before.take());
        let replaced = object.iter().map(|object| (unit, object.clone())).collect();
        let product = &subject.parts[part].product;
        let linked = subject.link(product, &replaced, &added(files), &format!("without{unit}"))?;
        object.and_then(|object| subject.replace(part, unit, object, linked));
    }
}

fn no_gain(speedup: f64) -> String {
    format!("the program does not gain from it ({speedup:.2}x)")
}

/// The report on a program that stays as it is.
fn unchanged(hot: &Hot) -> ProgramReport {
    let ms = Some(1e3 * hot.run.seconds);
    ProgramReport {
        baseline_ms: ms,
        optimized_ms: ms,
        speedup: Some(1.0),
        samples: hot.run.outputs.len(),
        ..ProgramReport::default()
    }
}

/// The program before and after, and what is wrong with it after.
fn compared(
    subject: &Subject,
    files: &[TunedFile],
    before: &[PathBuf],
    hot: &Hot,
    options: &TuneOptions,
    progress: &dyn Progress,
) -> Result<(ProgramReport, Option<String>), Error> {
    let n_runs = n_runs(hot.run.seconds).max(3);
    let mut whole = compare(subject, files, before, hot, options, n_runs)?;
    check(progress)?;
    if whole.equal && whole.speedup.median < LEAST_GAIN && whole.speedup.high > 1.0 {
        // Noise, or a loss? Once more, and longer.
        whole = compare(subject, files, before, hot, options, 2 * n_runs)?;
        check(progress)?;
    }
    let reason = match &whole.difference {
        Some(difference) => Some(format!("the program behaves differently with it ({difference})")),
        None => (whole.speedup.median < LEAST_GAIN).then(|| no_gain(whole.speedup.median)),
    };
    let tolerance = printed_tolerance(&options.checks, options.fp, is_reordered(files));
    let program = ProgramReport {
        baseline_ms: Some(1e-6 * whole.before_ns.median),
        optimized_ms: Some(1e-6 * whole.after_ns.median),
        speedup: Some(whole.speedup.median),
        verified: whole.equal,
        max_rel_error: Some(whole.max_rel_error),
        samples: whole.before_ns.n,
        spread: Some(whole.before_ns.spread).filter(|_| whole.before_ns.n > 1),
        mismatch: whole.difference.clone(),
        ..ProgramReport::compared(&options.checks, tolerance, &whole)
    };
    Ok((program, reason))
}

fn compare(
    subject: &Subject,
    files: &[TunedFile],
    before: &[PathBuf],
    hot: &Hot,
    options: &TuneOptions,
    n_runs: usize,
) -> Result<WholeComparison, Error> {
    let whole = WholeOptions {
        limits: Limits { seconds: 30.0 + 5.0 * hot.run.seconds, ..Limits::default() },
        threads: Some(options.threads as usize),
        earlier: hot.run.outputs.iter().cloned().map(Left::printed).collect(),
        ..rules(&options.checks, options.fp, is_reordered(files))
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
        for file in stand_in.others.iter_mut().map(|(_, file)| file).chain(&mut stand_in.starts) {
            if let Some(original) = before.get(file.as_path()) {
                *file = (*original).to_owned();
            }
        }
    }
    let original = original.of(before.get(subject.parts[0].file.as_path()).unwrap_or(&Path::new("")));
    let changed = || files.iter().filter(|file| file.report.changed);
    let witnesses =
        |_: &WholeOptions| Ok(changed().flat_map(|file| file.witnesses.iter().cloned()).collect());
    crate::whole::compare(&original, &after, n_runs, &whole, hot.run.seconds, &witnesses)
}

/// Whether operations of a changed file may be reordered.
fn is_reordered(files: &[TunedFile]) -> bool {
    let mut changed = files.iter().filter(|file| file.report.changed);
    changed.any(|file| file.report.report.as_ref().is_some_and(|report| report.fp.reassociate))
}

/// Where the time of a run goes.
struct Stopwatch {
    begin: Instant,
    last: Instant,
    laps: Vec<PhaseSeconds>,
}

impl Stopwatch {
    fn new() -> Self {
        let now = Instant::now();
        Self { begin: now, last: now, laps: Vec::new() }
    }

    fn lap(&mut self, phase: &'static str) {
        self.laps.push(PhaseSeconds { phase, seconds: self.last.elapsed().as_secs_f64() });
        self.last = Instant::now();
    }
}
