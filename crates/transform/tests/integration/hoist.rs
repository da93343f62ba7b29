//! Calls of mathematical functions, hoisted out of random nests: the same results, also where loops have no iteration.

use crate::common::{Outcome, cases, check_with};
use oxeye_ir::Program;
use oxeye_ir::testing::{Random, Sample};
use oxeye_transform::testing::random_recipe;
use oxeye_transform::{Policy, PreparedNest, Recipe, Transformation, steps};

const STRICT: Policy = Policy { reassociate: false, finite: false };

/// One to three nested loops, some of which begin or end at another one, some of them twice; values with calls of iterators,
/// sizes, scalars that are set before or in the nest, and elements.
fn random_calls(random: &mut Random) -> String {
    let loops: Vec<char> = "abc".chars().take(1 + random.below(3)).collect();
    let mut text = String::from("program calls {\n");
    for (k, l) in loops.iter().enumerate() {
        text += &format!("symbol P{k} n{l}: i32\n");
    }
    let extents: String = loops.iter().map(|l| format!("[n{l} + 1]")).collect();
    let own: String = loops.iter().map(|l| format!("[{l}]")).collect();
    text += &format!("array A0 x: f64{extents} param\narray A1 q: f64 param\narray A2 w: f64 local\n");
    text += "dataflow { N0 }\nnest N0 in calls {\n";
    for (k, l) in loops.iter().enumerate() {
        let within = |random: &mut Random| loops[..k].get(random.below(4)).copied();
        let (lower, upper) = (within(random), within(random));
        let lower = lower.filter(|_| random.chance(40)).map_or("0".to_owned(), |outer| outer.to_string());
        let upper = match upper {
            Some(outer) if random.chance(40) => format!("min(n{l}, {outer} + 1)"),
            _ => format!("n{l}"),
        };
        text += &format!("for L{k} {l}: i32 in {lower} .. {upper} {{\n");
    }
    let value = |random: &mut Random| {
        let l = loops[random.below(loops.len())];
        let k = loops[random.below(loops.len())];
        match random.below(9) {
            0 => format!("cos((f64) ({l} + 2 * {k}))"),
            1 => format!("sqrt(q * q + (f64) {l})"),
            2 => "exp(-q)".to_owned(),
            3 => format!("(q < 1.0 ? sin((f64) {l}) : exp(q))"),
            4 => format!("sqrt(fabs(x{own})) * cos((f64) n{l})"),
            5 => "fabs(sin(w))".to_owned(),
            6 => format!("cos((f64) {l}) * cos((f64) {k})"),
            7 => format!("pow(q, (f64) {l})"),
            _ => "q".to_owned(),
        }
    };
    for s in 0..1 + random.below(3) {
        let update = ["=", "+="][random.below(2)];
        let target = if random.chance(15) { "w".to_owned() } else { format!("x{own}") };
        let stmt = format!("S{s}: {target} {update} {} + {}\n", value(random), value(random));
        match random.chance(25) {
            true => {
                text += &format!("if {} < n{} {{\n{stmt}}}\n", loops[0], loops[random.below(loops.len())])
            }
            false => text += &stmt,
        }
    }
    text + &"}".repeat(loops.len() + 2)
}

#[test]
fn calls_that_are_hoisted_give_the_same() {
    let (mut n_same, mut n_scheduled, mut n_refused) = (0, 0, 0);
    for seed in cases(800) {
        let mut random = Random::new(seed);
        let text = random_calls(&mut random);
        let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut symbols: Vec<_> = program.symbols.keys().copied().map(|id| (id, 0)).collect();
        symbols.iter_mut().for_each(|(_, value)| *value = random.between(0, 4));
        let sample = Sample { program, symbols };
        let Ok(memory) = sample.memory(seed) else { continue };
        let prepared = PreparedNest::new(&sample.program, sample.nest());
        let first = Recipe { steps: vec![Transformation::from(steps::Hoist {})] };
        let Ok(rewritten) = prepared.rewritten(&first, STRICT) else {
            n_refused += 1;
            continue;
        };
        let inner = rewritten.prepared();
        let more = random_recipe(inner.program(), inner.nest(), STRICT, 2, &mut random);
        let further = Recipe { steps: [first.steps.clone(), more.steps].concat() };
        let what = format!("seed {seed}\n{text}");
        match check_with(&sample, &first, STRICT, &memory, 0.0, &what) {
            Outcome::Same => n_same += 1,
            Outcome::Refused(refusal) => panic!("{what}: {refusal}"),
        }
        if let Outcome::Same = check_with(&sample, &further, STRICT, &memory, 0.0, &what) {
            n_scheduled += 1;
        }
    }
    println!("{n_same} the same, {n_scheduled} with other steps; {n_refused} refused");
    assert!(n_same > 300 && n_scheduled > 150 && n_refused > 30, "{n_same}, {n_scheduled}, {n_refused}");
}
