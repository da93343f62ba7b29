//! Steps that rewrite a nest for its values, on random nests: the same results whatever the values are.

use crate::common::{Outcome, cases, check_with};
use oxeye_ir::interpret::{Memory, Value};
use oxeye_ir::testing::{Random, Sample, Shape, random_program};
use oxeye_ir::{ArrayId, ScalarType};
use oxeye_transform::testing::random_recipe;
use oxeye_transform::{Policy, PreparedNest, Recipe, Transformation, steps};
use std::collections::BTreeMap;

const STRICT: Policy = Policy { reassociate: false, finite: false };
const FINITE: Policy = Policy { reassociate: false, finite: true };

/// Every step that can be written for the nest.
fn all_steps(sample: &Sample, value: &str) -> Vec<Transformation> {
    let nest = sample.nest();
    let mut all: Vec<Transformation> = Vec::new();
    for array in nest.arrays() {
        let value = value.parse().expect("a number");
        all.push(steps::Specialise { array, value }.into());
        all.push(steps::GuardZeros { array }.into());
        all.extend(nest.loops().iter().map(|l| steps::SplitZeros { at: l.id, array }.into()));
    }
    all.extend(nest.stmts().iter().map(|s| steps::DropStore { stmt: s.id }.into()));
    all
}

/// An element's value.
fn value_of(element: ScalarType, number: f64) -> Value {
    match element {
        ScalarType::F32 => Value::F32(number as f32),
        ScalarType::F64 => Value::F64(number),
        _ => Value::Int(number as i64),
    }
}

/// The memory with one value in a part of an array.
fn planted(memory: &Memory, array: ArrayId, number: f64, part: usize) -> Memory {
    let mut memory = memory.clone();
    if let Some(buffer) = memory.buffers.get_mut(&array) {
        let (n, element) = (buffer.values.len(), buffer.element);
        buffer.values[n / part / 2..n - n / part / 2].fill(Some(value_of(element, number)));
    }
    memory
}

fn array_of(step: &Transformation) -> Option<ArrayId> {
    match step {
        Transformation::Specialise(step) => Some(step.array),
        Transformation::SplitZeros(step) => Some(step.array),
        Transformation::GuardZeros(step) => Some(step.array),
        _ => None,
    }
}

#[test]
fn rewritten_nests_compute_the_same_whatever_the_values_are() {
    let mut counts: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for seed in cases(500) {
        let shape = Shape {
            has_data_dependence: seed % 3 == 0,
            has_quotients: seed % 5 == 0,
            element: if seed % 4 == 0 { ScalarType::I32 } else { ScalarType::F64 },
            ..Shape::default()
        };
        let sample = random_program(seed, &shape);
        let mut random = Random::new(!seed);
        let value = ["0", "1", "3"][random.below(3)];
        let memory = sample.memory(seed).expect("memory");
        for step in all_steps(&sample, value) {
            let name = step.name();
            let array = array_of(&step);
            let policy = if random.chance(50) { STRICT } else { FINITE };
            let first = Recipe { steps: vec![step] };
            let prepared = PreparedNest::new(&sample.program, sample.nest());
            let count = counts.entry(name).or_default();
            let Ok(rewritten) = prepared.rewritten(&first, policy) else {
                count.1 += 1;
                continue;
            };
            let inner = rewritten.prepared();
            let more = random_recipe(inner.program(), inner.nest(), policy, 2, &mut random);
            let number: f64 = value.parse().expect("a number");
            let mut memories = vec![memory.clone()];
            if let Some(array) = array {
                memories.push(planted(&memory, array, number, usize::MAX));
                memories.push(planted(&memory, array, 0.0, 4));
                memories.push(planted(&memory, array, -0.0, usize::MAX));
            }
            let recipes = [first.clone(), Recipe { steps: [first.steps, more.steps].concat() }];
            for recipe in recipes {
                for memory in &memories {
                    let tolerance = if policy.finite { 1e-12 } else { 0.0 };
                    let what = format!("seed {seed}");
                    if let Outcome::Same = check_with(&sample, &recipe, policy, memory, tolerance, &what) {
                        count.0 += 1;
                    }
                }
            }
        }
    }
    println!("step: runs compared, refused\n{counts:#?}");
    for step in ["specialise", "split_zeros", "guard_zeros", "drop_store"] {
        assert!(counts.get(step).is_some_and(|(same, _)| *same > 20), "too few of {step}: {counts:?}");
    }
}
