//! The build in which every access of the nests is checked.

use super::report::BuildFinding;
use crate::commands::nests::{NestFile, NestPlace};
use crate::commands::profile_report::SkippedNest;
use crate::commands::replay::{rendering, replaced};
use crate::request::{Error, Options, RecipeFile};
use crate::schedule::Rendering;
use crate::stages::read_options;
use oxeye_codegen::tuned_file;
use oxeye_frontend::Unit;
use oxeye_ir::Span;
use oxeye_transform::WrittenRecipe;
use std::path::Path;

/// A file in which the accesses of nests are checked.
pub(super) struct Checked {
    /// Its text.
    pub(super) text: String,
    /// How many nests.
    pub(super) n_nests: usize,
    /// The others, and why.
    pub(super) skipped: Vec<SkippedNest>,
}

/// The user's file with the nests of the recipes replaced, and every access in them checked. Functions for single processors
/// are left out of it: their nests stand where the original's do.
pub(super) fn with_recipes(unit: &Unit, options: &Options, recipes: &RecipeFile) -> Checked {
    let reading = read_options(options);
    let how = Rendering { checks: true, ..rendering(unit, recipes) };
    let mut replacements: Vec<(Span, String)> = Vec::new();
    let mut skipped = Vec::new();
    let mut n_nests = 0;
    for (id, wanted) in recipes.nests.iter().enumerate() {
        let mut wanted = wanted.clone();
        (wanted.isa, wanted.own_text) = (None, false);
        match replaced(unit, &reading, (how, recipes.vector_bytes), &wanted) {
            Ok(replaced) => {
                n_nests += 1;
                replacements.extend(replaced.parts);
            }
            Err(why) => {
                let name = format!("{}:{}", wanted.function, wanted.line);
                skipped.push(SkippedNest { id, name, why: why.to_string() });
            }
        }
    }
    replacements.sort_by_key(|(span, _)| span.start);
    let text = tuned_file(&unit.source, &replacements, &recipes.quiet);
    Checked { text, n_nests, skipped }
}

/// A file with every nest that can be read in it as it is, and every access in them checked.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn as_read(file: &Path, options: &Options) -> Result<Checked, Error> {
    let options = Options { file: file.to_owned(), ..options.clone() };
    let nests = NestFile::read(&options)?;
    let places = nests.places();
    let has_nests = |name: &String| places.iter().any(|place| nests.nest(*place).0.name == *name);
    // Functions are checked where they stand, and not where a loop that calls them would have their text.
    let stands_alone = |place: &NestPlace| {
        let (function, nest) = nests.nest(*place);
        !function.inlined.get(&nest.id).is_some_and(|inlined| inlined.iter().any(has_nests))
    };
    let alone: Vec<NestPlace> = places.iter().copied().filter(stands_alone).collect();
    let as_they_are = alone.into_iter().map(|place| (place, WrittenRecipe::default()));
    let mut recipes = nests.recipe_file(as_they_are);
    // Sums stay in their order: nothing is rearranged here.
    recipes.reassociate = false;
    // A nest inside another one's text is checked with that.
    Ok(with_recipes(nests.unit(), &options, &recipes))
}

/// What a run wrote of its checks: `kind|nest|array|at|from|to` in each line.
pub(super) fn findings(text: &str) -> Vec<BuildFinding> {
    text.lines().filter_map(finding).collect()
}

fn finding(line: &str) -> Option<BuildFinding> {
    let words: Vec<&str> = line.split('|').collect();
    let [kind, place, array, at, from, to] = words.as_slice() else { return None };
    let to: i64 = to.parse().ok()?;
    let message = match *kind {
        "index" => format!("index {at} of `{array}`, in a dimension of {to}"),
        "address" => {
            format!("element {at} of `{array}`, of which the nest as it was read uses {from} to {}", to - 1)
        }
        "alignment" => format!("`{array}` {at} bytes behind a multiple of {to}"),
        "nan" => format!("a result that is not a number, stored to `{array}`"),
        _ => return None,
    };
    Some(BuildFinding { kind: (*kind).to_owned(), place: (*place).to_owned(), message, in_original: false })
}

/// Whether two findings are the same thing done by two texts of a function: the nests may have moved, and the elements be
/// others.
pub(super) fn is_alike(a: &BuildFinding, b: &BuildFinding) -> bool {
    let function = |finding: &BuildFinding| finding.place.split(':').next().map(str::to_owned);
    let array = |finding: &BuildFinding| finding.message.split('`').nth(1).map(str::to_owned);
    a.kind == b.kind && function(a) == function(b) && array(a) == array(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_told_in_words() {
        let found = findings("index|f:3|x|21|0|21\naddress|f:3|y|-1|0|40\nnan|g:9|z|0|0|0\nnonsense\n");
        let messages: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "index 21 of `x`, in a dimension of 21",
                "element -1 of `y`, of which the nest as it was read uses 0 to 39",
                "a result that is not a number, stored to `z`"
            ]
        );
        assert!(is_alike(&found[0], &BuildFinding { place: "f:17".into(), ..found[0].clone() }));
        assert!(!is_alike(&found[0], &found[1]));
    }
}
