//! Whether the schedule of a normal form keeps the dependences of the nest that the normal form was made from.
//!
//! The dependences are those of the source. The times of their instances follow from the map that normalization kept
//! ([`Instances`]), composed with the schedule. Two kinds of dependences are checked on the normal form instead:
//! - on elements of arrays that a rewrite stores elsewhere or nowhere, or whose index depends on such an element: by
//!   the rewrite's proof, the source's dependences on them need not hold;
//! - between the load and the store of a target that is accumulated in place, within one iteration: the accumulation
//!   has replaced them.

use super::check::{Conflict, Judge, LoopFacts, Order};
use super::dependences::{possible, same_accumulation};
use crate::instances::{Instances, Part};
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::schedule::space::Space;
use crate::schedule::{MemoryAccess, Schedule, Statement, TimeStep};
use oxeye_analysis::omega::{Feasibility, Limit, System, feasible};
use oxeye_analysis::{DependenceRelation, Level, Role, StmtAccess, StmtModel};
use oxeye_ir::{Access, Affine, ArrayId, Constraint, Expr, LoopId, Node, Stmt, StmtId, Storage, Var};
use std::collections::BTreeMap;

/// A part of a statement of the schedule: what it performs of a source statement.
struct Performed<'a> {
    /// The statement of the schedule; it may be split into several.
    s: usize,
    /// The statement of the normal form: itself, or one inside it.
    stmt: &'a Stmt,
    /// Its position inside `stmt`.
    inner: Vec<TimeStep>,
    part: &'a Part,
    /// Its index among the parts.
    index: usize,
}

/// A schedule of a normal form, and the source's dependences.
struct Composed<'a> {
    judge: Judge<'a>,
    source: &'a Schedule,
    instances: &'a Instances,
    /// Parts by source statement.
    performed: BTreeMap<StmtId, Vec<Performed<'a>>>,
}

/// Checks that the schedule of a normal form keeps the dependences of its source. Returns whether floating-point
/// accumulations are reordered.
///
/// # Errors
/// The dependence that it breaks, or what is missing in the map.
pub(crate) fn check_source(
    schedule: &Schedule,
    source: &Schedule,
    instances: &Instances,
    policy: Policy,
) -> Result<bool, Reason> {
    source.original.known()?;
    let composed = Composed::new(schedule, source, instances, policy);
    for stmt in &source.original.model.stmts {
        if !composed.performed.contains_key(&stmt.id) && instances.gone(stmt.id).is_none() {
            return Err(Reason::unsupported(format!(
                "its normal form does not say where {} of the source is performed",
                stmt.id
            )));
        }
    }
    let mut reordered = false;
    for relation in source.original.relations() {
        reordered |= composed.relation(relation)?;
    }
    Ok(reordered)
}

/// Checks that the statements of a normal form access the elements that the map says.
///
/// # Errors
/// A statement that does not.
pub(crate) fn check_elements(
    normal: &Schedule,
    source: &Schedule,
    instances: &Instances,
) -> Result<(), Reason> {
    let composed = Composed::new(normal, source, instances, Policy { reassociate: false, finite: false });
    let models: BTreeMap<StmtId, &StmtModel> =
        source.original.model.stmts.iter().map(|stmt| (stmt.id, stmt)).collect();
    for (s, statement) in normal.statements.iter().enumerate() {
        let performed = || composed.performed.values().flatten().filter(|p| p.s == s);
        for access in statement.accesses.iter() {
            // Accesses to arrays that are never written have no dependences.
            let writes = |stmt: &&StmtModel| {
                stmt.accesses.iter().any(|own| own.array == access.array && own.role.is_write())
            };
            let is_written = access.write || models.values().any(writes);
            if !is_written || composed.is_elsewhere(access.array) || composed.is_new(access.array) {
                continue;
            }
            let is_same = |p: &Performed<'_>, own: &StmtAccess| {
                own.array == access.array
                    && (own.role.is_write() || !access.write)
                    && (own.source.affine_indices().is_none() || mapped(&own.source, p.part) == access.source)
            };
            let is_claimed = performed().any(|p| {
                let model = models.get(&p.part.stmt);
                model.is_some_and(|model| model.accesses.iter().any(|own| is_same(p, own)))
            });
            if !is_claimed {
                return Err(Reason::unsupported(format!(
                    "{} of the normal form accesses an element of {} that its source statements do not access",
                    statement.id,
                    source.program.array(access.array).name
                )));
            }
        }
    }
    Ok(())
}

