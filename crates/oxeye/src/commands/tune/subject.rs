//! The project at hand: how its program is built and run, and what of it takes the time.

use super::options::{BuildSource, TuneOptions};
use crate::clocks::FastClocks;
use crate::ending::failure;
use crate::parallel;
use crate::readings::Readings;
use crate::request::{Checks, Error, Event, Phase, Progress, ProjectRun, RunCommand, StandIn, Started};
use crate::workshop::passing_for;
use oxeye_frontend::{MovedFile, encoded, includes, redirected};
use oxeye_measure::{
    Compiler, Left, Limits, MeasureError, WatchedFiles, WorkDir, run_program, sample_stacks,
};
use oxeye_nodes::Nodes;
use oxeye_project::{
    Build, Product, Project, ProjectError, Unit, UnitIdx, observe_build, read_compile_commands,
    stand_in_library,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Builds may take long.
const BUILD_SECONDS: f64 = 24.0 * 3600.0;
/// So may programs.
const RUN_SECONDS: f64 = 6.0 * 3600.0;

/// A project whose program was built anew.
pub(super) struct Subject {
    pub(super) build: Arc<Build>,
    /// What takes part in the run, and the present form of each: the program that is run comes first, if the project builds
    /// it.
    pub(super) parts: Vec<Part>,
    run: RunCommand,
    stand_in: Option<PathBuf>,
    /// What was read.
    pub(super) readings: Readings,
    pub(super) work: WorkDir,
}

/// A program or a library of the project.
pub(super) struct Part {
    pub(super) product: Product,
    /// As built here.
    pub(super) file: PathBuf,
}

/// Where a run of the program spends its time.
pub(super) struct Hot {
    pub(super) run: Arc<ProjectRun>,
    /// Sources with their shares, the largest first: the position of the part, the unit, and the share.
    pub(super) files: Vec<(usize, UnitIdx, f64)>,
    /// Whether there were enough samples to tell.
    pub(super) is_known: bool,
}

/// A file that stands for a source in all of a project.
pub(super) struct SourceCopy {
    /// The source.
    pub(super) of: PathBuf,
    /// The file with what is read and compiled instead; nothing else is in its folder.
    pub(super) copy: PathBuf,
    /// The texts of it, and of files that it includes.
    pub(super) texts: BTreeMap<PathBuf, String>,
}

impl SourceCopy {
    fn take_place(&self, project: &mut Project) -> Result<(), Error> {
        let is_it = |unit: &&mut Unit| {
            unit.source == self.of || unit.source.canonicalize().is_ok_and(|s| s == self.of)
        };
        for unit in project.units.iter_mut().filter(is_it) {
            let folder = self.copy.parent().unwrap_or(Path::new("/"));
            let (text, included) =
                redirected(&unit.source, &unit.compiler, &unit.flags, &self.texts, folder)?;
            for MovedFile { path, text, .. } in included {
                write(&path, &text)?;
            }
            write(&self.copy, &text)?;
            let folder = unit.source.parent().unwrap_or(Path::new("/")).display().to_string();
            unit.flags.extend(["-iquote".to_owned(), folder]);
            unit.source.clone_from(&self.copy);
            // What the user's build made is of the source itself.
            unit.object = None;
        }
        Ok(())
    }
}

/// With fewer samples nothing is said.
const LEAST_SAMPLES: usize = 20;
/// With so many samples, so many seconds, or so many runs, no more are made.
const ENOUGH_SAMPLES: usize = 300;
const ENOUGH_SECONDS: f64 = 2.0;
const MOST_RUNS: usize = 20;
/// A run of so many seconds has enough, if it computes.
const LONG_SECONDS: f64 = 1.0;

impl Subject {
    /// Learns how the project is built, and builds what is run, some sources as their copies.
    pub(super) fn learn(
        options: &TuneOptions,
        copies: &[SourceCopy],
        progress: &dyn Progress,
    ) -> Result<Subject, Error> {
        let work = WorkDir::within(options.nodes.as_deref().map(Nodes::work_folder))?;
        let cc = Compiler::new("cc", [""; 0]);
        let mut project = learn(&options.build, &cc, &work, progress)?;
        copies.iter().try_for_each(|copy| copy.take_place(&mut project))?;
        let products = products_of(&project, &options.run)?;
        progress.event(Event::Phase(Phase::Building));
        let told = |n_done, n_units| progress.event(Event::Compiled { n_done, n_units });
        let products_ref: Vec<&Product> = products.iter().collect();
        let build = Build::new(project, &products_ref, work.join("build"), &told);
        check(progress)?;
        let build = build?;
        let is_direct = products.first().is_some_and(|product| !product.is_library)
            && first_word(&options.run).is_some_and(|word| build.project().product_at(&word).is_some());
        let needs_stand_in = !is_direct || products.len() > 1;
        let stand_in = if needs_stand_in { Some(stand_in_library(&cc, &work)?) } else { None };
        let mut run = options.run.clone();
        if !is_direct {
            run.stand_in = stand_in.clone().map(|library| StandIn {
                library,
                of: Vec::new(),
                others: Vec::new(),
                starts: Started::FirstWord,
            });
        }
        let mut subject = Subject {
            build: Arc::new(build),
            parts: Vec::new(),
            run,
            stand_in,
            readings: Readings::default(),
            work,
        };
        for product in products {
            let file = subject.link(&product, &BTreeMap::new(), &BTreeSet::new(), "before")?;
            subject.parts.push(Part { product, file });
            check(progress)?;
        }
        Ok(subject)
    }

    /// Links a product of the present objects, but for these, with more flags.
    pub(super) fn link(
        &self,
        product: &Product,
        replaced: &BTreeMap<UnitIdx, PathBuf>,
        flags: &BTreeSet<String>,
        name: &str,
    ) -> Result<PathBuf, MeasureError> {
        let folder = self.work.subdir(name)?;
        let output = folder.join(product.output.file_name().unwrap_or_default());
        // Where loading is watched, some systems look functions up at every call unless it is done at the start. By a variable, all
        // programs of a run would do that, launchers that cannot among them.
        let bound = self.stand_in.iter().map(|_| "-Wl,-z,now".to_owned());
        let flags: Vec<String> = flags.iter().cloned().chain(bound).collect();
        self.build.link(product, replaced, &flags, &output)
    }

    /// From now on, these units have other objects, and what they go into is linked of those, with more flags; returns the
    /// objects before.
    ///
    /// # Errors
    /// If it does not link; nothing is changed then.
    pub(super) fn replace(
        &mut self,
        objects: BTreeMap<UnitIdx, PathBuf>,
        flags: &BTreeSet<String>,
        name: &str,
    ) -> Result<BTreeMap<UnitIdx, PathBuf>, MeasureError> {
        let mut linked = Vec::new();
        for (k, part) in self.parts.iter().enumerate() {
            if part.product.units().iter().any(|unit| objects.contains_key(unit)) {
                linked.push((k, self.link(&part.product, &objects, flags, &format!("{name}-{k}"))?));
            }
        }
        linked.into_iter().for_each(|(k, file)| self.parts[k].file = file);
        // Only runs on files share the build, and they are over.
        let Some(build) = Arc::get_mut(&mut self.build) else { return Ok(BTreeMap::new()) };
        let replaced = objects.into_iter();
        Ok(replaced.filter_map(|(unit, object)| Some((unit, build.replace(unit, object)?))).collect())
    }

    /// From now on, these units are compiled with this flag as well.
    pub(super) fn add_flag(&mut self, units: &BTreeSet<UnitIdx>, flag: &str) {
        if let Some(build) = Arc::get_mut(&mut self.build) {
            units.iter().for_each(|unit| build.add_flag(*unit, flag));
        }
    }

    /// Compiles a source as this unit, in which files have these texts; it passes for what it is.
    ///
    /// # Errors
    /// If it does not compile.
    pub(super) fn compile_with(
        &self,
        (unit, source): (UnitIdx, &Path),
        changed: &BTreeMap<PathBuf, String>,
        flags: &BTreeSet<String>,
        name: &str,
    ) -> Result<PathBuf, Error> {
        let Unit { compiler, flags: own, .. } = &self.build.project().units[unit];
        let folder = self.work.subdir(name)?;
        let (text, included) = redirected(source, compiler, own, changed, &folder)?;
        let text = passing_for(source, &text);
        let beside = source.parent().unwrap_or(Path::new("/")).display().to_string();
        let mut args = vec!["-g".to_owned(), "-iquote".into(), beside];
        args.extend(flags.iter().cloned());
        // A file that was just tuned was compiled to see whether it can be.
        if included.is_empty()
            && let Some(object) = self.build.compiled_again(unit, &encoded(&text), name, &args)
        {
            return Ok(object);
        }
        for MovedFile { path, name, text } in included {
            write(&path, &passing_for(&name, &text))?;
        }
        let copy = folder.join("unit.c");
        write(&copy, &text)?;
        Ok(self.build.compile(unit, &copy, name, &args, None)?)
    }

    /// Whether a unit is in what is run.
    pub(super) fn runs(&self, unit: UnitIdx) -> bool {
        self.parts.iter().any(|part| part.product.units().contains(&unit))
    }

    /// A unit, and all others of the project that include one of these files.
    pub(super) fn units_with(&self, unit: UnitIdx, included: &BTreeSet<PathBuf>) -> BTreeSet<UnitIdx> {
        let units = &self.build.project().units;
        // What cannot be preprocessed here is not compiled here either.
        let has_any = |other: &UnitIdx| {
            let Unit { source, compiler, flags, .. } = &units[*other];
            units[*other].is_c()
                && source.is_file()
                && includes(source, compiler, flags).is_ok_and(|all| !all.is_disjoint(included))
        };
        let others = (0..units.len()).filter(|other| !included.is_empty() && *other != unit);
        others.filter(has_any).chain([unit]).collect()
    }

    /// How the program is run for one part of it, where a variant of that is given.
    pub(super) fn run_for(&self, part: usize) -> RunCommand {
        let mut run = self.run.clone();
        let Some(library) = &self.stand_in else { return run };
        let is_program = |k: usize| k == 0 && self.run.stand_in.is_none();
        let others = self.parts.iter().enumerate().filter(|(k, _)| *k != part && !is_program(*k));
        let names = |product: &Product| self.build.project().names_of(product);
        run.stand_in = Some(StandIn {
            library: library.clone(),
            of: names(&self.parts[part].product),
            others: others
                .flat_map(|(_, other)| {
                    names(&other.product).into_iter().map(|name| (name, other.file.clone()))
                })
                .collect(),
            starts: match is_program(0) {
                true if part == 0 => Started::Itself,
                true => Started::Other(self.parts[0].file.clone()),
                false => Started::FirstWord,
            },
        });
        run
    }

    /// Runs the program and looks where its time goes.
    pub(super) fn sample(&self, checks: &Checks, progress: &dyn Progress) -> Result<Hot, Error> {
        progress.event(Event::Phase(Phase::Sampling));
        let run = self.run_for(0);
        let watched = WatchedFiles::new(&checks.files, run.folder.as_deref())?;
        let invocation = run.of(&self.parts[0].file);
        let seconds = run.timeout.map_or(RUN_SECONDS, |timeout| timeout.as_secs_f64());
        let limits = Limits { seconds, ..Limits::default() };
        let (mut seconds, mut outputs, mut stacks) = (Vec::new(), Vec::new(), Vec::new());
        // Short programs are sampled several times.
        while seconds.len() < MOST_RUNS
            && stacks.len() < ENOUGH_SAMPLES
            && seconds.iter().sum::<f64>() < ENOUGH_SECONDS
        {
            let sampled = sample_stacks(&invocation, &limits, &Compiler::new("cc", [""; 0]), &self.work);
            check(progress)?;
            let outcome = match sampled {
                Ok(mut sampled) => {
                    stacks.append(&mut sampled.stacks);
                    sampled.outcome
                }
                Err(_) => run_program(&invocation, &limits)?,
            };
            check(progress)?;
            if !run.is_success(outcome.exit) {
                let reason = failure(&outcome, &run);
                let file = run.program.clone().unwrap_or_default().into();
                return Err(Error::ProgramRun { file, reason });
            }
            seconds.push(1e-9 * outcome.elapsed_ns as f64);
            let left = Left { stdout: outcome.stdout, files: watched.take()? };
            watched.expect_all(&left, outcome.exit)?;
            outputs.push(left.stdout);
        }
        let mut place: BTreeMap<&Path, (usize, UnitIdx)> = BTreeMap::new();
        let project = self.build.project();
        for (k, part) in self.parts.iter().enumerate() {
            for unit in part.product.units().into_iter().filter(|unit| project.units[*unit].is_c()) {
                place.entry(&project.units[unit].source).or_insert((k, unit));
            }
        }
        let mut n_samples = 0;
        let mut counts: BTreeMap<(usize, UnitIdx), usize> = BTreeMap::new();
        let mut known: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
        let mut includers = Includers::default();
        for stack in stacks.iter().filter(|stack| !stack.is_empty()) {
            n_samples += 1;
            let mut files = Vec::new();
            for at in stack.iter().filter(|at| at.line > 0) {
                let real = || at.file.canonicalize().unwrap_or_else(|_| at.file.clone());
                files.push(known.entry(at.file.clone()).or_insert_with(real).clone());
            }
            if let Some(at) = includers.unit_of(&files, &place, project) {
                *counts.entry(at).or_insert(0) += 1;
            }
        }
        let share = |n: usize| n as f64 / n_samples.max(1) as f64;
        let mut files: Vec<(usize, UnitIdx, f64)> =
            counts.into_iter().map(|((part, unit), n)| (part, unit, share(n))).collect();
        files.sort_by(|a, b| b.2.total_cmp(&a.2));
        Ok(Hot {
            run: Arc::new(ProjectRun {
                seconds: seconds.iter().copied().fold(f64::INFINITY, f64::min),
                outputs,
                clocks: FastClocks::default(),
                stacks,
            }),
            files,
            is_known: n_samples >= LEAST_SAMPLES,
        })
    }
}

impl Hot {
    /// Why it is not known where the time goes.
    pub(super) fn why_unknown(&self) -> String {
        let seconds = self.run.seconds;
        match seconds < LONG_SECONDS {
            true => format!(
                "the program ran {seconds:.2} s, too short to see where its time goes; give it more to do"
            ),
            false => format!(
                "nothing was seen of what the program does in {seconds:.2} s: it waits most of the time, is \
                 linked statically, or runs where LD_PRELOAD does not reach"
            ),
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let error = |source| Error::Io { action: "write", path: path.to_owned(), source };
    std::fs::write(path, encoded(text)).map_err(error)
}

/// Which sources include which files; found out when the first is asked for.
#[derive(Default)]
struct Includers(Option<BTreeMap<PathBuf, Vec<(usize, UnitIdx)>>>);

impl Includers {
    /// The source that a sample is in, by its files, the innermost first: what stands in a file that sources include is in that of
    /// them that calls it, or else the first.
    fn unit_of(
        &mut self,
        files: &[PathBuf],
        place: &BTreeMap<&Path, (usize, UnitIdx)>,
        project: &Project,
    ) -> Option<(usize, UnitIdx)> {
        for (k, file) in files.iter().enumerate() {
            if let Some(at) = place.get(file.as_path()) {
                return Some(*at);
            }
            if file.starts_with("/usr") || !file.is_file() {
                continue;
            }
            let Some(units) = self.known(place, project).get(file) else { continue };
            let outer = files[k + 1..]
                .iter()
                .find_map(|file| place.get(file.as_path()).filter(|at| units.contains(at)));
            return outer.or(units.first()).copied();
        }
        None
    }

    fn known(
        &mut self,
        place: &BTreeMap<&Path, (usize, UnitIdx)>,
        project: &Project,
    ) -> &BTreeMap<PathBuf, Vec<(usize, UnitIdx)>> {
        self.0.get_or_insert_with(|| {
            let mut found: BTreeMap<PathBuf, Vec<(usize, UnitIdx)>> = BTreeMap::new();
            let all: Vec<(usize, UnitIdx)> = place.values().copied().collect();
            let files = parallel::map(&all, |(_, unit)| {
                let Unit { source, compiler, flags, .. } = &project.units[*unit];
                includes(source, compiler, flags).unwrap_or_default()
            });
            for (at, files) in all.into_iter().zip(files) {
                for file in files.into_iter().flatten() {
                    found.entry(file).or_default().push(at);
                }
            }
            found
        })
    }
}

/// What a build tells of its project.
pub(super) fn learn(
    build: &BuildSource,
    cc: &Compiler,
    work: &WorkDir,
    progress: &dyn Progress,
) -> Result<Project, Error> {
    progress.event(Event::Phase(Phase::Learning));
    let limits = Limits { seconds: BUILD_SECONDS, ..Limits::default() };
    let calls = match build {
        BuildSource::Command(command) => observe_build(command, Path::new("."), cc, work, &limits)?,
        BuildSource::CompileCommands(path) => read_compile_commands(path)?,
    };
    check(progress)?;
    Ok(Project::of(&calls))
}

/// Whether the run was told to stop.
pub(super) fn check(progress: &dyn Progress) -> Result<(), Error> {
    if progress.cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}

/// The first word of the command as a path.
fn first_word(run: &RunCommand) -> Option<PathBuf> {
    let word = run.program.as_ref()?;
    let folder = run.folder.clone().unwrap_or_else(|| ".".into());
    Some(folder.join(word))
}

/// What takes part in a run: the program that the command names, if the project builds it, and the libraries; else all
/// programs too.
fn products_of(project: &Project, run: &RunCommand) -> Result<Vec<Product>, Error> {
    let exists = |product: &&Product| project.names_of(product).iter().any(|name| name.is_file());
    let program = first_word(run).and_then(|word| project.product_at(&word));
    let libraries = project.products.iter().filter(exists).filter(|product| product.is_library);
    let mut found: Vec<Product> = program.into_iter().cloned().collect();
    found.extend(libraries.filter(|library| Some(*library) != program).cloned());
    if program.is_none() {
        found.extend(project.products.iter().filter(exists).filter(|p| !p.is_library).cloned());
    }
    let is_missing = first_word(run).is_some_and(|word| {
        run.program.as_ref().is_some_and(|program| program.contains('/')) && !word.exists()
    });
    if found.is_empty() || program.is_none() && is_missing {
        let word = run.program.clone().unwrap_or_default();
        let made: Vec<String> =
            project.products.iter().map(|product| product.output.display().to_string()).collect();
        let made = match made.as_slice() {
            [] => "it links no program or library; if it only lists what is compiled, give the whole build with \
                   --build"
                .to_owned(),
            made if found.is_empty() => format!(
                "it makes {}, of which nothing is left; if the rest was up to date, let it build everything \
                 (make clean, setup.py build --force)",
                made.join(", ")
            ),
            made => format!("it makes {}", made.join(", ")),
        };
        return Err(ProjectError::NoProduct(format!(
            "the build does not make `{word}`, nor is it a program that could run what is made: {made}"
        ))
        .into());
    }
    Ok(found)
}
