//! Recipes of a file's nests, saved so that they can be applied again.

use super::compiler::Compiler;
use oxeye_codegen::SizeGuard;
use oxeye_transform::WrittenRecipe;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of the file's form.
pub const RECIPE_SCHEMA: &str = "oxeye.recipe/1";

/// Name and version of the form of reports, which have a recipe file in them.
pub const REPORT_SCHEMA: &str = "oxeye.report/1";

/// What a tuning run decided, complete enough to do it again byte for byte without measuring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecipeFile {
    /// [`RECIPE_SCHEMA`].
    pub schema: String,
    /// The compiler and flags the file was read with.
    pub compiler: Compiler,
    /// Threads of the emitted code; 1 means no OpenMP.
    pub threads: u32,
    /// Whether floating-point sums may be reordered.
    pub reassociate: bool,
    /// The user's word that pointer parameters never overlap.
    pub no_alias: bool,
    /// Whether loops that threads share keep the order of their sums (`--fp strict`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_order: bool,
    /// Whether the file was read with OpenMP directives on that the compiler's flags leave off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub directives: bool,
    /// Warnings, such as `sign-conversion`, that are switched off in the emitted code, since they are errors for the user's
    /// compiler.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quiet: Vec<String>,
    /// Bytes of the vectors that the build used for which the recipes were found. Nests with wider ones than every processor
    /// has are for builds with as wide ones; elsewhere the original text is compiled. `None` asks for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector_bytes: Option<u32>,
    /// The machine on which the recipes were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// One entry a rewritten nest, in the order of the file.
    pub nests: Vec<NestRecipe>,
}

/// The recipe of one nest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NestRecipe {
    /// Function the nest stands in.
    pub function: String,
    /// Which nest of that function, from 0; of the nests inside the innermost one of `within`, if there are any. For a group, calls of
    /// functions that have loops count as well.
    pub ordinal: usize,
    /// The nests around it that are taken as control around nests of their own, outermost first, each by its ordinal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<usize>,
    /// How many nests and calls behind it are one with it, if it is a group.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub joined: usize,
    /// Its first line when the recipe was found; for people.
    pub line: u32,
    /// Name of the recipe.
    pub name: String,
    /// Threads of its code where they are fewer than the file's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// The sizes from which its code and its threads are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<Guard>,
    /// Sizes that its code is for one value of.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub known: BTreeMap<String, i64>,
    /// Instructions that its code uses where the processor has them: `avx2`, `avx2-fma` or `avx512`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isa: Option<String>,
    /// Whether what uses them is the nest's own text, as it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_text: bool,
    /// Arrays of which the rows, behind pointers, are not evenly spaced: each row is reached through its pointer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uneven: Vec<String>,
    /// Its steps. People may call loops by their names in the source; what Oxeye writes has ids.
    pub recipe: WrittenRecipe,
}

/// From which sizes on the code of a recipe is used: products of the extents of the nest's loops, as they stand in the
/// emitted code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Guard {
    /// Below this, the original text runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<f64>,
    /// Below this, one thread runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<f64>,
    /// Where an extent is below this, in the order of the extents, the original text runs; 0 asks for nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extents: Vec<u32>,
    /// Without OpenMP, the original text runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub openmp: bool,
}

impl Guard {
    /// The guard as a recipe file has it: nothing if it asks for nothing.
    pub(crate) fn of(guard: SizeGuard) -> Option<Self> {
        let SizeGuard { least, threads, extents, openmp } = guard;
        let n_extents = guard.lengths().last().map_or(0, |(last, _)| last + 1);
        (guard != SizeGuard::default()).then(|| Self {
            least,
            threads,
            extents: extents[..n_extents].to_vec(),
            openmp,
        })
    }

    /// The guard as it is rendered. Numbers that are none are as if they were not there.
    pub(crate) fn rendered(&self) -> SizeGuard {
        let positive = |value: Option<f64>| value.filter(|value| value.is_finite() && *value > 0.0);
        let mut extents = [0; SizeGuard::EXTENTS];
        extents.iter_mut().zip(&self.extents).for_each(|(to, from)| *to = *from);
        SizeGuard {
            least: positive(self.least),
            threads: positive(self.threads),
            extents,
            openmp: self.openmp,
        }
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl RecipeFile {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_file_comes_back_as_it_was() {
        let file = RecipeFile {
            schema: RECIPE_SCHEMA.into(),
            compiler: Compiler::default(),
            threads: 2,
            reassociate: true,
            no_alias: false,
            keeps_order: false,
            directives: false,
            quiet: vec!["shadow".into()],
            vector_bytes: Some(64),
            machine: Some("a machine, 2 threads".into()),
            nests: vec![NestRecipe {
                function: "f".into(),
                ordinal: 1,
                within: vec![0, 2],
                joined: 1,
                line: 7,
                name: "mine".into(),
                threads: Some(1),
                guard: Some(Guard { least: Some(2e6), threads: None, extents: vec![0, 9], openmp: true }),
                known: [("r".into(), 5)].into(),
                isa: Some("avx2".into()),
                own_text: false,
                uneven: vec!["u".into()],
                recipe: serde_json::from_str(r#"[{"step":"vectorize","at":3}]"#).expect("a recipe"),
            }],
        };
        assert_eq!(serde_json::from_str::<RecipeFile>(&file.to_json()).expect("read"), file);
    }
}
