//! The Python environment of the oracles and peers.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// A Python with the packages installed.
#[derive(Debug, Clone)]
pub(super) struct Python {
    /// The interpreter.
    pub(super) program: PathBuf,
}

/// Files in the folder of the applications, and what pip is to do with them.
const REQUIREMENTS: [(&str, &[&str]); 2] =
    [("requirements.txt", &[]), ("requirements-no-deps.txt", &["--no-deps"])];

impl Python {
    /// The environment in `venv`, made if there is none, with the packages that the files in `shared` name.
    pub(super) fn prepare(venv: &Path, shared: &Path) -> Result<Python> {
        let program = venv.join("bin/python");
        if !program.is_file() {
            eprintln!("making a Python environment in {}", venv.display());
            call(Command::new("python3").args(["-m", "venv"]).arg(venv))?;
        }
        for (file, options) in REQUIREMENTS {
            let mut pip = Command::new(&program);
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(options);
            call(pip.arg("-r").arg(shared.join(file)))?;
        }
        Ok(Python { program })
    }
}

fn call(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("cannot start {name}"))?;
    if !status.success() {
        bail!("{name} failed; the Python environment is not complete");
    }
    Ok(())
}
