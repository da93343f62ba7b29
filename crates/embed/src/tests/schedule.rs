//! Features of schedules, and predictions from them.

use super::{graph_of_sample, graph_of_text, host, shape};
use crate::{
    EmbedError, Encoder, HostVector, ProfileVector, ScheduleFeature as F, ScheduleFeatures, schedule_features,
};
use oxeye_ir::testing::random_program;
use oxeye_ir::{Program, SymId};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The features of nest `N0` in a text, sizes by name.
fn features(text: &str, sizes: &[(&str, i64)]) -> ScheduleFeatures {
    let program = Program::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let value_of = |id: SymId| {
        let name = &program.symbols[&id].name;
        sizes.iter().find(|(wanted, _)| wanted == name).map(|(_, size)| *size)
    };
    schedule_features(&program, &program.nests[0], &value_of, &host())
}

/// A nest over two arrays with these lines in it.
fn nest(body: &str) -> String {
    format!(
        "program p {{ symbol P0 n: i32 array A0 x: f64[n][n] param array A1 y: f64[n][n] param \
         array A2 k: i32[n] param array A3 s: f64 param dataflow {{ N0 }} nest N0 in p {{ {body} }} }}"
    )
}

fn at(body: &str, n: i64) -> ScheduleFeatures {
    features(&nest(body), &[("n", n)])
}

const ROWS: &str = "for L0 i: i32 in 0 .. n { for L1 j: i32 in 0 .. n { S0: x[i][j] = 2.0 * y[i][j] } }";
const COLUMNS: &str =
    "for L0 j: i32 in 0 .. n { for L1 i: i32 in 0 .. n vector { S0: x[i][j] = 2.0 * y[i][j] } }";

#[test]
fn columns_cost_more_than_rows() {
    let (rows, columns) = (at(ROWS, 2000), at(COLUMNS, 2000));
    assert!(columns.raw(F::Seconds) > 2.0 * rows.raw(F::Seconds));
    assert!(columns.raw(F::L1Traffic) > 4.0 * rows.raw(F::L1Traffic));
    assert_eq!((rows.get(F::Contiguous), columns.get(F::BeyondLine)), (1.0, 1.0));
    assert!(rows.get(F::GuessedLanes) > 0.9 && columns.get(F::GuessedLanes) == 0.0);
    // Without a directive the compiler interchanges the loops.
    let exchanged = at(&COLUMNS.replace(" vector", ""), 2000);
    assert!(exchanged.is_set(F::OtherOrder) && !rows.is_set(F::OtherOrder));
    assert_eq!(exchanged.get(F::Seconds), rows.get(F::Seconds));
    // Read and written in whole, but no more.
    let bytes = 2000.0 * 2000.0 * 8.0;
    let traffic = rows.raw(F::L1Traffic);
    assert!((2.9 * bytes..3.1 * bytes).contains(&traffic), "{traffic} {bytes}");
    let small = at(ROWS, 20);
    assert_eq!(small.raw(F::L1Traffic), 0.0);
}

#[test]
fn tiles_keep_what_columns_lose() {
    let tiled = "for L0 t: i32 in 0 .. ceil(n / 16) { for L1 j: i32 in 0 .. n { \
                 for L2 i: i32 in 16*t .. min(n, 16*t + 16) { S0: x[i][j] = 2.0 * y[j][i] } } }";
    let plain = "for L0 j: i32 in 0 .. n { for L1 i: i32 in 0 .. n { S0: x[i][j] = 2.0 * y[j][i] } }";
    let (tiled, plain) = (at(tiled, 4096), at(plain, 4096));
    assert!(2.0 * tiled.raw(F::L1Traffic) < plain.raw(F::L1Traffic));
    assert!((tiled.raw(F::Executions) / plain.raw(F::Executions) - 1.0).abs() < 0.01);
}

#[test]
fn threads_share_what_they_are_given() {
    let shared = ROWS.replacen("0 .. n {", "0 .. n parallel {", 1);
    let (one, two) = (at(ROWS, 3000), at(&shared, 3000));
    assert_eq!((one.get(F::ParallelShare), two.get(F::ParallelShare)), (0.0, 1.0));
    assert!((one.raw(F::CoreSeconds) / two.raw(F::CoreSeconds) - 2.0).abs() < 0.01);
    assert_eq!(two.raw(F::Regions).round(), 1.0);
    let inner =
        "for L0 i: i32 in 0 .. n { for L1 j: i32 in 0 .. n parallel { S0: x[i][j] = 2.0 * y[i][j] } }";
    assert!(at(inner, 3000).raw(F::SyncSeconds) > 100.0 * two.raw(F::SyncSeconds));
    let dynamic = shared.replace("parallel", "parallel dynamic");
    assert!(at(&dynamic, 3000).raw(F::SyncSeconds) > two.raw(F::SyncSeconds));
    let triangle = "for L0 i: i32 in 0 .. n parallel { for L1 j: i32 in 0 .. i { S0: x[i][j] = 1.0 } }";
    let imbalance = at(triangle, 3000).raw(F::Imbalance);
    assert!((1.4..1.6).contains(&imbalance), "the second half has three quarters of the work: {imbalance}");
    assert!((at(triangle, 3000).raw(F::Executions) / 4.4985e6 - 1.0).abs() < 0.01);
}

