//! Every access of a nest to an array, with the loops and conditions under which it is made.

use oxeye_ir::{
    Affine, ArrayId, BinaryOp, Bound, BoundTerm, Execution, Expr, Loop, LoopId, Nest, Node, Program,
    ScalarType, Stmt, UnaryOp, Update, Var,
};
use std::collections::{BTreeMap, BTreeSet};

/// An access to rows behind pointers.
#[derive(Clone, Debug)]
pub(super) struct Use {
    /// With scalars replaced by what they hold.
    pub(super) indices: Vec<Expr>,
    /// The loops around it, without their bodies. Conditions on iterators are among their bounds.
    pub(super) loops: Vec<Loop>,
    /// The other conditions, each with the number of loops around it.
    pub(super) guards: Vec<(Expr, usize)>,
    /// How many conditions and loops depend on what the nest computes.
    pub(super) n_unknown: usize,
    /// Whether it is a store.
    pub(super) is_store: bool,
    /// Whether the row is used in both branches of a condition: only its number is of interest.
    pub(super) is_of_row: bool,
}

impl Use {
    /// Whether it is made in each iteration of its loops.
    pub(super) fn is_sure(&self) -> bool {
        self.guards.is_empty() && self.n_unknown == 0
    }

    pub(super) fn loops(&self) -> Vec<&Loop> {
        self.loops.iter().collect()
    }
}

/// All uses of an array with so many dimensions of pointers.
pub(super) fn uses(program: &Program, nest: &Nest, array: ArrayId, n_pointers: usize) -> Vec<Use> {
    let mut collector = Collector {
        holdings: Holdings::of(program, nest),
        array,
        n_pointers,
        loops: Vec::new(),
        guards: Vec::new(),
        n_unknown: 0,
        found: Vec::new(),
    };
    collector.nodes(&nest.roots);
    collector.found
}

/// Expressions with more parts are not put in place of scalars.
const MOST_PARTS: usize = 64;

/// What the scalars of a nest hold at a place in it, as far as that does not depend on what it computes.
#[derive(Clone)]
pub(crate) struct Holdings<'a> {
    program: &'a Program,
    /// Loops whose iterators are of type `int`.
    narrow: BTreeSet<LoopId>,
    written: BTreeSet<ArrayId>,
    scalars: BTreeMap<ArrayId, Expr>,
}

impl<'a> Holdings<'a> {
    /// At its beginning.
    pub(crate) fn of(program: &'a Program, nest: &Nest) -> Self {
        let written = nest.accesses().into_iter().filter(|(_, is_written)| *is_written);
        let written = written.map(|(access, _)| access.array).collect();
        let narrow = nest.loops().into_iter().filter(|l| l.ty == ScalarType::I32).map(|l| l.id).collect();
        Self { program, narrow, written, scalars: BTreeMap::new() }
    }

    /// The expression without what the nest writes, if it does not depend on anything else of that.
    pub(crate) fn known(&self, e: &Expr) -> Option<Expr> {
        let mut e = e.clone();
        self.make_known(&mut e)?;
        let mut n_parts = 0;
        e.visit(&mut |_| n_parts += 1);
        (n_parts <= MOST_PARTS).then_some(e)
    }

    fn make_known(&self, e: &mut Expr) -> Option<()> {
        if let Expr::Read(access) = e
            && self.written.contains(&access.array)
        {
            *e = self.scalars.get(&access.array).filter(|_| access.indices.is_empty())?.clone();
            return Some(());
        }
        e.children_mut().into_iter().try_for_each(|child| self.make_known(child))
    }

