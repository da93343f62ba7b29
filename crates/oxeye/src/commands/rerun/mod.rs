//! Candidates of an earlier run that people edited: built again, verified, timed, and shown beside what was generated.
//!
//! In: the user's file, how its program is built and run, and the folder that `optimize` left ([`keep_candidates`]). Out: for
//! each candidate a diff, and the figures of both texts against the original, in replays of the nest and in the whole program.

mod candidates;
mod report;

use super::replay::{rendering, replaced, rewrite};
use crate::budget::{n_runs, timing_seconds};
use crate::causes::LeftOut;
use crate::nest::{ProgramRun, TunedNest, Workpiece};
use crate::request::{Error, NestRecipe, Options, Phase, Progress, RecipeFile};
use crate::schedule::digest;
use crate::session::Session;
use crate::stages::measure::{Bench, Pace, ReplaySite, measure_alone};
use crate::stages::{capture, read, read_options, run_both};
use crate::workshop::complaint;
use crate::written::behind;
use candidates::{Index, KeptCandidate};
use oxeye_frontend::{Unit, read_c};
use oxeye_measure::MeasureError;
use similar::TextDiff;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub use candidates::CANDIDATES_SCHEMA;
pub(super) use candidates::keep_candidates;
pub use report::{RERUN_SCHEMA, RerunCandidate, RerunFigures, RerunReport};

/// Which candidates are run again.
#[derive(Clone, Debug)]
pub struct RerunOptions {
    /// The folder that [`Options::keep_candidates`] named.
    pub folder: PathBuf,
    /// Files in it; none stands for all that were edited.
    pub files: Vec<String>,
}

/// A candidate with its texts.
struct Chosen<'a> {
    kept: &'a KeptCandidate,
    generated: String,
    now: String,
}

/// Builds candidates of an earlier run again that were edited since, verifies them against the original, and times them and
/// what was generated against it.
///
/// # Errors
/// If there is no such folder or file, the user's file has changed since, the program cannot be built or run, or the run is
/// interrupted. A candidate that is wrong is no error.
pub fn rerun(options: &Options, how: &RerunOptions, progress: &dyn Progress) -> Result<RerunReport, Error> {
    let index = Index::load(&how.folder)?;
    let session = Session::for_reading(options, progress)?;
    session.outcome(run_again(&session, how, &index))
}

fn run_again(session: &Session<'_>, how: &RerunOptions, index: &Index) -> Result<RerunReport, Error> {
    let unit = read(session)?;
    let options = session.options;
    if digest(&unit.source) != index.source {
        return Err(Error::Input(format!(
            "{} has changed since the candidates in {} were made, or they are of another file; optimize again",
            options.file.display(),
            how.folder.display()
        )));
    }
    let chosen = choose(session, &unit, how, index)?;
    let n_unedited = index.candidates.len() - chosen.len();
    let mut report = RerunReport {
        schema: RERUN_SCHEMA,
        input: options.file.clone(),
        folder: how.folder.clone(),
        compiler: options.compiler.line(),
        threads: session.threads,
        candidates: Vec::new(),
        n_unedited,
    };
    if chosen.is_empty() {
        return Ok(report);
    }
    let captured = capture(session, unit)?;
    session.enter(Phase::Trying)?;
    for candidate in chosen {
        session.check_cancelled()?;
        report.candidates.push(one(session, &captured.workpiece, candidate)?);
    }
    Ok(report)
}

/// The candidates that were named, or edited.
fn choose<'a>(
    session: &Session<'_>,
    unit: &Unit,
    how: &RerunOptions,
    index: &'a Index,
) -> Result<Vec<Chosen<'a>>, Error> {
    // People name files as they see them.
    let name = |path: &String| Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    let named: Vec<String> = how.files.iter().filter_map(name).collect();
    if let Some(unknown) = named.iter().find(|name| index.candidates.iter().all(|c| c.file != **name)) {
        let known: Vec<&str> = index.candidates.iter().map(|c| c.file.as_str()).collect();
        return Err(Error::Input(format!(
            "{unknown} is no candidate in {}; there are {}",
            how.folder.display(),
            known.join(", ")
        )));
    }
    let reading = read_options(session.options);
    let mut chosen = Vec::new();
    for kept in &index.candidates {
        let is_named = named.contains(&kept.file);
        if !named.is_empty() && !is_named {
            continue;
        }
        let path = how.folder.join(&kept.file);
        let now =
            match read_c(&path, &read_options(&Options { file: path.clone(), ..session.options.clone() })) {
                Ok(unit) => unit.own.clone(),
                // What does not compile is told as such later.
                Err(_) => crate::request::files::text(&path)?,
            };
        let generated = rewrite(unit, &reading, &kept.recipes).text;
        if is_named || now != generated {
            chosen.push(Chosen { kept, generated, now });
        }
    }
    Ok(chosen)
}

