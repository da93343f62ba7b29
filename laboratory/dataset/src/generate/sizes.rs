//! Values of symbols for which one run takes about a given time.

use super::draft::{Size, Written};
use crate::nest::symbol_values;
use oxeye_analysis::{evaluate_symbols, executions, operations, stride};
use oxeye_ir::{Access, Expr, Loop, Node, Program, Stmt, Storage, SymId};
use oxeye_random::Rng;
use std::collections::BTreeMap;

/// Most bytes of all arrays.
const MOST_BYTES: f64 = 160e6;

/// Values of the symbols of a draft, in their order: for `seconds` by estimate, or for as much memory as is allowed.
pub(super) fn choose(written: &Written, seconds: f64, rng: &mut Rng) -> Vec<i64> {
    let at_scale = |scale: f64| -> Vec<i64> {
        let value = |(_, size): &(String, Size)| match size {
            Size::Scaled { aspect, least } => ((aspect * scale).round() as i64).max(*least),
            Size::Fixed(value) => *value,
        };
        written.sizes.iter().map(value).collect()
    };
    let fits = |values: &[i64]| {
        let sizes = named(written, values);
        estimated_seconds(&written.program, &sizes) * written.cost_factor <= seconds
            && footprint_bytes(&written.program, &sizes) <= MOST_BYTES
    };
    let (mut low, mut high) = (1.0f64, 1e8f64);
    for _ in 0..40 {
        let middle = (low * high).sqrt();
        if fits(&at_scale(middle)) { low = middle } else { high = middle }
    }
    let mut values = at_scale(low);
    // As people choose them: round numbers, powers of two, and any others.
    let taste = rng.unit();
    for (value, (_, size)) in values.iter_mut().zip(&written.sizes) {
        let Size::Scaled { least, .. } = size else { continue };
        let rounded = match taste {
            x if x < 0.3 && *value >= 16 => 1 << (63 - value.leading_zeros()),
            x if x < 0.7 && *value >= 100 => *value / 10 * 10,
            x if x < 0.8 && *value >= 16 => *value / 8 * 8,
            _ => *value,
        };
        *value = rounded.max(*least);
    }
    values
}

fn named(written: &Written, values: &[i64]) -> BTreeMap<String, i64> {
    written.sizes.iter().zip(values).map(|((name, _), value)| (name.clone(), *value)).collect()
}

/// The sizes of a nest made smaller until its estimate is `factor` of what it was; small sizes stay.
pub fn shrunk(program: &Program, sizes: &BTreeMap<String, i64>, factor: f64) -> BTreeMap<String, i64> {
    let wanted = estimated_seconds(program, sizes) * factor;
    let at_scale = |scale: f64| -> BTreeMap<String, i64> {
        let value = |v: &i64| ((*v as f64 * scale).round() as i64).max((*v).min(8));
        sizes.iter().map(|(name, v)| (name.clone(), value(v))).collect()
    };
    let (mut low, mut high) = (1e-4f64, 1.0f64);
    for _ in 0..40 {
        let middle = (low * high).sqrt();
        if estimated_seconds(program, &at_scale(middle)) <= wanted { low = middle } else { high = middle }
    }
    at_scale(low)
}

/// Bytes of the arrays outside the nest.
pub fn footprint_bytes(program: &Program, sizes: &BTreeMap<String, i64>) -> f64 {
    let values = symbol_values(program, sizes);
    let value_of = |s: SymId| values.get(&s).copied();
    let arrays = program.arrays.values().filter(|a| matches!(a.storage, Storage::Param));
    let bytes = |a: &oxeye_ir::Array| {
        let extents =
            a.shape.iter().flatten().map(|e| evaluate_symbols(e, &value_of).unwrap_or(1).max(1) as f64);
        extents.product::<f64>() * a.element.bytes() as f64
    };
    arrays.map(bytes).sum()
}

/// Seconds of one run on a present-day core: executions of every statement times the cost of its operations and
/// accesses. A rough estimate, for choosing sizes only.
pub fn estimated_seconds(program: &Program, sizes: &BTreeMap<String, i64>) -> f64 {
    let values = symbol_values(program, sizes);
    let value_of = |s: SymId| values.get(&s).copied();
    let mut seconds = 0.0;
    for nest in program.nests.values() {
        nest.visit(&mut |path, node| {
            if let Node::Stmt(stmt) = node {
                let runs = executions(nest, stmt.id, &value_of).map_or(0.0, |count| count.value);
                seconds += runs * cost_ns(program, path, stmt, &value_of) * 1e-9;
            }
        });
    }
    seconds
}

/// Nanoseconds of one instance.
fn cost_ns(program: &Program, path: &[&Loop], stmt: &Stmt, value_of: &dyn Fn(SymId) -> Option<i64>) -> f64 {
    let counted = operations(program, stmt);
    let calls: u64 = counted.calls.values().sum();
    let lanes = if program.arrays[&stmt.target.array].element.bytes() == 4 { 0.5 } else { 1.0 };
    let arithmetic = 0.03 * counted.flops() as f64 + 0.4 * counted.float_divs as f64 + 1.0 * calls as f64;
    let access = |access: &Access| {
        let is_affine = access.indices.iter().all(|e| matches!(e, Expr::Affine(_)));
        let along = path.last().and_then(|l| stride(program, access, l).evaluate(value_of));
        match along {
            _ if !is_affine => 1.2,
            Some(0) => 0.01,
            Some(-1 | 1) => 0.07 * lanes,
            _ => 0.6,
        }
    };
    let accesses: f64 = [&stmt.target].into_iter().chain(stmt.value.reads()).map(access).sum();
    0.03 + lanes * arithmetic + accesses
}
