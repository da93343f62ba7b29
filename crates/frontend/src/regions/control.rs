//! Control structure around nests.

use super::nests::Whole;
use super::{Piece, Regions, Touched};
use crate::Severity;
use crate::ast::{self, ExprKind, For, Range, Scalar, Stmt, StmtKind, Type, VarId, VarKind};
use crate::chased::chase;
use crate::context::Context;
use crate::context::Team;
use crate::convert::is_over_lanes;
use crate::flow::is_address_taken;
use crate::groups::{Member, called_for_loops, has_loops, runs_on};
use crate::lower::{Lowerer, header};
use crate::prove::Facts;
use crate::refusal::Refusal;
use crate::rotations::rotation_at;
use crate::scan::Scan;
use oxeye_ir::{Affine, Constraint, Expr, NestId, Node, SymId};
use std::collections::{BTreeSet, HashMap};

impl<'a> Regions<'a> {
    pub(super) fn block(&mut self, body: &'a [Stmt], facts: &Facts, out: &mut Vec<Piece>) {
        let mut facts = facts.clone();
        let mut at = 0;
        let mut neighbours = Vec::new();
        while at < body.len() {
            if let Some(rotation) = rotation_at(self.cx.file, &body[at..]) {
                at += rotation.n_statements();
                out.push(Piece::Turn(rotation.pointers));
                self.end_group(&mut neighbours);
            } else {
                let s = &body[at];
                self.stmt(s, &facts, out);
                self.forget(s, &mut facts);
                match self.member(s) {
                    Some(member) => neighbours.push(member),
                    None if !runs_on(s) => self.end_group(&mut neighbours),
                    None => {}
                }
                at += 1;
            }
        }
        self.end_group(&mut neighbours);
    }

    /// What a statement is in a group.
    fn member(&self, s: &Stmt) -> Option<Member> {
        if let Some((id, _)) = self.ranges.iter().find(|(_, range)| **range == s.range) {
            return Some(Member::Nest(*id));
        }
        let function = called_for_loops(self.cx.with_loops, s)?.to_owned();
        let span = self.places.of_statement(s.range, self.cx.above(s))?;
        Some(Member::Call { function, span })
    }

    fn end_group(&mut self, neighbours: &mut Vec<Member>) {
        let neighbours = std::mem::take(neighbours);
        // Threads that are there already would run them one by one.
        let is_of_team = self.cx.is_threaded && self.team.is_some();
        if neighbours.len() > 1 && !is_of_team {
            self.groups.push(neighbours);
        }
    }

    /// Drops facts that no longer hold after a statement.
    pub(super) fn forget(&self, s: &Stmt, facts: &mut Facts) {
        let scan = Scan::of(self.cx.file, s);
        let mut has_calls = false;
        s.walk_exprs(&mut |e| has_calls |= matches!(e.kind, ExprKind::Call(..) | ExprKind::Unknown(..)));
        let changes = |v: &VarId| {
            let is_shared = matches!(
                self.cx.file.var(*v).kind,
                VarKind::Global { .. } | VarKind::Local { is_static: true } | VarKind::Member
            ) || is_address_taken(self.cx.function, *v);
            self.changes(&scan, *v) || ((has_calls || !scan.stored.is_empty()) && is_shared)
        };
        facts.retain(|c| !self.state.symbols.iter().any(|(v, id)| c.expr.uses(*id) && changes(v)));
    }

    /// Whether the scanned code sets a variable by its name, or, for a member, any member or the variable it belongs
    /// to.
    pub(super) fn changes(&self, scan: &Scan, var: VarId) -> bool {
        let file = self.cx.file;
        let is_set = |v: VarId| scan.written.contains(&v) || scan.iterators.contains(&v);
        let is_declared = |v: VarId| scan.declared.contains(&v);
        is_set(var)
            || file.is_member(var)
                && (is_set(file.root(var))
                    || is_declared(file.root(var))
                    || scan.written.iter().any(|v| file.is_member(*v)))
    }

