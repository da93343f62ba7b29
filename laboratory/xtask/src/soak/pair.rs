//! A random nest, a recipe that applies to it, and the expected results.

use oxeye_binding::Binding;
use oxeye_codegen::{CodegenError, RenderOptions, render_nest};
use oxeye_ir::interpret::{InterpretError, Memory, Options, Order, Value, run_nest};
use oxeye_ir::testing::{Random, Sample, Shape, random_program};
use oxeye_ir::{ArrayId, Program, ScalarType, Storage, verify};
use oxeye_transform::steps::Normalize;
use oxeye_transform::templates::Instantiator;
use oxeye_transform::testing::{
    random_overlap, random_product, random_recipe, random_stages, random_tensor_product,
};
use oxeye_transform::{Applied, Machine, Policy, PreparedNest, Recipe, Transformation, apply};

/// A nest with a recipe, its rendering, and memory before and after.
pub(super) struct Pair {
    pub(super) seed: u64,
    pub(super) kind: &'static str,
    /// The program with the original nest.
    pub(super) program: Program,
    recipe: Recipe,
    /// The program with the transformed nest.
    transformed: Program,
    /// The transformed nest as C.
    pub(super) body: String,
    pub(super) before: Memory,
    pub(super) after: Memory,
    /// Whether zeros must have the same sign.
    pub(super) exact: bool,
}

/// The result of a seed.
pub(super) enum Made {
    Pair(Box<Pair>),
    /// Nothing to run.
    LeftOut(String),
    /// A bug of ours, found before anything was compiled.
    Fault(String),
}

impl Pair {
    /// The same with the original nest in place of the transformed one.
    pub(super) fn untouched(mut self) -> Pair {
        let options = RenderOptions { threads: 1, indent: 4, ..RenderOptions::default() };
        if let Some(Ok(body)) = self
            .program
            .nests
            .values()
            .next()
            .map(|n| render_nest(&self.program, Binding::none(), n, &options))
        {
            self.body = body;
        }
        self
    }

    /// Scalars that are read after the nest.
    fn live_out(&self) -> &[ArrayId] {
        self.program.nests.values().next().map_or(&[], |n| &n.live_out)
    }

    /// Whether the recipe begins with the normal form.
    pub(super) fn is_normalized(&self) -> bool {
        matches!(self.recipe.steps.first(), Some(Transformation::Normalize(_)))
    }

    /// What is wrong with the transformed nest in the interpreter, whichever order concurrent iterations take.
    pub(super) fn interpreted(&self) -> Option<String> {
        if let Err(violations) = verify(&self.transformed) {
            return Some(format!("not well formed: {violations:?}"));
        }
        let nest = self.transformed.nests.values().next()?;
        let mut expected = self.after.clone();
        expected.buffers.retain(|id, _| !self.is_dead(*id));
        // Sums of small whole numbers are exact but for the sign of zero.
        let tolerance = if self.exact { 0.0 } else { 1e-9 };
        for order in [Order::Forward, Order::Reversed, Order::Shuffled(self.seed)] {
            let mut memory = self.before.clone();
            let options = Options { max_steps: 4_000_000, parallel: order, vector: order };
            match run_nest(&self.transformed, nest, &mut memory, options) {
                Ok(()) => {
                    if let Some(what) = expected.difference(&memory, &self.program, tolerance) {
                        return Some(format!("wrong in the interpreter ({order:?}): {what}"));
                    }
                }
                Err(error) => return Some(format!("fails in the interpreter ({order:?}): {error}")),
            }
        }
        None
    }

    /// Whether the array is dead after the nest.
    pub(super) fn is_dead(&self, id: ArrayId) -> bool {
        self.program.array(id).storage == Storage::Local && !self.live_out().contains(&id)
    }

    /// Everything needed to reproduce it.
    pub(super) fn report(&self, what: &str) -> String {
        let json = serde_json::to_string(&self.recipe).unwrap_or_default();
        format!(
            "seed {} ({}): {what}\nsymbols {:?}\n{}\n{}\n{json}\n{}\n{}",
            self.seed, self.kind, self.before.symbols, self.program, self.recipe, self.transformed, self.body
        )
    }
}

/// The pair of a seed.
pub(super) fn make(seed: u64) -> Made {
    match std::panic::catch_unwind(|| try_make(seed)) {
        Ok(made) => made,
        Err(_) => Made::Fault(format!("seed {seed}: panicked before anything was compiled")),
    }
}

