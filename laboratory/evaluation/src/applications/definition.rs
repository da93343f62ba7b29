//! What `application.toml` says of the programs in a folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// One folder of `benchmarks/applications`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Application {
    /// The name of the folder.
    #[serde(skip)]
    pub(super) name: String,
    /// The folder.
    #[serde(skip)]
    pub(super) folder: PathBuf,
    /// What it is, in a line.
    pub(super) title: String,
    /// How many times as fast as the untuned program the tuned one should be.
    pub(super) against_untuned: f64,
    /// How many times as fast as the package's own code it should be.
    pub(super) against_peer: f64,
    /// Flags of every build beside those of all applications.
    #[serde(default)]
    pub(super) flags: String,
    /// Its programs.
    #[serde(rename = "program")]
    pub(super) programs: Vec<Program>,
}

/// One C program of an application.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Program {
    /// Its name, for people and for `oracle.py` and `peer.py`.
    pub(super) name: String,
    /// File name without `.c`, if that is not the name.
    pub(super) file: Option<String>,
    /// What it computes, in a line.
    pub(super) what: String,
    /// The unit of its rate, such as Mcells/s.
    pub(super) unit: String,
    /// How much of what the program counts makes one of that unit, such as 1e6.
    pub(super) per: f64,
    /// Whether `peer.py` has it.
    #[serde(default)]
    pub(super) peer: bool,
    /// How many times as fast as the package's own code it should be, if that is not what the application says.
    pub(super) against_peer: Option<f64>,
    /// `-D` options for the oracle.
    pub(super) check: String,
    /// `-D` options for a run of a second or so.
    pub(super) small: String,
    /// `-D` options of the package's users.
    pub(super) typical: String,
}

impl Program {
    /// Its file in the application's folder.
    pub(super) fn file(&self) -> String {
        format!("{}.c", self.file.as_ref().unwrap_or(&self.name))
    }

    /// The options of the size `word`.
    pub(super) fn sizes(&self, word: &str) -> &str {
        if word == "typical" { &self.typical } else { &self.small }
    }
}

/// Reads the definition in `folder`.
fn read(folder: &Path) -> Result<Application> {
    let path = folder.join("application.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut application: Application =
        toml::from_str(&text).with_context(|| format!("{} is not as it should be", path.display()))?;
    application.name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    application.folder = folder.to_owned();
    for program in &application.programs {
        if !folder.join(program.file()).is_file() {
            bail!("{} names {}, which is not there", path.display(), program.file());
        }
    }
    Ok(application)
}

/// The programs of the applications in `shared` that `only` names, as APPLICATION or APPLICATION/PROGRAM; all if it
/// names none.
pub(super) fn select(shared: &Path, only: &[String]) -> Result<Vec<(Application, Program)>> {
    let mut folders: Vec<PathBuf> = fs::read_dir(shared)
        .with_context(|| format!("cannot read {}", shared.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("application.toml").is_file())
        .collect();
    folders.sort();
    let mut all = Vec::new();
    for folder in folders {
        let application = read(&folder)?;
        all.extend(application.programs.clone().into_iter().map(|program| (application.clone(), program)));
    }
    let names = |(application, program): &(Application, Program)| {
        [application.name.clone(), format!("{}/{}", application.name, program.name)]
    };
    if let Some(unknown) = only.iter().find(|name| !all.iter().any(|one| names(one).contains(name))) {
        let known: Vec<String> = all.iter().map(|one| names(one)[1].clone()).collect();
        bail!("there is no application {unknown}; there are {}", known.join(", "));
    }
    if !only.is_empty() {
        all.retain(|one| names(one).iter().any(|name| only.contains(name)));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_application_of_the_repository_can_be_read() {
        let shared = crate::repository::root().join("benchmarks/applications");
        let all = select(&shared, &[]).expect("definitions are as they should be");
        assert!(!all.is_empty());
        for (application, program) in &all {
            assert!(application.folder.join("oracle.py").is_file(), "{} has no oracle", application.name);
            assert!(!program.peer || application.folder.join("peer.py").is_file());
            assert!(program.per > 0.0 && application.against_untuned >= 1.0);
        }
    }

    #[test]
    fn unknown_names_are_refused() {
        let shared = crate::repository::root().join("benchmarks/applications");
        let error = select(&shared, &["nothing/such".to_owned()]).expect_err("there is none");
        assert!(error.to_string().contains("there is no application nothing/such"));
    }
}
