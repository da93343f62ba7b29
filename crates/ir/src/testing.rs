//! Random small programs and helpers for property tests; behind the feature `testing`.
//!
//! Each program is a function of a seed: [`random_program`] turns proptest's `any::<u64>()` into programs, and failures
//! are reported by seed. Sizes are small enough to enumerate every statement instance.

use crate::interpret::{InterpretError, Memory};
use crate::{
    Access, Affine, Array, ArrayId, BinaryOp, Bound, BoundTerm, Constraint, DataflowGraph, Execution, Expr,
    Form, Loop, LoopId, MathFn, Nest, NestId, Node, Program, Region, ScalarType, Stmt, StmtId, Storage,
    SymId, UnaryOp, Update, Var,
};
use oxeye_random::SplitMix64;

/// Whether a test that lacks `what` must fail instead of being skipped: whether the environment variable
/// `OXEYE_REQUIRE` names it (`isl,clang,dataset`), as `.ci/run` does.
pub fn is_required(what: &str) -> bool {
    std::env::var("OXEYE_REQUIRE").is_ok_and(|list| list.split(',').any(|name| name.trim() == what))
}

/// A deterministic source of choices.
#[derive(Clone, Debug)]
pub struct Random(SplitMix64);

impl Random {
    /// A source of choices determined by `seed`.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// A number in `0..n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.remainder(n as u64) as usize
    }

    /// A number in `low..=high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1).max(1) as usize) as i64
    }

    /// True with a probability of `percent` %.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the choices, which must not be empty.
    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

/// What random nests may contain.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Most loops around a statement.
    pub max_depth: usize,
    /// Most statements.
    pub max_stmts: usize,
    /// Most arrays of one or two dimensions, not counting scalars.
    pub max_arrays: usize,
    /// Type of all elements. Integers make sums and products independent of order.
    pub element: ScalarType,
    /// Affine guards.
    pub has_guards: bool,
    /// Bounds with `min`, `max` and `ceil`.
    pub has_combined_bounds: bool,
    /// Steps other than 1.
    pub has_steps: bool,
    /// Scalars, local to the function or to a loop's body.
    pub has_scalars: bool,
    /// Indices and bounds read from memory, and data-dependent guards.
    pub has_data_dependence: bool,
    /// Indices that are quotients or remainders by constants.
    pub has_quotients: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            max_depth: 3,
            max_stmts: 4,
            max_arrays: 3,
            element: ScalarType::F64,
            has_guards: true,
            has_combined_bounds: true,
            has_steps: true,
            has_scalars: true,
            has_data_dependence: false,
            has_quotients: false,
        }
    }
}

/// A random program of one nest, with values of its symbols for which every access is in bounds.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The program.
    pub program: Program,
    /// Values of its symbols.
    pub symbols: Vec<(SymId, i64)>,
}

impl Sample {
    /// The nest.
    pub fn nest(&self) -> &Nest {
        &self.program.nests[0]
    }

    /// Random contents for the arrays.
    ///
    /// # Errors
    /// As [`Memory::random`]; never for a freshly generated sample.
    pub fn memory(&self, seed: u64) -> Result<Memory, InterpretError> {
        Memory::random(&self.program, self.symbols.iter().copied(), 0, seed)
    }
}

