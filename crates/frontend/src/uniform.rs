//! Thread-private variables of a team, and whether they have the same value in all threads.
//!
//! The threads of a team run the same statements. A variable has the same value in all of them if every value assigned
//! to it is computed from such values, and all threads make the assignment: not in a loop they share, under `omp
//! single`, or under a condition that differs between threads. Shared memory is the same for all threads when they
//! reach a statement together, unless they all write it there, one after the other under some lock.

use crate::ast::*;
use crate::context::{Context, Team};
use crate::lexer::tokens;
use oxeye_binding::Step;
use oxeye_ir::{BinaryOp, MathFn};
use std::collections::{HashMap, HashSet};

/// Variables that may differ between threads at some place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Differing {
    vars: HashSet<VarId>,
    /// Whether any thread-private variable may: the control flow is not followed.
    is_all: bool,
}

impl Differing {
    /// Whether a thread-private variable may differ.
    pub(crate) fn has(&self, file: &File, var: VarId) -> bool {
        self.is_all || self.vars.contains(&file.root(var))
    }
}

/// Results for the teams of a file.
#[derive(Debug, Default)]
pub(crate) struct Uniformity<'a> {
    /// By function and start of the region; `None` while it is being computed.
    known: HashMap<(usize, Option<usize>), Option<Scope<'a>>>,
}

impl<'a> Uniformity<'a> {
    /// What may differ between the threads of a team where they reach a loop that they share.
    pub(crate) fn at(&mut self, cx: &Context<'a>, team: Team<'a>, s: &Stmt) -> Differing {
        let mut search = Search { cx, known: std::mem::take(&mut self.known) };
        let scope = search.scope(cx.position, team.region);
        self.known = search.known;
        let found = scope.and_then(|scope| {
            let vars = scope.at_loops.get(&s.range.start)?;
            Some(Differing { vars: vars.union(&scope.always).copied().collect(), is_all: scope.is_all })
        });
        found.unwrap_or(Differing { is_all: true, ..Differing::default() })
    }
}

impl<'a> Context<'a> {
    /// Whether every thread of a team has its own copy of a variable.
    pub(crate) fn is_of_thread(&self, position: usize, team: Team<'_>, var: VarId) -> bool {
        let variable = self.file.var(self.file.root(var));
        let is_private = || {
            let clauses = team.region.into_iter().flat_map(|region| self.constructs(region));
            let mut names = clauses.flat_map(|c| c.private.iter().chain(&c.firstprivate));
            names.any(|name| *name == variable.name)
        };
        match (variable.kind, team.region) {
            (VarKind::Global { .. } | VarKind::Local { is_static: true }, _) => {
                is_private() || self.directives.is_threadprivate(&variable.name)
            }
            _ if variable.function != Some(position) => true,
            (_, Some(region)) => region.range.contains(variable.range) || is_private(),
            (_, None) => true,
        }
    }
}

/// The expressions in the extents of a type.
pub(crate) fn extents(ty: &Type) -> Vec<&Expr> {
    match ty {
        Type::Array { of, len, .. } => len.iter().map(|e| &**e).chain(extents(of)).collect(),
        Type::Pointer { to, .. } => extents(to),
        _ => Vec::new(),
    }
}

/// A function as run by a team, or the statement under `omp parallel` in it.
#[derive(Clone, Debug, Default)]
struct Scope<'a> {
    /// What may differ at a shared loop, or one around it, by the loop's start.
    at_loops: HashMap<usize, HashSet<VarId>>,
    /// What may differ at any time: variables whose address is taken, and shared memory that all threads write.
    always: HashSet<VarId>,
    /// Whether some control flow is not followed.
    is_all: bool,
    /// Calls of functions by name, and which of the arguments differ.
    calls: Vec<(&'a str, Vec<bool>)>,
}

struct Search<'c, 'a> {
    cx: &'c Context<'a>,
    known: HashMap<(usize, Option<usize>), Option<Scope<'a>>>,
}

