//! The loops over tiles, what is inside, and the temporaries.

use super::border::Part;
use super::chain::{Chain, Group};
use super::handed::{Halo, Handed, Plan};
use crate::import::stem;
use crate::refusal::Reason;
use crate::scan::for_each_access;
use crate::schedule::fresh_array;
use crate::values::Valued;
use oxeye_analysis::{bound_constraints, implies};
use oxeye_ir::{
    Access, Affine, ArrayId, BinaryOp, Bound, BoundTerm, Constraint, Execution, Expr, Loop, LoopId, Nest,
    NestId, Node, Program, ScalarType, Stmt, StmtId, Storage, Update, Var,
};
use std::collections::BTreeMap;

/// The loops over tiles, and the temporaries inside.
pub(super) struct Tiles {
    loops: Vec<Loop>,
    ids: Vec<LoopId>,
    sizes: Vec<i64>,
    /// The first iteration of a tile, of each loop that is tiled.
    starts: Vec<Affine>,
    /// What is known of symbols and of the loops over tiles.
    known: Vec<Constraint>,
    temporaries: BTreeMap<ArrayId, ArrayId>,
    names: Vec<(ArrayId, String)>,
    next_loop: u32,
    next_stmt: u32,
}

/// The first of all and the last of all ends, if that can be told.
fn outermost(ends: &[Affine], known: &[Constraint], is_least: bool) -> Option<Affine> {
    let is_outside = |a: &Affine, b: &Affine| {
        let (greater, less) = if is_least { (b, a) } else { (a, b) };
        implies(known, &Constraint::ge(greater.clone(), less.clone()))
    };
    ends.iter().find(|end| ends.iter().all(|other| is_outside(end, other))).cloned()
}

/// Refuses tiles whose ends may be negative where they are compared with unsigned numbers.
fn check_signs(group: &Group, plan: &Plan, sizes: &[i64]) -> Result<(), Reason> {
    let is_unsigned =
        |ty: ScalarType| matches!(ty, ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64);
    for (chain, halos) in group.chains.iter().zip(&plan.halos) {
        let of_loop = chain.loops.iter().zip(&chain.bounds).zip(halos.iter().zip(sizes));
        for ((l, (lower, _)), (halo, size)) in of_loop {
            let symbols = lower.terms().filter_map(|(var, _)| match var {
                Var::Sym(id) => group.program.symbols.get(&id),
                Var::Loop(_) => None,
            });
            let begins_unsigned = symbols.into_iter().any(|symbol| is_unsigned(symbol.ty));
            if begins_unsigned || (is_unsigned(l.ty) && size + halo.1 < 0) {
                let text =
                    format!("tiles of loop {} may end below zero, and it counts without a sign", l.name);
                return Err(Reason::unsupported(text));
            }
        }
    }
    Ok(())
}

impl Tiles {
    pub(super) fn new(nest: &Valued, group: &Group, plan: &Plan, sizes: &[i64]) -> Result<Self, Reason> {
        let mut next_loop = nest.nest.loops().iter().map(|l| l.id.0 + 1).max().unwrap_or(0);
        let next_stmt = nest.nest.stmts().iter().map(|s| s.id.0 + 1).max().unwrap_or(0);
        let mut known = group.program.assumptions.clone();
        check_signs(group, plan, sizes)?;
        let results: Vec<&Chain> =
            group.chains.iter().filter(|chain| plan.has_results(group, chain)).collect();
        if results.is_empty() {
            return Err(Reason::unsupported("nothing that the loops compute is read behind them"));
        }
        let all_tiled = || group.chains.iter().flat_map(|chain| &chain.loops);
        let ty = if all_tiled().all(|l| l.ty == ScalarType::I32) { ScalarType::I32 } else { ScalarType::I64 };
        let (mut loops, mut starts) = (Vec::new(), Vec::new());
        for (d, size) in sizes.iter().enumerate() {
            let (lowers, uppers): (Vec<Affine>, Vec<Affine>) =
                results.iter().map(|chain| chain.bounds[d].clone()).unzip();
            let ends = (
                outermost(&lowers, &group.program.assumptions, true),
                outermost(&uppers, &group.program.assumptions, false),
            );
            let (Some(lower), Some(upper)) = ends else {
                return Err(Reason::unsupported("which of the loops begins first or ends last is not known"));
            };
            let id = LoopId(next_loop);
            next_loop += 1;
            let (expr, divisor) = (upper - lower.clone(), *size);
            let tiled = Loop {
                id,
                name: format!("{}t", results[0].loops[d].name),
                ty,
                lower: 0.into(),
                upper: Bound(vec![BoundTerm::Affine { expr, divisor }]),
                step: 1,
                execution: Execution::Sequential,
                body: Vec::new(),
            };
            known.extend(bound_constraints(&Affine::var(id), &tiled.lower, &tiled.upper).unwrap_or_default());
            starts.push(lower.add_scaled(&Affine::var(id), *size));
            loops.push(tiled);
        }
        let ids = loops.iter().map(|l| l.id).collect();
        let (temporaries, names) = (BTreeMap::new(), Vec::new());
        Ok(Self {
            loops,
            ids,
            sizes: sizes.to_vec(),
            starts,
            known,
            temporaries,
            names,
            next_loop,
            next_stmt,
        })
    }

