use super::*;
use crate::nest::Fill;
use oxeye_ir::interpret::{Memory, Options, Value, run_nest};
use oxeye_ir::{Program, verify};
use std::collections::{BTreeMap, BTreeSet};

/// Sizes on which the interpreter is quick, by position rather than by name.
fn tiny(nest: &GeneratedNest, program: &Program) -> BTreeMap<String, i64> {
    let value = |(k, name): (usize, &String)| (name.clone(), nest.sizes[name].min(8 + k as i64 % 3));
    program.symbols.values().map(|s| &s.name).enumerate().map(value).collect()
}

/// Initial contents of the arrays, by order of declaration rather than by name.
fn memory(nest: &GeneratedNest, program: &Program) -> Memory {
    let sizes = tiny(nest, program);
    let mut memory = Memory::random(program, crate::nest::symbol_values(program, &sizes), 8, 7).unwrap();
    for array in program.arrays.values() {
        let Some(buffer) = memory.buffers.get_mut(&array.id) else { continue };
        let width = buffer.extents.last().copied().unwrap_or(1);
        for (position, value) in buffer.values.iter_mut().enumerate() {
            let Some(number) = value.map(Value::to_f64) else { continue };
            let float = |x: f64| match array.element {
                ScalarType::F32 => Value::F32(x as f32),
                _ => Value::F64(x),
            };
            *value = Some(match nest.fills.get(&array.name) {
                Some(Fill::Below(bound)) => Value::Int(number.abs() as i64 % sizes[bound]),
                Some(Fill::Dominant) if position / width == position % width => float(1.5 + 0.5 * number),
                Some(Fill::Dominant) => float(number.abs() / width as f64),
                _ if array.element.is_float() => float(0.55 + 0.45 * number),
                _ => Value::Int(number.abs() as i64),
            });
        }
    }
    memory
}

fn run(nest: &GeneratedNest) -> (Program, Memory) {
    let (program, body) = nest.parse().unwrap();
    let mut memory = memory(nest, &program);
    run_nest(&program, &body, &mut memory, Options::default())
        .unwrap_or_else(|e| panic!("{}: {e}\n{}", nest.id, nest.program));
    (program, memory)
}

#[test]
fn the_same_seed_gives_the_same_nests() {
    assert_eq!(generate(3, 40), generate(3, 40));
    assert_ne!(generate(3, 5), generate(4, 5));
    assert_eq!(generate(3, 20), generate(3, 40)[..20]);
}

#[test]
fn nests_are_valid_and_run() {
    for nest in generate(1, 200) {
        let (program, body) = nest.parse().unwrap();
        verify(&program).unwrap();
        assert_eq!(program.to_string(), nest.program);
        assert!(!body.loops().is_empty());
        let (_, memory) = run(&nest);
        let is_finite = |v: &Option<Value>| v.is_none_or(|v| v.to_f64().is_finite());
        assert!(memory.buffers.values().all(|b| b.values.iter().all(is_finite)), "{}", nest.program);
    }
}

#[test]
fn every_draw_is_a_program_in_every_spelling() {
    for family in Family::ALL {
        for draw in 0..30 {
            for order in 0..3 {
                let spelling =
                    Spelling { order, distributed: draw % 2 == 0, shift: 1, ..Spelling::default() };
                let written = write(family, &mut Rng::new(draw, 0), &spelling, ScalarType::F32);
                assert!(written.is_ok(), "{family} {draw}: {:?}", written.err());
            }
        }
    }
}

#[test]
fn spellings_compute_the_same() {
    let nests = generate(2, 250);
    let mut n_compared = 0;
    for pair in nests.windows(2).filter(|pair| pair[0].group == pair[1].group) {
        let ((program, first), (_, second)) = (run(&pair[0]), run(&pair[1]));
        assert_eq!(first.buffers.len(), second.buffers.len());
        let by_order = |m: &Memory| Memory { symbols: BTreeMap::new(), buffers: m.buffers.clone() };
        let difference = by_order(&first).difference(&by_order(&second), &program, 2e-3);
        assert_eq!(difference, None, "{}\n{}", pair[0].program, pair[1].program);
        n_compared += 1;
    }
    assert!(n_compared > 50, "{n_compared}");
}

#[test]
fn families_types_and_depths_are_all_there() {
    let nests = generate(5, 300);
    let families: BTreeSet<Family> = nests.iter().map(|n| n.family).collect();
    assert_eq!(families.len(), Family::ALL.len());
    assert!(
        nests.iter().any(|n| n.program.contains("f32")) && nests.iter().any(|n| n.program.contains("f64"))
    );
    let depth = |n: &GeneratedNest| {
        let mut deepest = 0;
        n.parse().unwrap().1.visit(&mut |path, _| deepest = deepest.max(path.len()));
        deepest
    };
    let depths: BTreeSet<usize> = nests.iter().map(depth).collect();
    assert_eq!(depths, (1..=5).collect());
    let mut first = nests.iter().filter(|n| n.id == n.group);
    assert!(first.all(|n| n.estimated_seconds < 0.2), "sizes keep runs short");
}
