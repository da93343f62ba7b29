//! Operations per statement, strides, and execution counts of loops and statements.

use std::collections::{BTreeMap, HashMap};

use crate::domain::Step;
use oxeye_ir::{
    Access, Affine, BinaryOp, Bound, BoundTerm, Expr, Loop, LoopId, MathFn, Nest, Node, Program, ScalarType,
    Stmt, StmtId, SymId, UnaryOp, Update, Var,
};

/// The operations one instance of a statement performs. Index arithmetic, loop control and guards are not counted;
/// both sides of a selection are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Floating-point additions, subtractions and negations.
    pub float_adds: u64,
    /// Floating-point multiplications.
    pub float_muls: u64,
    /// Floating-point divisions.
    pub float_divs: u64,
    /// Floating-point comparisons, minima, maxima and selections.
    pub float_compares: u64,
    /// Operations on integers.
    pub integer: u64,
    /// Calls by function.
    pub calls: BTreeMap<MathFn, u64>,
}

impl Operations {
    /// Floating-point operations, a call counting as one.
    pub fn flops(&self) -> u64 {
        let calls: u64 = self.calls.values().sum();
        self.float_adds + self.float_muls + self.float_divs + self.float_compares + calls
    }

    fn add(&mut self, op: BinaryOp, is_float: bool) {
        use BinaryOp::{Add, Div, Eq, Ge, Gt, Le, Lt, Max, Min, Mul, Ne, Sub};
        let counter = match (is_float, op) {
            (true, Add | Sub) => &mut self.float_adds,
            (true, Mul) => &mut self.float_muls,
            (true, Div) => &mut self.float_divs,
            (true, Min | Max | Lt | Le | Gt | Ge | Eq | Ne) => &mut self.float_compares,
            _ => &mut self.integer,
        };
        *counter += 1;
    }

    fn expr(&mut self, program: &Program, expr: &Expr) {
        match expr {
            Expr::Affine(_) | Expr::Float { .. } | Expr::Read(_) => return,
            Expr::Unary(op, inner) => match (op, is_float(program, inner)) {
                (UnaryOp::Neg, true) => self.float_adds += 1,
                _ => self.integer += 1,
            },
            Expr::Binary(op, left, right) => {
                self.add(*op, is_float(program, left) || is_float(program, right));
            }
            Expr::Call { function, .. } => *self.calls.entry(*function).or_default() += 1,
            Expr::Select { .. } if is_float(program, expr) => self.float_compares += 1,
            Expr::Select { .. } => self.integer += 1,
            Expr::Cast(..) => {}
        }
        for child in expr.children() {
            self.expr(program, child);
        }
    }
}

/// The operations of one instance of `stmt`, its update included.
pub fn operations(program: &Program, stmt: &Stmt) -> Operations {
    let mut operations = Operations::default();
    operations.expr(program, &stmt.value);
    let op = match stmt.update {
        Update::Assign => return operations,
        Update::Add => BinaryOp::Add,
        Update::Sub => BinaryOp::Sub,
        Update::Mul => BinaryOp::Mul,
        Update::Div => BinaryOp::Div,
        Update::Min => BinaryOp::Min,
        Update::Max => BinaryOp::Max,
    };
    let is_float = element(program, &stmt.target).is_float() || is_float(program, &stmt.value);
    operations.add(op, is_float);
    operations
}

/// Bytes moved by one execution of `access`.
pub fn access_bytes(program: &Program, access: &Access) -> u64 {
    element(program, access).bytes()
}

fn element(program: &Program, access: &Access) -> ScalarType {
    program.array(access.array).element
}

fn is_float(program: &Program, expr: &Expr) -> bool {
    use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    match expr {
        Expr::Affine(_) => false,
        Expr::Float { .. } => true,
        Expr::Read(access) => element(program, access).is_float(),
        Expr::Unary(op, inner) => *op == UnaryOp::Neg && is_float(program, inner),
        Expr::Binary(Lt | Le | Gt | Ge | Eq | Ne | And | Or, ..) => false,
        Expr::Binary(_, left, right) => is_float(program, left) || is_float(program, right),
        Expr::Call { function, .. } => function.integers().is_none(),
        Expr::Select { then, otherwise, .. } => is_float(program, then) || is_float(program, otherwise),
        Expr::Cast(ty, _) => ty.is_float(),
    }
}