    /// The loops over tiles, outermost first.
    pub(super) fn loops(&self) -> impl Iterator<Item = LoopId> {
        self.ids.iter().copied()
    }

    /// The temporaries, with the names of the arrays whose elements they hold.
    pub(super) fn temporaries(&self) -> impl Iterator<Item = (ArrayId, &str)> {
        self.names.iter().map(|(id, name)| (*id, name.as_str()))
    }

    /// The loops over tiles with everything inside; declares the temporaries.
    pub(super) fn nodes(
        &mut self,
        program: &mut Program,
        group: &Group,
        plan: &Plan,
    ) -> Result<Node, Reason> {
        for (id, handed) in &plan.handed {
            self.declare(program, *id, handed, &plan.halos[handed.writer]);
        }
        let mut body = Vec::new();
        for (k, chain) in group.chains.iter().enumerate() {
            for (id, handed) in plan.handed.iter().filter(|(_, handed)| handed.writer == k) {
                body.extend(self.copies(group, *id, handed, &plan.halos[k]));
            }
            let mut root = self.within(chain.root.clone(), &chain.bounds, &plan.halos[k]);
            for_each_access(&mut root, &mut |access| self.redirect(access, plan));
            for id in group.nest.arrays().into_iter().filter(|id| group.is_private(*id) && chain.uses(*id)) {
                own_scratch(program, group, chain, id, &mut root);
            }
            body.push(root);
            let live = plan.handed.iter().filter(|(id, handed)| handed.writer == k && !group.is_dead(**id));
            for (id, _) in live {
                for store in self.stores(chain, *id)? {
                    body.push(self.within(store, &chain.bounds, &vec![(0, 0); group.n_tiled]));
                    if let Some(last) = body.last_mut() {
                        let mut read = |e: &mut Expr| {
                            if let Expr::Read(access) = e {
                                self.redirect(access, plan);
                            }
                        };
                        for_each_statement(last, &mut |s| s.value.rewrite(&mut read));
                    }
                }
            }
        }
        let mut tiled = body;
        for l in self.loops.iter().rev() {
            tiled = vec![Node::Loop(Loop { body: tiled, ..l.clone() })];
        }
        tiled.pop().ok_or_else(|| Reason::unsupported("there is no loop"))
    }

    /// The array of a tile.
    fn declare(&mut self, program: &mut Program, id: ArrayId, handed: &Handed, halos: &[Halo]) {
        let known = program.array(id).clone();
        let extent = |(dim, whole): (usize, &Option<Expr>)| {
            let tiled = handed.dims.iter().position(|(tiled, _)| *tiled == dim);
            match (tiled, whole) {
                (Some(d), _) => Expr::from(self.sizes[d] + halos[d].1 - halos[d].0),
                (None, Some(Expr::Affine(n))) if n.as_constant().is_some() => n.clone().into(),
                (None, Some(n)) => Expr::binary(BinaryOp::Max, n.clone(), 1.into()),
                (None, None) => 1.into(),
            }
        };
        let shape = known.shape.iter().enumerate().map(extent).collect();
        let name = format!("{}_tile", stem(&known.name));
        let storage = Storage::Temp(self.ids.last().copied());
        let own = fresh_array(program, &name, known.element, shape, storage);
        program.arrays[&own].c_type = known.c_type;
        self.temporaries.insert(id, own);
        self.names.push((own, known.name));
    }

