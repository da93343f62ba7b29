//! Programs built by hand: closures for loops, operators for expressions. The crate's front page has an example.
//!
//! [`Name`] (symbols and iterators) and [`Tensor`] (arrays) are small and `Copy`; arithmetic on them gives a
//! [`Formula`]. Lists of formulas (indices, shapes) may be arrays or tuples: `x.at([i, j])`, `x.at((i + 1, j))`.

use crate::{
    Access, Array, ArrayId, BinaryOp, Bound, BoundTerm, Constraint, ControlLoop, DataflowGraph, Execution,
    Expr, Form, Loop, LoopId, MathFn, Nest, NestId, Node, Opaque, Program, Region, ScalarType, Stmt, StmtId,
    Storage, SymId, UnaryOp, Update, Var, Violation, verify,
};
use std::ops;

/// A symbol or the iterator of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name(Var);

/// An array, or a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor(ArrayId);

/// An element of an array, to be read or assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element(Access);

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula(Expr);

impl Name {
    /// The variable.
    pub fn var(self) -> Var {
        self.0
    }
}

impl Tensor {
    /// The array's id.
    pub fn id(self) -> ArrayId {
        self.0
    }

    /// One element.
    pub fn at(self, indices: impl Formulas) -> Element {
        Element(Access { array: self.0, indices: indices.into_exprs() })
    }

    /// The value of a scalar.
    pub fn value(self) -> Element {
        Element(Access::scalar(self.0))
    }
}

impl Formula {
    /// The expression.
    pub fn into_expr(self) -> Expr {
        self.0
    }

    fn binary(op: BinaryOp, left: impl Into<Formula>, right: impl Into<Formula>) -> Formula {
        Formula(Expr::binary(op, left.into().0, right.into().0))
    }

    /// `self < other`
    pub fn lt(self, other: impl Into<Formula>) -> Formula {
        Formula::binary(BinaryOp::Lt, self, other)
    }

    /// `self <= other`
    pub fn le(self, other: impl Into<Formula>) -> Formula {
        Formula::binary(BinaryOp::Le, self, other)
    }

    /// `self > other`
    pub fn gt(self, other: impl Into<Formula>) -> Formula {
        Formula::binary(BinaryOp::Gt, self, other)
    }

    /// `self >= other`
    pub fn ge(self, other: impl Into<Formula>) -> Formula {
        Formula::binary(BinaryOp::Ge, self, other)
    }

    /// `self == other`
    pub fn equals(self, other: impl Into<Formula>) -> Formula {
        Formula::binary(BinaryOp::Eq, self, other)
    }

    /// `self != other`
    pub fn differs(self, other: impl Into<Formula>) -> Formula {
        Formula::binary(BinaryOp::Ne, self, other)
    }

    /// `self && other`
    pub fn and(self, other: impl Into<Formula>) -> Formula {
        Formula::binary(BinaryOp::And, self, other)
    }

    /// `self || other`
    pub fn or(self, other: impl Into<Formula>) -> Formula {
        Formula::binary(BinaryOp::Or, self, other)
    }
}

/// Converts an operand to a formula, to call methods on it: `formula(i).lt(n)`.
pub fn formula(operand: impl Into<Formula>) -> Formula {
    operand.into()
}

/// `a < b ? a : b`; as the upper bound of a loop, the lesser of both.
pub fn min(a: impl Into<Formula>, b: impl Into<Formula>) -> Formula {
    Formula::binary(BinaryOp::Min, a, b)
}

/// `a > b ? a : b`; as the lower bound of a loop, the greater of both.
pub fn max(a: impl Into<Formula>, b: impl Into<Formula>) -> Formula {
    Formula::binary(BinaryOp::Max, a, b)
}

/// `condition ? then : otherwise`
pub fn select(condition: Formula, then: impl Into<Formula>, otherwise: impl Into<Formula>) -> Formula {
    let (then, otherwise) = (then.into().0.into(), otherwise.into().0.into());
    Formula(Expr::Select { condition: condition.0.into(), then, otherwise })
}

/// A call of the `double` variant of a function.
pub fn call(function: MathFn, args: impl Formulas) -> Formula {
    Formula(Expr::Call { function, single: false, args: args.into_exprs() })
}

/// `(ty) operand`
pub fn cast(ty: ScalarType, operand: impl Into<Formula>) -> Formula {
    Formula(Expr::Cast(ty, operand.into().0.into()))
}