impl<'a> Search<'_, 'a> {
    /// `None` if the query leads back to itself.
    fn scope(&mut self, position: usize, region: Option<&'a Stmt>) -> Option<Scope<'a>> {
        let key = (position, region.map(|r| r.range.start));
        if let Some(found) = self.known.get(&key) {
            return found.clone();
        }
        self.known.insert(key, None);
        let function = &self.cx.file.functions[position];
        let mut params = HashSet::new();
        if region.is_none() {
            let differ = self.parameters(position);
            params
                .extend(function.params.iter().zip(differ).filter(|(_, differs)| *differs).map(|(p, _)| *p));
        }
        let mut walk = Walk {
            cx: self.cx,
            position,
            team: Team { region },
            found: Scope::default(),
            state: HashSet::new(),
            loops: Vec::new(),
            n_teams_inside: 0,
        };
        let root = region.unwrap_or(&function.body);
        let is_uneven = region.is_some_and(|region| self.cx.constructs(region).any(|c| c.is_shared));
        // What differs at any time is complete when nothing is added.
        loop {
            let before = (walk.found.always.len(), walk.found.is_all);
            walk.found.at_loops.clear();
            walk.found.calls.clear();
            walk.state.clone_from(&params);
            walk.inside(root, is_uneven);
            if before == (walk.found.always.len(), walk.found.is_all) {
                break;
            }
        }
        let found = walk.found;
        self.known.insert(key, Some(found.clone()));
        Some(found)
    }

    /// Which parameters of a function may differ between the threads that call it.
    fn parameters(&mut self, position: usize) -> Vec<bool> {
        let file = self.cx.file;
        let function = &file.functions[position];
        let mut differ = vec![false; function.params.len()];
        if !function.is_static || self.is_called_unseen(function) {
            differ.fill(true);
            return differ;
        }
        for (position, caller) in file.functions.iter().enumerate() {
            let mut regions: Vec<Option<&'a Stmt>> = Vec::new();
            // Only one thread ever runs `main` itself.
            regions.extend((caller.name != "main").then_some(None));
            caller.body.walk(&mut |s| {
                let is_region = self.cx.constructs(s).any(|c| c.is_parallel);
                regions.extend(is_region.then_some(Some(s)));
            });
            let mut has_calls = false;
            caller.body.walk_exprs(&mut |e| {
                has_calls |= matches!(&e.kind, ExprKind::Name(n) if *n == function.name)
            });
            for region in regions.into_iter().filter(|_| has_calls) {
                let Some(scope) = self.scope(position, region) else {
                    differ.fill(true);
                    return differ;
                };
                for (_, args) in scope.calls.iter().filter(|(name, _)| *name == function.name) {
                    for (k, differs) in differ.iter_mut().enumerate() {
                        *differs |= args.get(k).copied().unwrap_or(true);
                    }
                }
            }
        }
        differ
    }

    /// Whether a function may be called from code that is not read, or through a pointer.
    fn is_called_unseen(&self, function: &Function) -> bool {
        let file = self.cx.file;
        let text = &self.cx.preprocessed.text;
        let is_named = |range: Range| {
            text.get(range.start..range.end).is_some_and(|t| tokens(t).iter().any(|t| t.is(&function.name)))
        };
        let mut is_unseen = file.problems.iter().any(|(_, range)| is_named(*range));
        let (mut n_names, mut n_calls) = (0usize, 0usize);
        let mut look = |e: &Expr| {
            e.walk(&mut |e| match &e.kind {
                ExprKind::Name(name) => n_names += usize::from(*name == function.name),
                ExprKind::Call(callee, _) => {
                    n_calls += usize::from(matches!(&callee.kind, ExprKind::Name(n) if *n == function.name));
                }
                ExprKind::Unknown(..) => is_unseen |= is_named(e.range),
                _ => {}
            });
        };
        file.global_inits.iter().for_each(|(_, e)| look(e));
        for f in &file.functions {
            f.body.walk(&mut |s| {
                s.exprs().into_iter().for_each(&mut look);
            });
        }
        for f in &file.functions {
            is_unseen |= f.problem.is_some() && is_named(f.range);
            f.body.walk(&mut |s| {
                is_unseen |=
                    matches!(&s.kind, StmtKind::Unknown(_, inside) if inside.is_empty()) && is_named(s.range);
            });
        }
        is_unseen || n_names != n_calls
    }
}

/// A loop around the current statement.
#[derive(Debug)]
struct Around {
    /// Whether all threads run it, and equally often.
    is_even: bool,
    /// What may differ where it is left from inside, or its next iteration starts.
    at_exit: HashSet<VarId>,
}

/// One pass over the code that a team runs.
struct Walk<'c, 'a> {
    cx: &'c Context<'a>,
    position: usize,
    team: Team<'a>,
    found: Scope<'a>,
    /// The thread-private variables that may differ at the current statement.
    state: HashSet<VarId>,
    loops: Vec<Around>,
    /// Number of teams inside this one.
    n_teams_inside: usize,
}

