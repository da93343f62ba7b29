//! Whatever `apply` accepts computes what the original computes: random nests, random recipes, concurrent loops visited
//! in several orders.
//!
//! `OXEYE_CASES=5000 OXEYE_SEED=7 cargo test -p oxeye-transform --release --test integration same_memory` runs more and other
//! cases.

use crate::common::{Outcome, cases, check, forget_scalars};
use oxeye_ir::ScalarType;
use oxeye_ir::testing::{Random, Shape, random_program};
use oxeye_transform::testing::{random_product, random_recipe};
use oxeye_transform::{Machine, Policy, PreparedNest, Recipe, Suggestion, suggest};

const STRICT: Policy = Policy { reassociate: false, finite: false };
const REASSOCIATE: Policy = Policy { reassociate: true, finite: false };

/// Integers give the same bits in every order of sums and products; floating point under the strict policy must too.
fn shapes() -> Vec<(Shape, Policy)> {
    let integers = Shape { element: ScalarType::I64, ..Shape::default() };
    let deep = Shape { max_depth: 4, max_stmts: 3, ..integers.clone() };
    let plain = Shape { has_guards: false, has_combined_bounds: false, has_steps: false, ..integers.clone() };
    vec![
        (integers.clone(), STRICT),
        (Shape::default(), STRICT),
        (Shape { has_data_dependence: true, ..integers }, REASSOCIATE),
        (Shape { has_data_dependence: true, element: ScalarType::F32, ..Shape::default() }, STRICT),
        (deep.clone(), STRICT),
        (plain, STRICT),
        (Shape { has_quotients: true, ..deep }, STRICT),
    ]
}

#[test]
fn random_recipes() {
    let shapes = shapes();
    let (mut n_accepted, mut n_refused) = (0, 0);
    for seed in cases(300) {
        let (shape, policy) = &shapes[(seed % shapes.len() as u64) as usize];
        let mut sample = random_program(seed, shape);
        if seed % 5 < 3 {
            forget_scalars(&mut sample);
        }
        let mut random = Random::new(!seed);
        let recipe = random_recipe(&sample.program, sample.nest(), *policy, 5, &mut random);
        match check(&sample, &recipe, *policy, seed) {
            Outcome::Same => n_accepted += 1,
            Outcome::Refused(refusal) => {
                println!("seed {seed}: {refusal}");
                n_refused += 1;
            }
        }
    }
    println!("{n_accepted} accepted, {n_refused} refused");
    assert!(n_accepted > 2 * n_refused, "{n_accepted} accepted, {n_refused} refused");
}

/// The judge keeps what it has found about a nest; that changes no answer.
#[test]
fn answers_do_not_depend_on_what_was_asked_before() {
    let shapes = shapes();
    let (mut n_accepted, mut n_refused) = (0, 0);
    for seed in cases(60) {
        let (shape, _) = &shapes[(seed % shapes.len() as u64) as usize];
        let mut sample = random_program(seed, shape);
        if seed % 5 < 3 {
            forget_scalars(&mut sample);
        }
        let shared = PreparedNest::new(&sample.program, sample.nest());
        let mut random = Random::new(!seed);
        for k in 0..12 {
            let policy = if k % 2 == 0 { STRICT } else { REASSOCIATE };
            let recipe = random_recipe(&sample.program, sample.nest(), policy, 5, &mut random);
            let alone = PreparedNest::new(&sample.program, sample.nest()).apply(&recipe, policy);
            match (shared.apply(&recipe, policy), alone) {
                (Ok(after), Ok(alone)) => {
                    n_accepted += 1;
                    assert_eq!(
                        (after.nest, after.reassociated),
                        (alone.nest, alone.reassociated),
                        "seed {seed}"
                    );
                }
                (Err(after), Err(alone)) => {
                    n_refused += 1;
                    assert_eq!(after, alone, "seed {seed}");
                }
                (after, alone) => {
                    panic!("seed {seed}: {recipe:?} is accepted {} and {}", after.is_ok(), alone.is_ok())
                }
            }
        }
    }
    assert!(n_accepted > 50 && n_refused > 10, "{n_accepted} accepted, {n_refused} refused");
}

#[test]
fn suggestions() {
    let machine = Machine { l1: 1 << 10, l2: 4 << 10, l3: 16 << 10, threads: 2, vector_bytes: 32 };
    let shapes = shapes();
    let mut n_recipes = 0;
    for seed in cases(40) {
        let (shape, policy) = &shapes[(seed % shapes.len() as u64) as usize];
        let mut sample = random_program(seed, shape);
        if seed % 5 < 3 {
            forget_scalars(&mut sample);
        }
        for Suggestion { name, recipe, .. } in
            suggest(&sample.program, sample.nest(), &machine, *policy).recipes
        {
            if let Outcome::Refused(reason) = check(&sample, &recipe, *policy, seed) {
                // Legal, but not expressible as loops.
                println!("seed {seed}: suggestion `{name}` was refused: {reason}");
            }
            n_recipes += 1;
        }
    }
    assert!(n_recipes > 40);
}

#[test]
fn recipes_round_trip() {
    for seed in cases(200) {
        let mut random = Random::new(seed);
        let recipe = if seed % 4 == 0 {
            random_product(&mut random).1
        } else {
            let sample = random_program(seed, &Shape::default());
            random_recipe(&sample.program, sample.nest(), STRICT, 6, &mut random)
        };
        let json = serde_json::to_string(&recipe).unwrap();
        assert_eq!(serde_json::from_str::<Recipe>(&json).unwrap(), recipe, "{json}");
        let text = recipe.to_string();
        assert_eq!(text.parse(), Ok(recipe), "{text}");
    }
}
