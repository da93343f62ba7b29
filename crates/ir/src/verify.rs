//! Checks the invariants of a program.

use crate::{
    Access, Affine, ArrayId, Bound, BoundTerm, Execution, Expr, Loop, LoopId, Names, Nest, NestId, Node,
    Program, Reduction, Region, Stmt, Storage, Types, UnaryOp, Var, parse::float_type,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A broken invariant of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where: the program, an array, or a nest with a loop or statement.
    pub place: String,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Checks the whole program:
///
/// 1. Every symbol, array and nest is stored under its own id; symbols are integers.
/// 2. Loop ids and statement ids are unique inside their nest.
/// 3. Every array and symbol used is declared.
/// 4. An iterator is used only inside its loop; the loop's own bounds use only outer iterators. Iterators are integers.
/// 5. An access has as many indices as its array has dimensions; indices, and bounds read from memory, are integers.
/// 6. Only the first extent of an array may be unknown, and none of a temporary; extents are integers that use only
///    symbols.
/// 7. Bounds have at least one term, divisors are at least 1, steps are not zero.
/// 8. Arrays that live in a loop's body (`Body(l)`, `Temp(Some(l))`) are accessed only inside a loop of that id.
/// 9. Every nest is in exactly one dataflow graph, and graphs contain only declared nests.
/// 10. Unrolled loops have a constant trip count. Explicit vectors have a power of two of lanes and visit consecutive
///     iterations. Vector loops contain no parallel loop. Reductions accumulate (`+ - * min max`).
/// 11. A floating literal is a C literal of its type (`0.5f` for `F32`), without a sign.
/// 12. `% & | ^ << >> ~` have integer operands, functions their number of arguments, and `abs` has no `float` variant.
/// 13. Coefficients and constants are not saturated (strictly between the least and greatest 64-bit integers).
///
/// # Errors
/// All violations, in textual order.
pub fn verify(program: &Program) -> Result<(), Vec<Violation>> {
    let mut checker = Checker::new(program);
    checker.declarations();
    for nest in program.nests.values() {
        checker.nest(nest);
    }
    checker.regions();
    checker.finish()
}

/// Checks one nest, which need not be part of the program, against the program's declarations: invariants 2 to 5, 7, 8
/// and 10 to 13 of [`verify`].
///
/// # Errors
/// All violations, in textual order.
pub fn verify_nest(program: &Program, nest: &Nest) -> Result<(), Vec<Violation>> {
    let mut checker = Checker::new(program);
    checker.nest(nest);
    checker.finish()
}

/// Collects what is wrong with a program, and with what others keep beside it.
pub struct Checker<'a> {
    program: &'a Program,
    place: String,
    violations: Vec<Violation>,
}

impl<'a> Checker<'a> {
    /// Nothing is known to be wrong yet.
    pub fn new(program: &'a Program) -> Self {
        Self { program, place: program.name.clone(), violations: Vec::new() }
    }

    /// Whether nothing was wrong.
    ///
    /// # Errors
    /// All violations, in the order in which they were found.
    pub fn finish(self) -> Result<(), Vec<Violation>> {
        if self.violations.is_empty() { Ok(()) } else { Err(self.violations) }
    }

    fn report(&mut self, message: impl Into<String>) {
        self.violations.push(Violation { place: self.place.clone(), message: message.into() });
    }

