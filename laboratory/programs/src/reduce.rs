//! A failing program made smaller: as few recipes and pieces as fail alike.

use crate::builds::Builds;
use crate::case::{Case, Failure, Unusable, Wrong, guarded};
use oxeye::{RecipeFile, rewrite};
use oxeye_frontend::Unit;
use std::path::Path;

/// The failure of a version, with one recipe and one piece if these are enough.
pub(crate) fn reduced(
    case: &Case<'_>,
    unit: &Unit,
    recipes: &RecipeFile,
    wrong: Wrong,
    builds: &Builds,
    keep: Option<&Path>,
) -> Result<Failure, Unusable> {
    let (mut recipes, mut wrong) = (recipes.clone(), wrong);
    let fails = |case: &Case<'_>, unit: &Unit, recipes: &RecipeFile, wrong: &Wrong| {
        let Ok(rewritten) = guarded(|| rewrite(unit, &case.options, recipes)) else { return Ok(None) };
        if rewritten.text == unit.source {
            return Ok(None);
        }
        case.check(&rewritten.text, &wrong.build, wrong.lengths, recipes.reassociate)
    };
    for nest in recipes.nests.clone() {
        let one = RecipeFile { nests: vec![nest], ..recipes.clone() };
        if let Some(still) = fails(case, unit, &one, &wrong)? {
            (recipes, wrong) = (one, still);
            break;
        }
    }
    // The piece of the function, alone.
    if let [only] = recipes.nests.as_slice() {
        let number = only.function.rsplit_once('_').and_then(|(_, number)| number.parse::<usize>().ok());
        let piece = case.program.pieces.iter().find(|piece| Some(piece.number) == number);
        if let Some(piece) = piece.filter(|_| case.program.pieces.len() > 1) {
            let small = case.program.with_pieces(vec![piece.clone()]);
            let folder = tempfile::tempdir()?;
            let openmp = case.options.args.iter().any(|arg| arg == "-fopenmp");
            let alone = Case::new(&small, folder.path(), builds, case.lengths(), openmp, 0)?;
            if let Ok(unit) = alone.read()
                && let Some(still) = fails(&alone, &unit, &recipes, &wrong)?
            {
                let text = rewrite(&unit, &alone.options, &recipes).text;
                return alone.failure(&words(&recipes, &still), &text, Some(&recipes), keep);
            }
        }
    }
    let text = rewrite(unit, &case.options, &recipes).text;
    case.failure(&words(&recipes, &wrong), &text, Some(&recipes), keep)
}

fn words(recipes: &RecipeFile, wrong: &Wrong) -> String {
    let nests: Vec<String> = recipes
        .nests
        .iter()
        .map(|nest| format!("  {}, line {}: {}", nest.function, nest.line, nest.name))
        .collect();
    format!("{}\n  built by {}\n{}", wrong.what, wrong.build.line(wrong.lengths), nests.join("\n"))
}
