//! Whether a transformed nest computes what the original computes.

use oxeye_ir::interpret::{InterpretError, Memory, Options, Order, Value, run_nest};
use oxeye_ir::{ArrayId, Nest, Program, ScalarType, Storage};
use oxeye_transform::{Applied, Recipe, Transformation};

/// Whether the array is not read after the nest.
fn is_dead(program: &Program, nest: &Nest, id: ArrayId) -> bool {
    program.array(id).storage == Storage::Local && !nest.live_out.contains(&id)
}

/// A memory in which values are what a recipe takes them to be, if it does.
fn planted(memory: &Memory, recipe: &Recipe) -> Result<Option<Memory>, String> {
    let mut planted = None;
    for step in &recipe.steps {
        let (array, value) = match step {
            Transformation::Specialise(step) => (step.array, step.value.to_string()),
            Transformation::SplitZeros(step) => (step.array, "0".to_owned()),
            Transformation::GuardZeros(step) => (step.array, "0".to_owned()),
            Transformation::CompactZeros(step) => (step.array, "0".to_owned()),
            _ => continue,
        };
        let of_memory: &mut Memory = planted.get_or_insert_with(|| memory.clone());
        let Some(buffer) = of_memory.buffers.get_mut(&array) else { continue };
        let value = match buffer.element {
            ScalarType::F64 => Value::F64(value.parse().map_err(|e| format!("{value}: {e}"))?),
            ScalarType::F32 => Value::F32(value.parse().map_err(|e| format!("{value}: {e}"))?),
            _ => Value::Int(value.parse().map_err(|e| format!("{value}: {e}"))?),
        };
        let n = buffer.values.len();
        // Zeros lie in a region.
        let region = if matches!(step, Transformation::Specialise(_)) { 0..n } else { n / 4..n - n / 4 };
        buffer.values[region].fill(Some(value));
    }
    Ok(planted)
}

/// Whether the transformed nest is well formed, survives a round trip through text, and computes what the original
/// computes for a few sizes, with concurrent loops visited in several orders. At least one size must be large enough to
/// execute. Arrays whose values the recipe has something to say of have those values in one run, and any in another.
pub(super) fn check(
    program: &Program,
    nest: &Nest,
    applied: &Applied,
    recipe: &Recipe,
) -> Result<(), String> {
    let mut transformed = applied.program.clone();
    transformed.nests.insert(applied.nest.id, applied.nest.clone());
    transformed.rebuild_dataflow();
    oxeye_ir::verify(&transformed)
        .map_err(|v| format!("the result is not well formed: {v:?}\n{transformed}"))?;
    let again: Program =
        transformed.to_string().parse().map_err(|e| format!("the result does not parse: {e}"))?;
    if again != transformed {
        return Err(format!("the result comes back from text as\n{again}"));
    }
    let is_integer = program.arrays.values().all(|a| !a.element.is_float());
    let tolerance = if applied.reassociated && !is_integer { 1e-9 } else { 0.0 };
    let mut n_executed = 0;
    let mut why_skipped = String::new();
    for size in [1, 2, 5, 9, 16] {
        let sizes =
            program.symbols.keys().enumerate().map(|(k, s)| (*s, size + (size > 4) as i64 * k as i64));
        let memory = match Memory::random(program, sizes, 40, 7) {
            Ok(memory) => memory,
            Err(error) => {
                why_skipped = error.to_string();
                continue;
            }
        };
        let planted = planted(&memory, recipe)?;
        let memories = [&memory].into_iter().chain(&planted);
        for memory in memories {
            let run = |program: &Program, nest: &Nest, order| {
                let mut memory = memory.clone();
                let options = Options { max_steps: 5_000_000, parallel: order, vector: order };
                run_nest(program, nest, &mut memory, options).map(|()| memory)
            };
            let expected = match run(program, nest, Order::Forward) {
                Ok(mut memory) => {
                    memory.buffers.retain(|id, _| !is_dead(program, nest, *id));
                    memory
                }
                // Too small for the program's accesses.
                Err(error @ (InterpretError::OutOfBounds { .. } | InterpretError::Undefined(_))) => {
                    why_skipped = error.to_string();
                    continue;
                }
                Err(error) => return Err(format!("the original fails at size {size}: {error}")),
            };
            for order in [Order::Forward, Order::Reversed, Order::Shuffled(3)] {
                let actual = run(&applied.program, &applied.nest, order)
                    .map_err(|e| format!("the result fails at size {size}: {e}\n{transformed}"))?;
                if let Some(difference) = expected.difference(&actual, program, tolerance) {
                    return Err(format!("wrong at size {size}, {order:?}: {difference}\n{transformed}"));
                }
            }
            n_executed += 1;
        }
    }
    if n_executed == 0 {
        return Err(format!("nothing was executed: {why_skipped} at every size"));
    }
    let temporaries = transformed.arrays.values().filter(|a| matches!(a.storage, Storage::Temp(_)));
    match temporaries.into_iter().find(|a| !applied.nest.arrays().contains(&a.id)) {
        Some(unused) => Err(format!("temporary {} is not used", unused.name)),
        None => Ok(()),
    }
}
