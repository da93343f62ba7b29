//! How much a command says, and how.

use crate::terminal::{View, print_or_quit};
use clap::{ArgAction, Args, ColorChoice};
use std::io::IsTerminal;

/// The options that every command has.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Manner {
    /// Print help: -h in brief, --help in full
    #[arg(short, long, global = true, action = ArgAction::Help)]
    #[allow(dead_code, reason = "the parser prints it and ends")]
    help: Option<bool>,
    /// Say nothing but errors
    ///
    /// What is written to files, or to standard output by `-`, is written.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Show everything: steps, candidates, refusals
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Whether output is coloured
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_short_help = true)]
    color: ColorChoice,
    /// Show no progress
    #[arg(long, global = true, hide_short_help = true)]
    no_progress: bool,
}

impl Manner {
    /// Whether progress is drawn: on a terminal, unless it is not wanted.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.quiet && !self.no_progress && std::io::stderr().is_terminal()
    }

    /// How reports look on standard output.
    pub(crate) fn view(&self) -> View {
        View::of_stdout(self.verbose, self.color)
    }

    /// How they look on standard error, beside one that a program reads.
    pub(crate) fn view_of_stderr(&self) -> View {
        View::of_stderr(self.verbose, self.color)
    }

    /// Prints what is there for people.
    pub(crate) fn say(&self, shown: &dyn Fn(View) -> String) -> anyhow::Result<()> {
        if self.quiet { Ok(()) } else { print_or_quit(&shown(self.view())) }
    }
}
