//! Stage 2: what the nests of the file are called with.

use super::synthetic_inputs;
use crate::{Error, Phase, Tuner};
use oxeye_codegen::{Argument, Site, arguments, instrument};
use oxeye_frontend::Unit;
use oxeye_ir::{Nest, NestId, Program, Span};
use oxeye_measure::{
    CAPTURE_RUNTIME_C, Capture, CompileJob, Exit, Invocation, Limits, MeasureError, RunOutcome, Sample,
    capture, compile_all, run_program,
};
use std::path::PathBuf;

/// Nests that take less of the program's time than this are not tuned, unless the others become so much faster that they
/// take more.
pub(crate) const LEAST_SHARE: f64 = 0.01;

/// A unit whose nests have arguments to be replayed with.
pub struct Captured {
    /// The file.
    pub unit: Unit,
    /// The original program, if there is one.
    pub program: Option<ProgramRun>,
    /// Every nest with a place in the file, in the order of the file.
    pub nests: Vec<CapturedNest>,
}

/// The original program as built and run.
#[derive(Clone, Debug)]
pub struct ProgramRun {
    /// Built from the file as it is.
    pub executable: PathBuf,
    /// Seconds of its first run, without what capturing took.
    pub seconds: f64,
    /// What that run printed.
    pub output: Vec<u8>,
}

/// A nest and what it is called with.
pub struct CapturedNest {
    /// Index into the functions of the unit.
    pub function_idx: usize,
    /// The nest in that function's program.
    pub nest_id: NestId,
    /// Which nest of the function, from 0.
    pub ordinal: usize,
    /// Its place in the file.
    pub span: Span,
    /// Share of the program's time; `None` without a program.
    pub share: Option<f64>,
    /// How often the program runs it.
    pub invocations: Option<u64>,
    /// What a replay takes.
    pub arguments: Vec<Argument>,
    /// Arguments of some invocations, the one to time first.
    pub samples: Vec<Sample>,
    /// Why it is not tuned.
    pub skip: Option<String>,
    /// Whether that is only because other nests take nearly all of the time.
    pub is_short: bool,
}

impl CapturedNest {
    /// Function, program and nest in the unit.
    pub fn of<'u>(&self, unit: &'u Unit) -> (&'u str, &'u Program, &'u Nest) {
        let function = &unit.functions[self.function_idx];
        (&function.name, &function.program, &function.program.nests[&self.nest_id])
    }

    /// The nest as the generator of replay and capture programs takes it.
    pub(crate) fn site<'u>(&self, unit: &'u Unit, id: u32) -> Site<'u> {
        let function = &unit.functions[self.function_idx];
        let nest = &function.program.nests[&self.nest_id];
        Site { id, program: &function.program, nest, function: function.span }
    }
}

impl Captured {
    /// The nests that are tuned, those with most of the program's time first, with their share of it.
    pub(crate) fn by_weight(&self) -> Vec<(usize, f64)> {
        let tuned = self.nests.iter().enumerate().filter(|(_, nest)| nest.skip.is_none());
        let mut order: Vec<(usize, f64)> =
            tuned.map(|(idx, nest)| (idx, nest.share.unwrap_or(1.0).max(0.01))).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        order
    }

    /// The nests that are left out only for being short, with their share of the program's time, the largest first.
    pub(crate) fn short(&self) -> Vec<(usize, f64)> {
        let short = self.nests.iter().enumerate().filter(|(_, nest)| nest.is_short);
        let mut order: Vec<(usize, f64)> =
            short.map(|(idx, nest)| (idx, nest.share.unwrap_or(0.0))).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        order
    }

    /// The nests of the functions whose bodies a nest has in place of their calls: they do part of its work.
    pub(crate) fn inside(&self, idx: usize) -> Vec<usize> {
        let functions = &self.unit.functions;
        let nest = &self.nests[idx];
        let Some(inlined) = functions[nest.function_idx].inlined.get(&nest.nest_id) else {
            return Vec::new();
        };
        let is_inside = |k: &usize| inlined.contains(&functions[self.nests[*k].function_idx].name);
        (0..self.nests.len()).filter(is_inside).collect()
    }

    /// Leaves out of the tuning the nests that are not chosen.
    pub fn choose(&mut self, mut chosen: impl FnMut(&CapturedNest, &Nest) -> bool) {
        let unit = &self.unit;
        for nest in &mut self.nests {
            if (nest.skip.is_none() || nest.is_short) && !chosen(nest, nest.of(unit).2) {
                (nest.skip, nest.is_short) = (Some("not chosen".into()), false);
            }
        }
    }
}

