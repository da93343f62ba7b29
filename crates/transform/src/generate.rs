//! From a schedule back to an IR nest with explicit bounds and guards.
//!
//! Bounds of a loop are the projections of the domains of the statements inside on the loops up to it
//! (Fourier–Motzkin); what a statement's own domain demands beyond the loops around it becomes a guard.

use crate::schedule::{LoopNode, Schedule, Tree, affine_condition, leaves};
use crate::space::{gist, implies, is_empty, project};
use crate::storage::{self, Layout};
use oxeye_ir::{
    Access, Affine, Array, ArrayId, BinaryOp, Bound, BoundTerm, Constraint, Execution, Expr, Loop, LoopId,
    Nest, Node, Program, Relation, StmtId, Storage, Var,
};
use std::collections::{BTreeMap, BTreeSet};

/// The nest a schedule describes, and the program with the temporaries it uses.
///
/// Where the statements of a loop have no common range because some may not run at all, the nest is written for the case
/// that all run, with `original` for the other.
pub(crate) fn generate(mut schedule: Schedule, original: &Nest) -> Result<(Program, Nest), String> {
    let whole: Vec<Array> = schedule.temporaries.iter().map(|t| schedule.program.array(*t).clone()).collect();
    let mut layouts = storage::assign(&mut schedule)?;
    let (mut program, mut roots) = match trees_under(&schedule, &[]) {
        Ok(found) => found,
        Err(reason) => {
            let all_run = all_run(&schedule);
            if all_run.is_empty() {
                return Err(reason);
            }
            // The original has them as they were.
            for array in whole {
                layouts.remove(&array.id);
                schedule.program.arrays.insert(array.id, array);
            }
            let (program, roots) = trees_under(&schedule, &all_run)?;
            (program, guarded(&all_run, roots, original.roots.clone()))
        }
    };
    for node in &mut roots {
        relocate(node, &layouts);
    }
    let mut nest = schedule.nest.clone();
    nest.roots = roots;
    for l in nest.loops() {
        if let Execution::Parallel { reductions, .. } | Execution::Vector { reductions, .. } = &l.execution
            && let Some(r) = reductions.iter().find(|r| {
                let is_private = schedule.privates.iter().any(|p| p.array == r.array);
                is_private && layouts.get(&r.array).is_some_and(|l| !l.kept.is_empty())
            })
        {
            let name = &schedule.program.array(r.array).name;
            return Err(format!(
                "{name}, which loop {} accumulates, would need a copy for every iteration",
                l.name
            ));
        }
    }
    make_unique(&mut program, &mut nest, schedule.next_loop);
    drop_unused(&mut program, &nest, &schedule);
    Ok((program, nest))
}

/// The schedule's loops, given that the constraints on symbols hold.
fn trees_under(schedule: &Schedule, given: &[Constraint]) -> Result<(Program, Vec<Node>), String> {
    let context = [&schedule.program.assumptions, given].concat();
    let mut program = schedule.program.clone();
    let mut generator = Generator { schedule, program: &mut program, paths: schedule.paths() };
    let roots = generator.trees(&schedule.roots, &mut Vec::new(), &context)?;
    Ok((program, roots))
}

/// Constraints on symbols without which some statement never runs.
fn all_run(schedule: &Schedule) -> Vec<Constraint> {
    let mut found = Vec::new();
    for (statement, path) in schedule.statements.iter().zip(schedule.paths()) {
        found.extend(project(&statement.domain, &path));
    }
    gist(&found, &schedule.program.assumptions)
}

/// `Σ … ≥ 0` (or `== 0`) as a condition a person would write: positive terms on the left, negative on the right.
fn comparison(c: &Constraint) -> Expr {
    let (mut left, mut right) = (Affine::default(), Affine::default());
    for (v, k) in c.expr.terms() {
        if k > 0 {
            left = left.add_scaled(&Affine::var(v), k);
        } else {
            right = right.add_scaled(&Affine::var(v), -k);
        }
    }
    let constant = c.expr.constant_part();
    let (op, constant) = match c.relation {
        Relation::Zero => (BinaryOp::Eq, constant),
        Relation::NonNegative if constant == -1 => (BinaryOp::Gt, 0),
        Relation::NonNegative => (BinaryOp::Ge, constant),
    };
    if constant > 0 {
        left = left.offset(constant);
    } else {
        right = right.offset(-constant);
    }
    Expr::Binary(op, Box::new(Expr::Affine(left)), Box::new(Expr::Affine(right)))
}