fn try_make(seed: u64) -> Made {
    let mut random = Random::new(seed ^ 0x5eed);
    let integers = Shape { element: ScalarType::I64, ..Shape::default() };
    let shapes = [
        integers.clone(),
        Shape::default(),
        Shape { element: ScalarType::F32, has_data_dependence: true, ..Shape::default() },
        Shape { has_data_dependence: true, ..integers.clone() },
        Shape { max_depth: 4, max_stmts: 3, ..integers.clone() },
        Shape { has_guards: false, has_combined_bounds: false, has_steps: false, ..integers.clone() },
        Shape { has_quotients: true, ..integers },
    ];
    let (kind, sample, recipe, policy, applied) = match random.below(22) {
        0..4 => {
            let (sample, recipe) = match random.chance(50) {
                true => random_product(&mut random),
                false => random_tensor_product(&mut random),
            };
            let policy = Policy { reassociate: random.chance(70), finite: false };
            let applied = apply(&sample.program, sample.nest(), &recipe, policy);
            ("contraction", sample, recipe, policy, applied)
        }
        4 | 5 => {
            let sample = random_stages(&mut random);
            let policy = Policy { reassociate: false, finite: false };
            let prepared = PreparedNest::new(&sample.program, sample.nest());
            let tiles = Recipe { steps: vec![random_overlap(sample.nest(), &mut random).into()] };
            let Ok(tiled) = prepared.rewritten(&tiles, policy) else {
                return Made::LeftOut("loops that tiles do not fit".into());
            };
            let inner = tiled.prepared();
            let further = random_recipe(inner.program(), inner.nest(), policy, 3, &mut random);
            let recipe = Recipe { steps: [tiles.steps, further.steps].concat() };
            let applied = prepared.apply(&recipe, policy);
            ("overlapped tiles", sample, recipe, policy, applied)
        }
        6..9 => {
            let shape = random.pick(&shapes);
            let sample = sampled(seed, &shape);
            let policy = Policy { reassociate: false, finite: false };
            let vector_bytes = random.pick(&[16, 32, 64]);
            let machine = Machine { l1: 1 << 10, l2: 4 << 10, l3: 16 << 10, threads: 2, vector_bytes };
            let mut instantiator = Instantiator::new(&sample.program, sample.nest(), &machine, policy);
            let found = instantiator.templates();
            if found.is_empty() {
                return Made::LeftOut("no suggestion".into());
            }
            let Ok(recipe) = instantiator.instantiate(&random.pick(&found)) else {
                return Made::LeftOut("suggestion that does not fit".into());
            };
            let applied = instantiator.prepared().apply(&recipe, policy);
            ("suggested recipe", sample, recipe, policy, applied)
        }
        9..17 => {
            let shape = random.pick(&shapes);
            let mut sample = sampled(seed, &shape);
            forget_arrays(&mut sample, &mut random);
            // Integers wrap, so their sums are the same in any order.
            let policy =
                Policy { reassociate: shape.element == ScalarType::I64 && random.chance(50), finite: false };
            let prepared = PreparedNest::new(&sample.program, sample.nest());
            let normal = prepared.normal_form(policy);
            let mut recipe = random_recipe(&normal.program, &normal.nest, policy, 4, &mut random);
            recipe.steps.insert(0, Transformation::Normalize(Normalize {}));
            let applied = prepared.apply(&recipe, policy);
            ("random recipe on the normal form", sample, recipe, policy, applied)
        }
        _ => {
            let shape = random.pick(&shapes);
            let sample = sampled(seed, &shape);
            let policy = Policy { reassociate: false, finite: false };
            let recipe = random_recipe(&sample.program, sample.nest(), policy, 5, &mut random);
            let applied = apply(&sample.program, sample.nest(), &recipe, policy);
            ("random recipe", sample, recipe, policy, applied)
        }
    };
    if recipe.steps.is_empty() {
        return Made::LeftOut("empty recipe".into());
    }
    match applied {
        Ok(applied) => finish(seed, kind, &sample, recipe, policy, applied, &mut random),
        Err(_) => Made::LeftOut(format!("refused {kind}")),
    }
}

/// A random program; for most seeds its scalars are dead after the nest, so that they may become private.
fn sampled(seed: u64, shape: &Shape) -> Sample {
    let mut sample = random_program(seed, shape);
    if seed % 5 < 3
        && let Some(nest) = sample.program.nests.values_mut().next()
    {
        nest.live_out.clear();
    }
    sample
}

/// Makes some of the arrays dead after the nest.
fn forget_arrays(sample: &mut Sample, random: &mut Random) {
    for array in sample.program.arrays.values_mut().skip(1) {
        if array.storage == Storage::Param && !array.shape.is_empty() && random.chance(40) {
            array.storage = Storage::Local;
        }
    }
}

fn finish(
    seed: u64,
    kind: &'static str,
    sample: &Sample,
    recipe: Recipe,
    policy: Policy,
    applied: Applied,
    random: &mut Random,
) -> Made {
    let Ok(mut before) = sample.memory(seed) else { return Made::LeftOut("no memory".into()) };
    if kind == "contraction" {
        whole_numbers(&mut before, random);
    }
    let mut after = before.clone();
    let options = Options { max_steps: 2_000_000, ..Options::default() };
    match run_nest(&sample.program, sample.nest(), &mut after, options) {
        Ok(()) => {}
        Err(InterpretError::Uninitialized { .. } | InterpretError::StepLimit(_)) => {
            return Made::LeftOut("original without a result".into());
        }
        Err(error) => {
            return Made::Fault(format!("seed {seed}: the original fails: {error}\n{}", sample.program));
        }
    }
    let mut program = applied.program;
    // The original stays there as N0, for codegen's fallback.
    let body = render_nest(
        &program,
        Binding::none(),
        &applied.nest,
        &RenderOptions {
            threads: random.pick(&[1, 2, 2, 2]),
            comment: Vec::new(),
            indent: 4,
            reassociate: policy.reassociate,
            plain_sums: policy.reassociate && random.chance(50),
            ..RenderOptions::default()
        },
    );
    program.nests.insert(applied.nest.id, applied.nest);
    program.rebuild_dataflow();
    let pair = |body: String| Pair {
        seed,
        kind,
        program: sample.program.clone(),
        recipe,
        transformed: program,
        body,
        before,
        after,
        exact: !policy.reassociate,
    };
    match body {
        Ok(body) => Made::Pair(Box::new(pair(body))),
        Err(CodegenError::Malformed { what }) => Made::Fault(pair(String::new()).report(&what)),
        Err(error) => Made::LeftOut(format!("not rendered: {error}")),
    }
}

/// Small whole numbers: sums of their products are exact in any order.
fn whole_numbers(memory: &mut Memory, random: &mut Random) {
    for value in memory.buffers.values_mut().flat_map(|b| b.values.iter_mut().flatten()) {
        let n = random.between(-4, 4);
        *value = match value {
            Value::F32(_) => Value::F32(n as f32),
            Value::F64(_) => Value::F64(n as f64),
            Value::Int(_) => *value,
        };
    }
}
