//! Tests of the crate as a whole.

mod features;
mod invariance;
mod oracle;
mod schedule;
mod schema;
mod weights;

use crate::{Embedding, Encoder, HostVector, NestGraph, graph};
use oxeye_ir::testing::{Sample, Shape};
use oxeye_ir::{NestId, Program, SymId};

/// A machine with round numbers.
fn host() -> HostVector {
    HostVector {
        l1_bytes: Some(32768.0),
        l2_bytes: Some(1048576.0),
        l3_bytes: Some(33554432.0),
        cores: Some(2.0),
        threads: Some(2.0),
        vector_bytes: Some(32.0),
        peak_f32_gflops: Some(200.0),
        peak_f64_gflops: Some(100.0),
        dram_gb_per_s: Some(20.0),
        ..HostVector::default()
    }
}

/// The graph of a program's first nest; every symbol has this size.
fn graph_of(program: &Program, size: Option<i64>) -> NestGraph {
    graph(program, &program.nests[0], &|_| size, &host()).expect("the program is valid")
}

/// The graph of nest `N0` in a text, sizes by name.
fn graph_of_text(text: &str, sizes: &[(&str, i64)]) -> NestGraph {
    let program = Program::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let value_of = |id: SymId| {
        let name = &program.symbols[&id].name;
        sizes.iter().find(|(wanted, _)| wanted == name).map(|(_, size)| *size)
    };
    graph(&program, &program.nests[&NestId(0)], &value_of, &host()).expect("the program is valid")
}

fn graph_of_sample(sample: &Sample) -> NestGraph {
    let value_of = |id| sample.symbols.iter().find(|(symbol, _)| *symbol == id).map(|(_, value)| *value);
    graph(&sample.program, sample.nest(), &value_of, &host()).expect("samples are valid")
}

/// The kinds of random programs by turns.
fn shape(seed: u64) -> Shape {
    match seed % 3 {
        0 => Shape::default(),
        1 => Shape { has_data_dependence: true, ..Shape::default() },
        _ => Shape { max_depth: 4, max_stmts: 6, has_guards: false, ..Shape::default() },
    }
}

fn embed(graph: &NestGraph) -> Embedding {
    let encoder = Encoder::random(7).expect("random weights are valid");
    encoder.embed(graph).expect("the graph is sound")
}

/// The largest difference of two vectors.
fn difference(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}
