//! Whether a loop under OpenMP directives may be read as the plain loop.

use crate::ast::{Expr, ExprKind, Function, Range, Stmt, StmtKind, Type, VarId, VarKind};
use crate::context::{Context, Team};
use crate::directives::{Construct, Directive, Pragma};
use crate::flow::{is_address_taken, is_live_after, is_live_before};
use crate::lower::header;
use crate::refusal::{Lowered, Refusal};
use crate::scan::Scan;
use crate::uniform::{Differing, extents};
use std::collections::BTreeSet;

impl<'a> Context<'a> {
    /// The pragmas that belong to a statement.
    pub(crate) fn above(&self, s: &Stmt) -> impl Iterator<Item = &'a Pragma> + use<'a> {
        self.directives.above(&self.preprocessed.text, s.range.start)
    }

    /// The OpenMP constructs that a statement is under.
    pub(crate) fn constructs(&self, s: &Stmt) -> impl Iterator<Item = &'a Construct> + use<'a> {
        self.above(s).filter_map(|p| match &p.directive {
            Directive::Construct(c) => Some(c),
            _ => None,
        })
    }

    /// Whether OpenMP runs the function, or one of these that it calls, in another way than without.
    pub(crate) fn is_under_directives(&self, called: &[String]) -> bool {
        let called = called.iter().filter_map(|name| self.file.function(name)).map(|(_, function)| function);
        std::iter::once(self.function)
            .chain(called)
            .any(|function| self.directives.has_openmp(function.range))
    }

    /// A directive above the statement that cannot be replaced together with it.
    pub(crate) fn kept_above(&self, s: &Stmt) -> Option<Box<Refusal>> {
        let pragma = self.above(s).find(|p| p.directive == Directive::Kept)?;
        let (what, length) = if matches!(s.kind, StmtKind::For(_)) { ("loop", 3) } else { ("code", 1) };
        let place = Range { start: s.range.start, end: s.range.start + length };
        Some(kept(pragma, &format!("stands before the {what}"), place))
    }

    /// Refuses a statement of `function` whose meaning differs between one and several threads. Barriers between loops
    /// that a team runs together mean nothing to one thread.
    pub(crate) fn check_pragmas(&self, function: &Function, s: &Stmt, is_together: bool) -> Lowered<()> {
        let head = Range { start: s.range.start, end: s.range.start + 3 };
        if let Some(refusal) = self.kept_above(s) {
            return Err(refusal);
        }
        for pragma in self.directives.inside(s.range) {
            let is_barrier = pragma.text == "omp barrier";
            if matches!(pragma.directive, Directive::Kept | Directive::Alone) && !(is_together && is_barrier)
            {
                return Err(kept(pragma, "is inside the loop", head));
            }
        }
        let mut result = Ok(());
        s.walk(&mut |inner| {
            if result.is_ok() {
                result = self.constructs(inner).try_for_each(|c| self.check_construct(function, inner, c));
            }
        });
        result
    }

    fn check_construct(&self, function: &Function, s: &Stmt, construct: &Construct) -> Lowered<()> {
        let head = Range { start: s.range.start, end: s.range.start + 1 };
        if let Some(clause) = &construct.unknown_clause {
            return Err(Refusal::new(
                head,
                format!("the clause `{clause}` of a directive is not understood"),
            ));
        }
        let scan = Scan::of(self.file, s);
        let written = |name: &String| {
            let mut found: Vec<VarId> = scan.written.iter().chain(&scan.stored).copied().collect();
            found.retain(|v| self.file.var(*v).name == *name && !scan.declared.contains(v));
            found.into_iter().min()
        };
        for name in &construct.firstprivate {
            if written(name).is_some() {
                let message =
                    format!("`{name}` is `firstprivate` and changed, so its value differs between threads");
                return Err(Refusal::new(head, message));
            }
        }
        for name in &construct.private {
            if let Some(var) = written(name)
                && is_live_after(self.file, function, s.range, var)
            {
                let message = format!(
                    "`{name}` is `private`, and its value after the loop, which depends on OpenMP, may be used later"
                );
                return Err(Refusal::new(head, message).help("use another variable afterwards"));
            }
        }
        Ok(())
    }

