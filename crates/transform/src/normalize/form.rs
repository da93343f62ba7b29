//! The text of a normal form, without names.
//!
//! Arrays, symbols and iterators are named and numbered in order of occurrence; lines, spans, functions, storage and
//! the declared first extents are left out. An array of which every access has a constant in the same dimension is
//! shown as one array per constant.

use super::rotate::Fresh;
use super::shapes::{Hash, slices};
use oxeye_ir::{
    Affine, Array, ArrayId, BoundTerm, DataflowGraph, Expr, Form, LoopId, Nest, NestId, Node, Program,
    Region, ScalarType, Storage, SymId, Var,
};
use std::collections::BTreeMap;

/// The nests of `program` without names.
pub(super) struct Nameless {
    /// The text.
    pub(super) text: String,
    /// Its hash.
    pub(super) hash: u64,
    /// The symbols of `program` that the text names `n0`, `n1`, ….
    pub(super) symbols: Vec<SymId>,
}

/// The nests of `program` without names.
pub(super) fn text(program: &Program) -> Nameless {
    let mut writer = Writer {
        source: program,
        slices: unswapped_slices(program),
        result: Program::new("normal"),
        arrays: BTreeMap::new(),
        symbols: BTreeMap::new(),
    };
    let body = writer.region(&program.body);
    writer.result.body = body;
    let Writer { mut result, symbols: renamed, .. } = writer;
    result.rebuild_dataflow();
    let text = result.to_string();
    let hash = Hash::new(&text).0;
    let mut symbols: Vec<SymId> = renamed.keys().copied().collect();
    symbols.sort_by_key(|symbol| renamed[symbol]);
    Nameless { text, hash, symbols }
}

/// Dimensions whose constants are shown as separate arrays.
fn unswapped_slices(program: &Program) -> BTreeMap<ArrayId, Vec<usize>> {
    let mut found = slices(program.nests.values());
    program.body.visit(&mut |r| {
        if let Region::Swap(a, b) = r {
            found.remove(a);
            found.remove(b);
        }
    });
    found
}

struct Writer<'a> {
    source: &'a Program,
    slices: BTreeMap<ArrayId, Vec<usize>>,
    result: Program,
    /// Array and constants of its sliced dimensions → new array.
    arrays: BTreeMap<(ArrayId, Vec<i64>), ArrayId>,
    symbols: BTreeMap<SymId, SymId>,
}

