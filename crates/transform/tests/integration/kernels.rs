//! Every suggested recipe for textbook kernels computes what the kernel computes.

use crate::common::{Outcome, check_with, kernels};
use oxeye_ir::testing::Sample;
use oxeye_transform::{Machine, Policy, Suggestion, suggest};

/// Sizes below and above those of tiles and elimination blocks; only small ones for four-dimensional work.
fn sizes(name: &str) -> &'static [(i64, i64)] {
    match name {
        "doitgen" => &[(1, 0), (5, 0), (19, 0)],
        "cholesky" | "lu" => &[(1, 0), (9, 0), (67, 0)],
        "jacobi_1d" => &[(1, 3), (40, 37)],
        _ => &[(1, 2), (5, 9), (21, 10)],
    }
}

fn check_suggestions(reassociate: bool) {
    let machine = Machine { l1: 1 << 10, l2: 8 << 10, l3: 64 << 10, threads: 2, vector_bytes: 32 };
    let policy = Policy { reassociate, finite: false };
    let mut n_recipes = 0;
    for (name, program) in kernels() {
        oxeye_ir::verify(&program).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let found = suggest(&program, &program.nests[0], &machine, policy);
        assert!(!found.recipes.is_empty(), "{name}: nothing is proposed");
        for Suggestion { name: recipe_name, recipe, .. } in &found.recipes {
            for (n, m) in sizes(&name) {
                let symbols = program.symbols.keys().copied().zip([*n, *m]).collect();
                let sample = Sample { program: program.clone(), symbols };
                let memory = sample.memory(3).unwrap();
                let tolerance = if reassociate { 1e-7 } else { 0.0 };
                let what = format!("{name}, n = {n}, `{recipe_name}`");
                match check_with(&sample, recipe, policy, &memory, tolerance, &what) {
                    Outcome::Same => {}
                    Outcome::Refused(refusal) => panic!("{what}: refused: {refusal}"),
                }
            }
            n_recipes += 1;
        }
    }
    assert!(n_recipes > 100, "{n_recipes}");
}

#[test]
fn strict() {
    check_suggestions(false);
}

#[test]
fn reassociate() {
    check_suggestions(true);
}
