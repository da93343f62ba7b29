//! A program whose nests tell what they read and write, run once: what the questions about values and flow are answered
//! from.

use super::profile_report::SkippedNest;
use super::sweeps::opened;
use crate::ending::failure;
use crate::nest::{ORIGINAL, Place};
use crate::request::{Error, Phase};
use crate::session::Session;
use crate::stages::{build_error, expect_nests, expect_own_data, has_main_elsewhere, read_as, read_options};
use crate::workshop::{ProgramJob, complaint};
use oxeye_codegen::{Site, WatchedAccess, WatchedNest, watched_program};
use oxeye_frontend::{ReadOptions, Unit};
use oxeye_measure::{
    Exit, Limits, MeasureError, RunOutcome, WATCH_RUNTIME_C, WatchLimits, Watched, WatchedSite, run_program,
    watch,
};
use serde::Serialize;
use std::path::PathBuf;

/// How much of a program is looked at.
#[derive(Clone, Copy, Debug)]
pub struct WatchOptions {
    /// Seconds of the run, from its first nest on, in which accesses are looked at; then it runs on by itself.
    pub seconds: f64,
    /// Accesses that are looked at before every other block of memory is left alone; and again.
    pub looks: u64,
}

impl Default for WatchOptions {
    fn default() -> Self {
        let WatchLimits { seconds, looks, .. } = WatchLimits::default();
        Self { seconds, looks }
    }
}

/// How much of a run was looked at, and what that cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Looked {
    /// Accesses of watched nests to arrays and variables while they were watched.
    pub accesses: u64,
    /// Of those looked at.
    pub looked: u64,
    /// In the end, one in so many blocks of 512 bytes was looked at.
    pub one_in: u64,
    /// Times that nests were run, and of those watched.
    pub runs: u64,
    /// See above.
    pub watched_runs: u64,
    /// Whether the time for looking was up before the program ended.
    pub stopped: bool,
    /// Seconds of the program as it is; of two runs the shorter one.
    pub plain_seconds: f64,
    /// Seconds of the program that tells what it does.
    pub watched_seconds: f64,
}

impl Looked {
    /// How many times as long the watched program takes.
    pub fn overhead(&self) -> f64 {
        self.watched_seconds / self.plain_seconds.max(1e-9)
    }

    /// The share of the accesses that was looked at, from 0 to 1.
    pub fn share(&self) -> f64 {
        if self.accesses == 0 { 1.0 } else { self.looked as f64 / self.accesses as f64 }
    }

    /// All this in a sentence.
    pub fn in_words(&self) -> String {
        let percent = |share: f64| match 100.0 * share {
            all if all > 99.995 => "all".to_owned(),
            part if part >= 1.0 => format!("{part:.0} %"),
            part => format!("{part:.2} %"),
        };
        let mut words = format!("looked at {} of {} accesses", percent(self.share()), self.accesses);
        if self.one_in > 1 {
            words += &format!(", in the end at one in {} blocks of 512 bytes", self.one_in);
        }
        if self.stopped {
            words +=
                &format!(", in {} of {} runs of nests: then the time was up", self.watched_runs, self.runs);
        } else if self.watched_runs < self.runs {
            words += &format!(", in {} of {} runs of nests", self.watched_runs, self.runs);
        }
        let (plain, watched) = (self.plain_seconds, self.watched_seconds);
        words + &format!("; the run took {watched:.2} s instead of {plain:.2} s, {:.1}x", self.overhead())
    }
}

/// What one run of a file's program showed.
pub(super) struct WatchedFile {
    pub(super) unit: Unit,
    /// The nests, in the order of the file; their positions are their numbers.
    pub(super) places: Vec<Place>,
    /// The accesses in their text.
    pub(super) accesses: Vec<WatchedAccess>,
    /// Names of their arguments.
    pub(super) nests: Vec<WatchedNest>,
    pub(super) seen: Watched,
    pub(super) looked: Looked,
    pub(super) skipped: Vec<SkippedNest>,
    pub(super) notes: Vec<String>,
}

impl WatchedFile {
    /// `function`, line of a nest.
    pub(super) fn place_of(&self, nest: u32) -> (String, u32) {
        let place = &self.places[nest as usize];
        (self.unit.functions[place.function_idx].name.clone(), place.span.line)
    }

    /// What was seen of accesses, with what they are in the text.
    pub(super) fn sites(&self) -> impl Iterator<Item = (&WatchedAccess, &WatchedSite)> {
        self.seen.sites.iter().filter_map(|site| Some((self.accesses.get(site.site as usize)?, site)))
    }
}