    /// Loops that copy what a tile needs of an array's border.
    fn copies(&mut self, group: &Group, id: ArrayId, handed: &Handed, halos: &[Halo]) -> Vec<Node> {
        let Some((border, own)) = handed.border.as_ref().zip(self.temporaries.get(&id).copied()) else {
            return Vec::new();
        };
        let parts = border.parts(&self.known);
        parts.into_iter().map(|part| self.copy(group, (id, own), handed, (part, halos))).collect()
    }

    fn copy(
        &mut self,
        group: &Group,
        (id, own): (ArrayId, ArrayId),
        handed: &Handed,
        (mut part, halos): (Part, &[Halo]),
    ) -> Node {
        for (d, (dim, offset)) in handed.dims.iter().enumerate() {
            let first = self.starts[d].clone() + offset.clone().offset(halos[d].0);
            let size = self.sizes[d] + halos[d].1 - halos[d].0;
            let (lower, upper) = &mut part.ends[*dim];
            if d == 0 {
                // As long as the tile where they are positive.
                upper.extend(part.lengths.iter().map(|length| first.clone().add_scaled(length, size)));
            }
            upper.push(first.clone().offset(size));
            lower.push(first);
        }
        let ids: Vec<LoopId> = (self.next_loop..).map(LoopId).take(part.ends.len()).collect();
        self.next_loop += ids.len() as u32;
        let stmt = StmtId(self.next_stmt);
        self.next_stmt += 1;
        let indices: Vec<Expr> = ids.iter().map(|id| Expr::from(Affine::var(*id))).collect();
        let value = Expr::Read(Access { array: id, indices: indices.clone() });
        let mut target = Access { array: own, indices };
        self.place(&mut target, handed, halos);
        let mut node = Node::Stmt(Stmt { id: stmt, target, update: Update::Assign, value, line: None });
        let is_int = group.nest.loops().iter().all(|l| l.ty == ScalarType::I32);
        let ty = if is_int { ScalarType::I32 } else { ScalarType::I64 };
        let tiled_loops = &group.chains[handed.writer].loops;
        for (dim, (id, (lower, upper))) in ids.into_iter().zip(part.ends).enumerate().rev() {
            let tiled = handed.dims.iter().position(|(tiled, _)| *tiled == dim);
            let name = tiled.map_or_else(|| format!("k{dim}"), |d| tiled_loops[d].name.clone());
            let (step, execution) = (1, Execution::Sequential);
            let (lower, upper) = (self.narrowest(lower, true), self.narrowest(upper, false));
            node = Node::Loop(Loop { id, name, ty, lower, upper, step, execution, body: vec![node] });
        }
        node
    }

    /// The bound that all these are, without those that never matter.
    fn narrowest(&self, mut ends: Vec<Affine>, is_lower: bool) -> Bound {
        let mut k = 0;
        while k < ends.len() {
            let is_inside = |other: &Affine| {
                let (great, small) = if is_lower { (other, &ends[k]) } else { (&ends[k], other) };
                implies(&self.known, &Constraint::ge(great.clone(), small.clone()))
            };
            let is_idle = ends.iter().enumerate().any(|(other, end)| other != k && is_inside(end));
            if is_idle {
                ends.remove(k);
            } else {
                k += 1;
            }
        }
        Bound(ends.into_iter().map(BoundTerm::from).collect())
    }

    /// Names the element in the temporary, if the array has one.
    fn redirect(&self, access: &mut Access, plan: &Plan) {
        let Some((handed, own)) = plan.handed.get(&access.array).zip(self.temporaries.get(&access.array))
        else {
            return;
        };
        self.place(access, handed, &plan.halos[handed.writer]);
        access.array = *own;
    }

    /// The indices of an element as those in the tile.
    fn place(&self, access: &mut Access, handed: &Handed, halos: &[Halo]) {
        for (d, (dim, offset)) in handed.dims.iter().enumerate() {
            let first = self.starts[d].clone() + offset.clone().offset(halos[d].0);
            access.indices[*dim] = Expr::binary(BinaryOp::Sub, access.indices[*dim].clone(), first.into());
        }
    }