/// Stride: elements between the accesses of consecutive iterations of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stride {
    /// The same everywhere; zero if the access does not depend on the loop.
    Constant(i64),
    /// An expression of symbols.
    Symbolic(Expr),
    /// Varies between iterations, or unknown.
    Unknown,
}

impl Stride {
    /// The stride in elements, given values of the symbols.
    pub fn evaluate(&self, value_of: &dyn Fn(SymId) -> Option<i64>) -> Option<i64> {
        match self {
            Stride::Constant(value) => Some(*value),
            Stride::Symbolic(expr) => evaluate_symbols(expr, value_of),
            Stride::Unknown => None,
        }
    }
}

/// The stride of `access` along `l`, in elements of the array's row-major layout.
pub fn stride(program: &Program, access: &Access, l: &Loop) -> Stride {
    let mut total = Expr::from(0);
    let mut extent_inside = Expr::from(1);
    for (dim, index) in access.indices.iter().enumerate().rev() {
        match index {
            Expr::Affine(affine) => {
                let Some(step) = affine.coefficient(l.id).checked_mul(l.step) else { return Stride::Unknown };
                let term = Expr::binary(BinaryOp::Mul, extent_inside.clone(), step.into());
                total = if step == 0 { total } else { Expr::binary(BinaryOp::Add, total, term) };
            }
            _ if index.uses(l.id) => return Stride::Unknown,
            _ => {}
        }
        if dim > 0 {
            match program.array(access.array).shape.get(dim) {
                Some(Some(extent)) => {
                    extent_inside = Expr::binary(BinaryOp::Mul, extent.clone(), extent_inside);
                }
                _ if access.indices[..dim].iter().any(|index| index.uses(l.id)) => return Stride::Unknown,
                _ => {}
            }
        }
    }
    match total.as_affine().and_then(Affine::as_constant) {
        Some(value) => Stride::Constant(value),
        None => Stride::Symbolic(total),
    }
}

/// A number of executions or elements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// The number.
    pub value: f64,
    /// Whether it was counted; otherwise it is an estimate, in which data-dependent guards count as taken.
    pub exact: bool,
    /// Whether there are such guards, or data-dependent bounds that were left out: the number may be far too large.
    pub at_most: bool,
}

/// Executions of `stmt` under values of the symbols. `None` if it does not occur in `nest`, a symbol has no value, or a
/// loop around it has data-dependent bounds.
pub fn executions(nest: &Nest, stmt: StmtId, value_of: &dyn Fn(SymId) -> Option<i64>) -> Option<Count> {
    count(nest, &|node| matches!(node, Node::Stmt(s) if s.id == stmt), value_of)
}

/// Total executions of the body of loop `id`. `None` as for [`executions`].
pub fn iterations(nest: &Nest, id: LoopId, value_of: &dyn Fn(SymId) -> Option<i64>) -> Option<Count> {
    let mut path = path_to(&nest.roots, &|node| matches!(node, Node::Loop(l) if l.id == id))?;
    path.push(Step::Loop(nest.find_loop(id)?));
    Counter::new(value_of).count(&path)
}

/// Average iterations of loop `id` per entry; zero if it is never entered. `None` as for [`executions`].
pub fn trip_count(nest: &Nest, id: LoopId, value_of: &dyn Fn(SymId) -> Option<i64>) -> Option<Count> {
    let entries = count(nest, &|node| matches!(node, Node::Loop(l) if l.id == id), value_of)?;
    let total = iterations(nest, id, value_of)?;
    let value = if entries.value == 0.0 { 0.0 } else { total.value / entries.value };
    Some(Count { value, exact: entries.exact && total.exact, at_most: entries.at_most || total.at_most })
}

fn count(
    nest: &Nest,
    wanted: &dyn Fn(&Node) -> bool,
    value_of: &dyn Fn(SymId) -> Option<i64>,
) -> Option<Count> {
    let path = path_to(&nest.roots, wanted)?;
    Counter::new(value_of).count(&path)
}