/// An access of a source statement in terms of the iterators of the statement that performs it.
fn mapped(access: &Access, part: &Part) -> Access {
    let with = |v: Var| match v {
        Var::Loop(l) => part.iterators.get(&l).cloned(),
        Var::Sym(_) => None,
    };
    let mut access = access.clone();
    access.indices.iter_mut().for_each(|index| index.substitute(&with));
    access
}

/// The assignments of a statement, each with its position inside.
fn assignments<'a>(node: &'a Node, path: &mut Vec<TimeStep>, found: &mut Vec<(&'a Stmt, Vec<TimeStep>)>) {
    if let Node::Stmt(stmt) = node {
        found.push((stmt, path.clone()));
        return;
    }
    let depth = path.len();
    if let Node::Loop(l) = node {
        path.push(TimeStep::Loop(l.id));
    }
    for (k, child) in node.bodies().into_iter().flatten().enumerate() {
        path.push(TimeStep::Position(k));
        assignments(child, path, found);
        path.pop();
    }
    path.truncate(depth);
}

/// The loops inside a statement, with whether they run backwards.
fn inner_loops(node: &Node, found: &mut Vec<(LoopId, bool)>) {
    if let Node::Loop(l) = node {
        found.push((l.id, l.step < 0));
    }
    node.bodies().into_iter().flatten().for_each(|n| inner_loops(n, found));
}

impl<'a> Composed<'a> {
    fn new(schedule: &'a Schedule, source: &'a Schedule, instances: &'a Instances, policy: Policy) -> Self {
        let mut judge = Judge::new(schedule, policy);
        let mut performed: BTreeMap<StmtId, Vec<Performed<'a>>> = BTreeMap::new();
        for (s, statement) in schedule.statements.iter().enumerate() {
            let (mut inside, mut loops) = (Vec::new(), Vec::new());
            assignments(&statement.node, &mut Vec::new(), &mut inside);
            inner_loops(&statement.node, &mut loops);
            for (id, reverse) in loops {
                judge.loops.insert(id, LoopFacts { reverse, reductions: None, stores_in_order: false });
            }
            for (stmt, inner) in inside {
                for (index, part) in instances.parts(stmt.id).iter().enumerate() {
                    let own = Performed { s, stmt, inner: inner.clone(), part, index };
                    performed.entry(part.stmt).or_default().push(own);
                }
            }
        }
        Self { judge, source, instances, performed }
    }