impl Tuner<'_> {
    /// Stage 2: with a `main`, builds the program and runs it once, and keeps what its nests are called with;
    /// without one, makes up arguments of the given sizes.
    ///
    /// # Errors
    /// If the program does not build or run, or sizes are missing.
    pub fn capture(&self, unit: Unit) -> Result<Captured, Error> {
        let nests = nests_of(&unit);
        if nests.is_empty() {
            self.check_compiles(&unit)?;
            return Ok(Captured { unit, program: None, nests });
        }
        if unit.has_main || self.has_main_elsewhere() {
            self.capture_run(unit, nests)
        } else {
            self.make_up(unit, nests)
        }
    }

    /// Nothing will be built of a file without nests, so say now if it is no C at all.
    fn check_compiles(&self, unit: &Unit) -> Result<(), Error> {
        let original = self.write_variant("original.c", &unit.source)?;
        let built = self.replay_compiler().compile(&self.replay_job(&original, "original.so", false));
        self.check_cancelled()?;
        built.map(drop).map_err(|error| self.build_error(error))
    }

    /// What to say when the user's own text does not build.
    fn build_error(&self, error: MeasureError) -> Error {
        match error {
            MeasureError::CompileFailed { text, .. } => Error::Build {
                command: self.options.compiler.line(),
                file: self.options.file.clone(),
                message: text,
            },
            error => error.into(),
        }
    }

    fn has_main_elsewhere(&self) -> bool {
        let defines_main = |source: &std::path::Path| {
            std::fs::read_to_string(source).is_ok_and(|text| {
                text.match_indices("main").any(|(at, _)| {
                    let word_before =
                        text[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
                    !word_before && text[at + 4..].trim_start().starts_with('(')
                })
            })
        };
        self.options.compiler.links_objects() || self.options.compiler.sources().any(defines_main)
    }

    fn make_up(&self, unit: Unit, mut nests: Vec<CapturedNest>) -> Result<Captured, Error> {
        self.enter(Phase::Capturing)?;
        let programs = unit.functions.iter().map(|f| &f.program);
        synthetic_inputs::check_names(self.options, programs)?;
        for (idx, captured) in nests.iter_mut().enumerate() {
            let (_, program, nest) = captured.of(&unit);
            let path = self.work.join(format!("synthetic{idx}.bin"));
            captured.samples.push(synthetic_inputs::sample(
                self.options,
                program,
                nest,
                &captured.arguments,
                &path,
            )?);
        }
        Ok(Captured { unit, program: None, nests })
    }

    fn capture_run(&self, unit: Unit, mut nests: Vec<CapturedNest>) -> Result<Captured, Error> {
        self.enter(Phase::Building)?;
        let original = self.write_variant("original.c", &unit.source)?;
        let plain = self.program_job(&original, "original", false);
        let all: Vec<usize> = (0..nests.len()).collect();
        let jobs = [plain, self.instrumented(&unit, &nests, &all)?];
        let mut built = compile_all(&self.compiler, &jobs, self.host.cores as usize).into_iter();
        let (plain, instrumented) = (built.next(), built.next());
        self.check_cancelled()?;
        let executable = match plain {
            Some(Ok(executable)) => executable,
            Some(Err(MeasureError::CompileFailed { text, .. })) if !unit.has_main && lacks_main(&text) => {
                return self.make_up(unit, nests);
            }
            Some(Err(error)) => return Err(self.build_error(error)),
            None => return Err(Error::Input("nothing was built".into())),
        };
        let instrumented = match instrumented {
            Some(Ok(path)) => Some(path),
            _ => self.without_unbuildable(&unit, &mut nests)?,
        };
        self.enter(Phase::Capturing)?;
        let limits = Limits { seconds: self.program_limit().as_secs_f64(), ..Limits::default() };
        let Some(instrumented) = instrumented else {
            let outcome = self.in_program(|| run_program(&Invocation::new(&executable), &limits))?;
            self.expect_success(&outcome)?;
            let seconds = outcome.elapsed_ns as f64 * 1e-9;
            let program = ProgramRun { executable, seconds, output: outcome.stdout };
            return Ok(Captured { unit, program: Some(program), nests });
        };
        let samples = self.work.subdir("samples")?;
        let run = self.in_program(|| capture(&Invocation::new(&instrumented), &limits, &samples))?;
        self.check_cancelled()?;
        if !run.outcome.exit.success() {
            // Whose fault is it?
            let outcome = match run.outcome.exit {
                Exit::TimedOut => run.outcome.clone(),
                _ => self.in_program(|| run_program(&Invocation::new(&executable), &limits))?,
            };
            self.expect_success(&outcome)?;
            for nest in &mut nests {
                nest.skip.get_or_insert_with(|| {
                    format!("the program does not run to its end while it is observed ({})", run.outcome.exit)
                });
            }
        }
        let seconds = (run.outcome.elapsed_ns as f64 * 1e-9 - run.overhead_seconds).max(1e-6);
        for (idx, nest) in nests.iter_mut().enumerate().filter(|(_, n)| n.skip.is_none()) {
            match run.captures.iter().find(|c| c.site as usize == idx) {
                Some(found) => keep(nest, found, seconds),
                None => {
                    (nest.share, nest.invocations) = (Some(0.0), Some(0));
                    nest.skip = Some("the program never gets here".into());
                }
            }
        }
        let program = ProgramRun { executable, seconds, output: run.outcome.stdout };
        Ok(Captured { unit, program: Some(program), nests })
    }

    fn expect_success(&self, outcome: &RunOutcome) -> Result<(), Error> {
        self.check_cancelled()?;
        let reason = match outcome.exit {
            Exit::Exited(0) => return Ok(()),
            Exit::TimedOut => format!(
                "had not ended after {:.0} s; raise --budget or let it do less",
                self.program_limit().as_secs_f64()
            ),
            exit => {
                let words = String::from_utf8_lossy(&outcome.stderr);
                let words = words.lines().rfind(|l| !l.trim().is_empty()).map(|l| format!(": {}", l.trim()));
                format!("ends with {exit}{}", words.unwrap_or_default())
            }
        };
        Err(Error::ProgramRun { file: self.options.file.clone(), reason })
    }

    fn instrumented(
        &self,
        unit: &Unit,
        nests: &[CapturedNest],
        which: &[usize],
    ) -> Result<CompileJob, Error> {
        let sites: Vec<Site<'_>> = which.iter().map(|idx| nests[*idx].site(unit, *idx as u32)).collect();
        let name = match which {
            [one] if nests.len() > 1 => format!("capture{one}"),
            _ => "capture".to_owned(),
        };
        let text = instrument(&unit.source, &sites, CAPTURE_RUNTIME_C);
        let source = self.write_variant(&format!("{name}.c"), &text)?;
        Ok(self.program_job(&source, &name, false).args(["-w"]))
    }

    /// The instrumented program does not build: finds the nests that spoil it and leaves them out.
    fn without_unbuildable(&self, unit: &Unit, nests: &mut [CapturedNest]) -> Result<Option<PathBuf>, Error> {
        let jobs: Vec<CompileJob> =
            (0..nests.len()).map(|idx| self.instrumented(unit, nests, &[idx])).collect::<Result<_, _>>()?;
        let built = compile_all(&self.compiler, &jobs, self.host.cores as usize);
        self.check_cancelled()?;
        let mut good = Vec::new();
        for (idx, result) in built.into_iter().enumerate() {
            match result {
                Ok(_) => good.push(idx),
                Err(error) => {
                    let why = complaint(&error.to_string());
                    nests[idx].skip = Some(format!("its arguments cannot be captured ({why})"));
                }
            }
        }
        if good.is_empty() {
            return Ok(None);
        }
        let job = self.instrumented(unit, nests, &good)?;
        Ok(Some(self.compiler.compile(&job)?))
    }
}

