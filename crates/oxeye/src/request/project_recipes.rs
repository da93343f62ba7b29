//! Recipes of a project's files, saved so that they can be applied again.

use super::error::Error;
use super::files;
use super::recipe_file::{RECIPE_SCHEMA, REPORT_SCHEMA, RecipeFile};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Name and version of the file's form.
pub const PROJECT_RECIPES_SCHEMA: &str = "oxeye.project-recipes/1";

/// What it was called when entries of recipe databases had that name, too.
const OLD_PROJECT_RECIPES_SCHEMA: &str = "oxeye.recipes/1";

/// Name and version of the form of the file with what `oxeye check` compares with, which has recipes in it.
pub(crate) const PROJECT_LOCK_SCHEMA: &str = "oxeye.lock/1";

/// Stands for the root folder in the flags of a file of recipes, so that they mean the same in another copy of the project.
const ROOT: &str = "{root}";

/// What tuning a project decided, complete enough to do it again byte for byte without measuring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProjectRecipes {
    /// [`PROJECT_RECIPES_SCHEMA`].
    pub schema: String,
    /// The changed files.
    pub files: Vec<FileRecipes>,
}

/// The recipes of a file of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileRecipes {
    /// The file as seen from the root, which is that of the repository.
    pub path: PathBuf,
    /// The sources that the file was read together with, since its loops may call functions of theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherFiles>,
    /// The recipes of its nests, as in the recipe file of one file.
    pub recipes: RecipeFile,
}

/// Sources that are compiled with the same flags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherFiles {
    /// The flags; `{root}` stands for the root.
    pub args: Vec<String>,
    /// The sources as seen from the root.
    pub paths: Vec<PathBuf>,
}

/// What a file of recipes is about.
#[derive(Clone, Debug, PartialEq)]
pub enum SavedRecipes {
    /// One file.
    File(RecipeFile),
    /// The files of a project.
    Project(ProjectRecipes),
}

impl ProjectRecipes {
    /// Of these files.
    pub fn new(files: Vec<FileRecipes>) -> Self {
        Self { schema: PROJECT_RECIPES_SCHEMA.to_owned(), files }
    }

    /// The file as JSON text with a final newline.
    ///
    /// # Panics
    /// Never: every recipe has a JSON form.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a recipe has a JSON form");
        text.push('\n');
        text
    }
}

impl FileRecipes {
    /// The same for any copy of the project: paths are as seen from the root, and those in flags that lead into it say so.
    pub(crate) fn portable(mut self, root: &Path) -> Self {
        let paths = self.others.iter_mut().flat_map(|others| &mut others.paths);
        for path in paths.chain([&mut self.path]) {
            *path = path.strip_prefix(root).unwrap_or(path).to_owned();
        }
        let root = root.display().to_string();
        self.change_args(|arg| with_root(arg, &root));
        self
    }

    /// The same for the copy of the project at `root`, which is absolute.
    pub(crate) fn at(mut self, root: &Path) -> Self {
        let root = root.display().to_string();
        self.change_args(|arg| arg.replace(ROOT, &root));
        self
    }

    fn change_args(&mut self, change: impl Fn(&str) -> String) {
        let others = self.others.iter_mut().flat_map(|others| &mut others.args);
        for arg in self.recipes.compiler.args.iter_mut().chain(others) {
            *arg = change(arg);
        }
    }
}

/// A flag in which a path that begins with this folder begins with [`ROOT`].
fn with_root(arg: &str, root: &str) -> String {
    let mut parts = arg.split(root);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // `/a/b` is no part of `/a/bc`.
        let is_whole = part.is_empty() || part.starts_with('/');
        text += if is_whole && root.len() > 1 { ROOT } else { root };
        text += part;
    }
    text
}