/// The conjunction of constraints; `None` if there are none.
pub(crate) fn condition(constraints: &[Constraint]) -> Option<Expr> {
    let mut parts = constraints.iter().map(comparison);
    let first = parts.next()?;
    Some(parts.fold(first, |all, c| Expr::Binary(BinaryOp::And, Box::new(all), Box::new(c))))
}

/// Whether two guards hold the same statement and exactly one of their conditions is true.
fn complementary(a: &Node, b: &Node) -> bool {
    let (Node::If { condition: c, then: x, otherwise: p }, Node::If { condition: d, then: y, otherwise: q }) =
        (a, b)
    else {
        return false;
    };
    let ([Node::Stmt(x)], [Node::Stmt(y)]) = (x.as_slice(), y.as_slice()) else { return false };
    let same = x.target == y.target && x.update == y.update && x.value == y.value;
    let (Some(c), Some(d)) = (affine_condition(c), affine_condition(d)) else { return false };
    let ([c], [d]) = (c.as_slice(), d.as_slice()) else { return false };
    same && p.is_empty()
        && q.is_empty()
        && c.relation == Relation::NonNegative
        && d.relation == Relation::NonNegative
        && c.expr.scaled(-1).offset(-1) == d.expr
}

/// Wraps nodes in a guard if there is anything to check.
pub(crate) fn guarded(constraints: &[Constraint], then: Vec<Node>, otherwise: Vec<Node>) -> Vec<Node> {
    match condition(constraints) {
        Some(condition) => vec![Node::If { condition, then, otherwise }],
        None => then,
    }
}

/// Lower and upper bound terms for `id` from rows that mention it.
pub(crate) fn bounds_from(rows: &[Constraint], id: LoopId) -> (Vec<BoundTerm>, Vec<BoundTerm>) {
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    for row in rows {
        let c = row.expr.coefficient(id);
        let rest = row.expr.clone().add_scaled(&Affine::var(id), -c);
        let equal = row.relation == Relation::Zero;
        let mut push = |c: i64, rest: Affine| {
            let list = if c > 0 { &mut lower } else { &mut upper };
            let expr = if c > 0 { -rest } else { rest.offset(1) };
            list.push(BoundTerm::Affine { expr, divisor: c.abs() });
        };
        if c != 0 {
            push(c, rest.clone());
            if equal {
                push(-c, -rest);
            }
        }
    }
    (lower, upper)
}

pub(crate) struct Generator<'a> {
    pub(crate) schedule: &'a Schedule,
    /// Receives temporaries made while generating.
    pub(crate) program: &'a mut Program,
    paths: Vec<Vec<LoopId>>,
}

