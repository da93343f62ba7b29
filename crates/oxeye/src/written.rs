//! New forms of nests in the files that they stand in.
//!
//! New text is in the user's dialect: where declarations stand at the beginnings of blocks only (`Compiler::declares_first`,
//! `RenderOptions::declarations_first`), so do those of nests; warnings in new text that are errors are switched off by name as the
//! compiler names them (`RecipeFile::quiet`). Builds that are not the user's own (`-w`: captures, replays, watched programs) leave
//! flags out that make errors of warnings (`Compiler::command_line`).

use crate::schedule::column;
use oxeye_codegen::{tuned_file, tuned_file_with};
use oxeye_frontend::Unit;
use oxeye_ir::Span;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A file with its text before and after, both as the frontend decodes them.
#[derive(Clone, Debug)]
pub(crate) struct ChangedFile {
    pub(crate) path: PathBuf,
    pub(crate) before: String,
    pub(crate) after: String,
}

/// The text that a file was read as, with what stands in the places of nests.
pub(crate) fn tuned_text(unit: &Unit, replacements: &[(Span, String)], quiet: &[String]) -> String {
    match replacements.is_empty() {
        true => unit.source.clone(),
        false => tuned_file(&unit.source, replacements, quiet),
    }
}

/// The user's file by itself: those files that it includes and that are changed stand in it, in the places of their `#include`s.
pub(crate) fn by_itself(unit: &Unit, replacements: &[(Span, String)], quiet: &[String]) -> String {
    if replacements.is_empty() {
        return unit.own.clone();
    }
    let changed = divided(unit, replacements);
    let folded = unit.included.folded(&unit.source, |file| changed.contains_key(&file));
    let moved: Vec<(Span, String)> =
        replacements.iter().map(|(span, text)| (folded.span(*span), text.clone())).collect();
    let edits: Vec<(Span, String)> =
        cut_edits(unit, replacements).into_iter().map(|(span, text)| (folded.span(span), text)).collect();
    tuned_file_with(&folded.text, &moved, &edits, quiet)
}

/// All changed files, the user's own first.
pub(crate) fn changed_files(
    unit: &Unit,
    replacements: &[(Span, String)],
    quiet: &[String],
) -> Vec<ChangedFile> {
    let mut edits = divided(unit, &cut_edits(unit, replacements));
    let changed = divided(unit, replacements).into_iter().map(|(file, replacements)| {
        let found = &unit.included.files()[file];
        let (path, before) = match file {
            0 => (unit.path.clone(), unit.own.clone()),
            _ => (found.path.clone(), found.text.clone()),
        };
        let edits = edits.remove(&file).unwrap_or_default();
        let after = tuned_file_with(&found.text, &replacements, &edits, quiet);
        ChangedFile { path, before, after }
    });
    changed.collect()
}

/// What stands behind a nest in the file by itself, if no other nest is changed.
pub(crate) fn behind(unit: &Unit, nest: Span) -> Option<String> {
    let (file, _) = unit.included.place(nest)?;
    let folded = unit.included.folded(&unit.source, |other| other == file && other > 0);
    folded.text.get(folded.span(nest).end..).map(str::to_owned)
}

/// What becomes of the insertions that cut loops in time, where these stand in the places of nests.
fn cut_edits(unit: &Unit, replacements: &[(Span, String)]) -> Vec<(Span, String)> {
    let replaced: Vec<Span> = replacements.iter().map(|(span, _)| *span).collect();
    unit.cuts.iter().flat_map(|cut| cut.edits(&replaced, column(&unit.source, cut.header) + 4)).collect()
}

/// The names of the included files that are changed.
pub(crate) fn changed_names(unit: &Unit, replacements: &[(Span, String)]) -> Vec<String> {
    let changed = divided(unit, replacements).into_keys().filter(|file| *file > 0);
    changed.map(|file| unit.included.files()[file].name.clone()).collect()
}

/// What stands in the places of nests, by file, as bytes of that. What is of several files is left out; no nest is.
fn divided(unit: &Unit, replacements: &[(Span, String)]) -> BTreeMap<usize, Vec<(Span, String)>> {
    let mut found: BTreeMap<usize, Vec<(Span, String)>> = BTreeMap::new();
    for (span, text) in replacements {
        if let Some((file, span)) = unit.included.place(*span) {
            found.entry(file).or_default().push((span, text.clone()));
        }
    }
    found
}
