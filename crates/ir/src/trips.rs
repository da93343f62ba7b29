//! How large a nest is, as a product of expressions of symbols: what calls are told apart by, and what is tested where
//! code is only for large ones.

use crate::{Affine, Bound, BoundTerm, Expr, Loop, LoopId, Nest, Node, Stmt, Var};
use std::collections::BTreeMap;

/// A constant part of an extent up to this one says nothing about the size.
const SMALL: i64 = 8;

/// The product of extents that grows as the iterations of a nest do. Constant factors, such as loops over few elements, are
/// left out, and iterators of outer loops stand at the ends of their ranges, so that it is a measure and no count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extents(pub Vec<Affine>);

impl Extents {
    /// Whether the nest is equally large whatever the symbols are worth, as far as can be told.
    pub fn is_constant(&self) -> bool {
        self.0.is_empty()
    }

    /// The product for values of the symbols; 0 if an extent is negative.
    pub fn evaluate(&self, value_of: &dyn Fn(Var) -> Option<i64>) -> Option<f64> {
        self.0
            .iter()
            .try_fold(1.0, |product, extent| Some(product * extent.evaluate(value_of)?.max(0) as f64))
    }
}

impl Nest {
    /// The iterations of the deepest statements.
    pub fn work(&self) -> Extents {
        deepest(&self.roots, &BTreeMap::new(), &|_| true)
    }

    /// The same without loops that repeat what is inside on the same elements, such as steps of time: the size of what one
    /// of them works on.
    pub fn size(&self) -> Extents {
        let size = deepest(&self.roots, &BTreeMap::new(), &|l| !is_repetition(l));
        if size.is_constant() { self.work() } else { size }
    }

    /// How often its outermost loop, if it has one, repeats what is inside on the same elements, such as the steps of time of
    /// a whole simulation; `None` if that is constant, or every iteration works on something else.
    pub fn steps(&self) -> Option<Affine> {
        match self.roots.as_slice() {
            [Node::Loop(l)] if is_repetition(l) => extent(l, &BTreeMap::new()),
            _ => None,
        }
    }
}

/// What an iterator is at most, and at least, over symbols.
type Ends = BTreeMap<LoopId, (Option<Affine>, Option<Affine>)>;

/// The extents of those loops that are counted, along the path with most of them; of several the first.
fn deepest(nodes: &[Node], ends: &Ends, is_counted: &dyn Fn(&Loop) -> bool) -> Extents {
    let mut best = Extents::default();
    for node in nodes {
        let found = match node {
            Node::Stmt(_) => continue,
            Node::If { then, otherwise, .. } => {
                let (a, b) = (deepest(then, ends, is_counted), deepest(otherwise, ends, is_counted));
                if b.0.len() > a.0.len() { b } else { a }
            }
            Node::Loop(l) => {
                let mut inner = ends.clone();
                inner.insert(l.id, (end(&l.upper, ends, true), end(&l.lower, ends, false)));
                let inside = deepest(&l.body, &inner, is_counted);
                let own = extent(l, ends).filter(|_| is_counted(l));
                Extents(own.into_iter().chain(inside.0).collect())
            }
        };
        if found.0.len() > best.0.len() {
            best = found;
        }
    }
    best
}

/// Upper minus lower bound over symbols, of the terms that say most; `None` if it is constant or not known.
fn extent(l: &Loop, ends: &Ends) -> Option<Affine> {
    let mut found: Option<(usize, Affine)> = None;
    for upper in &l.upper.0 {
        for lower in &l.lower.0 {
            let Some(difference) = difference(upper, lower) else { continue };
            if difference.as_constant().is_some() {
                return None;
            }
            let n_iterators = difference.loops().count();
            if found.as_ref().is_none_or(|(n, _)| n_iterators < *n) {
                found = Some((n_iterators, difference));
            }
        }
    }
    let extent = over_symbols(&found?.1, ends, true)?;
    let constant = extent.constant_part();
    let extent = if constant.abs() <= SMALL { extent.offset(-constant) } else { extent };
    extent.as_constant().is_none().then_some(extent)
}

/// The difference of two bounds, up to a factor.
fn difference(upper: &BoundTerm, lower: &BoundTerm) -> Option<Affine> {
    let (BoundTerm::Affine { expr: upper, divisor: n }, BoundTerm::Affine { expr: lower, divisor: m }) =
        (upper, lower)
    else {
        return None;
    };
    (n == m || lower.as_constant() == Some(0)).then(|| upper.clone() - lower.clone())
}

/// One end of the range of an iterator.
fn end(bound: &Bound, ends: &Ends, is_upper: bool) -> Option<Affine> {
    let terms = bound.0.iter().filter_map(BoundTerm::as_affine);
    let mut found: Vec<&Affine> = terms.collect();
    found.sort_by_key(|term| term.loops().count());
    found.into_iter().find_map(|term| over_symbols(term, ends, is_upper))
}

/// The expression with its iterators at the ends of their ranges where it is greatest, or least.
fn over_symbols(e: &Affine, ends: &Ends, is_greatest: bool) -> Option<Affine> {
    let mut result = Affine::constant(e.constant_part());
    for (var, coefficient) in e.terms() {
        let value = match var {
            Var::Sym(_) => Affine::var(var),
            Var::Loop(id) => {
                let (most, least) = ends.get(&id)?;
                if (coefficient > 0) == is_greatest { most.clone()? } else { least.clone()? }
            }
        };
        result = result.add_scaled(&value, coefficient);
    }
    Some(result)
}

