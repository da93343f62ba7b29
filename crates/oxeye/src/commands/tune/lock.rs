//! `oxeye.lock.json`: what tuning a project found, kept so that it can be checked later.

use super::files::TunedFile;
use super::options::TuneOptions;
use super::pieces::{Piece, pieces, restored};
use super::replay::inside;
use crate::commands::changes::relative;
use crate::request::{Error, FileRecipes, PROJECT_LOCK_SCHEMA, files};
use crate::stages::ProgramReport;
use crate::written::ChangedFile;
use oxeye_host::HostProfile;
use oxeye_ir::Span;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The name of the file, beside `oxeye.toml`.
pub const LOCK_FILE: &str = "oxeye.lock.json";

/// Name and version of the file's form.
pub const LOCK_SCHEMA: &str = PROJECT_LOCK_SCHEMA;

/// What tuning a project found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProjectLock {
    /// [`LOCK_SCHEMA`].
    pub schema: String,
    /// How the project was built, and its program run.
    pub build: String,
    /// How its program was run.
    pub run: String,
    /// The program before and after.
    pub program: LockedProgram,
    /// The changed files.
    pub files: Vec<LockedFile>,
}

/// The program of a project before and after it was tuned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockedProgram {
    /// Where it was measured; `None` where the machine could not be measured.
    pub machine: Option<LockedMachine>,
    /// Median wall-clock time of the original.
    pub baseline_ms: Option<f64>,
    /// Median wall-clock time of the tuned program.
    pub optimized_ms: Option<f64>,
    /// Time of the original by that of the tuned program, of runs side by side.
    pub speedup: Option<f64>,
}

/// A machine, as far as times depend on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedMachine {
    /// Model name of the processor.
    pub cpu_model: String,
    /// Physical cores that may be used.
    pub cores: u32,
    /// Threads that the tuned code may use.
    pub threads: u32,
}

/// A changed file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockedFile {
    /// Where it was measured; `None` where the machine could not be measured.
    pub machine: Option<LockedMachine>,
    /// Flags besides its own that it is compiled with.
    pub added: Vec<String>,
    /// Its rewritten nests, in the order of their recipes.
    pub nests: Vec<LockedNest>,
    /// The text before and after.
    pub(crate) pieces: Vec<Piece>,
    /// The same of files that it includes and that were changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) included: Vec<LockedInclude>,
    /// What makes the tuned file.
    pub recipes: FileRecipes,
}

/// A changed file that another includes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LockedInclude {
    /// As seen from the root.
    pub(crate) path: PathBuf,
    /// Its text before and after.
    pub(crate) pieces: Vec<Piece>,
}

/// A rewritten nest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockedNest {
    /// Function it stands in.
    pub function: String,
    /// Its first line in the original.
    pub line: u32,
    /// Name of the recipe.
    pub recipe: String,
    /// Median time of one invocation of the original.
    pub baseline_ms: Option<f64>,
    /// Median time of one invocation of the new code.
    pub optimized_ms: Option<f64>,
    /// `baseline_ms / optimized_ms`, over all sizes of its calls.
    pub speedup: Option<f64>,
    /// What bounds it.
    pub bound: Option<String>,
    /// Share of that roof reached, from 0 to 1.
    pub roof_fraction: Option<f64>,
}

impl LockedFile {
    /// The file and those that it includes, as far as they are changed, as seen from the root, with their texts before and after.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&Path, &[Piece])> {
        let own = (self.recipes.path.as_path(), self.pieces.as_slice());
        let included = self.included.iter().map(|file| (file.path.as_path(), file.pieces.as_slice()));
        std::iter::once(own).chain(included)
    }
}

impl LockedMachine {
    /// The machine of a profile.
    pub(super) fn of(profile: &HostProfile, threads: u32) -> Self {
        Self { cpu_model: profile.key.cpu_model.clone(), cores: profile.key.cores, threads }
    }
}

impl std::fmt::Display for LockedMachine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let several = |n: u32, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let Self { cpu_model, cores, threads } = self;
        write!(f, "{cpu_model}, {}, {}", several(*cores, "core"), several(*threads, "thread"))
    }
}