/// A random program: one nest, symbols `n` and `m`, arrays `A`, `B`, `C`, loops `i`, `j`, `k`.
pub fn random_program(seed: u64, shape: &Shape) -> Sample {
    let mut random = Random::new(seed);
    let mut program = Program::new("random");
    let mut symbols = Vec::new();
    for name in ["n", "m"] {
        let symbol = program.add_symbol(name, ScalarType::I32);
        program.assumptions.push(Constraint::ge(symbol.into(), 1.into()));
        symbols.push((symbol, random.between(2, 5)));
    }
    let n_arrays = 1 + random.below(shape.max_arrays.max(1));
    let mut generator = Generator {
        random,
        shape,
        symbols,
        program,
        arrays: Vec::new(),
        scalars: Vec::new(),
        index_array: None,
        path: Vec::new(),
        n_loops: 0,
        n_stmts: 0,
    };
    for name in ["A", "B", "C", "D", "E", "F"].into_iter().take(n_arrays) {
        let n_dims = if generator.random.chance(60) { 2 } else { 1 };
        let id = generator.declare(name, shape.element, Storage::Param);
        generator.arrays.push((id, vec![1; n_dims]));
    }
    if shape.has_scalars && generator.random.chance(30) {
        let id = generator.declare("s", shape.element, Storage::Local);
        generator.scalars.push(id);
    }
    if shape.has_data_dependence {
        let id = generator.declare("idx", ScalarType::I32, Storage::Param);
        generator.arrays.push((id, vec![1]));
        generator.index_array = Some(id);
    }
    generator.finish()
}

/// A loop around the place being generated.
struct Around {
    id: LoopId,
    /// Range of its iterator, both ends inclusive.
    first: i64,
    last: i64,
}

struct Generator<'a> {
    random: Random,
    shape: &'a Shape,
    symbols: Vec<(SymId, i64)>,
    program: Program,
    /// Arrays with the extents that their accesses need.
    arrays: Vec<(ArrayId, Vec<i64>)>,
    /// Scalars that may be read and written here.
    scalars: Vec<ArrayId>,
    /// The array of integers in `0..8` used for indirection.
    index_array: Option<ArrayId>,
    path: Vec<Around>,
    n_loops: u32,
    n_stmts: u32,
}

