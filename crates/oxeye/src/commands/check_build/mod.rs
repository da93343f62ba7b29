//! Debug builds of a tuned file: is anything wrong with it that timing and comparing did not show?
//!
//! In: the user's file, the tuned one, and how the program is built and run. Out: what each build found. The tuned program is
//! compared with the original (`output`) and with itself on one thread (`threads`); its nests are rendered with a check of
//! every access (`accesses`), from their recipes or as its text is read; and it is built with the compiler's sanitizers
//! (`address`, `undefined`). What is found is looked for in the original as well.

mod accesses;
mod report;
mod sanitizers;

use super::replay::rewrite;
use super::sdfg::is_sdfg;
use crate::clocks::FastClocks;
use crate::ending::failure;
use crate::nest::{ORIGINAL, ProgramRun};
use crate::request::{Error, Options, Phase, Progress, RecipeFile};
use crate::session::Session;
use crate::stages::{build_error, expect_own_data, kept_recipes, read, read_options, run_both};
use crate::whole::{InDoubt, compare, rules};
use crate::workshop::{complaint, passing_for};
use accesses::{Checked, is_alike};
use oxeye_frontend::{Unit, encoded, read_c};
use oxeye_measure::{Exit, Limits, RunOutcome, WholeOptions, run_program};
pub(super) use sanitizers::Sanitizer;
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

pub use report::{BuildFinding, BuildOutcome, CHECK_BUILD_SCHEMA, CheckBuildReport, DebugBuild};

/// Flags of the build with checked accesses.
const CHECKED: [&str; 2] = ["-O1", "-g"];
/// How much longer than the original a debug build may run, and how long at least, in seconds.
const DEBUG_FACTOR: f64 = 200.0;
const DEBUG_SECONDS: f64 = 60.0;
/// Runs in which one thread and several are compared: a race shows in some.
const THREAD_RUNS: usize = 3;

/// What is checked besides the options of the program.
#[derive(Clone, Debug, Default)]
pub struct CheckBuildOptions {
    /// The tuned file; `None` is [`Options::output_path`], or what the recipes make.
    pub tuned: Option<PathBuf>,
    /// The recipes that made it; `None` looks for those that were kept when it was written.
    pub recipes: Option<RecipeFile>,
}

/// What a build is made of and compared with.
struct Subject<'a> {
    session: &'a Session<'a>,
    original: ProgramRun,
    /// Where the tuned file is, and its text.
    path: PathBuf,
    text: String,
    openmp: bool,
}

/// Builds the tuned file in several ways that show what is wrong with it, and runs each. The accesses of a tuned file that was
/// not changed by hand are checked as its recipes make them; of one that was, as far as its text can be read.
///
/// # Errors
/// If there is no tuned file, the program cannot be built or run, or the run is interrupted. What is found is no error.
pub fn check_build(
    options: &Options,
    how: &CheckBuildOptions,
    progress: &dyn Progress,
) -> Result<CheckBuildReport, Error> {
    if is_sdfg(&options.file) {
        return Err(Error::Input(format!(
            "{} is a DaCe program; debug builds are of C files",
            options.file.display()
        )));
    }
    let session = Session::for_reading(options, progress)?;
    session.outcome(check(&session, how))
}

fn check(session: &Session<'_>, how: &CheckBuildOptions) -> Result<CheckBuildReport, Error> {
    let unit = read(session)?;
    expect_own_data(session)?;
    let (path, text, recipes) = tuned(session, &unit, how)?;
    session.enter(Phase::Building)?;
    let original = original(session, &unit)?;
    let has_openmp = |text: &str| text.contains("#pragma omp");
    let openmp = session.threads > 1 && has_openmp(&text) && !has_openmp(&unit.source);
    let subject = Subject { session, original, path, text, openmp };
    session.enter(Phase::Finishing)?;
    let mut builds = subject.outputs()?;
    let (checked, is_read) = match &recipes {
        Some(recipes) => (accesses::with_recipes(&unit, session.options, recipes), false),
        None => (accesses::as_read(&subject.path, session.options)?, true),
    };
    builds.push(subject.accesses(&checked, is_read)?);
    for sanitizer in [Sanitizer::Address, Sanitizer::Undefined] {
        builds.push(subject.sanitized(sanitizer, &unit)?);
    }
    Ok(CheckBuildReport {
        schema: CHECK_BUILD_SCHEMA,
        input: session.options.file.clone(),
        tuned: subject.path,
        compiler: session.options.compiler.line(),
        threads: session.threads,
        from_recipes: recipes.is_some(),
        passed: builds.iter().all(|build| build.outcome != BuildOutcome::Failed),
        builds,
        skipped: checked.skipped,
    })
}

