//! Stage 1: the file as functions of loop nests.

use crate::request::{Error, Event, FpPolicy, Options, Phase};
use crate::session::Session;
use oxeye_frontend::{OtherSource, ReadOptions, Unit, read_c};

/// The file as functions of loop nests. What cannot be read is told to the progress and kept.
///
/// # Errors
/// If the compiler does not preprocess the file, or it is not C.
pub fn read(session: &Session<'_>) -> Result<Unit, Error> {
    session.enter(Phase::Reading)?;
    let unit = read_c(&session.options.file, &reading(session))?;
    for diagnostic in &unit.diagnostics {
        let text = diagnostic.render(&unit.path, &unit.source);
        session.progress.event(Event::Diagnostic(&text));
    }
    Ok(unit)
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
        function: options.function.clone(),
        no_alias: options.no_alias,
        opened: Vec::new(),
        keeps_order: options.fp == FpPolicy::Strict,
    }
}

/// The other C sources of the program.
fn other_sources(options: &Options) -> Vec<OtherSource> {
    let args = &options.compiler.args;
    let Some(project) = &options.project else {
        let sources = options.compiler.sources();
        return sources.map(|path| OtherSource { path: path.to_owned(), args: args.clone() }).collect();
    };
    let units = &project.build.project().units;
    let others = project.product.units().into_iter().filter(|unit| *unit != project.unit);
    let sources = others.map(|unit| &units[unit]).filter(|unit| unit.is_c());
    sources.map(|unit| OtherSource { path: unit.source.clone(), args: unit.flags.clone() }).collect()
}
