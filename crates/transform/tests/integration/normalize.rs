//! Normal forms compute what the original computes, are their own normal forms, and do not depend on how the nest was
//! written.
//!
//! `OXEYE_CASES=2000 OXEYE_SEED=7 cargo test -p oxeye-transform --release --test integration normalize` runs more and other cases.

use crate::common::{
    Outcome, cases, check_with, fault, forget_arrays, forget_scalars, replaced, whole_numbers,
};
use oxeye_ir::testing::{Random, Sample, Shape, random_program};
use oxeye_ir::{Nest, Node, Program, ScalarType, Storage, SymId};
use oxeye_transform::steps::Normalize;
use oxeye_transform::testing::{
    keeps_source_order, normalization_stages, random_recipe, random_single, random_spelling,
};
use oxeye_transform::{
    Applied, Policy, PreparedNest, Recipe, Rewrite, Transformation, apply, normalize, normalize_nest,
};
use std::collections::BTreeMap;

const STRICT: Policy = Policy { reassociate: false, finite: false };
const REASSOCIATE: Policy = Policy { reassociate: true, finite: false };

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
        let memory = sample.memory(seed).expect("every index is in its array");
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
        let mut memory = sample.memory(seed).expect("every index is in its array");
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

/// A product whose results stand in a small array until they are stored or added, over rows that are swept in some order.
fn tile_in_registers(seed: u64) -> Sample {
    let size = 2 + seed % 3;
    let (first, add) = match seed % 2 {
        0 => ("y[i][j]", ""),
        _ => ("0.0", "+"),
    };
    let program = Program::parse(&format!(
        "program p {{
           symbol P0 n: i32
           array A0 t: f64[{size}] body(L0)
           array A1 x: f64[n][n] param
           array A2 w: f64[n][{size}] param
           array A3 y: f64[n][{size}] param
           dataflow {{ N0 }}
           nest N0 in p {{
             for L0 i: i32 in 0 .. n {{
               for L1 j: i32 in 0 .. {size} {{ S0: t[j] = {first} }}
               for L2 k: i32 in 0 .. n {{
                 for L3 j: i32 in 0 .. {size} {{ S1: t[j] += x[i][k] * w[k][j] }}
               }}
               for L4 j: i32 in 0 .. {size} {{ S2: y[i][j] {add}= t[j] }}
             }}
           }}
         }}"
    ));
    Sample { program: program.expect("a program"), symbols: vec![(SymId(0), 1 + (seed % 7) as i64)] }
}

/// After every single pass the nest computes the same, and every kind of rewrite occurs in the test.
#[test]
fn each_rewrite_keeps_the_values() {
    let mut seen: BTreeMap<Rewrite, u32> = BTreeMap::new();
    for seed in cases(300) {
        let policy = if seed % 2 == 0 { STRICT } else { REASSOCIATE };
        let sample = match (seed % 4, seed % 20) {
            (_, 4 | 7) => tile_in_registers(seed),
            (0 | 1, _) => random_spelling(&mut Random::new(seed)),
            _ => sample(seed),
        };
        let Ok(mut memory) = sample.memory(seed) else { continue };
        if policy.reassociate {
            whole_numbers(&mut memory, seed);
        }
        let tolerance = if policy.reassociate { 1e-3 } else { 0.0 };
        for stage in normalization_stages(&sample.program, sample.nest(), policy) {
            assert!(policy.reassociate || !stage.rewrites.iter().any(|r| r.reassociates()), "seed {seed}");
            stage.rewrites.iter().for_each(|r| *seen.entry(*r).or_default() += 1);
            let applied = Applied { program: stage.program, nest: stage.nest, reassociated: false };
            if let Some(fault) = fault(&sample, &applied, &memory, tolerance) {
                let rewrites = stage.rewrites;
                panic!("seed {seed}, {rewrites:?}: {fault}\n{}\n{}", sample.program, replaced(&applied));
            }
        }
    }
    println!("{seen:?}");
    for rewrite in Rewrite::ALL {
        assert!(seen.get(&rewrite).is_some_and(|n| *n >= 5), "{rewrite:?} was seen too seldom: {seen:?}");
    }
}

/// After every single pass the nest keeps the dependences of the source under the map between their instances.
#[test]
fn each_pass_keeps_the_dependences_of_the_source() {
    let (mut n_mapped, mut n_all) = (0, 0);
    for seed in cases(100) {
        let policy = if seed % 2 == 0 { STRICT } else { REASSOCIATE };
        let sample = match (seed % 4, seed % 20) {
            (_, 4 | 7) => tile_in_registers(seed),
            (0 | 1, _) => random_spelling(&mut Random::new(seed)),
            _ => sample(seed),
        };
        let source = PreparedNest::new(&sample.program, sample.nest());
        let mut is_mapped = true;
        for stage in normalization_stages(&sample.program, sample.nest(), policy) {
            match keeps_source_order(&source, &stage, policy) {
                Ok(()) => {}
                Err(None) => is_mapped = false,
                Err(Some(why)) => {
                    let after = stage.nest.display(&stage.program);
                    panic!("seed {seed}, {:?}: {why}\n{}\n{after}", stage.rewrites, sample.program);
                }
            }
        }
        n_all += 1;
        n_mapped += usize::from(is_mapped);
    }
    println!("{n_mapped} of {n_all} nests have a map");
    assert!(n_mapped * 100 >= n_all * 95, "{n_mapped} of {n_all} nests have a map");
}

