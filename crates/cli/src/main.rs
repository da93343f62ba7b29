//! The `oxeye` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    oxeye_cli::run(std::env::args_os()).into()
}
