//! The nest in the shape of its text: unrolled loops written out, vector loops cut into chunks, constant guards
//! folded.

use crate::open_orders::OpenOrders;
use crate::stride::{Stride, bound_is_invariant, is_invariant, stride};
use crate::types::{constant, has_vectors};
use oxeye_binding::Binding;
use oxeye_ir::{
    Access, Affine, ArrayId, BinaryOp, BoundTerm, Execution, Expr, Loop, LoopId, Nest, Node, Program,
    Reduction, Stmt, Storage, UnaryOp, Update, Var,
};
use std::collections::{BTreeMap, BTreeSet};

/// Most statements to which one loop is unrolled.
const MAX_UNROLLED: usize = 4096;
/// Most vectors to which a vector loop is written out.
const MAX_CHUNKS: i64 = 16;

/// A part of the text.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// A loop; `header.body` is empty.
    Loop { header: Loop, body: Vec<Item> },
    /// One iteration of an unrolled loop with declarations of its own.
    Scope { of: LoopId, body: Vec<Item> },
    /// A loop in explicit vectors.
    Vector(Box<VectorItem>),
    /// A statement.
    Stmt(Stmt),
    /// A guard.
    If { condition: Expr, then: Vec<Item>, otherwise: Vec<Item> },
}

/// A loop in explicit vectors; `header.body` is empty.
#[derive(Clone, Debug)]
pub(crate) struct VectorItem {
    pub(crate) header: Loop,
    pub(crate) lanes: u32,
    pub(crate) body: Vec<Item>,
    pub(crate) reductions: Vec<Reduction>,
    /// First iterators of the vectors, if they are written out one by one; `None`: a loop over vectors.
    pub(crate) bases: Option<Vec<Affine>>,
    /// Start of the scalar remainder, if vectors are written out and do not cover everything.
    pub(crate) tail: Option<Affine>,
    /// Scalars of which every lane has its own copy.
    pub(crate) varying: BTreeSet<ArrayId>,
}

/// Where each array of the nest itself is declared: at the top of this loop's body, or (`None`) of the block.
pub(crate) type Places = BTreeMap<ArrayId, Option<LoopId>>;

/// Finds the places. An array whose loop is gone belongs to the innermost loop that contains all its accesses.
pub(crate) fn places(program: &Program, nest: &Nest) -> Places {
    let mut paths: BTreeMap<ArrayId, Vec<Vec<LoopId>>> = BTreeMap::new();
    nest.visit(&mut |path, node| {
        let path: Vec<LoopId> = path.iter().map(|l| l.id).collect();
        for access in own_accesses(node) {
            paths.entry(access.array).or_default().push(path.clone());
        }
    });
    let mut places = Places::new();
    for (array, paths) in paths {
        let wanted = match program.arrays.get(&array).map(|a| a.storage) {
            Some(Storage::Body(l)) => Some(l),
            Some(Storage::Temp(l)) => l,
            _ => continue,
        };
        let place = match wanted {
            None => None,
            Some(l) if paths.iter().all(|p| p.contains(&l)) => Some(l),
            Some(_) => {
                let mut common = paths[0].clone();
                for path in &paths {
                    let shared = common.iter().zip(path).take_while(|(a, b)| a == b).count();
                    common.truncate(shared);
                }
                common.last().copied()
            }
        };
        places.insert(array, place);
    }
    places
}

/// The accesses of one node, without those of its children.
fn own_accesses(node: &Node) -> Vec<&Access> {
    match node {
        Node::Loop(l) => header_accesses(l),
        Node::If { condition, .. } => condition.reads(),
        Node::Stmt(s) => stmt_accesses(s),
    }
}

/// Accesses in the bounds of a loop.
pub(crate) fn header_accesses(l: &Loop) -> Vec<&Access> {
    let terms = l.lower.0.iter().chain(&l.upper.0);
    terms.flat_map(BoundTerm::reads).collect()
}

/// Accesses of a statement, the target first.
pub(crate) fn stmt_accesses(s: &Stmt) -> Vec<&Access> {
    let mut found = vec![&s.target];
    found.extend(s.target.indices.iter().flat_map(Expr::reads));
    found.extend(s.value.reads());
    found
}