#[test]
fn what_waits_is_told_from_what_does_not() {
    let recurrence =
        "for L0 i: i32 in 0 .. n { for L1 j: i32 in 1 .. n { S0: x[i][j] = 0.5 * x[i][j - 1] + y[i][j] } }";
    let free =
        "for L0 i: i32 in 0 .. n { for L1 j: i32 in 1 .. n { S0: x[i][j] = 0.5 * y[i][j - 1] + y[i][j] } }";
    let (waits, free) = (at(recurrence, 100), at(free, 100));
    assert!(waits.raw(F::LatencySeconds) > 10.0 * free.raw(F::LatencySeconds));
    assert_eq!((waits.get(F::GuessedLanes), free.get(F::GuessedLanes)), (0.0, 1.0));
    // A row that is summed up where another row is read has to be stored every time.
    let aliased = "for L0 i: i32 in 0 .. n { for L1 j: i32 in 0 .. n { S0: x[i][0] += x[j][i] } }";
    let apart = "for L0 i: i32 in 0 .. n { for L1 j: i32 in 0 .. n { S0: x[i][0] += y[j][i] } }";
    assert_eq!((at(aliased, 100).get(F::InMemory), at(apart, 100).get(F::InMemory)), (1.0, 0.0));
    // An accumulator that starts anew in every iteration waits for nothing.
    let anew = "for L0 i: i32 in 0 .. n { for L1 j: i32 in 0 .. n { S0: s = y[i][j] S1: s += 2.0 S2: x[i][j] = s } }";
    assert_eq!(at(anew, 100).raw(F::LatencySeconds), free.raw(F::LatencySeconds));
}

#[test]
fn what_is_done_again_in_vain_is_done_once() {
    let again = "for L0 j: i32 in 0 .. n { for L1 i: i32 in 0 .. n { S0: x[0][j] = 2.0 * y[0][j] } }";
    let (plain, shared) = (at(again, 500), at(&again.replacen("0 .. n {", "0 .. n parallel {", 1), 500));
    assert!((plain.raw(F::Executions) - 500.0).abs() < 1.0 && plain.get(F::Useless) == 1.0);
    assert!((shared.raw(F::Executions) / 250_000.0 - 1.0).abs() < 0.01 && shared.get(F::Useless) == 0.0);
    let other = again.replace("2.0 * y[0][j]", "2.0 * x[0][j]");
    assert_eq!(at(&other, 500).get(F::Useless), 0.0);
}

#[test]
fn random_accesses_miss_where_the_array_is_large() {
    let random = "for L0 i: i32 in 0 .. n { S0: s += x[k[i]][0] }";
    let (small, large) = (at(random, 40), at(random, 3000));
    assert!(large.is_set(F::Indirect) && large.is_set(F::RandomShare));
    assert_eq!(small.get(F::RandomShare), 0.0);
    let strips = "for L0 t: i32 in 0 .. ceil(n / 64) { for L1 i: i32 in 64*t .. min(n, 64*t + 64) { S0: s += x[k[i]][0] } }";
    let ratio = at(strips, 3000).raw(F::RandomSeconds) / large.raw(F::RandomSeconds);
    assert!((0.9..1.1).contains(&ratio), "strips change nothing about that: {ratio}");
}

#[test]
fn nothing_known_is_no_obstacle() {
    let program = Program::parse(&nest(ROWS)).expect("it is valid");
    let found = schedule_features(&program, &program.nests[0], &|_| None, &HostVector::default());
    assert!(found.is_finite() && !found.is_set(F::SizesKnown));
    assert!(at(ROWS, 10).is_set(F::SizesKnown));
}

#[test]
fn a_schedule_like_the_nest_as_it_is_gains_nothing() {
    let encoder = Encoder::random(3).expect("random weights are valid");
    let graph = graph_of_text(&nest(ROWS), &[("n", 500)]);
    let (before, after) = (at(ROWS, 500), at(COLUMNS, 500));
    let plain = encoder.embed(&graph).expect("it is sound");
    let profile = ProfileVector { seconds: Some(1e-3), ..ProfileVector::default() };
    let profiled = encoder.embed(&graph.with_profile(&profile)).expect("it is sound");
    for embedding in [&plain, &profiled] {
        let found = encoder.speedups(embedding, &before, &[before, after]).expect("it is sound");
        assert_eq!(found[0], 0.0);
        assert!(found[1] != 0.0 && found[1].is_finite());
    }
    let of = |embedding| encoder.speedups(embedding, &before, &[after]).expect("it is sound")[0];
    assert_ne!(of(&plain), of(&profiled), "the profile counts");
    let other = Encoder::random(4).expect("random weights are valid");
    assert!(matches!(other.speedups(&plain, &before, &[after]), Err(EmbedError::OtherModel { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() })]

    /// Finite for any nest, and independent of names.
    #[test]
    fn names_do_not_matter(seed in any::<u64>()) {
        let sample = random_program(seed, &shape(seed));
        let value_of = |id| sample.symbols.iter().find(|(symbol, _)| *symbol == id).map(|(_, value)| *value);
        let found = schedule_features(&sample.program, sample.nest(), &value_of, &host());
        prop_assert!(found.is_finite());
        let mut renamed = sample.program.clone();
        renamed.arrays.values_mut().for_each(|array| array.name = format!("{}_other", array.name));
        renamed.symbols.values_mut().for_each(|symbol| symbol.name = format!("q{}", symbol.name));
        prop_assert_eq!(found, schedule_features(&renamed, sample.nest(), &value_of, &host()));
        prop_assert!(graph_of_sample(&sample).check().is_ok());
    }
}
