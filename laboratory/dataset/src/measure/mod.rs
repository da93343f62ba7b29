//! Measuring how nests respond to the panel of templates.
//!
//! A nest is brought into normal form; every template of the panel is instantiated for that, judged, and rendered as C.
//! Equal texts are one version. All versions are compiled as a few translation units side by side, then one process
//! calls each on the same arguments, compares the results with those of the nest as generated, and times the versions
//! in turns, so that drift of the machine affects all of them; the best of several calls counts. Finally the unchanged
//! subject and one template are timed once more in a new process: the difference is noise that no model can explain.

mod candidates;
mod harness;
mod host;
mod unit;

pub use candidates::{Scheduled, Unmade, in_parallel, schedules};
pub use host::{MeasuredHost, machine_of};

use crate::generate::{footprint_bytes, shrunk};
use crate::journal::{Journal, JournalError};
use crate::nest::{GeneratedNest, NestError};
use crate::record::{Record, Retest, Status};
use candidates::Candidate;
pub(crate) use candidates::{POLICY, guarded};
use harness::{Function, Harness, Outcome, Outcomes, Pace};
use oxeye_analysis::{executions, operations};
use oxeye_ir::{Nest, Node, Program, SymId};
use oxeye_measure::{CompileJob, Compiler, MeasureError, WorkDir, compile_all};
use oxeye_nodes::NodesError;
use oxeye_transform::normalize_nest;
use oxeye_transform::templates::PANEL_VERSION;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use unit::Arguments;

/// How to measure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MeasureOptions {
    /// Threads of parallel loops.
    pub threads: u32,
    /// Compilations side by side: as many as there are cores where they run.
    #[serde(skip, default = "n_cores")]
    pub jobs: usize,
    /// Seconds for timing the versions of one nest.
    pub timing_seconds: f64,
    /// Longest run of a nest as generated; larger nests are shrunk.
    pub longest_seconds: f64,
    /// Apply the panel to the nest as generated instead of its normal form.
    pub as_generated: bool,
    /// Start no nest after this time.
    #[serde(skip)]
    pub limit: Option<Duration>,
}

impl Default for MeasureOptions {
    fn default() -> Self {
        Self {
            threads: n_cores() as u32,
            jobs: n_cores(),
            timing_seconds: 2.0,
            longest_seconds: 0.25,
            as_generated: false,
            limit: None,
        }
    }
}

fn n_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A measuring run cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Nothing can be compiled or run.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Nodes cannot be used.
    #[error(transparent)]
    Nodes(#[from] NodesError),
}

/// The compiler of all versions.
pub(crate) const COMPILER: &str = "gcc";
/// Its flags.
const FLAGS: [&str; 5] = ["-O3", "-march=native", "-ffast-math", "-fopenmp", "-w"];
/// No translation unit may take longer, nor one version by itself.
const UNIT_SECONDS: f64 = 60.0;
const ALONE_SECONDS: f64 = 15.0;
/// Seconds to which a nest that runs too long is shrunk.
const SHRUNK_SECONDS: f64 = 0.05;
/// The number of the nest as generated among the versions.
const SOURCE: usize = 1000;

/// Measures nests that are not in the journal yet and calls `progress` for each. Returns the number of nests done.
///
/// # Errors
/// If the compiler is missing, processes cannot be started, or the journal cannot be written. The failure of a single
/// nest is part of its record.
pub fn measure(
    nests: &[GeneratedNest],
    host: &MeasuredHost,
    options: &MeasureOptions,
    journal: &mut Journal,
    progress: &mut dyn FnMut(&GeneratedNest, Option<&Record>),
) -> Result<usize, RunError> {
    let started = Instant::now();
    let bench = Bench::new(host, options)?;
    let mut n_done = 0;
    for nest in nests.iter().filter(|n| !journal.has(&n.id)).collect::<Vec<_>>() {
        if options.limit.is_some_and(|limit| started.elapsed() >= limit) {
            break;
        }
        progress(nest, None);
        let record = bench.record(nest, journal)?;
        journal.append(&record)?;
        progress(nest, Some(&record));
        n_done += 1;
    }
    Ok(n_done)
}