impl Generator<'_> {
    fn declare(&mut self, name: &str, element: ScalarType, storage: Storage) -> ArrayId {
        self.program.add_array(Array {
            id: ArrayId(0),
            name: name.to_owned(),
            element,
            c_type: None,
            shape: Vec::new(),
            form: Form::Nested,
            storage,
            align: 0,
        })
    }

    fn finish(mut self) -> Sample {
        let mut roots = vec![self.for_loop()];
        if self.can_add_stmt() && self.random.chance(10) {
            roots.push(self.for_loop());
        }
        for (id, extents) in std::mem::take(&mut self.arrays) {
            let shape = extents
                .iter()
                .map(|extent| {
                    let (symbol, value) = self.random.pick(&self.symbols);
                    let symbolic = Affine::var(symbol).offset(extent - value);
                    Some(Expr::Affine(if self.random.chance(50) {
                        symbolic
                    } else {
                        Affine::constant(*extent)
                    }))
                })
                .collect();
            if let Some(array) = self.program.arrays.get_mut(&id) {
                array.shape = shape;
                if array.shape.len() == 2 && self.random.chance(15) {
                    array.form = Form::Linear;
                }
            }
        }
        let id = NestId(0);
        let live_out =
            self.program.arrays.values().filter(|a| a.storage == Storage::Local).map(|a| a.id).collect();
        self.program.nests.insert(
            id,
            Nest {
                id,
                function: "random".into(),
                span: None,
                roots,
                live_out,
                rotations: Vec::new(),
                mentions: Vec::new(),
                unordered: Vec::new(),
                bounded: Vec::new(),
            },
        );
        self.program.body = Region::Dataflow(DataflowGraph::build(&self.program, &[id]));
        Sample { program: self.program, symbols: self.symbols }
    }

    fn can_add_stmt(&self) -> bool {
        (self.n_stmts as usize) < self.shape.max_stmts
    }

    /// Smallest and largest value of an expression at this place.
    fn range(&self, affine: &Affine) -> (i64, i64) {
        affine.terms().fold((affine.constant_part(), affine.constant_part()), |(low, high), (var, c)| {
            let (first, last) = match var {
                Var::Loop(l) => self.path.iter().find(|a| a.id == l).map_or((0, 0), |a| (a.first, a.last)),
                Var::Sym(s) => {
                    let value = self.symbols.iter().find(|(id, _)| *id == s).map_or(0, |(_, v)| *v);
                    (value, value)
                }
            };
            (low + (c * first).min(c * last), high + (c * first).max(c * last))
        })
    }

    fn outer(&mut self) -> Option<LoopId> {
        let at = self.random.below(self.path.len());
        self.path.get(at).map(|a| a.id)
    }

    fn bounds(&mut self) -> (Bound, Bound) {
        let size = Affine::var(self.random.pick(&self.symbols).0);
        let zero = Affine::constant(0);
        let outer = self.outer();
        let has_combined = self.shape.has_combined_bounds;
        match (self.random.below(if has_combined { 10 } else { 7 }), outer) {
            (0 | 1, _) => {
                let low = self.random.between(-1, 2);
                (low.into(), (low + self.random.between(1, 4)).into())
            }
            (2, _) => (zero.into(), size.into()),
            (3, _) => (Affine::constant(1).into(), size.offset(self.random.between(-1, 1)).into()),
            (4, Some(o)) => (Affine::var(o).offset(self.random.between(0, 1)).into(), size.into()),
            (5, Some(o)) => (zero.into(), Affine::var(o).offset(self.random.between(0, 1)).into()),
            (6, Some(o)) => (zero.into(), (size - Affine::var(o)).into()),
            (7, Some(o)) => {
                let o = Affine::var(o);
                let terms = |a: Affine, b: Affine| Bound(vec![a.into(), b.into()]);
                (terms(zero, o.clone().offset(-1)), terms(size, o.offset(2)))
            }
            (8, _) => {
                let half = |expr: Affine| Bound(vec![BoundTerm::Affine { expr, divisor: 2 }]);
                match outer {
                    Some(o) if self.random.chance(50) => (half(Affine::var(o)), size.into()),
                    _ => (zero.into(), half(size.offset(3))),
                }
            }
            (9, _) if self.random.chance(50) => {
                let other = Affine::var(self.random.pick(&self.symbols).0);
                (zero.into(), Bound(vec![size.into(), other.into(), Affine::constant(3).into()]))
            }
            _ => (zero.into(), size.into()),
        }
    }

    fn range_of_bound(&self, bound: &Bound, is_lower: bool) -> (i64, i64) {
        let ranges = bound.0.iter().map(|term| match term {
            BoundTerm::Affine { expr, divisor } => {
                let (low, high) = self.range(expr);
                let ceil = |v: i64| v.div_euclid(*divisor) + i64::from(v.rem_euclid(*divisor) != 0);
                (ceil(low), ceil(high))
            }
            BoundTerm::Data(_) | BoundTerm::Open => (0, 7),
        });
        let combine = |a: i64, b: i64| if is_lower { a.max(b) } else { a.min(b) };
        ranges.reduce(|a, b| (combine(a.0, b.0), combine(a.1, b.1))).unwrap_or((0, 0))
    }

    fn for_loop(&mut self) -> Node {
        let (lower, mut upper) = self.bounds();
        if let Some(idx) = self.index_array
            && self.random.chance(15)
        {
            let index = self.index(idx, 0);
            upper = Bound(vec![BoundTerm::Data(Expr::Read(Access { array: idx, indices: vec![index] }))]);
        }
        let first = self.range_of_bound(&lower, true).0;
        let last = (self.range_of_bound(&upper, false).1 - 1).max(first);
        let id = LoopId(self.n_loops);
        self.n_loops += 1;
        let name = ["i", "j", "k", "l", "p", "q"][self.path.len().min(5)].to_owned();
        let step = if self.shape.has_steps && self.random.chance(15) {
            self.random.pick(&[2, -1, -2, 3])
        } else {
            1
        };
        self.path.push(Around { id, first, last });
        let n_scalars = self.scalars.len();
        let mut body = Vec::new();
        if self.shape.has_scalars
            && self.n_stmts as usize + 1 < self.shape.max_stmts
            && self.random.chance(20)
        {
            let scalar = self.declare(&format!("t{}", id.0), self.shape.element, Storage::Body(id));
            let value = self.value(2);
            body.push(self.assign(Access::scalar(scalar), Update::Assign, value));
            self.scalars.push(scalar);
        }
        loop {
            let can_nest = self.path.len() < self.shape.max_depth;
            let child = if can_nest && self.random.chance(65) { self.for_loop() } else { self.stmt() };
            body.push(self.guarded(child));
            if !self.can_add_stmt() || self.random.chance(50) {
                break;
            }
        }
        self.scalars.truncate(n_scalars);
        self.path.pop();
        let (ty, execution) = (ScalarType::I32, Execution::Sequential);
        Node::Loop(Loop { id, name, ty, lower: lower.clone(), upper, step, execution, body })
    }

    fn guarded(&mut self, child: Node) -> Node {
        if !self.shape.has_guards || !self.random.chance(12) {
            return child;
        }
        let op = self.random.pick(&[BinaryOp::Lt, BinaryOp::Ge, BinaryOp::Eq, BinaryOp::Ne]);
        let (left, right) = match self.index_array {
            Some(_) if self.random.chance(40) => (self.value(1), Expr::from(self.random.between(-1, 1))),
            _ => (Expr::Affine(self.affine_of_iterators()), Expr::from(self.random.between(0, 3))),
        };
        let otherwise =
            if self.can_add_stmt() && self.random.chance(30) { vec![self.stmt()] } else { Vec::new() };
        Node::If { condition: Expr::binary(op, left, right), then: vec![child], otherwise }
    }

    fn affine_of_iterators(&mut self) -> Affine {
        let Some(first) = self.outer() else { return Affine::constant(self.random.between(0, 2)) };
        let mut affine =
            Affine::term(first, if self.random.chance(85) { 1 } else { self.random.pick(&[-1, 2]) });
        if self.random.chance(20)
            && let Some(second) = self.outer()
        {
            affine = affine + Affine::term(second, self.random.pick(&[1, -1]));
        }
        affine
    }

    /// An index into dimension `dim`; the array grows to fit it.
    fn index(&mut self, array: ArrayId, dim: usize) -> Expr {
        let indirect = self.index_array.filter(|idx| *idx != array && self.random.chance(25));
        let (expr, last) = match indirect {
            Some(idx) => {
                let inner = self.index(idx, 0);
                (Expr::Read(Access { array: idx, indices: vec![inner] }), 7)
            }
            None => {
                let affine = self.affine_of_iterators();
                let low = self.range(&affine).0;
                let affine = affine.offset((-low).max(0) + self.random.pick(&[0, 0, 0, 1, 2]));
                let last = self.range(&affine).1;
                if self.shape.has_quotients && self.random.chance(40) {
                    self.folded(affine, last)
                } else {
                    (Expr::Affine(affine), last)
                }
            }
        };
        if let Some((_, extents)) = self.arrays.iter_mut().find(|(id, _)| *id == array) {
            extents[dim] = extents[dim].max(last + 1);
        }
        expr
    }

    /// What an index between 0 and `last` may be made: a quotient, a remainder, or one that stays inside of borders, with the greatest
    /// value.
    fn folded(&mut self, index: Affine, last: i64) -> (Expr, i64) {
        let reach = self.random.between(1, 2);
        let divisor = self.random.between(2, 4);
        match self.random.below(6) {
            0 => (Expr::binary(BinaryOp::Div, index.into(), divisor.into()), last / divisor),
            1 | 2 => (Expr::binary(BinaryOp::Rem, index.into(), divisor.into()), last.min(divisor - 1)),
            3 => {
                let around = (last + 1 - reach).max(1);
                (Expr::binary(BinaryOp::Rem, index.into(), around.into()), last.min(around - 1))
            }
            4 => {
                let end = (last - reach).max(0);
                (Expr::binary(BinaryOp::Min, index.into(), end.into()), end)
            }
            _ => {
                let shifted = index.offset(-reach);
                let condition = Expr::binary(BinaryOp::Lt, shifted.clone().into(), 0.into());
                let (then, otherwise) = (Box::new(0.into()), Box::new(shifted.into()));
                let clamped = Expr::Select { condition: condition.into(), then, otherwise };
                (clamped, (last - reach).max(0))
            }
        }
    }

    /// An access to an array or scalar of the element type.
    fn access(&mut self) -> Access {
        if !self.scalars.is_empty() && self.random.chance(25) {
            return Access::scalar(self.random.pick(&self.scalars));
        }
        let data: Vec<_> = self.arrays.iter().filter(|(id, _)| Some(*id) != self.index_array).collect();
        let (array, n_dims) = match data.get(self.random.below(data.len())) {
            Some((array, extents)) => (*array, extents.len()),
            None => (ArrayId(0), 0),
        };
        Access { array, indices: (0..n_dims).map(|dim| self.index(array, dim)).collect() }
    }

    fn stmt(&mut self) -> Node {
        let target = self.access();
        let update = if self.random.chance(50) {
            Update::Assign
        } else {
            self.random.pick(&[
                Update::Add,
                Update::Add,
                Update::Add,
                Update::Sub,
                Update::Mul,
                Update::Min,
                Update::Max,
            ])
        };
        let value = self.value(2);
        self.assign(target, update, value)
    }

    fn assign(&mut self, target: Access, update: Update, value: Expr) -> Node {
        let id = StmtId(self.n_stmts);
        self.n_stmts += 1;
        Node::Stmt(Stmt { id, target, update, value, line: None })
    }

    fn literal(&mut self) -> Expr {
        match self.shape.element {
            ScalarType::F32 => {
                Expr::Float { text: self.random.pick(&["0.5f", "0.25f", "1.0f"]).into(), ty: ScalarType::F32 }
            }
            ScalarType::F64 => {
                Expr::Float { text: self.random.pick(&["0.5", "0.25", "1.0"]).into(), ty: ScalarType::F64 }
            }
            _ => Expr::from(self.random.between(1, 3)),
        }
    }

    fn value(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.random.chance(25) {
            return match self.random.below(8) {
                0 => self.literal(),
                1 => Expr::Affine(self.affine_of_iterators()),
                _ => Expr::Read(self.access()),
            };
        }
        let left = self.value(depth - 1);
        match self.random.below(12) {
            0 => Expr::binary(self.random.pick(&[BinaryOp::Min, BinaryOp::Max]), left, self.value(depth - 1)),
            1 => {
                let condition = Expr::binary(BinaryOp::Lt, left.clone(), self.value(depth - 1));
                let otherwise = self.value(depth - 1);
                Expr::Select { condition: condition.into(), then: left.into(), otherwise: otherwise.into() }
            }
            2 if self.shape.element.is_float() => {
                let single = self.shape.element == ScalarType::F32;
                Expr::Call { function: MathFn::Fabs, single, args: vec![left] }
            }
            3 => Expr::unary(UnaryOp::Neg, left),
            4 | 5 => Expr::binary(BinaryOp::Mul, self.literal(), left),
            6 => Expr::binary(BinaryOp::Mul, left, self.value(depth - 1)),
            n => Expr::binary(
                if n % 3 == 0 { BinaryOp::Sub } else { BinaryOp::Add },
                left,
                self.value(depth - 1),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpret::{Options, run_nest};

    #[test]
    fn samples_run_and_round_trip() {
        let shapes = [
            Shape::default(),
            Shape { has_data_dependence: true, ..Shape::default() },
            Shape { element: ScalarType::I64, max_depth: 2, ..Shape::default() },
            Shape { has_quotients: true, ..Shape::default() },
        ];
        for seed in 0..800 {
            let sample = random_program(seed, &shapes[seed as usize % shapes.len()]);
            let text = sample.program.to_string();
            let again = Program::parse(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
            assert_eq!(again, sample.program, "seed {seed}:\n{text}");
            let mut memory = sample.memory(seed).unwrap();
            run_nest(&sample.program, sample.nest(), &mut memory, Options::default())
                .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
            assert!(sample.nest().stmts().len() <= 6);
        }
    }
}