impl Generator<'_> {
    fn trees(
        &mut self,
        trees: &[Tree],
        outer: &mut Vec<LoopId>,
        context: &[Constraint],
    ) -> Result<Vec<Node>, String> {
        let mut nodes = Vec::new();
        for tree in trees {
            match tree {
                Tree::Leaf(s) => {
                    let new = self.leaf(*s, context);
                    match (nodes.last_mut(), new.as_slice()) {
                        (Some(last), [only]) if complementary(last, only) => {
                            if let Node::If { then, .. } = last {
                                *last = then[0].clone();
                            }
                        }
                        _ => nodes.extend(new),
                    }
                }
                Tree::Loop(loop_node) => nodes.extend(self.loop_node(loop_node, outer, context)?),
                Tree::Contraction(c) => nodes.extend(self.contraction(c, outer, context)?),
            }
        }
        Ok(nodes)
    }

    fn leaf(&self, s: usize, context: &[Constraint]) -> Vec<Node> {
        let statement = &self.schedule.statements[s];
        if is_empty(&[context, &statement.domain].concat()) {
            return Vec::new();
        }
        let mut node = statement.node.clone();
        substitute(&mut node, &|v| match v {
            Var::Loop(l) => statement.map.get(&l).cloned(),
            Var::Sym(_) => None,
        });
        guarded(&gist(&statement.domain, context), vec![node], Vec::new())
    }

    /// What the statement's domain says about the loops in `outer` and `id`.
    fn projected(&self, s: usize, outer: &[LoopId], id: Option<LoopId>) -> Vec<Constraint> {
        let statement = &self.schedule.statements[s];
        let away: Vec<LoopId> =
            self.paths[s].iter().copied().filter(|l| !outer.contains(l) && Some(*l) != id).collect();
        project(&statement.domain, &away)
    }

    /// Constraints on `outer` and `id` that hold for all of `stmts`.
    fn common(
        &self,
        stmts: &[usize],
        outer: &[LoopId],
        id: Option<LoopId>,
        context: &[Constraint],
    ) -> Vec<Constraint> {
        let projections: Vec<Vec<Constraint>> = stmts.iter().map(|s| self.projected(*s, outer, id)).collect();
        if let [only] = projections.as_slice() {
            return gist(only, context);
        }
        let facts: Vec<Vec<Constraint>> = projections.iter().map(|p| [context, p].concat()).collect();
        let mut rows = Vec::new();
        for row in projections.iter().flatten() {
            let halves = match row.relation {
                Relation::NonNegative => vec![row.clone()],
                Relation::Zero => [1, -1]
                    .map(|sign| Constraint { expr: row.expr.scaled(sign), relation: Relation::NonNegative })
                    .to_vec(),
            };
            for half in halves {
                if !rows.contains(&half) && facts.iter().all(|f| implies(f, &half)) {
                    rows.push(half);
                }
            }
        }
        gist(&rows, context)
    }

    fn loop_node(
        &mut self,
        loop_node: &LoopNode,
        outer: &mut Vec<LoopId>,
        context: &[Constraint],
    ) -> Result<Vec<Node>, String> {
        let stmts: Vec<usize> = loop_node
            .body
            .iter()
            .flat_map(leaves)
            .filter(|s| !is_empty(&[context, &self.schedule.statements[*s].domain].concat()))
            .collect();
        if stmts.is_empty() {
            return Ok(Vec::new());
        }
        if !loop_node.separate.is_empty() {
            let full = self.full_tile(&stmts, &loop_node.separate, outer, context);
            let plain = LoopNode { separate: Vec::new(), ..loop_node.clone() };
            let general = self.loop_node(&plain, outer, context)?;
            if full.is_empty() {
                return Ok(general);
            }
            let inside = [context, &full].concat();
            if is_empty(&inside) {
                return Ok(general);
            }
            let special = self.loop_node(&plain, outer, &inside)?;
            return Ok(guarded(&full, special, general));
        }
        let rows = self.common(&stmts, outer, Some(loop_node.id), context);
        let (own, mut before): (Vec<_>, Vec<_>) = rows.into_iter().partition(|r| r.expr.uses(loop_node.id));
        before.retain(|r| r.expr.loops().next().is_some());
        let (lower, upper) = bounds_from(&own, loop_node.id);
        if lower.is_empty() || upper.is_empty() {
            return Err(format!(
                "the bounds of loop {} differ between its statements in a way that cannot be written as one range",
                self.schedule.loop_name(loop_node.id)
            ));
        }
        let inside = [context, &own, &before].concat();
        outer.push(loop_node.id);
        let body = self.trees(&loop_node.body, outer, &inside);
        outer.pop();
        let body = body?;
        if body.is_empty() {
            return Ok(Vec::new());
        }
        let info = &self.schedule.iterators[&loop_node.id];
        let (lower, upper) = (Bound(lower), Bound(upper));
        let execution = match &loop_node.execution {
            // A partial tile is a plain loop.
            Execution::Unrolled if trip_count(&lower, &upper).is_none() => Execution::Sequential,
            other => other.clone(),
        };
        let node = Loop {
            id: loop_node.id,
            name: info.name.clone(),
            ty: info.ty,
            lower,
            upper,
            step: if loop_node.reverse { -1 } else { 1 },
            execution,
            body,
        };
        let known = [context, &before].concat();
        let nodes = self.accumulate(node, outer, &known, &inside)?;
        Ok(guarded(&before, nodes, Vec::new()))
    }

    /// Conditions on the loops in `outer` under which every point of the tile in `points` lies in every domain, as far
    /// as the loops outside the tile decide that.
    fn full_tile(
        &self,
        stmts: &[usize],
        points: &[LoopId],
        outer: &[LoopId],
        context: &[Constraint],
    ) -> Vec<Constraint> {
        let mut full = Vec::new();
        for s in stmts {
            let domain = &self.schedule.statements[*s].domain;
            let boxes: BTreeMap<LoopId, (Affine, Affine)> =
                points.iter().filter_map(|p| tile_box(domain, *p).map(|b| (*p, b))).collect();
            for row in gist(domain, context) {
                if row.relation == Relation::Zero || !row.expr.loops().any(|l| boxes.contains_key(&l)) {
                    continue;
                }
                let worst = row.expr.substitute(&|v| match v {
                    Var::Loop(l) => boxes.get(&l).map(|(low, high)| {
                        if row.expr.coefficient(l) > 0 { low.clone() } else { high.clone() }
                    }),
                    Var::Sym(_) => None,
                });
                if worst.loops().any(|l| !outer.contains(&l)) || worst.as_constant().is_some_and(|c| c >= 0) {
                    continue;
                }
                let worst = Constraint { expr: worst, relation: Relation::NonNegative };
                if !full.contains(&worst) {
                    full.push(worst);
                }
            }
        }
        gist(&full, context)
    }
}