    /// Whether an array that the nest writes may have memory in common with one that the expression reads.
    pub(crate) fn may_be_written(&self, e: &Expr) -> bool {
        let pairs = || self.program.may_alias.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]);
        let is_written = |id: ArrayId| pairs().any(|(a, b)| a == id && self.written.contains(&b));
        e.reads().into_iter().any(|access| is_written(access.array))
    }

    /// After a statement.
    pub(crate) fn store(&mut self, s: &Stmt) {
        if !s.target.indices.is_empty() {
            return;
        }
        let id = s.target.array;
        // Stores elsewhere may change it.
        if self.may_be_written(&Expr::Read(s.target.clone())) {
            return;
        }
        match self.known(&s.value).and_then(|value| self.updated(s, value)) {
            Some(value) => {
                let element = self.program.array(id).element;
                let is_same = match element {
                    // Where it overflows, C defines nothing.
                    ScalarType::I32 => self.is_int(&value),
                    _ => natural(self.program, &value) == Some(element),
                };
                let held = if is_same { value } else { converted(element, value) };
                self.scalars.insert(id, held);
            }
            None => _ = self.scalars.remove(&id),
        }
    }

    /// Whether C computes a value as an `int`.
    pub(crate) fn is_int(&self, e: &Expr) -> bool {
        let is_small = |c: i64| i32::try_from(c).is_ok();
        let is_narrow = |var: Var| match var {
            Var::Loop(id) => self.narrow.contains(&id),
            Var::Sym(id) => self.program.symbols.get(&id).is_some_and(|s| s.ty == ScalarType::I32),
        };
        match e {
            Expr::Affine(a) => {
                is_small(a.constant_part()) && a.terms().all(|(var, c)| is_small(c) && is_narrow(var))
            }
            Expr::Select { then, otherwise, .. } => self.is_int(then) && self.is_int(otherwise),
            Expr::Unary(UnaryOp::Neg, e) => self.is_int(e),
            Expr::Binary(
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::Min
                | BinaryOp::Max,
                l,
                r,
            ) => self.is_int(l) && self.is_int(r),
            _ => natural(self.program, e) == Some(ScalarType::I32),
        }
    }

    /// What a scalar holds after a statement with this value.
    fn updated(&self, s: &Stmt, value: Expr) -> Option<Expr> {
        if s.update == Update::Assign {
            return Some(value);
        }
        let op = match s.update {
            Update::Add => BinaryOp::Add,
            Update::Sub => BinaryOp::Sub,
            Update::Min => BinaryOp::Min,
            Update::Max => BinaryOp::Max,
            _ => return None,
        };
        let is_plain =
            matches!(self.program.array(s.target.array).element, ScalarType::I32 | ScalarType::I64);
        let held = self.scalars.get(&s.target.array).filter(|_| is_plain)?.clone();
        Some(Expr::binary(op, held, value))
    }

    /// After a condition, as it was known before it, in one of whose branches the scalars hold this, in the other one that.
    pub(crate) fn either(condition: Option<&Expr>, then: Self, mut otherwise: Self) -> Self {
        let mut both = BTreeMap::new();
        for (id, then) in then.scalars {
            let Some(otherwise) = otherwise.scalars.remove(&id) else { continue };
            let value = match condition {
                _ if then == otherwise => then,
                Some(condition) => clamped(condition, &then, &otherwise).unwrap_or_else(|| Expr::Select {
                    condition: Box::new(condition.clone()),
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                }),
                None => continue,
            };
            both.insert(id, value);
        }
        Self { scalars: both, ..otherwise }
    }

    /// The same for bounds alone: where nothing says which branch was taken, each of the scalars holds one of two values.
    pub(crate) fn one_of(condition: Option<&Expr>, then: Self, otherwise: Self) -> Self {
        // Nothing follows from a number as a condition.
        Self::either(condition.or(Some(&Expr::from(1))), then, otherwise)
    }

    /// Scalars that these nodes write are no longer known.
    pub(crate) fn forget(&mut self, nodes: &[Node]) {
        for node in nodes {
            if let Node::Stmt(s) = node {
                self.scalars.remove(&s.target.array);
            }
            node.bodies().into_iter().for_each(|body| self.forget(body));
        }
    }
}

/// `x < y ? y : x` and the like of integers as the least or greatest of two.
fn clamped(condition: &Expr, then: &Expr, otherwise: &Expr) -> Option<Expr> {
    let Expr::Binary(op, l, r) = condition else { return None };
    let (op, limit) = match op {
        op if **l == *otherwise => (*op, r),
        BinaryOp::Lt if **r == *otherwise => (BinaryOp::Gt, l),
        BinaryOp::Le if **r == *otherwise => (BinaryOp::Ge, l),
        BinaryOp::Gt if **r == *otherwise => (BinaryOp::Lt, l),
        BinaryOp::Ge if **r == *otherwise => (BinaryOp::Le, l),
        _ => return None,
    };
    let beyond = (then.as_affine()?.clone() - limit.as_affine()?.clone()).as_constant()?;
    let op = match (op, beyond) {
        (BinaryOp::Lt, 0) | (BinaryOp::Le, 0 | 1) => BinaryOp::Max,
        (BinaryOp::Gt, 0) | (BinaryOp::Ge, 0 | -1) => BinaryOp::Min,
        _ => return None,
    };
    Some(Expr::Binary(op, Box::new(otherwise.clone()), Box::new(then.clone())))
}