/// Whether every iteration of a loop works on the same elements and with the same values: no affine index, no bound inside
/// and no value uses the iterator.
fn is_repetition(l: &Loop) -> bool {
    !l.body.iter().any(|node| selects(node, l.id))
}

fn selects(node: &Node, id: LoopId) -> bool {
    let bound = |bound: &Bound| bound.0.iter().any(|term| term.uses(id));
    match node {
        Node::Stmt(Stmt { target, value, .. }) => {
            target.indices.iter().any(|e| is_affine_in(e, id)) || is_used(value, id)
        }
        Node::If { condition, then, otherwise } => {
            is_used(condition, id) || then.iter().chain(otherwise).any(|node| selects(node, id))
        }
        Node::Loop(l) => bound(&l.lower) || bound(&l.upper) || l.body.iter().any(|node| selects(node, id)),
    }
}

fn is_affine_in(index: &Expr, id: LoopId) -> bool {
    match index {
        Expr::Affine(a) => a.uses(id),
        Expr::Read(_) => is_used(index, id),
        _ => false,
    }
}

fn is_used(e: &Expr, id: LoopId) -> bool {
    match e {
        Expr::Affine(a) => a.uses(id),
        Expr::Read(access) => access.indices.iter().any(|index| is_affine_in(index, id)),
        _ => e.children().into_iter().any(|e| is_used(e, id)),
    }
}

#[cfg(test)]
mod tests {
    use crate::Program;

    /// Work and size of the first nest, as text.
    fn of(symbols: &str, loops: &str) -> (String, String) {
        let text = format!(
            "program p {{\n{symbols}\n  array A0 x: f64[100] param\n  array A1 y: f64[100] param\n  \
             dataflow {{ N0 }}\n  nest N0 in p {{\n{loops}\n  }}\n}}\n"
        );
        let program = Program::parse(&text).expect("parses");
        let nest = &program.nests[0];
        let name = |v: crate::Var| match v {
            crate::Var::Sym(id) => program.symbols[&id].name.clone(),
            crate::Var::Loop(id) => id.to_string(),
        };
        let text = |extents: crate::Extents| {
            let factor = |e: &crate::Affine| {
                let terms: Vec<String> = e.terms().map(|(v, c)| format!("{c}{}", name(v))).collect();
                format!("{}{:+}", terms.join("+"), e.constant_part())
            };
            extents.0.iter().map(factor).collect::<Vec<_>>().join(" ")
        };
        (text(nest.work()), text(nest.size()))
    }

    const SYMBOLS: &str = "symbol P0 n: i32\nsymbol P1 m: i32\nsymbol P2 steps: i32";

    #[test]
    fn the_deepest_path_counts_and_constants_do_not() {
        let loops = "for L0 i: i32 in 1 .. n - 1 { S0: x[i] = 0.0\n \
                     for L1 j: i32 in 0 .. m { for L2 c: i32 in 0 .. 3 { S1: x[i] += y[j + c] } } }";
        assert_eq!(of(SYMBOLS, loops), ("1n+0 1m+0".into(), "1n+0 1m+0".into()));
        assert_eq!(of(SYMBOLS, "for L0 i: i32 in 0 .. 9 { S0: x[i] = 0.0 }"), Default::default());
    }

    #[test]
    fn triangles_and_tiles_are_as_large_as_what_is_around_them() {
        let loops = "for L0 k: i32 in 0 .. n { for L1 i: i32 in k + 1 .. n { for L2 j: i32 in 0 .. i { S0: x[i] += y[j + k] } } }";
        assert_eq!(of(SYMBOLS, loops).0, "1n+0 1n+0 1n+0");
        let loops =
            "for L0 b: i32 in 0 .. n step 32 { for L1 i: i32 in b .. min(b + 32, n) { S0: x[i] = 1.0 } }";
        assert_eq!(of(SYMBOLS, loops).0, "1n+0");
        let loops = "for L0 i: i32 in max(0, m - 40) .. min(n + m, 2 * n) { S0: x[i] = 1.0 }";
        assert_eq!(of(SYMBOLS, loops).0, "1n+1m+0");
    }

    #[test]
    fn steps_of_time_are_work_and_no_size() {
        let loops =
            "for L0 t: i32 in 0 .. steps { for L1 i: i32 in 0 .. n { S0: x[i] = 0.5 * x[i] + y[t % 2] } }";
        assert_eq!(of(SYMBOLS, loops), ("1steps+0 1n+0".into(), "1n+0".into()));
        let loops = "for L0 t: i32 in 0 .. steps { S0: x[0] += 1.0 }";
        assert_eq!(of(SYMBOLS, loops), ("1steps+0".into(), "1steps+0".into()));
    }

    #[test]
    fn loops_whose_bounds_are_data_are_not_counted() {
        let loops = "for L0 i: i32 in 0 .. n { for L1 j: i32 in data((i32)y[i]) .. data((i32)y[i + 1]) { S0: x[i] += y[j] } }";
        assert_eq!(of(SYMBOLS, loops).0, "1n+0");
    }
}
