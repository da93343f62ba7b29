//! Checking a tuned project: is the tuned text still there, does the program still do the same with it, and is it still as
//! fast as it was?

use super::check_report::{CHECK_SCHEMA, CheckReport, CheckedFile, CheckedNest, CheckedProgram};
use super::files::{Spot, file_options};
use super::given::{Figures, measure_given};
use super::judge::Judge;
use super::lock::{LockedFile, LockedMachine, ProjectLock};
use super::options::TuneOptions;
use super::pieces::restored;
use super::programs::{PATIENCE, Rules, compare, other_builds};
use super::replay::inside;
use super::stopwatch::Stopwatch;
use super::subject::{Hot, SourceCopy, Subject, check};
use crate::budget::n_runs;
use crate::commands::changes::root;
use crate::commands::patch::patched;
use crate::openmp::{SIMD_FLAG, has_openmp_flag};
use crate::request::{Error, Event, FpPolicy, Knowledge, Phase, Progress, files};
use crate::session::Session;
use crate::whole::OTHER_BUILDS;
use oxeye_host::HostProfile;
use oxeye_measure::{WholeOptions, WorkDir};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What is checked, and how strictly.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// How the project is built, run and compared. Where results go, and what is tried, does not matter.
    pub project: TuneOptions,
    /// What tuning it found ([`TuneOptions::lock`]).
    pub lock: PathBuf,
    /// The patch with the tuned text, if the sources are kept as they were; else they have that text themselves.
    pub patch: Option<PathBuf>,
    /// By which part a figure may be worse than it was, from 0 to 1: so much is taken for noise.
    pub slack: f64,
}

impl CheckOptions {
    /// Of a project with the tuned text in its sources; a quarter is taken for noise.
    pub fn new(project: TuneOptions) -> Self {
        Self { project, lock: super::lock::LOCK_FILE.into(), patch: None, slack: 0.25 }
    }
}

/// Checks a tuned project: builds and runs it, with and without the tuned text, and measures its tuned nests. No file is
/// changed.
///
/// # Errors
/// If the project does not build or run, or nothing is known of how it was tuned. What is no longer as it was is in the
/// report.
pub fn check_project(options: &CheckOptions, progress: &dyn Progress) -> Result<CheckReport, Error> {
    let result = checked(options, progress);
    result.map_err(|error| if progress.cancelled() { Error::Cancelled } else { error })
}

fn checked(options: &CheckOptions, progress: &dyn Progress) -> Result<CheckReport, Error> {
    let root = root(Path::new("."));
    let lock = ProjectLock::load(&options.lock)?;
    let patch = options.patch.as_deref().map(files::text).transpose()?;
    let work = WorkDir::new()?;
    let mut stages = Stopwatch::new();
    let mut states = Vec::new();
    for (idx, file) in lock.files.iter().enumerate() {
        states.push(State::of(file, idx, &root, patch.as_deref(), &work)?);
    }
    let same_run = lock.run == options.project.run.line();
    let mut report = CheckReport {
        schema: CHECK_SCHEMA,
        passed: true,
        failures: Vec::new(),
        machine: None,
        slack: options.slack,
        program: CheckedProgram { locked_speedup: lock.program.speedup, ..CheckedProgram::default() },
        files: Vec::new(),
        seconds: 0.0,
        phases: Vec::new(),
        notes: Vec::new(),
    };
    if lock.files.is_empty() {
        report.notes.push("nothing of this project was tuned, so there is nothing to check".into());
    }
    if !same_run {
        report.notes.push(format!(
            "the program was run otherwise when it was tuned (`{}`), so times are not compared with those of then",
            lock.run
        ));
    }
    if states.iter().any(|state| state.copy.is_some()) {
        let copies: Vec<SourceCopy> = states.iter().filter_map(State::source_copy).collect();
        let mut subject = Subject::learn(&options.project, &copies, progress)?;
        stages.lap("building");
        let before: Vec<PathBuf> = subject.parts.iter().map(|part| part.file.clone()).collect();
        let hot = subject.sample(&options.project.checks, progress)?;
        stages.lap("sampling");
        let mut run = Run { options, progress, same_run, hot, machine: None };
        for (state, file) in states.iter_mut().zip(&lock.files) {
            check(progress)?;
            run.measure(&subject, state, file)?;
        }
        stages.lap("measuring nests");
        report.program = run.program(&mut subject, &states, &lock, &before)?;
        stages.lap("final runs");
        let known = run.machine.as_ref();
        report.machine = known.map(|machine| LockedMachine::of(machine, options.project.threads));
        if known.is_some_and(HostProfile::is_provisional) {
            let note =
                "this machine was busy while its ceilings were measured, so shares of them may be too high";
            report.notes.push(note.into());
        }
        report.notes.extend(run.other_machine(&states, &lock, report.machine.as_ref()));
    }
    report.files = states.into_iter().map(|state| state.report).collect();
    report.conclude();
    report.seconds = stages.seconds();
    report.phases = stages.into_laps();
    Ok(report)
}