/// Reads a file, builds its program twice, and runs it: as it is, and watched.
///
/// # Errors
/// If there is no program, or it does not build or run.
pub(super) fn watched_file(session: &Session<'_>, watching: &WatchOptions) -> Result<WatchedFile, Error> {
    // Of one file only: what is found is known by its lines.
    let reading = ReadOptions { owned: None, ..read_options(session.options) };
    let unit = read_as(session, &reading)?;
    if !unit.has_main && !has_main_elsewhere(session) {
        return Err(Error::Input(format!(
            "no main in {}, and what a nest reads and writes is told by running a program; give a source with a main after `--`",
            session.options.file.display()
        )));
    }
    expect_nests(session, &unit)?;
    expect_own_data(session)?;
    let unit = opened(unit, &reading)?;
    let places = places(&unit);
    session.enter(Phase::Building)?;
    let original = session.workshop.write_variant(ORIGINAL, &unit.source)?;
    let executable = session
        .workshop
        .build(&session.workshop.original_job(&original))
        .map_err(|e| build_error(session, e))?;
    session.check_cancelled()?;
    let all: Vec<usize> = (0..places.len()).collect();
    let mut skipped = Vec::new();
    let mut skip = |nest: usize, why: String| {
        skipped.push(SkippedNest { id: nest, name: places[nest].name(&unit), why });
    };
    let mut made = program_of(session, &unit, &places, &all)?;
    let program = match session.workshop.build(&made.job) {
        Ok(program) => program,
        Err(_) => {
            session.check_cancelled()?;
            let good = buildable(session, &unit, &places, &all, &mut skip)?;
            made = program_of(session, &unit, &places, &good)?;
            session.workshop.build(&made.job)?
        }
    };
    made.refused.iter().for_each(|(nest, why)| skip(*nest as usize, why.clone()));
    session.enter(Phase::Capturing)?;
    let limits = Limits { seconds: session.program_limit().as_secs_f64(), ..Limits::default() };
    let run = || session.in_program(|| run_program(&session.options.run.of(&executable), &limits));
    let (first, second) = (succeeded(session, run()?)?, succeeded(session, run()?)?);
    let plain_ns = first.elapsed_ns.min(second.elapsed_ns);
    let bounds =
        WatchLimits { seconds: watching.seconds, looks: watching.looks.max(1), ..WatchLimits::default() };
    let command = session.options.run.of(&program);
    let seen = session.in_program(|| watch(&command, &limits, &bounds, session.workshop.folder.path()))?;
    let outcome = succeeded(session, seen.outcome.clone())?;
    let mut notes = Vec::new();
    if seen.nests.is_empty() && !places.is_empty() {
        return Err(Error::ProgramRun {
            file: session.options.file.clone(),
            reason: "ends without saying what it did; it has to return from main, or to call exit".into(),
        });
    }
    if outcome.stdout != first.stdout && first.stdout == second.stdout {
        notes.push("while it was watched, the program printed something else, as of other roundings".into());
    }
    notes.extend(remarks(&unit, &seen, &places));
    let looked = looked(&seen, plain_ns);
    let MadeProgram { accesses, nests, .. } = made;
    Ok(WatchedFile { unit, places, accesses, nests, seen, looked, skipped, notes })
}

/// Everything that leaves gaps in what was seen.
fn remarks(unit: &Unit, seen: &Watched, places: &[Place]) -> Vec<String> {
    let mut notes = Vec::new();
    for nest in &seen.nests {
        let Some(place) = places.get(nest.nest as usize) else { continue };
        let name = place.name(unit);
        if nest.missed > 0 {
            notes.push(format!("{name}: its own text had to run {} times, which tells nothing", nest.missed));
        }
        if nest.concurrent > 0 {
            notes.push(format!(
                "{name}: several threads were in nests {} times; one is watched",
                nest.concurrent
            ));
        }
    }
    let unread: Vec<u32> = unit.diagnostics.iter().filter_map(|d| d.nest_line).collect();
    if let Some(first) = unread.first() {
        let lines: Vec<String> = unread.iter().take(8).map(u32::to_string).collect();
        let words = match unread.len() {
            1 => format!("the loop at line {first} could not be read"),
            n => format!("{n} loops could not be read (lines {})", lines.join(", ")),
        };
        notes.push(format!("{words}: what they do counts as elsewhere"));
    }
    notes
}

