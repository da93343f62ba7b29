//! Compares a nest with the result of a recipe.

pub(crate) mod trace;

use oxeye_ir::interpret::{InterpretError, Memory, Options, Order, Value, run_nest};
use oxeye_ir::testing::{Random, Sample};
use oxeye_ir::{ArrayId, Nest, Program, Storage};
use oxeye_transform::testing::random_recipe;
use oxeye_transform::{Applied, Policy, PreparedNest, Recipe, Refusal, apply};
use std::path::Path;

/// Textbook kernels by name, one nest each.
pub(crate) fn kernels() -> Vec<(String, Program)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().map(|e| e.path()).collect();
    files.sort();
    let read = |path: &Path| {
        std::fs::read_to_string(path).unwrap().parse().unwrap_or_else(|e| panic!("{path:?}: {e}"))
    };
    files.iter().map(|p| (p.file_stem().unwrap().to_string_lossy().into_owned(), read(p))).collect()
}

pub(crate) enum Outcome {
    Same,
    Refused(Refusal),
}

/// How often rewrites of nests were refused, the same, and the same with other steps behind them.
#[derive(Default)]
pub(crate) struct Rewrites {
    pub(crate) n_refused: u32,
    pub(crate) n_same: u32,
    pub(crate) n_scheduled: u32,
}

impl Rewrites {
    /// Compares a nest with what a rewrite makes of it, alone and with random steps behind it.
    pub(crate) fn check(
        &mut self,
        sample: &Sample,
        first: &Recipe,
        policy: Policy,
        (memory, tolerance): (&Memory, f64),
        (random, what): (&mut Random, &str),
    ) {
        let prepared = PreparedNest::new(&sample.program, sample.nest());
        let Ok(rewritten) = prepared.rewritten(first, policy) else {
            self.n_refused += 1;
            return;
        };
        let inner = rewritten.prepared();
        let more = random_recipe(inner.program(), inner.nest(), policy, 2, random);
        let further = Recipe { steps: [first.steps.clone(), more.steps].concat() };
        match check_with(sample, first, policy, memory, tolerance, what) {
            Outcome::Same => self.n_same += 1,
            Outcome::Refused(refusal) => panic!("{what}: {refusal}\n{}", sample.program),
        }
        if let Outcome::Same = check_with(sample, &further, policy, memory, tolerance, what) {
            self.n_scheduled += 1;
        }
    }
}

/// The seeds to test: `default` of them, or as many as `OXEYE_CASES` says, starting at `OXEYE_SEED`.
pub(crate) fn cases(default: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let first = number("OXEYE_SEED").unwrap_or(1);
    first..first + number("OXEYE_CASES").unwrap_or(default)
}

/// The program with the original nest replaced by the transformed one.
pub(crate) fn replaced(applied: &Applied) -> Program {
    let mut program = applied.program.clone();
    program.nests.insert(applied.nest.id, applied.nest.clone());
    program.rebuild_dataflow();
    program
}

/// Declares that the function's scalars are not read after the nest, so that they may become private.
pub(crate) fn forget_scalars(sample: &mut Sample) {
    if let Some(nest) = sample.program.nests.values_mut().next() {
        nest.live_out.clear();
    }
}

/// Declares that some of the arrays are not read after the nest, so that they are scratch.
pub(crate) fn forget_arrays(sample: &mut Sample, random: &mut Random) {
    for array in sample.program.arrays.values_mut().skip(1) {
        if array.storage == Storage::Param && !array.shape.is_empty() && random.chance(50) {
            array.storage = Storage::Local;
        }
    }
}

/// Small whole numbers: sums of their products are exact in floating point too.
pub(crate) fn whole_numbers(memory: &mut Memory, seed: u64) {
    let mut random = Random::new(seed);
    for buffer in memory.buffers.values_mut() {
        for value in buffer.values.iter_mut().flatten() {
            let n = random.between(-4, 4);
            *value = match value {
                Value::F32(_) => Value::F32(n as f32),
                Value::F64(_) => Value::F64(n as f64),
                Value::Int(i) => Value::Int(*i),
            };
        }
    }
}

pub(crate) fn run(
    program: &Program,
    nest: &Nest,
    memory: &Memory,
    order: Order,
) -> Result<Memory, InterpretError> {
    let mut memory = memory.clone();
    let options = Options { max_steps: 2_000_000, parallel: order, vector: order };
    run_nest(program, nest, &mut memory, options).map(|()| memory)
}

/// Whether the array is not read after the nest.
fn is_dead(sample: &Sample, id: ArrayId) -> bool {
    sample.program.array(id).storage == Storage::Local && !sample.nest().live_out.contains(&id)
}

/// What is wrong with a transformed nest, if anything.
pub(crate) fn fault(sample: &Sample, applied: &Applied, memory: &Memory, tolerance: f64) -> Option<String> {
    let expected = run(&sample.program, sample.nest(), memory, Order::Forward);
    let expected = match expected {
        Ok(mut memory) => {
            memory.buffers.retain(|id, _| !is_dead(sample, *id));
            memory
        }
        Err(InterpretError::Uninitialized { .. } | InterpretError::StepLimit(_)) => return None,
        Err(error) => return Some(format!("the original fails: {error}")),
    };
    for order in [Order::Forward, Order::Reversed, Order::Shuffled(1), Order::Shuffled(2)] {
        match run(&applied.program, &applied.nest, memory, order) {
            Ok(actual) => {
                if let Some(difference) = expected.difference(&actual, &sample.program, tolerance) {
                    return Some(format!("{order:?}: {difference}"));
                }
            }
            Err(error) => return Some(format!("{order:?}: {error}")),
        }
    }
    None
}

/// Applies a recipe and compares the results.
///
/// # Panics
/// If the results differ, or the transformed nest is not well formed, with everything needed to find out why.
pub(crate) fn check(sample: &Sample, recipe: &Recipe, policy: Policy, seed: u64) -> Outcome {
    let memory = sample.memory(seed).expect("memory");
    check_with(sample, recipe, policy, &memory, 0.0, &format!("seed {seed}"))
}

pub(crate) fn check_with(
    sample: &Sample,
    recipe: &Recipe,
    policy: Policy,
    memory: &Memory,
    tolerance: f64,
    what: &str,
) -> Outcome {
    let applied = match apply(&sample.program, sample.nest(), recipe, policy) {
        Ok(applied) => applied,
        Err(refusal) => return Outcome::Refused(refusal),
    };
    let program = replaced(&applied);
    let report = |fault: String| -> ! {
        panic!(
            "{what}: {fault}\nsymbols {:?}\n{}\n{recipe}\n{}\n{program}",
            sample.symbols,
            sample.program,
            serde_json::to_string(recipe).unwrap()
        )
    };
    if !policy.reassociate && applied.reassociated {
        let floats = sample.program.arrays.values().any(|a| a.element.is_float());
        if floats {
            report("reassociated under the strict policy".into());
        }
    }
    if let Err(violations) = oxeye_ir::verify(&program) {
        report(format!("not well formed: {violations:?}"));
    }
    let text = program.to_string();
    match Program::parse(&text) {
        Ok(again) if again == program => {}
        Ok(again) => report(format!("comes back from text as\n{again}")),
        Err(error) => report(format!("does not parse back: {error}")),
    }
    if let Some(fault) = fault(sample, &applied, memory, tolerance) {
        report(fault);
    }
    Outcome::Same
}