/// The type that C gives a value, where that is easily told.
pub(crate) fn natural(program: &Program, e: &Expr) -> Option<ScalarType> {
    use ScalarType::{I8, I16, I32, U8, U16};
    match e {
        Expr::Read(access) => match program.array(access.array).element {
            I8 | U8 | I16 | U16 => Some(I32),
            ty => Some(ty),
        },
        Expr::Cast(ty, _) | Expr::Float { ty, .. } => Some(*ty),
        Expr::Unary(UnaryOp::Neg, e) => natural(program, e),
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div, l, r) => {
            let (l, r) = (natural(program, l)?, natural(program, r)?);
            (l == r).then_some(l)
        }
        _ => None,
    }
}

struct Collector<'a> {
    holdings: Holdings<'a>,
    array: ArrayId,
    n_pointers: usize,
    loops: Vec<Loop>,
    guards: Vec<(Expr, usize)>,
    n_unknown: usize,
    found: Vec<Use>,
}

impl Collector<'_> {
    fn record(&mut self, indices: &[Expr], is_store: bool) {
        let known: Option<Vec<Expr>> = indices.iter().map(|e| self.holdings.known(e)).collect();
        let n_unknown = self.n_unknown + usize::from(known.is_none());
        self.found.push(Use {
            indices: known.unwrap_or_else(|| indices.to_vec()),
            loops: self.loops.clone(),
            guards: self.guards.clone(),
            n_unknown,
            is_store,
            is_of_row: false,
        });
    }

    fn expr(&mut self, e: &Expr) {
        match e {
            Expr::Select { condition, then, otherwise } => {
                self.expr(condition);
                self.either(condition, |c| c.expr(then), |c| c.expr(otherwise));
            }
            Expr::Binary(BinaryOp::And, l, r) => {
                self.expr(l);
                self.under(l, true, |c| c.expr(r));
            }
            Expr::Binary(BinaryOp::Or, l, r) => {
                self.expr(l);
                self.under(l, false, |c| c.expr(r));
            }
            _ => {
                if let Expr::Read(access) = e
                    && access.array == self.array
                {
                    self.record(&access.indices, false);
                }
                e.children().into_iter().for_each(|child| self.expr(child));
            }
        }
    }

    /// What happens where a condition holds, or does not.
    fn under(&mut self, condition: &Expr, holds: bool, inside: impl FnOnce(&mut Self)) {
        let (loops, n_guards, n_unknown) = (self.loops.clone(), self.guards.len(), self.n_unknown);
        self.suppose(condition, holds);
        inside(self);
        self.loops = loops;
        self.guards.truncate(n_guards);
        self.n_unknown = n_unknown;
    }

    fn suppose(&mut self, condition: &Expr, holds: bool) {
        match (condition, holds) {
            (Expr::Unary(UnaryOp::Not, inner), _) => self.suppose(inner, !holds),
            (Expr::Binary(BinaryOp::And, l, r), true) | (Expr::Binary(BinaryOp::Or, l, r), false) => {
                self.suppose(l, holds);
                self.suppose(r, holds);
            }
            _ => {
                if self.narrow(condition, holds).is_some() {
                    return;
                }
                match self.holdings.known(condition) {
                    Some(known) if holds => self.guards.push((known, self.loops.len())),
                    Some(known) => {
                        let not = Expr::Unary(UnaryOp::Not, Box::new(known));
                        self.guards.push((not, self.loops.len()));
                    }
                    None => self.n_unknown += 1,
                }
            }
        }
    }

    /// A comparison as bounds of the innermost loop whose iterator is in it.
    fn narrow(&mut self, condition: &Expr, holds: bool) -> Option<()> {
        use BinaryOp::{Ge, Gt, Le, Lt};
        let Expr::Binary(op, l, r) = condition else { return None };
        let (l, r) = (l.as_affine()?.clone(), r.as_affine()?.clone());
        // That is not negative.
        let difference = match (op, holds) {
            (Lt, true) | (Ge, false) => (r - l).offset(-1),
            (Le, true) | (Gt, false) => r - l,
            (Gt, true) | (Le, false) => (l - r).offset(-1),
            (Ge, true) | (Lt, false) => l - r,
            _ => return None,
        };
        let innermost = self.loops.iter_mut().rev().find(|l| difference.uses(l.id))?;
        let coefficient = difference.coefficient(innermost.id);
        if innermost.step.abs() != 1 || coefficient.abs() != 1 {
            return None;
        }
        let rest = difference.add_scaled(&Affine::var(innermost.id), -coefficient);
        let (bound, term) = match coefficient {
            1 => (&mut innermost.lower, rest.scaled(-1)),
            _ => (&mut innermost.upper, rest.offset(1)),
        };
        bound.0.push(term.into());
        Some(())
    }

    /// Two branches: a row that both use is used.
    fn either(&mut self, condition: &Expr, then: impl FnOnce(&mut Self), otherwise: impl FnOnce(&mut Self)) {
        let from = self.found.len();
        let holdings = self.holdings.clone();
        let n_then = self.branch(condition, true, then);
        self.holdings.clone_from(&holdings);
        let between = self.found.len();
        let n_otherwise = self.branch(condition, false, otherwise);
        self.holdings = holdings;
        let n_loops = self.loops.len();
        let rows = |uses: &[Use], (n_guards, n_unknown): (usize, usize)| -> Vec<Vec<Expr>> {
            let is_sure =
                |u: &&Use| u.loops.len() == n_loops && u.guards.len() == n_guards && u.n_unknown == n_unknown;
            uses.iter().filter(is_sure).map(|u| u.indices.clone()).collect()
        };
        let n = self.n_pointers;
        let others = rows(&self.found[between..], n_otherwise);
        let mut both = rows(&self.found[from..between], n_then);
        both.retain(|indices| others.iter().any(|other| other.get(..n) == indices.get(..n)));
        for indices in both {
            self.found.push(Use {
                indices,
                loops: self.loops.clone(),
                guards: self.guards.clone(),
                n_unknown: self.n_unknown,
                is_store: false,
                is_of_row: true,
            });
        }
    }

    /// The number of conditions in a branch.
    fn branch(&mut self, condition: &Expr, holds: bool, inside: impl FnOnce(&mut Self)) -> (usize, usize) {
        let mut n = (0, 0);
        self.under(condition, holds, |c| {
            n = (c.guards.len(), c.n_unknown);
            inside(c);
        });
        n
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Stmt(s) => {
                    if s.target.array == self.array {
                        self.record(&s.target.indices, true);
                    }
                    s.target.indices.iter().for_each(|e| self.expr(e));
                    self.expr(&s.value);
                    self.holdings.store(s);
                }
                Node::If { condition, then, otherwise } => {
                    self.expr(condition);
                    self.either(condition, |c| c.nodes(then), |c| c.nodes(otherwise));
                    self.holdings.forget(then);
                    self.holdings.forget(otherwise);
                }
                Node::Loop(l) => self.around(l),
            }
        }
    }

    fn around(&mut self, l: &Loop) {
        let n_unknown = self.n_unknown;
        let mut is_known = true;
        let mut bound = |c: &mut Self, bound: &Bound| {
            let term = |term: &BoundTerm| match term {
                BoundTerm::Data(e) => {
                    // One term may be evaluated only where another one allows it.
                    c.n_unknown += 1;
                    c.expr(e);
                    c.n_unknown -= 1;
                    let known = c.holdings.known(e);
                    is_known &= known.is_some();
                    BoundTerm::Data(known.unwrap_or_else(|| e.clone()))
                }
                term => term.clone(),
            };
            Bound(bound.0.iter().map(term).collect())
        };
        let (lower, upper) = (bound(self, &l.lower), bound(self, &l.upper));
        self.holdings.forget(&l.body);
        self.n_unknown += usize::from(!is_known);
        self.loops.push(Loop {
            id: l.id,
            name: l.name.clone(),
            ty: l.ty,
            lower,
            upper,
            step: l.step,
            execution: Execution::Sequential,
            body: Vec::new(),
        });
        self.nodes(&l.body);
        self.loops.pop();
        self.n_unknown = n_unknown;
        self.holdings.forget(&l.body);
    }
}

/// A conversion, unless it is one already.
pub(super) fn converted(ty: ScalarType, e: Expr) -> Expr {
    match e {
        Expr::Cast(known, _) if known == ty => e,
        e => Expr::Cast(ty, Box::new(e)),
    }
}

/// The loops whose iterators an expression has.
pub(super) fn iterators(e: &Expr) -> BTreeSet<LoopId> {
    let mut found = BTreeSet::new();
    e.visit(&mut |e| {
        if let Expr::Affine(a) = e {
            found.extend(a.terms().filter_map(|(v, _)| match v {
                Var::Loop(id) => Some(id),
                Var::Sym(_) => None,
            }));
        }
    });
    found
}