/// A file as it is now.
struct State {
    /// The file.
    path: PathBuf,
    /// Its text and those of files that it includes, with the patch in them where there is one.
    tuned: BTreeMap<PathBuf, String>,
    /// A copy with the original text, if any tuned text was found, and the original texts.
    copy: Option<PathBuf>,
    originals: BTreeMap<PathBuf, String>,
    /// Where it is built: the part, and the unit.
    place: Option<(usize, usize)>,
    report: CheckedFile,
}

impl State {
    /// Looks for the tuned text in a file, and writes the original.
    fn of(
        file: &LockedFile,
        idx: usize,
        root: &Path,
        patch: Option<&str>,
        work: &WorkDir,
    ) -> Result<Self, Error> {
        let path = inside(root, &file.recipes.path)?;
        let mut state = Self {
            path: path.clone(),
            tuned: BTreeMap::new(),
            copy: None,
            originals: BTreeMap::new(),
            place: None,
            report: CheckedFile {
                path: file.recipes.path.clone(),
                same_machine: false,
                failure: None,
                nests: file.nests.iter().map(|nest| CheckedNest::new(nest.clone(), false)).collect(),
            },
        };
        for (place, pieces) in file.parts() {
            let path = inside(root, place)?;
            if !path.is_file() {
                state.report.failure = Some("the file is gone".into());
                return Ok(state);
            }
            let text = files::text(&path)?;
            // A file without changes of its own is in no patch.
            let tuned = match patch.filter(|_| !pieces.is_empty()) {
                None => text,
                Some(patch) => match patched(patch, place, &text) {
                    Ok(tuned) => tuned,
                    Err(why) => {
                        state.report.failure = Some(format!("the patch no longer applies: {why}"));
                        return Ok(state);
                    }
                },
            };
            let restored = restored(&tuned, pieces);
            for (piece, found) in pieces.iter().zip(&restored.found) {
                for idx in &piece.nests {
                    let Some(nest) = state.report.nests.get_mut(*idx) else { continue };
                    nest.found = *found;
                    if !found {
                        nest.failure = Some(missing(piece.is_undone_in(&tuned), patch.is_some()).into());
                    }
                }
            }
            state.originals.insert(path.clone(), restored.text);
            state.tuned.insert(path, tuned);
        }
        if state.report.nests.iter().any(|nest| nest.found) {
            let name = path.file_name().unwrap_or_default();
            let folder = work.subdir(format!("original{idx}"))?;
            state.copy = Some(folder.canonicalize().unwrap_or(folder).join(name));
        }
        Ok(state)
    }

    fn source_copy(&self) -> Option<SourceCopy> {
        let texts = self.originals.clone();
        Some(SourceCopy { of: self.path.clone(), copy: self.copy.clone()?, texts })
    }
}

/// Why the tuned text of a nest is not in a file.
fn missing(is_undone: bool, has_patch: bool) -> &'static str {
    match (is_undone, has_patch) {
        (true, false) => {
            "the original stands there instead of the tuned text; `oxeye apply oxeye.lock.json` makes the patch again, and --patch checks with one"
        }
        (true, true) => "the patch does not have its tuned text",
        (false, _) => {
            "neither the tuned text nor the original is there: the patch no longer applies; tune again"
        }
    }
}

/// A check on its way.
struct Run<'a> {
    options: &'a CheckOptions,
    progress: &'a dyn Progress,
    /// Whether the program is run as when it was tuned.
    same_run: bool,
    hot: Hot,
    /// This machine.
    machine: Option<HostProfile>,
}

