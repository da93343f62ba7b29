//! The border of a handed array: elements that later loops read and that the loop which computes the array leaves as they are, such
//! as the first and the last row of an image. A tile copies those that it needs.

use super::chain::{Chain, Group};
use crate::values::range_over;
use oxeye_analysis::implies;
use oxeye_ir::{Access, Affine, ArrayId, BinaryOp, Constraint, Expr, Loop, Node};

/// First and end index, or iteration.
type Range = (Affine, Affine);

/// What is read beyond what is computed.
pub(super) struct Border {
    /// The indices in each dimension of what the loop computes.
    computed: Vec<Range>,
    windows: Vec<Window>,
}

/// What one loop reads.
struct Window {
    /// The indices in each dimension of one access.
    first: Vec<Range>,
    /// Of all accesses: least and greatest offset from those in each dimension. Each of these boxes is read as a whole.
    offsets: Vec<Vec<(i64, i64)>>,
    /// The loops around: where one has no iterations, nothing is read.
    loops: Vec<Range>,
}

/// A box of elements to copy.
#[derive(PartialEq, Eq)]
pub(super) struct Part {
    /// The first and the end index in each dimension are the greatest of the first and the least of the second of these.
    pub(super) ends: Vec<(Vec<Affine>, Vec<Affine>)>,
    /// Nothing is to be copied where one of these is not positive.
    pub(super) lengths: Vec<Affine>,
}

impl Border {
    /// The border of an array that a loop writes and does not read, if there is one that can be told.
    pub(super) fn of(group: &Group, writer: usize, id: ArrayId) -> Option<Self> {
        let mut own = group.chains[writer].accesses.iter().filter(|(access, _)| access.array == id);
        if own.any(|(_, is_written)| !is_written) {
            return None;
        }
        let computed = computed(&group.chains[writer], id)?;
        let readers = group.chains.iter().enumerate().filter(|(k, chain)| *k != writer && chain.uses(id));
        let windows = readers.map(|(_, chain)| Window::of(chain, id)).collect::<Option<_>>()?;
        Some(Self { computed, windows })
    }

    /// What is read of it, where this is known: a box behind each end of each dimension.
    pub(super) fn parts(&self, known: &[Constraint]) -> Vec<Part> {
        let is_within =
            |small: &Affine, great: &Affine| implies(known, &Constraint::ge(great.clone(), small.clone()));
        let mut found: Vec<Part> = Vec::new();
        let windows = self.windows.iter().flat_map(|window| window.offsets.iter().map(move |o| (window, o)));
        for (window, offsets) in windows {
            let lengths = window.loops.iter().map(|(lower, upper)| upper.clone() - lower.clone());
            let is_open = |length: &Affine| !implies(known, &Constraint::ge(length.clone(), 1.into()));
            let lengths: Vec<Affine> = lengths.filter(is_open).collect();
            let ends: Vec<Range> = window
                .first
                .iter()
                .zip(offsets)
                .map(|((first, end), (least, most))| {
                    (first.clone().offset(*least), end.clone().offset(*most))
                })
                .collect();
            for (d, ((first, end), (own_first, own_end))) in ends.iter().zip(&self.computed).enumerate() {
                let mut part = |is_behind: bool, end: &Affine| {
                    let mut all: Vec<_> =
                        ends.iter().map(|(f, e)| (vec![f.clone()], vec![e.clone()])).collect();
                    let cut = if is_behind { &mut all[d].0 } else { &mut all[d].1 };
                    cut.push(end.clone());
                    let part = Part { ends: all, lengths: lengths.clone() };
                    if !found.contains(&part) {
                        found.push(part);
                    }
                };
                if !is_within(own_first, first) {
                    part(false, own_first);
                }
                if !is_within(end, own_end) {
                    part(true, own_end);
                }
            }
        }
        found
    }
}

/// The ends of a loop that steps by one.
fn ends_of(l: &Loop) -> Option<Range> {
    let ends = (l.lower.as_affine()?.clone(), l.upper.as_affine()?.clone());
    (l.step == 1).then_some(ends)
}

/// The indices in each dimension of what a loop writes of an array, all with one access.
fn computed(chain: &Chain, id: ArrayId) -> Option<Vec<Range>> {
    let mut found: Option<Vec<Range>> = None;
    let mut is_plain = true;
    chain.nest.visit(&mut |path, node| {
        let Node::Stmt(s) = node else { return };
        if s.target.array != id {
            return;
        }
        let range = |index: &Expr| {
            let index = index.as_affine()?;
            let l = path.iter().find(|l| index.coefficient(l.id) == 1)?;
            let offset = index.clone() - Affine::var(l.id);
            let (lower, upper) = ends_of(l)?;
            let is_fixed = [&offset, &lower, &upper].iter().all(|a| a.loops().next().is_none());
            is_fixed.then(|| (lower + offset.clone(), upper + offset))
        };
        let ranges: Option<Vec<Range>> = s.target.indices.iter().map(range).collect();
        is_plain &= ranges.is_some() && found.as_ref().is_none_or(|known| Some(known) == ranges.as_ref());
        found = ranges;
    });
    found.filter(|_| is_plain)
}

