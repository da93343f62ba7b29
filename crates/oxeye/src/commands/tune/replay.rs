//! Applying the recipes of a project to its files.

use super::options::BuildSource;
use super::subject::{check, learn};
use crate::commands::changes::{TuneOutput, root};
use crate::commands::replay::{replayed, woken};
use crate::request::{Compiler, Error, FileRecipes, Progress, ProjectRecipes};
use oxeye_frontend::{OtherSource, ReadOptions};
use oxeye_measure::WorkDir;
use oxeye_project::{Project, Unit};
use serde::Serialize;
use std::path::{Component, Path, PathBuf};

/// Version of the JSON form of a [`ProjectReplay`].
pub const REPLAY_SCHEMA: &str = "oxeye.replay/1";

/// How the recipes of a project are applied.
#[derive(Clone, Debug)]
pub struct ReplayOptions {
    /// The folder that the paths of the recipes begin at; `None` is that of the repository, else the present one.
    pub root: Option<PathBuf>,
    /// What the files are read with.
    pub reading: ProjectReading,
    /// Where the results go.
    pub output: TuneOutput,
}

/// What the files of a project are read with, when recipes are applied to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProjectReading {
    /// With `cc` and the flags that the recipes have ([`Compiler::plain`]).
    #[default]
    Plain,
    /// With this compiler, each file with the flags that the recipes have, and these behind them.
    Compiler(Compiler),
    /// As the project's build compiles them.
    Build(BuildSource),
}

/// What applying the recipes of a project did.
#[derive(Clone, Debug, Serialize)]
pub struct ProjectReplay {
    /// [`REPLAY_SCHEMA`].
    pub schema: &'static str,
    /// The folder that paths begin at.
    pub root: PathBuf,
    /// The patch, if the changes went into one.
    pub patch: Option<PathBuf>,
    /// The folder with copies of the changed files, if they went there.
    pub folder: Option<PathBuf>,
    /// The changed files.
    pub files: Vec<ReplayedFile>,
    /// Sentences on how the files were read.
    pub notes: Vec<String>,
}

/// A file whose nests were rewritten.
#[derive(Clone, Debug, Serialize)]
pub struct ReplayedFile {
    /// As seen from the root.
    pub path: PathBuf,
    /// Nests that were rewritten.
    pub nests: usize,
    /// Flags that it needs besides its own.
    pub added: Vec<String>,
}

impl ProjectReplay {
    /// The report as JSON text with a final newline.
    ///
    /// # Panics
    /// Never: every part of a report has a JSON form.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a report has a JSON form");
        text.push('\n');
        text
    }
}

/// Applies the recipes of a project to its files without running anything but a preprocessor (and the build, if that is
/// asked for): byte for byte what the run wrote that saved them. Every step is proved legal again.
///
/// # Errors
/// If a file cannot be read, a nest is not there, or a step is refused; nothing is written then.
pub fn replay_project(
    recipes: &ProjectRecipes,
    options: &ReplayOptions,
    progress: &dyn Progress,
) -> Result<ProjectReplay, Error> {
    let root = match &options.root {
        None => root(Path::new(".")),
        Some(folder) => folder.canonicalize().map_err(|source| Error::Io {
            action: "read",
            path: folder.clone(),
            source,
        })?,
    };
    options.output.check(&root)?;
    let mut reader = Reader::new(&options.reading, progress)?;
    let mut changed = Vec::new();
    let mut files = Vec::new();
    for file in &recipes.files {
        check(progress)?;
        let path = inside(&root, &file.path)?;
        let reading = reader.reading(&file.clone().at(&root), &path, &root)?;
        let rewritten = replayed(&file.recipes, &reading, &path)?;
        let (path, nests) = (file.path.clone(), file.recipes.nests.len());
        files.push(ReplayedFile { path, nests, added: rewritten.added });
        changed.extend(rewritten.files);
    }
    options.output.write(&changed, &root)?;
    Ok(ProjectReplay {
        schema: REPLAY_SCHEMA,
        patch: options.output.patch().filter(|_| !files.is_empty()).map(Path::to_owned),
        folder: options.output.folder().filter(|_| !files.is_empty()).map(Path::to_owned),
        root,
        files,
        notes: reader.notes,
    })
}