    /// The part of a loop that a tile computes.
    fn within(&self, root: Loop, bounds: &[(Affine, Affine)], halos: &[Halo]) -> Node {
        let mut root = root;
        let mut inner = Some(&mut root);
        for (d, ((lower, upper), halo)) in bounds.iter().zip(halos).enumerate() {
            let Some(l) = inner.take() else { break };
            let first = self.starts[d].clone().offset(halo.0);
            let end = self.starts[d].clone().offset(self.sizes[d] + halo.1);
            l.lower = self.narrowest(vec![lower.clone(), first], true);
            l.upper = self.narrowest(vec![upper.clone(), end], false);
            inner = l.body.iter_mut().find_map(|node| match node {
                Node::Loop(l) => Some(l),
                _ => None,
            });
        }
        Node::Loop(root)
    }

    /// Loops that store the elements of an array which the tile's own iterations of a loop compute.
    fn stores(&mut self, chain: &Chain, id: ArrayId) -> Result<Vec<Loop>, Reason> {
        let mut found: Vec<(Access, Vec<Loop>, Option<u32>)> = Vec::new();
        let mut written: Vec<&Access> = Vec::new();
        chain.nest.visit(&mut |path, node| {
            let Node::Stmt(s) = node else { return };
            if s.target.array != id {
                return;
            }
            written.push(&s.target);
            if s.update == Update::Assign && found.iter().all(|(access, ..)| *access != s.target) {
                let n_tiled = chain.loops.len();
                let is_needed =
                    |(k, l): &(usize, &&Loop)| *k < n_tiled || s.target.indices.iter().any(|e| e.uses(l.id));
                let needed = path.iter().enumerate().filter(is_needed);
                let headers = needed
                    .map(|(_, l)| Loop {
                        body: Vec::new(),
                        execution: Execution::Sequential,
                        ..(**l).clone()
                    })
                    .collect();
                found.push((s.target.clone(), headers, s.line));
            }
        });
        let name = &chain.root.name;
        if !written.iter().all(|access| found.iter().any(|(known, ..)| known == *access)) {
            return Err(Reason::unsupported(format!(
                "which elements loop {name} leaves behind is not known"
            )));
        }
        found.into_iter().map(|(access, headers, line)| self.store(access, headers, line)).collect()
    }

    fn store(&mut self, target: Access, headers: Vec<Loop>, line: Option<u32>) -> Result<Loop, Reason> {
        let id = StmtId(self.next_stmt);
        self.next_stmt += 1;
        let value = Expr::Read(target.clone());
        let mut node = Node::Stmt(Stmt { id, target, update: Update::Assign, value, line });
        let ids: Vec<LoopId> = (self.next_loop..).map(LoopId).take(headers.len()).collect();
        self.next_loop += headers.len() as u32;
        for (l, id) in headers.into_iter().zip(&ids).rev() {
            let own = l.id;
            node.substitute(&|v| (v == own.into()).then(|| Affine::var(*id)));
            node = Node::Loop(Loop { id: *id, body: vec![node], ..l });
        }
        let alone = Nest::new(NestId(0), "", vec![node.clone()]);
        let is_known = |v: &Var| !matches!(v, Var::Loop(l) if !ids.contains(l));
        match node {
            Node::Loop(l) if alone.vars().iter().all(is_known) => Ok(l),
            _ => Err(Reason::unsupported(
                "the ends of a loop that writes depend on loops that do not matter to it",
            )),
        }
    }
}

/// Declares an array of which every instance of a loop has its own inside that loop, so that tiles share nothing.
fn own_scratch(program: &mut Program, group: &Group, chain: &Chain, id: ArrayId, root: &mut Node) {
    let known = group.program.array(id).clone();
    let shape: Option<Vec<Expr>> = known.shape.iter().cloned().collect();
    let (Some(shape), Some(inside)) = (shape.filter(|shape| !shape.is_empty()), chain.loops.last()) else {
        return;
    };
    if known.storage != Storage::Local {
        return;
    }
    let own = fresh_array(program, &stem(&known.name), known.element, shape, Storage::Temp(Some(inside.id)));
    program.arrays[&own].c_type = known.c_type;
    for_each_access(root, &mut |access| {
        if access.array == id {
            access.array = own;
        }
    });
}

fn for_each_statement(node: &mut Node, f: &mut dyn FnMut(&mut Stmt)) {
    if let Node::Stmt(s) = node {
        f(s);
    }
    for inner in node.bodies_mut().into_iter().flatten() {
        for_each_statement(inner, f);
    }
}
