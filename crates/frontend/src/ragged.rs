//! Loops over a row that is shifted by a number from memory, counted from the row's beginning.
//!
//! In
//!
//! ```c
//! for (int i = max(0, -start[a]); i < min(n - start[a], length[a]); i++)
//!     result[s * n + start[a] + i] += row[a][i];
//! ```
//!
//! nothing can be said about the elements that are written, and the loop has no end that analysis knows. Counted by
//! `t = start[a] + i` it writes `result[s * n + t]`, and its bounds are `max(start[a], 0)` and
//! `min(n, length[a] + start[a])`: all iterations are the same, in the same order, between 0 and `n`.
//!
//! The loop of an access that is written is changed, so that what moves with the data is what is read. The new iterator has
//! 64 bits: the sum that it stands for may be one that the source never computes by itself.

use oxeye_ir::{
    Access, Affine, ArrayId, BinaryOp, Bound, BoundTerm, Execution, Expr, Loop, LoopId, Nest, Node, Program,
    ScalarType, UnaryOp, Var,
};
use std::collections::BTreeSet;

/// An integer expression as an affine part and multiples of what is not affine.
#[derive(Clone, Debug, Default)]
struct Sum {
    affine: Affine,
    /// Each once, with a factor other than zero.
    rest: Vec<(Expr, i64)>,
}

impl Sum {
    /// `None` where C might compute it modulo a power of two.
    fn of(e: &Expr, program: &Program) -> Option<Sum> {
        let mut sum = Sum::default();
        sum.add(e, 1, program)?;
        Some(sum)
    }

    fn add(&mut self, e: &Expr, factor: i64, program: &Program) -> Option<()> {
        match e {
            Expr::Affine(a) => self.affine = std::mem::take(&mut self.affine).add_scaled(a, factor),
            Expr::Binary(BinaryOp::Add, l, r) => {
                self.add(l, factor, program)?;
                self.add(r, factor, program)?;
            }
            Expr::Binary(BinaryOp::Sub, l, r) => {
                self.add(l, factor, program)?;
                self.add(r, factor.checked_neg()?, program)?;
            }
            Expr::Unary(UnaryOp::Neg, inner) => self.add(inner, factor.checked_neg()?, program)?,
            Expr::Cast(ScalarType::I64, inner) => match Sum::of(inner, program) {
                Some(sum) => *self = std::mem::take(self).add_scaled(&sum, factor)?,
                None => self.add_rest(e, factor)?,
            },
            _ if is_signed(e, program) => self.add_rest(e, factor)?,
            _ => return None,
        }
        Some(())
    }

    fn add_rest(&mut self, e: &Expr, factor: i64) -> Option<()> {
        match self.rest.iter_mut().find(|(known, _)| known == e) {
            Some((_, known)) => *known = known.checked_add(factor)?,
            None => self.rest.push((e.clone(), factor)),
        }
        self.rest.retain(|(_, factor)| *factor != 0);
        Some(())
    }

    fn add_scaled(mut self, other: &Sum, factor: i64) -> Option<Sum> {
        self.affine = self.affine.add_scaled(&other.affine, factor);
        for (e, own) in &other.rest {
            self.add_rest(e, own.checked_mul(factor)?)?;
        }
        Some(self)
    }

    /// As an expression that is computed in 64 bits from its first term on.
    fn expr(&self) -> Expr {
        let mut rest = self.rest.clone();
        rest.sort_by_key(|(_, factor)| *factor < 0);
        let wide = |e: Expr| Expr::Cast(ScalarType::I64, Box::new(e));
        let mut whole = Expr::Affine(self.affine.clone());
        for (k, (e, factor)) in rest.into_iter().enumerate() {
            let term = match factor.abs() {
                1 if k > 0 => e,
                1 => wide(e),
                factor => Expr::binary(BinaryOp::Mul, Expr::from(factor), wide(e)),
            };
            let op = if factor > 0 { BinaryOp::Add } else { BinaryOp::Sub };
            whole = match (&whole, op) {
                (Expr::Affine(a), BinaryOp::Add) if a.as_constant() == Some(0) => term,
                _ => Expr::binary(op, whole, term),
            };
        }
        whole
    }

    fn bound(&self) -> BoundTerm {
        match self.rest.is_empty() {
            true => self.affine.clone().into(),
            false => BoundTerm::Data(self.expr()),
        }
    }
}

/// Whether an expression that is not affine is computed with signed integers, which do not overflow.
fn is_signed(e: &Expr, program: &Program) -> bool {
    match e {
        Expr::Affine(_) => true,
        Expr::Read(access) => {
            use ScalarType::{I8, I16, I32, I64, U8, U16};
            matches!(program.array(access.array).element, I8 | I16 | I32 | I64 | U8 | U16)
        }
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, l, r) => {
            is_signed(l, program) && is_signed(r, program)
        }
        Expr::Unary(UnaryOp::Neg, inner) => is_signed(inner, program),
        Expr::Cast(to, inner) => *to == ScalarType::I64 && is_signed(inner, program),
        _ => false,
    }
}

/// Counts such loops of all nests from the beginnings of the rows that they write.
pub(crate) fn align(program: &mut Program) {
    let mut nests = std::mem::take(&mut program.nests);
    for nest in nests.values_mut() {
        let written = written(nest);
        align_nodes(&mut nest.roots, program, &written);
    }
    program.nests = nests;
}

