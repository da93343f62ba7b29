//! Random loops that hand arrays to each other, in overlapped tiles: the same results, at all sizes.

use crate::common::{Outcome, cases, check_with};
use oxeye_ir::testing::Random;
use oxeye_ir::{LoopId, Node, Program};
use oxeye_transform::templates::{shares_parts_of_tiles, suggest_overlaps};
use oxeye_transform::testing::{random_overlap, random_recipe, random_stages};
use oxeye_transform::{Machine, Policy, PreparedNest, Recipe, steps, suggest_for};

const STRICT: Policy = Policy { reassociate: false, finite: false };

#[test]
fn loops_in_overlapped_tiles_compute_the_same() {
    let (mut n_same, mut n_scheduled, mut n_shared, mut n_inside) = (0, 0, 0, 0);
    let mut refused: std::collections::BTreeMap<String, u32> = Default::default();
    for seed in cases(500) {
        let mut random = Random::new(seed);
        let sample = random_stages(&mut random);
        let memory = sample.memory(seed).expect("memory");
        let prepared = PreparedNest::new(&sample.program, sample.nest());
        for _ in 0..3 {
            let first = Recipe { steps: vec![random_overlap(sample.nest(), &mut random).into()] };
            let what = format!("seed {seed}");
            match check_with(&sample, &first, STRICT, &memory, 0.0, &what) {
                Outcome::Same => n_same += 1,
                Outcome::Refused(refusal) => {
                    let reason: String = refusal.reason.split('`').step_by(2).collect();
                    *refused.entry(reason).or_default() += 1;
                    continue;
                }
            }
            let rewritten = prepared.rewritten(&first, STRICT).expect("it was applied");
            let inner = rewritten.prepared();
            let loops = inner.nest().loops();
            let tiles = loops.into_iter().find(|l| l.name == "it").expect("tiles").id;
            n_inside += u32::from(
                inner.nest().roots.iter().any(|root| matches!(root, Node::Loop(l) if l.name == "h")),
            );
            let share = steps::Parallelize { at: tiles, sharing: oxeye_ir::WorkSharing::Static };
            let shared = Recipe { steps: [first.steps.clone(), vec![share.into()]].concat() };
            if let Outcome::Same = check_with(&sample, &shared, STRICT, &memory, 0.0, &what) {
                n_shared += 1;
            }
            let more = random_recipe(inner.program(), inner.nest(), STRICT, 2, &mut random);
            let further = Recipe { steps: [first.steps, more.steps].concat() };
            if let Outcome::Same = check_with(&sample, &further, STRICT, &memory, 0.0, &what) {
                n_scheduled += 1;
            }
        }
    }
    println!(
        "{n_same} the same, {n_inside} in a loop, {n_shared} shared, {n_scheduled} with other steps\nrefused: {refused:#?}"
    );
    assert!(n_same > 300 && n_shared > 200 && n_scheduled > 150, "{n_same}, {n_shared}, {n_scheduled}");
    assert!(n_inside > 100, "{n_inside}");
    assert!(refused.values().sum::<u32>() > 100, "{refused:?}");
}

/// Two groups of loops behind each other, with a sum over everything between them, in a loop or not.
fn two_groups(columns: &str, is_inside: bool) -> Program {
    let (begin, end) = if is_inside { ("for L10 t: i32 in 0 .. 10 {", "}") } else { ("", "") };
    let stage = |k: usize, l: usize, value: &str| {
        format!(
            "for L{} i: i32 in {k} .. n - {k} {{ for L{} j: i32 in {k} .. {columns} - {k} {{ S{l}: {value} }} }}",
            2 * l,
            2 * l + 1
        )
    };
    let array =
        |id: usize, name: &str, storage: &str| format!("array A{id} {name}: f32[n][{columns}] {storage}");
    let text = format!(
        "program p {{
           symbol P0 n: i32
           symbol P1 m: i32
           {} {} {} {} array A4 s: f32 param
           dataflow {{ N0 }}
           nest N0 in p {{ {begin} {} {} {} {} {} {end} }}
         }}",
        array(0, "a", "param"),
        array(1, "x", "local"),
        array(2, "y", "local"),
        array(3, "c", "param"),
        stage(0, 0, "x[i][j] = a[i][j] * a[i][j]"),
        stage(1, 1, "s += x[i - 1][j] * x[i + 1][j]"),
        stage(0, 2, "a[i][j] *= s"),
        stage(0, 3, "y[i][j] = a[i][j] * a[i][j]"),
        stage(1, 4, "c[i][j] = y[i - 1][j] + y[i][j + 1]"),
    );
    text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn tiles_are_suggested_that_fit_the_caches() {
    let machine = Machine { l1: 48 << 10, l2: 1 << 20, l3: 32 << 20, threads: 2, vector_bytes: 64 };
    let mut text = String::new();
    for (columns, is_inside) in [("m", false), ("1000", false), ("100000", false), ("1000", true)] {
        let program = two_groups(columns, is_inside);
        let prepared = PreparedNest::new(&program, &program.nests[0]);
        text += &format!("rows of {columns}{}\n", if is_inside { ", in a loop" } else { "" });
        for (name, base) in suggest_overlaps(&prepared, &machine, STRICT) {
            let rewritten = prepared.rewritten(&base, STRICT).expect("suggested");
            let further = suggest_for(&rewritten.prepared(), &machine, STRICT).recipes;
            text += &format!("{name}: {base}; {}\n", further[0].recipe);
            let all = Recipe { steps: [base.steps, further[0].recipe.steps.clone()].concat() };
            assert!(prepared.apply(&all, STRICT).is_ok());
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn loops_inside_a_tile_are_told_from_tiles() {
    let program = two_groups("m", false);
    let prepared = PreparedNest::new(&program, &program.nests[0]);
    let share = |at: u32| {
        let tiles = steps::Overlap { last: LoopId(8), loops: vec![LoopId(6)], sizes: vec![16] };
        let shared = steps::Parallelize { at: LoopId(at), sharing: oxeye_ir::WorkSharing::Static };
        let recipe = Recipe { steps: vec![tiles.into(), shared.into()] };
        shares_parts_of_tiles(&prepared.apply(&recipe, STRICT).expect("it fits"))
    };
    assert!(share(8), "rows of a tile");
    assert!(!share(10), "tiles");
    assert!(!share(0), "another loop");
}