    /// Whether loops inside a statement are divided among a team of threads that is created outside of it.
    pub(crate) fn shares_outer_team(&self, s: &Stmt) -> bool {
        s.children().into_iter().any(|inner| {
            let is_parallel = self.constructs(inner).any(|c| c.is_parallel);
            let is_shared = self.constructs(inner).any(|c| c.is_shared);
            !is_parallel && (is_shared || self.shares_outer_team(inner))
        })
    }

    /// Whether a team runs a loop together: each of its threads runs it, and directives inside divide all of its work
    /// among them. Outside of these are only loops, conditions, and variables that each thread has of its own.
    pub(crate) fn is_run_together(&self, s: &Stmt, team: Team<'_>) -> bool {
        let mut together = Together { cx: self, team, shared: Vec::new(), used: BTreeSet::new() };
        let is_loop = matches!(s.kind, StmtKind::For(_));
        let is_plain = self.constructs(s).all(|c| c.is_parallel && !c.is_shared && !c.is_simd);
        let is_it = is_loop && is_plain && together.is_undivided(s) && !together.shared.is_empty();
        // What an iteration leaves in a thread's own variable nobody else has.
        is_it
            && together.shared.iter().all(|shared| {
                let scan = Scan::of(self.file, shared);
                scan.written.iter().chain(&scan.iterators).all(|var| {
                    let is_own = self.is_of_thread(self.position, team, *var) && !scan.declared.contains(var);
                    !is_own
                        || shared.range.contains(self.file.var(*var).range)
                        || !together.used.contains(var) && self.is_set_before_use(shared, *var)
                })
            })
    }

    /// Refuses a loop shared by a team if it leaves values in thread-private variables.
    pub(crate) fn check_team(&self, s: &Stmt, team: Team<'_>) -> Lowered<()> {
        let scan = Scan::of(self.file, s);
        let shared: BTreeSet<&str> = self
            .constructs(s)
            .flat_map(|c| c.private.iter().chain(&c.firstprivate))
            .map(String::as_str)
            .collect();
        let written: BTreeSet<VarId> = scan.written.iter().chain(&scan.iterators).copied().collect();
        for var in written {
            let variable = self.file.var(var);
            if self.is_of_thread(self.position, team, var)
                && !scan.declared.contains(&var)
                && !shared.contains(variable.name.as_str())
                && is_live_after(self.file, self.function, s.range, var)
            {
                let head = Range { start: s.range.start, end: s.range.start + 3 };
                let name = &variable.name;
                let message = format!("each thread has its own `{name}`, which is used after the loop");
                return Err(Refusal::new(head, message).help("use a `reduction` clause where it fits"));
            }
        }
        Ok(())
    }

    /// Refuses a loop shared by a team if it reads a thread-private variable whose value may differ between threads.
    pub(crate) fn check_uniform(&self, s: &Stmt, team: Team<'_>, differing: &Differing) -> Lowered<()> {
        let scan = Scan::of(self.file, s);
        let is_changed = |v: &VarId| scan.written.contains(v) || scan.iterators.contains(v);
        let mut found: BTreeSet<VarId> = BTreeSet::new();
        s.walk_exprs(&mut |e| {
            if let ExprKind::Var(v) = e.kind {
                let of_type = extents(&self.file.var(v).ty);
                found.insert(v);
                of_type.into_iter().for_each(|e| {
                    e.walk(&mut |e| found.extend(e.as_var()));
                });
            }
        });
        let of_thread = |v: &VarId| self.is_of_thread(self.position, team, *v);
        let is_outer = |v: &VarId| !scan.declared.contains(v) && !s.range.contains(self.file.var(*v).range);
        found.retain(|v| !is_changed(v) && is_outer(v) && of_thread(v));
        if let Some(var) = found.into_iter().find(|v| differing.has(self.file, *v)) {
            let name = &self.file.var(var).name;
            let head = Range { start: s.range.start, end: s.range.start + 3 };
            let message = format!("the threads that share the loop may have different values of `{name}`");
            let refusal = Refusal::new(head, message);
            let is_called_from_elsewhere =
                matches!(self.file.var(self.file.root(var)).kind, VarKind::Param(_))
                    && !self.function.is_static;
            return Err(match is_called_from_elsewhere {
                true => refusal
                    .help(format!("declare `{}` static, so that all its calls are seen", self.function.name)),
                false => refusal,
            });
        }
        Ok(())
    }