impl SavedRecipes {
    /// Reads a file of recipes, or the recipes inside a report or a lock file.
    ///
    /// # Errors
    /// If it cannot be read, or is no such file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let fail = |reason: String| Error::Recipe { path: path.to_owned(), reason };
        let text = files::read_text(path)?;
        let mut value: serde_json::Value = serde_json::from_str(&text)
            .map_err(|e| fail(format!("it is no recipe file, which is JSON: {e}")))?;
        let is_report = |schema: &str| schema == REPORT_SCHEMA || schema.starts_with("oxeye.tune/");
        if value["schema"].as_str().is_some_and(is_report) {
            value = value["recipes"].take();
        }
        if value["schema"] == PROJECT_LOCK_SCHEMA {
            let files = value["files"].as_array_mut().map(std::mem::take).unwrap_or_default();
            let files: Vec<serde_json::Value> =
                files.into_iter().map(|mut file| file["recipes"].take()).collect();
            value = serde_json::json!({"schema": PROJECT_RECIPES_SCHEMA, "files": files});
        }
        match value["schema"].as_str() {
            Some(RECIPE_SCHEMA) => {
                serde_json::from_value(value).map(Self::File).map_err(|e| fail(e.to_string()))
            }
            Some(PROJECT_RECIPES_SCHEMA | OLD_PROJECT_RECIPES_SCHEMA) => {
                serde_json::from_value(value).map(Self::Project).map_err(|e| fail(e.to_string()))
            }
            Some(other) => Err(fail(format!(
                "its schema is `{other}`, this oxeye reads {RECIPE_SCHEMA} and {PROJECT_RECIPES_SCHEMA}"
            ))),
            None => Err(fail("it is not a recipe file of `--save-recipe`".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Compiler;

    #[test]
    fn other_files_are_refused_by_what_they_are() {
        let load = |text: &str| {
            let file = tempfile::NamedTempFile::new().expect("a file");
            std::fs::write(file.path(), text).expect("written");
            SavedRecipes::load(file.path()).map_err(|e| e.to_string())
        };
        assert!(load("int main;").is_err_and(|e| e.contains("no recipe file, which is JSON")));
        assert!(load("{}").is_err_and(|e| e.contains("--save-recipe")));
        for schema in [PROJECT_RECIPES_SCHEMA, OLD_PROJECT_RECIPES_SCHEMA] {
            let known = load(&format!(r#"{{"schema": "{schema}", "files": []}}"#));
            assert!(matches!(known, Ok(SavedRecipes::Project(_))), "{schema}");
        }
        assert!(load(r#"{"schema": "oxeye.recipe/9"}"#).is_err_and(|e| e.contains("oxeye.recipe/9")));
    }

    #[test]
    fn recipes_move_with_their_project() {
        let args = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let file = FileRecipes {
            path: "/home/me/p/src/a.c".into(),
            others: vec![OtherFiles {
                args: args("-I /home/me/p/inc"),
                paths: vec!["/home/me/p/src/b.c".into()],
            }],
            recipes: RecipeFile {
                schema: RECIPE_SCHEMA.into(),
                compiler: Compiler {
                    command: "gcc".into(),
                    args: args("-O2 -I/home/me/p/inc -I/home/me/p2"),
                    chosen: true,
                },
                threads: 1,
                reassociate: false,
                no_alias: false,
                keeps_order: true,
                directives: false,
                quiet: Vec::new(),
                vector_bytes: None,
                machine: None,
                nests: Vec::new(),
            },
        };
        let portable = ProjectRecipes::new(vec![file.clone().portable(Path::new("/home/me/p"))]);
        assert!(!portable.to_json().contains("/home/me/p/"));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("p.json");
        std::fs::write(&path, portable.to_json()).expect("written");
        let Ok(SavedRecipes::Project(again)) = SavedRecipes::load(&path) else { panic!("not read") };
        assert_eq!(again, portable);
        let at = again.files[0].clone().at(Path::new("/else"));
        assert_eq!(at.recipes.compiler.args, args("-O2 -I/else/inc -I/home/me/p2"));
        assert_eq!(at.others[0].args, args("-I /else/inc"));
        assert_eq!((at.path.to_str(), at.others[0].paths[0].to_str()), (Some("src/a.c"), Some("src/b.c")));
        let back = file.clone().portable(Path::new("/home/me/p")).at(Path::new("/home/me/p"));
        assert_eq!(back.recipes, file.recipes);
    }
}