/// Where the tuned file is, its text, and the recipes that make it, if they are known.
fn tuned(
    session: &Session<'_>,
    unit: &Unit,
    how: &CheckBuildOptions,
) -> Result<(PathBuf, String, Option<RecipeFile>), Error> {
    let options = session.options;
    let path = how.tuned.clone().unwrap_or_else(|| options.output_path());
    let made = |recipes: &RecipeFile| rewrite(unit, &read_options(options), recipes);
    if let (Some(recipes), None) = (&how.recipes, &how.tuned) {
        let rewritten = made(recipes);
        if let Some((_, why)) = rewritten.refused.into_iter().next() {
            return Err(Error::Recipe { path: options.file.clone(), reason: why.to_string() });
        }
        return Ok((path, rewritten.text, Some(recipes.clone())));
    }
    if !path.exists() {
        let (name, file) = (path.display(), options.file.display());
        return Err(Error::Input(match how.tuned {
            Some(_) => format!(
                "there is no file {name}, which --tuned names; `oxeye tune {file} -o {name}` writes one"
            ),
            None => format!(
                "there is no tuned file {name}; `oxeye tune {file}` writes it, or --tuned names another"
            ),
        }));
    }
    let reading = read_options(&Options { file: path.clone(), ..options.clone() });
    let text = read_c(&path, &reading)?.own.clone();
    let recipes = how.recipes.clone().or_else(|| kept_recipes(&text));
    // Recipes of another text say nothing about this one.
    let recipes = recipes.filter(|recipes| made(recipes).text == text);
    Ok((path, text, recipes))
}

/// The original program, built and run once.
fn original(session: &Session<'_>, unit: &Unit) -> Result<ProgramRun, Error> {
    let workshop = &session.workshop;
    let source = workshop.write_variant(ORIGINAL, &unit.source)?;
    let built = workshop.build(&workshop.original_job(&source));
    session.check_cancelled()?;
    let executable = built.map_err(|error| build_error(session, error))?;
    let limits = Limits { seconds: session.program_limit().as_secs_f64(), ..Limits::default() };
    let run = &session.options.run;
    let outcome = session.in_program(|| run_program(&run.of(&executable), &limits))?;
    session.check_cancelled()?;
    if !run.is_success(outcome.exit) {
        let reason = failure(&outcome, run);
        return Err(Error::ProgramRun { file: session.options.file.clone(), reason });
    }
    Ok(ProgramRun::new(executable, outcome.elapsed_ns as f64 * 1e-9, vec![outcome.stdout]))
}

