//! Blocks of rows behind two and more dimensions of pointers, `double ***u`: which of them a nest is sure to use. A stencil
//! uses a cross of them, without the corners of the box around it.

use super::entered::entered;
use super::hull::{Ends, sole_extreme};
use super::uses::Use;
use oxeye_ir::{Affine, Expr, Loop};

/// The first and the last index of a dimension.
type Span = (Affine, Affine);

/// Rows that are all used.
#[derive(Clone, Debug)]
struct Block {
    /// Of each dimension of pointers.
    spans: Vec<Span>,
    /// The distances between the indices that are used. In the last dimension of pointers the first and the last one are
    /// enough: what lies between them may be looked at, since nothing is reached through it.
    strides: Vec<i64>,
    /// Under which the rows are used.
    conditions: Vec<Expr>,
}

/// What is surely used of the rows between the first and the last ones.
pub(super) struct Used {
    /// The blocks; none if there is no row that is not used.
    pub(super) parts: Vec<Vec<(Expr, Expr)>>,
    /// Under which this holds.
    pub(super) conditions: Vec<Expr>,
}

/// Blocks that are looked at, and those that a test may have.
const MOST_BLOCKS: usize = 96;
const MOST_PARTS: usize = 8;

/// The rows that the uses have together, if every use lies in blocks of rows that are sure to be used.
pub(super) fn used_rows(uses: &[Use], ends: &[Ends]) -> Option<Used> {
    let n = ends.len() - 1;
    let mut blocks = Vec::new();
    for block in uses.iter().filter(|u| u.is_sure()).filter_map(|u| Block::of(u, n)) {
        add(&mut blocks, block);
    }
    unite(&mut blocks, n);
    blocks.retain(|block| block.strides[..n - 1].iter().all(|s| *s == 1));
    let is_whole =
        |block: &&Block| block.spans.iter().zip(ends).all(|((a, b), ends)| ends.single() == Some((a, b)));
    if let Some(whole) = blocks.iter().find(is_whole) {
        return Some(Used { parts: Vec::new(), conditions: whole.conditions.clone() });
    }
    let is_in_another = |k: usize| {
        blocks.iter().enumerate().any(|(other, block)| other != k && block.holds(&blocks[k].spans))
    };
    let parts: Vec<&Block> = (0..blocks.len()).filter(|k| !is_in_another(*k)).map(|k| &blocks[k]).collect();
    let is_held = |u: &Use| {
        let spans: Option<Vec<Span>> = (0..n).map(|d| span(u, d)).collect();
        spans.is_some_and(|spans| parts.iter().any(|part| part.holds(&spans)))
    };
    if parts.len() > MOST_PARTS || !uses.iter().all(is_held) {
        return None;
    }
    let mut conditions: Vec<Expr> = Vec::new();
    parts.iter().for_each(|part| together(&mut conditions, &part.conditions));
    let of = |part: &&Block| part.spans.iter().map(|(a, b)| (a.clone().into(), b.clone().into())).collect();
    Some(Used { parts: parts.iter().map(of).collect(), conditions })
}

impl Block {
    /// The rows of a use whose loops form a box.
    fn of(u: &Use, n: usize) -> Option<Self> {
        let loops = u.loops();
        let moves = |l: &Loop| {
            let indices = u.indices.iter().take(n).filter_map(Expr::as_affine);
            indices.into_iter().any(|index| index.coefficient(l.id) != 0)
        };
        let is_box = loops.iter().all(|l| is_rectangular(l) && (l.step.abs() == 1 || !moves(l)));
        if !is_box || !are_independent(&u.indices, &loops, n) {
            return None;
        }
        let spans = (0..n).map(|d| span(u, d)).collect::<Option<Vec<_>>>()?;
        let strides = (0..n).map(|d| {
            let stride = stride(u.indices.get(d)?.as_affine()?, &loops);
            if d + 1 == n { Some(1) } else { stride }
        });
        let strides = strides.collect::<Option<Vec<_>>>()?;
        let conditions = entered(&loops, &vec![true; loops.len()])?.0;
        Some(Self { spans, strides, conditions })
    }

    /// Whether it surely has all these rows.
    fn holds(&self, spans: &[Span]) -> bool {
        let is_within = |((a, b), (from, to)): (&Span, &Span)| {
            distance(a, from).is_some_and(|d| d >= 0) && distance(to, b).is_some_and(|d| d >= 0)
        };
        self.spans.iter().zip(spans).all(is_within)
    }

    /// Whether the two differ in this dimension only.
    fn is_beside(&self, other: &Block, d: usize) -> bool {
        (0..self.spans.len())
            .filter(|k| *k != d)
            .all(|k| self.spans[k] == other.spans[k] && self.strides[k] == other.strides[k])
    }
}

