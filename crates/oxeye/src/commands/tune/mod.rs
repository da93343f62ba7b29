//! Tuning a project: its build is learnt, its program sampled, the files that take time tuned one after the other, each on
//! top of those before it, and what changed becomes a patch.
//!
//! `tune` stands around all this. `crates/project` watches a build and knows which sources go into which programs and libraries;
//! it compiles them once and links programs in which one object is another. `Workshop::build` is the only place that knows
//! whether a program is made by one command or so. The program is sampled, and the files that take its time go through the stages
//! one after the other, each in the program that those before it made (`commands::tune`):
//!
//! ```text
//! --build ─ observe_build ► Project ─ Build::new ► objects ─ Subject::sample ► files by share
//!         ─ observe ► what their nests are called with
//!         ─ for each: optimize's stages ► its object replaced ─ settle: the program before and after ► patch
//! ```
//!
//! What a run leaves for later is made of the same parts: `ProjectRecipes` (a `RecipeFile` a file, with the sources it was read
//! together with), `oxeye.toml` (`ProjectConfig`), and `oxeye.lock.json` (`ProjectLock`: recipes, figures, and the pieces of text
//! before and after). `check` makes the original of every tuned file from its pieces, builds the project of those, and goes the
//! stages with the recipes in place of proposals (`commands::tune::{check, given}`). Files are untrusted: no command and no
//! path outside of the project that one names is used (`Compiler::plain`, `replay::inside`).

mod check;
mod check_report;
mod config;
mod files;
mod given;
mod html;
mod judge;
mod lock;
mod observe;
mod options;
mod pieces;
mod programs;
mod replay;
mod report;
mod stopwatch;
mod subject;
mod wake;
mod woken;

pub use check::{CheckOptions, check_project};
pub use check_report::{CHECK_SCHEMA, CheckReport, CheckedFile, CheckedNest, CheckedProgram};
pub use config::{CONFIG_FILE, ProjectConfig};
pub use lock::{LOCK_FILE, LOCK_SCHEMA, LockedFile, LockedMachine, LockedNest, LockedProgram, ProjectLock};
pub use options::{BuildSource, TuneOptions};
pub use replay::{ProjectReading, ProjectReplay, REPLAY_SCHEMA, ReplayOptions, ReplayedFile, replay_project};
pub use report::{FileReport, TUNE_SCHEMA, TuneReport};
pub use stopwatch::PhaseSeconds;

use super::changes::{relative, root};
use crate::budget::WallTime;
use crate::coverage::Stacks;
use crate::request::{Error, Progress, ProjectRecipes, check_writable, write_atomically};
use crate::written::ChangedFile;
use files::{TunedFile, added, changes, hot_files, tune_files};
use lock::locked;
use observe::observe;
use oxeye_frontend::Included;
use programs::settle;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stopwatch::Stopwatch;
use subject::{Hot, Subject, check};
use wake::wake;

/// Share of the time from which a file that is not tuned is named.
const LEAST_TOLD: f64 = 0.05;

/// Tunes the files of a project that take its time, and writes a patch.
///
/// # Errors
/// If the project does not build or run. What cannot be done with one file is in its part of the report.
pub fn tune(options: &TuneOptions, progress: &dyn Progress) -> Result<TuneReport, Error> {
    let result = tune_project(options, progress);
    result.map_err(|error| if progress.cancelled() { Error::Cancelled } else { error })
}

/// What is said of files that take time and are compiled as parts of others.
fn included(subject: &Subject, hot: &Hot, files: &[TunedFile], root: &Path) -> Vec<String> {
    let absolute = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let project = subject.build.project();
    let units: BTreeSet<PathBuf> = project.units.iter().map(|unit| absolute(&unit.source)).collect();
    let mut shares: BTreeMap<PathBuf, f64> = BTreeMap::new();
    for file in files {
        let known = file.report.report.as_ref().and_then(|report| report.coverage.clone());
        // Of a file without nests nothing is known but the samples.
        let sampled =
            || Some(Stacks::of(&file.path, &Included::default(), &hot.run.stacks)?.coverage(&[], &[]));
        for found in known.or_else(sampled).into_iter().flat_map(|coverage| coverage.files) {
            let share = shares.entry(absolute(&found.file)).or_insert(0.0);
            *share = share.max(found.share);
        }
    }
    // What is known of nests in them stands with the source that they were looked at in.
    let looked_at = |file: &TunedFile| {
        let folder = file.path.parent().unwrap_or(Path::new("/")).to_owned();
        let names = file
            .report
            .report
            .iter()
            .flat_map(|report| &report.nests)
            .filter_map(|nest| nest.line.file.clone());
        names.map(|name| absolute(&folder.join(name))).collect::<Vec<_>>()
    };
    let looked_at: BTreeSet<PathBuf> = files.iter().flat_map(looked_at).collect();
    let is_told = |(path, share): &(&PathBuf, &f64)| {
        **share >= LEAST_TOLD && !units.contains(*path) && !looked_at.contains(*path)
    };
    let mut found: Vec<_> = shares.iter().filter(is_told).collect();
    found.sort_by(|a, b| b.1.total_cmp(a.1));
    let note = |(path, share): (&PathBuf, &f64)| {
        let path = relative(path, root);
        let percent = (100.0 * share).round();
        format!(
            "{percent} % of the time is in {}, which others include, and none of it in loops that were looked at",
            path.display()
        )
    };
    found.into_iter().map(note).collect()
}

