//! Stage 1: the file as functions of loop nests.

use crate::request::{Error, Event, FpPolicy, Options, Phase, ProjectFile};
use crate::session::Session;
use oxeye_frontend::{OtherSource, ReadOptions, Unit};
use std::path::Path;

/// The file as functions of loop nests. What cannot be read is told to the progress and kept.
///
/// # Errors
/// If the compiler does not preprocess the file, or it is not C.
pub fn read(session: &Session<'_>) -> Result<Unit, Error> {
    read_as(session, &reading(session))
}

/// The same, read so.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_as(session: &Session<'_>, reading: &ReadOptions) -> Result<Unit, Error> {
    session.enter(Phase::Reading)?;
    let unit = session.readings.read(&session.options.file, reading)?;
    for diagnostic in &unit.diagnostics {
        session.progress.event(Event::Diagnostic(&unit.rendered(diagnostic)));
    }
    Ok(unit)
}

/// That there is something to tune in a file that was named. What could not be read has messages of its own.
///
/// # Errors
/// If there is no loop nest.
pub(crate) fn expect_nests(session: &Session<'_>, unit: &Unit) -> Result<(), Error> {
    let options = session.options;
    let is_named = options.project.is_none() && !options.is_stand_in;
    let is_empty = unit.diagnostics.is_empty() && unit.functions.iter().all(|f| f.program.nests.is_empty());
    match is_named && is_empty {
        true => Err(Error::Input(format!(
            "there is no loop nest in {}, so there is nothing to tune or measure; name the file in which the program spends its time \
             (of a project, --build and --run find it)",
            options.file.display()
        ))),
        false => Ok(()),
    }
}

/// How the file of a session is read.
pub(crate) fn reading(session: &Session<'_>) -> ReadOptions {
    let mut reading = read_options(session.options);
    reading.args.extend(session.workshop.woken_flag());
    reading
}

/// How a file is read as its build has it.
pub(crate) fn read_options(options: &Options) -> ReadOptions {
    ReadOptions {
        compiler: options.compiler.command.clone(),
        args: options.compiler.args.clone(),
        others: other_sources(options),
        function: options.focus.function.clone(),
        no_alias: options.no_alias,
        opened: Vec::new(),
        group: None,
        is_whole: options.project.is_none() && !options.compiler.links_others(),
        keeps_order: options.fp == FpPolicy::Strict,
        owned: Some(match &options.project {
            Some(project) => project.owned.clone(),
            None => folder_of(&options.file).to_owned(),
        }),
        closed: options.project.as_ref().map(|project| project.closed.clone()).unwrap_or_default(),
    }
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The other C sources of the program.
fn other_sources(options: &Options) -> Vec<OtherSource> {
    let args = &options.compiler.args;
    let Some(project) = &options.project else {
        let sources = options.compiler.sources();
        return sources.map(|path| OtherSource { path: path.to_owned(), args: args.clone() }).collect();
    };
    sources_beside(project, project.unit)
}

/// The other C sources of the program that a unit is part of.
pub(crate) fn sources_beside(project: &ProjectFile, unit: usize) -> Vec<OtherSource> {
    let units = &project.build.project().units;
    let others = project.product.units().into_iter().filter(|other| *other != unit);
    let sources = others.map(|unit| &units[unit]).filter(|unit| unit.is_c());
    sources.map(|unit| OtherSource { path: unit.source.clone(), args: unit.flags.clone() }).collect()
}
