//! Normal forms compute what the original computes, are their own normal forms, and do not depend on how the nest was
//! written.
//!
//! `OXEYE_CASES=2000 OXEYE_SEED=7 cargo test -p oxeye-transform --release --test normalize` looks longer and elsewhere.

mod common;

use common::{cases, fault, forget_scalars, replaced, whole_numbers};
use oxeye_ir::testing::{Random, Sample, Shape, random_program};
use oxeye_ir::{Nest, Program, ScalarType};
use oxeye_transform::testing::random_single;
use oxeye_transform::{Applied, Policy, Recipe, Transformation, apply, normalize, normalize_nest};

const STRICT: Policy = Policy { reassociate: false };
const REASSOCIATE: Policy = Policy { reassociate: true };

fn sample(seed: u64) -> Sample {
    let plain = Shape { has_guards: false, has_combined_bounds: false, has_steps: false, ..Shape::default() };
    let shapes = [
        Shape::default(),
        plain,
        Shape { element: ScalarType::I64, has_data_dependence: true, ..Shape::default() },
        Shape { element: ScalarType::F32, max_stmts: 3, ..Shape::default() },
    ];
    let mut sample = random_program(seed, &shapes[(seed % shapes.len() as u64) as usize]);
    if seed % 5 < 3 {
        forget_scalars(&mut sample);
    }
    sample
}

fn normal(sample: &Sample, policy: Policy) -> Applied {
    let normal = normalize_nest(&sample.program, sample.nest(), policy);
    Applied { program: normal.program, nest: normal.nest, reassociated: normal.reassociated }
}

#[test]
fn strict_normal_forms_give_the_same_bits() {
    for seed in cases(150) {
        let sample = sample(seed);
        let applied = normal(&sample, STRICT);
        let Ok(memory) = sample.memory(seed) else { continue };
        if let Some(fault) = fault(&sample, &applied, &memory, 0.0) {
            panic!("seed {seed}: {fault}\n{}\n{}", sample.program, replaced(&applied));
        }
    }
}

#[test]
fn reassociated_normal_forms_give_the_same_sums() {
    for seed in cases(100) {
        let sample = sample(seed);
        let applied = normal(&sample, REASSOCIATE);
        let Ok(mut memory) = sample.memory(seed) else { continue };
        whole_numbers(&mut memory, seed);
        if let Some(fault) = fault(&sample, &applied, &memory, 1e-3) {
            panic!("seed {seed}: {fault}\n{}\n{}", sample.program, replaced(&applied));
        }
    }
}

#[test]
fn normal_forms_are_their_own() {
    let (mut n_equal, mut n_all) = (0, 0);
    for seed in cases(100) {
        let sample = sample(seed);
        let once = normalize_nest(&sample.program, sample.nest(), STRICT);
        let twice = normalize_nest(&once.program, &once.nest, STRICT);
        n_all += 1;
        if once.text == twice.text {
            n_equal += 1;
        } else {
            println!("seed {seed}:\n{}\n{}", once.text, twice.text);
        }
    }
    println!("{n_equal} of {n_all} are their own normal form");
    assert!(n_equal * 100 >= n_all * 97, "{n_equal} of {n_all} are their own normal form");
}

/// The nest after up to three legal steps that change no storage.
fn respelled(sample: &Sample, random: &mut Random) -> Option<(Program, Nest)> {
    let mut found = None;
    let (mut program, mut nest) = (sample.program.clone(), sample.nest().clone());
    for _ in 0..12 {
        let Some(step) = random_single(&program, &nest, random) else { continue };
        let plain = matches!(
            step,
            Transformation::Interchange { .. }
                | Transformation::Distribute { .. }
                | Transformation::Fuse { .. }
                | Transformation::Reorder { .. }
                | Transformation::Reverse { .. }
        );
        if !plain {
            continue;
        }
        if let Ok(applied) = apply(&program, &nest, &Recipe { steps: vec![step] }, STRICT) {
            program = replaced(&applied);
            nest = applied.nest;
            found = Some((program.clone(), nest.clone()));
        }
    }
    found
}

#[test]
fn spellings_meet() {
    let (mut n_equal, mut n_all) = (0, 0);
    for seed in cases(120) {
        let sample = sample(seed);
        let Some((program, nest)) = respelled(&sample, &mut Random::new(!seed)) else { continue };
        let original = normalize_nest(&sample.program, sample.nest(), STRICT);
        let other = normalize_nest(&program, &nest, STRICT);
        n_all += 1;
        if original.text == other.text {
            n_equal += 1;
        } else {
            println!("seed {seed}:\n{}\n{}\n{}", sample.program, original.text, other.text);
        }
    }
    println!("{n_equal} of {n_all} spellings meet");
    assert!(n_all > 50 && n_equal * 100 >= n_all * 60, "{n_equal} of {n_all} spellings meet");
}

#[test]
fn names_do_not_matter() {
    for seed in cases(60) {
        let sample = sample(seed);
        let mut other = sample.program.clone();
        other.arrays.values_mut().for_each(|a| a.name = format!("other_{}", a.id.0));
        other.symbols.values_mut().for_each(|s| s.name = format!("size_{}", s.id.0));
        other.arrays.reverse();
        let (a, b) = (normalize(&sample.program, STRICT), normalize(&other, STRICT));
        assert_eq!(a.text, b.text, "seed {seed}");
        assert_eq!(a.hash, b.hash);
    }
}