fn looked(seen: &Watched, plain_ns: u64) -> Looked {
    let sum = |of: &dyn Fn(&WatchedSite) -> u64| seen.sites.iter().map(of).sum();
    Looked {
        accesses: sum(&|site| site.all),
        looked: sum(&|site| site.looked),
        one_in: seen.one_in,
        runs: seen.nests.iter().map(|nest| nest.entered + nest.concurrent).sum(),
        watched_runs: seen.nests.iter().map(|nest| nest.watched).sum(),
        stopped: seen.stopped,
        plain_seconds: plain_ns as f64 * 1e-9,
        watched_seconds: seen.outcome.elapsed_ns as f64 * 1e-9,
    }
}

fn succeeded(session: &Session<'_>, outcome: RunOutcome) -> Result<RunOutcome, Error> {
    session.check_cancelled()?;
    let reason = match outcome.exit {
        exit if session.options.run.is_success(exit) => return Ok(outcome),
        Exit::TimedOut => format!("had not ended after {:.0} s", session.program_limit().as_secs_f64()),
        _ => failure(&outcome, &session.options.run),
    };
    Err(Error::ProgramRun { file: session.options.file.clone(), reason })
}

/// The nests of a unit, in the order of the file.
fn places(unit: &Unit) -> Vec<Place> {
    let mut found = Vec::new();
    for (function_idx, function) in unit.functions.iter().enumerate() {
        for (ordinal, nest) in function.program.nests.values().enumerate() {
            let Some(span) = nest.span else { continue };
            let (inside, within) = (Vec::new(), Vec::new());
            found.push(Place { function_idx, nest_id: nest.id, ordinal, span, inside, within, joined: 0 });
        }
    }
    found.sort_by_key(|place| place.span.start);
    found
}

/// A watched program that is to be built.
struct MadeProgram {
    job: ProgramJob,
    accesses: Vec<WatchedAccess>,
    nests: Vec<WatchedNest>,
    refused: Vec<(u32, String)>,
}

fn program_of(
    session: &Session<'_>,
    unit: &Unit,
    places: &[Place],
    which: &[usize],
) -> Result<MadeProgram, Error> {
    let sites: Vec<Site<'_>> = which.iter().map(|idx| places[*idx].site(unit, *idx as u32)).collect();
    let name = match which {
        [one] if places.len() > 1 => format!("watched{one}"),
        _ => format!("watched-{}", which.len()),
    };
    let made = watched_program(&unit.source, &sites, WATCH_RUNTIME_C);
    let source = session.workshop.write_variant(&format!("{name}.c"), &made.text)?;
    let job = session.workshop.program_job(&source, &name, false).args(["-w"]);
    Ok(MadeProgram { job, accesses: made.accesses, nests: made.nests, refused: made.refused })
}

/// The nests that can be built watched, each by itself.
fn buildable(
    session: &Session<'_>,
    unit: &Unit,
    places: &[Place],
    which: &[usize],
    skip: &mut dyn FnMut(usize, String),
) -> Result<Vec<usize>, Error> {
    let quick = |idx: &usize| Ok(program_of(session, unit, places, &[*idx])?.job.args(["-O0"]));
    let jobs: Vec<ProgramJob> = which.iter().map(quick).collect::<Result<_, Error>>()?;
    let built: Vec<Result<PathBuf, MeasureError>> =
        session.workshop.build_all(&jobs, session.host.cores as usize);
    session.check_cancelled()?;
    let mut good = Vec::new();
    for (idx, result) in which.iter().zip(built) {
        match result {
            Ok(_) => good.push(*idx),
            Err(error) => skip(*idx, format!("it cannot be watched ({})", complaint(&error.to_string()))),
        }
    }
    Ok(good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_at_is_said() {
        let all = Looked {
            accesses: 1000,
            looked: 1000,
            one_in: 1,
            runs: 3,
            watched_runs: 3,
            stopped: false,
            plain_seconds: 0.5,
            watched_seconds: 4.0,
        };
        assert_eq!(
            all.in_words(),
            "looked at all of 1000 accesses; the run took 4.00 s instead of 0.50 s, 8.0x"
        );
        let part = Looked { looked: 4, one_in: 4, watched_runs: 2, stopped: true, ..all };
        assert_eq!(
            part.in_words(),
            "looked at 0.40 % of 1000 accesses, in the end at one in 4 blocks of 512 bytes, in 2 of 3 runs of nests: \
             then the time was up; the run took 4.00 s instead of 0.50 s, 8.0x"
        );
    }
}
