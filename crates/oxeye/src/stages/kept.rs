//! The recipes of tuned files, kept by the text that they make: whoever has the file finds them again.

use crate::request::files::read_text;
use crate::request::{RecipeFile, SavedRecipes, write_atomically};
use crate::schedule::digest;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Recipes that nobody has asked for in so long are removed.
const OLDEST: Duration = Duration::from_secs(180 * 24 * 3600);

/// Keeps the recipes that make a tuned text. Where they cannot be kept, nothing is done.
pub(crate) fn keep_recipes(text: &str, recipes: &RecipeFile) {
    let Some(path) = path(text).filter(|_| !recipes.nests.is_empty()) else { return };
    let Some(folder) = path.parent() else { return };
    if std::fs::create_dir_all(folder).is_ok() {
        remove_old(folder);
        // The tuned file is worth having either way.
        let _ = write_atomically(&path, recipes.to_json().as_bytes());
    }
}

/// The recipes that made this text, if it is one that a run of this machine's user wrote.
pub(crate) fn kept_recipes(text: &str) -> Option<RecipeFile> {
    match SavedRecipes::load(&path(text)?).ok()? {
        SavedRecipes::File(recipes) => Some(recipes),
        SavedRecipes::Project(_) => None,
    }
}

/// Where a file is put that an earlier run made, if it is replaced by one that is worth less.
pub(crate) fn place_aside(output: &Path) -> Option<PathBuf> {
    kept_recipes(&read_text(output).ok()?)?;
    let mut aside = output.to_owned().into_os_string();
    aside.push("~");
    Some(aside.into())
}

fn path(text: &str) -> Option<PathBuf> {
    Some(oxeye_host::cache_folder().parent()?.join("tuned").join(format!("{}.json", digest(text))))
}

fn remove_old(folder: &Path) {
    let now = SystemTime::now();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let touched = entry.metadata().and_then(|metadata| metadata.modified());
        let age = touched.ok().and_then(|touched| now.duration_since(touched).ok());
        if age.is_some_and(|age| age > OLDEST) {
            // Another run may have been faster.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
