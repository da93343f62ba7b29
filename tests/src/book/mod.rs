//! The book in `docs/book`, and what of it is made from the code.
//!
//! In go the chapters; out come their fenced blocks ([`blocks`]), the links that lead nowhere ([`broken_links`]), the texts of
//! the generated parts ([`causes`], [`refusals`], [`steps`], [`commands`], [`keys`], [`sample`]), and chapters with these in their places ([`filled`]).

mod blocks;
mod causes;
mod commands;
mod keys;
mod links;
mod refusals;
mod samples;
mod steps;

pub use blocks::{Block, blocks};
pub use causes::causes;
pub use commands::commands;
pub use keys::keys;
pub use links::broken_links;
pub use refusals::{refusals, sources_of_refusals, variants};
pub use samples::sample;
pub use steps::steps;

use crate::repository;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What stands in a table where no remedy is known.
const NOTHING_HELPS: &str = "nothing: it stays as it is";

/// The folder with the chapters.
pub fn folder() -> PathBuf {
    repository().join("docs/book/src")
}

/// The Markdown files in a folder, sorted.
///
/// # Panics
/// If the folder cannot be read.
pub fn documents(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let files: BTreeSet<PathBuf> = files.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    files.into_iter().collect()
}

/// The sources below a folder, without those of tests.
///
/// # Errors
/// If a folder cannot be read.
pub fn sources(folder: &Path) -> Result<BTreeSet<PathBuf>, String> {
    let is_source =
        |path: &Path| path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs");
    let mut folders = vec![folder.to_owned()];
    let mut found = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path.is_dir() {
                folders.push(path);
            } else if is_source(&path) {
                found.insert(path);
            }
        }
    }
    Ok(found)
}

/// Compares a chapter with what it should be; with `OXEYE_BLESS`, writes that.
///
/// # Errors
/// If they differ.
pub fn compare_or_bless(chapter: &Path, wanted: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(chapter).unwrap_or_default();
    if text == wanted {
        return Ok(());
    }
    if std::env::var_os("OXEYE_BLESS").is_some() {
        return std::fs::write(chapter, wanted).map_err(|e| format!("{}: {e}", chapter.display()));
    }
    let difference = similar::TextDiff::from_lines(text.as_str(), wanted);
    let difference = difference.unified_diff().context_radius(1).to_string();
    Err(format!(
        "{} is not what the code says; `cargo xtask book` writes it:\n{difference}",
        chapter.display()
    ))
}

/// A chapter in which what stands between `<!-- KIND WORDS -->` and `<!-- end -->` is made anew of the words.
///
/// # Errors
/// If an end is missing, or if a part cannot be made.
pub fn filled(
    text: &str,
    kind: &str,
    mut make: impl FnMut(&[&str]) -> Result<String, String>,
) -> Result<String, String> {
    let (begin, end) = (format!("<!-- {kind}"), "<!-- end -->");
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(&begin) {
        let (before, part) = rest.split_at(at);
        let (head, part) = part.split_once("-->").ok_or("a comment is not closed")?;
        let (_, after) = part.split_once(end).ok_or_else(|| format!("`{head}-->` has no `{end}`"))?;
        let words: Vec<&str> = head[begin.len()..].split_whitespace().collect();
        out += &format!("{before}{head}-->\n\n{}\n\n{end}", make(&words)?.trim());
        rest = after;
    }
    Ok(out + rest)
}
