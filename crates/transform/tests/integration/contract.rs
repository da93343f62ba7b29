//! Packed contractions of random products in small blocks compute what the original computes.

use crate::common::{Outcome, cases, check_with, whole_numbers};
use oxeye_ir::testing::{Random, Sample};
use oxeye_transform::Policy;
use oxeye_transform::Recipe;
use oxeye_transform::testing::{random_product, random_tensor_product};

#[test]
fn random_products() {
    let [strict, reassociated] = accepted(random_product);
    assert!(strict > 10 && reassociated > 20, "{strict} and {reassociated} of 100 accepted");
}

#[test]
fn random_tensor_products() {
    let [strict, reassociated] = accepted(random_tensor_product);
    assert!(strict > 10 && reassociated > 20, "{strict} and {reassociated} of 100 accepted");
}

/// Of a hundred random contractions, how many are legal without and with reassociation; all of those give what the
/// original gives.
fn accepted(sample: impl Fn(&mut Random) -> (Sample, Recipe)) -> [u64; 2] {
    let mut accepted = [0, 0];
    let n = cases(500).end - cases(500).start;
    for seed in cases(500) {
        let mut random = Random::new(seed);
        let (sample, recipe) = sample(&mut random);
        let reassociate = random.chance(60);
        // Without reassociation, the same bits for any data; with it, for data whose sums are exact.
        let mut memory = sample.memory(seed).unwrap();
        if reassociate {
            whole_numbers(&mut memory, seed);
        }
        let policy = Policy { reassociate, finite: false };
        let tolerance = if reassociate { 1e-12 } else { 0.0 };
        match check_with(&sample, &recipe, policy, &memory, tolerance, &format!("seed {seed}")) {
            Outcome::Same => accepted[usize::from(reassociate)] += 1,
            Outcome::Refused(refusal) => println!("seed {seed}: {refusal}"),
        }
    }
    println!("{accepted:?} of {n} accepted");
    accepted.map(|accepted| accepted * 100 / n)
}