impl Window {
    fn of(chain: &Chain, id: ArrayId) -> Option<Self> {
        let mut reads: Vec<(Access, Vec<Loop>)> = Vec::new();
        collect(&Node::Loop(chain.root.clone()), id, &mut Vec::new(), &mut reads)?;
        let mut first: Option<Vec<Range>> = None;
        let (mut offsets, mut loops) = (Vec::new(), Vec::new());
        for (access, path) in &reads {
            // Of a diagonal, the corners of the box need not be there.
            let is_box = |l: &Loop| access.indices.iter().filter(|index| index.uses(l.id)).count() <= 1;
            path.iter().all(is_box).then_some(())?;
            let ranges = access.indices.iter().map(|index| range_of(index.as_affine()?, path));
            let ranges: Vec<Range> = ranges.collect::<Option<_>>()?;
            let first = first.get_or_insert_with(|| ranges.clone());
            let apart = |((first, end), (other, other_end)): (&Range, &Range)| {
                let apart = (other.clone() - first.clone()).as_constant()?;
                (other_end.clone() - end.clone() == Affine::constant(apart)).then_some((apart, apart))
            };
            let offset: Vec<(i64, i64)> = first.iter().zip(&ranges).map(apart).collect::<Option<_>>()?;
            if !offsets.contains(&offset) {
                offsets.push(offset);
            }
            for l in path {
                let ends = ends_of(l)
                    .filter(|(lower, upper)| lower.loops().chain(upper.loops()).next().is_none())?;
                if !loops.contains(&ends) {
                    loops.push(ends);
                }
            }
        }
        let mut window = Self { first: first?, offsets, loops };
        window.merge();
        Some(window)
    }

    /// Makes one box of those that touch each other in a dimension and are equal in the others: each has an element.
    fn merge(&mut self) {
        for d in (0..self.first.len()).rev() {
            self.offsets.sort_by_key(|offset| (without(offset, d), offset[d]));
            let mut merged: Vec<Vec<(i64, i64)>> = Vec::new();
            for offset in self.offsets.drain(..) {
                match merged.last_mut() {
                    Some(last) if without(last, d) == without(&offset, d) && offset[d].0 <= last[d].1 + 1 => {
                        last[d].1 = last[d].1.max(offset[d].1);
                    }
                    _ => merged.push(offset),
                }
            }
            self.offsets = merged;
        }
    }
}

fn without(offset: &[(i64, i64)], d: usize) -> Vec<(i64, i64)> {
    [&offset[..d], &offset[d + 1..]].concat()
}

/// The least value of an index and that behind the greatest one, over loops.
fn range_of(index: &Affine, path: &[Loop]) -> Option<Range> {
    path.iter().all(|l| ends_of(l).is_some()).then(|| range_over(index, path))?
}

/// The reads of an array in and under a node, with the loops around; `None` if some happen under a condition.
fn collect(
    node: &Node,
    id: ArrayId,
    path: &mut Vec<Loop>,
    reads: &mut Vec<(Access, Vec<Loop>)>,
) -> Option<()> {
    let is_own = |e: &Expr| e.reads().iter().any(|access| access.array == id);
    match node {
        Node::Stmt(s) => {
            for e in s.target.indices.iter().chain([&s.value]) {
                let mut is_sure = true;
                e.visit(&mut |e| {
                    let is_choice =
                        matches!(e, Expr::Select { .. } | Expr::Binary(BinaryOp::And | BinaryOp::Or, ..));
                    is_sure &= !is_choice || !is_own(e);
                });
                let own = e.reads().into_iter().filter(|access| access.array == id);
                reads.extend(own.map(|access| (access.clone(), path.clone())));
                is_sure.then_some(())?;
            }
            Some(())
        }
        Node::If { condition, .. } => {
            let mut inside = Vec::new();
            node.bodies().into_iter().flatten().try_for_each(|node| collect(node, id, path, &mut inside))?;
            (inside.is_empty() && !is_own(condition)).then_some(())
        }
        Node::Loop(l) => {
            let is_bound = node.own_accesses().iter().any(|(access, _)| access.array == id);
            path.push(Loop { body: Vec::new(), ..l.clone() });
            l.body.iter().try_for_each(|node| collect(node, id, path, reads))?;
            path.pop();
            (!is_bound).then_some(())
        }
    }
}