impl From<Name> for Formula {
    fn from(name: Name) -> Self {
        Formula(Expr::Affine(crate::Affine::var(name.0)))
    }
}

impl From<Element> for Formula {
    fn from(element: Element) -> Self {
        Formula(Expr::Read(element.0))
    }
}

impl From<Tensor> for Formula {
    fn from(scalar: Tensor) -> Self {
        scalar.value().into()
    }
}

impl From<&Formula> for Formula {
    fn from(formula: &Formula) -> Self {
        formula.clone()
    }
}

impl From<i64> for Formula {
    fn from(value: i64) -> Self {
        Formula(Expr::from(value))
    }
}

impl From<i32> for Formula {
    fn from(value: i32) -> Self {
        Formula(Expr::from(i64::from(value)))
    }
}

/// A literal from its digits; signs, infinities and NaN have no literals in C and become expressions.
fn literal(is_negative: bool, is_finite: bool, is_nan: bool, digits: String, ty: ScalarType) -> Formula {
    let suffix = if ty == ScalarType::F32 { "f" } else { "" };
    let float = |digits: &str| Expr::Float { text: format!("{digits}{suffix}"), ty };
    let magnitude = match (is_finite, is_nan) {
        (true, _) => float(&digits),
        (false, nan) => Expr::binary(BinaryOp::Div, float(if nan { "0.0" } else { "1.0" }), float("0.0")),
    };
    Formula(if is_negative { Expr::unary(UnaryOp::Neg, magnitude) } else { magnitude })
}

impl From<f64> for Formula {
    fn from(value: f64) -> Self {
        let digits = format!("{:?}", value.abs());
        literal(
            value.is_sign_negative() && !value.is_nan(),
            value.is_finite(),
            value.is_nan(),
            digits,
            ScalarType::F64,
        )
    }
}

impl From<f32> for Formula {
    fn from(value: f32) -> Self {
        let digits = format!("{:?}", value.abs());
        literal(
            value.is_sign_negative() && !value.is_nan(),
            value.is_finite(),
            value.is_nan(),
            digits,
            ScalarType::F32,
        )
    }
}

impl From<Formula> for Expr {
    fn from(formula: Formula) -> Self {
        formula.0
    }
}

impl From<Expr> for Formula {
    fn from(expr: Expr) -> Self {
        Formula(expr)
    }
}

impl Formulas for Vec<Formula> {
    fn into_exprs(self) -> Vec<Expr> {
        self.into_iter().map(Expr::from).collect()
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident),*) => { $(
        operators!(@left $trait $method $op: Name, Element, Tensor, Formula, &Formula);
        operators!(@scalar $trait $method $op: f64 f32 i64 i32);
    )* };
    (@left $trait:ident $method:ident $op:ident: $($left:ty),*) => { $(
        impl<T: Into<Formula>> ops::$trait<T> for $left {
            type Output = Formula;
            fn $method(self, other: T) -> Formula {
                Formula::binary(BinaryOp::$op, self, other)
            }
        }
    )* };
    (@scalar $trait:ident $method:ident $op:ident: $($left:ident)*) => { $(
        operators!(@pair $trait $method $op $left: Name, Element, Tensor, Formula, &Formula);
    )* };
    (@pair $trait:ident $method:ident $op:ident $left:ident: $($right:ty),*) => { $(
        impl ops::$trait<$right> for $left {
            type Output = Formula;
            fn $method(self, other: $right) -> Formula {
                Formula::binary(BinaryOp::$op, self, other)
            }
        }
    )* };
}
operators!(Add add Add, Sub sub Sub, Mul mul Mul, Div div Div, Rem rem Rem);

macro_rules! negation {
    ($($ty:ty),*) => { $(
        impl ops::Neg for $ty {
            type Output = Formula;
            fn neg(self) -> Formula {
                Formula(Expr::unary(UnaryOp::Neg, Formula::from(self).0))
            }
        }
    )* };
}
negation!(Name, Element, Tensor, Formula, &Formula);

/// A list of formulas: indices, extents, arguments.
pub trait Formulas {
    /// The expressions in order.
    fn into_exprs(self) -> Vec<Expr>;
}

impl<T: Into<Formula>, const N: usize> Formulas for [T; N] {
    fn into_exprs(self) -> Vec<Expr> {
        self.into_iter().map(|e| e.into().0).collect()
    }
}

