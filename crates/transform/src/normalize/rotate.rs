//! Unrolling of loops over buffers that change places from one time step to the next.
//!
//! A loop whose body uses its iterator only as `(t + c) % k`, or that ends by swapping two pointers, is unrolled by `k`
//! (or two) if its number of iterations is a known multiple. Then every access names its buffer.

use super::rewrites::Done;
use crate::instances::{Instances, stmts_under};
use crate::rewrite::Rewrite;
use crate::scan::for_each_access;
use oxeye_ir::{Affine, ArrayId, BinaryOp, Bound, Expr, Loop, LoopId, Node, Program, StmtId, Storage, Var};
use std::collections::BTreeMap;

/// Ids that are not in use.
#[derive(Clone, Debug)]
pub(super) struct Fresh {
    pub(super) next_loop: u32,
    pub(super) next_stmt: u32,
}

impl Fresh {
    /// The ids after those in use.
    pub(super) fn after(nodes: &[Node]) -> Self {
        fn go(nodes: &[Node], fresh: &mut Fresh) {
            for node in nodes {
                match node {
                    Node::Loop(l) => fresh.next_loop = fresh.next_loop.max(l.id.0 + 1),
                    Node::Stmt(s) => fresh.next_stmt = fresh.next_stmt.max(s.id.0 + 1),
                    Node::If { .. } => {}
                }
                node.bodies().into_iter().for_each(|b| go(b, fresh));
            }
        }
        let mut fresh = Self { next_loop: 0, next_stmt: 0 };
        go(nodes, &mut fresh);
        fresh
    }

    /// Gives every loop and statement under the nodes a new id; returns the map from old to new loops.
    pub(super) fn rename(&mut self, nodes: &mut [Node]) -> BTreeMap<LoopId, LoopId> {
        let mut renamed = BTreeMap::new();
        self.number(nodes, &mut renamed);
        // All at once: new ids may be old ids of other loops.
        let with = |v: Var| match v {
            Var::Loop(l) => renamed.get(&l).map(|new| Affine::var(*new)),
            Var::Sym(_) => None,
        };
        nodes.iter_mut().for_each(|n| n.substitute(&with));
        renamed
    }

    fn number(&mut self, nodes: &mut [Node], renamed: &mut BTreeMap<LoopId, LoopId>) {
        for node in nodes {
            match node {
                Node::Loop(l) => {
                    let new = LoopId(self.next_loop);
                    self.next_loop += 1;
                    renamed.insert(l.id, new);
                    l.id = new;
                }
                Node::Stmt(s) => {
                    s.id = StmtId(self.next_stmt);
                    self.next_stmt += 1;
                }
                Node::If { .. } => {}
            }
            node.bodies_mut().into_iter().for_each(|b| self.number(b, renamed));
        }
    }
}

/// Unrolls loops over rotating buffers; returns what was done, as messages.
pub(super) fn unroll(program: &Program, nodes: &mut [Node], instances: &mut Instances) -> Done {
    let mut fresh = Fresh::after(nodes);
    let mut done = Vec::new();
    in_nodes(program, nodes, (&mut fresh, instances), &mut done);
    done.into_iter().map(|what| (Rewrite::BuffersNamed, what)).collect()
}

/// Whether a loop under the nodes owns an array, which a copy of the loop would have to copy too.
fn owns_arrays(program: &Program, nodes: &[Node]) -> bool {
    let owner = |id: LoopId| {
        let own = |s: Storage| matches!(s, Storage::Body(l) | Storage::Temp(Some(l)) if l == id);
        program.arrays.values().any(|a| own(a.storage))
    };
    nodes.iter().any(|n| {
        matches!(n, Node::Loop(l) if owner(l.id)) || n.bodies().into_iter().any(|b| owns_arrays(program, b))
    })
}

/// The body of a loop that ends by swapping the arrays of each pair, for two consecutive iterations; `None` if it
/// cannot be copied.
pub(super) fn swapped_twice(
    program: &Program,
    body: Vec<Node>,
    pairs: &[(ArrayId, ArrayId)],
    fresh: &mut Fresh,
) -> Option<Vec<Node>> {
    if owns_arrays(program, &body) {
        return None;
    }
    let mut second = body.clone();
    fresh.rename(&mut second);
    for node in &mut second {
        for_each_access(node, &mut |access| {
            for (a, b) in pairs {
                if access.array == *a {
                    access.array = *b;
                } else if access.array == *b {
                    access.array = *a;
                }
            }
        });
    }
    Some([body, second].concat())
}

fn in_nodes(
    program: &Program,
    nodes: &mut [Node],
    (fresh, instances): (&mut Fresh, &mut Instances),
    done: &mut Vec<String>,
) {
    for node in nodes {
        if let Node::Loop(l) = node
            && let Some(k) = rotation(l)
            && !owns_arrays(program, &l.body)
        {
            done.push(format!("loop {}: unrolled by {k}, so that each access names its buffer", l.name));
            unroll_one(l, k, fresh, instances);
        }
        node.bodies_mut().into_iter().for_each(|b| in_nodes(program, b, (fresh, instances), done));
    }
}

/// `(t + c) % k` with the iterator of the loop: c and k.
fn remainder(e: &Expr, id: LoopId) -> Option<(i64, i64)> {
    let Expr::Binary(BinaryOp::Rem, l, r) = e else { return None };
    let (a, k) = (l.as_affine()?, r.as_affine()?.as_constant()?);
    let only = a.clone().add_scaled(&Affine::var(id), -1).as_constant()?;
    (k > 1).then_some((only, k))
}

/// The modulus of a loop over rotating buffers.
fn rotation(l: &Loop) -> Option<i64> {
    let trips = i64::try_from(l.constant_trip_count()?).ok()?;
    let start = l.lower.as_affine()?.as_constant()?;
    let mut modulus = None;
    let mut fits = l.step == 1;
    let mut copy = l.body.clone();
    for node in &mut copy {
        for_each_access(node, &mut |a| {
            for index in &mut a.indices {
                if let Some((c, k)) = remainder(index, l.id) {
                    fits &= start + c >= 0 && *modulus.get_or_insert(k) == k;
                    *index = Expr::from(0);
                }
            }
        });
    }
    let nest = oxeye_ir::Nest::new(oxeye_ir::NestId(0), "", copy);
    fits &= !nest.vars().contains(&Var::Loop(l.id));
    modulus.filter(|k| fits && trips % k == 0)
}

fn unroll_one(l: &mut Loop, k: i64, fresh: &mut Fresh, instances: &mut Instances) {
    let start = l.lower.as_affine().and_then(Affine::as_constant).unwrap_or(0);
    let trips = l.constant_trip_count().and_then(|n| i64::try_from(n).ok()).unwrap_or(0);
    let mut bodies = Vec::new();
    for r in 0..k {
        let mut body = l.body.clone();
        for node in &mut body {
            for_each_access(node, &mut |a| {
                for index in &mut a.indices {
                    if let Some((c, k)) = remainder(index, l.id) {
                        *index = Expr::from((start + r + c) % k);
                    }
                }
            });
        }
        if r > 0 {
            instances.renamed_copy(&mut body, |body| fresh.rename(body));
        }
        bodies.push(body);
    }
    for (r, body) in (0..).zip(&bodies) {
        let iteration = Affine::term(l.id, k).offset(start + r);
        instances.substitute(&stmts_under(body), &|v| (v == Var::Loop(l.id)).then(|| iteration.clone()));
    }
    let bodies: Vec<Node> = bodies.into_iter().flatten().collect();
    l.body = bodies;
    l.lower = Bound::from(0);
    l.upper = Bound::from(trips / k);
}