    pub(super) fn stmt(&mut self, s: &'a Stmt, facts: &Facts, out: &mut Vec<Piece>) {
        if s.contains_for()
            && let Some(refusal) = self.cx.kept_above(s)
        {
            self.refused.push((s.range, Severity::Warning, refusal));
            self.opaque(s, "code with directives of its own", out);
            return;
        }
        let is_region =
            self.cx.constructs(s).any(|c| c.is_parallel) && !self.cx.constructs(s).any(|c| c.is_shared);
        let outer = self.team;
        if is_region {
            self.team = Some(Team { region: Some(s) });
        }
        self.stmt_inside(s, facts, out);
        self.team = outer;
    }

    /// Whether the iterations of a loop are divided among an existing team of threads.
    pub(super) fn is_shared_by_team(&self, s: &Stmt) -> bool {
        let mut constructs = self.cx.constructs(s);
        constructs.any(|c| c.is_shared) && !self.cx.constructs(s).any(|c| c.is_parallel)
    }

    pub(super) fn stmt_inside(&mut self, s: &'a Stmt, facts: &Facts, out: &mut Vec<Piece>) {
        match &s.kind {
            StmtKind::Block(body) => {
                if !self.made_block(s, body, facts, out) {
                    self.block(body, facts, out);
                }
            }
            StmtKind::For(f) if f.enters_with.is_none() || self.places.has_statement(s.range) => {
                self.for_stmt(s, f, facts, out)
            }
            StmtKind::If { condition, then, otherwise } if has_loops(self.cx.with_loops, s) => {
                let condition = self.symbolic(condition, facts);
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                let mut inner = facts.clone();
                if let Some(condition) = &condition {
                    inner.push_condition(condition, true);
                }
                self.stmt(then, &inner, &mut yes);
                if let Some(otherwise) = otherwise {
                    let mut inner = facts.clone();
                    if let Some(condition) = &condition {
                        inner.push_condition(condition, false);
                    }
                    self.stmt(otherwise, &inner, &mut no);
                }
                out.push(Piece::Branch { condition, then: yes, otherwise: no });
            }
            StmtKind::For(_) | StmtKind::While { .. } | StmtKind::DoWhile { .. } => {
                let (body, is_do) = match &s.kind {
                    StmtKind::For(f) => (&f.body, f.runs_first),
                    StmtKind::While { body, .. } => (&**body, false),
                    StmtKind::DoWhile { body, .. } => (&**body, true),
                    _ => return,
                };
                if self.is_wanted(s.range) {
                    let word = if is_do { "do" } else { "while" };
                    let message = format!("a `{word}` loop: how often it runs is not known beforehand");
                    let severity = if body.contains_for() { Severity::Note } else { Severity::Warning };
                    let head = Range { start: s.range.start, end: s.range.start + word.len() };
                    let refusal = chase(self.cx.file, s).unwrap_or_else(|| {
                        Refusal::new(head, message).help("write it as a `for` loop if it counts")
                    });
                    self.refuse(s.range, severity, refusal);
                }
                if !has_loops(self.cx.with_loops, body) {
                    self.opaque(s, "a loop that stays as it is", out);
                    return;
                }
                let mut inside = Vec::new();
                self.stmt(body, &Facts::default(), &mut inside);
                out.push(Piece::Loop { var: None, range: None, body: inside });
            }
            StmtKind::Label(_, body) => self.stmt(body, &Facts::default(), out),
            StmtKind::Unknown(what, body) if has_loops(self.cx.with_loops, s) => {
                let mut inside = Vec::new();
                self.block(body, &Facts::default(), &mut inside);
                out.push(Piece::Opaque { reason: format!("{what} around loops"), touched: None });
                out.append(&mut inside);
                out.push(Piece::Opaque { reason: format!("{what} around loops"), touched: None });
            }
            StmtKind::Empty => {}
            _ => self.opaque(s, "not a loop", out),
        }
    }

    /// Makes a nest of a block of loops that a macro expands to, or of a group, or leaves it as it is. Whether it is one.
    fn made_block(&mut self, s: &'a Stmt, body: &'a [Stmt], facts: &Facts, out: &mut Vec<Piece>) -> bool {
        let is_tried = has_loops(self.cx.with_loops, s)
            && self.places.has_statement(s.range)
            && self.is_wanted(s.range)
            && !self.is_opened(s)
            && !self.is_of_every_thread(s);
        if !is_tried {
            return false;
        }
        match self.nest(s, Whole::Block(body), facts) {
            Ok(id) => self.push_nest(id, out),
            Err(refusal) => {
                self.refuse(s.range, Severity::Warning, refusal);
                self.opaque(s, "loops that stay as they are", out);
            }
        }
        true
    }

