//! Scalars in indices and bounds, replaced by what they hold.
//!
//! In `s = start[a]; for (i = 0; i < n - s; i++) x[s + i] += …` nothing can be said about the elements of `x`; with
//! `start[a]` in place of `s`, [`crate::ragged`] can. So it is done in nests where scalars decide how far a loop goes. In all
//! nests it is done with places at a border, `k = i + d < 0 ? 0 : i + d; … x[k] …`: these are functions of iterators, and loops
//! can be cut where they change.

use crate::lower::Holdings;
use crate::prove::Facts;
use oxeye_ir::{
    ArrayId, BinaryOp, Bound, BoundTerm, Expr, Loop, Nest, NestId, Node, Program, ScalarType, Storage,
    UnaryOp,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Replaces them in all nests, of which this is known. Gives the scalars that a nest does not use any more, though its text does:
/// those of which nothing is read, neither in the nest nor after it.
pub(crate) fn forward(program: &mut Program, known: &HashMap<NestId, Facts>) -> Vec<(NestId, ArrayId)> {
    let mut nests = std::mem::take(&mut program.nests);
    let mut unused = Vec::new();
    for nest in nests.values_mut() {
        let read_before = read(nest);
        let mut forward = Forward {
            is_whole: has_scalar_bounds(nest),
            facts: known.get(&nest.id).cloned().unwrap_or_default(),
        };
        let mut holdings = Holdings::of(program, nest);
        let mut roots = std::mem::take(&mut nest.roots);
        forward.nodes(&mut roots, &mut holdings);
        nest.roots = roots;
        let is_scratch = |id: ArrayId| match program.array(id).storage {
            Storage::Local => !nest.live_out.contains(&id),
            Storage::Body(_) => true,
            Storage::Temp(_) | Storage::Param | Storage::Global => false,
        };
        let read_after = read(nest);
        let dead: BTreeSet<ArrayId> =
            read_before.difference(&read_after).copied().filter(|id| is_scratch(*id)).collect();
        remove(&mut nest.roots, &dead);
        unused.extend(dead.into_iter().map(|array| (nest.id, array)));
    }
    program.nests = nests;
    unused
}

/// The arrays that a nest reads, other than for new values of themselves.
fn read(nest: &Nest) -> BTreeSet<ArrayId> {
    let mut n_reads: BTreeMap<ArrayId, usize> = BTreeMap::new();
    for (access, _) in nest.accesses().into_iter().filter(|(_, is_written)| !is_written) {
        *n_reads.entry(access.array).or_insert(0) += 1;
    }
    for s in nest.stmts() {
        for _ in s.value.reads().into_iter().filter(|access| access.array == s.target.array) {
            n_reads.entry(s.target.array).and_modify(|n| *n -= 1);
        }
    }
    n_reads.into_iter().filter(|(_, n)| *n > 0).map(|(id, _)| id).collect()
}

/// Removes statements that store into one of these, and what is empty without them.
fn remove(nodes: &mut Vec<Node>, dead: &BTreeSet<ArrayId>) {
    if dead.is_empty() {
        return;
    }
    nodes.retain_mut(|node| {
        if let Node::Stmt(s) = node {
            return !dead.contains(&s.target.array);
        }
        node.bodies_mut().into_iter().for_each(|body| remove(body, dead));
        node.bodies().iter().any(|body| !body.is_empty())
    });
}

/// Whether a bound reads a scalar that the nest writes.
fn has_scalar_bounds(nest: &Nest) -> bool {
    let accesses = nest.accesses();
    let is_written = |id: ArrayId| accesses.iter().any(|(access, written)| *written && access.array == id);
    let bounds = nest.loops().into_iter().flat_map(|l| l.lower.0.iter().chain(&l.upper.0));
    bounds.into_iter().any(|term| match term {
        BoundTerm::Data(e) => {
            e.reads().iter().any(|access| access.indices.is_empty() && is_written(access.array))
        }
        BoundTerm::Affine { .. } | BoundTerm::Open => false,
    })
}

struct Forward {
    /// Whether all scalars are replaced, not only places at a border.
    is_whole: bool,
    /// What holds at a place in the nest.
    facts: Facts,
}

impl Forward {
    fn nodes(&mut self, all: &mut [Node], holdings: &mut Holdings<'_>) {
        for node in all {
            match node {
                Node::Stmt(s) => {
                    s.target.indices.iter_mut().for_each(|index| self.put(index, holdings));
                    self.indices(&mut s.value, holdings);
                    holdings.store(s);
                }
                Node::If { condition, then, otherwise } => {
                    self.indices(condition, holdings);
                    let known = holdings.known(condition);
                    let mut branches = [holdings.clone(), holdings.clone()];
                    for ((body, holds), holdings) in
                        [(then, true), (otherwise, false)].into_iter().zip(&mut branches)
                    {
                        let n_facts = self.facts.len();
                        self.facts.push_condition(condition, holds);
                        self.nodes(body, holdings);
                        self.facts.truncate(n_facts);
                    }
                    let [then, otherwise] = branches;
                    *holdings = Holdings::either(known.as_ref(), then, otherwise);
                }
                Node::Loop(l) => self.a_loop(l, holdings),
            }
        }
    }

    fn a_loop(&mut self, l: &mut Loop, holdings: &mut Holdings<'_>) {
        let bound = |bound: &mut Bound| {
            for term in &mut bound.0 {
                if let BoundTerm::Data(e) = term {
                    self.put(e, holdings);
                }
            }
        };
        [&mut l.lower, &mut l.upper].into_iter().for_each(bound);
        let n_facts = self.facts.len();
        self.facts.push_loop(l);
        holdings.forget(&l.body);
        self.nodes(&mut l.body, holdings);
        holdings.forget(&l.body);
        self.facts.truncate(n_facts);
    }

    /// Indices in an expression.
    fn indices(&self, e: &mut Expr, holdings: &Holdings<'_>) {
        match e {
            Expr::Read(access) => access.indices.iter_mut().for_each(|index| self.put(index, holdings)),
            _ => e.children_mut().into_iter().for_each(|child| self.indices(child, holdings)),
        }
    }

    fn put(&self, e: &mut Expr, holdings: &Holdings<'_>) {
        if !e.reads().iter().any(|access| access.indices.is_empty()) {
            return;
        }
        let Some(known) = holdings.known(e).filter(|known| known != e) else { return };
        if self.is_whole && !holdings.may_be_written(&known) {
            *e = known;
        } else if let Some(place) = self.at_border(known, holdings) {
            *e = place;
        }
    }

    /// An expression of iterators and symbols alone that is not the same one everywhere, without conversions.
    fn at_border(&self, mut e: Expr, holdings: &Holdings<'_>) -> Option<Expr> {
        self.without_casts(&mut e, holdings)?;
        let mut has_cases = false;
        e.visit(&mut |e| {
            has_cases |= matches!(
                e,
                Expr::Select { .. } | Expr::Binary(BinaryOp::Min | BinaryOp::Max | BinaryOp::Rem, ..)
            );
        });
        has_cases.then_some(e)
    }

    fn without_casts(&self, e: &mut Expr, holdings: &Holdings<'_>) -> Option<()> {
        while let Expr::Cast(ty, inner) = e {
            let fits = *ty == ScalarType::I64
                || *ty == ScalarType::I32
                    && self.is_bounded(inner, true, holdings)
                    && self.is_bounded(inner, false, holdings);
            *e = fits.then(|| std::mem::replace(&mut **inner, Expr::from(0)))?;
        }
        match e {
            Expr::Affine(_) | Expr::Unary(UnaryOp::Neg | UnaryOp::Not, _) | Expr::Select { .. } => {}
            Expr::Binary(op, ..) if !matches!(op, BinaryOp::Div | BinaryOp::Shl | BinaryOp::Shr) => {}
            _ => return None,
        }
        e.children_mut().into_iter().try_for_each(|child| self.without_casts(child, holdings))
    }

    /// Whether an integer expression is an `int`, as far as its upper or its lower limit is concerned.
    fn is_bounded(&self, e: &Expr, above: bool, holdings: &Holdings<'_>) -> bool {
        let is_bounded = |e: &Expr| self.is_bounded(e, above, holdings);
        match e {
            _ if holdings.is_int(e) => true,
            Expr::Affine(a) => !above && self.facts.prove_non_negative(a),
            Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), l, r) => match above == (*op == BinaryOp::Min)
            {
                true => is_bounded(l) || is_bounded(r),
                false => is_bounded(l) && is_bounded(r),
            },
            Expr::Select { then, otherwise, .. } => is_bounded(then) && is_bounded(otherwise),
            _ => false,
        }
    }
}