impl Subject<'_> {
    /// Builds a text in the place of a file, with more flags.
    fn build(
        &self,
        name: &str,
        text: &str,
        path: &Path,
        openmp: bool,
        flags: &[&str],
    ) -> Result<Result<PathBuf, String>, Error> {
        let workshop = &self.session.workshop;
        let source = workshop.folder.write(format!("{name}.c"), encoded(&passing_for(path, text)))?;
        let flags = flags.iter().copied();
        let built = workshop.build(&workshop.program_job(&source, name, openmp).args(["-w"]).args(flags));
        self.session.check_cancelled()?;
        Ok(built.map_err(|error| complaint(&error.to_string())))
    }

    /// Runs a debug build; each has time for what it does besides.
    fn run(&self, program: &Path, env: &[(&str, String)]) -> Result<RunOutcome, Error> {
        let seconds = (DEBUG_FACTOR * self.original.seconds).max(DEBUG_SECONDS);
        let limits = Limits { seconds, ..Limits::default() };
        let mut invocation =
            self.session.options.run.of(program).env("OMP_NUM_THREADS", self.session.threads.to_string());
        for (name, value) in env {
            invocation = invocation.env(*name, value);
        }
        let outcome = self.session.in_program(|| run_program(&invocation, &limits))?;
        self.session.check_cancelled()?;
        Ok(outcome)
    }

    /// The tuned program against the original, and on one thread against several.
    fn outputs(&self) -> Result<Vec<DebugBuild>, Error> {
        let output = DebugBuild::new("output", "exit code and output are the original's", &[]);
        let threads = DebugBuild::new("threads", "results on several threads are those on one", &[]);
        let program = match self.build("tuned", &self.text, &self.path, self.openmp, &[])? {
            Ok(program) => program,
            Err(why) => {
                let why = format!("the tuned file does not compile: {why}");
                return Ok(vec![output.not_done(&why), threads.not_done(why)]);
            }
        };
        let difference = |place: &str, message: String| BuildFinding {
            kind: "difference".into(),
            place: place.into(),
            message,
            in_original: false,
        };
        let both = run_both(self.session, &program, &self.original, 1)?;
        let found = both.difference.map(|message| difference("the program", message));
        let output = output.found(1e-9 * both.after_ns.median, found.into_iter().collect());
        if self.session.threads < 2 {
            return Ok(vec![output, threads.not_done("one thread was asked for")]);
        }
        let options = self.session.options;
        let rules = WholeOptions {
            limits: Limits { seconds: self.session.program_limit().as_secs_f64(), ..Limits::default() },
            ..rules(&options.checks, options.fp, options.reassociate())
        };
        let run = |n: u32| options.run.of(&program).env("OMP_NUM_THREADS", n.to_string());
        let none = |_: &WholeOptions| Ok(Vec::new());
        let clocks = FastClocks::default();
        let in_doubt = InDoubt { seconds: self.original.seconds, clocks: &clocks, witnesses: &none };
        let whole = self
            .session
            .in_program(|| compare(&run(1), &run(self.session.threads), THREAD_RUNS, &rules, &in_doubt))?;
        self.session.check_cancelled()?;
        let found = whole.difference.map(|message| difference("the program", message));
        Ok(vec![output, threads.found(1e-9 * whole.after_ns.median, found.into_iter().collect())])
    }

    /// The build in which every access is checked.
    fn accesses(&self, checked: &Checked, is_read: bool) -> Result<DebugBuild, Error> {
        let asserts =
            "every access of the nests is aligned and within its array, and all results are numbers";
        let build = DebugBuild::new("accesses", asserts, &CHECKED);
        if checked.n_nests == 0 {
            return Ok(build.not_done("there is no nest whose accesses can be checked"));
        }
        let path = if is_read { &self.path } else { &self.session.options.file };
        let (seconds, mut found) = match self.checked_run("accesses", checked, path)? {
            Ok(found) => found,
            Err(why) => return Ok(build.not_done(why)),
        };
        if !found.is_empty() {
            let options = self.session.options;
            let original = accesses::as_read(&options.file, options)?;
            // If it cannot be built so, nothing is known of it.
            let known = self.checked_run("accesses-original", &original, &options.file)?;
            let known = known.map_or(Vec::new(), |(_, known)| known);
            found.iter_mut().for_each(|f| f.in_original = known.iter().any(|other| is_alike(f, other)));
        }
        let mut build = build.found(seconds, found);
        build.note = Some(match (is_read, checked.n_nests) {
            (false, 1) => "1 nest, as its recipe makes it".into(),
            (false, n) => format!("{n} nests, as their recipes make them"),
            (true, 1) => "1 nest, as it is read in the tuned file".into(),
            (true, n) => format!("{n} nests, as they are read in the tuned file"),
        });
        Ok(build)
    }

    /// Seconds and findings of a run with checks, or why there is none.
    fn checked_run(
        &self,
        name: &str,
        checked: &Checked,
        path: &Path,
    ) -> Result<Result<(f64, Vec<BuildFinding>), String>, Error> {
        let openmp = self.session.threads > 1 && checked.text.contains("#pragma omp");
        let program = match self.build(name, &checked.text, path, openmp, &CHECKED)? {
            Ok(program) => program,
            Err(why) => return Ok(Err(format!("it does not compile: {why}"))),
        };
        let file = self.session.workshop.folder.join(format!("{name}.txt"));
        let outcome = self.run(&program, &[("OXEYE_CHECKS", file.to_string_lossy().into_owned())])?;
        let found = accesses::findings(&std::fs::read_to_string(&file).unwrap_or_default());
        if found.is_empty() && !self.session.options.run.is_success(outcome.exit) {
            return Ok(Err(format!("it ends with {}", outcome.exit)));
        }
        Ok(Ok((1e-9 * outcome.elapsed_ns as f64, found)))
    }

    /// A build with a sanitizer.
    fn sanitized(&self, sanitizer: Sanitizer, unit: &Unit) -> Result<DebugBuild, Error> {
        let flags = sanitizer.flags();
        let build = DebugBuild::new(sanitizer.name(), sanitizer.asserts(), &flags);
        let workshop = &self.session.workshop;
        if let Err(why) = sanitizer.probe(&workshop.compiler) {
            return Ok(build.not_done(format!("{} does not have it here: {why}", workshop.compiler.program)));
        }
        let program = match self.build(sanitizer.name(), &self.text, &self.path, self.openmp, &flags)? {
            Ok(program) => program,
            Err(why) => return Ok(build.not_done(format!("it does not compile: {why}"))),
        };
        let (variable, options) = sanitizer.options();
        let env = [(variable, options.to_owned())];
        let outcome = self.run(&program, &env)?;
        let mut found = sanitizer.findings(&String::from_utf8_lossy(&outcome.stderr));
        if found.is_empty() && !self.session.options.run.is_success(outcome.exit) {
            let why = match outcome.exit {
                Exit::TimedOut => "it had not ended at the time limit; let the program do less".to_owned(),
                exit => format!("it ends with {exit}, and the sanitizer says nothing"),
            };
            return Ok(build.not_done(why));
        }
        if !found.is_empty() {
            let name = format!("{}-original", sanitizer.name());
            let file = &self.session.options.file;
            if let Ok(program) = self.build(&name, &unit.source, file, false, &flags)? {
                let outcome = self.run(&program, &env)?;
                let known = sanitizer.findings(&String::from_utf8_lossy(&outcome.stderr));
                // Lines are others there.
                found.iter_mut().for_each(|f| {
                    f.in_original = known.iter().any(|k| k.kind == f.kind && k.message == f.message);
                });
            }
        }
        Ok(build.found(1e-9 * outcome.elapsed_ns as f64, found))
    }
}
