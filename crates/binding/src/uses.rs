//! What a nest uses of the program around it.

use crate::{Binding, RowTest, Step, View};
use oxeye_ir::{Affine, Array, ArrayId, Expr, Nest, Program, SymId, Var};
use std::collections::{BTreeMap, BTreeSet};

impl Binding {
    /// The symbols that nests use in bounds, values, the extents of their arrays, the clauses of their directives, and in what
    /// is tested before them, by ascending id.
    pub fn symbols_of(&self, program: &Program, nests: &[&Nest]) -> BTreeSet<SymId> {
        self.symbols_and(program, nests, nests.iter().flat_map(|n| &n.mentions).copied().collect())
    }

    /// The same without those that only directives or the paths to arrays and scalars name.
    pub fn computed_symbols(&self, program: &Program, nests: &[&Nest]) -> BTreeSet<SymId> {
        self.symbols_and(program, nests, BTreeSet::new())
    }

    fn symbols_and(&self, program: &Program, nests: &[&Nest], mut found: BTreeSet<SymId>) -> BTreeSet<SymId> {
        let symbol = |v: Var| match v {
            Var::Sym(s) => Some(s),
            Var::Loop(_) => None,
        };
        found.extend(nests.iter().flat_map(|n| n.vars()).filter_map(symbol));
        let arrays = nests.iter().flat_map(|n| n.arrays()).filter_map(|id| program.arrays.get(&id));
        let entries = nests.iter().filter_map(|n| self.entry(n.id));
        let extents = arrays.flat_map(|a| a.shape.iter().flatten());
        let ranges = entries.clone().flat_map(|e| &e.rows).flat_map(RowTest::exprs);
        let advances = nests.iter().flat_map(|n| self.advances(n.id)).map(|a| &a.by);
        let tests = entries.flat_map(|e| e.reached.iter().chain(&e.tests));
        for e in extents.chain(ranges).chain(advances).chain(tests) {
            e.visit(&mut |e| {
                if let Expr::Affine(a) = e {
                    found.extend(a.terms().filter_map(|(v, _)| symbol(v)));
                }
            });
        }
        // Which element is read before the nest may depend on further ones.
        let mut next: Vec<SymId> = found.iter().copied().collect();
        while let Some(id) = next.pop() {
            let indices = self.load(id).into_iter().flat_map(|access| &access.indices);
            for (v, _) in indices.filter_map(Expr::as_affine).flat_map(|a| a.terms().collect::<Vec<_>>()) {
                next.extend(symbol(v).filter(|s| found.insert(*s)));
            }
        }
        found
    }

    /// The arrays that a nest uses, those included of which elements are read before it, by ascending id.
    pub fn arrays_of(&self, program: &Program, nest: &Nest) -> BTreeSet<ArrayId> {
        let symbols = self.symbols_of(program, &[nest]);
        let loaded = symbols.iter().filter_map(|id| self.load(*id)).map(|access| access.array);
        loaded.chain(nest.arrays()).collect()
    }

    /// The array and dimension whose extent the symbol is, if it is a distance between rows behind pointers.
    pub fn row_extent(&self, program: &Program, symbol: SymId) -> Option<(ArrayId, usize)> {
        let tested = self.entries.values().flat_map(|e| &e.rows).map(|t| t.array);
        tested.into_iter().find_map(|id| {
            let shape = &program.arrays.get(&id)?.shape;
            let is_it = |e: &Option<Expr>| {
                e.as_ref().and_then(Expr::as_affine).and_then(Affine::as_var) == Some(symbol.into())
            };
            Some((id, shape.iter().position(is_it)?))
        })
    }

    /// Whether an array shares its memory with other arrays, such as members of the same structures.
    pub fn is_interleaved(&self, array: ArrayId) -> bool {
        self.views.get(&array).is_some_and(View::is_interleaved)
    }

    /// What the paths to a nest's arrays and symbols start from.
    pub fn roots(&self, program: &Program, nest: &Nest) -> Roots<'_> {
        let symbols = self.symbols_of(program, &[nest]);
        let arrays = self.arrays_of(program, nest);
        let views = symbols
            .iter()
            .filter_map(|s| self.symbol_view(*s))
            .chain(arrays.iter().filter_map(|a| self.views.get(a)));
        let mut roots = Roots { variables: BTreeMap::new(), followed: BTreeMap::new() };
        for view in views {
            // A view with subscripts shows that the variable is a buffer.
            let known = roots.variables.entry(&view.root).or_insert(view);
            if view.n_base_steps() == 0 {
                *known = view;
            }
            for n in view.followed() {
                let index = match view.steps.get(n + 1) {
                    Some(Step::Element(index)) => index,
                    _ => "0",
                };
                roots.followed.entry((n, view.prefix(n))).or_default().insert(index);
            }
        }
        let buffers: Vec<&str> =
            roots.variables.values().filter(|v| v.n_base_steps() == 0).map(|v| v.root.as_str()).collect();
        roots.followed.retain(|(n, text), _| *n > 0 || !buffers.contains(&text.as_str()));
        roots
    }
}

impl View {
    /// Whether the elements of an array are in a structure that is reached without another pointer.
    pub fn is_embedded(&self, array: &Array) -> bool {
        !array.shape.is_empty() && !self.is_loaded && self.n_base_steps() > 0
    }
}

/// The variables that the views of a nest start from, with one of the views, and the pointers followed from there:
/// steps from the variable, and the C expression. The latter leave out variables that are arrays of structures themselves.
pub struct Roots<'a> {
    /// By name.
    pub variables: BTreeMap<&'a str, &'a View>,
    /// By the number of steps, with the indices of the elements that are used there, as C expressions.
    pub followed: BTreeMap<(usize, String), BTreeSet<&'a str>>,
}
