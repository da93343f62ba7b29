//! Nests in files that several sources of a project include: they have to mean the same in each.

use super::capture::Captured;
use super::read::{read_options, sources_beside};
use crate::causes::LeftOut;
use crate::nest::Standing;
use crate::parallel;
use crate::request::{Error, ProjectFile};
use crate::session::Session;
use oxeye_frontend::{Conditions, Function, ReadOptions, Unit, includes};
use oxeye_ir::{Nest, NestId};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Leaves nests in included files as they are where another source of the project that includes the file reads otherwise.
///
/// # Errors
/// If the run is interrupted.
pub(crate) fn agree(session: &Session<'_>, captured: &mut Captured) -> Result<(), Error> {
    let Some(project) = &session.options.project else { return Ok(()) };
    let unit = &captured.workpiece.unit;
    let mut wanted: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (idx, nest) in captured.workpiece.nests.iter().enumerate() {
        let file = nest.place.file(unit);
        if file > 0 && !matches!(nest.standing, Standing::Skipped(_)) {
            wanted.entry(file).or_default().push(idx);
        }
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let path_of = |file: usize| unit.included.files()[file].path.as_path();
    let paths: BTreeSet<&Path> = wanted.keys().map(|file| path_of(*file)).collect();
    let mut others = others(project);
    if others.iter().any(|other| is_cpp(&project.build.project().units[*other].source)) {
        for (file, nests) in &wanted {
            let found = &unit.included.files()[*file];
            let is_header = found.path.extension().is_none_or(|extension| extension != "c");
            if is_header && !found.says_cpp() {
                let why = LeftOut::SharedWithCpp(found.name.clone());
                nests.iter().for_each(|idx| {
                    captured.workpiece.nests[*idx].standing = Standing::Skipped(why.clone());
                });
            }
        }
    }
    others.retain(|other| project.build.project().units[*other].is_c());
    let read = |other: &usize| other_reading(session, project, *other, &paths);
    let readings = parallel::map(&others, read);
    session.check_cancelled()?;
    for reading in readings.into_iter().flatten().flatten() {
        let workpiece = &mut captured.workpiece;
        for (file, nests) in &wanted {
            let path = workpiece.unit.included.files()[*file].path.clone();
            if !reading.includes.contains(&path) {
                continue;
            }
            for idx in nests {
                let place = &workpiece.nests[*idx].place;
                let function = &workpiece.unit.functions[place.function_idx];
                if !reading.is_alike(&workpiece.unit, function, place.nest_id, &path) {
                    let why = LeftOut::OtherMeaning(reading.name.clone());
                    workpiece.nests[*idx].standing = Standing::Skipped(why);
                }
            }
        }
    }
    Ok(())
}

/// The units of a project but for one, each way to compile a source once.
fn others(project: &ProjectFile) -> Vec<usize> {
    let units = &project.build.project().units;
    let mut seen = BTreeSet::from([(&units[project.unit].source, &units[project.unit].flags)]);
    let is_new = |idx: &usize| seen.insert((&units[*idx].source, &units[*idx].flags));
    let others: Vec<usize> = (0..units.len()).filter(is_new).collect();
    // What the build removes again, such as probes of the compiler, is no part of the project.
    others.into_iter().filter(|idx| units[*idx].source.is_file()).collect()
}

fn is_cpp(source: &Path) -> bool {
    let extension = source.extension().unwrap_or_default().to_string_lossy();
    ["cc", "cpp", "cxx", "c++", "C"].contains(&extension.as_ref())
}

/// Another source that includes some of the files.
struct Reading {
    name: String,
    includes: BTreeSet<PathBuf>,
    /// How it is read; `None` where it cannot be.
    unit: Option<Unit>,
}

/// Reads another source, if it includes one of these files.
fn other_reading(
    session: &Session<'_>,
    project: &ProjectFile,
    other: usize,
    paths: &BTreeSet<&Path>,
) -> Option<Reading> {
    let unit = &project.build.project().units[other];
    let name = unit.source.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let includes = match includes(&unit.source, &unit.compiler, &unit.flags) {
        Ok(includes) => includes,
        // Nothing is known of it.
        Err(_) => paths.iter().map(|path| (*path).to_owned()).collect(),
    };
    if paths.iter().all(|path| !includes.contains(*path)) {
        return None;
    }
    let reading = ReadOptions {
        compiler: unit.compiler.clone(),
        args: unit.flags.clone(),
        others: sources_beside(project, other),
        function: None,
        ..read_options(session.options)
    };
    // A bug of ours is no reason to trust it.
    let unit = parallel::guarded(|| session.readings.read(&unit.source, &reading).ok()).ok().flatten();
    Some(Reading { name, includes, unit })
}

impl Reading {
    /// Whether a nest is the same here, or its conditions put the original in its place.
    fn is_alike(&self, own: &Unit, function: &Function, nest: NestId, path: &Path) -> bool {
        let Some(unit) = &self.unit else { return false };
        let place = |unit: &Unit, function: &Function| {
            let (file, span) = unit.included.place(function.span)?;
            Some((unit.included.files()[file].path.clone(), span.start, span.end))
        };
        let here = unit.functions.iter().find(|other| {
            other.name == function.name && place(unit, other).is_some_and(|(file, ..)| file == path)
        });
        let Some(here) = here else { return false };
        if place(unit, here) != place(own, function) {
            return false;
        }
        let none = Conditions::default();
        let conditions = |f: &Function| f.conditions.get(&nest).unwrap_or(&none).preprocessor.clone();
        let is_guarded = has_other_value(&conditions(function), &conditions(here));
        // Their lines are of two texts.
        let text = |f: &Function| {
            let mut program = f.program.clone();
            program.nests.values_mut().for_each(Nest::forget_places);
            f.binding.display(&program)
        };
        is_guarded
            || text(function) == text(here)
                && function.own_texts.get(&nest) == here.own_texts.get(&nest)
                && function.inlined.get(&nest) == here.inlined.get(&nest)
                && function.conditions.get(&nest) == here.conditions.get(&nest)
    }
}

/// Whether a macro has to have a value for the first that it does not have for the second: `(N) == 4`, `(N) == 8`.
fn has_other_value(own: &[String], other: &[String]) -> bool {
    let value_in = |name: &str| {
        other.iter().find_map(|condition| condition.split_once(" == ").filter(|(n, _)| *n == name))
    };
    own.iter().filter_map(|condition| condition.split_once(" == ")).any(|(name, value)| {
        let is_macro = name.starts_with('(') && name.ends_with(')');
        is_macro && value_in(name).is_some_and(|(_, other)| other != value)
    })
}