macro_rules! tuples {
    ($($($name:ident)+;)*) => { $(
        impl<$($name: Into<Formula>),+> Formulas for ($($name,)+) {
            #[allow(non_snake_case)]
            fn into_exprs(self) -> Vec<Expr> {
                let ($($name,)+) = self;
                vec![$($name.into().0),+]
            }
        }
    )* };
}
tuples! { A; A B; A B C; A B C D; A B C D E; }

/// Builds a program region by region.
#[derive(Debug)]
pub struct ProgramBuilder {
    program: Program,
    regions: Vec<Region>,
}

impl ProgramBuilder {
    /// An empty program.
    pub fn new(name: impl Into<String>) -> Self {
        Self { program: Program::new(name), regions: Vec::new() }
    }

    /// A symbol of type `int`.
    pub fn symbol(&mut self, name: impl Into<String>) -> Name {
        Name(self.program.add_symbol(name, ScalarType::I32).into())
    }

    /// Assumes that `a >= b`, both affine. Other expressions are ignored.
    pub fn assume_ge(&mut self, a: impl Into<Formula>, b: impl Into<Formula>) -> &mut Self {
        if let (Expr::Affine(a), Expr::Affine(b)) = (a.into().0, b.into().0) {
            self.program.assumptions.push(Constraint::ge(a, b));
        }
        self
    }

    /// A parameter of this shape.
    pub fn array(&mut self, name: impl Into<String>, element: ScalarType, shape: impl Formulas) -> Tensor {
        let shape = shape.into_exprs();
        self.declare(name, element, shape, Storage::Param)
    }

    /// A local variable of this shape.
    pub fn local(&mut self, name: impl Into<String>, element: ScalarType, shape: impl Formulas) -> Tensor {
        let shape = shape.into_exprs();
        self.declare(name, element, shape, Storage::Local)
    }

    /// A scalar parameter.
    pub fn scalar(&mut self, name: impl Into<String>, element: ScalarType) -> Tensor {
        self.declare(name, element, Vec::new(), Storage::Param)
    }

    fn declare(
        &mut self,
        name: impl Into<String>,
        element: ScalarType,
        shape: Vec<Expr>,
        storage: Storage,
    ) -> Tensor {
        Tensor(add_array(&mut self.program, name.into(), element, shape, storage))
    }

    /// A loop nest, executed after everything built so far.
    pub fn nest(&mut self, build: impl FnOnce(&mut NestBuilder)) -> NestId {
        let id = NestId(self.program.nests.keys().map(|n| n.0 + 1).max().unwrap_or(0));
        let mut builder = NestBuilder {
            program: &mut self.program,
            path: Vec::new(),
            nodes: Vec::new(),
            n_loops: 0,
            n_stmts: 0,
        };
        build(&mut builder);
        let (roots, function) = (builder.nodes, self.program.name.clone());
        self.program.nests.insert(id, Nest::new(id, function, roots));
        match self.regions.last_mut() {
            Some(Region::Dataflow(graph)) => graph.order.push(id),
            _ => self
                .regions
                .push(Region::Dataflow(DataflowGraph { order: vec![id], ..DataflowGraph::default() })),
        }
        id
    }

    /// A loop around nests, such as a time loop; its iterator is a symbol inside.
    pub fn repeat(
        &mut self,
        name: impl Into<String>,
        from: impl Into<Formula>,
        to: impl Into<Formula>,
        build: impl FnOnce(&mut Self, Name),
    ) -> &mut Self {
        let iterator: SymId = self.program.add_symbol(name, ScalarType::I32);
        let range = Some((from.into().0, to.into().0));
        let body = Box::new(self.inner(|b| build(b, Name(iterator.into()))));
        self.regions.push(Region::Loop(ControlLoop { iterator: Some(iterator), range, body }));
        self
    }

    /// A branch around nests.
    pub fn branch(
        &mut self,
        condition: impl Into<Formula>,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) -> &mut Self {
        let condition = Some(condition.into().0);
        let (then, otherwise) = (Box::new(self.inner(then)), Box::new(self.inner(otherwise)));
        self.regions.push(Region::Branch { condition, then, otherwise });
        self
    }

    fn inner(&mut self, build: impl FnOnce(&mut Self)) -> Region {
        let outer = std::mem::take(&mut self.regions);
        build(self);
        single(std::mem::replace(&mut self.regions, outer))
    }

    /// Swaps two pointers.
    pub fn swap(&mut self, a: Tensor, b: Tensor) -> &mut Self {
        self.regions.push(Region::Swap(a.0, b.0));
        self
    }

