//! Compact zeros: of a loop that adds what an array's elements are factors of, only the iterations run in which they are not zero.
//!
//! *Rewrite*: `for p for i for j ≥ i: c[i][j] += w[i] * a[p][j]` → for each `p`, the first time that the loop over `j` is
//! reached, the `j` with `a[p][j] != 0` are listed, and the loop runs over the list: `for k < n: if (list[k] ≥ i) c[i][list[k]]
//! += w[i] * a[p][list[k]]`. A list serves all loops between the innermost one on which the element depends and the one that is
//! compacted; it is made out of elements that are read there anyway.
//!
//! *Legal when* the policy says that numbers are finite, so that nothing but zero comes of a product with zero, or the target is
//! an integer; what is left runs in the order of the source. *Refused when* the nest stores into the array, the loop does more
//! than add products of one element, no loop could use a list again, or the ranges of the loop do not lie in the first one.

use super::argument::Kind;
use super::guard_zeros::Guarding;
use super::registry::step;
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::values::{NestRewrite, Valued, only_if, read_in, replace_loop};
use oxeye_ir::{
    Access, Affine, ArrayId, BinaryOp, Bound, BoundTerm, Execution, Expr, Loop, LoopId, Node, ScalarType,
    Stmt, StmtId, Update,
};

step! {
    /// Lists where an array is not zero, and runs a loop over the list.
    CompactZeros: "compact_zeros",
    "list where an array is not zero, and run a loop that adds products of its elements over the list",
    "{at} of {array}";
    /// The loop.
    at: LoopId = Kind::Loop,
    /// The array.
    array: ArrayId = Kind::Array,
}

impl NestRewrite for CompactZeros {
    fn rewrite(&self, nest: &mut Valued, policy: Policy) -> Result<(), Reason> {
        let name = nest.unchanged(self.array)?;
        let mut path: Vec<Loop> = Vec::new();
        nest.nest.visit(&mut |around, node| {
            if let Node::Loop(l) = node
                && l.id == self.at
            {
                path = around.iter().copied().chain([l]).cloned().collect();
            }
        });
        let Some((at, around)) = path.split_last() else {
            return Err(Reason::new(RefusalKind::NoSuchLoop, format!("the nest has no loop {}", self.at)));
        };
        let guarding =
            Guarding { array: self.array, program: &nest.program, is_finite: policy.finite, at: Some(at.id) };
        let body = guarding.nodes(&at.body, &[]);
        let (condition, body) = match <[Node; 1]>::try_from(body) {
            Ok([Node::If { condition, then, otherwise }])
                if otherwise.is_empty() && element(&condition).is_some_and(|e| e.array == self.array) =>
            {
                (condition, then)
            }
            _ => {
                let text = format!(
                    "loop {} does more than add products of one element of `{name}`, or such a product with zero may \
                     not be left out",
                    at.name
                );
                return Err(Reason::unsupported(text));
            }
        };
        if !condition.uses(at.id) {
            let text = format!("loop {} does not decide which element of `{name}` it reads", at.name);
            return Err(Reason::unsupported(text));
        }
        let n_fixed = around.iter().rposition(|l| condition.uses(l.id)).map_or(0, |k| k + 1);
        let Some(first) = around.get(n_fixed) else {
            return Err(Reason::unsupported(format!("no loop around {} would use a list again", at.name)));
        };
        let ranges = Ranges { at, around, first, n_fixed };
        ranges.shrink()?;
        if at.ty.is_unsigned() && ranges.inside(&Expr::from(0)).is_some() {
            let text = format!("loop {} counts with an unsigned variable over ranges that differ", at.name);
            return Err(Reason::unsupported(text));
        }
        let extent = ranges.extent().ok_or_else(|| {
            Reason::unsupported(format!("the longest range of loop {} is not known before the nest", at.name))
        })?;
        // What is left of the loop.
        // Signed, since it says before the first time that there is no list.
        let length = if at.ty == ScalarType::I32 { ScalarType::I32 } else { ScalarType::I64 };
        let count = nest.scalar(&format!("n_{name}"), length);
        let own = nest.scalar(&format!("{}_of", at.name), at.ty);
        let list = nest.temporary(&format!("{name}_list"), at.ty, vec![extent]);
        let read = |scalar| Expr::Read(Access::scalar(scalar));
        let mut ids = Ids::of(nest);
        let entry = |index: Expr| Access { array: list, indices: vec![index] };
        let symbol = nest.program.add_symbol("at", at.ty);
        let left: Vec<Node> = body
            .into_iter()
            .map(|mut node| {
                node.substitute(&|v| (v == at.id.into()).then(|| symbol.into()));
                read_in(&mut node, &[(symbol, own)]);
                node
            })
            .collect();
        nest.program.symbols.shift_remove(&symbol);
        let left = match ranges.inside(&read(own)) {
            Some(inside) => vec![only_if(inside, left)],
            None => left,
        };
        let from_list = Expr::Read(entry(Expr::Affine(Affine::var(at.id))));
        let over_list = Node::Loop(Loop {
            ty: length,
            lower: Bound::from(0),
            upper: Bound(vec![BoundTerm::Data(read(count))]),
            execution: Execution::Sequential,
            body: [vec![ids.stmt(Access::scalar(own), from_list)], left].concat(),
            ..at.clone()
        });
        // What makes the list.
        let every = ids.next_loop();
        let mut is_other = condition;
        is_other.substitute(&|v| (v == at.id.into()).then(|| Affine::var(every)));
        let next = Expr::binary(BinaryOp::Add, read(count), Expr::from(1));
        let found = vec![
            ids.stmt(entry(read(count)), Expr::Affine(Affine::var(every))),
            ids.stmt(Access::scalar(count), next),
        ];
        let search = Node::Loop(Loop {
            id: every,
            execution: Execution::Sequential,
            body: vec![only_if(is_other, found)],
            ..at.clone()
        });
        let is_missing = Expr::binary(BinaryOp::Lt, read(count), Expr::from(0));
        let make = only_if(is_missing, vec![ids.stmt(Access::scalar(count), Expr::from(0)), search]);
        let none = ids.stmt(Access::scalar(count), Expr::from(-1));
        replace_loop(&mut nest.nest.roots, at.id, &[make, over_list]);
        if let Some(whole) = nest.nest.find_loop(first.id).cloned() {
            replace_loop(&mut nest.nest.roots, first.id, &[none, Node::Loop(whole)]);
        }
        Ok(())
    }
}