/// The path from the roots to a node.
fn path_to<'a>(nodes: &'a [Node], wanted: &dyn Fn(&Node) -> bool) -> Option<Vec<Step<'a>>> {
    nodes.iter().find_map(|node| {
        if wanted(node) {
            return Some(Vec::new());
        }
        let inside = |body: &'a [Node], step: Step<'a>| {
            path_to(body, wanted).map(|mut path| {
                path.insert(0, step);
                path
            })
        };
        match node {
            Node::Stmt(_) => None,
            Node::Loop(l) => inside(&l.body, Step::Loop(l)),
            Node::If { condition, then, otherwise } => inside(then, Step::Guard(condition, true))
                .or_else(|| inside(otherwise, Step::Guard(condition, false))),
        }
    })
}

/// Most iterations that one count enumerates.
const WORK: u64 = 100_000;
/// Iterations sampled where there are more.
const SAMPLES: u64 = 64;

struct Counter<'a> {
    value_of: &'a dyn Fn(SymId) -> Option<i64>,
    iterators: HashMap<LoopId, i64>,
    exact: bool,
    at_most: bool,
}

impl<'a> Counter<'a> {
    fn new(value_of: &'a dyn Fn(SymId) -> Option<i64>) -> Self {
        Self { value_of, iterators: HashMap::new(), exact: true, at_most: false }
    }