fn written(nest: &Nest) -> BTreeSet<ArrayId> {
    nest.accesses().into_iter().filter(|(_, is_written)| *is_written).map(|(a, _)| a.array).collect()
}

fn align_nodes(nodes: &mut [Node], program: &Program, written: &BTreeSet<ArrayId>) {
    for node in nodes {
        if let Node::Loop(l) = node
            && let Some(aligned) = aligned(l, program, written)
        {
            *l = aligned;
        }
        for body in node.bodies_mut() {
            align_nodes(body, program, written);
        }
    }
}

/// The loop counted by what its iterator has added to it in the first target that moves with the data.
fn aligned(l: &Loop, program: &Program, written: &BTreeSet<ArrayId>) -> Option<Loop> {
    let is_plain = l.step == 1 && l.execution == Execution::Sequential;
    if !is_plain || !matches!(l.ty, ScalarType::I32 | ScalarType::I64 | ScalarType::U64) {
        return None;
    }
    let nest = Nest::new(oxeye_ir::NestId(0), "", l.body.clone());
    let inner: BTreeSet<LoopId> = nest.loops().into_iter().map(|l| l.id).collect();
    let shift = nest
        .stmts()
        .into_iter()
        .flat_map(|s| &s.target.indices)
        .find_map(|index| shift_of(index, l.id, &inner, program, written))?;
    let replaced = |e: &Expr| -> Option<Expr> {
        let mut sum = Sum::of(e, program)?;
        let factor = sum.affine.coefficient(l.id);
        // The iterator is the new one less the shift.
        sum = sum.add_scaled(&shift, factor.checked_neg()?)?;
        (!sum.rest.iter().any(|(e, _)| e.uses(l.id))).then(|| sum.expr())
    };
    let moved = |bound: &Bound| -> Option<Bound> {
        let moved = |term: &BoundTerm| {
            let term = match term {
                BoundTerm::Affine { expr, divisor: 1 } => Sum { affine: expr.clone(), rest: Vec::new() },
                BoundTerm::Affine { .. } | BoundTerm::Open => return None,
                BoundTerm::Data(e) => Sum::of(e, program)?,
            };
            Some(term.add_scaled(&shift, 1)?.bound())
        };
        Some(Bound(bound.0.iter().map(moved).collect::<Option<_>>()?))
    };
    let (lower, upper) = (moved(&l.lower)?, moved(&l.upper)?);
    let has_ends = |bound: &Bound| bound.0.iter().any(|term| term.as_affine().is_some());
    if !has_ends(&lower) || !has_ends(&upper) {
        return None;
    }
    let mut body = l.body.clone();
    replace(&mut body, l.id, &replaced)?;
    Some(Loop { lower, upper, ty: ScalarType::I64, body, ..l.clone() })
}

/// What is added to the iterator in an index: numbers from memory, and symbols. `None` if no number from memory is.
fn shift_of(
    index: &Expr,
    id: LoopId,
    inner: &BTreeSet<LoopId>,
    program: &Program,
    written: &BTreeSet<ArrayId>,
) -> Option<Sum> {
    let sum = Sum::of(index, program)?;
    if sum.affine.coefficient(id) != 1 {
        return None;
    }
    let symbols = sum.affine.terms().filter(|(v, _)| matches!(v, Var::Sym(_)));
    let affine = symbols
        .fold(Affine::constant(sum.affine.constant_part()), |a, (v, c)| a.add_scaled(&Affine::var(v), c));
    let is_still = |e: &Expr| {
        let mut uses_inner = e.uses(id);
        inner.iter().for_each(|l| uses_inner |= e.uses(*l));
        !uses_inner && e.reads().iter().all(|access| !written.contains(&access.array))
    };
    let rest: Vec<(Expr, i64)> = sum.rest.into_iter().filter(|(e, _)| !e.reads().is_empty()).collect();
    (!rest.is_empty() && rest.iter().all(|(e, _)| is_still(e))).then_some(Sum { affine, rest })
}

/// Replaces the iterator everywhere in some nodes; `None` if it occurs where that cannot be written.
fn replace(nodes: &mut [Node], id: LoopId, replaced: &dyn Fn(&Expr) -> Option<Expr>) -> Option<()> {
    fn within(e: &mut Expr, id: LoopId, replaced: &dyn Fn(&Expr) -> Option<Expr>) -> Option<()> {
        if !e.uses(id) {
            return Some(());
        }
        match e {
            Expr::Affine(_) => *e = replaced(e)?,
            Expr::Read(access) => indices(access, id, replaced)?,
            _ => e.children_mut().into_iter().try_for_each(|child| within(child, id, replaced))?,
        }
        Some(())
    }
    fn indices(access: &mut Access, id: LoopId, replaced: &dyn Fn(&Expr) -> Option<Expr>) -> Option<()> {
        for index in access.indices.iter_mut().filter(|index| index.uses(id)) {
            match replaced(index) {
                Some(new) => *index = new,
                None => within(index, id, replaced)?,
            }
        }
        Some(())
    }
    for node in nodes {
        match node {
            Node::Stmt(s) => {
                indices(&mut s.target, id, replaced)?;
                within(&mut s.value, id, replaced)?;
            }
            Node::If { condition, .. } => within(condition, id, replaced)?,
            Node::Loop(l) => {
                if l.lower.0.iter().chain(&l.upper.0).any(|term| term.uses(id)) {
                    return None;
                }
            }
        }
        for body in node.bodies_mut() {
            replace(body, id, replaced)?;
        }
    }
    Some(())
}
