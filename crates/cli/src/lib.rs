//! The `oxeye` command as a library: the whole command ([`run`]), and its subcommands as functions for other programs
//! ([`call`]), which understand the same words.
//!
//! ```
//! let words = ["oxeye", "tune", "no-such-file.c"].map(std::ffi::OsString::from);
//! let failure = oxeye_cli::call(&words, &oxeye::Silent).expect_err("there is no such file");
//! assert!(failure.to_string().contains("no-such-file.c"));
//! ```
//!
//! It decides nothing about nests: that is the crate `oxeye`.

mod annotations;
mod apply;
mod cache;
mod call;
mod check;
mod checks;
mod columns;
mod db;
mod doctor;
mod draw;
mod dry;
mod events;
mod exit;
mod explain;
mod flow;
mod go_on;
mod host;
mod inspect;
mod interrupt;
mod knowledge;
mod manner;
mod mistakes;
mod nodes;
mod notes;
mod profile;
mod program;
mod project;
mod rerun;
mod search;
mod share;
mod shell;
mod table;
mod terminal;
mod trials;
mod tune;
mod tuning;
mod values;
mod verify;
mod watched;

pub use call::{Answer, Failure, call, options};
pub use exit::Exit;

use clap::{ColorChoice, CommandFactory, Parser, Subcommand};
use columns::wrapped;
use manner::Manner;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::sync::OnceLock;
use terminal::View;

const MORE: &str = "\
Examples:
  oxeye tune gemm.c -- gcc -O3 -march=native -lm
  oxeye tune --build 'make clean && make' --run './solver -n 200'
  oxeye profile gemm.c -- gcc -O3 -march=native -lm

More: apply, rerun, db, worker, cache, completions, man (oxeye COMMAND --help)
Exit codes: 0 done, 1 negative answer, 2 could not run, 130 interrupted.";

/// Make the loop nests of C programs fast, and check that they still compute the same
#[derive(Parser)]
#[command(name = "oxeye", version = version(), arg_required_else_help = true, after_help = MORE, max_term_width = 80,
    disable_help_flag = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    manner: Manner,
}

#[derive(Subcommand)]
enum Command {
    #[command(alias = "optimize")]
    Tune(tune::Args),
    Profile(profile::Args),
    Explain(explain::Args),
    Inspect(inspect::Args),
    Check(check::Args),
    #[command(alias = "check-build")]
    Verify(verify::Args),
    Doctor(doctor::Args),
    #[command(hide = true, alias = "replay")]
    Apply(apply::Args),
    #[command(hide = true)]
    Rerun(rerun::Args),
    #[command(hide = true)]
    Db(db::Args),
    #[command(hide = true)]
    Cache(cache::Args),
    #[command(hide = true)]
    Completions(shell::CompletionsArgs),
    #[command(hide = true)]
    Worker(nodes::WorkerArgs),
    #[command(hide = true)]
    Man(shell::ManArgs),
    #[command(hide = true)]
    Search(search::Args),
    #[command(hide = true)]
    Host(host::Args),
    #[command(hide = true)]
    Values(values::Args),
    #[command(hide = true)]
    Flow(flow::Args),
}

/// Subcommands that go by another name now, and that name.
const OLD_NAMES: [(&str, &str); 6] = [
    ("search", "tune FILE --budget 10m"),
    ("replay", "apply"),
    ("check-build", "verify"),
    ("host", "doctor --measure"),
    ("values", "inspect"),
    ("flow", "inspect"),
];

/// Version, commit, and form of the recipe database.
fn version() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let commit = match env!("OXEYE_COMMIT") {
            "" => String::new(),
            commit => format!("commit {commit}, "),
        };
        let database = oxeye_database::schema_version();
        format!("{} ({commit}recipe database version {database})", env!("CARGO_PKG_VERSION"))
    })
}

/// Runs the command: the first word is its name. Answers go to standard output, complaints to standard error, and signals
/// are handled from here on. Ends the process where the words are a cry for help.
pub fn run(command_line: impl IntoIterator<Item = impl Into<OsString>>) -> Exit {
    interrupt::handle();
    let words: Vec<OsString> = command_line.into_iter().map(Into::into).collect();
    let Cli { command, manner } = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(error) => match mistakes::instead(&error, &words, &Cli::command()) {
            Some(instead) => return complain(&instead),
            None => error.exit(),
        },
    };
    if let Some(instead) = mistakes::behind_dashes(&words, &Cli::command()) {
        return complain(&instead);
    }
    let old = words.get(1).and_then(|word| OLD_NAMES.iter().find(|(old, _)| word == old));
    if let Some((old, new)) = old.filter(|_| !manner.quiet) {
        // Where standard error is closed, nobody wants to know.
        let _ = writeln!(std::io::stderr(), "hint: `oxeye {old}` is `oxeye {new}` now");
    }
    match run_command(command, &manner) {
        Ok(code) => code,
        Err(error) => match (complain(&words_of(&error)), error.downcast_ref()) {
            (_, Some(oxeye::Error::Cancelled)) => Exit::Interrupted,
            (exit, _) => exit,
        },
    }
}

fn run_command(command: Command, manner: &Manner) -> anyhow::Result<Exit> {
    match command {
        Command::Apply(args) => apply::run(args, manner),
        Command::Cache(args) => cache::run(args, manner),
        Command::Check(args) => check::run(args, manner),
        Command::Completions(args) => shell::completions(args, Cli::command()),
        Command::Db(args) => db::run(args, manner),
        Command::Doctor(args) => doctor::run(args, manner),
        Command::Explain(args) => explain::run(args, manner),
        Command::Flow(args) => flow::run(args, manner),
        Command::Host(args) => host::run(args, manner),
        Command::Inspect(args) => inspect::run(args, manner),
        Command::Man(args) => shell::man(args, Cli::command(), manner),
        Command::Profile(args) => profile::run(args, manner),
        Command::Rerun(args) => rerun::run(args, manner),
        Command::Search(args) => search::run(args, manner),
        Command::Tune(args) => tune::run(args, manner),
        Command::Values(args) => values::run(args, manner),
        Command::Verify(args) => verify::run(args, manner),
        Command::Worker(args) => nodes::run(args, manner),
    }
}

/// Says what went wrong; on a terminal, in lines that fit it. Lines behind the first are text and commands of others.
fn complain(message: &str) -> Exit {
    let message = format!("error: {message}");
    let (first, rest) = message.split_at(message.find('\n').unwrap_or(message.len()));
    let first = match std::io::stderr().is_terminal() {
        true => wrapped(first, View::of_stderr(false, ColorChoice::Auto).width).trim_end().to_owned(),
        false => first.to_owned(),
    };
    // Where standard error is closed, nobody wants to know.
    let _ = writeln!(std::io::stderr(), "{first}{rest}");
    Exit::Failed
}

/// The message with its causes, as far as it does not name them itself.
fn words_of(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |text, cause| match text.is_empty() {
        true => cause,
        false if text.contains(&cause) => text,
        false => format!("{text}: {cause}"),
    })
}
