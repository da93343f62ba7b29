//! Loops over all elements of what other loops of a group take row by row: `for (k = 0; k < w * h; k++) to[k] = ...` beside
//! `from[y * w + x]`. Read as a loop over the rows and one over the elements of each, they take the same elements in the same order, and
//! can be merged with the others.

use super::collapsed::Split;
use super::digits::{Product, RowLength};
use super::lowerer::Lowerer;
use crate::ast::{self, Stmt};
use crate::polynomial::polynomial;
use crate::refusal::Lowered;
use crate::scan::Scan;
use oxeye_ir::{Expr, Node, Program, Var};
use std::collections::BTreeMap;

/// Shorter rows are no rows of an image.
const LEAST_LENGTH: i64 = 8;

/// The lengths of the rows in which nodes access flat memory, the most used first.
pub(crate) fn row_lengths(program: &Program, roots: &[Node]) -> Vec<RowLength> {
    let mut found: BTreeMap<RowLength, usize> = BTreeMap::new();
    let mut waiting: Vec<&Node> = roots.iter().collect();
    while let Some(node) = waiting.pop() {
        for (access, _) in node.own_accesses() {
            let [subscript] = access.indices.as_slice() else { continue };
            for length in distances(program, subscript) {
                *found.entry(length).or_default() += 1;
            }
        }
        match node {
            Node::Loop(l) => waiting.extend(&l.body),
            Node::If { then, otherwise, .. } => waiting.extend(then.iter().chain(otherwise)),
            Node::Stmt(_) => {}
        }
    }
    let mut found: Vec<(RowLength, usize)> = found.into_iter().collect();
    found.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    found.into_iter().map(|(length, _)| length).collect()
}

/// What the iterators in a subscript are multiplied with, beside one that is not.
fn distances(program: &Program, subscript: &Expr) -> Vec<RowLength> {
    let Some(sum) = polynomial(subscript, &mut |_| None) else { return Vec::new() };
    let is_alone = |(factors, c): (&Vec<Var>, &i64)| matches!(factors[..], [Var::Loop(_)]) && *c == 1;
    if !sum.iter().any(is_alone) {
        return Vec::new();
    }
    let length = |(factors, c): (&Vec<Var>, &i64)| match factors[..] {
        [Var::Loop(_)] => (*c >= LEAST_LENGTH).then_some(RowLength::Number(*c)),
        [Var::Sym(id), Var::Loop(_)] | [Var::Loop(_), Var::Sym(id)] if *c == 1 => {
            Some(RowLength::Symbol(program.symbols.get(&id)?.name.clone()))
        }
        _ => None,
    };
    sum.iter().filter_map(length).collect()
}

impl Lowerer<'_> {
    /// A loop from zero to a product of which one factor is the length of rows: a loop over them around one over each. Whether it is
    /// one.
    pub(super) fn in_rows(
        &mut self,
        (s, body): (&Stmt, &[Stmt]),
        split: Split,
        end: &ast::Expr,
        out: &mut Vec<Node>,
    ) -> Lowered<bool> {
        if self.reading.row_lengths.is_empty() {
            return Ok(false);
        }
        let inside = Scan::of(self.cx.file, s);
        let Some(whole) = self.fixed_product(end, &inside)? else { return Ok(false) };
        let lengths = self.reading.row_lengths.clone();
        let Some(length) = lengths.iter().find_map(|length| self.factor(&whole, length)) else {
            return Ok(false);
        };
        let Some(extents) = self.extents(&whole, std::slice::from_ref(&length), false) else {
            return Ok(false);
        };
        self.apart(s, body, split, (vec![length], extents), out)?;
        Ok(true)
    }

    /// The factor of a product that is such a length, if there is more to it.
    fn factor(&self, whole: &Product, length: &RowLength) -> Option<Product> {
        let found = match length {
            RowLength::Number(number) => Product { number: *number, factors: Vec::new() },
            RowLength::Symbol(name) => {
                let is_it = |e: &&Expr| {
                    let var = e.as_affine().and_then(|a| a.as_var());
                    matches!(var, Some(Var::Sym(id)) if self.state.program.symbols.get(&id).is_some_and(|s| s.name == *name))
                };
                Product { number: 1, factors: vec![whole.factors.iter().find(is_it)?.clone()] }
            }
        };
        whole.without(&found).filter(|rest| rest.number > 1 || !rest.factors.is_empty())?;
        Some(found)
    }
}