impl Writer<'_> {
    fn region(&mut self, region: &Region) -> Region {
        match region {
            Region::Sequence(regions) => Region::Sequence(regions.iter().map(|r| self.region(r)).collect()),
            Region::Dataflow(graph) => {
                let ids: Vec<NestId> = graph
                    .nests()
                    .iter()
                    .filter_map(|id| Some(self.nest(self.source.nests.get(id)?)))
                    .collect();
                Region::Dataflow(DataflowGraph::build(&self.result, &ids))
            }
            Region::Loop(l) => {
                let iterator = l.iterator.map(|s| self.symbol(s));
                let range = l.range.as_ref().map(|(a, b)| (self.expr(a.clone()), self.expr(b.clone())));
                let body = Box::new(self.region(&l.body));
                Region::Loop(oxeye_ir::ControlLoop { iterator, range, body })
            }
            Region::Branch { condition, then, otherwise } => Region::Branch {
                condition: condition.as_ref().map(|c| self.expr(c.clone())),
                then: Box::new(self.region(then)),
                otherwise: Box::new(self.region(otherwise)),
            },
            Region::Swap(a, b) => Region::Swap(self.array(*a, Vec::new()), self.array(*b, Vec::new())),
            Region::Opaque(o) => {
                let mut list = |l: &Option<Vec<ArrayId>>| {
                    let known = |id: &&ArrayId| self.source.arrays.contains_key(*id);
                    l.as_ref().map(|l| l.iter().filter(known).map(|a| self.array(*a, Vec::new())).collect())
                };
                let (reads, writes) = (list(&o.reads), list(&o.writes));
                Region::Opaque(oxeye_ir::Opaque { reason: "opaque".into(), reads, writes })
            }
        }
    }

    fn nest(&mut self, nest: &Nest) -> NestId {
        let id = NestId(self.result.nests.len() as u32);
        let mut roots = nest.roots.clone();
        let renamed = Fresh { next_loop: 0, next_stmt: 0 }.rename(&mut roots);
        for root in &mut roots {
            self.node(root, &renamed);
        }
        let own = Nest::new(id, "normal", roots);
        self.result.nests.insert(id, own);
        id
    }

    fn node(&mut self, node: &mut Node, renamed: &BTreeMap<LoopId, LoopId>) {
        match node {
            Node::Loop(l) => {
                l.name = format!("i{}", l.id.0);
                l.ty = ScalarType::I64;
                for term in l.lower.0.iter_mut().chain(&mut l.upper.0) {
                    match term {
                        BoundTerm::Affine { expr, .. } => *expr = self.affine(expr),
                        BoundTerm::Data(e) => *e = self.renamed(e, renamed),
                        BoundTerm::Open => {}
                    }
                }
                l.lower.0.sort_by_cached_key(|t| format!("{t:?}"));
                l.upper.0.sort_by_cached_key(|t| format!("{t:?}"));
            }
            Node::Stmt(s) => {
                s.line = None;
                let target = Expr::Read(s.target.clone());
                if let Expr::Read(target) = self.renamed(&target, renamed) {
                    s.target = target;
                }
                s.value = self.renamed(&s.value, renamed);
            }
            Node::If { condition, .. } => *condition = self.renamed(condition, renamed),
        }
        node.bodies_mut().into_iter().flatten().for_each(|n| self.node(n, renamed));
    }

    /// An expression with new arrays and symbols, numbered parents first and from left to right.
    fn renamed(&mut self, e: &Expr, renamed: &BTreeMap<LoopId, LoopId>) -> Expr {
        match e {
            Expr::Read(access) => {
                let dims = self.slices.get(&access.array).cloned().unwrap_or_default();
                let constant = |d: &usize| access.indices.get(*d)?.as_affine()?.as_constant();
                let at: Vec<i64> = dims.iter().filter_map(constant).collect();
                let array = self.array_in(access.array, at, renamed);
                let kept = access.indices.iter().enumerate().filter(|(d, _)| !dims.contains(d));
                let indices = kept.map(|(_, i)| self.renamed(i, renamed)).collect();
                Expr::Read(oxeye_ir::Access { array, indices })
            }
            Expr::Affine(a) => Expr::Affine(self.affine(a)),
            other => {
                let mut other = other.clone();
                for child in other.children_mut() {
                    *child = self.renamed(child, renamed);
                }
                other
            }
        }
    }

    fn expr(&mut self, e: Expr) -> Expr {
        self.renamed(&e, &BTreeMap::new())
    }

    fn affine(&mut self, a: &Affine) -> Affine {
        let symbols: BTreeMap<SymId, SymId> = a
            .terms()
            .filter_map(|(v, _)| match v {
                Var::Sym(s) => Some((s, self.symbol(s))),
                Var::Loop(_) => None,
            })
            .collect();
        a.substitute(&|v| match v {
            Var::Sym(s) => symbols.get(&s).map(|n| Affine::var(*n)),
            Var::Loop(_) => None,
        })
    }

    fn symbol(&mut self, id: SymId) -> SymId {
        if let Some(new) = self.symbols.get(&id) {
            return *new;
        }
        let new = self.result.add_symbol(format!("n{}", self.symbols.len()), ScalarType::I64);
        self.symbols.insert(id, new);
        new
    }

    fn array(&mut self, id: ArrayId, at: Vec<i64>) -> ArrayId {
        self.array_in(id, at, &BTreeMap::new())
    }

    fn array_in(&mut self, id: ArrayId, at: Vec<i64>, renamed: &BTreeMap<LoopId, LoopId>) -> ArrayId {
        if let Some(new) = self.arrays.get(&(id, at.clone())) {
            return *new;
        }
        let decl = self.source.array(id).clone();
        let dims = if at.is_empty() { Vec::new() } else { self.slices.get(&id).cloned().unwrap_or_default() };
        let name = format!("a{}", self.arrays.len());
        let storage = match decl.storage {
            Storage::Temp(Some(l)) | Storage::Body(l) => {
                renamed.get(&l).map_or(Storage::Param, |l| Storage::Temp(Some(*l)))
            }
            _ => Storage::Param,
        };
        let kept = decl.shape.iter().enumerate().filter(|(d, _)| !dims.contains(d));
        let mut shape: Vec<Option<Expr>> = kept.map(|(_, e)| e.clone()).collect();
        if let Some(first) = shape.first_mut() {
            *first = None;
        }
        let shape = shape.into_iter().map(|e| e.map(|e| self.expr(e))).collect();
        let new = self.result.add_array(Array {
            id,
            name,
            element: decl.element,
            c_type: None,
            shape,
            form: Form::Nested,
            storage,
            align: 0,
        });
        self.arrays.insert((id, at), new);
        new
    }
}