    /// Says what is wrong if something does not hold.
    pub fn require(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.report(message());
        }
    }

    fn declarations(&mut self) {
        let program = self.program;
        for (id, symbol) in &program.symbols {
            self.require(*id == symbol.id, || format!("symbol {} is stored as {id}", symbol.id));
            self.require(!symbol.ty.is_float(), || format!("symbol {} is not an integer", symbol.name));
        }
        for (id, nest) in &program.nests {
            self.require(*id == nest.id, || format!("nest {} is stored as {id}", nest.id));
        }
        for (id, array) in &program.arrays {
            self.place = format!("array {} ({id})", array.name);
            self.require(*id == array.id, || format!("array {} is stored as {id}", array.id));
            let is_temporary = matches!(array.storage, Storage::Temp(_));
            for (dim, extent) in array.shape.iter().enumerate() {
                match extent {
                    None => self.require(dim == 0 && !is_temporary, || {
                        "only the first extent may be unknown, and none of a temporary".into()
                    }),
                    Some(extent) => {
                        self.require(extent.reads().is_empty(), || "an extent reads memory".into());
                        self.expr(extent, &[]);
                        self.integer(extent, &[], "an extent");
                    }
                }
            }
        }
        self.place = program.name.clone();
        for constraint in &program.assumptions {
            self.affine(&constraint.expr, &[]);
        }
        for (a, b) in &program.may_alias {
            self.array(*a);
            self.array(*b);
        }
        for (reshape, array) in &program.reshapes {
            self.array(*reshape);
            self.array(*array);
            let is_one = !program.reshapes.contains_key(array);
            self.require(is_one, || {
                format!("{reshape} is {array} with other dimensions, which is another's itself")
            });
        }
        for nest in program.threads.keys() {
            let is_declared = program.nests.contains_key(nest);
            self.require(is_declared, || format!("who runs {nest} is said, but it is not declared"));
        }
    }

    fn regions(&mut self) {
        let program = self.program;
        self.place = program.name.clone();
        let mut n_places: BTreeMap<NestId, usize> = BTreeMap::new();
        program.body.visit(&mut |region| match region {
            Region::Dataflow(graph) => {
                for nest in graph.nests() {
                    *n_places.entry(*nest).or_default() += 1;
                    let is_declared = program.nests.contains_key(nest);
                    self.require(is_declared, || {
                        format!("{nest} stands in a dataflow graph but is not declared")
                    });
                }
            }
            Region::Loop(l) => {
                if let Some(iterator) = l.iterator {
                    self.var(iterator.into(), &[]);
                }
                for end in l.range.iter().flat_map(|(from, to)| [from, to]) {
                    self.expr(end, &[]);
                }
            }
            Region::Branch { condition, .. } => condition.iter().for_each(|c| self.expr(c, &[])),
            Region::Swap(a, b) => [*a, *b].into_iter().for_each(|a| self.array(a)),
            Region::Opaque(opaque) => {
                opaque.reads.iter().chain(&opaque.writes).flatten().for_each(|a| self.array(*a));
            }
            Region::Sequence(_) => {}
        });
        for nest in program.nests.keys() {
            let n = n_places.get(nest).copied().unwrap_or(0);
            self.require(n == 1, || format!("{nest} stands in {n} dataflow graphs, not in one"));
        }
    }

    fn nest(&mut self, nest: &'a Nest) {
        self.place = nest.id.to_string();
        nest.live_out.iter().chain(&nest.unordered).chain(&nest.bounded).for_each(|a| self.array(*a));
        for rotation in &nest.rotations {
            rotation.pointers.iter().for_each(|a| self.array(*a));
            let different: BTreeSet<&ArrayId> = rotation.pointers.iter().collect();
            let is_fine = rotation.pointers.len() > 1 && different.len() == rotation.pointers.len();
            self.require(is_fine, || "a pointer is swapped with itself".into());
            rotation.times.terms().for_each(|(var, _)| self.var(var, &[]));
        }
        nest.mentions.iter().for_each(|symbol| self.var((*symbol).into(), &[]));
        let (mut loops, mut stmts) = (BTreeSet::new(), BTreeSet::new());
        nest.visit(&mut |path, node| match node {
            Node::Loop(l) => {
                self.place = format!("{}, {} ({})", nest.id, l.id, l.name);
                self.require(loops.insert(l.id), || format!("{} is the id of two loops", l.id));
                self.for_loop(l, path);
                self.require(!l.upper.is_open() || l.left_by().is_some(), || "nothing ends the loop".into());
            }
            Node::Stmt(s) => {
                self.place = format!("{}, {}", nest.id, s.id);
                self.require(stmts.insert(s.id), || format!("{} is the id of two statements", s.id));
                self.stmt(s, path);
            }
            Node::If { condition, .. } => {
                self.place = format!("{}, a guard", nest.id);
                self.expr(condition, path);
            }
        });
    }

    /// Checks the header of a loop inside of others.
    pub fn for_loop(&mut self, l: &Loop, path: &[&Loop]) {
        self.require(!l.ty.is_float(), || "the iterator is not an integer".into());
        self.require(l.step != 0, || "the step is zero".into());
        self.bound(&l.lower, path, "lower");
        self.bound(&l.upper, path, "upper");
        self.require(!l.upper.is_open() || l.step == 1, || "an open loop does not count by one".into());
        let is_in_vector = path.iter().any(|l| matches!(l.execution, Execution::Vector { .. }));
        match &l.execution {
            Execution::Sequential => {}
            Execution::Parallel { reductions, .. } => {
                self.require(!is_in_vector, || "a parallel loop stands inside a vector loop".into());
                self.reductions(reductions, path);
            }
            Execution::Vector { lanes, reductions } => {
                if let Some(lanes) = lanes {
                    self.require(lanes.is_power_of_two(), || format!("{lanes} lanes are not a power of two"));
                    self.require(l.step == 1, || "explicit vectors need consecutive iterations".into());
                }
                self.reductions(reductions, path);
            }
            Execution::Unrolled => {
                self.require(l.constant_trip_count().is_some(), || {
                    "an unrolled loop needs a constant trip count".into()
                });
            }
        }
    }

    fn bound(&mut self, bound: &Bound, path: &[&Loop], side: &str) {
        self.require(!bound.0.is_empty(), || format!("the {side} bound has no terms"));
        let is_alone = !bound.is_open() || side == "upper" && bound.0.len() == 1;
        self.require(is_alone, || format!("the {side} bound is open, and has other terms or is a lower one"));
        for term in &bound.0 {
            match term {
                BoundTerm::Affine { expr, divisor } => {
                    self.require(*divisor >= 1, || format!("the {side} bound divides by {divisor}"));
                    self.affine(expr, path);
                }
                BoundTerm::Data(e) => {
                    self.expr(e, path);
                    self.integer(e, path, "a bound");
                }
                BoundTerm::Open => {}
            }
        }
    }

    fn reductions(&mut self, reductions: &[Reduction], path: &[&Loop]) {
        for r in reductions {
            self.array(r.array);
            self.scope(r.array, path);
            self.require(r.op.is_reduction(), || format!("{} is not reduced by an accumulation", r.array));
        }
    }

    fn stmt(&mut self, s: &Stmt, path: &[&Loop]) {
        self.access(&s.target, path);
        s.target.indices.iter().for_each(|e| self.expr(e, path));
        self.expr(&s.value, path);
    }

    /// Checks that an array is declared.
    pub fn array(&mut self, id: ArrayId) {
        self.require(self.program.arrays.contains_key(&id), || format!("array {id} is not declared"));
    }

    /// Checks that a symbol is declared, and that an iterator is used inside its loop.
    pub fn var(&mut self, var: Var, path: &[&Loop]) {
        match var {
            Var::Sym(s) => {
                self.require(self.program.symbols.contains_key(&s), || format!("symbol {s} is not declared"));
            }
            Var::Loop(l) => {
                self.require(is_around(path, l), || format!("the iterator of {l} is used outside its loop"));
            }
        }
    }

    fn affine(&mut self, affine: &Affine, path: &[&Loop]) {
        let is_extreme = |c: i64| c == i64::MAX || c == i64::MIN;
        let constants = affine.terms().map(|(_, c)| c).chain([affine.constant_part()]);
        self.require(!constants.into_iter().any(is_extreme), || "a coefficient exceeds 64 bits".into());
        affine.terms().for_each(|(var, _)| self.var(var, path));
    }

    /// Checks that an array that lives in a loop's body is used only there.
    fn scope(&mut self, id: ArrayId, path: &[&Loop]) {
        if let Some(array) = self.program.arrays.get(&id)
            && let Storage::Body(l) | Storage::Temp(Some(l)) = array.storage
        {
            self.require(is_around(path, l), || {
                format!("{} ({id}) is used outside {l}, in which it lives", array.name)
            });
        }
    }

    fn access(&mut self, access: &Access, path: &[&Loop]) {
        self.array(access.array);
        self.scope(access.array, path);
        if let Some(array) = self.program.arrays.get(&access.array) {
            let (n_indices, n_dims) = (access.indices.len(), array.shape.len());
            self.require(n_indices == n_dims, || {
                format!("{} ({}) has {n_dims} dimensions, not {n_indices}", array.name, array.id)
            });
        }
        for index in &access.indices {
            self.integer(index, path, "an index");
        }
    }

    fn integer(&mut self, expr: &Expr, path: &[&Loop], what: &str) {
        let is_float = Types::inside(self.program, path).expr(expr).is_float();
        self.require(!is_float, || {
            format!("{what} is not an integer: {}", Names::inside(self.program, path).expr(expr))
        });
    }

    /// Checks the expression and everything inside.
    pub fn expr(&mut self, expr: &Expr, path: &[&Loop]) {
        match expr {
            Expr::Affine(a) => self.affine(a, path),
            Expr::Float { text, ty } => {
                self.require(float_type(text) == Some(*ty), || {
                    format!("`{text}` is not a C literal of type {}", ty.c_name())
                });
            }
            Expr::Read(access) => self.access(access, path),
            Expr::Unary(UnaryOp::BitNot, e) => self.integer(e, path, "the operand of `~`"),
            Expr::Binary(op, l, r) if op.is_integer_only() => {
                for operand in [l, r] {
                    self.integer(operand, path, "an operand of `%`, a shift or a bit operator");
                }
            }
            Expr::Call { function, single, args } => {
                let (n, name) = (function.n_args(), function.name());
                self.require(args.len() == n, || format!("`{name}` takes {n} arguments, not {}", args.len()));
                self.require(!*single || function.integers().is_none(), || {
                    format!("`{name}` has no variant for float")
                });
            }
            Expr::Unary(..) | Expr::Binary(..) | Expr::Select { .. } | Expr::Cast(..) => {}
        }
        expr.children().into_iter().for_each(|e| self.expr(e, path));
    }
}