/// The element of a condition that it is not zero.
fn element(condition: &Expr) -> Option<&Access> {
    match condition {
        Expr::Binary(BinaryOp::Ne, read, _) => match &**read {
            Expr::Read(access) => Some(access),
            _ => None,
        },
        _ => None,
    }
}

/// The ranges that a loop runs over.
struct Ranges<'a> {
    at: &'a Loop,
    /// The loops around it.
    around: &'a [Loop],
    /// The outermost loop that uses a list again.
    first: &'a Loop,
    /// How many loops around it stand outside of that one.
    n_fixed: usize,
}

impl Ranges<'_> {
    /// That no range begins before an earlier one with the same list, or ends behind it.
    fn shrink(&self) -> Result<(), Reason> {
        let inner = &self.around[self.n_fixed + 1..];
        let grows = |term: &BoundTerm, sign: i64| match term.as_affine() {
            Some(a) => {
                let slope = a.coefficient(self.first.id).signum() * sign * self.first.step.signum();
                slope < 0 || inner.iter().any(|l| a.uses(l.id))
            }
            None => true,
        };
        let is_one_by_one = self.at.step == 1;
        let (lower, upper) = (&self.at.lower.0, &self.at.upper.0);
        if !is_one_by_one || lower.iter().any(|t| grows(t, 1)) || upper.iter().any(|t| grows(t, -1)) {
            let text = format!(
                "loop {} reaches iterations that were not among those of the first time that {} reaches it",
                self.at.name, self.first.name
            );
            return Err(Reason::unsupported(text));
        }
        Ok(())
    }

    /// Most iterations, known before the nest.
    fn extent(&self) -> Option<Expr> {
        let least = self.at.lower.0.iter().find_map(|t| self.extreme(t.as_affine()?, true))?;
        let most = self.at.upper.0.iter().find_map(|t| self.extreme(t.as_affine()?, false))?;
        let all = most - least;
        Some(match all.as_constant() {
            Some(n) => Expr::from(n.max(1)),
            None => Expr::binary(BinaryOp::Max, Expr::Affine(all), Expr::from(1)),
        })
    }

    /// The least or greatest value over the loops around.
    fn extreme(&self, a: &Affine, is_least: bool) -> Option<Affine> {
        let mut a = a.clone();
        for l in self.around.iter().rev() {
            let c = a.coefficient(l.id);
            if c == 0 {
                continue;
            }
            let end = if (c > 0) == is_least {
                l.lower.0.iter().find_map(BoundTerm::as_affine)?.clone()
            } else {
                l.upper.0.iter().find_map(BoundTerm::as_affine)?.clone().offset(-1)
            };
            a = a.substitute(&|v| (v == l.id.into()).then(|| end.clone()));
        }
        let is_known = a.loops().next().is_none();
        is_known.then_some(a)
    }

    /// Whether an entry of the list is in the present range, where that is not known.
    fn inside(&self, entry: &Expr) -> Option<Expr> {
        let varies = |t: &&BoundTerm| t.as_affine().is_some_and(|a| a.uses(self.first.id));
        let test =
            |op, t: &BoundTerm| Some(Expr::binary(op, entry.clone(), Expr::Affine(t.as_affine()?.clone())));
        let lower = self.at.lower.0.iter().filter(varies).filter_map(|t| test(BinaryOp::Ge, t));
        let upper = self.at.upper.0.iter().filter(varies).filter_map(|t| test(BinaryOp::Lt, t));
        lower.chain(upper).reduce(|l, r| Expr::binary(BinaryOp::And, l, r))
    }
}

/// Ids that the nest does not have.
struct Ids {
    next_loop: u32,
    next_stmt: u32,
}

impl Ids {
    fn of(nest: &Valued) -> Self {
        Self {
            next_loop: nest.nest.loops().iter().map(|l| l.id.0 + 1).max().unwrap_or(0),
            next_stmt: nest.nest.stmts().iter().map(|s| s.id.0 + 1).max().unwrap_or(0),
        }
    }

    fn next_loop(&mut self) -> LoopId {
        self.next_loop += 1;
        LoopId(self.next_loop - 1)
    }

    fn stmt(&mut self, target: Access, value: Expr) -> Node {
        self.next_stmt += 1;
        let id = StmtId(self.next_stmt - 1);
        Node::Stmt(Stmt { id, target, update: Update::Assign, value, line: None })
    }
}
