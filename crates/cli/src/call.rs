//! The subcommands as functions: the words of a command line in, what was found out. Nothing is printed, and of files only
//! what the subcommand is there to make is written.

use crate::mistakes::{self, Mistake};
use crate::tune::Tuned;
use crate::{Cli, Command, apply, host, words_of};
use clap::{CommandFactory, Parser};
use oxeye::{Event, Progress};
use oxeye_measure::counters;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// What a subcommand found.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The report as JSON text: what `--json` writes.
    pub json: String,
    /// The report as pages: what `--html` writes, and of `inspect` what `--values-html` and `--flow-html` do. None where there
    /// is none.
    pub pages: Vec<String>,
    /// What else there is to say.
    pub note: Option<String>,
}

/// Why a subcommand could not be done.
#[derive(Debug)]
pub enum Failure {
    /// The words are none of the command line.
    Words(String),
    /// The run failed, or was told to stop.
    Run(oxeye::Error),
    /// Anything else, in words.
    Other(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Words(message) | Failure::Other(message) => f.write_str(message),
            Failure::Run(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<oxeye::Error>() {
            Ok(error) => Failure::Run(error),
            Err(error) => match error.downcast::<Mistake>() {
                Ok(mistake) => Failure::Words(mistake.to_string()),
                Err(error) => Failure::Other(words_of(&error)),
            },
        }
    }
}

/// Runs a subcommand; the first word is the name of the command. `progress` hears what happens.
///
/// # Errors
/// If the words are not understood, or the run cannot be done. `db` and its like are not among the subcommands that have an
/// answer.
pub fn call(words: &[OsString], progress: &dyn Progress) -> Result<Answer, Failure> {
    let command = parsed(words)?;
    let answer = |json: String| Answer { json, ..Answer::default() };
    Ok(match command {
        Command::Search(args) => tuned(args.answer(progress)?),
        Command::Tune(args) => match args.answer(progress)? {
            Tuned::File(report, learnt) => tuned((*report, learnt)),
            Tuned::Project { report, .. } => {
                Answer { pages: report.to_html().into_iter().collect(), ..answer(report.to_json()) }
            }
        },
        Command::Inspect(args) => {
            let report = args.answer(progress)?;
            let pages = vec![report.values.to_html(), report.flow.to_html()];
            Answer { pages, ..answer(report.to_json()) }
        }
        Command::Verify(args) => answer(args.answer(progress)?.to_json()),
        Command::Check(args) => answer(args.answer(progress)?.0.to_json()),
        Command::Explain(args) => answer(args.answer(progress)?.to_json()),
        Command::Profile(args) => {
            let (report, host) = args.answer(progress)?;
            Answer { pages: vec![report.to_html(&host)], ..answer(report.to_json()) }
        }
        Command::Values(args) => {
            let report = args.answer(progress)?;
            Answer { pages: vec![report.to_html()], ..answer(report.to_json()) }
        }
        Command::Flow(args) => {
            let report = args.answer(progress)?;
            Answer { pages: vec![report.to_html()], ..answer(report.to_json()) }
        }
        Command::Apply(args) => answer(match args.answer()? {
            apply::Replayed::File(done) => serde_json::to_string(&done).map_err(anyhow::Error::from)?,
            apply::Replayed::Project(done) => done.to_json(),
        }),
        Command::Rerun(args) => answer(args.answer(progress)?.to_json()),
        Command::Host(args) => answer(machine(&args, progress)?),
        Command::Doctor(args) if args.measure => answer(machine(&args.measuring(), progress)?),
        Command::Doctor(args) => answer(args.answer()?.to_json()),
        Command::Worker(args) => {
            let worked = args.work(&|| progress.cancelled())?;
            answer(serde_json::to_string(&worked).map_err(anyhow::Error::from)?)
        }
        Command::Db(_) | Command::Cache(_) | Command::Completions(_) | Command::Man(_) => {
            return Err(Failure::Words("this subcommand prints its answers; it has no value".into()));
        }
    })
}

/// The options of a run, without running anything; the words are those of `explain`.
///
/// # Errors
/// If the words are not understood.
pub fn options(words: &[OsString]) -> Result<oxeye::Options, Failure> {
    match parsed(words)? {
        Command::Explain(args) => Ok(args.options()?),
        _ => Err(Failure::Words("these are words of another subcommand".into())),
    }
}

fn parsed(words: &[OsString]) -> Result<Command, Failure> {
    let cli = Cli::command();
    let instead = |error| mistakes::instead(&error, words, &cli).unwrap_or_else(|| complaint(&error));
    let parsed = Cli::try_parse_from(words).map_err(|error| Failure::Words(instead(error)))?;
    match mistakes::behind_dashes(words, &cli) {
        Some(instead) => Err(Failure::Words(instead)),
        None => Ok(parsed.command),
    }
}

fn tuned((report, learnt): (oxeye::Report, String)) -> Answer {
    let note = Some(learnt.trim_end().to_owned()).filter(|note| !note.is_empty());
    Answer { json: report.to_json(), pages: report.to_html().into_iter().collect(), note }
}

/// The machine as `oxeye doctor --measure --json` has it.
fn machine(args: &host::Args, progress: &dyn Progress) -> Result<String, Failure> {
    let mut step = |step: oxeye_host::Step| {
        progress.event(Event::Machine { label: step.label, fraction: step.fraction });
        if progress.cancelled() {
            // The measurement has no other way out; it keeps nothing before it is done.
            resume_unwind(Box::new(Stopped));
        }
    };
    let profile = match catch_unwind(AssertUnwindSafe(|| args.answer(&mut step))) {
        Ok(profile) => profile?,
        Err(panic) if panic.is::<Stopped>() => return Err(Failure::Run(oxeye::Error::Cancelled)),
        Err(panic) => resume_unwind(panic),
    };
    Ok(host::json(&profile, &counters::survey())?)
}

/// A measurement was told to stop.
struct Stopped;

/// What the parser of words says, without what it says of the command line as a whole.
fn complaint(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    text.split("\n\nUsage:")
        .next()
        .unwrap_or_default()
        .split("\n\nFor more")
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye::Silent;

    fn failure(words: &[&str]) -> Failure {
        let words: Vec<OsString> = std::iter::once(&"oxeye").chain(words).map(Into::into).collect();
        call(&words, &Silent).expect_err("it cannot be done")
    }

    #[test]
    fn words_that_are_not_understood_are_told_without_the_usage() {
        let failure = failure(&["optimize", "gemm.c", "--budget", "5 parsecs"]);
        assert!(matches!(failure, Failure::Words(_)));
        let text = failure.to_string();
        assert!(text.contains("`parsecs`") || text.contains("parsecs"), "{text}");
        assert!(!text.contains("Usage") && !text.starts_with("error"), "{text}");
    }

    #[test]
    fn failures_of_runs_keep_their_kind() {
        assert!(matches!(failure(&["optimize", "no-such-file.c"]), Failure::Run(oxeye::Error::Io { .. })));
        assert!(matches!(failure(&["db", "path"]), Failure::Words(_)));
    }
}