struct Bench<'a> {
    host: &'a MeasuredHost,
    options: &'a MeasureOptions,
    compiler: Compiler,
    version: String,
    harness: Harness,
    /// Holds the harness.
    _folder: WorkDir,
}

/// Why there are no measurements of a nest.
struct Unmeasured(String);

impl From<NestError> for Unmeasured {
    fn from(error: NestError) -> Self {
        Unmeasured(error.to_string())
    }
}

impl<'a> Bench<'a> {
    fn new(host: &'a MeasuredHost, options: &'a MeasureOptions) -> Result<Self, MeasureError> {
        let folder = WorkDir::new()?;
        let compiler = Compiler::new(COMPILER, FLAGS);
        let harness = Harness::build(&folder, options.threads)?;
        Ok(Self { host, options, version: compiler.version()?, compiler, harness, _folder: folder })
    }

    fn record(&self, nest: &GeneratedNest, journal: &Journal) -> Result<Record, MeasureError> {
        let mut record = Record {
            nest: nest.clone(),
            subject: nest.program.clone(),
            normal_hash: String::new(),
            host: self.host.vector.clone(),
            cpu: self.host.cpu.clone(),
            threads: self.options.threads,
            compiler: self.version.clone(),
            flags: FLAGS.join(" "),
            panel_version: PANEL_VERSION,
            footprint_bytes: 0.0,
            flops: 0.0,
            source_seconds: None,
            panel: Vec::new(),
            retest: None,
            failure: None,
            same_form_as: None,
            cost: [0.0; 3],
        };
        if let Err(Unmeasured(why)) = self.fill(&mut record, journal)? {
            record.failure = Some(why);
        }
        Ok(record)
    }

    /// The outer error ends the run, the inner one the nest.
    fn fill(&self, record: &mut Record, journal: &Journal) -> Result<Result<(), Unmeasured>, MeasureError> {
        let begin = Instant::now();
        let (program, nest) = match record.nest.parse() {
            Ok(parsed) => parsed,
            Err(error) => return Ok(Err(error.into())),
        };
        let normal = match guarded(|| normalize_nest(&program, &nest, POLICY)) {
            Ok(normal) => normal,
            Err(why) => return Ok(Err(Unmeasured(format!("no normal form: {why}")))),
        };
        record.normal_hash = format!("{:016x}", normal.hash);
        let (mut subject, subject_nest) = match self.options.as_generated {
            true => (program.clone(), nest.clone()),
            false => (normal.program, normal.nest),
        };
        subject.nests.insert(subject_nest.id, subject_nest.clone());
        subject.rebuild_dataflow();
        record.subject = subject.to_string();
        let measured = journal.measured_form(&record.nest.group, &record.normal_hash);
        if let (Some(id), false, false) = (measured, self.options.as_generated, is_repeated(&record.nest.id))
        {
            record.same_form_as = Some(id.to_owned());
            return Ok(Ok(()));
        }
        let machine = self.host.machine(self.options.threads);
        let mut candidates =
            match guarded(|| candidates::candidates(&subject, &subject_nest, &machine, self.options.jobs)) {
                Ok(candidates) => candidates,
                Err(why) => return Ok(Err(Unmeasured(why))),
            };
        record.cost[0] = begin.elapsed().as_secs_f64();
        let source = match unit::block(&program, &nest, 1) {
            Ok(block) => block,
            Err(error) => return Ok(Err(Unmeasured(format!("no C text: {error}")))),
        };
        let result = self.versions(record, &program, &nest, &source, &mut candidates);
        record.panel = candidates.into_iter().map(|c| c.response).collect();
        result
    }