impl Run<'_> {
    /// Measures the nests of a file.
    fn measure(&mut self, subject: &Subject, state: &mut State, file: &LockedFile) -> Result<(), Error> {
        let Some(copy) = state.copy.clone() else { return Ok(()) };
        state.place = place_of(subject, &copy);
        let Some((part, unit)) = state.place else {
            state.report.failure = Some("the build does not compile it any more".into());
            return Ok(());
        };
        let flags = &subject.build.project().units[unit].flags;
        let has = |flag: &String| flags.contains(flag) || flag == SIMD_FLAG && has_openmp_flag(flags);
        let missing = file.added.iter().filter(|flag| !has(flag)).cloned();
        let missing = missing.collect::<Vec<_>>().join(" ");
        let has_simd = flags.iter().any(|flag| flag == SIMD_FLAG);
        let project = TuneOptions {
            fp: match (file.recipes.recipes.keeps_order, file.recipes.recipes.reassociate) {
                (true, _) => FpPolicy::Strict,
                (false, true) => FpPolicy::Reassociate,
                (false, false) => FpPolicy::FromFlags,
            },
            no_alias: file.recipes.recipes.no_alias,
            knowledge: Knowledge::Nothing,
            quick: true,
            ..self.options.project.clone()
        };
        let link_flags = BTreeSet::new();
        let owned = copy.parent().unwrap_or(Path::new("/"));
        let spot = Spot {
            part,
            unit,
            path: &copy,
            link_flags: &link_flags,
            owned,
            closed: BTreeSet::new(),
            observed: None,
            stays_asleep: false,
            replay: None,
        };
        let options = file_options(subject, &spot, &self.hot, self.machine.clone(), &project, project.budget);
        let session = Session::for_reading(&options, self.progress)?;
        let here = session.host_profile.clone();
        let same_machine = here.as_ref().is_some_and(|here| {
            file.machine.as_ref() == Some(&LockedMachine::of(here, self.options.project.threads))
        });
        state.report.same_machine = same_machine;
        let slack = self.options.slack;
        let judge = Judge { same_machine, same_run: self.same_run, slack };
        let wanted: Vec<usize> = (0..file.nests.len()).filter(|idx| state.report.nests[*idx].found).collect();
        let mut recipes = file.recipes.recipes.clone();
        recipes.nests = wanted.iter().filter_map(|idx| recipes.nests.get(*idx).cloned()).collect();
        let pleases = |k: usize, figures: &Figures| judge.failure(&file.nests[wanted[k]], figures).is_none();
        let found = session.outcome(measure_given(&session, &recipes, &pleases))?;
        // What one thread runs does the same without the flag, if perhaps not in vectors.
        let needs_flags =
            recipes.directives || found.iter().any(|found| found.as_ref().is_ok_and(|f| f.is_threaded));
        if !missing.is_empty() && needs_flags {
            state.report.failure =
                Some(format!("it is compiled without {missing}, which its tuned loops need"));
        }
        let hint = match missing.as_str() {
            SIMD_FLAG => format!("measured with {missing}, which its build lacks"),
            _ => format!(
                "measured with {missing}, which its build lacks; {SIMD_FLAG} would do for its vector loops"
            ),
        };
        let hint = Some(hint).filter(|_| !missing.is_empty() && !needs_flags && !has_simd);
        for (idx, found) in wanted.into_iter().zip(found) {
            let nest = &mut state.report.nests[idx];
            match found {
                Ok(figures) => {
                    nest.failure = judge.failure(&file.nests[idx], &figures);
                    nest.baseline_ms = Some(1e3 * figures.baseline_seconds);
                    nest.optimized_ms = Some(1e3 * figures.seconds);
                    nest.speedup = Some(figures.speedup);
                    nest.bound = figures.bound;
                    nest.roof_fraction = figures.roof_fraction;
                    let is_other = !has_text(&state.tuned, &figures.text);
                    nest.note = is_other.then(|| OTHER_TEXT.to_owned()).or(hint.clone());
                }
                Err(why) => nest.failure = Some(why),
            }
        }
        self.machine = self.machine.take().or(here);
        Ok(())
    }

    /// Runs the program with the original text and as it is.
    fn program(
        &self,
        subject: &mut Subject,
        states: &[State],
        lock: &ProjectLock,
        before: &[PathBuf],
    ) -> Result<CheckedProgram, Error> {
        self.progress.event(Event::Phase(Phase::Finishing));
        let mut units = Vec::new();
        for state in states {
            let Some((part, unit)) = state.place else { continue };
            put_in(subject, unit, state)?;
            units.push((part, unit));
        }
        check(self.progress)?;
        let project = &self.options.project;
        let recipes = || lock.files.iter().map(|file| &file.recipes);
        let witnesses = |how: &WholeOptions| {
            let mut left = Vec::new();
            for (part, unit) in &units {
                left.extend(other_builds(subject, (*part, *unit), &BTreeMap::new(), (&OTHER_BUILDS, how)));
                check(self.progress)?;
            }
            Ok(left)
        };
        let is_strict = recipes().any(|file| file.recipes.keeps_order);
        let rules = Rules {
            checks: &project.checks,
            fp: if is_strict { FpPolicy::Strict } else { project.fp },
            threads: project.threads,
            is_reordered: recipes().any(|file| file.recipes.reassociate),
            others: (0.0, &[]),
            patience: PATIENCE,
            witnesses: &witnesses,
        };
        let n_runs = n_runs(self.hot.run.seconds).max(3);
        let mut whole = compare(subject, before, &self.hot.run, &rules, n_runs)?;
        // How much it gains depends on what else it does, and how busy the machine is; it must not lose.
        let least = 1.0 - self.options.slack;
        if whole.equal && whole.speedup.median < least {
            whole = compare(subject, before, &self.hot.run, &rules, 2 * n_runs)?;
        }
        check(self.progress)?;
        let speedup = whole.speedup.median;
        let failure = match &whole.difference {
            Some(difference) => Some(format!("behaves differently with the tuned text ({difference})")),
            None => (speedup < least).then(|| format!("is slower with the tuned text ({speedup:.2}x)")),
        };
        Ok(CheckedProgram {
            baseline_ms: Some(1e-6 * whole.before_ns.median),
            optimized_ms: Some(1e-6 * whole.after_ns.median),
            speedup: Some(speedup),
            locked_speedup: lock.program.speedup,
            verified: whole.equal,
            failure,
        })
    }

    /// What to say where the machine is another one.
    fn other_machine(
        &self,
        states: &[State],
        lock: &ProjectLock,
        here: Option<&LockedMachine>,
    ) -> Option<String> {
        let measured = |state: &&State| state.place.is_some();
        if states.iter().filter(measured).all(|state| state.report.same_machine) {
            return None;
        }
        let then = lock.files.iter().find_map(|file| file.machine.as_ref());
        let name = |machine: Option<&LockedMachine>| {
            machine.map_or_else(|| "an unknown machine".to_owned(), ToString::to_string)
        };
        Some(format!(
            "tuned on {}, and this is {}: no more is asked of a nest than not to be slower than its original here",
            name(then),
            name(here)
        ))
    }
}