/// Whether a linker complains that nothing defines `main`.
fn lacks_main(words: &str) -> bool {
    words.lines().any(|l| l.contains("undefined") && (l.contains("`main'") || l.ends_with(" main")))
}

/// The first error among a compiler's words, without the place in a text that the user never sees.
pub(crate) fn complaint(words: &str) -> String {
    let line = words.lines().find(|l| l.contains("error:")).or(words.lines().next()).unwrap_or_default();
    line.split_once("error:").map_or(line, |(_, what)| what).trim().to_owned()
}

fn nests_of(unit: &Unit) -> Vec<CapturedNest> {
    let mut found = Vec::new();
    for (function_idx, function) in unit.functions.iter().enumerate() {
        for (ordinal, nest) in function.program.nests.values().enumerate() {
            let Some(span) = nest.span else { continue };
            found.push(CapturedNest {
                function_idx,
                nest_id: nest.id,
                ordinal,
                span,
                share: None,
                invocations: None,
                arguments: arguments(&function.program, nest),
                samples: Vec::new(),
                skip: None,
                is_short: false,
            });
        }
    }
    found.sort_by_key(|n| n.span.start);
    found
}

/// Takes over what was captured of a nest, or says why it cannot be tuned.
fn keep(nest: &mut CapturedNest, found: &Capture, program_seconds: f64) {
    let share = found.seconds / program_seconds;
    nest.share = Some(share.clamp(0.0, 1.0));
    nest.invocations = Some(found.invocations);
    let mean_ns = 1e9 * found.seconds / found.invocations.max(1) as f64;
    let (whole, partial): (Vec<Sample>, Vec<Sample>) =
        found.samples.iter().cloned().partition(|s| s.missing().is_empty());
    nest.samples = whole;
    // The invocation that stands best for all is timed; the others are only verified.
    nest.samples.sort_by(|a, b| {
        let distance = |s: &Sample| s.nanoseconds.map_or(f64::INFINITY, |ns| (ns as f64 - mean_ns).abs());
        distance(a).total_cmp(&distance(b)).then(a.invocation.cmp(&b.invocation))
    });
    nest.skip = if found.concurrent > 0 {
        Some("the program already runs it in several threads at once".into())
    } else if found.abandoned > 0 {
        Some("the program leaves it by a jump".into())
    } else if share < LEAST_SHARE {
        nest.is_short = !nest.samples.is_empty();
        Some(format!("too short to matter ({:.1} % of the program's time)", 100.0 * share))
    } else if nest.samples.is_empty() {
        let unknown = partial.first().and_then(|s| s.missing().first().copied());
        let name = unknown.and_then(|position| nest.arguments.get(position)).map(|a| a.name.clone());
        Some(match name {
            Some(name) => format!("the size of `{name}` could not be found out; declare it with its extents"),
            None => "its arguments are too large to be kept".into(),
        })
    } else {
        None
    };
}
