//! Tuning a project: its build is learnt, its program sampled, the files that take time tuned one after the other, each on
//! top of those before it, and what changed becomes a patch.

mod check;
mod check_report;
mod config;
mod files;
mod given;
mod html;
mod judge;
mod lock;
mod options;
mod pieces;
mod programs;
mod replay;
mod report;
mod stopwatch;
mod subject;

pub use check::{CheckOptions, check_project};
pub use check_report::{CHECK_SCHEMA, CheckReport, CheckedFile, CheckedNest, CheckedProgram};
pub use config::{CONFIG_FILE, ProjectConfig};
pub use lock::{LOCK_FILE, LOCK_SCHEMA, LockedFile, LockedMachine, LockedNest, LockedProgram, ProjectLock};
pub use options::{BuildSource, TuneOptions};
pub use replay::{ProjectReading, ProjectReplay, REPLAY_SCHEMA, ReplayOptions, ReplayedFile, replay_project};
pub use report::{FileReport, TUNE_SCHEMA, TuneReport};
pub use stopwatch::PhaseSeconds;

use super::changes::{ChangedFile, root};
use crate::request::{Error, Progress, ProjectRecipes, check_writable, write_atomically};
use files::{added, tune_files};
use lock::locked;
use programs::settle;
use std::path::{Path, PathBuf};
use stopwatch::Stopwatch;
use subject::{Subject, check};

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
    if let Some(path) = &options.lock {
        let lock = locked(options, &files, &program).after(earlier, &root);
        write_atomically(path, lock.to_json().as_bytes())?;
    }
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
        build: options.build.to_string(),
        run: options.run.line(),
        n_sources: subject.parts.iter().flat_map(|part| part.product.units()).count(),
        patch: written(options.output.patch()),
        folder: written(options.output.folder()),
        program,
        tunable: (!coverages.is_empty()).then(|| coverages.iter().sum::<f64>().min(1.0)),
        elsewhere: hot
            .is_known
            .then(|| (1.0 - files.iter().map(|file| file.report.share).sum::<f64>()).clamp(0.0, 1.0)),
        added: added(&files).into_iter().collect(),
        files: files.into_iter().map(|file| file.report).collect(),
        recipes,
        seconds: stages.seconds(),
        budget_seconds: options.budget.as_secs_f64(),
        phases: stages.into_laps(),
        notes,
    })
}
