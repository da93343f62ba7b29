//! `oxeye-train`: random nests, their responses, and the encoder trained on them.

mod command;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match command::Command::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