/// The file of a path below the root. Recipes come from anywhere, and change no file elsewhere.
pub(super) fn inside(root: &Path, path: &Path) -> Result<PathBuf, Error> {
    let is_below = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    match is_below {
        true => Ok(root.join(path)),
        false => Err(Error::Input(format!("{} is not below {}", path.display(), root.display()))),
    }
}

/// How files are read.
struct Reader<'a> {
    how: &'a ProjectReading,
    project: Option<Project>,
    notes: Vec<String>,
}

impl<'a> Reader<'a> {
    fn new(how: &'a ProjectReading, progress: &dyn Progress) -> Result<Self, Error> {
        let project = match how {
            ProjectReading::Build(build) => {
                let cc = oxeye_measure::Compiler::new("cc", [""; 0]);
                Some(learn(build, &cc, &WorkDir::new()?, progress)?)
            }
            _ => None,
        };
        Ok(Self { how, project, notes: Vec::new() })
    }

    /// How a file is read for its recipes.
    fn reading(&mut self, file: &FileRecipes, path: &Path, root: &Path) -> Result<ReadOptions, Error> {
        let compiler = match (self.how, &self.project) {
            (_, Some(project)) => {
                let unit = unit_of(project, path, &file.recipes.compiler.args);
                let unit = unit
                    .ok_or_else(|| Error::Input(format!("the build does not compile {}", path.display())))?;
                Compiler { command: unit.compiler.clone(), args: unit.flags.clone(), chosen: true }
            }
            (ProjectReading::Compiler(named), None) => {
                let own = self.plain(&file.recipes.compiler, false).args;
                let args = own.into_iter().chain(named.args.iter().cloned()).collect();
                Compiler { args, ..named.clone() }
            }
            (_, None) => self.plain(&file.recipes.compiler, true),
        };
        let mut others = Vec::new();
        for group in &file.others {
            let own = Compiler { args: group.args.clone(), ..file.recipes.compiler.clone() };
            let plain = own.plain().compiler.args;
            for other in &group.paths {
                let path = root.join(other);
                let unit = self.project.as_ref().and_then(|project| unit_of(project, &path, &group.args));
                let args = unit.map_or_else(|| plain.clone(), |unit| unit.flags.clone());
                others.push(OtherSource { path, args });
            }
        }
        let reading = ReadOptions {
            compiler: compiler.command,
            args: compiler.args,
            others,
            function: None,
            no_alias: file.recipes.no_alias,
            opened: Vec::new(),
            group: None,
            is_whole: false,
            keeps_order: file.recipes.keeps_order,
            owned: Some(root.to_owned()),
            closed: Default::default(),
        };
        Ok(woken(reading, &file.recipes))
    }

    /// A compiler of a file without what only its user may run, and a note on that.
    fn plain(&mut self, own: &Compiler, is_replaced: bool) -> Compiler {
        let plain = own.plain();
        if let Some(note) = plain.note(own).filter(|_| is_replaced) {
            let advice = "--compile-commands or --build reads the files as the project compiles them";
            let note = format!("{note}; {advice}");
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        plain.compiler
    }
}

/// The unit that a source is; of several the one with these flags, or the first.
fn unit_of<'p>(project: &'p Project, source: &Path, args: &[String]) -> Option<&'p Unit> {
    let is_it = |unit: &&Unit| unit.source == source || unit.source.canonicalize().is_ok_and(|s| s == source);
    let mut units: Vec<&Unit> = project.units.iter().filter(is_it).collect();
    units.sort_by_key(|unit| unit.flags != args);
    units.first().copied()
}