    /// Code that is not described and may access everything.
    pub fn opaque(&mut self, reason: impl Into<String>) -> &mut Self {
        self.regions.push(Region::Opaque(Opaque { reason: reason.into(), reads: None, writes: None }));
        self
    }

    /// The finished program.
    ///
    /// # Errors
    /// The violations that [`verify`] finds.
    pub fn finish(mut self) -> Result<Program, Vec<Violation>> {
        self.program.body = single(self.regions);
        self.program.rebuild_dataflow();
        verify(&self.program)?;
        Ok(self.program)
    }
}

fn single(mut regions: Vec<Region>) -> Region {
    match regions.pop() {
        Some(only) if regions.is_empty() => only,
        last => {
            regions.extend(last);
            Region::Sequence(regions)
        }
    }
}

fn add_array(
    program: &mut Program,
    name: String,
    element: ScalarType,
    shape: Vec<Expr>,
    storage: Storage,
) -> ArrayId {
    let shape = shape.into_iter().map(Some).collect();
    program.add_array(Array {
        id: ArrayId(0),
        name,
        element,
        c_type: None,
        shape,
        form: Form::Nested,
        storage,
        align: 0,
    })
}

/// Builds the loop tree of one nest.
#[derive(Debug)]
pub struct NestBuilder<'a> {
    program: &'a mut Program,
    path: Vec<LoopId>,
    /// Children of the innermost open loop or guard.
    nodes: Vec<Node>,
    n_loops: u32,
    n_stmts: u32,
}

impl NestBuilder<'_> {
    /// `for (int name = lower; name < upper; name++)`
    pub fn for_(
        &mut self,
        name: impl Into<String>,
        lower: impl Into<Formula>,
        upper: impl Into<Formula>,
        body: impl FnOnce(&mut Self, Name),
    ) -> LoopId {
        self.for_with(name, lower, upper, 1, Execution::Sequential, body)
    }

    /// A loop with all its properties. A bound that is not affine is read from memory when the loop is entered; `max`
    /// in lower and `min` in upper bounds become several terms.
    pub fn for_with(
        &mut self,
        name: impl Into<String>,
        lower: impl Into<Formula>,
        upper: impl Into<Formula>,
        step: i64,
        execution: Execution,
        body: impl FnOnce(&mut Self, Name),
    ) -> LoopId {
        let id = LoopId(self.n_loops);
        self.n_loops += 1;
        self.path.push(id);
        let body = self.inner(|n| body(n, Name(id.into())));
        self.path.pop();
        let (lower, upper) = (bound(lower.into().0, BinaryOp::Max), bound(upper.into().0, BinaryOp::Min));
        let (name, ty) = (name.into(), ScalarType::I32);
        self.nodes.push(Node::Loop(Loop { id, name, ty, lower, upper, step, execution, body }));
        id
    }

    fn inner(&mut self, build: impl FnOnce(&mut Self)) -> Vec<Node> {
        let outer = std::mem::take(&mut self.nodes);
        build(self);
        std::mem::replace(&mut self.nodes, outer)
    }

    /// `if (condition) then`
    pub fn when(&mut self, condition: impl Into<Formula>, then: impl FnOnce(&mut Self)) -> &mut Self {
        self.branch(condition, then, |_| {})
    }

    /// `if (condition) then else otherwise`
    pub fn branch(
        &mut self,
        condition: impl Into<Formula>,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) -> &mut Self {
        let condition = condition.into().0;
        let (then, otherwise) = (self.inner(then), self.inner(otherwise));
        self.nodes.push(Node::If { condition, then, otherwise });
        self
    }

    /// A scalar declared in the body of the innermost open loop (outside loops, a temporary of the nest).
    pub fn scalar(&mut self, name: impl Into<String>, element: ScalarType) -> Tensor {
        let storage = self.path.last().map_or(Storage::Temp(None), |l| Storage::Body(*l));
        Tensor(add_array(self.program, name.into(), element, Vec::new(), storage))
    }

    /// `target = value`
    pub fn assign(&mut self, target: impl Into<Element>, value: impl Into<Formula>) -> StmtId {
        self.update(target, Update::Assign, value)
    }

    /// `target += value`
    pub fn add(&mut self, target: impl Into<Element>, value: impl Into<Formula>) -> StmtId {
        self.update(target, Update::Add, value)
    }

    /// `target -= value`
    pub fn sub(&mut self, target: impl Into<Element>, value: impl Into<Formula>) -> StmtId {
        self.update(target, Update::Sub, value)
    }

    /// Any statement.
    pub fn update(
        &mut self,
        target: impl Into<Element>,
        update: Update,
        value: impl Into<Formula>,
    ) -> StmtId {
        let id = StmtId(self.n_stmts);
        self.n_stmts += 1;
        let (target, value) = (target.into().0, value.into().0);
        self.nodes.push(Node::Stmt(Stmt { id, target, update, value, line: None }));
        id
    }
}