/// Adds blocks that lie beside each other in some dimension as one.
fn unite(blocks: &mut Vec<Block>, n: usize) {
    let mut n_known = 0;
    while n_known < blocks.len() && blocks.len() <= MOST_BLOCKS {
        n_known = blocks.len();
        for d in 0..n {
            let mut united = Vec::new();
            for block in blocks.iter() {
                let beside = blocks.iter().filter(|other| block.is_beside(other, d));
                united.extend(if d + 1 == n { between(block, beside, d) } else { chained(block, beside, d) });
            }
            united.into_iter().for_each(|block| add(blocks, block));
        }
    }
}

/// The block from this one on through others that are as long and follow at each next index.
fn chained<'a>(first: &Block, others: impl Iterator<Item = &'a Block>, d: usize) -> Option<Block> {
    let length = |block: &Block| block.spans[d].1.clone() - block.spans[d].0.clone();
    let alike = others.filter(|o| o.strides[d] == first.strides[d] && length(o) == length(first));
    let mut at: Vec<(i64, &Block)> =
        alike.filter_map(|o| Some((distance(&first.spans[d].0, &o.spans[d].0)?, o))).collect();
    at.sort_by_key(|(distance, _)| *distance);
    let mut result = first.clone();
    let mut next = 1;
    for (distance, block) in at {
        if distance == next {
            result.spans[d].1 = block.spans[d].1.clone();
            together(&mut result.conditions, &block.conditions);
            next += 1;
        }
    }
    let is_whole = next > 1 && next >= first.strides[d];
    result.strides[d] = 1;
    is_whole.then_some(result)
}

/// The block from this one to the one that ends last.
fn between<'a>(first: &Block, others: impl Iterator<Item = &'a Block>, d: usize) -> Option<Block> {
    let far = |block: &Block| distance(&first.spans[d].1, &block.spans[d].1);
    let after = |o: &Block| distance(&first.spans[d].0, &o.spans[d].0).is_some_and(|d| d >= 0);
    let last = others.filter(|o| after(o) && far(o).is_some_and(|d| d > 0)).max_by_key(|o| far(o))?;
    let mut result = first.clone();
    result.spans[d].1 = last.spans[d].1.clone();
    together(&mut result.conditions, &last.conditions);
    Some(result)
}

/// Adds a block, if no other has all its rows.
fn add(blocks: &mut Vec<Block>, block: Block) {
    let is_in = |known: &Block| {
        let mut each = known.strides.iter().zip(&block.strides).zip(known.spans.iter().zip(&block.spans));
        known.holds(&block.spans) && each.all(|((k, b), (ks, bs))| *k == 1 || (k == b && ks == bs))
    };
    if !blocks.iter().any(is_in) {
        blocks.push(block);
    }
}

/// The distance between the values of an index.
fn stride(index: &Affine, loops: &[&Loop]) -> Option<i64> {
    let mut moved: Vec<(i64, Option<i64>)> = Vec::new();
    for l in loops {
        let (lower, upper) = (l.lower.as_affine()?, l.upper.as_affine()?);
        match index.coefficient(l.id).abs() {
            0 => {}
            c => moved.push((c, distance(lower, upper))),
        }
    }
    moved.sort_unstable();
    let Some(((first, n), rest)) = moved.split_first() else { return Some(1) };
    let mut reach = *n;
    for (coefficient, n) in rest {
        // The inner loop has every value up to the next one of the outer loop.
        let inner = reach.filter(|reach| *first == 1 && coefficient <= reach)?;
        reach = n.map(|n| inner + coefficient * (n - 1));
    }
    Some(*first)
}

/// The first and the last index of a use.
fn span(u: &Use, d: usize) -> Option<Span> {
    let index = u.indices.get(d)?.as_affine()?;
    Some((sole_extreme(index, &u.loops(), true)?, sole_extreme(index, &u.loops(), false)?))
}

fn distance(from: &Affine, to: &Affine) -> Option<i64> {
    (to.clone() - from.clone()).as_constant()
}

fn together(conditions: &mut Vec<Expr>, more: &[Expr]) {
    for condition in more {
        if !conditions.contains(condition) {
            conditions.push(condition.clone());
        }
    }
}

fn is_rectangular(l: &Loop) -> bool {
    let bounds = [l.lower.as_affine(), l.upper.as_affine()];
    bounds.iter().all(|b| b.is_some_and(|b| b.loops().next().is_none()))
}

/// Whether no loop moves two of the first indices at once.
fn are_independent(indices: &[Expr], loops: &[&Loop], n: usize) -> bool {
    let affine: Option<Vec<&Affine>> = indices.iter().take(n).map(Expr::as_affine).collect();
    affine
        .is_some_and(|all| loops.iter().all(|l| all.iter().filter(|a| a.coefficient(l.id) != 0).count() <= 1))
}