/// The nest after up to three legal steps that change no storage.
fn respelled(sample: &Sample, random: &mut Random) -> Option<(Program, Nest)> {
    let mut found = None;
    let (mut program, mut nest) = (sample.program.clone(), sample.nest().clone());
    for _ in 0..12 {
        let Some(step) = random_single(&program, &nest, random) else { continue };
        let plain = matches!(
            step,
            Transformation::Interchange(_)
                | Transformation::Fission(_)
                | Transformation::Fuse(_)
                | Transformation::Reorder(_)
                | Transformation::Reverse(_)
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

/// A random recipe for the normal form.
fn recipe_on_normal_form(sample: &Sample, policy: Policy, random: &mut Random) -> Recipe {
    let normal = normalize_nest(&sample.program, sample.nest(), policy);
    let mut recipe = random_recipe(&normal.program, &normal.nest, policy, 4, random);
    recipe.steps.insert(0, Transformation::Normalize(Normalize {}));
    recipe
}

#[test]
fn recipes_on_normal_forms_compute_the_same() {
    let mut n_same = 0;
    for seed in cases(100) {
        let mut sample = sample(seed);
        let mut random = Random::new(seed);
        forget_arrays(&mut sample, &mut random);
        let recipe = recipe_on_normal_form(&sample, STRICT, &mut random);
        let Ok(memory) = sample.memory(seed) else { continue };
        let outcome = check_with(&sample, &recipe, STRICT, &memory, 0.0, &format!("seed {seed}"));
        n_same += u32::from(matches!(outcome, Outcome::Same));
    }
    assert!(n_same > 60, "only {n_same} recipes apply");
}

/// The nest without the names of its iterators and the order of the terms in its bounds, if it has no temporaries.
fn nameless(applied: &Applied) -> Option<Vec<Node>> {
    fn go(nodes: &mut [Node]) {
        for node in nodes {
            match node {
                Node::Loop(l) => {
                    l.name.clear();
                    for bound in [&mut l.lower, &mut l.upper] {
                        bound.0.sort_by_cached_key(|t| format!("{t:?}"));
                    }
                }
                Node::Stmt(s) => s.line = None,
                Node::If { .. } => {}
            }
            node.bodies_mut().into_iter().for_each(|b| go(b));
        }
    }
    let is_plain = |id| !matches!(applied.program.array(id).storage, Storage::Temp(_));
    let mut roots = applied.nest.roots.clone();
    go(&mut roots);
    applied.nest.arrays().into_iter().all(is_plain).then_some(roots)
}

/// Where the normal forms of spellings are equal, a recipe for one has the same result on the others.
#[test]
fn recipes_for_one_spelling_fit_the_others() {
    let mut n_same = 0;
    for seed in cases(150) {
        let sample = sample(seed);
        let mut random = Random::new(!seed);
        let Some((program, nest)) = respelled(&sample, &mut random) else { continue };
        let original = normalize_nest(&sample.program, sample.nest(), STRICT);
        if original.text != normalize_nest(&program, &nest, STRICT).text {
            continue;
        }
        let recipe = recipe_on_normal_form(&sample, STRICT, &mut random);
        let one = apply(&sample.program, sample.nest(), &recipe, STRICT);
        let other = apply(&program, &nest, &recipe, STRICT);
        match (one, other) {
            (Ok(one), Ok(other)) => {
                if let (Some(a), Some(b)) = (nameless(&one), nameless(&other)) {
                    let text = format!("{}\n{}", replaced(&one), replaced(&other));
                    assert_eq!(a, b, "seed {seed}: {recipe}\n{text}");
                    n_same += 1;
                }
            }
            (Err(one), Err(other)) => assert_eq!(one.step, other.step, "seed {seed}: {one}; {other}"),
            (one, other) => panic!("seed {seed}: {recipe}: {:?}, {:?}", one.err(), other.err()),
        }
    }
    assert!(n_same > 30, "only {n_same} recipes were compared");
}

#[test]
fn a_normal_form_is_asked_for_at_the_start_only() {
    let sample = sample(1);
    let normalize = Transformation::Normalize(Normalize {});
    let only = Recipe { steps: vec![normalize.clone()] };
    assert!(apply(&sample.program, sample.nest(), &only, STRICT).is_ok());
    let twice = Recipe { steps: vec![normalize.clone(), normalize] };
    let refusal = apply(&sample.program, sample.nest(), &twice, STRICT).unwrap_err();
    assert_eq!((refusal.step, refusal.transformation.as_str()), (1, "normalize"));
    assert!(refusal.reason.contains("can only be the first step"), "{refusal}");
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
