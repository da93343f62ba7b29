//! Variables assigned inside the nest, and the values that replace them: until the end of the branch or loop, or until
//! they are assigned again.

use super::lowerer::{Bound, Lowerer};
use super::value::{Value, is_comparison};
use crate::ast::{self, Range, Type, VarId, VarKind};
use crate::flow::{is_address_taken, is_live_after};
use crate::refusal::{Lowered, Refusal};
use crate::scan::Scan;
use oxeye_ir::{ArrayId, BinaryOp, BoundTerm, Expr, Node, ScalarType, UnaryOp};

impl Lowerer<'_> {
    /// Whether only assignments to its name change a variable.
    pub(super) fn is_tame(&self, var: VarId) -> bool {
        let file = self.cx.file;
        let variable = file.var(var);
        let is_own = matches!(variable.kind, VarKind::Param(_) | VarKind::Local { is_static: false });
        let function = variable.function.and_then(|k| file.functions.get(k));
        is_own && function.is_some_and(|function| !is_address_taken(function, var))
    }

    /// Forgets the values of variables that some code sets.
    pub(super) fn forget(&mut self, scan: &Scan) {
        if self.loops.is_empty() {
            let pointers = scan.written.iter().copied().filter(|v| self.is_pointer_var(*v));
            self.moving.moved_on.extend(pointers.collect::<Vec<_>>());
        }
        self.bound.retain(|v, _| !scan.written.contains(v) && !scan.iterators.contains(v));
    }

    /// Handles an assignment to the pointer `var`, which stands for its new value from here on.
    pub(super) fn assign_pointer(
        &mut self,
        op: Option<BinaryOp>,
        var: VarId,
        value: &ast::Expr,
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        let file = self.cx.file;
        if op.is_none() && value.as_var() == Some(var) {
            return Ok(());
        }
        let (name, ty) = (self.name(var), &file.var(var).ty);
        let refuse = || {
            Refusal::new(at, format!("the pointer `{name}` is changed inside the loop"))
                .help(format!("leave `{name}` as it is and subscript it"))
        };
        let is_own = file.var(var).function == Some(self.cx.position);
        if !self.is_tame(var) || !matches!(ty, Type::Pointer { .. }) || self.moving.in_turns.contains(&var) {
            return Err(refuse());
        }
        let is_set_behind = self.moving.walking.contains(&var);
        if is_own && !is_set_behind && is_live_after(file, self.cx.function, self.at, var) {
            return Err(Refusal::new(
                at,
                format!("the pointer `{name}`, which the loop changes, may be used later"),
            )
            .help("use another pointer inside the loop"));
        }
        let pointer = match op {
            None => {
                let bound = self.bound.clone();
                self.pointer_as(value, ty, &bound)?
            }
            Some(op @ (BinaryOp::Add | BinaryOp::Sub)) => {
                let Some(Bound::Pointer(pointer)) = self.bound.get(&var).cloned() else {
                    return Err(refuse());
                };
                let by = self.value(value)?;
                self.moved(pointer, op, by, at)?
            }
            Some(_) => return Err(refuse()),
        };
        let pointer = self.settled(pointer, at, out)?;
        self.bound.insert(var, Bound::Pointer(pointer));
        Ok(())
    }

    /// Records the value of a scalar that is also stored: later reads may use the value instead if it reads no memory.
    pub(super) fn note_value(&mut self, var: VarId, value: Option<Value>) {
        let is_integer = self.cx.file.var(var).ty.as_scalar().is_some_and(|s| {
            use ScalarType::{I32, I64, U32, U64};
            matches!(s.ty, I32 | I64 | U32 | U64) && !s.is_volatile && !s.is_bool
        });
        let is_index = |lowerer: &Self, e: &Expr| {
            is_index(e, &|e: &Expr| lowerer.quotient(e, 0, false).is_some(), &mut 0)
        };
        let known = value.filter(|_| is_integer).and_then(|v| {
            if is_index(self, &v.e) {
                return Some(v);
            }
            // What does not change in the nest, `n >> 3 << 3` for one. In 64 bits it is the same: it does not overflow in fewer.
            let is_signed = matches!(v.ty, ScalarType::I32 | ScalarType::I64);
            let before = if is_signed { self.end_before(v.e) } else { BoundTerm::Data(v.e) };
            Some(Value { e: before.as_affine()?.clone().into(), ..v })
        });
        match known {
            Some(value) if self.is_tame(var) => {
                self.outcome.substituted.insert(var);
                self.bound.insert(var, Bound::Value(value));
            }
            _ => _ = self.bound.remove(&var),
        }
    }
}