    fn push_nest(&self, id: NestId, out: &mut Vec<Piece>) {
        out.push(Piece::Nest(id));
        for advance in self.state.binding.advances(id) {
            let moved: BTreeSet<VarId> = self.state.vars.get(&advance.array).into_iter().copied().collect();
            let touched = Some(Touched { reads: moved.clone(), writes: moved });
            out.push(Piece::Opaque { reason: "a pointer leads further".into(), touched });
        }
    }

    /// Code that is left unchanged, unless it accesses no arrays at all.
    pub(super) fn opaque(&mut self, s: &Stmt, reason: &str, out: &mut Vec<Piece>) {
        let touched = touched_by(self.cx, s);
        if touched.as_ref().is_some_and(|t| t.reads.is_empty() && t.writes.is_empty()) {
            return;
        }
        match (out.last_mut(), touched) {
            (Some(Piece::Opaque { touched: before, .. }), touched) => match (before.as_mut(), touched) {
                (Some(before), Some(touched)) => {
                    before.reads.extend(touched.reads);
                    before.writes.extend(touched.writes);
                }
                _ => *before = None,
            },
            (_, touched) => out.push(Piece::Opaque { reason: reason.to_owned(), touched }),
        }
    }

    /// A condition that uses only symbols.
    pub(super) fn symbolic(&mut self, e: &ast::Expr, facts: &Facts) -> Option<Expr> {
        let nothing = Stmt { kind: StmtKind::Empty, range: e.range };
        let mut lowerer = Lowerer::new(self.cx, self.state.clone(), facts, &nothing);
        let value = lowerer.value(e).ok()?;
        if !value.e.reads().is_empty() {
            return None;
        }
        self.state = lowerer.state;
        Some(value.e)
    }

    /// Records why a loop is left unchanged, unless the same was recorded for an enclosing loop.
    pub(super) fn refuse(&mut self, range: Range, severity: Severity, refusal: Box<Refusal>) {
        // A message about a macro holds wherever the macro is used.
        let is_of_macro = refusal.message.starts_with("the macro ");
        let is_known = self
            .refused
            .iter()
            .any(|(_, _, r)| (is_of_macro || r.range == refusal.range) && r.message == refusal.message);
        if !is_known {
            self.refused.push((range, severity, refusal));
        }
    }

    pub(super) fn for_stmt(&mut self, s: &'a Stmt, f: &'a For, facts: &Facts, out: &mut Vec<Piece>) {
        if is_over_lanes(self.cx.file, f) {
            self.opaque(s, "not a loop", out);
            return;
        }
        let is_wanted = self.is_wanted(s.range);
        let is_shared = self.cx.constructs(s).any(|c| c.is_shared);
        let is_around_shared = self.is_of_every_thread(s) && self.shares_loops(&f.body);
        if is_wanted && is_around_shared && !self.is_run_together(s) {
            // Its threads divide the loops inside.
        } else if is_wanted && self.collapsed.contains(&s.range) {
            // What stands in its place would be no loop of the directive's.
            let head = Range { start: s.range.start, end: s.range.start + 3 };
            let refusal = Refusal::new(head, "the `collapse` of a loop around it includes this loop");
            self.refuse(s.range, Severity::Note, refusal);
        } else if is_wanted {
            if !self.is_opened(s) {
                match self.nest(s, Whole::Loop(f), facts) {
                    Ok(id) => {
                        self.push_nest(id, out);
                        return;
                    }
                    Err(refusal) => {
                        let refusal = chase(self.cx.file, s).unwrap_or(refusal);
                        self.refuse(s.range, Severity::Warning, refusal);
                    }
                }
            }
        } else if !self.scops.iter().any(|scop| s.range.contains(*scop)) {
            self.opaque(s, "outside of the marked region", out);
            return;
        }
        if !has_loops(self.cx.with_loops, &f.body) {
            self.opaque(s, "a loop that stays as it is", out);
            return;
        }
        let n_collapsed = self.cx.constructs(s).map(|c| c.n_collapsed).max().unwrap_or(1);
        self.collapsed.extend(directly_inside(f).take(n_collapsed.saturating_sub(1)));
        let at = self.refused.len();
        let (var, range, inner) = self.control(s, f, facts);
        let mut body = Vec::new();
        let n_nests = self.state.program.nests.len();
        let (team, in_lanes) = (self.team, self.in_lanes);
        if is_shared {
            self.team = None;
        }
        self.in_lanes |= self.cx.constructs(s).any(|c| c.is_simd);
        self.stmt(&f.body, &inner, &mut body);
        (self.team, self.in_lanes) = (team, in_lanes);
        // Little is lost with the loop if the loops inside are nests.
        if is_wanted
            && !self.is_opened(s)
            && self.state.program.nests.len() > n_nests
            && self.refused.len() == at
            && let Some((range, severity, _)) = self.refused.last_mut()
            && *range == s.range
        {
            *severity = Severity::Note;
        }
        out.push(Piece::Loop { var, range, body });
    }