/// The number of iterations, if it is the same wherever the loop is entered.
fn trip_count(lower: &Bound, upper: &Bound) -> Option<i64> {
    (upper.as_affine()?.clone() - lower.as_affine()?.clone()).as_constant()
}

/// The widest `low ≤ point ≤ low + size − 1` with constant size among the constraints.
fn tile_box(domain: &[Constraint], point: LoopId) -> Option<(Affine, Affine)> {
    let rest = |c: &Constraint, sign: i64| {
        (c.expr.coefficient(point) == sign && c.relation == Relation::NonNegative)
            .then(|| c.expr.clone().add_scaled(&Affine::var(point), -sign).scaled(-sign))
    };
    let lows: Vec<Affine> = domain.iter().filter_map(|c| rest(c, 1)).collect();
    let highs: Vec<Affine> = domain.iter().filter_map(|c| rest(c, -1)).collect();
    let tiled = |a: &Affine| a.loops().next().is_some();
    lows.iter()
        .filter(|l| tiled(l))
        .flat_map(|l| highs.iter().map(move |h| (l.clone(), h.clone())))
        .find(|(l, h)| (h.clone() - l.clone()).as_constant().is_some_and(|n| n > 0))
}

/// Replaces variables everywhere under a node.
pub(crate) fn substitute(node: &mut Node, with: &dyn Fn(Var) -> Option<Affine>) {
    match node {
        Node::Stmt(s) => {
            s.target.indices.iter_mut().for_each(|e| e.substitute(with));
            s.value.substitute(with);
        }
        Node::If { condition, .. } => condition.substitute(with),
        Node::Loop(l) => {
            for term in l.lower.0.iter_mut().chain(&mut l.upper.0) {
                match term {
                    BoundTerm::Affine { expr, .. } => *expr = expr.substitute(with),
                    BoundTerm::Data(e) => e.substitute(with),
                }
            }
        }
    }
    for body in node.bodies_mut() {
        body.iter_mut().for_each(|n| substitute(n, with));
    }
}

/// Calls `f` on every access under a node.
pub(crate) fn for_each_access(node: &mut Node, f: &mut dyn FnMut(&mut Access)) {
    fn in_expr(e: &mut Expr, f: &mut dyn FnMut(&mut Access)) {
        e.rewrite(&mut |e| {
            if let Expr::Read(a) = e {
                f(a);
            }
        });
    }
    match node {
        Node::Stmt(s) => {
            s.target.indices.iter_mut().for_each(|e| in_expr(e, f));
            f(&mut s.target);
            in_expr(&mut s.value, f);
        }
        Node::If { condition, .. } => in_expr(condition, f),
        Node::Loop(l) => {
            for term in l.lower.0.iter_mut().chain(&mut l.upper.0) {
                if let BoundTerm::Data(e) = term {
                    in_expr(e, f);
                }
            }
        }
    }
    for body in node.bodies_mut() {
        body.iter_mut().for_each(|n| for_each_access(n, f));
    }
}