    fn statement(&self, performed: &Performed<'_>) -> &'a Statement {
        &self.judge.schedule.statements[performed.s]
    }

    /// Whether elements of a source array may be stored under another name.
    fn is_elsewhere(&self, array: ArrayId) -> bool {
        let per_iteration = match self.source.program.arrays.get(&array) {
            Some(array) => matches!(array.storage, Storage::Body(_) | Storage::Temp(Some(_))),
            None => true,
        };
        per_iteration
            || self.instances.moved(array).is_some()
            || self.source.privates.iter().any(|p| p.array == array)
    }

    /// Whether the source has no such array.
    fn is_new(&self, array: ArrayId) -> bool {
        let model = &self.source.original.model;
        !model.stmts.iter().flat_map(|stmt| &stmt.accesses).any(|access| access.array == array)
    }

    /// Whether an index of the access reads such an array.
    fn is_found_elsewhere(&self, access: &Access) -> bool {
        let reads = access.indices.iter().flat_map(Expr::reads);
        reads.into_iter().any(|read| self.is_elsewhere(read.array))
    }

    fn relation(&self, relation: &DependenceRelation) -> Result<bool, Reason> {
        let stmts = &self.source.original.model.stmts;
        let (src, dst) = (&stmts[relation.src.0], &stmts[relation.dst.0]);
        let (a, b) = (&src.accesses[relation.src.1], &dst.accesses[relation.dst.1]);
        let is_inside_an_instance = src.id == dst.id && relation.level == Level::Independent;
        if is_inside_an_instance
            || self.is_elsewhere(a.array)
            || self.is_found_elsewhere(&a.source)
            || self.is_found_elsewhere(&b.source)
        {
            return Ok(false);
        }
        let mut reordered = false;
        for p in self.performed.get(&src.id).into_iter().flatten().filter(|p| self.performs(p, a)) {
            for q in self.performed.get(&dst.id).into_iter().flatten().filter(|q| self.performs(q, b)) {
                let is_taken_over = matches!((p.part.only, q.part.only), (Some(x), Some(y)) if x == y);
                if !(is_taken_over && relation.level == Level::Independent) {
                    reordered |= self.pair(relation, (p, a), (q, b))?;
                }
            }
        }
        Ok(reordered)
    }

    /// Whether the part performs this access. Values that are not used are not read, and where the terms of a sum are
    /// added one by one, each reads its own; [`check_elements`] makes sure that nothing else is read.
    fn performs(&self, p: &Performed<'_>, access: &StmtAccess) -> bool {
        if p.part.only.is_some_and(|only| only.array != access.array) {
            return false;
        }
        if access.role.is_write() {
            return true;
        }
        let read = access.source.affine_indices().map(|_| mapped(&access.source, p.part));
        let is_this = |own: &MemoryAccess| read.as_ref().is_none_or(|read| *read == own.source);
        let mut reads =
            self.statement(p).accesses.iter().filter(|own| own.array == access.array && !own.write);
        reads.any(is_this)
    }

    /// Checks one dependence of the source between two statements of the schedule. `Ok(true)` if it is broken only by
    /// reassociation, which the policy allows.
    fn pair(
        &self,
        relation: &DependenceRelation,
        (p, a): (&Performed<'_>, &StmtAccess),
        (q, b): (&Performed<'_>, &StmtAccess),
    ) -> Result<bool, Reason> {
        let (space, system) = self.joined(relation, p, q)?;
        let targets = self.accumulates(p, a) && self.accumulates(q, b);
        let accumulation =
            p.stmt.update.is_reduction() && same_accumulation(p.stmt.update, q.stmt.update) && targets;
        let conflict = Conflict {
            array: a.array,
            is_float: self.source.program.array(a.array).element.is_float(),
            accumulation: accumulation.then_some(p.stmt.update),
            are_targets: a.role.is_target() && b.role.is_target(),
        };
        let contraction = self.judge.contraction_of(p.s);
        let own = accumulation && (p.s == q.s || contraction.is_some_and(|c| c.statements.contains(&q.s)));
        let mut reordered = false;
        for x in self.times(p, a, own) {
            for y in self.times(q, b, own) {
                let (mut space, mut system) = (space.clone(), system.clone());
                let explain = |system: &System, _: &Space, at: Option<LoopId>| {
                    self.explain(system, (relation, a, b), conflict, at)
                };
                let order = self.judge.ordered((&mut space, &mut system), (&x, &y), conflict, &explain)?;
                let (Order::Decided { reordered: own } | Order::Together { reordered: own }) = order;
                reordered |= own;
                let is_broken = matches!(order, Order::Together { .. })
                    && !self.judge.may_reorder(conflict)
                    && !self.stands_before((p, a, &x), (q, b))
                    && possible(&system);
                if is_broken {
                    return Err(explain(&system, &space, None));
                }
            }
        }
        Ok(reordered)
    }

    /// Whether the first of two accesses in one instance of one statement, at one time, comes first.
    fn stands_before(
        &self,
        (p, a, time): (&Performed<'_>, &StmtAccess, &[TimeStep]),
        (q, b): (&Performed<'_>, &StmtAccess),
    ) -> bool {
        let is_plain = self.judge.contraction_of(p.s).is_none() || time == self.judge.times[p.s];
        // Guards and bounds are still evaluated before what is inside them.
        let is_outside = |access: &StmtAccess| matches!(access.role, Role::Guard | Role::Bound);
        let in_order = p.stmt.id == q.stmt.id && p.index <= q.index;
        p.s == q.s && is_plain && (in_order || is_outside(a) || is_outside(b))
    }

    /// Whether the access is to the target of the statement's accumulation.
    fn accumulates(&self, p: &Performed<'_>, access: &StmtAccess) -> bool {
        access.array == p.stmt.target.array && mapped(&access.source, p.part) == p.stmt.target
    }

    /// The times at which the access may happen.
    fn times(&self, p: &Performed<'_>, access: &StmtAccess, accumulation: bool) -> Vec<Vec<TimeStep>> {
        if self.judge.contraction_of(p.s).is_some() {
            let own = self.statement(p).accesses.iter().enumerate();
            let own = own.filter(|(_, own)| own.array == access.array && own.write == access.role.is_write());
            let mut times: Vec<_> = own.map(|(k, _)| self.judge.time(p.s, k, accumulation)).collect();
            times.dedup();
            if !times.is_empty() {
                return times;
            }
        }
        let mut time = self.judge.times[p.s].clone();
        if !matches!(access.role, Role::Guard | Role::Bound) {
            time.extend(p.inner.iter().cloned());
        }
        vec![time]
    }

    /// The pairs of instances of two statements of the schedule, as instances 0 and 1, that perform a dependence.
    fn joined(
        &self,
        relation: &DependenceRelation,
        p: &Performed<'_>,
        q: &Performed<'_>,
    ) -> Result<(Space, System), Reason> {
        let mut space = Space::default();
        let mut system = System::new(0);
        for c in &self.judge.schedule.program.assumptions {
            space.add(&mut system, 0, c);
        }
        let model = &self.source.original.model;
        let mut forms: Vec<(Vec<(usize, i64)>, i64)> = Vec::new();
        for (instance, stmt, performed) in [(0, relation.src.0, p), (1, relation.dst.0, q)] {
            let statement = self.statement(performed);
            for c in &statement.domain {
                space.add(&mut system, instance, c);
            }
            for c in &performed.part.when {
                let c = Constraint { expr: statement.mapped(&c.expr), relation: c.relation };
                space.add(&mut system, instance, &c);
            }
            for l in &model.stmts[stmt].loops {
                let Some(value) = performed.part.iterators.get(&l.id) else {
                    return Err(Reason::unsupported(format!(
                        "its normal form does not say what {} was",
                        l.id
                    )));
                };
                let value: Affine = statement.mapped(value);
                forms.push((space.terms(instance, &value), value.constant_part()));
            }
        }
        forms.extend(model.symbols.iter().map(|id| (vec![(space.column(0, Var::Sym(*id)), 1)], 0)));
        // Existential variables get ids of loops that no nest has.
        let n_unknown = relation.pairs.system.n_vars().saturating_sub(forms.len());
        let unknown = (1..=n_unknown as u32).map(|k| Var::Loop(LoopId(u32::MAX - k)));
        forms.extend(unknown.map(|var| (vec![(space.column(0, var), 1)], 0)));
        space.fit(&mut system);
        system.extend_substituted(&relation.pairs.system, &forms);
        Ok((space, system))
    }

    fn explain(
        &self,
        system: &System,
        (relation, a, b): (&DependenceRelation, &StmtAccess, &StmtAccess),
        conflict: Conflict,
        at: Option<LoopId>,
    ) -> Reason {
        let how = match (a.role.is_write(), b.role.is_write()) {
            (true, true) => "both write",
            (true, false) => "the first writes what the second reads:",
            _ => "the second overwrites what the first reads:",
        };
        let stmts = &self.source.original.model.stmts;
        let (src, dst) = (stmts[relation.src.0].id, stmts[relation.dst.0].id);
        let name = &self.source.program.array(conflict.array).name;
        let place = match at {
            Some(l) => {
                format!("loop {} of the normal form would reorder them", self.judge.schedule.loop_name(l))
            }
            None => "in the normal form their order would change".to_owned(),
        };
        let text = format!("{src} and {dst} of the source depend on each other ({how} {name}); {place}");
        let kind = match conflict.accumulation {
            _ if feasible(system, Limit::default()) == Feasibility::Unknown => RefusalKind::WorkLimit,
            Some(_) if conflict.is_float && !self.judge.policy.reassociate => {
                RefusalKind::ReassociationNotAllowed { at, array: conflict.array }
            }
            _ => RefusalKind::Dependence { at, array: conflict.array },
        };
        Reason::new(kind, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::Rewrite;
    use oxeye_ir::{Program, SymId};

    const STRICT: Policy = Policy { reassociate: false, finite: false };

    fn program(body: &str) -> Program {
        let text = format!(
            "program f {{
               symbol P0 n: i32
               array A0 a: f64[n] param
               array A1 b: f64[n] param
               array A2 c: f64[n][n] param
               array A3 s: f64 local
               dataflow {{ N0 }}
               nest N0 in f {{ {body} }}
             }}"
        );
        text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"))
    }

    /// The verdict on the claim that `normal` is a form of `source`, with a map that `claim` makes from the identity.
    fn verdict(source: &str, normal: &str, claim: impl FnOnce(&mut Instances)) -> Result<bool, Reason> {
        let (source, normal) = (program(source), program(normal));
        let mut instances = Instances::identity(&normal.nests[0]);
        claim(&mut instances);
        assert!(instances.fits(&normal.nests[0]));
        let source = Schedule::import(&source, &source.nests[0]);
        let normal = Schedule::import_normal(&normal, &normal.nests[0]);
        check_elements(&normal, &source, &instances)?;
        check_source(&normal, &source, &instances, STRICT)
    }

    /// Claims that iterator `l` of statement `s` has this value now.
    fn at(instances: &mut Instances, s: u32, l: u32, value: Affine) {
        instances.substitute(&[StmtId(s)], &|v| (v == Var::Loop(LoopId(l))).then(|| value.clone()));
    }

    #[test]
    fn a_wrongly_reversed_loop_is_refused() {
        let source = "for L0 i: i32 in 1 .. n { S0: a[i] = a[i - 1] }";
        assert!(verdict(source, source, |_| {}).is_ok());
        let shifted = "for L0 i: i32 in 0 .. n - 1 { S0: a[i + 1] = a[i] }";
        assert!(verdict(source, shifted, |m| at(m, 0, 0, Affine::var(LoopId(0)).offset(1))).is_ok());
        // A claim that does not match the accesses.
        let wrong = verdict(source, shifted, |_| {}).expect_err("planted");
        assert!(wrong.text.contains("do not access"), "{wrong}");
        // The right claim for a pass that reversed the loop.
        let reversed = "for L0 i: i32 in 0 .. n - 1 { S0: a[n - i - 1] = a[n - i - 2] }";
        let turned = Affine::var(SymId(0)).add_scaled(&Affine::var(LoopId(0)), -1).offset(-1);
        let wrong = verdict(source, reversed, |m| at(m, 0, 0, turned)).expect_err("planted");
        assert!(matches!(wrong.kind, RefusalKind::Dependence { at: Some(LoopId(0)), .. }), "{wrong}");
    }

    #[test]
    fn a_wrong_distribution_is_refused() {
        let source = "for L0 i: i32 in 1 .. n { S0: a[i] = b[i - 1] S1: b[i] = a[i] }";
        let apart =
            "for L0 i: i32 in 1 .. n { S0: a[i] = b[i - 1] } for L1 i: i32 in 1 .. n { S1: b[i] = a[i] }";
        let swapped = "for L0 i: i32 in 1 .. n { S1: b[i] = a[i] S0: a[i] = b[i - 1] }";
        let own = |m: &mut Instances| m.claim(StmtId(1), LoopId(0), Affine::var(LoopId(1)));
        assert!(verdict(source, apart, own).is_err_and(|e| e.text.contains("S1 and S0")));
        let wrong = verdict(source, swapped, |_| {}).expect_err("planted");
        assert!(matches!(wrong.kind, RefusalKind::Dependence { at: None, .. }), "{wrong}");
        let independent = "for L0 i: i32 in 1 .. n { S0: a[i] = 1.0 S1: b[i] = a[i] }";
        let apart = "for L0 i: i32 in 1 .. n { S0: a[i] = 1.0 } for L1 i: i32 in 1 .. n { S1: b[i] = a[i] }";
        assert!(verdict(independent, apart, own).is_ok());
    }

    #[test]
    fn what_is_missing_must_have_been_left_out() {
        let source = "for L0 i: i32 in 0 .. n { S0: a[i] = 1.0 S1: b[i] = 2.0 }";
        let without = "for L0 i: i32 in 0 .. n { S0: a[i] = 1.0 }";
        assert!(verdict(source, without, |_| {}).is_err_and(|e| e.text.contains("S1")));
        let mut instances = Instances::identity(&program(source).nests[0]);
        instances.drop(StmtId(1), Rewrite::DeadStore);
        assert!(verdict(source, without, |m| *m = instances).is_ok());
    }

    #[test]
    fn sums_in_another_order_are_refused() {
        let source = "for L0 i: i32 in 0 .. n { for L1 j: i32 in 0 .. n { S0: s += c[i][j] } }";
        let interchanged = "for L1 j: i32 in 0 .. n { for L0 i: i32 in 0 .. n { S0: s += c[i][j] } }";
        let wrong = verdict(source, interchanged, |_| {}).expect_err("planted");
        assert!(matches!(wrong.kind, RefusalKind::ReassociationNotAllowed { .. }), "{wrong}");
    }
}
