//! Packed contractions of random products in small blocks compute what the original computes.

use crate::common::{Outcome, cases, check_with, whole_numbers};
use oxeye_ir::testing::Random;
use oxeye_transform::Policy;
use oxeye_transform::testing::random_product;

#[test]
fn random_products() {
    let mut accepted = [0, 0];
    let n = cases(500).end - cases(500).start;
    for seed in cases(500) {
        let mut random = Random::new(seed);
        let (sample, recipe) = random_product(&mut random);
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
    assert!(accepted[0] > n / 10 && accepted[1] > n / 5, "{accepted:?} of {n} accepted");
}