/// A candidate against the original, and what was generated likewise.
fn one(session: &Session<'_>, workpiece: &Workpiece, chosen: Chosen<'_>) -> Result<RerunCandidate, Error> {
    let Chosen { kept, generated, now } = chosen;
    let edited = now != generated;
    let mut candidate = RerunCandidate {
        file: kept.file.clone(),
        nest: kept.nest.clone(),
        recipe: kept.recipe.clone(),
        edited,
        diff: String::new(),
        generated: RerunFigures::default(),
        now: edited.then(RerunFigures::default),
        notes: Vec::new(),
    };
    if edited {
        let (before, after) = (format!("generated/{}", kept.file), kept.file.clone());
        let diff = TextDiff::from_lines(&generated, &now);
        candidate.diff = diff.unified_diff().context_radius(3).header(&before, &after).to_string();
    }
    let texts: Vec<&str> = if edited { vec![&generated, &now] } else { vec![&generated] };
    let mut figures = alone(session, workpiece, kept, &texts, &mut candidate.notes)?;
    in_program(session, workpiece, &texts, &mut figures)?;
    if edited {
        candidate.now = figures.pop();
    }
    candidate.generated = figures.pop().unwrap_or_default();
    Ok(candidate)
}

/// The figures of the nest by itself, replayed on what the program calls it with.
fn alone(
    session: &Session<'_>,
    workpiece: &Workpiece,
    kept: &KeptCandidate,
    texts: &[&str],
    notes: &mut Vec<String>,
) -> Result<Vec<RerunFigures>, Error> {
    let mut figures = vec![RerunFigures::default(); texts.len()];
    let Some((idx, nest, wanted)) = nest_of(workpiece, kept) else {
        notes.push("the nest is one of the loops inside another; only the whole program is timed".into());
        return Ok(figures);
    };
    if nest.calls.samples.is_empty() {
        let why = nest.standing.reason().cloned().unwrap_or(LeftOut::NeverRun);
        notes.push(format!("the nest is not replayed: {why}"));
        return Ok(figures);
    }
    let unit = &workpiece.unit;
    let (place, calls) = (&nest.place, &nest.calls);
    let site = ReplaySite { session, unit, idx, place, calls, known: &nest.known };
    let deadline = Instant::now() + session.options.budget;
    let bench = match Bench::open(site, site.build_original(), None, (Pace::Usual, deadline)) {
        Ok(bench) => bench,
        Err(setback) => {
            notes.push(setback.item()?.to_string());
            return Ok(figures);
        }
    };
    for (k, text) in texts.iter().enumerate() {
        let Some((block, before)) = block_of(session, workpiece, wanted, &kept.recipes, text) else {
            notes.push("more than the nest was edited; only the whole program is timed".into());
            continue;
        };
        let openmp = session.threads > 1 && (block.contains("#pragma omp") || before.contains("#pragma omp"));
        let job = site.library_with(&format!("again{k}"), &block, &before, openmp)?;
        let library = session.workshop.replay_compiler().compile(&job);
        match measure_alone(&bench, library, timing_seconds(None)) {
            Ok(timing) => {
                figures[k] = RerunFigures {
                    baseline_ms: Some(1e3 * timing.baseline_seconds),
                    ms: Some(1e3 * timing.seconds),
                    speedup: Some(timing.speedup),
                    speedup_interval: timing.interval,
                    max_rel_error: Some(timing.max_rel_error),
                    ..RerunFigures::default()
                };
            }
            Err(setback) => figures[k].wrong = Some(first_lines(&setback.item()?.to_string())),
        }
    }
    Ok(figures)
}

