//! Random loops with work under conditions: the same bits in batches, in whatever order lanes are computed.

use crate::common::{Outcome, cases, check_with};
use oxeye_ir::interpret::Value;
use oxeye_ir::testing::{Random, Sample};
use oxeye_ir::{ArrayId, Program};
use oxeye_transform::{Policy, Recipe};

const STRICT: Policy = Policy { reassociate: false, finite: false };

/// A value: own variables and elements of this iteration, or of the one before, operators and choices between them.
fn value(random: &mut Random, own: &[&str], depth: usize) -> String {
    let leaves = ["x[i][0]", "x[i][1]", "y[i]", "y[i + 1]", "w", "sum", "1.5", "f[i]", "y[to[i]]"];
    if depth == 0 || random.chance(25) {
        return match own {
            [] => random.pick(&leaves).to_owned(),
            own if random.chance(50) => random.pick(own).to_owned(),
            // What most loops read of, so that not all are refused.
            _ => random.pick(&leaves[..7]).to_owned(),
        };
    }
    let mut operand = || value(random, own, depth - 1);
    let (left, right) = (operand(), operand());
    match random.below(6) {
        0 => format!("sqrt(fabs({left}))"),
        1 => format!("({left} > 0.25 ? {right} : 0.5)"),
        n => format!("({left} {} {right})", ["+", "-", "*", "/"][n - 2]),
    }
}

fn condition(random: &mut Random, own: &[&str]) -> String {
    match random.below(4) {
        0 => "mask[i] > 0".to_owned(),
        1 => "mask[i] != 0 && y[i] > 0.1".to_owned(),
        2 => "x[i][1] < 0.7".to_owned(),
        _ => format!("{} > 0.3", own.first().copied().unwrap_or("y[i]")),
    }
}

/// One to four statements: own variables first, then what is stored.
fn work(random: &mut Random, own: &[&str], id: &mut usize) -> String {
    let mut text = String::new();
    let mut statement = |body: String| {
        text += &format!("S{id}: {body}\n");
        *id += 1;
    };
    let mut known = own.to_vec();
    for name in ["u", "v"] {
        if random.chance(60) {
            statement(format!("{name} = {}", value(random, &known, 2)));
            known.push(name);
        }
    }
    for _ in 0..1 + random.below(3) {
        let target = ["x[i][0]", "x[i][1]", "z[to[i]]", "sum", "f[i]", "n_found"][random.below(6)];
        match target {
            "n_found" => statement("n_found += 1".to_owned()),
            "sum" | "z[to[i]]" => statement(format!("{target} += {}", value(random, &known, 2))),
            _ => statement(format!(
                "{target} {} {}",
                random.pick(&["=", "+=", "*="]),
                value(random, &known, 2)
            )),
        }
    }
    text
}

fn random_loop(random: &mut Random) -> String {
    let mut id = 0;
    let mut own = Vec::new();
    let mut body = String::new();
    if random.chance(50) {
        body += &format!("S0: d = {}\n", value(random, &own, 1));
        id = 1;
        own.push("d");
    }
    let mut inside = work(random, &own, &mut id);
    for _ in 0..random.below(3) {
        inside = format!("if {} {{\n{inside}}}\n", condition(random, &own));
    }
    format!(
        "program guarded {{
           symbol P0 n: i32
           array A0 to: i32[n] param
           array A1 mask: i32[n] param
           array A2 x: f64[n][2] param
           array A3 y: f64[n + 1] param
           array A4 z: f64[n] param
           array A5 f: f32[n] param
           array A6 w: f64 param
           array A7 sum: f64 param
           array A8 n_found: i32 param
           array A9 d: f64 body(L0)
           array A10 u: f64 body(L0)
           array A11 v: f32 body(L0)
           dataflow {{ N0 }}
           nest N0 in guarded {{
             for L0 i: i32 in 0 .. n {{
               {body}{inside}
             }}
           }}
         }}"
    )
}

#[test]
fn batches_give_the_same_bits() {
    let (mut n_accepted, mut n_refused) = (0, 0);
    for seed in cases(600) {
        let mut random = Random::new(seed);
        let text = random_loop(&mut random);
        let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let n = random.between(0, 11);
        let symbols = program.symbols.keys().map(|symbol| (*symbol, n)).collect();
        let sample = Sample { program, symbols };
        let mut memory = sample.memory(seed).expect("memory");
        for (at, least, most) in [(0, 0, n - 1), (1, -1, 1)] {
            let buffer = memory.buffers.get_mut(&ArrayId(at)).expect("an array");
            buffer.values.iter_mut().for_each(|value| *value = Some(Value::Int(random.between(least, most))));
        }
        let recipe: Recipe = format!("batch L0 of {}", random.between(2, 5)).parse().expect("a recipe");
        match check_with(&sample, &recipe, STRICT, &memory, 0.0, &format!("seed {seed}")) {
            Outcome::Same => n_accepted += 1,
            Outcome::Refused(_) => n_refused += 1,
        }
    }
    println!("{n_accepted} accepted, {n_refused} refused");
    assert!(n_accepted > 150 && n_refused > 100, "{n_accepted} accepted, {n_refused} refused");
}