/// For nests whose recipe another version of Oxeye wrote, or that call functions which have changed.
const OTHER_TEXT: &str =
    "its recipe gives another text now (has what it calls changed, or oxeye?); that was measured";

/// Whether one of the texts of a file and what it includes has this text.
fn has_text(files: &BTreeMap<PathBuf, String>, text: &str) -> bool {
    let unix = |text: &str| text.replace("\r\n", "\n");
    files.values().any(|file| unix(file).contains(unix(text).trim()))
}

/// Where a file is built.
fn place_of(subject: &Subject, file: &Path) -> Option<(usize, usize)> {
    subject.parts.iter().enumerate().find_map(|(part, of)| {
        let units = of.product.units();
        let unit = units.into_iter().find(|unit| subject.build.project().units[*unit].source == file)?;
        Some((part, unit))
    })
}

/// From now on, the program has a file as it is.
fn put_in(subject: &mut Subject, unit: usize, state: &State) -> Result<(), Error> {
    let name = format!("tuned{unit}");
    let object = subject.compile_with((unit, &state.path), &state.tuned, &BTreeSet::new(), &name)?;
    subject.replace(BTreeMap::from([(unit, object)]), &BTreeSet::new(), &name)?;
    Ok(())
}

impl CheckReport {
    /// Gathers what is wrong.
    fn conclude(&mut self) {
        for file in &self.files {
            let path = file.path.display();
            self.failures.extend(file.failure.iter().map(|why| format!("{path}: {why}")));
            for nest in &file.nests {
                let at = format!(
                    "{path}, {}(), line {} when it was tuned",
                    nest.locked.function, nest.locked.line
                );
                self.failures.extend(nest.failure.iter().map(|why| format!("{at}: {why}")));
            }
        }
        self.failures.extend(self.program.failure.iter().map(|why| format!("the program {why}")));
        self.passed = self.failures.is_empty();
    }
}