    /// Refuses a loop shared by a team if its threads may wait for each other by means other than directives: the nest
    /// that replaces it has barriers that the loop does not have.
    pub(crate) fn check_waiting(&self, s: &Stmt, team: Team<'_>) -> Lowered<()> {
        let mut seen = BTreeSet::new();
        let found = match team.region {
            Some(region) => self.waits_by(region, &mut seen),
            // Any caller of the function may wait.
            None => self.file.functions.iter().find_map(|f| self.waits_by(&f.body, &mut seen)),
        };
        let Some(what) = found else { return Ok(()) };
        let head = Range { start: s.range.start, end: s.range.start + 3 };
        Err(Refusal::new(
            head,
            format!("the threads that share the loop may wait for each other by `{what}`"),
        )
        .help("use `#pragma omp barrier` where all of them may wait"))
    }

    /// The construct by which threads may wait for each other in some code, including functions of the file that it
    /// calls.
    fn waits_by(&self, s: &Stmt, seen: &mut BTreeSet<usize>) -> Option<String> {
        const CALLS: &[&str] = &[
            "omp_set_lock",
            "omp_set_nest_lock",
            "omp_test_",
            "__atomic_",
            "__sync_",
            "atomic_",
            "pthread_",
        ];
        let flush = self.directives.inside(s.range).iter().find(|p| p.text.starts_with("omp flush"));
        let mut found = flush.map(|p| format!("#pragma {}", p.text));
        let mut called = BTreeSet::new();
        s.walk_exprs(&mut |e| match &e.kind {
            ExprKind::Var(v) => {
                let variable = self.file.var(*v);
                if matches!(variable.ty.innermost(), Type::Scalar(s) if s.is_volatile) {
                    found.get_or_insert_with(|| variable.name.clone());
                }
            }
            ExprKind::Name(name) => match self.file.function(name) {
                Some((position, _)) => _ = called.insert(position),
                None if CALLS.iter().any(|start| name.starts_with(start)) => {
                    found.get_or_insert_with(|| name.clone());
                }
                None => {}
            },
            _ => {}
        });
        found.or_else(|| {
            called.into_iter().find_map(|position| {
                seen.insert(position).then(|| self.waits_by(&self.file.functions[position].body, seen))?
            })
        })
    }

    /// The variables declared outside of a loop that each thread changes separately while it runs the loop.
    pub(crate) fn changed_by_threads(&self, s: &Stmt, team: Team<'_>) -> BTreeSet<VarId> {
        let scan = Scan::of(self.file, s);
        let mut private: BTreeSet<&str> = BTreeSet::new();
        s.walk(&mut |s| private.extend(self.constructs(s).flat_map(|c| &c.private).map(String::as_str)));
        // A write through a pointer goes elsewhere.
        let is_elsewhere = |v: &&VarId| {
            let variable = self.file.var(**v);
            matches!(variable.ty, Type::Pointer { .. })
                || matches!((&variable.ty, variable.kind), (Type::Array { .. }, VarKind::Param(_)))
        };
        let stored = scan.stored.iter().filter(|v| !is_elsewhere(v));
        let changed = scan.written.iter().chain(&scan.iterators).chain(stored).copied();
        changed
            .filter(|v| {
                let variable = self.file.var(*v);
                let is_outer = variable.function.is_none_or(|f| f == self.position)
                    && !s.range.contains(variable.range)
                    && !scan.declared.contains(v);
                let is_own = self.is_of_thread(self.position, team, *v);
                is_outer && (is_own || private.contains(variable.name.as_str()))
            })
            .collect()
    }

    /// Whether every iteration of a loop shared by threads sets a scalar before it uses it, or the loop counts with it.
    pub(crate) fn is_set_before_use(&self, s: &Stmt, scalar: VarId) -> bool {
        let n_collapsed = self.constructs(s).map(|c| c.n_collapsed).max().unwrap_or(1);
        let ty = &self.file.var(scalar).ty;
        let is_scalar = ty.as_scalar().is_some() || matches!(ty, Type::Pointer { .. });
        let is_set = |(body, counters): (&Stmt, Vec<VarId>)| {
            counters.contains(&scalar) || !is_live_before(body, scalar)
        };
        is_scalar && !is_address_taken(self.function, scalar) && iteration(s, n_collapsed).is_some_and(is_set)
    }
}

