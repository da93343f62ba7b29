//! Before the stages: what becomes of OpenMP directives that the build of the file leaves off.
//!
//! In: a session whose file has such. Out: the same with them on, if the program does the same with them in several numbers of
//! threads, and is no slower; otherwise with one thread, and a sentence that says why.
//!
//! Directives that the build leaves off are tried before the stages (`stages::wake_directives`): the program with `-fopenmp` is compared
//! with the original in as many threads as are asked for, in an odd number, and in one. If it does the same and is no slower, every
//! build but the original's has the flag (`Workshop::is_woken`), the file is read with it, candidates compete with the user's own
//! threads, and the report names the flag; otherwise one thread is used, and the report says which directive is to blame. Threads of
//! our own beside directives that stay off would need a second file, or a guard around each of the user's lines: one flag is the
//! smaller change. Directives with which threads race for a variable for certain are found in the text (`frontend/races`), since runs
//! need not show it; `-fsanitize=thread` is no witness, as it takes the barriers of gcc's library for none. In a project the hot files are
//! first tried all at once (`tune::wake`), before any of them is tuned: each by itself has too little of the budget for the runs that
//! takes, and of the program's time for its threads to pay. If that is faster, the flag is one of these files' own from then on
//! (`tune::woken`); if not, each is on its own. A nest that was read with
//! directives off is for builds without OpenMP only if its function, or one that it calls, has any (`Context::is_under_directives`).

use super::capture::has_main_elsewhere;
use super::emit::{is_slower, run_in_threads};
use super::read::read_options;
use crate::nest::{ORIGINAL, ProgramRun};
use crate::request::{Error, Phase};
use crate::session::{Awake, Session};
use crate::whole::{LONGEST_TO_REPEAT, rules};
use crate::workshop::complaint;
use oxeye_frontend::Unit;
use oxeye_measure::{Limits, MeasureError, WholeComparison, WholeOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Seconds of a short program, and its runs, in as many threads as it may have: what threads race for shows in some of them.
const SECONDS: f64 = 2.0;
const MOST_RUNS: usize = 10;
/// Its runs in another number of threads, and with each directive by itself.
const FEWER_RUNS: usize = 3;
/// Runs of a program, and of its original, that trying takes at least.
pub(crate) const LEAST_RUNS: f64 = 8.0;
/// Why they are not tried where that does not fit.
const TOO_LONG: &str = "it would take too much of the budget to see that it does the same";
/// No more directives are tried one by one.
const MOST_TEAMS: usize = 12;

/// Switches the directives of the session's file on that its build leaves off, if the program is right and no slower with them.
///
/// # Errors
/// If the run is interrupted, or a process cannot be started.
pub fn wake_directives(session: &mut Session<'_>) -> Result<(), Error> {
    if session.dormant.is_none() {
        return Ok(());
    }
    session.enter(Phase::Directives)?;
    // What is wrong with the file is told when it is read.
    let unit = session.readings.read(&session.options.file, &read_options(session.options)).ok();
    if let (Some(dormant), Some(unit)) = (&mut session.dormant, &unit) {
        dormant.leave_order_open = unit.leaves_order_open;
    }
    let tried = match unit {
        Some(unit) => tried(session, &unit)?,
        None => Err(None),
    };
    session.check_cancelled()?;
    session.decide(tried);
    Ok(())
}

/// The program with its directives on, or why they stay off; nothing where that is told elsewhere.
fn tried(session: &Session<'_>, unit: &Unit) -> Result<Result<Awake, Option<String>>, Error> {
    let options = session.options;
    if let Some(project) = &options.project
        && !session
            .has_seconds(project.build.compile_seconds(project.unit) + LEAST_RUNS * project.run.seconds)
    {
        return Ok(Err(Some(TOO_LONG.to_owned())));
    }
    if !unit.has_main && !has_main_elsewhere(session) {
        return Ok(Err(None));
    }
    if let Some((line, variable)) = unit.races.first() {
        let line = unit.included.line(*line);
        return Ok(Err(Some(format!("the directive at line {line} makes threads race for `{variable}`"))));
    }
    let workshop = &session.workshop;
    let source = workshop.write_variant(ORIGINAL, &unit.source)?;
    let Ok(original) = workshop.build(&workshop.original_job(&source)) else { return Ok(Err(None)) };
    let executable = match workshop.build(&workshop.program_job(&source, "directives", true)) {
        Ok(executable) => executable,
        Err(MeasureError::CompileFailed { text, .. }) => {
            return Ok(Err(Some(format!("it does not build ({})", complaint(&text)))));
        }
        Err(_) => return Ok(Err(None)),
    };
    let Some(program) = first_run(session, original)? else { return Ok(Err(None)) };
    if !session.has_seconds(LEAST_RUNS * program.seconds) {
        return Ok(Err(Some(TOO_LONG.to_owned())));
    }
    let trial = Trial { session, program: &program };
    let several = match trial.compared(&executable)? {
        Ok(several) => several,
        Err(difference) => return Ok(Err(Some(trial.blamed(unit, &difference)?))),
    };
    if is_slower(&several.speedup, 0.0) {
        return Ok(Err(Some(format!("the program is slower ({:.2}x)", several.speedup.median))));
    }
    let (speedup, leave_order_open) = (several.speedup.median, unit.leaves_order_open);
    let witnesses = Arc::clone(&program.witnesses);
    Ok(Ok(Awake { executable, speedup, leave_order_open, witnesses }))
}

/// The program as it is; `None` if it does not run to its end.
fn first_run(session: &Session<'_>, executable: PathBuf) -> Result<Option<ProgramRun>, Error> {
    let options = session.options;
    if let Some(project) = &options.project {
        return Ok(Some(ProgramRun::of_project(executable, &project.run)));
    }
    let how = WholeOptions {
        limits: Limits { seconds: session.program_limit().as_secs_f64(), ..Limits::default() },
        ..rules(&options.checks, options.fp, options.reassociate())
    };
    let run = session.in_program(|| how.run(&options.run.of(&executable)));
    session.begin_budget();
    session.check_cancelled()?;
    let Ok((outcome, left)) = run else { return Ok(None) };
    let seconds = 1e-9 * outcome.elapsed_ns as f64;
    Ok(options.run.is_success(outcome.exit).then(|| ProgramRun::new(executable, seconds, vec![left.stdout])))
}

/// Programs with directives on, beside the original.
struct Trial<'a> {
    session: &'a Session<'a>,
    program: &'a ProgramRun,
}