/// The truth value of a constant condition.
fn fold(condition: &Expr) -> Option<bool> {
    match condition {
        Expr::Affine(a) => a.as_constant().map(|c| c != 0),
        Expr::Unary(UnaryOp::Not, e) => fold(e).map(|b| !b),
        Expr::Binary(BinaryOp::And, l, r) => match (fold(l), fold(r)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        Expr::Binary(BinaryOp::Or, l, r) => match (fold(l), fold(r)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        Expr::Binary(op, l, r) => {
            let difference = (l.as_affine()?.clone() - r.as_affine()?.clone()).as_constant()?;
            Some(match op {
                BinaryOp::Lt => difference < 0,
                BinaryOp::Le => difference <= 0,
                BinaryOp::Gt => difference > 0,
                BinaryOp::Ge => difference >= 0,
                BinaryOp::Eq => difference == 0,
                BinaryOp::Ne => difference != 0,
                _ => return None,
            })
        }
        _ => None,
    }
}

/// The constant trip count with its first iterator, if both are plain.
fn constant_trip(l: &Loop) -> Option<(Affine, i64)> {
    let (lower, upper) = (l.lower.as_affine()?, l.upper.as_affine()?);
    let extent = (upper.clone() - lower.clone()).as_constant()?.max(0);
    let step = i64::try_from(l.step.unsigned_abs()).ok().filter(|s| *s > 0)?;
    let trips = extent.checked_add(step - 1)? / step;
    let first = if l.step > 0 { lower.clone() } else { upper.clone().offset(-1) };
    Some((first, trips))
}

/// Number of statements once everything is written out.
fn size(items: &[Item]) -> usize {
    items
        .iter()
        .map(|item| match item {
            Item::Stmt(_) => 1,
            Item::Loop { body, .. } | Item::Scope { body, .. } => 1 + size(body),
            Item::If { then, otherwise, .. } => 1 + size(then) + size(otherwise),
            Item::Vector(v) => 1 + size(&v.body) * v.bases.as_ref().map_or(2, |b| b.len().max(1)),
        })
        .sum()
}

/// Turns nodes into items.
pub(crate) struct Expander<'a> {
    pub(crate) program: &'a Program,
    /// How it meets what is around it.
    pub(crate) binding: &'a Binding,
    pub(crate) places: &'a Places,
    pub(crate) open: &'a OpenOrders,
}

impl Expander<'_> {
    /// The items of a list of nodes.
    pub(crate) fn nodes(&self, nodes: &[Node]) -> Vec<Item> {
        let mut items = Vec::new();
        for node in nodes {
            match node {
                Node::Stmt(s) => items.push(Item::Stmt(s.clone())),
                Node::If { condition, then, otherwise } => match fold(condition) {
                    Some(true) => items.extend(self.nodes(then)),
                    Some(false) => items.extend(self.nodes(otherwise)),
                    None => {
                        let (then, otherwise) = (self.nodes(then), self.nodes(otherwise));
                        if !then.is_empty() || !otherwise.is_empty() {
                            items.push(Item::If { condition: condition.clone(), then, otherwise });
                        }
                    }
                },
                Node::Loop(l) => self.a_loop(l, &mut items),
            }
        }
        items
    }

    fn a_loop(&self, l: &Loop, items: &mut Vec<Item>) {
        let mut header = Loop { body: Vec::new(), ..l.clone() };
        if let Some((_, 0)) = constant_trip(l) {
            return;
        }
        match &l.execution {
            Execution::Unrolled => {
                if let Some(written_out) = self.unroll(l) {
                    items.extend(written_out);
                    return;
                }
                header.execution = Execution::Sequential;
            }
            Execution::Vector { lanes: Some(lanes), reductions } => {
                let body = self.nodes(&l.body);
                if let Some(varying) = self.vectorizable(l, *lanes, &body, reductions) {
                    items
                        .push(Item::Vector(Box::new(self.vector(header, *lanes, body, reductions, varying))));
                    return;
                }
                header.execution = Execution::Vector { lanes: None, reductions: reductions.clone() };
                items.push(Item::Loop { header, body });
                return;
            }
            _ => {}
        }
        items.push(Item::Loop { header, body: self.nodes(&l.body) });
    }

    fn unroll(&self, l: &Loop) -> Option<Vec<Item>> {
        let (first, trips) = constant_trip(l)?;
        let declares = self.places.values().any(|p| *p == Some(l.id));
        let mut items = Vec::new();
        for k in 0..trips {
            let value = first.clone().offset(k.checked_mul(l.step)?);
            let mut copy = l.body.clone();
            let with = |v: Var| (v == Var::Loop(l.id)).then(|| value.clone());
            copy.iter_mut().for_each(|n| n.substitute(&with));
            let body = self.nodes(&copy);
            if declares {
                items.push(Item::Scope { of: l.id, body });
            } else {
                items.extend(body);
            }
            if size(&items) > MAX_UNROLLED {
                return None;
            }
        }
        Some(items)
    }

    fn vector(
        &self,
        header: Loop,
        lanes: u32,
        body: Vec<Item>,
        reductions: &[Reduction],
        varying: BTreeSet<ArrayId>,
    ) -> VectorItem {
        let width = i64::from(lanes);
        let mut item = VectorItem {
            header,
            lanes,
            body,
            reductions: reductions.to_vec(),
            bases: None,
            tail: None,
            varying,
        };
        if let Some((first, trips)) = constant_trip(&item.header) {
            let chunks = trips / width;
            let n_statements = size(&item.body).max(1);
            if chunks <= MAX_CHUNKS && n_statements <= MAX_UNROLLED / MAX_CHUNKS as usize {
                item.bases = Some((0..chunks).map(|c| first.clone().offset(c * width)).collect());
                item.tail = (trips % width != 0).then(|| first.offset(chunks * width));
            }
        }
        item
    }
}

