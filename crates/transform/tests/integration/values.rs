//! Steps that rewrite a nest for its values, on random nests: the same results whatever the values are.

use crate::common::{Outcome, cases, check_with};
use oxeye_ir::interpret::{Memory, Value};
use oxeye_ir::testing::{Random, Sample, Shape, random_program};
use oxeye_ir::{ArrayId, LoopId, Program, ScalarType};
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

/// A loop over `j` that adds products of elements of `a`, which other loops may reach again, with ranges that shrink or grow.
fn random_products(random: &mut Random) -> String {
    let element = ["f64", "f32", "i32"][random.below(3)];
    let (has_rows, has_inner) = (random.chance(60), random.chance(30));
    let row = if has_rows { "[p]" } else { "" };
    let rows = if has_rows { "[np]" } else { "" };
    let mut text = String::from(
        "program products {\nsymbol P0 np: i32\nsymbol P1 ni: i32\nsymbol P2 nk: i32\nsymbol P3 nj: i32\n",
    );
    text += &format!("array A0 a: {element}{rows}[nj] param\narray A1 b: {element}[ni] param\n");
    text +=
        &format!("array A2 c: {element}[ni][nj] param\narray A3 d: {element}[nj] param\ndataflow {{ N0 }}\n");
    text += "nest N0 in products {\n";
    let mut n_open = 2;
    let mut open = |line: String, text: &mut String| {
        *text += &format!("{line} {{\n");
        n_open += 1;
    };
    if has_rows {
        open("for L0 p: i32 in 0 .. np".into(), &mut text);
    }
    let step = ["", "", "", " step -1", " step 2"][random.below(5)];
    open(format!("for L1 i: i32 in 0 .. ni{step}"), &mut text);
    if random.chance(40) {
        open("if b[i] != 0".into(), &mut text);
    }
    if has_inner {
        open("for L2 k: i32 in 0 .. nk".into(), &mut text);
    }
    let pick = |random: &mut Random, all: &[&str]| -> String {
        let known = |term: &&&str| (has_rows || !term.contains('p')) && (has_inner || !term.contains('k'));
        let all: Vec<&&str> = all.iter().filter(known).collect();
        (**all[random.below(all.len())]).to_owned()
    };
    let lower = pick(random, &["0", "0", "i", "i + 1", "2*i", "k", "p", "max(0, i - 1)"]);
    let upper = pick(random, &["nj", "nj", "nj - i", "nj - k", "min(nj, i + 1)", "min(nj, p + 2)"]);
    let counter = ["i32", "i32", "i64", "u32", "u64"][random.below(5)];
    open(format!("for L3 j: {counter} in {lower} .. {upper}"), &mut text);
    text += &format!("S0: c[i][j] {} b[i] * a{row}[j]\n", ["+=", "-="][random.below(2)]);
    if random.chance(40) {
        text += &format!("S1: d[j] += a{row}[j]\n");
    }
    text + &"}".repeat(n_open)
}

#[test]
fn loops_over_what_is_not_zero_compute_the_same() {
    let (mut n_same, mut n_refused) = (0, 0);
    for seed in cases(600) {
        let mut random = Random::new(seed);
        let text = random_products(&mut random);
        let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut symbols: Vec<_> = program.symbols.keys().copied().map(|id| (id, 0)).collect();
        symbols.iter_mut().for_each(|(_, value)| *value = random.between(0, 6));
        let sample = Sample { program, symbols };
        let Ok(mut memory) = sample.memory(seed) else { continue };
        // Zeros, some of which decide what is reached.
        for array in [ArrayId(0), ArrayId(1)] {
            let percent = [0, 50, 90, 100][random.below(4)];
            let Some(buffer) = memory.buffers.get_mut(&array) else { continue };
            for value in &mut buffer.values {
                if random.chance(percent) {
                    *value = Some(value_of(buffer.element, if random.chance(50) { 0.0 } else { -0.0 }));
                }
            }
        }
        let policy = if random.chance(30) { STRICT } else { FINITE };
        let first = steps::CompactZeros { at: LoopId(3), array: ArrayId(0) }.into();
        let first = Recipe { steps: vec![first] };
        let prepared = PreparedNest::new(&sample.program, sample.nest());
        let Ok(rewritten) = prepared.rewritten(&first, policy) else {
            n_refused += 1;
            continue;
        };
        let inner = rewritten.prepared();
        let more = random_recipe(inner.program(), inner.nest(), policy, 2, &mut random);
        for recipe in [first.clone(), Recipe { steps: [first.steps, more.steps].concat() }] {
            let same = check_with(&sample, &recipe, policy, &memory, 1e-12, &format!("seed {seed}\n{text}"));
            n_same += u32::from(matches!(same, Outcome::Same));
        }
    }
    assert!(n_same > 200 && n_refused > 100, "{n_same} compared, {n_refused} refused");
}