impl Trial<'_> {
    /// The program in as many threads as are asked for, once it did the same in these, in an odd number, and in one; or how it
    /// behaved otherwise.
    fn compared(&self, executable: &Path) -> Result<Result<WholeComparison, String>, Error> {
        let most = self.session.options.threads;
        let is_short = self.program.seconds <= LONGEST_TO_REPEAT;
        let n_most = ((SECONDS / self.program.seconds.max(1e-3)) as usize).clamp(2, MOST_RUNS);
        let n_odd = if is_short { FEWER_RUNS } else { 1 };
        let others = [vec![odd(most); n_odd], vec![1]].concat();
        let several = self.run(executable, (most, &others), n_most)?;
        if let Some(difference) = several.difference {
            return Ok(Err(difference));
        }
        if is_slower(&several.speedup, 0.0) && is_short {
            // Noise, or a loss? Once more, and longer.
            let again = self.run(executable, (most, &[]), 2 * n_most)?;
            return Ok(again.difference.clone().map_or(Ok(again), Err));
        }
        Ok(Ok(several))
    }

    fn run(
        &self,
        executable: &Path,
        threads: (u32, &[u32]),
        n_runs: usize,
    ) -> Result<WholeComparison, Error> {
        run_in_threads(self.session, executable, self.program, n_runs, threads)
    }

    /// What is to be said of a program that behaves differently: which directives do it alone, as far as that can be found.
    fn blamed(&self, unit: &Unit, difference: &str) -> Result<String, Error> {
        let words = format!("the program behaves differently ({difference})");
        let lines = match unit.teams.as_slice() {
            [only] => vec![*only],
            teams => self.wrong_alone(unit, &teams[..teams.len().min(MOST_TEAMS)])?,
        };
        let named: Vec<String> = lines.iter().map(|line| unit.included.line(*line).to_string()).collect();
        Ok(match named.as_slice() {
            [] => words,
            [only] => format!("{words}, because of the directive at line {only}"),
            several => format!("{words}, because of the directives at lines {}", several.join(", ")),
        })
    }

    /// The lines of directives with which alone the program behaves differently.
    fn wrong_alone(&self, unit: &Unit, teams: &[u32]) -> Result<Vec<u32>, Error> {
        let Self { session, program } = self;
        let workshop = &session.workshop;
        let mut found = Vec::new();
        for line in teams {
            session.check_cancelled()?;
            let runs = 4.0 * FEWER_RUNS as f64;
            let Some(text) = unit.with_team(*line).filter(|_| session.has_seconds(runs * program.seconds))
            else {
                break;
            };
            let name = format!("directives{line}");
            let source = workshop.write_variant(&format!("{name}.c"), &text)?;
            let Ok(executable) = workshop.build(&workshop.program_job(&source, &name, true)) else {
                continue;
            };
            let most = session.options.threads;
            for threads in [most, odd(most)] {
                if self.run(&executable, (threads, &[]), FEWER_RUNS)?.difference.is_some() {
                    found.push(*line);
                    break;
                }
            }
        }
        Ok(found)
    }
}

/// An odd number of threads, other than this.
pub(crate) fn odd(threads: u32) -> u32 {
    if threads == 3 { 5 } else { 3 }
}