/// What is said of objects of the program that the build did not make, so that nothing of them is looked at.
fn not_built(subject: &Subject, root: &Path) -> Option<String> {
    let objects = subject.parts.iter().flat_map(|part| part.product.foreign_objects());
    let objects: BTreeSet<&Path> = objects.filter(|path| path.starts_with(root)).collect();
    let first = relative(objects.first()?, root);
    let (some, are) = match objects.len() {
        1 => (first.display().to_string(), "is"),
        n => (format!("{n} object files of the program ({}, ...)", first.display()), "are"),
    };
    Some(format!(
        "{some} {are} not made by this build, so what runs there is not looked at; clean first, so that all is built"
    ))
}

fn tune_project(options: &TuneOptions, progress: &dyn Progress) -> Result<TuneReport, Error> {
    let root = root(Path::new("."));
    options.output.check(&root)?;
    if let Some(path) = &options.save_recipe {
        check_writable(path, options.output.patch().as_slice())?;
    }
    let earlier = match &options.lock {
        Some(path) => {
            check_writable(path, &[])?;
            if path.exists() { Some(ProjectLock::load(path)?) } else { None }
        }
        None => None,
    };
    let mut stages = Stopwatch::new();
    let mut subject = Subject::learn(options, &[], progress)?;
    stages.lap("building");
    let before: Vec<PathBuf> = subject.parts.iter().map(|part| part.file.clone()).collect();
    let sampling = Instant::now();
    let hot = subject.sample(&options.checks, progress)?;
    // From the end of its first run on, everything counts.
    let begin = sampling + Duration::from_secs_f64(hot.run.seconds).min(sampling.elapsed());
    let time = WallTime {
        budget: options.budget,
        run_seconds: hot.run.seconds,
        build_seconds: 0.0,
        is_judged_once: hot_files(&subject, &hot, options).len() > 1,
    };
    if !options.focus.is_dry {
        progress.event(time.event(begin.elapsed()));
    }
    stages.lap("sampling");
    let mut notes = Vec::new();
    let not_built = not_built(&subject, &root);
    // Else that is why nothing was seen.
    if !hot.is_known && not_built.is_none() {
        notes.push(hot.why_unknown());
    }
    notes.extend(not_built);
    let (woken, note) = wake(&mut subject, &hot, options, (begin, time), progress, &root)?;
    notes.extend(note);
    stages.lap("directives");
    let awake = woken.run(&hot);
    let seen = observe(&mut subject, (&awake, &woken), options, progress, &root)?;
    stages.lap("observing");
    let hot_files = (&awake, &woken, seen);
    let mut files = tune_files(&mut subject, hot_files, options, (begin, time), progress, &root)?;
    notes.extend(included(&subject, &hot, &files, &root));
    stages.lap("tuning files");
    let program = settle(&mut subject, &mut files, &before, &hot, options, (begin, time), progress)?;
    stages.lap("final runs");
    let changed: Vec<ChangedFile> = changes(&files).cloned().collect();
    check(progress)?;
    options.output.write(&changed, &root)?;
    if let Some(path) = &options.lock {
        let lock = locked(options, &files, &program, &root).after(earlier, &root);
        write_atomically(path, lock.to_json().as_bytes())?;
    }
    let recipes = ProjectRecipes::new(
        files.iter_mut().filter(|file| file.is_rewritten()).filter_map(|file| file.recipes.take()).collect(),
    );
    if let Some(path) = &options.save_recipe {
        write_atomically(path, recipes.to_json().as_bytes())?;
    }
    let written = |path: Option<&Path>| path.filter(|_| !changed.is_empty()).map(Path::to_owned);
    let added = added(&files).into_iter().collect();
    let files: Vec<FileReport> = files.into_iter().map(TunedFile::into_report).collect();
    let mut report = TuneReport {
        schema: TUNE_SCHEMA,
        build: options.build.to_string(),
        run: options.run.line(),
        n_sources: subject.parts.iter().flat_map(|part| part.product.units()).count(),
        patch: written(options.output.patch()),
        folder: written(options.output.folder()),
        program,
        tunable: None,
        elsewhere: hot
            .is_known
            .then(|| (1.0 - files.iter().map(|file| file.share).sum::<f64>()).clamp(0.0, 1.0)),
        added,
        files,
        recipes,
        seconds: stages.seconds(),
        budget_seconds: options.budget.as_secs_f64(),
        phases: stages.into_laps(),
        nodes: Vec::new(),
        notes,
    };
    report.count_time();
    report.note_unlike_nests();
    report.note_nodes(options.nodes.as_deref());
    Ok(report)
}
