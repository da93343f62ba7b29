//! The `oxeye` command as a library: the whole command ([`run`]), and its subcommands as functions for other programs
//! ([`call`]), which understand the same words.
//!
//! ```
//! let words = ["oxeye", "optimize", "no-such-file.c"].map(std::ffi::OsString::from);
//! let failure = oxeye_cli::call(&words, &oxeye::Silent).expect_err("there is no such file");
//! assert!(failure.to_string().contains("no-such-file.c"));
//! ```
//!
//! It decides nothing about nests: that is the crate `oxeye`.

mod call;
mod check;
mod checks;
mod columns;
mod db;
mod doctor;
mod draw;
mod exit;
mod explain;
mod flow;
mod go_on;
mod host;
mod interrupt;
mod optimize;
mod profile;
mod program;
mod replay;
mod search;
mod table;
mod terminal;
mod tune;
mod tuning;
mod values;
mod watched;

pub use call::{Answer, Failure, call, options};
pub use exit::Exit;

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write;

/// Make the loop nests of C programs fast, and check that they still compute the same
#[derive(Parser)]
#[command(name = "oxeye", version, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 done, 1 negative answer, 2 could not run, 130 interrupted.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Optimize(optimize::Args),
    Tune(tune::Args),
    Check(check::Args),
    Explain(explain::Args),
    Search(search::Args),
    Host(host::Args),
    Doctor(doctor::Args),
    Profile(profile::Args),
    Values(values::Args),
    Flow(flow::Args),
    Replay(replay::Args),
    Db(db::Args),
}

/// Runs the command: the first word is its name. Answers go to standard output, complaints to standard error, and signals
/// are handled from here on. Ends the process where the words are a cry for help, or not understood.
pub fn run(command_line: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Exit {
    interrupt::handle();
    let outcome = match Cli::parse_from(command_line).command {
        Command::Check(args) => check::run(args),
        Command::Db(args) => db::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Flow(args) => flow::run(args),
        Command::Host(args) => host::run(args),
        Command::Optimize(args) => optimize::run(args),
        Command::Profile(args) => profile::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Search(args) => search::run(args),
        Command::Tune(args) => tune::run(args),
        Command::Values(args) => values::run(args),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            // Where standard error is closed, nobody wants to know.
            let _ = writeln!(std::io::stderr(), "error: {}", words(&error));
            match error.downcast_ref() {
                Some(oxeye::Error::Cancelled) => Exit::Interrupted,
                _ => Exit::Failed,
            }
        }
    }
}

/// The message with its causes, as far as it does not name them itself.
fn words(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |text, cause| match text.is_empty() {
        true => cause,
        false if text.contains(&cause) => text,
        false => format!("{text}: {cause}"),
    })
}