impl From<Tensor> for Element {
    fn from(scalar: Tensor) -> Self {
        scalar.value()
    }
}

/// A bound whose `combine` operators become several terms.
fn bound(expr: Expr, combine: BinaryOp) -> Bound {
    match expr {
        Expr::Affine(a) => a.into(),
        Expr::Binary(op, l, r) if op == combine => {
            let (mut left, right) = (bound(*l, combine), bound(*r, combine));
            left.0.extend(right.0);
            left
        }
        other => Bound(vec![BoundTerm::Data(other)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ScalarType::{F64, I32};

    const SWEEP: &str = "\
program sweep {
  symbol P0 n: i32
  symbol P1 steps: i32
  symbol P2 t: i32
  assume n >= 3
  array A0 x: f64[n] param
  array A1 y: f64[n] param
  array A2 m: f64[n + 1][2*n] param
  array A3 rows: i32[n + 1] param
  array A4 s: f64 body(L0)
  sequence {
    loop t in 0 .. steps {
      sequence {
        dataflow { N0 }
        swap x y
      }
    }
    dataflow { N1 }
  }
  nest N0 in sweep {
    for L0 i: i32 in 1 .. n - 1 {
      S0: s = x[i - 1] + x[i + 1] - 2.0 * x[i]
      if i < t && s > 0.0 {
        S1: y[i] += -0.5 * s / sqrt(x[i])
      }
    }
  }
  nest N1 in sweep {
    for L0 i: i32 in 0 .. n {
      for L1 j: i32 in max(0, i - 1) .. min(n, i + 2) {
        S0: m[i][2*j] = i == j ? 1.0f : (f64) (i % 2)
      }
      for L2 k: i32 in data(rows[i]) .. data(rows[i + 1]) {
        S1: y[i] max= x[k]
      }
    }
  }
}
";

    #[test]
    fn builds_everything() {
        let mut b = ProgramBuilder::new("sweep");
        let (n, steps) = (b.symbol("n"), b.symbol("steps"));
        b.assume_ge(n, 3);
        let (x, y) = (b.array("x", F64, [n]), b.array("y", F64, (n,)));
        let m = b.array("m", F64, (n + 1, 2 * n));
        let rows = b.array("rows", I32, [n + 1]);
        b.repeat("t", 0, steps, |b, t| {
            b.nest(|nest| {
                nest.for_("i", 1, n - 1, |nest, i| {
                    let s = nest.scalar("s", F64);
                    nest.assign(s, x.at([i - 1]) + x.at([i + 1]) - 2.0 * x.at([i]));
                    nest.when(formula(i).lt(t).and(formula(s).gt(0.0)), |nest| {
                        nest.add(y.at([i]), -0.5 * s / call(MathFn::Sqrt, [x.at([i])]));
                    });
                });
            });
            b.swap(x, y);
        });
        b.nest(|nest| {
            nest.for_("i", 0, n, |nest, i| {
                nest.for_("j", max(0, i - 1), min(n, i + 2), |nest, j| {
                    nest.assign(m.at((i, 2 * j)), select(formula(i).equals(j), 1.0f32, cast(F64, i % 2)));
                });
                nest.for_with("k", rows.at([i]), rows.at([i + 1]), 1, Execution::Sequential, |nest, k| {
                    nest.update(y.at([i]), Update::Max, x.at([k]));
                });
            });
        });
        let program = b.finish().unwrap();
        assert_eq!(program.to_string(), SWEEP);
        assert_eq!(Program::parse(&program.to_string()).unwrap(), program);
    }

    #[test]
    fn finish_verifies() {
        let mut b = ProgramBuilder::new("wrong");
        let n = b.symbol("n");
        let x = b.array("x", F64, [n]);
        b.nest(|nest| {
            nest.assign(x.at([n, n]), 0.0);
        });
        assert_eq!(b.finish().unwrap_err()[0].to_string(), "N0, S0: x (A0) has 1 dimensions, not 2");
    }
}
