//! Random sums over windows, shared by those that overlap: the same results, also where loops have no iteration.

use crate::common::{Rewrites, cases, whole_numbers};
use oxeye_ir::Program;
use oxeye_ir::testing::{Random, Sample};
use oxeye_transform::templates::suggest_rewrites;
use oxeye_transform::{Policy, PreparedNest, Recipe, Transformation, steps};

const FAST: Policy = Policy { reassociate: true, finite: true };

/// Windows of one to three dimensions, some of whose loops are missing or apart, with weights or without, in a scalar or where
/// they belong, beside a loop that moves nothing or channels.
fn random_windows(random: &mut Random) -> (String, bool) {
    let n_dims = 1 + random.below(3);
    let ty = ["f64", "f64", "f32", "i32"][random.below(4)];
    let update = if random.chance(70) { ["+=", "-="] } else { ["min=", "max="] }[random.below(2)];
    let mut text = String::from("program windows {\nsymbol P0 n: i32\nsymbol P1 r: i32\n");
    let dims: Vec<(usize, bool)> = (0..n_dims).map(|k| (k, k + 1 == n_dims || random.chance(85))).collect();
    let has_channels = random.chance(25);
    let channels = if has_channels { "[2]" } else { "" };
    let apart = random.chance(10);
    let extent = if apart { "[n + 4 * r + 5]" } else { "[n + 2 * r + 3]" };
    text += &format!("array A0 a: {ty}{channels}{} param\n", extent.repeat(n_dims));
    text += &format!("array A1 b: {ty}{channels}{} param\n", "[n + 1]".repeat(n_dims));
    text += &format!("array A2 w: {ty}[r + 4] param\narray A3 v: {ty} param\n");
    let is_aside = random.chance(40);
    let mut loops = String::new();
    let n_loops = std::cell::Cell::new(0);
    let open = |name: &str, range: &str| {
        n_loops.set(n_loops.get() + 1);
        format!(
            "for L{} {name}: i32 in {range} {{
",
            n_loops.get() - 1
        )
    };
    if random.chance(15) {
        loops += &open("t", "0 .. 2");
    }
    if has_channels {
        loops += &open("c", "0 .. 2");
    }
    for (k, _) in &dims {
        let lower = ["0", "0", "1"][random.below(3)];
        loops += &open(&format!("i{k}"), &format!("{lower} .. n"));
    }
    let last = n_loops.get() - 1;
    let mut inside = String::new();
    let mut indices = String::new();
    let mut factors = Vec::new();
    for (k, is_moved) in &dims {
        if !is_moved {
            indices += &format!("[i{k}]");
            continue;
        }
        // Windows begin at zero or before it; the array begins with the first of them.
        let (range, shift) = match random.below(3) {
            0 => ("0 .. r", "0"),
            1 => ("0 - r .. r + 1", "r"),
            _ => ("-1 .. 2", "1"),
        };
        inside += &open(&format!("k{k}"), range);
        let step = if apart { "2 * " } else { "" };
        let shift = if apart { "2 * r + 2" } else { shift };
        indices += &format!("[i{k} + {step}k{k} + {shift}]");
        if random.chance(30) && !apart {
            let at = if shift == "r" { "0" } else { "1" };
            factors.push(format!("w[{}]", if shift == "0" { format!("k{k}") } else { at.into() }));
        }
    }
    let c = if has_channels { "[c]" } else { "" };
    let own: String = dims.iter().map(|(k, _)| format!("[i{k}]")).collect();
    let value = [vec![format!("a{c}{indices}")], factors].concat().join(" * ");
    let close = "}".repeat(n_loops.get() + 2);
    if is_aside {
        text += &format!("array A4 s: {ty} body(L{last})\n");
        let n_inside = inside.matches('{').count();
        let (close, rest) = close.split_at(n_inside);
        let start = if ty == "i32" { "0" } else { "0.0" };
        text += "dataflow { N0 }\nnest N0 in windows {\n";
        text += &format!(
            "{loops}S1: s = {start}\n{inside}S0: s {update} {value}\n{close}\nS2: b{c}{own} = s\n{rest}"
        );
    } else {
        text += &format!(
            "dataflow {{ N0 }}\nnest N0 in windows {{\n{loops}{inside}S0: b{c}{own} {update} {value}\n{close}"
        );
    }
    (text, ty != "i32")
}

#[test]
fn sums_that_windows_share_are_the_same() {
    let (mut rewrites, mut n_suggested) = (Rewrites::default(), 0);
    for seed in cases(600) {
        let mut random = Random::new(seed);
        let (text, is_float) = random_windows(&mut random);
        let program: Program = text.parse().unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        let symbols = program.symbols.keys().copied().zip([random.between(0, 5), random.between(0, 2)]);
        let symbols = symbols.collect();
        let sample = Sample { program, symbols };
        let Ok(mut memory) = sample.memory(seed) else { continue };
        if is_float {
            whole_numbers(&mut memory, seed);
        }
        let prepared = PreparedNest::new(&sample.program, sample.nest());
        let stmt = sample.nest().stmts().into_iter().find(|s| s.id.0 == 0).expect("a sum").id;
        let innermost = sample.nest().loops().last().expect("loops").id;
        let one = Recipe { steps: vec![Transformation::from(steps::ShareSums { stmt, over: innermost })] };
        let suggested = suggest_rewrites(&prepared, FAST).into_iter().map(|(_, recipe)| recipe);
        n_suggested += i32::from(suggested.clone().any(|recipe| recipe.steps.len() > 1));
        for first in [one].into_iter().chain(suggested) {
            let with = (&mut random, &*format!("seed {seed}"));
            rewrites.check(&sample, &first, FAST, (&memory, 1e-9), with);
        }
    }
    let Rewrites { n_refused, n_same, n_scheduled } = rewrites;
    println!(
        "{n_same} the same, {n_suggested} over several loops, {n_scheduled} with other steps; {n_refused} refused"
    );
    assert!(n_same > 200 && n_scheduled > 80 && n_refused > 20, "{n_same}, {n_scheduled}, {n_refused}");
    assert!(n_suggested > 20, "{n_suggested}");
}