/// The figures of the whole program, where there is one, and whether it does what the original does.
fn in_program(
    session: &Session<'_>,
    workpiece: &Workpiece,
    texts: &[&str],
    figures: &mut [RerunFigures],
) -> Result<(), Error> {
    let Some(program) = &workpiece.program else { return Ok(()) };
    for (k, (text, figures)) in texts.iter().zip(figures).enumerate() {
        let executable = match build(session, &format!("again{k}-program"), text)? {
            Ok(executable) => executable,
            Err(why) => {
                figures.wrong.get_or_insert(format!("it does not compile: {why}"));
                continue;
            }
        };
        let both = run_both(session, &executable, program, 2 * runs(program))?;
        match both.difference {
            Some(difference) => {
                figures.wrong.get_or_insert(format!("the whole program behaves differently: {difference}"));
            }
            None => {
                figures.program_speedup = Some(both.speedup.median);
                figures.program_interval =
                    (both.speedup.n > 1).then_some((both.speedup.low, both.speedup.high));
            }
        }
    }
    Ok(())
}

fn runs(program: &ProgramRun) -> usize {
    n_runs(program.seconds)
}

fn build(session: &Session<'_>, name: &str, text: &str) -> Result<Result<PathBuf, String>, Error> {
    let workshop = &session.workshop;
    let source = workshop.write_variant(&format!("{name}.c"), text)?;
    let openmp = session.threads > 1 && text.contains("#pragma omp");
    let built = workshop.build(&workshop.program_job(&source, name, openmp));
    session.check_cancelled()?;
    match built {
        Ok(program) => Ok(Ok(program)),
        Err(MeasureError::CompileFailed { text, .. }) => Ok(Err(complaint(&text))),
        Err(error @ MeasureError::CompileTimedOut { .. }) => Ok(Err(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

/// The nest that a candidate is for, if it is none of the loops inside another.
fn nest_of<'w>(
    workpiece: &'w Workpiece,
    kept: &'w KeptCandidate,
) -> Option<(usize, &'w TunedNest, &'w NestRecipe)> {
    let wanted =
        kept.recipes.nests.first().filter(|wanted| wanted.within.is_empty() && wanted.joined == 0)?;
    let is_it = |nest: &&TunedNest| {
        nest.place.within.is_empty()
            && nest.place.ordinal == wanted.ordinal
            && workpiece.unit.functions[nest.place.function_idx].name == wanted.function
    };
    let idx = workpiece.nests.iter().position(|nest| is_it(&nest))?;
    Some((idx, &workpiece.nests[idx], wanted))
}

/// What stands in a text in the place of the nest, and the function before it that it calls. `None` if the text differs from
/// what was generated elsewhere, too.
fn block_of(
    session: &Session<'_>,
    workpiece: &Workpiece,
    wanted: &NestRecipe,
    recipes: &RecipeFile,
    text: &str,
) -> Option<(String, String)> {
    let unit = &workpiece.unit;
    let reading = read_options(session.options);
    let how = (rendering(unit, recipes), recipes.vector_bytes);
    let parts = replaced(unit, &reading, how, wanted).ok()?.parts;
    let (span, block) = parts.first()?;
    let before = parts.get(1).map_or(String::new(), |(_, function)| function.clone());
    // Line ends are those of the user's file in both.
    let plain = |text: &str| text.replace("\r\n", "\n");
    let generated = plain(&rewrite(unit, &reading, recipes).text);
    let (text, behind) = (plain(text), plain(&behind(unit, *span)?));
    let end = generated.strip_suffix(behind.as_str())?.rfind(block.as_str())? + block.len();
    let (head, tail) = (&generated[..end - block.len()], &generated[end..]);
    let own = text.strip_prefix(head)?.strip_suffix(tail)?;
    Some((own.to_owned(), before))
}

/// The words of a rejection without all that a compiler had to say.
fn first_lines(words: &str) -> String {
    let complaint = words.lines().find(|line| line.contains("error:"));
    complaint.or(words.lines().next()).unwrap_or_default().trim().to_owned()
}