impl ProjectLock {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is no such file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = files::read_text(path)?;
        let wrong =
            |why: String| Error::Input(format!("{} is not what `oxeye tune` keeps: {why}", path.display()));
        let value: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        match value["schema"].as_str() {
            Some(LOCK_SCHEMA) => serde_json::from_value(value).map_err(|error| wrong(error.to_string())),
            Some(other) => Err(wrong(format!("its schema is `{other}`, this oxeye reads {LOCK_SCHEMA}"))),
            None => Err(wrong("it names no schema".into())),
        }
    }

    /// The file as JSON text with a final newline.
    ///
    /// # Panics
    /// Never: every part of it has a JSON form.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("it has a JSON form");
        text.push('\n');
        text
    }

    /// The same with what an earlier run has found of other files, as far as that still stands in them.
    pub(super) fn after(mut self, earlier: Option<Self>, root: &Path) -> Self {
        let Some(earlier) = earlier else { return self };
        let is_new = |file: &LockedFile| self.files.iter().any(|new| new.recipes.path == file.recipes.path);
        let stands = |file: &LockedFile| {
            file.parts().any(|(path, pieces)| {
                let text = inside(root, path).and_then(|path| files::text(&path));
                let found = text.map(|text| restored(&text, pieces).found).unwrap_or_default();
                pieces.iter().zip(found).any(|(piece, found)| found && !piece.nests.is_empty())
            })
        };
        let kept: Vec<LockedFile> =
            earlier.files.into_iter().filter(|file| !is_new(file) && stands(file)).collect();
        if self.files.is_empty() && !kept.is_empty() {
            self.program = earlier.program;
        }
        self.files.extend(kept);
        self.files.sort_by(|a, b| a.recipes.path.cmp(&b.recipes.path));
        self
    }
}

/// The pieces of one of the changed files of a file. Its nests have the numbers that they have among all of those.
fn pieces_of(file: &TunedFile, change: &ChangedFile) -> Vec<Piece> {
    let numbered = file.spans.iter().enumerate().filter(|(_, (path, _))| *path == change.path);
    let (numbers, spans): (Vec<usize>, Vec<Span>) = numbered.map(|(k, (_, span))| (k, *span)).unzip();
    let mut found = pieces(&change.before, &change.after, &spans);
    for piece in &mut found {
        piece.nests.iter_mut().for_each(|nest| *nest = numbers[*nest]);
    }
    found
}

/// What a run has found.
pub(super) fn locked(
    options: &TuneOptions,
    files: &[TunedFile],
    program: &ProgramReport,
    root: &Path,
) -> ProjectLock {
    let machine = |file: &TunedFile| {
        let profile = file.report.report.as_ref()?.host_profile.as_ref()?;
        Some(LockedMachine::of(profile, options.threads))
    };
    let locked_file = |file: &TunedFile| {
        let recipes = file.recipes.clone()?;
        let reports = file.report.report.iter().flat_map(|report| &report.nests);
        let nests = reports.filter(|nest| nest.recipe.is_some()).map(|nest| LockedNest {
            function: nest.function.clone(),
            line: nest.line.line,
            recipe: nest.recipe.clone().unwrap_or_default(),
            baseline_ms: nest.baseline_ms,
            optimized_ms: nest.optimized_ms,
            speedup: nest.speedup,
            bound: nest.bound.clone(),
            roof_fraction: nest.roof_fraction,
        });
        let own = file.changes.iter().find(|change| change.path == file.path);
        let others = file.changes.iter().filter(|change| change.path != file.path);
        Some(LockedFile {
            machine: machine(file),
            added: file.flags.iter().cloned().collect(),
            nests: nests.collect(),
            pieces: own.map(|change| pieces_of(file, change)).unwrap_or_default(),
            included: others
                .map(|change| LockedInclude {
                    path: relative(&change.path, root),
                    pieces: pieces_of(file, change),
                })
                .collect(),
            recipes,
        })
    };
    ProjectLock {
        schema: LOCK_SCHEMA.to_owned(),
        build: options.build.to_string(),
        run: options.run.line(),
        program: LockedProgram {
            machine: files.iter().find_map(machine),
            baseline_ms: program.baseline_ms,
            optimized_ms: program.optimized_ms,
            speedup: program.speedup,
        },
        files: files.iter().filter(|file| file.is_rewritten()).filter_map(locked_file).collect(),
    }
}