    /// Compiles, verifies, and times.
    fn versions(
        &self,
        record: &mut Record,
        program: &Program,
        nest: &Nest,
        source: &str,
        candidates: &mut [Candidate],
    ) -> Result<Result<(), Unmeasured>, MeasureError> {
        let begin = Instant::now();
        let work = WorkDir::new()?;
        let arguments = Arguments::of(program);
        let mut texts: Vec<(usize, &str)> = vec![(SOURCE, source)];
        let own = |c: &Candidate| c.response.same_as.is_none();
        let blocks: Vec<Option<String>> =
            candidates.iter().map(|c| c.block.clone().filter(|_| own(c))).collect();
        texts.extend(blocks.iter().enumerate().filter_map(|(t, b)| Some((t, b.as_deref()?))));
        let libraries = self.compile(&work, &arguments, &texts)?;
        let functions: Vec<Function> = texts
            .iter()
            .filter_map(|(id, text)| {
                let library = libraries.get(id)?.clone();
                Some(Function { id: *id, library, team: text.contains("#pragma omp parallel") })
            })
            .collect();
        record.cost[1] = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        if functions.first().is_none_or(|f| f.id != SOURCE) {
            return Ok(Err(Unmeasured("the nest as generated does not compile".into())));
        }
        let pace = Pace { budget: self.options.timing_seconds, longest: self.options.longest_seconds };
        let mut outcomes = BTreeMap::new();
        for _ in 0..4 {
            let plan = arguments.plan(nest, &record.nest, &record.nest.sizes);
            match self.harness.run(&work, &plan, &functions, pace)? {
                Outcomes::Timed(found) => {
                    outcomes = found;
                    break;
                }
                Outcomes::TooLong(seconds) => {
                    record.nest.sizes = shrunk(program, &record.nest.sizes, SHRUNK_SECONDS / seconds);
                }
            }
        }
        let Some(Outcome::Timed { best, .. }) = outcomes.get(&SOURCE) else {
            let how = outcomes.get(&SOURCE).map_or("too long".into(), |o| format!("{o:?}"));
            return Ok(Err(Unmeasured(format!("the nest as generated does not run: {how}"))));
        };
        record.source_seconds = Some(*best);
        record.footprint_bytes = footprint_bytes(program, &record.nest.sizes);
        record.flops = flops(program, nest, record);
        assign(candidates, &outcomes);
        if candidates.first().is_none_or(|c| c.response.status != Status::Timed) {
            let status = candidates.first().map_or("missing", |c| c.response.status.name());
            return Ok(Err(Unmeasured(format!("the subject as it is: {status}"))));
        }
        record.retest = self.retest(&work, &arguments, nest, record, &functions, candidates)?;
        record.cost[2] = begin.elapsed().as_secs_f64();
        Ok(Ok(()))
    }

    /// The subject and one of the versions in a process of their own.
    fn retest(
        &self,
        work: &WorkDir,
        arguments: &Arguments<'_>,
        nest: &Nest,
        record: &Record,
        functions: &[Function],
        candidates: &[Candidate],
    ) -> Result<Option<Retest>, MeasureError> {
        let timed: Vec<usize> = (1..candidates.len())
            .filter(|t| {
                let response = &candidates[*t].response;
                response.status == Status::Timed && response.same_as.is_none()
            })
            .collect();
        let choice = hash(&record.nest.id);
        let Some(template) = timed.get(choice % timed.len().max(1)).copied() else { return Ok(None) };
        let chosen: Vec<Function> =
            functions.iter().filter(|f| [SOURCE, 0, template].contains(&f.id)).cloned().collect();
        let plan = arguments.plan(nest, &record.nest, &record.nest.sizes);
        let pace =
            Pace { budget: 0.15 * self.options.timing_seconds, longest: 4.0 * self.options.longest_seconds };
        let Outcomes::Timed(outcomes) = self.harness.run(work, &plan, &chosen, pace)? else {
            return Ok(None);
        };
        let best = |id: usize| match outcomes.get(&id) {
            Some(Outcome::Timed { best, .. }) => Some(*best),
            _ => None,
        };
        Ok(best(0).zip(best(template)).map(|(subject_seconds, seconds)| Retest {
            template,
            subject_seconds,
            seconds,
        }))
    }