/// What stands in a loop that a team runs together, outside of the loops that it divides.
struct Together<'c, 'a, 's> {
    cx: &'c Context<'a>,
    team: Team<'c>,
    /// The loops that the team divides.
    shared: Vec<&'s Stmt>,
    /// The variables that are used outside of them, other than by loops that begin by setting them.
    used: BTreeSet<VarId>,
}

impl<'s> Together<'_, '_, 's> {
    fn stmt(&mut self, s: &'s Stmt) -> bool {
        if self.cx.kept_above(s).is_some() {
            return false;
        }
        let mut constructs = self.cx.constructs(s).peekable();
        if constructs.peek().is_none() {
            return self.is_undivided(s);
        }
        self.shared.push(s);
        matches!(s.kind, StmtKind::For(_)) && constructs.all(|c| c.is_shared && !c.is_parallel)
    }

    fn is_undivided(&mut self, s: &'s Stmt) -> bool {
        match &s.kind {
            StmtKind::Empty => true,
            StmtKind::Block(body) => body.iter().all(|s| self.stmt(s)),
            StmtKind::If { condition, then, otherwise } => {
                self.is_pure(condition)
                    && self.stmt(then)
                    && otherwise.iter().all(|otherwise| self.stmt(otherwise))
            }
            StmtKind::For(f) => {
                let Ok(header) = header(f, s.range) else { return false };
                let before = self.used.contains(&header.var);
                let is_plain = f.init.iter().all(|init| self.is_undivided(init))
                    && f.condition.iter().all(|condition| self.is_pure(condition))
                    && f.step.iter().all(|step| self.is_assignment(step));
                let is_plain = is_plain && self.stmt(&f.body);
                if !before {
                    self.used.remove(&header.var);
                }
                is_plain
            }
            StmtKind::Expr(e) => self.is_assignment(e),
            StmtKind::Declare(declared) => declared.iter().all(|d| {
                let variable = self.cx.file.var(d.var);
                variable.ty.as_scalar().is_some()
                    && self.cx.is_of_thread(self.cx.position, self.team, d.var)
                    && d.init.iter().all(|init| self.is_pure(init))
            }),
            _ => false,
        }
    }

    /// Whether it sets one of a thread's own variables.
    fn is_assignment(&mut self, e: &'s Expr) -> bool {
        let (target, value) = match &e.kind {
            ExprKind::Assign(None, target, value) => (target, Some(value)),
            ExprKind::Assign(Some(_), target, value) if self.is_pure(target) => (target, Some(value)),
            ExprKind::Step { target, .. } if self.is_pure(target) => (target, None),
            _ => return false,
        };
        let is_own =
            target.as_var().is_some_and(|var| self.cx.is_of_thread(self.cx.position, self.team, var));
        is_own && value.is_none_or(|value| self.is_pure(value))
    }

    /// Whether it computes a value and nothing else.
    fn is_pure(&mut self, e: &'s Expr) -> bool {
        let mut is_pure = true;
        let used = &mut self.used;
        e.walk(&mut |e| {
            is_pure &= !matches!(
                e.kind,
                ExprKind::Assign(..)
                    | ExprKind::Step { .. }
                    | ExprKind::Call(..)
                    | ExprKind::Both(..)
                    | ExprKind::Unknown(..)
            );
            used.extend(e.as_var());
        });
        is_pure
    }
}

/// The body and the counters of a loop, or of `n_loops` perfectly nested loops that are collapsed into one; `None` if
/// there are fewer.
fn iteration(s: &Stmt, n_loops: usize) -> Option<(&Stmt, Vec<VarId>)> {
    let (mut s, mut counters) = (s, Vec::new());
    for _ in 0..n_loops.max(1) {
        while let StmtKind::Block(body) = &s.kind {
            let [only] = body.as_slice() else { return None };
            s = only;
        }
        let StmtKind::For(f) = &s.kind else { return None };
        counters.push(header(f, s.range).ok()?.var);
        s = &f.body;
    }
    Some((s, counters))
}

fn kept(pragma: &Pragma, what: &str, place: Range) -> Box<Refusal> {
    let refusal = Refusal::new(place, format!("`#pragma {}` {what}", pragma.text));
    if ["omp atomic", "omp critical"].iter().any(|start| pragma.text.starts_with(start)) {
        return refusal.help("use a `reduction` clause where it fits");
    }
    refusal
}