fn is_around(path: &[&Loop], id: LoopId) -> bool {
    path.iter().any(|l| l.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScalarType;
    use crate::testing::{Shape, random_program};

    #[test]
    fn samples_are_valid() {
        for seed in 0..300 {
            let shape = Shape { has_data_dependence: seed % 2 == 0, ..Shape::default() };
            let sample = random_program(seed, &shape);
            assert_eq!(verify(&sample.program), Ok(()), "seed {seed}:\n{}", sample.program);
        }
    }

    fn violations(declarations: &str, nest: &str) -> Vec<String> {
        let text = format!(
            "program p {{ symbol P0 n: i32 array A0 x: f64[n] param {declarations}
             dataflow {{ N0 }} nest N0 in p {{ {nest} }} }}"
        );
        let program = Program::parse(&text).unwrap_or_else(|e| panic!("{e}"));
        verify(&program).err().unwrap_or_default().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_invariant_is_checked() {
        let cases = [
            ("", "for L0 i: i32 in 0 .. n { S0: x[i] = 0.5 }", ""),
            ("symbol P1 r: f64", "", "p: symbol r is not an integer"),
            (
                "array A1 y: f64[n][?] param",
                "",
                "array y (A1): only the first extent may be unknown, and none of a temporary",
            ),
            ("", "S0: x[0] = 0 S0: x[0] = 0", "N0, S0: S0 is the id of two statements"),
            (
                "",
                "for L0 i: i32 in 0 .. n { for L0 j: i32 in 0 .. n { } }",
                "N0, L0 (j): L0 is the id of two loops",
            ),
            (
                "",
                "for L0 i: i32 in 0 .. n { } S0: x[L0] = 0",
                "N0, S0: the iterator of L0 is used outside its loop",
            ),
            ("", "for L0 i: i32 in 0 .. L0 { }", "N0, L0 (i): the iterator of L0 is used outside its loop"),
            ("", "S0: x = 0", "N0, S0: x (A0) has 1 dimensions, not 0"),
            ("", "S0: x[x[0]] = 0", "N0, S0: an index is not an integer: x[0]"),
            ("", "for L0 i: i32 in max() .. n { }", "N0, L0 (i): the lower bound has no terms"),
            ("", "for L0 i: i32 in 0 .. ceil(n / 0) { }", "N0, L0 (i): the upper bound divides by 0"),
            ("", "for L0 i: i32 in 0 .. n step 0 { }", "N0, L0 (i): the step is zero"),
            ("", "for L0 i: i32 in 0 .. data(x[0]) { }", "N0, L0 (i): a bound is not an integer: x[0]"),
            (
                "array A1 t: f64 temp(L0)",
                "for L0 i: i32 in 0 .. n { } S0: t = 0",
                "N0, S0: t (A1) is used outside L0, in which it lives",
            ),
            ("dataflow { N0 }", "", "p: N0 stands in 2 dataflow graphs, not in one"),
            (
                "",
                "for L0 i: i32 in 0 .. n unrolled { }",
                "N0, L0 (i): an unrolled loop needs a constant trip count",
            ),
            ("", "for L0 i: i32 in n .. n + 4 unrolled { }", ""),
            ("", "for L0 i: i32 in 0 .. n vector 6 { }", "N0, L0 (i): 6 lanes are not a power of two"),
            (
                "",
                "for L0 i: i32 in 0 .. n vector reduce(/ x) { }",
                "N0, L0 (i): A0 is not reduced by an accumulation",
            ),
            (
                "",
                "S0: x[0] = x[0] % 2",
                "N0, S0: an operand of `%`, a shift or a bit operator is not an integer: x[0]",
            ),
        ];
        for (declarations, nest, expected) in cases {
            if declarations.starts_with("dataflow") {
                let text = "program p { sequence { dataflow { N0 } dataflow { N0 } } nest N0 in p { } }";
                let found = verify(&Program::parse(text).unwrap()).unwrap_err();
                assert_eq!(found[0].to_string(), expected);
                continue;
            }
            let found = violations(declarations, nest);
            assert_eq!(
                found.first().map_or("", String::as_str),
                expected,
                "{declarations} {nest}: {found:?}"
            );
        }
    }

    #[test]
    fn literals_have_c_spelling() {
        for (text, ty, is_valid) in [
            ("0.5", ScalarType::F64, true),
            ("0.5f", ScalarType::F32, true),
            ("0.5f", ScalarType::F64, false),
            ("1", ScalarType::F64, false),
            ("-1.0", ScalarType::F64, false),
            ("1e5", ScalarType::F64, true),
            ("0x1p-2", ScalarType::F64, true),
            ("inf", ScalarType::F64, false),
        ] {
            assert_eq!(float_type(text) == Some(ty), is_valid, "{text}");
        }
    }
}