    /// Whether each thread of the team around a loop runs all of its iterations.
    pub(super) fn is_of_every_thread(&self, s: &Stmt) -> bool {
        self.cx.is_threaded && self.team.is_some() && !self.cx.constructs(s).any(|c| c.is_shared)
    }

    /// Whether the team around a loop, or the one that is made for it, runs it together.
    pub(super) fn is_run_together(&self, s: &Stmt) -> bool {
        self.cx.is_threaded && self.cx.is_run_together(s, self.team.unwrap_or(Team { region: None }))
    }

    /// Whether a loop shall be control around the nests inside it.
    fn is_opened(&self, s: &Stmt) -> bool {
        let opened = self.cx.opened;
        let span = || self.places.of_statement(s.range, self.cx.above(s));
        !opened.is_empty() && span().is_some_and(|span| opened.contains(&span.start))
    }

    /// Whether there are loops in a statement whose iterations the team shares.
    pub(super) fn shares_loops(&self, s: &Stmt) -> bool {
        let mut found = false;
        s.walk(&mut |s| found |= self.cx.constructs(s).any(|c| c.is_shared));
        found
    }

    /// The counter and range of a loop around nests, if they are simple.
    pub(super) fn control(
        &mut self,
        s: &Stmt,
        f: &For,
        facts: &Facts,
    ) -> (Option<VarId>, Option<(Expr, Expr)>, Facts) {
        let Ok(header) = header(f, s.range) else { return (None, None, Facts::default()) };
        let var = header.var;
        let scan = Scan::of(self.cx.file, s);
        let mut has_calls = false;
        s.walk_exprs(&mut |e| has_calls |= matches!(e.kind, ExprKind::Call(..) | ExprKind::Unknown(..)));
        let mut unchanged = facts.clone();
        // Values that the loop changes are no longer those before it.
        let is_stable = |constraint: &Constraint, symbols: &HashMap<VarId, SymId>| {
            symbols.iter().all(|(v, id)| {
                let is_shared = self.cx.file.is_member(*v) && (has_calls || !scan.stored.is_empty());
                let changes = self.changes(&scan, *v) || scan.declared.contains(v) || is_shared;
                !(changes && constraint.expr.uses(*id))
            })
        };
        unchanged.retain(|c| is_stable(c, &self.state.symbols));
        if scan.written.contains(&var)
            || is_address_taken(self.cx.function, var)
            || self.cx.file.is_member(var)
            || self.cx.file.var(var).is_own()
        {
            return (None, None, unchanged);
        }
        if header.changes(header.condition, &Scan::of(self.cx.file, &f.body)) {
            return (Some(var), None, unchanged);
        }
        let Some(Scalar { is_volatile: false, ty, .. }) = self.cx.file.var(var).ty.as_scalar() else {
            return (None, None, unchanged);
        };
        let empty = For { body: Stmt { kind: StmtKind::Empty, range: f.body.range }, ..f.clone() };
        let alone = Stmt { kind: StmtKind::For(Box::new(empty.clone())), range: s.range };
        let mut lowerer = Lowerer::new(self.cx, self.state.clone(), &unchanged, &alone);
        lowerer.reading.keeps_counters = false;
        let mut nodes = Vec::new();
        // What would be tested before a nest is not tested here.
        let is_read =
            lowerer.for_loop(&alone, &empty, &mut nodes).is_ok() && lowerer.outcome.tests.is_empty();
        // Otherwise the loop that was read counts something else.
        let is_of_var = !f.is_behind && lowerer.steps_by_constant(&header);
        if !is_read || !is_of_var {
            return (Some(var), None, unchanged);
        }
        let [Node::Loop(l)] = nodes.as_slice() else { return (Some(var), None, unchanged) };
        let (Some(lower), Some(upper)) = (l.lower.as_affine().cloned(), l.upper.as_affine().cloned()) else {
            return (Some(var), None, unchanged);
        };
        let (is_global_free, state) = (!mentions_globals(self.cx, f), lowerer.state);
        let range = (Constraint::ge(lower.clone(), 0.into()), Constraint::ge(upper.clone(), 0.into()));
        if !is_global_free || !is_stable(&range.0, &state.symbols) || !is_stable(&range.1, &state.symbols) {
            return (Some(var), None, unchanged);
        }
        self.state = state;
        let symbol = match self.state.symbols.get(&var) {
            Some(id) => *id,
            None => {
                let id = self.state.program.add_symbol(&self.cx.file.var(var).name, *ty);
                self.state.symbols.insert(var, id);
                id
            }
        };
        let mut inner = unchanged;
        inner.push(Constraint::ge(Affine::var(symbol), lower.clone()));
        inner.push(Constraint::lt(Affine::var(symbol), upper.clone()));
        (Some(var), Some((Expr::from(lower), Expr::from(upper))), inner)
    }
}

