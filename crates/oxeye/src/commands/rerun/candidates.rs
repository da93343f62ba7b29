//! Candidates of a tuning run as files that people may edit.
//!
//! Each file is the user's own with one nest replaced. Its name says nest and recipe, and ends with digits of the text that
//! was generated, so that a name always stands for the same text. Beside the files lie copies of what was generated, and an
//! index.

use crate::commands::replay::rewrite;
use crate::nest::Workpiece;
use crate::request::{Error, RecipeFile, write_atomically};
use crate::schedule::{Trial, Verdict, digest};
use crate::session::Session;
use crate::stages::{Emitted, reading, recipe_of};
use oxeye_frontend::encoded;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Name and version of the index's form.
pub const CANDIDATES_SCHEMA: &str = "oxeye.candidates/1";

/// The index in the folder, and the folder of what was generated.
const INDEX: &str = "candidates.json";
const GENERATED: &str = "generated";

/// Candidates of a nest that are kept: the fastest.
const MOST_OF_A_NEST: usize = 5;

/// What is in a folder of candidates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Index {
    pub(super) schema: String,
    /// The user's file.
    pub(super) input: PathBuf,
    /// What its text is known by.
    pub(super) source: String,
    pub(super) candidates: Vec<KeptCandidate>,
}

/// A candidate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct KeptCandidate {
    /// Its file in the folder.
    pub(super) file: String,
    /// `function:line`.
    pub(super) nest: String,
    /// The name of its recipe.
    pub(super) recipe: String,
    /// The speedup over the original, when it was generated.
    pub(super) speedup: Option<f64>,
    /// Whether it is in the tuned file.
    pub(super) chosen: bool,
    /// What makes it: one nest.
    pub(super) recipes: RecipeFile,
}

/// Writes the fastest candidates of every nest that gave the right results. Files that were edited stay as they are.
///
/// # Errors
/// If they cannot be written.
pub(crate) fn keep_candidates(session: &Session<'_>, emitted: &Emitted, folder: &Path) -> Result<(), Error> {
    let Workpiece { unit, nests, .. } = &emitted.workpiece;
    let generated = folder.join(GENERATED);
    let create = |source| Error::Io { action: "create", path: generated.clone(), source };
    std::fs::create_dir_all(&generated).map_err(create)?;
    let mut index = Index {
        schema: CANDIDATES_SCHEMA.to_owned(),
        input: session.options.file.clone(),
        source: digest(&unit.source),
        candidates: Vec::new(),
    };
    let reading = reading(session);
    let extension = session.options.file.extension().map_or("c".into(), |e| e.to_string_lossy());
    for (idx, nest) in nests.iter().enumerate() {
        let mut trials: Vec<(usize, &Trial)> =
            nest.trials.iter().enumerate().filter(|(_, trial)| is_right(trial)).collect();
        trials.sort_by(|(j, a), (k, b)| seconds(a).total_cmp(&seconds(b)).then(j.cmp(k)));
        trials.truncate(MOST_OF_A_NEST);
        for (trial_idx, trial) in trials {
            let recipes = RecipeFile {
                nests: vec![recipe_of(&emitted.workpiece, idx, trial)],
                ..emitted.recipes.clone()
            };
            let rewritten = rewrite(unit, &reading, &recipes);
            if !rewritten.refused.is_empty() {
                continue;
            }
            let name = nest.place.name(unit);
            let file = file_name(&name, &trial.schedule.name, &rewritten.text, &extension);
            if index.candidates.iter().any(|known| known.file == file) {
                continue;
            }
            write(folder, &file, &rewritten.text)?;
            index.candidates.push(KeptCandidate {
                file,
                nest: name,
                recipe: trial.schedule.name.clone(),
                speedup: trial.timed.map(|timing| timing.speedup),
                chosen: nest.winner == Some(trial_idx),
                recipes,
            });
        }
    }
    let mut text = serde_json::to_string_pretty(&index).map_err(|error| Error::Input(error.to_string()))?;
    text.push('\n');
    write_atomically(&folder.join(INDEX), text.as_bytes())
}

/// Whether a candidate gave the right results, and is as its recipe makes it.
fn is_right(trial: &Trial) -> bool {
    let is_measured = trial.timed.is_some() || trial.screened.is_some();
    let is_whole = !trial.is_special || trial.proved.is_some();
    let verdicts = [Verdict::Chosen, Verdict::Slower, Verdict::Dropped, Verdict::Overlapped];
    is_measured && is_whole && verdicts.contains(&trial.verdict)
}

fn seconds(trial: &Trial) -> f64 {
    let screened = trial.screened.map_or(f64::INFINITY, |screened| screened.seconds);
    trial.timed.map_or(screened, |timing| timing.seconds)
}

/// `kernel_gemm-31-contract_strips-1a2b3c4d.c`.
fn file_name(nest: &str, recipe: &str, text: &str, extension: &str) -> String {
    let plain = |words: &str| {
        let plain: String =
            words.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
        plain.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
    };
    let recipe: String = plain(recipe).chars().take(40).collect();
    format!("{}-{}-{}.{extension}", plain(nest), recipe.trim_end_matches('-'), &digest(text)[..8])
}

/// Writes a candidate and the copy of it, unless somebody has edited it.
fn write(folder: &Path, file: &str, text: &str) -> Result<(), Error> {
    let bytes = encoded(text);
    let path = folder.join(file);
    write_atomically(&folder.join(GENERATED).join(file), &bytes)?;
    match path.exists() {
        true => Ok(()),
        false => write_atomically(&path, &bytes),
    }
}

impl Index {
    /// The index of a folder.
    ///
    /// # Errors
    /// If there is none, or it is none of ours.
    pub(super) fn load(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(INDEX);
        let text = std::fs::read_to_string(&path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => Error::Input(format!(
                "there are no candidates in {}; `oxeye tune --keep-candidates {0}` writes them",
                folder.display()
            )),
            _ => Error::Io { action: "read", path: path.clone(), source },
        })?;
        let index: Index = serde_json::from_str(&text)
            .map_err(|why| Error::Input(format!("{} is damaged: {why}", path.display())))?;
        match index.schema == CANDIDATES_SCHEMA {
            true => Ok(index),
            false => Err(Error::Input(format!("{} is of another version; optimize again", path.display()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_say_nest_and_recipe() {
        let name = file_name("kernel_gemm:31", "contract, strips", "text", "c");
        assert_eq!(name, format!("kernel_gemm-31-contract-strips-{}.c", &digest("text")[..8]));
        assert!(file_name("f:1", "../../x", "t", "c").starts_with("f-1-x-"));
    }

    #[test]
    fn edited_files_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(folder.path().join(GENERATED)).expect("a folder");
        write(folder.path(), "a.c", "one").expect("written");
        std::fs::write(folder.path().join("a.c"), "edited").expect("written");
        write(folder.path(), "a.c", "one").expect("written");
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
        assert_eq!((read("a.c").as_str(), read("generated/a.c").as_str()), ("edited", "one"));
        let missing = Index::load(folder.path()).expect_err("no index").to_string();
        assert!(missing.contains("--keep-candidates"), "{missing}");
    }
}