/// Most operations of a value that is written in the place of a variable.
const MOST_OPERATIONS: usize = 48;

/// Whether a value is one that subscripts have, from which ranges and strides can be seen: sums of products of iterators and
/// symbols, quotients that are rounded down, and choices among them.
fn is_index(e: &Expr, is_quotient: &dyn Fn(&Expr) -> bool, n_operations: &mut usize) -> bool {
    *n_operations += 1;
    if *n_operations > MOST_OPERATIONS {
        return false;
    }
    match e {
        Expr::Affine(_) => true,
        Expr::Cast(ScalarType::I64 | ScalarType::U32 | ScalarType::U64, inner) => {
            is_index(inner, is_quotient, n_operations)
        }
        Expr::Cast(ScalarType::I32, inner) => {
            is_quotient(inner)
                || matches!(**inner, Expr::Binary(BinaryOp::Add | BinaryOp::Mul, ..))
                    && is_index(inner, is_quotient, n_operations)
        }
        Expr::Binary(BinaryOp::Div, ..) => is_quotient(e),
        Expr::Binary(op, l, r) => {
            let is_known =
                matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max);
            is_known && is_index(l, is_quotient, n_operations) && is_index(r, is_quotient, n_operations)
        }
        Expr::Select { condition, then, otherwise } => {
            let is_plain = |e: &Expr| matches!(e, Expr::Affine(_));
            let is_comparison = matches!(&**condition,
                Expr::Binary(op, l, r) if is_comparison(*op) && is_plain(l) && is_plain(r));
            is_comparison
                && is_index(then, is_quotient, n_operations)
                && is_index(otherwise, is_quotient, n_operations)
        }
        _ => false,
    }
}

/// Whether any node sets a scalar.
pub(crate) fn sets(nodes: &[Node], scalar: ArrayId) -> bool {
    nodes.iter().any(|node| match node {
        Node::Stmt(s) => s.target.array == scalar,
        Node::If { then, otherwise, .. } => sets(then, scalar) || sets(otherwise, scalar),
        Node::Loop(l) => sets(&l.body, scalar),
    })
}

pub(crate) fn reads(nodes: &[Node], array: ArrayId) -> bool {
    let in_expr = |e: &Expr| e.reads().iter().any(|a| a.array == array);
    nodes.iter().any(|node| match node {
        // What only changes the variable itself is not needed either.
        Node::Stmt(s) if s.target.array == array => s.target.indices.iter().any(in_expr),
        Node::Stmt(s) => in_expr(&s.value) || s.target.indices.iter().any(in_expr),
        Node::If { condition, then, otherwise } => {
            in_expr(condition) || reads(then, array) || reads(otherwise, array)
        }
        Node::Loop(l) => {
            let of_bound = |term: &BoundTerm| matches!(term, BoundTerm::Data(e) if in_expr(e));
            l.lower.0.iter().chain(&l.upper.0).any(of_bound) || reads(&l.body, array)
        }
    })
}

pub(crate) fn remove_stores(nodes: &mut Vec<Node>, array: ArrayId) {
    nodes.retain_mut(|node| match node {
        Node::Stmt(s) => s.target.array != array,
        Node::If { condition, then, otherwise } => {
            remove_stores(then, array);
            remove_stores(otherwise, array);
            if then.is_empty() && !otherwise.is_empty() {
                *condition = Expr::Unary(UnaryOp::Not, Box::new(condition.clone()));
                std::mem::swap(then, otherwise);
            }
            !then.is_empty() || !otherwise.is_empty()
        }
        Node::Loop(l) => {
            remove_stores(&mut l.body, array);
            !l.body.is_empty()
        }
    });
}
