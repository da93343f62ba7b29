//! One program: its originals, its rewritten versions, and whether they agree.

use crate::builds::{Builds, Lengths};
use crate::case::{Case, Failure, Unusable, guarded};
use crate::program::Program;
use crate::reduce::reduced;
use crate::rewritten::recipes;
use oxeye::{Misfit, RecipeFile, Rewritten, Unproved, rewrite};
use oxeye_frontend::{Severity, Unit};
use oxeye_random::Rng;
use std::collections::BTreeMap;
use std::path::Path;

/// Versions of a program, each with other recipes.
const VERSIONS: u64 = 3;

/// What came of a program.
#[derive(Clone, Debug, Default)]
pub struct Examined {
    /// What is wrong; nothing if all is well.
    pub failures: Vec<Failure>,
    /// How the functions of each piece were read, by its number.
    pub pieces: BTreeMap<usize, Reading>,
    /// Nests that were read.
    pub n_nests: usize,
    /// Blocks that stand in place of nests, over all versions.
    pub n_rewritten: usize,
    /// Versions that were built and run.
    pub n_versions: usize,
    /// Reasons for which recipes gave no text.
    pub not_rendered: Vec<String>,
    /// Builds that print something else for the original already.
    pub miscompiled: Vec<String>,
}

/// How the functions of a piece were read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Nests of its functions.
    pub n_nests: usize,
    /// How many of them were rewritten in some version.
    pub n_rewritten: usize,
    /// Loops that stay, with reasons.
    pub kept: Vec<String>,
}

/// Makes versions of a program and compares them with the original. What fails is made smaller and kept in `keep`.
///
/// # Errors
/// If the original is wrong itself, or nothing can be run.
pub fn examine(program: &Program, builds: &Builds, keep: Option<&Path>) -> Result<Examined, Unusable> {
    let work = tempfile::tempdir()?;
    let mut rng = Rng::new(program.seed, 500);
    let (read_with, other) = Lengths::pair(&mut rng);
    let openmp = rng.chance(0.6);
    let turn = rng.within(0, 5);
    let case = Case::new(program, work.path(), builds, [read_with, other], openmp, turn)?;
    let mut examined = Examined::default();
    let unit = match guarded(|| case.read()) {
        Ok(Ok(unit)) => unit,
        Ok(Err(error)) => {
            examined.failures.push(case.failure(
                &format!("is not read: {error}"),
                &case.source(),
                None,
                keep,
            )?);
            return Ok(examined);
        }
        Err(cause) => {
            let what = format!("the reader panicked: {cause}");
            examined.failures.push(case.failure(&what, &case.source(), None, keep)?);
            return Ok(examined);
        }
    };
    examined.readings(program, &unit);
    let mut rewritten_nests = std::collections::BTreeSet::new();
    for version in 0..VERSIONS {
        let made = guarded(|| {
            let recipes = recipes(&unit, &case.options, version, program.seed);
            let rewritten = rewrite(&unit, &case.options, &recipes);
            (recipes, rewritten)
        });
        let (recipes, Rewritten { text, refused, .. }) = match made {
            Ok(made) => made,
            Err(cause) => {
                let what = format!("making recipes panicked in version {version}: {cause}");
                examined.failures.push(case.failure(&what, &case.source(), None, keep)?);
                continue;
            }
        };
        for (idx, nest) in recipes.nests.iter().enumerate() {
            match refused.iter().find(|(position, _)| *position == idx) {
                None => {
                    rewritten_nests.insert((nest.function.clone(), nest.within.clone(), nest.ordinal));
                    examined.n_rewritten += 1;
                }
                Some((_, Misfit::Unproved { why: Unproved::Panicked(cause), .. })) => {
                    let what = format!("a nest of {} cannot be rewritten: {cause}", nest.function);
                    let one = RecipeFile { nests: vec![nest.clone()], ..recipes.clone() };
                    examined.failures.push(case.failure(&what, &case.source(), Some(&one), keep)?);
                }
                Some((_, why)) => examined.not_rendered.push(why.to_string()),
            }
        }
        if text == unit.source {
            continue;
        }
        examined.n_versions += 1;
        let turn = turn + version as usize;
        let tries = [
            (builds.sanitized(turn), [read_with, other][turn % 2]),
            (builds.fast(turn + 1), [read_with, other][(turn + 1) % 2]),
        ];
        for (build, lengths) in tries {
            let Some(wrong) = case.check(&text, &build, lengths, recipes.reassociate)? else { continue };
            if !case.is_own_fault(&build, lengths, recipes.reassociate)? {
                examined.miscompiled.push(format!("seed {}: {}", program.seed, build.line(lengths)));
                continue;
            }
            let failure = reduced(&case, &unit, &recipes, wrong, builds, keep)?;
            examined.failures.push(failure);
            break;
        }
    }
    for (function, _, _) in rewritten_nests {
        if let Some(reading) = number(&function).and_then(|k| examined.pieces.get_mut(&k)) {
            reading.n_rewritten += 1;
        }
    }
    Ok(examined)
}

/// The number of the piece that a function belongs to, unless it only calls the others.
fn number(function: &str) -> Option<usize> {
    let (name, number) = function.rsplit_once('_')?;
    (name != "run").then(|| number.parse().ok())?
}

impl Examined {
    fn readings(&mut self, program: &Program, unit: &Unit) {
        for piece in &program.pieces {
            self.pieces.insert(piece.number, Reading::default());
        }
        for function in &unit.functions {
            self.n_nests += function.program.nests.len();
            if let Some(reading) = number(&function.name).and_then(|k| self.pieces.get_mut(&k)) {
                reading.n_nests += function.program.nests.len();
            }
        }
        for diagnostic in unit.diagnostics.iter().filter(|d| d.severity != Severity::Note) {
            let function = diagnostic.function.as_deref().and_then(number);
            if let Some(reading) = function.and_then(|k| self.pieces.get_mut(&k)) {
                reading.kept.push(diagnostic.message.clone());
            }
        }
    }
}
