//! Random sums of products, taken apart: the same results, also where loops have no iteration.

use crate::common::{Rewrites, cases};
use oxeye_ir::Program;
use oxeye_ir::testing::{Random, Sample};
use oxeye_transform::templates::suggest_rewrites;
use oxeye_transform::{Policy, PreparedNest, Recipe, Transformation, steps};

const FAST: Policy = Policy { reassociate: true, finite: true };

/// Loops a to e with ranges of their own, some of which begin or end at another loop; arrays have no more elements than the
/// loops reach.
fn random_sum(random: &mut Random) -> String {
    let n_loops = 2 + random.below(4);
    let loops: Vec<char> = "abcde".chars().take(n_loops).collect();
    let mut text = String::from("program sums {\n");
    for (k, l) in loops.iter().enumerate() {
        text += &format!("symbol P{k} n{l}: i32\n");
    }
    let mut arrays = 0;
    let mut array = |used: &[char], text: &mut String| {
        let shape: String = used.iter().map(|l| format!("[n{l} + 1]")).collect();
        *text += &format!("array A{arrays} x{arrays}: f64{shape} param\n");
        arrays += 1;
        let shift = |l: &char| format!("[{l}]");
        format!("x{}{}", arrays - 1, used.iter().map(shift).collect::<String>())
    };
    let mut some =
        |percent: usize| -> Vec<char> { loops.iter().copied().filter(|_| random.chance(percent)).collect() };
    let target = array(&some(45), &mut text);
    let n_factors = 1 + some(40).len().min(3);
    let factors: Vec<String> = (0..n_factors).map(|_| array(&some(45), &mut text)).collect();
    text += "dataflow { N0 }\nnest N0 in sums {\n";
    for (k, l) in loops.iter().enumerate() {
        let within = |random: &mut Random| loops[..k].get(random.below(4)).copied();
        let (lower, upper) = (within(random), within(random));
        let lower = match lower {
            Some(outer) if random.chance(40) => format!("{outer}"),
            _ => ["0", "1"][random.below(2)].to_owned(),
        };
        let upper = match upper {
            Some(outer) if random.chance(40) => format!("min(n{l}, {outer} + 1)"),
            _ => format!("n{l}"),
        };
        text += &format!("for L{k} {l}: i32 in {lower} .. {upper} {{\n");
    }
    let update = ["+=", "-="][random.below(2)];
    text += &format!("S0: {target} {update} {}\n", factors.join(" * "));
    text + &"}".repeat(n_loops + 2)
}

#[test]
fn sums_that_are_taken_apart_are_the_same() {
    let mut rewrites = Rewrites::default();
    for seed in cases(600) {
        let mut random = Random::new(seed);
        let text = random_sum(&mut random);
        let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut symbols: Vec<_> = program.symbols.keys().copied().map(|id| (id, 0)).collect();
        symbols.iter_mut().for_each(|(_, value)| *value = random.between(0, 4));
        let sample = Sample { program, symbols };
        let Ok(memory) = sample.memory(seed) else { continue };
        let prepared = PreparedNest::new(&sample.program, sample.nest());
        let suggested = suggest_rewrites(&prepared, FAST);
        let stmt = sample.nest().stmts()[0].id;
        let each = sample
            .nest()
            .loops()
            .into_iter()
            .map(|l| Recipe { steps: vec![Transformation::from(steps::Factorize { stmt, over: l.id })] });
        for first in each.chain(suggested.into_iter().map(|(_, recipe)| recipe)) {
            let with = (&mut random, &*format!("seed {seed}"));
            rewrites.check(&sample, &first, FAST, (&memory, 1e-12), with);
        }
    }
    let Rewrites { n_refused, n_same, n_scheduled } = rewrites;
    println!("{n_same} the same, {n_scheduled} with other steps; {n_refused} refused");
    assert!(n_same > 100 && n_scheduled > 50 && n_refused > 100, "{n_same}, {n_scheduled}, {n_refused}");
}