    /// The library of every version that compiles, by id. Versions share translation units; where one of a unit does
    /// not compile, each gets its own.
    fn compile(
        &self,
        work: &WorkDir,
        arguments: &Arguments<'_>,
        texts: &[(usize, &str)],
    ) -> Result<BTreeMap<usize, PathBuf>, MeasureError> {
        let mut by_length = texts.to_vec();
        by_length.sort_by_key(|(id, text)| (std::cmp::Reverse(text.len()), *id));
        let n_units = self.options.jobs.clamp(1, texts.len());
        let mut units: Vec<(usize, Vec<(usize, &str)>)> = vec![(0, Vec::new()); n_units];
        for version in by_length {
            if let Some(least) = units.iter_mut().min_by_key(|(length, _)| *length) {
                least.0 += version.1.len() + 200;
                least.1.push(version);
            }
        }
        let units: Vec<Vec<(usize, &str)>> = units.into_iter().map(|(_, versions)| versions).collect();
        let mut libraries = BTreeMap::new();
        let mut alone = Vec::new();
        for (versions, library) in
            units.iter().zip(self.build(work, "unit", arguments, &units, UNIT_SECONDS)?)
        {
            match library {
                Some(library) => libraries.extend(versions.iter().map(|(id, _)| (*id, library.clone()))),
                None => alone.extend(versions.iter().map(|v| vec![*v])),
            }
        }
        let built = self.build(work, "alone", arguments, &alone, ALONE_SECONDS)?;
        for (versions, library) in alone.iter().zip(built) {
            libraries.extend(versions.iter().filter_map(|(id, _)| Some((*id, library.clone()?))));
        }
        Ok(libraries)
    }

    fn build(
        &self,
        work: &WorkDir,
        name: &str,
        arguments: &Arguments<'_>,
        units: &[Vec<(usize, &str)>],
        seconds: f64,
    ) -> Result<Vec<Option<PathBuf>>, MeasureError> {
        let mut jobs = Vec::new();
        for (k, versions) in units.iter().enumerate() {
            let source = work.write(format!("{name}{k}.c"), arguments.unit(versions))?;
            let job =
                CompileJob::shared_library(source, work.join(format!("{name}{k}.so"))).link_args(["-lm"]);
            jobs.push(CompileJob { seconds, ..job });
        }
        let results = compile_all(&self.compiler, &jobs, self.options.jobs);
        results
            .into_iter()
            .map(|result| match result {
                Ok(library) => Ok(Some(library)),
                Err(MeasureError::CompileFailed { .. } | MeasureError::CompileTimedOut { .. }) => Ok(None),
                Err(error) => Err(error),
            })
            .collect()
    }
}

/// Whether a spelling is measured although its normal form has been: one in four is, as a second measurement at a later
/// time.
fn is_repeated(id: &str) -> bool {
    hash(id).is_multiple_of(4)
}

/// A hash that is the same in every run.
fn hash(id: &str) -> usize {
    let bits = id.bytes().fold(7u64, |h, b| h.wrapping_mul(0x100_0000_01b3) ^ u64::from(b));
    (bits >> 20) as usize
}

/// Copies outcomes of the harness into the responses; equal texts have equal times.
fn assign(candidates: &mut [Candidate], outcomes: &BTreeMap<usize, Outcome>) {
    for (t, candidate) in candidates.iter_mut().enumerate().filter(|(_, c)| c.block.is_some()) {
        let response = &mut candidate.response;
        match outcomes.get(&response.same_as.unwrap_or(t)) {
            Some(Outcome::Timed { best, median }) => {
                response.status = Status::Timed;
                (response.seconds, response.median_seconds) = (Some(*best), Some(*median));
            }
            Some(Outcome::Wrong(how)) => {
                response.status = Status::Wrong;
                response.detail = format!("{how}: {}", response.detail);
            }
            Some(Outcome::Crashed(how)) => {
                response.status = Status::Crashed;
                response.detail = format!("{how}: {}", response.detail);
            }
            Some(Outcome::TimedOut) => response.status = Status::TimedOut,
            None => response.status = Status::Uncompiled,
        }
    }
}

/// Floating-point operations of one run as generated.
fn flops(program: &Program, nest: &Nest, record: &Record) -> f64 {
    let values = crate::nest::symbol_values(program, &record.nest.sizes);
    let value_of = |s: SymId| values.get(&s).copied();
    let mut total = 0.0;
    nest.visit(&mut |_, node| {
        if let Node::Stmt(stmt) = node {
            let runs = executions(nest, stmt.id, &value_of).map_or(0.0, |c| c.value);
            total += runs * operations(program, stmt).flops() as f64;
        }
    });
    total
}
