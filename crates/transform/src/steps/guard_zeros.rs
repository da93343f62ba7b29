//! Guard zeros: leaves out the statements that add what an array is a factor of, where it is zero.
//!
//! *Rewrite*: `for j c[i][j] += a[i][k] * b[k][j]` → `if (a[i][k] != 0) for j c[i][j] += a[i][k] * b[k][j]`. The test stands
//! outside of the loops on which the element does not depend.
//!
//! *Legal when* the policy says that numbers are finite, so that nothing but zero comes of a product with zero, or the target is
//! an integer. *Refused when* the nest stores into the array, or no statement adds a product of it.

use super::argument::Kind;
use super::registry::step;
use crate::policy::Policy;
use crate::refusal::Reason;
use crate::values::{NestRewrite, Valued, entered, only_if};
use oxeye_ir::{Access, ArrayId, BinaryOp, Expr, LoopId, Node, Program, Stmt, UnaryOp, Update};

step! {
    /// Leaves out what is multiplied with zero.
    GuardZeros: "guard_zeros",
    "leave out the statements that add a product of an array's element where that is zero",
    "{array}";
    /// The array.
    array: ArrayId = Kind::Array,
}

impl NestRewrite for GuardZeros {
    fn rewrite(&self, nest: &mut Valued, policy: Policy) -> Result<(), Reason> {
        let name = nest.unchanged(self.array)?;
        let guarding =
            Guarding { array: self.array, program: &nest.program, is_finite: policy.finite, at: None };
        let factors: Vec<&Stmt> =
            nest.nest.stmts().into_iter().filter(|s| guarding.factor(s).is_some()).collect();
        if factors.is_empty() {
            return Err(Reason::unsupported(format!(
                "no statement adds a product with `{name}` as a factor"
            )));
        }
        if !factors.into_iter().any(|s| guarding.is_allowed(s)) {
            return Err(Reason::unsupported(
                "a product with zero is left out only where the compiler's flags say that numbers are finite and zeros \
                 have no sign, as -ffast-math does",
            ));
        }
        let roots = guarding.nodes(&nest.nest.roots, &[]);
        nest.nest.roots = roots;
        Ok(())
    }
}

/// Puts statements that add a product behind a test of an element.
pub(super) struct Guarding<'a> {
    pub(super) array: ArrayId,
    pub(super) program: &'a Program,
    pub(super) is_finite: bool,
    /// The loop that decides which element is meant, if one is to.
    pub(super) at: Option<LoopId>,
}

/// A node, with a condition for it.
struct Guarded {
    condition: Option<Expr>,
    node: Node,
}

impl Guarding<'_> {
    /// The element that a statement adds a multiple of.
    fn factor<'s>(&self, s: &'s Stmt) -> Option<&'s Access> {
        let adds = matches!(s.update, Update::Add | Update::Sub);
        self.factor_of(&s.value).filter(|access| adds && access.indices.iter().all(|e| e.reads().is_empty()))
    }

    fn factor_of<'s>(&self, e: &'s Expr) -> Option<&'s Access> {
        match e {
            Expr::Read(access) => {
                let is_meant = self.at.is_none_or(|at| access.indices.iter().any(|index| index.uses(at)));
                (access.array == self.array && is_meant).then_some(access)
            }
            Expr::Unary(UnaryOp::Neg, inner) | Expr::Cast(_, inner) => self.factor_of(inner),
            Expr::Binary(BinaryOp::Mul, l, r) => self.factor_of(l).or_else(|| self.factor_of(r)),
            Expr::Binary(BinaryOp::Div, l, _) => self.factor_of(l),
            _ => None,
        }
    }

    fn is_allowed(&self, s: &Stmt) -> bool {
        let is_float = self.program.array(s.target.array).element.is_float();
        // An integer that is added a floating-point number is rounded.
        let reads = s.value.reads();
        let has_float = is_float || reads.iter().any(|a| self.program.array(a.array).element.is_float());
        self.is_finite || !has_float
    }

    /// The nodes with their conditions, inside loops that have an iteration if these conditions hold.
    pub(super) fn nodes(&self, nodes: &[Node], around: &[Expr]) -> Vec<Node> {
        let mut guarded: Vec<(Option<Expr>, Vec<Node>)> = Vec::new();
        for node in nodes {
            let Guarded { condition, node } = self.node(node, around);
            match guarded.last_mut() {
                Some((Some(known), together)) if Some(&*known) == condition.as_ref() => together.push(node),
                _ => guarded.push((condition, vec![node])),
            }
        }
        let all = guarded.into_iter().flat_map(|(condition, nodes)| match condition {
            Some(condition) => vec![only_if(condition, nodes)],
            None => nodes,
        });
        all.collect()
    }

    fn node(&self, node: &Node, around: &[Expr]) -> Guarded {
        match node {
            Node::Stmt(s) => {
                let factor = self.factor(s).filter(|_| self.is_allowed(s));
                let condition = factor
                    .map(|access| Expr::binary(BinaryOp::Ne, Expr::Read(access.clone()), Expr::from(0)));
                Guarded { condition, node: node.clone() }
            }
            Node::If { condition, then, otherwise } => {
                let (then, otherwise) = (self.nodes(then, around), self.nodes(otherwise, around));
                Guarded { condition: None, node: Node::If { condition: condition.clone(), then, otherwise } }
            }
            Node::Loop(l) => {
                let is_entered = entered(l).map(|condition| condition.filter(|c| !around.contains(c)));
                let inside: Vec<Expr> = around.iter().cloned().chain(entered(l).flatten()).collect();
                let body = self.nodes(&l.body, &inside);
                let hoisted = match (&body[..], is_entered, &l.body[..]) {
                    // It is read before the loop only if it is read in the loop.
                    ([Node::If { condition, then, otherwise }], Some(is_entered), inner)
                        if otherwise.is_empty()
                            && !condition.uses(l.id)
                            && !matches!(inner, [Node::If { .. }]) =>
                    {
                        let condition = match is_entered {
                            Some(entered) => Expr::binary(BinaryOp::And, entered, condition.clone()),
                            None => condition.clone(),
                        };
                        Some((condition, then.clone()))
                    }
                    _ => None,
                };
                let (condition, body) = match hoisted {
                    Some((condition, then)) => (Some(condition), then),
                    None => (None, body),
                };
                let node = Node::Loop(oxeye_ir::Loop { body, ..l.clone() });
                Guarded { condition, node }
            }
        }
    }
}