/// The loops that are all there is in the loop around them, from the outside in.
fn directly_inside(f: &For) -> impl Iterator<Item = Range> {
    let only = |f: &For| -> Option<(Range, For)> {
        let mut body = &f.body;
        while let StmtKind::Block(statements) = &body.kind {
            let [only] = statements.as_slice() else { return None };
            body = only;
        }
        match &body.kind {
            StmtKind::For(inner) => Some((body.range, (**inner).clone())),
            _ => None,
        }
    };
    let first = only(f);
    std::iter::successors(first, move |(_, f)| only(f)).map(|(range, _)| range)
}

/// Whether a loop's header depends on variables that calls inside could change.
fn mentions_globals(cx: &Context<'_>, f: &For) -> bool {
    let mut found = false;
    let mut look = |e: &ast::Expr| {
        e.walk(&mut |e| {
            if let ExprKind::Var(v) = e.kind {
                found |= matches!(
                    cx.file.var(v).kind,
                    VarKind::Global { .. } | VarKind::Local { is_static: true } | VarKind::Member
                ) || is_address_taken(cx.function, v);
            }
        });
    };
    f.init.iter().flat_map(|s| s.exprs()).for_each(&mut look);
    f.condition.iter().for_each(&mut look);
    found
}

/// The arrays and scalars a statement may read or write; `None` for any.
fn touched_by(cx: &Context<'_>, s: &Stmt) -> Option<Touched> {
    let mut touched = Touched::default();
    let mut is_known = true;
    let is_structure =
        |e: &ast::Expr| cx.file.type_of(e).is_some_and(|ty| matches!(ty, Type::Struct(_) | Type::Other(_)));
    let interesting = |v: VarId| {
        let ty = &cx.file.var(v).ty;
        ty.is_pointer() || ty.as_scalar().is_some()
    };
    s.walk(&mut |s| {
        is_known &= !matches!(s.kind, StmtKind::Unknown(..));
        if let StmtKind::Declare(declared) = &s.kind {
            touched.writes.extend(declared.iter().filter(|d| d.init.is_some()).map(|d| d.var));
        }
    });
    s.walk_exprs(&mut |e| match &e.kind {
        ExprKind::Var(v) if interesting(*v) => _ = touched.reads.insert(*v),
        ExprKind::Assign(_, target, _) if is_structure(target) => is_known = false,
        ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => match target.as_var() {
            Some(v) => _ = touched.writes.insert(v),
            None => touched.writes.extend(cx.file.pointer_var(target)),
        },
        ExprKind::Call(callee, _) => {
            let is_pure = matches!(&callee.kind, ExprKind::Name(n) if oxeye_ir::MathFn::from_c_name(n).is_some() || n == "malloc" || n == "free");
            is_known &= is_pure;
        }
        ExprKind::Unknown(..) => is_known = false,
        _ => {}
    });
    is_known.then_some(touched)
}