    fn count(mut self, path: &[Step<'_>]) -> Option<Count> {
        let value = self.instances(path, WORK)?;
        Some(Count { value, exact: self.exact, at_most: self.at_most })
    }

    fn instances(&mut self, path: &[Step<'_>], work: u64) -> Option<f64> {
        let Some((step, rest)) = path.split_first() else { return Some(1.0) };
        match step {
            Step::Guard(condition, holds) => match self.evaluate(condition) {
                Some(value) if (value != 0) != *holds => Some(0.0),
                Some(_) => self.instances(rest, work),
                None => {
                    (self.exact, self.at_most) = (false, true);
                    self.instances(rest, work)
                }
            },
            Step::Loop(l) => self.loop_instances(l, rest, work),
        }
    }

    fn loop_instances(&mut self, l: &Loop, rest: &[Step<'_>], work: u64) -> Option<f64> {
        let lower = self.bound(&l.lower, i64::max)?;
        let upper = self.bound(&l.upper, i64::min)?;
        let size = upper.checked_sub(lower)?.max(0) as u64;
        let n = size.div_ceil(l.step.unsigned_abs().max(1));
        if n == 0 {
            return Some(0.0);
        }
        let first = if l.step > 0 { lower } else { upper - 1 };
        let uses_iterator = |step: &Step<'_>| match step {
            Step::Guard(condition, _) => condition.uses(l.id),
            Step::Loop(inner) => {
                [&inner.lower, &inner.upper].into_iter().flat_map(|b| &b.0).any(|term| term.uses(l.id))
            }
        };
        if !rest.iter().any(uses_iterator) {
            return Some(n as f64 * self.instances(rest, work)?);
        }
        let n_looked_at = if n <= work.max(SAMPLES) { n } else { SAMPLES };
        self.exact &= n_looked_at == n;
        let mut sum = 0.0;
        for idx in 0..n_looked_at {
            // The midpoint of each of equal shares.
            let iteration =
                ((2 * u128::from(idx) + 1) * u128::from(n) / (2 * u128::from(n_looked_at))) as i64;
            self.iterators.insert(l.id, first.checked_add(iteration.checked_mul(l.step)?)?);
            sum += self.instances(rest, work / n_looked_at)?;
        }
        self.iterators.remove(&l.id);
        Some(sum * n as f64 / n_looked_at as f64)
    }

    /// The bound's value; data-dependent terms are left out if there are others.
    fn bound(&mut self, bound: &Bound, choose: fn(i64, i64) -> i64) -> Option<i64> {
        let mut result = None;
        for term in &bound.0 {
            let value = match term {
                BoundTerm::Affine { expr, divisor } => {
                    let value = expr.evaluate(&|var| self.var(var))?;
                    Some(value.checked_neg()?.checked_div_euclid(*divisor)?.checked_neg()?)
                }
                BoundTerm::Data(expr) => self.evaluate(expr),
                BoundTerm::Open => None,
            };
            match value {
                Some(value) => result = Some(result.map_or(value, |other| choose(value, other))),
                None => (self.exact, self.at_most) = (false, true),
            }
        }
        result
    }

    fn var(&self, var: Var) -> Option<i64> {
        match var {
            Var::Loop(id) => self.iterators.get(&id).copied(),
            Var::Sym(id) => (self.value_of)(id),
        }
    }

    fn evaluate(&self, expr: &Expr) -> Option<i64> {
        evaluate(expr, &|var| self.var(var))
    }
}

/// The value of an integer expression of symbols; `None` if a symbol has no value, it reads memory, or it overflows.
pub fn evaluate_symbols(expr: &Expr, value_of: &dyn Fn(SymId) -> Option<i64>) -> Option<i64> {
    evaluate(expr, &|var| match var {
        Var::Sym(id) => value_of(id),
        Var::Loop(_) => None,
    })
}

/// The value of an integer expression; `None` if it reads memory or overflows.
pub fn evaluate(expr: &Expr, value_of: &dyn Fn(Var) -> Option<i64>) -> Option<i64> {
    let go = |expr: &Expr| evaluate(expr, value_of);
    match expr {
        Expr::Affine(affine) => affine.evaluate(value_of),
        Expr::Unary(op, inner) => match op {
            UnaryOp::Neg => go(inner)?.checked_neg(),
            UnaryOp::Not => Some(i64::from(go(inner)? == 0)),
            UnaryOp::BitNot => Some(!go(inner)?),
        },
        Expr::Binary(BinaryOp::And, left, right) => match (go(left), go(right)) {
            (Some(0), _) | (_, Some(0)) => Some(0),
            (Some(_), Some(_)) => Some(1),
            _ => None,
        },
        Expr::Binary(BinaryOp::Or, left, right) => match (go(left), go(right)) {
            (Some(0), Some(0)) => Some(0),
            (Some(value), _) | (_, Some(value)) if value != 0 => Some(1),
            _ => None,
        },
        Expr::Binary(op, left, right) => binary(*op, go(left)?, go(right)?),
        Expr::Select { condition, then, otherwise } => {
            if go(condition)? != 0 {
                go(then)
            } else {
                go(otherwise)
            }
        }
        Expr::Cast(ScalarType::I32 | ScalarType::I64 | ScalarType::U32 | ScalarType::U64, inner) => go(inner),
        Expr::Float { .. } | Expr::Read(_) | Expr::Call { .. } | Expr::Cast(..) => None,
    }
}

pub(crate) fn binary(op: BinaryOp, left: i64, right: i64) -> Option<i64> {
    let shift = u32::try_from(right).ok().filter(|&s| s < 64);
    match op {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Sub => left.checked_sub(right),
        BinaryOp::Mul => left.checked_mul(right),
        BinaryOp::Div => left.checked_div(right),
        BinaryOp::Rem => left.checked_rem(right),
        BinaryOp::Min => Some(left.min(right)),
        BinaryOp::Max => Some(left.max(right)),
        BinaryOp::Lt => Some(i64::from(left < right)),
        BinaryOp::Le => Some(i64::from(left <= right)),
        BinaryOp::Gt => Some(i64::from(left > right)),
        BinaryOp::Ge => Some(i64::from(left >= right)),
        BinaryOp::Eq => Some(i64::from(left == right)),
        BinaryOp::Ne => Some(i64::from(left != right)),
        BinaryOp::And => Some(i64::from(left != 0 && right != 0)),
        BinaryOp::Or => Some(i64::from(left != 0 || right != 0)),
        BinaryOp::BitAnd => Some(left & right),
        BinaryOp::BitOr => Some(left | right),
        BinaryOp::BitXor => Some(left ^ right),
        BinaryOp::Shl => shift.and_then(|s| left.checked_mul(1_i64.checked_shl(s)?)),
        BinaryOp::Shr => shift.map(|s| left >> s),
    }
}