/// Replaces an array everywhere under a node, in lists of reductions too.
pub(crate) fn rename_array(node: &mut Node, from: ArrayId, to: ArrayId) {
    fn reductions(node: &mut Node, from: ArrayId, to: ArrayId) {
        if let Node::Loop(l) = node
            && let Execution::Parallel { reductions, .. } | Execution::Vector { reductions, .. } =
                &mut l.execution
        {
            reductions.iter_mut().filter(|r| r.array == from).for_each(|r| r.array = to);
        }
        for body in node.bodies_mut() {
            body.iter_mut().for_each(|n| reductions(n, from, to));
        }
    }
    for_each_access(node, &mut |a| {
        if a.array == from {
            a.array = to;
        }
    });
    reductions(node, from, to);
}

fn relocate(node: &mut Node, layouts: &BTreeMap<ArrayId, Layout>) {
    for_each_access(node, &mut |a| {
        if let Some(layout) = layouts.get(&a.array) {
            a.indices = layout
                .kept
                .iter()
                .map(|(dim, lower)| {
                    Expr::binary(BinaryOp::Sub, a.indices[*dim].clone(), Expr::Affine(lower.clone()))
                })
                .collect();
        }
    });
}

/// Gives copied loops, statements and their temporaries ids of their own.
fn make_unique(program: &mut Program, nest: &mut Nest, next_loop: u32) {
    struct Unique<'a> {
        program: &'a mut Program,
        loops: BTreeSet<LoopId>,
        stmts: BTreeSet<StmtId>,
        next_loop: u32,
        next_stmt: u32,
    }
    impl Unique<'_> {
        fn node(&mut self, node: &mut Node) {
            match node {
                Node::Stmt(s) => {
                    if !self.stmts.insert(s.id) {
                        s.id = StmtId(self.next_stmt);
                        self.next_stmt += 1;
                        self.stmts.insert(s.id);
                    }
                }
                Node::Loop(l) => {
                    if !self.loops.insert(l.id) {
                        let (old, new) = (l.id, LoopId(self.next_loop));
                        self.next_loop += 1;
                        self.loops.insert(new);
                        l.id = new;
                        let scoped: Vec<ArrayId> = self
                            .program
                            .arrays
                            .values()
                            .filter(|a| matches!(a.storage, Storage::Temp(Some(s)) | Storage::Body(s) if s == old))
                            .map(|a| a.id)
                            .collect();
                        for array in scoped {
                            let mut copy = self.program.array(array).clone();
                            copy.storage = match copy.storage {
                                Storage::Body(_) => Storage::Body(new),
                                _ => Storage::Temp(Some(new)),
                            };
                            let copy = self.program.add_array(copy);
                            l.body.iter_mut().for_each(|n| rename_array(n, array, copy));
                        }
                        l.body.iter_mut().for_each(|n| {
                            substitute(n, &|v| (v == Var::Loop(old)).then(|| Affine::var(new)));
                        });
                    }
                }
                Node::If { .. } => {}
            }
            for body in node.bodies_mut() {
                body.iter_mut().for_each(|n| self.node(n));
            }
        }
    }
    let next_loop = nest.loops().iter().map(|l| l.id.0 + 1).max().unwrap_or(0).max(next_loop);
    let next_stmt = nest.stmts().iter().map(|s| s.id.0 + 1).max().unwrap_or(0);
    let mut unique = Unique { program, loops: BTreeSet::new(), stmts: BTreeSet::new(), next_loop, next_stmt };
    for node in &mut nest.roots {
        unique.node(node);
    }
}

/// Removes temporaries of this schedule that the nest does not use.
fn drop_unused(program: &mut Program, nest: &Nest, schedule: &Schedule) {
    let used: BTreeSet<ArrayId> = nest.arrays().into_iter().collect();
    let original: BTreeSet<ArrayId> = schedule.program.nests.values().flat_map(|n| n.arrays()).collect();
    program.arrays.retain(|id, a| {
        used.contains(id)
            || original.contains(id)
            || !matches!(a.storage, Storage::Temp(_) | Storage::Body(_))
    });
}
