//! The reference of commands, as the command itself tells it.

use crate::{oxeye_binary, text};
use std::process::Command;

/// What a command and its parts say of themselves with `--help`, each below a heading.
///
/// # Errors
/// If there is no such command.
pub fn commands(words: &[&str]) -> Result<String, String> {
    let run = Command::new(oxeye_binary()).args(words).arg("--help").output();
    let output = run.map_err(|e| format!("the command does not start: {e}"))?;
    let name = format!("oxeye {}", words.join(" "));
    if !output.status.success() {
        return Err(format!("there is no command `{}`", name.trim()));
    }
    let lines: Vec<String> = text(&output.stdout).lines().map(|line| line.trim_end().to_owned()).collect();
    Ok(format!("```text\n{}\n```", lines.join("\n").trim()))
}