impl Expander<'_> {
    /// Whether the body can be written in explicit vectors; if so, the scalars of which every lane has its own copy.
    fn vectorizable(
        &self,
        l: &Loop,
        lanes: u32,
        body: &[Item],
        reductions: &[Reduction],
    ) -> Option<BTreeSet<ArrayId>> {
        if l.step != 1 || !lanes.is_power_of_two() || !(2..=64).contains(&lanes) {
            return None;
        }
        let mut inner = BTreeSet::from([l.id]);
        collect_loops(body, &mut inner);
        let varying: BTreeSet<ArrayId> = self
            .places
            .iter()
            .filter(|(_, place)| place.is_some_and(|p| inner.contains(&p)))
            .map(|(array, _)| *array)
            .collect();
        if varying.iter().any(|a| !self.program.array(*a).shape.is_empty()) {
            return None;
        }
        inner.remove(&l.id);
        let check = LaneCheck {
            program: self.program,
            binding: self.binding,
            open: self.open,
            id: l.id,
            inner: &inner,
            varying: &varying,
            reductions,
            body,
        };
        check.items(body).then_some(varying)
    }
}

/// The loops under the items.
pub(crate) fn collect_loops(items: &[Item], into: &mut BTreeSet<LoopId>) {
    for item in items {
        match item {
            Item::Stmt(_) => {}
            Item::Loop { header, body } => {
                into.insert(header.id);
                collect_loops(body, into);
            }
            Item::Scope { of, body } => {
                into.insert(*of);
                collect_loops(body, into);
            }
            Item::Vector(v) => {
                into.insert(v.header.id);
                collect_loops(&v.body, into);
            }
            Item::If { then, otherwise, .. } => {
                collect_loops(then, into);
                collect_loops(otherwise, into);
            }
        }
    }
}

/// Calls `f` on every statement.
pub(crate) fn for_each_stmt<'a>(items: &'a [Item], f: &mut dyn FnMut(&'a Stmt)) {
    for item in items {
        match item {
            Item::Stmt(s) => f(s),
            Item::Loop { body, .. } | Item::Scope { body, .. } => for_each_stmt(body, f),
            Item::Vector(v) => for_each_stmt(&v.body, f),
            Item::If { then, otherwise, .. } => {
                for_each_stmt(then, f);
                for_each_stmt(otherwise, f);
            }
        }
    }
}

