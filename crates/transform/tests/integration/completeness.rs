//! How many of the legal steps are accepted.

use crate::common::trace::trace;
use crate::common::{cases, replaced};
use oxeye_ir::Program;
use oxeye_ir::interpret::Order;
use oxeye_ir::testing::{Random, Sample, Shape, random_program};
use oxeye_transform::testing::{apply_unjudged, random_single};
use oxeye_transform::{Policy, Recipe, apply};
use std::collections::BTreeMap;

const STRICT: Policy = Policy { reassociate: false, finite: false };

/// Whether the transformed nest respects every dependence for every small size: the same writes of each element in the
/// same order, with the same reads between them.
fn is_legal(sample: &Sample, recipe: &Recipe) -> bool {
    let Ok(applied) = apply_unjudged(&sample.program, sample.nest(), recipe, STRICT) else { return false };
    if oxeye_ir::verify(&replaced(&applied)).is_err() {
        return false;
    }
    let symbols: Vec<_> = sample.symbols.iter().map(|(s, _)| *s).collect();
    for code in 0..8i64.pow(symbols.len() as u32) {
        let values = symbols.iter().enumerate().map(|(k, s)| (*s, 1 + code / 8i64.pow(k as u32) % 8));
        let values: Vec<_> = values.collect();
        let original = trace(sample.nest(), &values, Order::Forward).expect("an affine nest");
        for order in [Order::Forward, Order::Reversed, Order::Shuffled(1), Order::Shuffled(2)] {
            if trace(&applied.nest, &values, order).as_ref() != Some(&original) {
                return false;
            }
        }
    }
    true
}

/// Random single steps on random nests: the judge accepts most steps that respect all dependences for all small sizes,
/// and only those.
#[test]
fn legal_steps_are_mostly_accepted() {
    let shape = Shape { has_scalars: false, max_stmts: 3, ..Shape::default() };
    let mut counts: BTreeMap<&str, (u32, u32, u32)> = BTreeMap::new();
    for seed in cases(300) {
        let sample = random_program(seed, &shape);
        let Some(step) = random_single(&sample.program, sample.nest(), &mut Random::new(!seed)) else {
            continue;
        };
        let name = step.name();
        // What batches read and write where is data, which traces do not have.
        if name == "batch" {
            continue;
        }
        let recipe = Recipe { steps: vec![step] };
        let count = counts.entry(name).or_default();
        if apply(&sample.program, sample.nest(), &recipe, STRICT).is_ok() {
            assert!(is_legal(&sample, &recipe), "seed {seed}: {recipe}\n{}", sample.program);
            count.0 += 1;
        } else if is_legal(&sample, &recipe) {
            println!(
                "seed {seed}: {recipe}\n{}",
                apply(&sample.program, sample.nest(), &recipe, STRICT).unwrap_err()
            );
            count.1 += 1;
        } else {
            count.2 += 1;
        }
    }
    let total = |f: fn(&(u32, u32, u32)) -> u32| counts.values().map(f).sum::<u32>();
    println!("step: accepted, legal but refused, rightly refused (or not expressible)\n{counts:#?}");
    let (accepted, missed, wrong) = (total(|c| c.0), total(|c| c.1), total(|c| c.2));
    println!("{accepted} accepted, {missed} missed, {wrong} rightly refused");
    assert!(missed * 12 < accepted, "{missed} legal steps were refused, {accepted} accepted");
    assert!(
        wrong * 20 > accepted,
        "the nests are too easy: {wrong} steps of {accepted} were rightly refused"
    );
}

fn accepted(text: &str, steps: &str) {
    let program = Program::parse(text).unwrap();
    let recipe: Recipe = serde_json::from_str(steps).unwrap();
    if let Err(refusal) = apply(&program, &program.nests[0], &recipe, STRICT) {
        panic!("{recipe} was refused: {refusal}");
    }
}

/// Loops without dependences between their iterations allow every transformation.
#[test]
fn independent_loops_are_never_refused() {
    let bounds = [
        ("0 .. n", "0 .. m"),
        ("0 .. n", "0 .. i"),
        ("1 .. n", "i .. n"),
        ("0 .. n", "max(0, i - 2) .. min(n, i + 3)"),
        ("0 .. 7", "0 .. ceil((i + 1) / 2)"),
    ];
    let steps = [
        r#"{"step":"interchange","outer":0,"inner":1}"#,
        r#"{"step":"reverse","at":0}"#,
        r#"{"step":"reverse","at":1}"#,
        r#"{"step":"tile","loops":[0,1],"sizes":[4,8]}"#,
        r#"{"step":"tile","loops":[1],"sizes":[4]}"#,
        r#"{"step":"parallelize","at":0,"distribution":"Static"}"#,
        r#"{"step":"parallelize","at":1,"distribution":"Dynamic"}"#,
        r#"{"step":"vectorize","at":1}"#,
        r#"{"step":"unroll","at":1,"factor":4}"#,
        r#"{"step":"unroll_and_jam","at":0,"factor":4}"#,
        r#"{"step":"skew","inner":1,"outer":0,"factor":1}"#,
        r#"{"step":"split","at":0,"point":{"terms":[],"constant":3}}"#,
    ];
    for (i, j) in bounds {
        let text = format!(
            "program p {{
               symbol P0 n: i32
               symbol P1 m: i32
               array A0 a: f64[n][m] param
               array A1 b: f64[m][n] param
               dataflow {{ N0 }}
               nest N0 in p {{
                 for L0 i: i32 in {i} {{ for L1 j: i32 in {j} {{ S0: a[i][j] = a[i][j] + b[j][i] }} }}
               }}
             }}"
        );
        for step in steps {
            accepted(&text, &format!("[{step}]"));
        }
    }
}

/// Textbook cases of permutable bands, and of sums that may be reordered.
#[test]
fn permutable_bands_are_tiled() {
    let text = |body: &str| {
        format!(
            "program p {{
               symbol P0 n: i32
               array A0 a: f64[n][n] param
               array A1 b: f64[n][n] param
               array A2 c: f64[n][n] param
               dataflow {{ N0 }}
               nest N0 in p {{ {body} }}
             }}"
        )
    };
    let product = text(
        "for L0 i: i32 in 0 .. n { for L1 j: i32 in 0 .. n { for L2 k: i32 in 0 .. n {
           S0: c[i][j] += a[i][k] * b[k][j] } } }",
    );
    // The order of each sum is kept when whole loops around it change places.
    accepted(&product, r#"[{"step":"tile","loops":[0,1,2],"sizes":[4,4,4]}]"#);
    accepted(&product, r#"[{"step":"interchange","outer":0,"inner":2}]"#);
    let seidel = text(
        "for L0 i: i32 in 1 .. n - 1 { for L1 j: i32 in 1 .. n - 1 {
           S0: a[i][j] = a[i - 1][j] + a[i][j - 1] + a[i][j] + a[i][j + 1] + a[i + 1][j] } }",
    );
    accepted(&seidel, r#"[{"step":"interchange","outer":0,"inner":1}]"#);
    accepted(&seidel, r#"[{"step":"tile","loops":[0,1],"sizes":[4,4]}]"#);
    accepted(
        &seidel,
        r#"[{"step":"skew","inner":1,"outer":0,"factor":1},{"step":"interchange","outer":0,"inner":1},
            {"step":"parallelize","at":0,"distribution":"Static"}]"#,
    );
}
