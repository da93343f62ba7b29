//! Stage 2: what the nests of the file are called with.

use super::coverage::{coverage, lines, sample};
use super::shares::{seconds_of, settle};
use super::synthetic_inputs;
use crate::causes::LeftOut;
use crate::coverage::Stacks;
use crate::ending::failure;
use crate::mix::arrange;
use crate::nest::{ORIGINAL, Place, ProgramRun, Standing, TunedNest, Workpiece};
use crate::request::{Error, Observed, Phase, Stand};
use crate::session::Session;
use crate::workshop::{ProgramJob, Workshop, complaint};
use oxeye_codegen::{Argument, Site, arguments, instrument};
use oxeye_frontend::{Function, Unit, cpp_help};
use oxeye_ir::Nest;
use oxeye_measure::{
    CAPTURE_RUNTIME_C, Capture, CaptureRun, Exit, Left, Limits, MeasureError, RunOutcome, Sample, SizeSource,
    WatchedFiles, capture as observe, run_program,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Nests that take less of the program's time than this are not tuned, unless the others become so much faster that they
/// take more.
pub(crate) const LEAST_SHARE: f64 = 0.01;

/// Mean seconds of an invocation below which its time is not believed.
const SHORT_SECONDS: f64 = 5e-6;

/// A share of the time by the clock that is larger than this multiple of the sampled share, and this more, is none: something
/// else kept the processors busy.
const ODD_FACTOR: f64 = 3.0;
const ODD_SHARE: f64 = 0.05;
/// Of so many samples, some are in each nest that matters.
const TELLING_SAMPLES: usize = 200;
/// The lines of optimized code may be off by so many.
const LINES_OFF: u32 = 2;
/// A nest with such a share of the samples runs: lines of optimized code are off by a few, not by that much.
const SURELY_RUN: f64 = 0.05;

/// A file whose nests have arguments to be replayed with.
pub struct Captured {
    /// The file.
    pub workpiece: Workpiece,
}

impl Captured {
    /// Leaves out of the tuning the nests that the run is not about. Where it is to look only, no nest is left.
    ///
    /// # Errors
    /// If a place is named in which there is no nest; in a project, it may be in another file.
    pub(crate) fn heed(&mut self, session: &Session<'_>) -> Result<(), Error> {
        let focus = &session.options.focus;
        let Workpiece { unit, nests, .. } = &mut self.workpiece;
        let stand = |nest: &TunedNest| {
            let [first, last] = nest.place.ends(unit);
            let file = match nest.place.file(unit) {
                0 => &*unit.path,
                n => &*unit.included.files()[n].path,
            };
            Stand { file, first, last, function: &unit.functions[nest.place.function_idx].name }
        };
        let places: Vec<_> = nests.iter().map(stand).collect();
        if let Some(place) = focus.unmatched(&places).filter(|_| session.options.project.is_none()) {
            let functions: BTreeSet<&str> = places.iter().map(|stand| stand.function).collect();
            let functions = Vec::from_iter(functions).join(", ");
            return Err(Error::Input(format!(
                "there is no loop nest in `{place}`; there are some in {functions}"
            )));
        }
        let refusals: Vec<Option<LeftOut>> = places
            .iter()
            .zip(nests.iter())
            .map(|(stand, nest)| focus.refusal(stand, nest.calls.share))
            .collect();
        for (nest, refusal) in nests.iter_mut().zip(refusals) {
            match (refusal, &nest.standing) {
                (_, Standing::Skipped(_)) => {}
                (Some(why), _) => nest.standing = Standing::Skipped(why),
                (None, Standing::Tuned) if focus.is_dry => {
                    nest.standing = Standing::Skipped(LeftOut::DryRun);
                }
                (None, _) => {}
            }
        }
        Ok(())
    }

    /// Leaves out of the tuning the nests that are not chosen.
    pub fn choose(&mut self, mut chosen: impl FnMut(&TunedNest, &Nest) -> bool) {
        let Workpiece { unit, nests, .. } = &mut self.workpiece;
        for nest in nests {
            let is_open = !matches!(nest.standing, Standing::Skipped(_));
            if is_open && !chosen(nest, nest.place.of(unit).2) {
                nest.standing = Standing::Skipped(LeftOut::NotChosen);
            }
        }
    }
}

/// With a `main`, builds the program and runs it once, and keeps what its nests are called with; without one, makes up
/// arguments of the given sizes.
///
/// # Errors
/// If the program does not build or run, or sizes are missing.
pub fn capture(session: &Session<'_>, unit: Unit) -> Result<Captured, Error> {
    let nests = nests_of(&unit, session.threads);
    let workpiece = if nests.is_empty() {
        check_compiles(session, &unit)?;
        Workpiece { unit, program: None, coverage: None, stacks: None, nests }
    } else if unit.has_main || has_main_elsewhere(session) {
        if unit.has_main {
            expect_own_data(session)?;
        }
        capture_run(session, unit, nests)?
    } else {
        make_up(session, unit, nests)?
    };
    Ok(Captured { workpiece })
}

/// That no sizes and data are given to a program, which has its own.
///
/// # Errors
/// If some are.
pub(crate) fn expect_own_data(session: &Session<'_>) -> Result<(), Error> {
    let options = session.options;
    let size = options.sizes.iter().map(|(name, value)| format!("--set {name}={value}")).next();
    let input = options.inputs.iter().map(|(name, path)| format!("--input {name}={}", path.display())).next();
    match size.or(input) {
        Some(option) => Err(Error::Input(format!(
            "{option} would have no effect: the program of {} has a main, and its loops run with sizes and data of its own; \
             --set and --input are for the functions of a file that no program calls",
            options.file.display()
        ))),
        None => Ok(()),
    }
}

/// Nothing will be built of a file without nests, so say now if it is no C at all.
fn check_compiles(session: &Session<'_>, unit: &Unit) -> Result<(), Error> {
    let original = session.workshop.write_variant(ORIGINAL, &unit.source)?;
    let built = session.workshop.replay_compiler().compile(&session.workshop.replay_job(
        &original,
        "original.so",
        false,
    ));
    session.check_cancelled()?;
    built.map(drop).map_err(|error| build_error(session, error))
}

/// What to say when the user's own text does not build.
pub(crate) fn build_error(session: &Session<'_>, error: MeasureError) -> Error {
    match error {
        MeasureError::CompileFailed { text, .. } => {
            let copy = session.workshop.folder.join(ORIGINAL).display().to_string();
            let file = session.options.file.clone();
            let message = text.replace(&copy, &file.display().to_string());
            let is_alone = session.options.project.is_none() && !session.options.is_stand_in;
            let help = match lacks_definitions(&message) {
                true if is_alone => Some(MORE_SOURCES.to_owned()),
                true => None,
                false => cpp_help(&String::from_utf8_lossy(&std::fs::read(&file).unwrap_or_default())),
            };
            let help = help.map(|help| format!("\nhelp: {help}")).unwrap_or_default();
            Error::Build { command: session.options.compiler.line(), file, message, help }
        }
        error => error.into(),
    }
}

/// Whether the program has a `main` in a source or object other than the file.
pub(crate) fn has_main_elsewhere(session: &Session<'_>) -> bool {
    let defines_main = |source: &Path| {
        std::fs::read(source).is_ok_and(|bytes| {
            let text = String::from_utf8_lossy(&bytes);
            text.match_indices("main").any(|(at, _)| {
                let word_before =
                    text[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
                !word_before && text[at + 4..].trim_start().starts_with('(')
            })
        })
    };
    session.options.project.is_some()
        || session.options.compiler.links_objects()
        || session.options.compiler.sources().any(defines_main)
}

fn make_up(session: &Session<'_>, unit: Unit, mut nests: Vec<TunedNest>) -> Result<Workpiece, Error> {
    session.enter(Phase::Capturing)?;
    session.begin_budget();
    let programs = unit.functions.iter().map(|f| &f.program);
    synthetic_inputs::check_names(session.options, programs)?;
    for (idx, captured) in nests.iter_mut().enumerate() {
        let (_, program, nest) = captured.place.of(&unit);
        let path = session.workshop.folder.join(format!("synthetic{idx}.bin"));
        captured.calls.samples.push(synthetic_inputs::sample(
            session.options,
            (program, captured.place.binding(&unit)),
            nest,
            &captured.calls.arguments,
            &path,
        )?);
    }
    Ok(Workpiece { unit, program: None, coverage: None, stacks: None, nests })
}

fn capture_run(session: &Session<'_>, unit: Unit, mut nests: Vec<TunedNest>) -> Result<Workpiece, Error> {
    session.enter(Phase::Building)?;
    let original = session.workshop.write_variant(ORIGINAL, &unit.source)?;
    let plain = session.workshop.original_job(&original);
    let which = worth_observing(session, &unit, &nests);
    for (_, nest) in nests.iter_mut().enumerate().filter(|(idx, _)| !which.contains(idx)) {
        (nest.calls.share, nest.standing) = (Some(0.0), Standing::Skipped(LeftOut::TooShort(0.0)));
    }
    let observed = observed(session, &unit, &nests, &which);
    let mut jobs = vec![plain];
    if observed.is_none() {
        jobs.push(instrumented(session, &unit, &nests, &which)?);
    }
    let mut built = session.workshop.build_all(&jobs, session.host.cores as usize).into_iter();
    let (plain, instrumented) = (built.next(), built.next());
    session.check_cancelled()?;
    let executable = match plain {
        Some(Ok(executable)) => {
            expect_own_data(session)?;
            executable
        }
        Some(Err(MeasureError::CompileFailed { text, .. })) if !unit.has_main && lacks_main(&text) => {
            return make_up(session, unit, nests);
        }
        Some(Err(error)) => return Err(build_error(session, error)),
        None => return Err(Error::Input("nothing was built".into())),
    };
    if let (Some(observed), Some(project)) = (observed, &session.options.project) {
        session.begin_budget();
        session.note_run(project.run.seconds, Duration::ZERO);
        let program = ProgramRun::of_project(executable, &project.run);
        let stacks = Stacks::of(&session.options.file, &unit.included, &project.run.stacks);
        return Ok(workpiece(unit, nests, program, &observed.run, stacks));
    }
    let instrumented = match instrumented {
        Some(Ok(path)) => Some(path),
        _ => without_unbuildable(session, &unit, &mut nests, &which)?,
    };
    session.enter(Phase::Capturing)?;
    let limits = Limits { seconds: session.program_limit().as_secs_f64(), ..Limits::default() };
    let checks = &session.options.checks;
    let folder = session.options.run.folder.as_deref();
    // What an earlier run has left is not what this one writes.
    let watched = WatchedFiles::new(&checks.files, folder)?;
    let Some(instrumented) = instrumented else {
        let outcome = session.in_program(|| run_program(&session.options.run.of(&executable), &limits))?;
        session.begin_budget();
        expect_success(session, &outcome)?;
        expect_files(&watched, outcome.exit)?;
        let seconds = outcome.elapsed_ns as f64 * 1e-9;
        session.note_run(seconds, Duration::ZERO);
        let program = ProgramRun::new(executable, seconds, vec![outcome.stdout]);
        return Ok(Workpiece { unit, program: Some(program), coverage: None, stacks: None, nests });
    };
    let samples = session.workshop.folder.subdir("samples")?;
    let command = &session.options.run;
    let run = session.in_program(|| observe(&command.of(&instrumented), &limits, &samples, command.rank))?;
    session.begin_budget();
    session.check_cancelled()?;
    if !session.options.run.is_success(run.outcome.exit) {
        // Whose fault is it?
        let outcome = match run.outcome.exit {
            Exit::TimedOut => run.outcome.clone(),
            _ => session.in_program(|| run_program(&session.options.run.of(&executable), &limits))?,
        };
        expect_success(session, &outcome)?;
        for nest in nests.iter_mut().filter(|nest| nest.standing == Standing::Tuned) {
            nest.standing = Standing::Skipped(LeftOut::Stopped(run.outcome.exit.to_string()));
        }
    }
    command.expect_rank(&run.ranks.iter().copied().collect())?;
    let sampling = Instant::now();
    let sampled = sample(session, &unit.included, &executable)?;
    let sampling = sampling.elapsed();
    expect_files(&watched, Exit::Exited(session.options.run.exit_code))?;
    drop(watched);
    let seconds = sampled.seconds.unwrap_or(seconds_of(&run));
    session.note_run(seconds, sampling);
    // An observed program is another build, which may round differently: what it prints tells of the original only if nothing
    // else does, and nothing where it has directives on.
    let outputs = match sampled.outputs.is_empty() && session.awake.is_none() {
        true => vec![run.outcome.stdout.clone()],
        false => sampled.outputs,
    };
    let program = match &session.options.project {
        Some(project) => ProgramRun::of_project(executable, &project.run),
        None => ProgramRun::new(executable, seconds, outputs),
    };
    Ok(workpiece(unit, nests, program, &run, sampled.stacks))
}

/// The nests in which the program of a project was seen when it was sampled: compiling the tests and copies that observe a nest takes
/// far longer than compiling the nest. All of them where too few samples were taken, or none is in a nest.
fn worth_observing(session: &Session<'_>, unit: &Unit, nests: &[TunedNest]) -> Vec<usize> {
    let all: Vec<usize> = (0..nests.len()).collect();
    let run = session.options.project.as_ref().map(|project| &project.run);
    let stacks = run.and_then(|run| Stacks::of(&session.options.file, &unit.included, &run.stacks));
    let Some(stacks) = stacks.filter(|stacks| stacks.len() >= TELLING_SAMPLES) else { return all };
    let is_seen = |idx: &usize| stacks.share(lines(unit, &nests[*idx].place).widened(LINES_OFF)) > 0.0;
    let seen: Vec<usize> = all.iter().copied().filter(is_seen).collect();
    if seen.is_empty() { all } else { seen }
}

/// A file with what was seen of all its nests in a run.
fn workpiece(
    mut unit: Unit,
    mut nests: Vec<TunedNest>,
    program: ProgramRun,
    run: &CaptureRun,
    stacks: Option<Stacks>,
) -> Workpiece {
    for (idx, nest) in nests.iter_mut().enumerate() {
        take_over(&mut unit, nest, idx, run, stacks.as_ref());
    }
    settle(&mut nests);
    let coverage = stacks.as_ref().map(|stacks| coverage(stacks, &unit, &nests));
    Workpiece { unit, program: Some(program), coverage, stacks, nests }
}

/// What was seen of the nests when those of all files of a project were observed, if that was of these nests.
fn observed(
    session: &Session<'_>,
    unit: &Unit,
    nests: &[TunedNest],
    which: &[usize],
) -> Option<Arc<Observed>> {
    let observed = session.options.project.as_ref()?.observed.clone()?;
    (observed.text == instrumented_text(unit, nests, which)).then_some(observed)
}

/// The text and the object of a file of a project all of whose nests are observed, their samples in a folder of this name; `None` if
/// it has none, or does not compile.
pub(crate) fn observed_object(session: &Session<'_>, unit: &Unit, part: &str) -> Option<(String, PathBuf)> {
    let project = session.options.project.as_ref()?;
    let nests = nests_of(unit, session.threads);
    let which = worth_observing(session, unit, &nests);
    which.first()?;
    let job = instrumented(session, unit, &nests, &which).ok()?;
    let job = job.args([format!("-DOXEYE_CAPTURE_PART=\"/{part}\"")]);
    Some((instrumented_text(unit, &nests, &which), Workshop::compile(project, &job).ok()?))
}

fn instrumented_text(unit: &Unit, nests: &[TunedNest], which: &[usize]) -> String {
    let sites: Vec<Site<'_>> = which.iter().map(|idx| nests[*idx].place.site(unit, *idx as u32)).collect();
    instrument(&unit.source, &sites, CAPTURE_RUNTIME_C)
}

/// Until when nests that the file hides are looked for; `None` if there is no program, or not the time to run it once more.
pub(super) fn time_to_look(session: &Session<'_>, workpiece: &Workpiece, end: Instant) -> Option<Instant> {
    let program = workpiece.program.as_ref()?;
    // Building and running the program once more must leave as much time for trying something.
    let needed = Duration::from_secs_f64(1.0 + session.workshop.build_seconds() + 2.0 * program.seconds);
    let left = end.saturating_duration_since(Instant::now()).checked_sub(2 * needed)?;
    Some(Instant::now() + (session.options.budget / PART_TO_LOOK).min(left))
}

/// Adds nests of functions that were read again, and runs the program once more to observe them. Returns their numbers.
///
/// # Errors
/// As [`capture_more`].
pub(super) fn add_nests(
    session: &Session<'_>,
    workpiece: &mut Workpiece,
    found: Vec<(Function, Vec<Place>)>,
) -> Result<Vec<usize>, Error> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    session.enter(Phase::Capturing)?;
    let first = workpiece.nests.len();
    for (function, places) in found {
        let function_idx = workpiece.unit.functions.len();
        workpiece.unit.functions.push(function);
        for place in places {
            let nest = nest_at(&workpiece.unit, Place { function_idx, ..place }, session.threads);
            workpiece.nests.push(nest);
        }
    }
    find_inside(&workpiece.unit, &mut workpiece.nests);
    let new: Vec<usize> = (first..workpiece.nests.len()).collect();
    capture_more(session, workpiece, &new)?;
    Ok(new)
}

/// Runs the program once more to observe these nests.
///
/// # Errors
/// If the run is interrupted, or a process cannot be started.
pub(super) fn capture_more(
    session: &Session<'_>,
    workpiece: &mut Workpiece,
    which: &[usize],
) -> Result<(), Error> {
    let Workpiece { unit, program: Some(program), stacks, nests, .. } = workpiece else { return Ok(()) };
    let which: Vec<usize> =
        which.iter().copied().filter(|idx| nests[*idx].standing == Standing::Tuned).collect();
    let Some(first) = which.first() else { return Ok(()) };
    let job = instrumented(session, unit, nests, &which)?;
    let instrumented = match session.workshop.build(&job) {
        Ok(path) => Some(path),
        Err(_) => {
            session.check_cancelled()?;
            without_unbuildable(session, unit, nests, &which)?
        }
    };
    let Some(instrumented) = instrumented else { return Ok(()) };
    // Observing very short loops may take far longer than they do; then it is given up.
    let seconds = (3.0 * program.seconds + 5.0).min(session.budget_left().as_secs_f64().max(program.seconds));
    let limits = Limits { seconds, ..Limits::default() };
    let samples = session.workshop.folder.subdir(format!("samples{first}"))?;
    let command = &session.options.run;
    let run = session.in_program(|| observe(&command.of(&instrumented), &limits, &samples, command.rank))?;
    session.check_cancelled()?;
    for idx in which {
        let nest = &mut nests[idx];
        if nest.standing == Standing::Tuned && !session.options.run.is_success(run.outcome.exit) {
            nest.standing = Standing::Skipped(LeftOut::Stopped(run.outcome.exit.to_string()));
        }
        take_over(unit, nest, idx, &run, stacks.as_ref());
    }
    settle(nests);
    Ok(())
}

/// Takes over what was observed of a nest.
fn take_over(unit: &mut Unit, nest: &mut TunedNest, idx: usize, run: &CaptureRun, stacks: Option<&Stacks>) {
    if nest.standing != Standing::Tuned {
        return;
    }
    let sampled = stacks.map(|stacks| stacks.share(lines(unit, &nest.place)));
    match run.captures.iter().find(|c| c.site as usize == idx) {
        Some(found) => {
            keep(nest, found, seconds_of(run), sampled);
            reach_rows(unit, nest);
        }
        None => {
            (nest.calls.share, nest.calls.invocations) = (Some(0.0), Some(0));
            let why = match sampled.is_some_and(|share| share > SURELY_RUN) {
                true => LeftOut::InOtherProduct,
                false => LeftOut::NeverRun,
            };
            nest.standing = Standing::Skipped(why);
        }
    }
}

fn expect_success(session: &Session<'_>, outcome: &RunOutcome) -> Result<(), Error> {
    session.check_cancelled()?;
    let reason = match outcome.exit {
        exit if session.options.run.is_success(exit) => return Ok(()),
        Exit::TimedOut => format!(
            "had not ended after {:.0} s; raise --timeout (or --budget), or let it do less",
            session.program_limit().as_secs_f64()
        ),
        _ => failure(outcome, &session.options.run),
    };
    Err(Error::ProgramRun { file: session.options.file.clone(), reason })
}

/// That the original has written the files that are to be compared.
fn expect_files(watched: &WatchedFiles, exit: Exit) -> Result<(), Error> {
    let left = Left { stdout: Vec::new(), files: watched.take()? };
    Ok(watched.expect_all(&left, exit)?)
}

/// The part of the budget in which nests that the file hides are looked for.
const PART_TO_LOOK: u32 = 8;

/// Most memory for compiling a program that observes itself.
const MOST_COMPILER_BYTES: u64 = 1 << 30;

fn instrumented(
    session: &Session<'_>,
    unit: &Unit,
    nests: &[TunedNest],
    which: &[usize],
) -> Result<ProgramJob, Error> {
    // Each set has a name of its own: all that are observed together, or one of them.
    let name = match which {
        [one] if nests.len() > 1 => format!("capture{one}"),
        [first, .., last] => format!("capture{first}-{last}"),
        _ => "capture".to_owned(),
    };
    let text = instrumented_text(unit, nests, which);
    let source = session.workshop.write_variant(&format!("{name}.c"), &text)?;
    let most = format!("-DOXEYE_CAPTURE_SITES={}", nests.len().max(1));
    let job = session.workshop.program_job(&source, &name, false).args(["-w", &most]);
    // What finds the arguments can be too much for a compiler, as tests of many rows of pointers.
    Ok(job.with_memory(MOST_COMPILER_BYTES))
}

/// The instrumented program does not build: finds the nests that spoil it and leaves them out.
fn without_unbuildable(
    session: &Session<'_>,
    unit: &Unit,
    nests: &mut [TunedNest],
    which: &[usize],
) -> Result<Option<PathBuf>, Error> {
    // Groups that do not build are halved until the nests at fault are alone.
    let mut good = Vec::new();
    let mut groups = vec![which.to_vec()];
    while !groups.is_empty() {
        let quick = |group: &Vec<usize>| Ok(instrumented(session, unit, nests, group)?.args(["-O0"]));
        let jobs: Vec<ProgramJob> = groups.iter().map(quick).collect::<Result<_, Error>>()?;
        let built = session.workshop.build_all(&jobs, session.host.cores as usize);
        session.check_cancelled()?;
        let mut halves = Vec::new();
        for (group, result) in groups.into_iter().zip(built) {
            match (result, group.as_slice()) {
                (Ok(_), _) => good.extend(group),
                (Err(error), [idx]) => {
                    let why = complaint(&error.to_string());
                    nests[*idx].standing = Standing::Skipped(LeftOut::NotObserved(why));
                }
                (Err(_), _) => {
                    let (left, right) = group.split_at(group.len() / 2);
                    halves.extend([left.to_vec(), right.to_vec()]);
                }
            }
        }
        groups = halves;
    }
    if good.is_empty() {
        return Ok(None);
    }
    good.sort_unstable();
    match session.workshop.build(&instrumented(session, unit, nests, &good)?) {
        Ok(built) => Ok(Some(built)),
        Err(error) => {
            session.check_cancelled()?;
            let why = complaint(&error.to_string());
            for idx in good {
                nests[idx].standing = Standing::Skipped(LeftOut::NotObserved(why.clone()));
            }
            Ok(None)
        }
    }
}

/// What helps where the linker lacks something.
const MORE_SOURCES: &str = "name the sources and libraries that define these behind `--` as well, or tune the project that they \
                            are in with --build and --run";

/// Whether a linker complains that something is not defined.
fn lacks_definitions(words: &str) -> bool {
    ["undefined reference to", "undefined symbol", "Undefined symbols"]
        .iter()
        .any(|said| words.contains(said))
}

/// Whether a linker complains that nothing defines `main`.
fn lacks_main(words: &str) -> bool {
    words.lines().any(|l| l.contains("undefined") && (l.contains("`main'") || l.ends_with(" main")))
}

/// An array of structures that the nest writes, and whose members cannot be found in memory.
fn without_layout(nest: &TunedNest) -> Option<&str> {
    let is_unknown = |a: &&Argument| a.written && a.fields.as_ref().is_some_and(|f| f.bytes == 0);
    nest.calls.arguments.iter().find(is_unknown).map(|a| a.name.as_str())
}

/// The nests of a unit, in the order of the file.
fn nests_of(unit: &Unit, threads: u32) -> Vec<TunedNest> {
    let mut found = Vec::new();
    for (function_idx, function) in unit.functions.iter().enumerate() {
        for (ordinal, nest) in function.program.nests.values().enumerate() {
            let Some(span) = nest.span else { continue };
            let place = Place {
                function_idx,
                nest_id: nest.id,
                ordinal,
                span,
                inside: Vec::new(),
                within: Vec::new(),
                joined: 0,
            };
            found.push(nest_at(unit, place, threads));
        }
    }
    found.sort_by_key(|nest| nest.place.span.start);
    find_inside(unit, &mut found);
    found
}

/// The nest at a place, of which nothing else is known yet.
pub(super) fn nest_at(unit: &Unit, place: Place, threads: u32) -> TunedNest {
    let (_, program, nest) = place.of(unit);
    let is_shared = program.has_team(nest.id);
    let arguments = arguments(program, place.binding(unit), nest);
    let is_of_one_thread = program.one_thread(nest.id).is_some();
    let mut tuned = TunedNest { is_of_one_thread, ..TunedNest::new(place, arguments) };
    if is_shared && threads < 2 {
        tuned.standing = Standing::Skipped(LeftOut::Team);
    } else if let Some(name) = without_layout(&tuned) {
        tuned.standing = Standing::Skipped(LeftOut::NoLayout(name.to_owned()));
    }
    tuned
}

/// Notes which nests do part of the work of which.
pub(super) fn find_inside(unit: &Unit, nests: &mut [TunedNest]) {
    let names = |nest: &TunedNest| &unit.functions[nest.place.function_idx].name;
    let inside: Vec<Vec<usize>> = nests
        .iter()
        .map(|nest| {
            let inlined = unit.functions[nest.place.function_idx].inlined.get(&nest.place.nest_id);
            let span = nest.place.span;
            let is_inside = |k: &usize| {
                let other = &nests[*k];
                let inner = other.place.span;
                let is_loop_of_it = span.start <= inner.start
                    && inner.end <= span.end
                    && (inner.start, inner.end) != (span.start, span.end);
                is_loop_of_it || inlined.is_some_and(|inlined| inlined.contains(names(other)))
            };
            (0..nests.len()).filter(is_inside).collect()
        })
        .collect();
    for (nest, inside) in nests.iter_mut().zip(inside) {
        nest.place.inside = inside;
    }
}

/// Rows behind pointers are reached through their pointers if some were not evenly spaced: where rows have allocations of their
/// own, others may be even by chance.
fn reach_rows(unit: &mut Unit, nest: &TunedNest) {
    let Function { program, binding, .. } = &mut unit.functions[nest.place.function_idx];
    let has_gathered = |s: &Sample| s.args.iter().any(|a| a.size_source == SizeSource::Gathered);
    if !nest.calls.samples.iter().any(has_gathered) {
        return;
    }
    for argument in nest.calls.arguments.iter().filter(|argument| argument.rows.is_some()) {
        binding.set_uneven_rows(program, nest.place.nest_id, &argument.name);
    }
}

/// Takes over what was captured of a nest, or says why it cannot be tuned. `sampled` is its share of the processor time.
fn keep(nest: &mut TunedNest, found: &Capture, run_seconds: f64, sampled: Option<f64>) {
    let captured = found.seconds / run_seconds;
    nest.calls.is_concurrent = found.concurrent > 0;
    // The clock of a very short invocation shows mostly itself, and where threads meet it does not run.
    let is_short = found.seconds < SHORT_SECONDS * found.invocations as f64;
    // The samples count processor time, of which a loop in one thread has less; but not that much less.
    let is_odd = sampled.is_some_and(|sampled| captured > ODD_FACTOR * sampled + ODD_SHARE);
    let is_blurred = is_short || nest.calls.is_concurrent || is_odd;
    let share = sampled.filter(|_| is_blurred).unwrap_or(captured);
    nest.calls.share = Some(share.clamp(0.0, 1.0));
    nest.calls.invocations = Some(found.invocations);
    let (whole, partial): (Vec<Sample>, Vec<Sample>) =
        found.samples.iter().cloned().partition(|s| s.missing().is_empty());
    nest.calls.samples = whole;
    // Those that stand best for the time are timed; the others are only verified.
    nest.calls.classes = arrange(&mut nest.calls.samples, &found.classes);
    if nest.calls.is_concurrent {
        // Other threads change the memory around what it works on: what the program left there is not its result alone.
        nest.calls.samples.iter_mut().for_each(|sample| sample.results = None);
    }
    nest.standing = if found.abandoned > 0 {
        Standing::Skipped(LeftOut::Jump)
    } else if share < LEAST_SHARE {
        let why = LeftOut::TooShort(share);
        if nest.calls.samples.is_empty() { Standing::Skipped(why) } else { Standing::Short(why) }
    } else if nest.calls.samples.is_empty() {
        let unknown = partial.first().and_then(|s| s.missing().first().copied());
        let argument = unknown.and_then(|position| nest.calls.arguments.get(position));
        let is_rows = argument.is_some_and(|a| a.rows.is_some());
        Standing::Skipped(match argument.map(|a| a.name.clone()) {
            Some(name) if is_rows => LeftOut::RowsOverlap(name),
            Some(name) => LeftOut::NoSize(name),
            None => LeftOut::TooLarge,
        })
    } else {
        Standing::Tuned
    };
}