/// Every access under the items.
pub(crate) fn all_accesses(items: &[Item]) -> Vec<&Access> {
    let mut found = Vec::new();
    for item in items {
        match item {
            Item::Stmt(s) => found.extend(stmt_accesses(s)),
            Item::Loop { header, body } => {
                found.extend(header_accesses(header));
                found.extend(all_accesses(body));
            }
            Item::Scope { body, .. } => found.extend(all_accesses(body)),
            Item::Vector(v) => {
                found.extend(header_accesses(&v.header));
                found.extend(all_accesses(&v.body));
            }
            Item::If { condition, then, otherwise } => {
                found.extend(condition.reads());
                found.extend(all_accesses(then));
                found.extend(all_accesses(otherwise));
            }
        }
    }
    found
}

struct LaneCheck<'a> {
    program: &'a Program,
    binding: &'a Binding,
    open: &'a OpenOrders,
    id: LoopId,
    inner: &'a BTreeSet<LoopId>,
    varying: &'a BTreeSet<ArrayId>,
    reductions: &'a [Reduction],
    body: &'a [Item],
}

impl LaneCheck<'_> {
    fn items(&self, items: &[Item]) -> bool {
        items.iter().all(|item| match item {
            Item::Stmt(s) => self.stmt(s),
            Item::Scope { body, .. } => self.items(body),
            Item::If { condition, then, otherwise } => {
                is_invariant(condition, self.id, self.varying) && self.items(then) && self.items(otherwise)
            }
            Item::Loop { header, body } => {
                !matches!(header.execution, Execution::Parallel { .. })
                    && bound_is_invariant(&header.lower, self.id, self.varying)
                    && bound_is_invariant(&header.upper, self.id, self.varying)
                    && self.items(body)
            }
            Item::Vector(_) => false,
        })
    }

    fn stmt(&self, s: &Stmt) -> bool {
        let Some(array) = self.program.arrays.get(&s.target.array) else { return false };
        if !has_vectors(array.element) {
            return false;
        }
        let target = if self.varying.contains(&s.target.array) {
            true
        } else {
            match stride(&s.target, self.id, self.varying) {
                Some(Stride::One) => !self.binding.is_interleaved(s.target.array),
                Some(Stride::Zero) => self.is_accumulation(s),
                None => false,
            }
        };
        target
            && crate::vector::value_fits(
                (self.program, self.binding),
                self.id,
                self.varying,
                &s.value,
                array.element,
            )
    }

    fn may_reorder(&self, s: &Stmt) -> bool {
        s.update.is_reduction() && self.open.allow(self.program, s.target.array, s.update)
    }

    /// Whether every lane may accumulate separately: a declared reduction whose target is fixed in the loop and touched
    /// by nothing else.
    fn is_accumulation(&self, s: &Stmt) -> bool {
        let fixed =
            s.target.indices.iter().all(|e| self.inner.iter().all(|l| !e.uses(*l)) && e.reads().is_empty());
        let declared = self.reductions.iter().any(|r| r.array == s.target.array);
        if !fixed || !declared || !self.may_reorder(s) {
            return false;
        }
        let mut alone = true;
        let others = all_accesses(self.body).into_iter().filter(|a| a.array == s.target.array).count();
        let mut updates = 0;
        for_each_stmt(self.body, &mut |other| {
            if other.target.array == s.target.array {
                updates += 1;
                alone &= same_family(other.update, s.update);
            }
        });
        alone && updates == others
    }
}

/// Whether two updates combine in the same way.
pub(crate) fn same_family(a: Update, b: Update) -> bool {
    use Update::{Add, Sub};
    a == b || matches!((a, b), (Add, Sub) | (Sub, Add))
}

/// The extents of an array, if all are constant.
pub(crate) fn constant_shape(array: &oxeye_ir::Array) -> Option<Vec<i64>> {
    array.shape.iter().map(|e| constant(e.as_ref()?)).collect()
}