impl<'a> Walk<'_, 'a> {
    fn is_own(&self, var: VarId) -> bool {
        self.cx.is_of_thread(self.position, self.team, var)
    }

    fn differs(&self, var: VarId) -> bool {
        let file = self.cx.file;
        let root = file.root(var);
        let is_volatile = file.var(var).ty.as_scalar().is_some_and(|s| s.is_volatile);
        let is_known = self.found.always.contains(&root) || self.state.contains(&root);
        is_volatile
            || is_known
            || (self.found.is_all && self.is_own(var))
            || self.cx.directives.is_threadprivate(&file.var(root).name)
    }

    /// A statement; `is_uneven` if not all threads run it, or not equally often.
    fn stmt(&mut self, s: &'a Stmt, is_uneven: bool) {
        let makes_team = self.cx.constructs(s).any(|c| c.is_parallel);
        let is_shared = self.cx.constructs(s).any(|c| c.is_shared);
        let is_kept = self.cx.kept_above(s).is_some();
        // What is asked of loops that the team divides, and of those around them.
        let is_asked = is_shared || matches!(s.kind, StmtKind::For(_)) && self.cx.shares_outer_team(s);
        if is_asked && !makes_team && self.n_teams_inside == 0 {
            let state = self.state.iter().copied();
            self.found.at_loops.entry(s.range.start).or_default().extend(state);
        }
        self.n_teams_inside += usize::from(makes_team);
        self.inside(s, is_uneven || makes_team || is_shared || is_kept);
        self.n_teams_inside -= usize::from(makes_team);
    }

    fn inside(&mut self, s: &'a Stmt, is_uneven: bool) {
        match &s.kind {
            StmtKind::Empty => {}
            StmtKind::Block(body) => body.iter().for_each(|s| self.stmt(s, is_uneven)),
            StmtKind::Expr(e) => self.expr(e, is_uneven),
            StmtKind::Declare(declared) => {
                for d in declared {
                    let Some(init) = &d.init else { continue };
                    let is_list = self.is_list_of_numbers(init);
                    if !is_list {
                        self.expr(init, is_uneven);
                    }
                    let differs = is_uneven || !(is_list || self.is_uniform(init));
                    self.set(d.var, differs);
                }
            }
            StmtKind::If { condition, then, otherwise } => {
                self.expr(condition, is_uneven);
                let is_uneven = is_uneven || !self.is_uniform(condition);
                let before = self.state.clone();
                self.stmt(then, is_uneven);
                let after = std::mem::replace(&mut self.state, before);
                otherwise.iter().for_each(|s| self.stmt(s, is_uneven));
                self.state.extend(after);
            }
            StmtKind::For(f) => {
                f.init.iter().for_each(|s| self.stmt(s, is_uneven));
                self.repeated(f.condition.as_ref(), &f.body, f.step.as_ref(), is_uneven);
            }
            StmtKind::While { condition, body } => self.repeated(Some(condition), body, None, is_uneven),
            StmtKind::DoWhile { body, condition } => self.repeated(None, body, Some(condition), is_uneven),
            StmtKind::Break | StmtKind::Continue => {
                let state = self.state.iter().copied();
                if let Some(around) = self.loops.last_mut() {
                    around.at_exit.extend(state);
                    // Some threads leave a loop in which others stay.
                    self.found.is_all |= is_uneven && around.is_even;
                }
            }
            StmtKind::Return(e) => {
                e.iter().for_each(|e| self.expr(e, is_uneven));
                self.found.is_all |= is_uneven;
            }
            StmtKind::Unknown(_, inside) if !inside.is_empty() => {
                // `switch` and its contents, its value first.
                let value = match &inside[0].kind {
                    StmtKind::Expr(e) => self.is_uniform(e),
                    _ => true,
                };
                for s in inside {
                    let before = self.state.clone();
                    self.stmt(s, is_uneven || !value);
                    self.state.extend(before);
                }
            }
            StmtKind::Goto(_) | StmtKind::Label(..) | StmtKind::Unknown(..) => self.found.is_all = true,
        }
    }

    /// A loop. A test after an iteration, as in `do`, takes the place of the step.
    fn repeated(
        &mut self,
        condition: Option<&'a Expr>,
        body: &'a Stmt,
        step: Option<&'a Expr>,
        is_uneven: bool,
    ) {
        loop {
            let head = self.state.clone();
            condition.iter().for_each(|e| self.expr(e, is_uneven));
            let decides = condition.or(step);
            let is_uneven = is_uneven || decides.is_some_and(|e| !self.is_uniform(e));
            self.loops.push(Around { is_even: !is_uneven, at_exit: HashSet::new() });
            self.stmt(body, is_uneven);
            let around = self.loops.pop();
            self.state.extend(around.into_iter().flat_map(|a| a.at_exit));
            step.iter().for_each(|e| self.expr(e, is_uneven));
            // It may be left before or after anything in it, or not run.
            self.state.extend(&head);
            if self.state == head {
                return;
            }
        }
    }

    /// Assigns a value to a thread-private variable.
    fn set(&mut self, var: VarId, differs: bool) {
        if differs {
            self.state.insert(var);
        } else {
            self.state.remove(&var);
        }
    }

    /// Whether an initialiser is a braced list in which nothing is computed.
    fn is_list_of_numbers(&self, e: &Expr) -> bool {
        let text = self.cx.preprocessed.text.get(e.range.start..e.range.end).unwrap_or_default();
        let mut has_names = false;
        e.walk(&mut |e| has_names |= matches!(e.kind, ExprKind::Var(_) | ExprKind::Name(_)));
        text.starts_with('{') && !has_names && !text.contains('(')
    }

    /// The effects of evaluating an expression on variables.
    fn expr(&mut self, e: &'a Expr, is_uneven: bool) {
        match &e.kind {
            ExprKind::Assign(op, target, value) => {
                self.expr(value, is_uneven);
                self.place(target, is_uneven);
                let has_old = op.is_some() && !self.is_uniform(target);
                let differs = is_uneven || has_old || !self.is_uniform(value);
                self.assigned(target, differs, is_uneven);
            }
            ExprKind::Step { target, .. } => {
                self.place(target, is_uneven);
                let differs = is_uneven || !self.is_uniform(target);
                self.assigned(target, differs, is_uneven);
            }
            ExprKind::AddressOf(inner) => {
                self.place(inner, is_uneven);
                // Other code may write it.
                self.escapes(inner);
            }
            ExprKind::Var(v) if self.is_own_array(*v) => self.escapes(e),
            ExprKind::Index(..) => {
                self.place(e, is_uneven);
                // Part of an array, passed on as a pointer.
                if matches!(self.cx.file.type_of(e), Some(Type::Array { .. })) {
                    self.escapes(e);
                }
            }
            ExprKind::Select(condition, a, b) => {
                self.expr(condition, is_uneven);
                let is_uneven = is_uneven || !self.is_uniform(condition);
                let before = self.state.clone();
                self.expr(a, is_uneven);
                self.state.extend(&before);
                self.expr(b, is_uneven);
                self.state.extend(before);
            }
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, l, r) => {
                self.expr(l, is_uneven);
                let is_uneven = is_uneven || !self.is_uniform(l);
                let before = self.state.clone();
                self.expr(r, is_uneven);
                self.state.extend(before);
            }
            ExprKind::Unknown(..) => {
                let (cx, found) = (self.cx, &mut self.found.always);
                e.walk(&mut |e| {
                    if let ExprKind::Var(v) = e.kind {
                        found.insert(cx.file.root(v));
                    }
                });
            }
            ExprKind::Call(callee, args) => {
                args.iter().for_each(|e| self.expr(e, is_uneven));
                if let (ExprKind::Name(name), 0) = (&callee.kind, self.n_teams_inside) {
                    let differ = args.iter().map(|e| is_uneven || !self.is_uniform(e)).collect();
                    self.found.calls.push((name, differ));
                }
            }
            ExprKind::SizeofExpr(_) => {}
            _ => e.children().into_iter().for_each(|e| self.expr(e, is_uneven)),
        }
    }

    /// The subscripts of an lvalue, and pointers that lead to it.
    fn place(&mut self, e: &'a Expr, is_uneven: bool) {
        match &e.kind {
            ExprKind::Var(_) => {}
            ExprKind::Index(base, index) => {
                self.place(base, is_uneven);
                self.expr(index, is_uneven);
            }
            ExprKind::Member(inner, _) | ExprKind::Cast(_, inner) => self.place(inner, is_uneven),
            ExprKind::Deref(inner) if inner.as_var().is_some() => {}
            _ => self.expr(e, is_uneven),
        }
    }

    /// Whether a variable, or a member of one, is an array in a thread's own memory.
    fn is_own_array(&self, var: VarId) -> bool {
        let file = self.cx.file;
        let is_followed = file.var(var).member.as_ref().is_some_and(|m| m.steps.contains(&Step::Follow));
        let root = file.var(file.root(var));
        let is_held = match root.ty {
            Type::Array { .. } => !matches!(root.kind, VarKind::Param(_)),
            Type::Struct(_) => true,
            _ => false,
        };
        is_held && !is_followed && matches!(file.var(var).ty, Type::Array { .. }) && self.is_own(var)
    }

    /// The variable whose own memory contains an lvalue; `Err` of the variable if it is behind a pointer.
    fn holder(&self, e: &Expr) -> Result<VarId, Option<VarId>> {
        let file = self.cx.file;
        let led = |e: &Expr| Err(self.holder(e).map_or_else(|v| v, Some));
        match &e.kind {
            ExprKind::Var(v) => match &file.var(*v).member {
                Some(m) if m.steps.contains(&Step::Follow) => Err(Some(m.root)),
                Some(m) if !matches!(file.var(m.root).ty, Type::Struct(_)) && !self.is_own_array(m.root) => {
                    Err(Some(m.root))
                }
                Some(m) => Ok(m.root),
                None => Ok(*v),
            },
            ExprKind::Index(base, _) => match file.type_of(base) {
                Some(Type::Array { .. }) => match base.as_var() {
                    Some(v) if matches!(file.var(v).kind, VarKind::Param(_)) => Err(Some(v)),
                    _ => self.holder(base),
                },
                _ => led(base),
            },
            ExprKind::Member(inner, _) => self.holder(inner),
            ExprKind::Deref(inner) | ExprKind::Cast(_, inner) => led(inner),
            ExprKind::Binary(_, l, r) => match self.holder(l) {
                Ok(v) | Err(Some(v)) => Err(Some(v)),
                Err(None) => led(r),
            },
            _ => Err(None),
        }
    }

    fn assigned(&mut self, target: &'a Expr, differs: bool, is_uneven: bool) {
        match self.holder(target) {
            Ok(v) if self.is_own(v) => {
                if target.as_var() == Some(v) {
                    self.set(v, differs);
                } else if differs || !self.has_uniform_subscripts(target) {
                    self.state.insert(v);
                }
            }
            // A write of all threads to shared memory is under a lock, and has a different value each time.
            Ok(v) | Err(Some(v)) => {
                if !is_uneven {
                    self.found.always.insert(v);
                }
            }
            Err(None) => self.found.is_all |= !is_uneven,
        }
    }

    /// Marks the variable that contains a place as changed by other code.
    fn escapes(&mut self, place: &Expr) {
        if let Ok(v) = self.holder(place)
            && self.is_own(v)
        {
            self.found.always.insert(v);
        }
    }

    fn has_uniform_subscripts(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Index(base, index) => self.is_uniform(index) && self.has_uniform_subscripts(base),
            ExprKind::Member(inner, _) => self.has_uniform_subscripts(inner),
            _ => true,
        }
    }

    /// Whether all threads that evaluate an expression together get the same value.
    fn is_uniform(&self, e: &Expr) -> bool {
        let all = |walk: &Self| e.children().into_iter().all(|e| walk.is_uniform(e));
        match &e.kind {
            ExprKind::Int(..) | ExprKind::Float(..) | ExprKind::Name(_) | ExprKind::SizeofType(_) => true,
            ExprKind::SizeofExpr(_) => true,
            ExprKind::Var(v) => !self.differs(*v) && !self.is_own_array(*v),
            ExprKind::Index(base, index) => self.is_uniform(index) && self.is_uniform_base(base),
            ExprKind::Member(inner, _) => self.is_uniform_base(inner),
            ExprKind::AddressOf(inner) => match self.holder(inner) {
                Ok(v) => !self.is_own(v) && self.has_uniform_subscripts(inner),
                Err(_) => inner.children().into_iter().all(|e| self.is_uniform_base(e)),
            },
            ExprKind::Step { target, .. } => self.is_uniform(target),
            ExprKind::Assign(None, _, value) => self.is_uniform(value),
            ExprKind::Call(callee, args) => {
                const SAME: &[&str] = &["omp_get_num_threads", "omp_get_max_threads", "omp_get_num_procs"];
                let is_same = matches!(&callee.kind, ExprKind::Name(n)
                    if self.cx.file.function(n).is_none() && (MathFn::from_c_name(n).is_some() || SAME.contains(&n.as_str())));
                is_same && args.iter().all(|e| self.is_uniform(e))
            }
            ExprKind::Unknown(..) => false,
            _ => all(self),
        }
    }

    /// The same for the base of a subscript or member: a thread's own array has another address in each thread, with
    /// the same contents.
    fn is_uniform_base(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Var(v) => !self.differs(*v),
            ExprKind::Index(base, index) => self.is_uniform(index) && self.is_uniform_base(base),
            ExprKind::Member(inner, _) => self.is_uniform_base(inner),
            _ => self.is_uniform(e),
        }
    }
}
