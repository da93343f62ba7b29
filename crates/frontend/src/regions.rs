//! A function as nests within control structure.

use crate::Severity;
use crate::ast::{self, ExprKind, For, Range, Scalar, Stmt, StmtKind, Type, VarId, VarKind};
use crate::delinearize::delinearize;
use crate::flow::{is_address_taken, is_live_after};
use crate::lower::{
    Context, Lowered, Lowerer, Refusal, Scan, State, changing_places, header, reached, row_tests,
};
use crate::prove::Facts;
use crate::swaps::{split_swaps, swap_at, swaps_in};
use crate::threads::Team;
use crate::uniform::Uniformity;
use crate::unit::{Places, contains_for};
use oxeye_ir::{
    Affine, ArrayId, BinaryOp, Constant, Constraint, ControlLoop, DataflowGraph, Entry, Expr, Nest, NestId,
    Node, Opaque, Program, Region, Storage,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Control structure before arrays have their final ids.
enum Piece {
    Nest(NestId),
    Loop { var: Option<VarId>, range: Option<(Expr, Expr)>, body: Vec<Piece> },
    Branch { condition: Option<Expr>, then: Vec<Piece>, otherwise: Vec<Piece> },
    Swap(VarId, VarId),
    Opaque { reason: String, touched: Option<Touched> },
}

/// Variables that a piece of code may read or write.
#[derive(Clone, Debug, Default)]
struct Touched {
    reads: BTreeSet<VarId>,
    writes: BTreeSet<VarId>,
}

/// A loop that stays as it is: where it stands, and why.
pub(crate) type Refused = (Range, Severity, Box<Refusal>);

/// Builds the program of one function.
pub(crate) struct Regions<'a> {
    cx: &'a Context<'a>,
    places: &'a Places<'a>,
    state: State,
    refused: Vec<Refused>,
    /// What is known of the symbols where each nest stands.
    known: HashMap<NestId, Facts>,
    /// `#pragma scop` regions of the function.
    scops: Vec<Range>,
    inlined: Inlined,
    /// The team that runs the present statement.
    team: Option<Team<'a>>,
    uniform: Uniformity<'a>,
    ranges: BTreeMap<NestId, Range>,
}

/// What is known of the nests of a function besides its program.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) inlined: Inlined,
    /// Where each nest stands in the preprocessed text.
    pub(crate) ranges: BTreeMap<NestId, Range>,
    pub(crate) refused: Vec<Refused>,
}

/// Names of the functions whose bodies a nest has in place of their calls, for nests that have any.
pub(crate) type Inlined = BTreeMap<NestId, Vec<String>>;

impl<'a> Regions<'a> {
    pub(crate) fn build(cx: &'a Context<'a>, places: &'a Places<'a>) -> (Program, Found) {
        let mut regions = Regions {
            cx,
            places,
            state: State::new(&cx.function.name),
            refused: Vec::new(),
            known: HashMap::new(),
            scops: Vec::new(),
            inlined: Inlined::new(),
            team: None,
            uniform: Uniformity::default(),
            ranges: BTreeMap::new(),
        };
        regions.find_scops();
        let mut pieces = Vec::new();
        regions.stmt(&cx.function.body, &Facts::default(), &mut pieces);
        regions.find_aliases();
        for facts in regions.known.values_mut() {
            regions.state.program.assumptions.iter().for_each(|a| facts.push(a.clone()));
        }
        let wide = std::mem::take(&mut regions.state.wide);
        delinearize(&mut regions.state.program, &regions.known, &wide);
        let body = regions.sequence(pieces);
        regions.state.program.body = body;
        regions.state.program.rebuild_dataflow();
        let Regions { state, inlined, ranges, refused, .. } = regions;
        (state.program, Found { inlined, ranges, refused })
    }

    fn find_scops(&mut self) {
        let inside = |at: usize| self.cx.function.range.start <= at && at < self.cx.function.range.end;
        let mut start = None;
        for (at, text) in self.cx.preprocessed.pragmas.iter().filter(|(at, _)| inside(*at)) {
            match text.split_whitespace().next() {
                Some("scop") => start = Some(*at),
                Some("endscop") => self.scops.extend(start.take().map(|start| Range { start, end: *at })),
                _ => {}
            }
        }
        self.scops.extend(start.map(|start| Range { start, end: self.cx.function.range.end }));
    }

    fn is_wanted(&self, range: Range) -> bool {
        self.scops.is_empty() || self.scops.iter().any(|s| s.contains(range))
    }

    fn block(&mut self, body: &'a [Stmt], facts: &Facts, out: &mut Vec<Piece>) {
        let mut facts = facts.clone();
        let mut at = 0;
        while at < body.len() {
            if let Some(swap) = swap_at(self.cx.file, &body[at..]) {
                out.push(Piece::Swap(swap.first, swap.second));
                at += 3;
            } else {
                self.stmt(&body[at], &facts, out);
                self.forget(&body[at], &mut facts);
                at += 1;
            }
        }
    }

    /// Drops what is no longer known after a statement.
    fn forget(&self, s: &Stmt, facts: &mut Facts) {
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

    /// Whether what was scanned sets a variable by its name, or, for a member, any member or the variable it belongs to.
    fn changes(&self, scan: &Scan, var: VarId) -> bool {
        let file = self.cx.file;
        let is_set = |v: VarId| scan.written.contains(&v) || scan.iterators.contains(&v);
        let is_declared = |v: VarId| scan.declared.contains(&v);
        is_set(var)
            || file.is_member(var)
                && (is_set(file.root(var))
                    || is_declared(file.root(var))
                    || scan.written.iter().any(|v| file.is_member(*v)))
    }

    fn stmt(&mut self, s: &'a Stmt, facts: &Facts, out: &mut Vec<Piece>) {
        if contains_for(s)
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

    /// Whether the iterations of a loop are shared by a team of threads that is there already.
    fn is_shared_by_team(&self, s: &Stmt) -> bool {
        let mut constructs = self.cx.constructs(s);
        constructs.any(|c| c.is_shared) && !self.cx.constructs(s).any(|c| c.is_parallel)
    }

    fn stmt_inside(&mut self, s: &'a Stmt, facts: &Facts, out: &mut Vec<Piece>) {
        match &s.kind {
            StmtKind::Block(body) => self.block(body, facts, out),
            StmtKind::For(f) => self.for_stmt(s, f, facts, out),
            StmtKind::If { condition, then, otherwise } if contains_for(s) => {
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
            StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => {
                if self.is_wanted(s.range) {
                    let word = if matches!(s.kind, StmtKind::While { .. }) { "while" } else { "do" };
                    let message = format!("a `{word}` loop: how often it runs is not known beforehand");
                    let severity = if contains_for(s) { Severity::Note } else { Severity::Warning };
                    let head = Range { start: s.range.start, end: s.range.start + word.len() };
                    let refusal = Refusal::new(head, message).help("write it as a `for` loop if it counts");
                    self.refuse(s.range, severity, refusal);
                }
                if !contains_for(s) {
                    self.opaque(s, "a loop that stays as it is", out);
                    return;
                }
                let mut inside = Vec::new();
                self.stmt(body, &Facts::default(), &mut inside);
                out.push(Piece::Loop { var: None, range: None, body: inside });
            }
            StmtKind::Label(body) => self.stmt(body, &Facts::default(), out),
            StmtKind::Unknown(what, body) if contains_for(s) => {
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

    /// Code that stays as it is, unless it touches no arrays at all.
    fn opaque(&mut self, s: &Stmt, reason: &str, out: &mut Vec<Piece>) {
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

    /// A condition of symbols only.
    fn symbolic(&mut self, e: &ast::Expr, facts: &Facts) -> Option<Expr> {
        let nothing = Stmt { kind: StmtKind::Empty, range: e.range };
        let mut lowerer = Lowerer::new(self.cx, self.state.clone(), facts, &nothing);
        let value = lowerer.value(e).ok()?;
        if !value.e.reads().is_empty() {
            return None;
        }
        self.state = lowerer.state;
        Some(value.e)
    }

    /// Notes why a loop stays as it is, unless that was said of a loop around it.
    fn refuse(&mut self, range: Range, severity: Severity, refusal: Box<Refusal>) {
        // What is said of a macro holds wherever it is used.
        let is_of_macro = refusal.message.starts_with("the macro ");
        let is_known = self
            .refused
            .iter()
            .any(|(_, _, r)| (is_of_macro || r.range == refusal.range) && r.message == refusal.message);
        if !is_known {
            self.refused.push((range, severity, refusal));
        }
    }

    fn for_stmt(&mut self, s: &'a Stmt, f: &'a For, facts: &Facts, out: &mut Vec<Piece>) {
        let is_wanted = self.is_wanted(s.range);
        let is_shared = self.cx.constructs(s).any(|c| c.is_shared);
        let is_of_every_thread = self.team.is_some() && !is_shared && self.cx.is_threaded;
        if is_wanted && is_of_every_thread {
            if !self.shares_loops(&f.body) {
                let head = Range { start: s.range.start, end: s.range.start + 3 };
                let refusal =
                    Refusal::new(head, "every thread of the `omp parallel` around it runs this loop");
                self.refuse(s.range, Severity::Warning, refusal);
                self.opaque(s, "a loop of every thread", out);
                return;
            }
        } else if is_wanted {
            match self.nest(s, f, facts) {
                Ok(id) => {
                    out.push(Piece::Nest(id));
                    return;
                }
                Err(refusal) => self.refuse(s.range, Severity::Warning, refusal),
            }
        } else if !self.scops.iter().any(|scop| s.range.contains(*scop)) {
            self.opaque(s, "outside of the marked region", out);
            return;
        }
        if !contains_for(&f.body) {
            self.opaque(s, "a loop that stays as it is", out);
            return;
        }
        let at = self.refused.len();
        let (var, range, inner) = self.control(s, f, facts);
        let mut body = Vec::new();
        let n_nests = self.state.program.nests.len();
        let team = if is_shared { self.team.take() } else { self.team };
        self.stmt(&f.body, &inner, &mut body);
        self.team = team;
        // What the loop loses is little if the loops inside are nests.
        if is_wanted
            && self.state.program.nests.len() > n_nests
            && self.refused.len() == at
            && let Some((range, severity, _)) = self.refused.last_mut()
            && *range == s.range
        {
            *severity = Severity::Note;
        }
        out.push(Piece::Loop { var, range, body });
    }

    /// Whether there are loops in a statement whose iterations the team shares.
    fn shares_loops(&self, s: &Stmt) -> bool {
        let mut found = false;
        s.walk(&mut |s| found |= self.cx.constructs(s).any(|c| c.is_shared));
        found
    }

    /// The counter of a loop around nests and its range, where they are plain.
    fn control(&mut self, s: &Stmt, f: &For, facts: &Facts) -> (Option<VarId>, Option<(Expr, Expr)>, Facts) {
        let Ok(header) = header(f, s.range) else { return (None, None, Facts::default()) };
        let var = header.var;
        let scan = Scan::of(self.cx.file, s);
        let mut has_calls = false;
        s.walk_exprs(&mut |e| has_calls |= matches!(e.kind, ExprKind::Call(..) | ExprKind::Unknown(..)));
        let mut unchanged = facts.clone();
        // Whatever the loop changes is no longer what it was before it.
        let is_stable = |constraint: &Constraint, symbols: &HashMap<VarId, oxeye_ir::SymId>| {
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
        {
            return (None, None, unchanged);
        }
        let Some(Scalar { is_volatile: false, ty, .. }) = self.cx.file.var(var).ty.as_scalar() else {
            return (None, None, unchanged);
        };
        let empty = For { body: Stmt { kind: StmtKind::Empty, range: f.body.range }, ..f.clone() };
        let alone = Stmt { kind: StmtKind::For(Box::new(empty.clone())), range: s.range };
        let mut lowerer = Lowerer::new(self.cx, self.state.clone(), &unchanged, &alone);
        let mut nodes = Vec::new();
        if lowerer.for_loop(&alone, &empty, &mut nodes).is_err() {
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

    /// Lowers one nest into the program.
    fn nest(&mut self, s: &Stmt, f: &For, facts: &Facts) -> Lowered<NestId> {
        let head = Range { start: s.range.start, end: s.range.start + 3 };
        if !self.places.has_loop(s.range) {
            return Err(match self.places.maker(s.range) {
                Some(name) => Refusal::new(head, format!("the macro `{name}` makes more than this loop"))
                    .help("a macro that makes one loop and nothing else is read"),
                None => Refusal::new(
                    head,
                    "this `for` is not written out in the file: a macro or an `#if` stands across its end",
                )
                .help("write the loop itself without macros; macros inside it are fine"),
            });
        }
        let Some(span) = self.places.of_loop(s.range, self.cx.above(s)) else {
            return Err(Refusal::new(head, "the pragmas above the loop are not written out in the file"));
        };
        self.cx.check_pragmas(self.cx.function, s)?;
        let team = self.team.or(Some(Team { region: None })).filter(|_| self.is_shared_by_team(s));
        let team = team.filter(|_| self.cx.is_threaded);
        if let Some(team) = team {
            self.cx.check_team(s, team)?;
            let differing = self.uniform.at(self.cx, team, s);
            self.cx.check_uniform(s, team, &differing)?;
            self.cx.check_waiting(s, team)?;
        }
        let makes_team = self.cx.constructs(s).any(|c| c.is_parallel);
        if self.cx.is_threaded && !makes_team && self.cx.shares_outer_team(s) {
            return Err(Refusal::new(
                head,
                "a team of threads that is there already shares the loops inside",
            ));
        }
        let (_, at_end) = split_swaps(self.cx.file, &f.body);
        if let Some(swap) = swaps_in(self.cx.file, s).iter().find(|swap| !at_end.contains(swap)) {
            return Err(changing_places(self.cx.file, swap));
        }
        let scan = Scan::of(self.cx.file, s);
        let mut lowerer = Lowerer::new(self.cx, self.state.clone(), facts, s);
        let mut roots = Vec::new();
        lowerer.for_loop(s, f, &mut roots)?;
        let mentions = self.mentions(s, &mut lowerer);
        let (state, inlined, swaps) = (lowerer.state, lowerer.inlined, lowerer.swaps);
        let mut iterators: Vec<VarId> = scan.iterators.iter().copied().collect();
        iterators.sort_unstable();
        for var in iterators {
            let is_own = self.cx.file.var(var).function.is_none_or(|f| f == self.cx.position);
            if is_own && is_live_after(self.cx.file, self.cx.function, s.range, var) {
                let name = &self.cx.file.var(var).name;
                let head = Range { start: s.range.start, end: s.range.start + 3 };
                return Err(Refusal::new(
                    head,
                    format!("the value of `{name}` after the loop may be used later"),
                )
                .help(format!(
                    "declare it in the loop, `for (int {name} = ...`, or use another variable afterwards"
                )));
            }
        }
        let id = NestId(state.program.nests.keys().map(|n| n.0 + 1).max().unwrap_or(0));
        let mut nest = Nest {
            id,
            function: self.cx.function.name.clone(),
            span: Some(span),
            roots,
            live_out: Vec::new(),
            swaps,
            mentions,
        };
        if nest.stmts().is_empty() {
            return Err(Refusal::new(s.range, "the loop does nothing"));
        }
        if let Err(violations) = oxeye_ir::verify_nest(&state.program, &nest) {
            let what = violations.first().map_or_else(String::new, ToString::to_string);
            return Err(Refusal::new(s.range, format!("the loop has no exact description ({what})")));
        }
        let mut state = state;
        let may_change = self.may_change(&state, &nest);
        state.program.may_change.extend(may_change);
        state.program.may_change.sort_unstable();
        state.program.may_change.dedup();
        match reached(&state.program, &nest) {
            Ok(None) => {}
            Ok(reached) => {
                let entry = Entry { reached, ..Entry::default() };
                state.program.entries.insert(id, entry);
            }
            Err(name) => {
                let message = format!("whether the loop follows `{name}` at all depends on what it computes");
                return Err(Refusal::new(head, message)
                    .help(format!("copy what is needed of `{name}` into local variables before the loop")));
            }
        }
        self.test_rows(&mut state, &nest, s.range)?;
        let is_of_thread = |v: &&VarId| self.cx.directives.is_threadprivate(&self.cx.file.var(**v).name);
        let own = nest.arrays().iter().filter_map(|id| state.vars.get(id)).find(is_of_thread).copied();
        let symbols = state.symbols.iter().filter(|(_, id)| nest.vars().contains(&(**id).into()));
        let own = own.or_else(|| symbols.map(|(v, _)| v).filter(is_of_thread).min().copied());
        if let (Some(var), true) = (own, self.cx.is_threaded) {
            let message =
                format!("each thread has a `{}` of its own (`threadprivate`)", self.cx.file.var(var).name);
            return Err(Refusal::new(head, message).help("copy it into a local variable before the loop"));
        }
        nest.live_out = self.live_out(&state, &nest, s.range);
        if let Some(team) = team {
            let team = self.team_of(s, &nest, &state, team)?;
            state.program.teams.insert(id, team);
        }
        self.state = state;
        self.state.program.nests.insert(id, nest);
        self.known.insert(id, facts.clone());
        self.ranges.insert(id, s.range);
        if !inlined.is_empty() {
            let names = inlined.into_iter().map(|position| self.cx.file.functions[position].name.clone());
            self.inlined.insert(id, names.collect());
        }
        Ok(id)
    }

    /// What a team's threads have of their own while they run a nest.
    fn team_of(&self, s: &Stmt, nest: &Nest, state: &State, team: Team<'_>) -> Lowered<oxeye_ir::Team> {
        let head = Range { start: s.range.start, end: s.range.start + 3 };
        if !nest.swaps.is_empty() {
            return Err(Refusal::new(head, "pointers change places in a loop that threads share"));
        }
        let changed = self.cx.changed_by_threads(s, team);
        for var in &changed {
            let variable = self.cx.file.var(*var);
            let name = &variable.name;
            if matches!(variable.ty, Type::Array { .. } | Type::Struct(_)) {
                let message = format!("each thread has a `{name}` of its own, which the loop writes");
                return Err(Refusal::new(head, message).help(format!("declare `{name}` inside the loop")));
            }
            if !self.cx.is_set_before_use(s, *var) {
                let message = format!(
                    "each thread has a `{name}` of its own, which an iteration may read before it sets it"
                );
                return Err(Refusal::new(head, message).help(format!("declare `{name}` inside the loop")));
            }
        }
        let used = nest.arrays();
        let own = changed.iter().filter_map(|v| state.arrays.get(v)).filter(|id| used.contains(*id));
        let mut own: Vec<ArrayId> = own.copied().collect();
        own.sort_unstable();
        let mut names: Vec<String> = changed.iter().map(|v| self.cx.file.var(*v).name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        Ok(oxeye_ir::Team { own, names })
    }

    /// Symbols for the integers that clauses of a nest's directives name.
    fn mentions(&self, s: &Stmt, lowerer: &mut Lowerer<'_>) -> Vec<oxeye_ir::SymId> {
        if !self.cx.is_threaded {
            return Vec::new();
        }
        let mut found = BTreeSet::new();
        s.walk(&mut |inner| {
            for name in self.cx.constructs(inner).flat_map(|c| &c.mentioned) {
                let of_function =
                    |v: &&VarId| self.cx.file.var(**v).function.is_none_or(|f| f == self.cx.position);
                let ids: Vec<VarId> = (0..self.cx.file.vars.len() as u32).map(VarId).collect();
                let mut named: Vec<&VarId> =
                    ids.iter().filter(of_function).filter(|v| self.cx.file.var(**v).name == *name).collect();
                // A variable of the function hides one of the file.
                if named.iter().any(|v| self.cx.file.var(**v).function.is_some()) {
                    named.retain(|v| self.cx.file.var(**v).function.is_some());
                }
                if let [var] = named.as_slice()
                    && let Some(symbol) = lowerer.mentioned(**var, s.range)
                {
                    found.insert(symbol);
                }
            }
        });
        found.into_iter().collect()
    }

    /// What the arrays that a nest writes may change although the nest takes it to stay as it is.
    fn may_change(&self, state: &State, nest: &Nest) -> Vec<(Constant, ArrayId)> {
        let mut found = Vec::new();
        if self.cx.no_alias {
            return found;
        }
        let used = nest.vars();
        let extents = nest.arrays().into_iter().flat_map(|id| state.program.array(id).shape.iter().flatten());
        let mut in_extents = BTreeSet::new();
        for extent in extents {
            extent.visit(&mut |e| {
                if let Expr::Affine(a) = e {
                    in_extents.extend(a.terms().map(|(v, _)| v));
                }
            });
        }
        let pointer = Type::Other("a pointer".into());
        let mut constants: Vec<(Constant, VarId, &Type)> = Vec::new();
        for (var, id) in &state.symbols {
            let v = (*id).into();
            if used.contains(&v) || in_extents.contains(&v) {
                constants.push((Constant::Symbol(*id), *var, &self.cx.file.var(*var).ty));
                if state.program.symbol_views.get(id).is_some_and(|v| !v.loads().is_empty()) {
                    constants.push((Constant::Symbol(*id), *var, &pointer));
                }
            }
        }
        for id in nest.arrays() {
            if let (Some(view), Some(var)) = (state.program.views.get(&id), state.vars.get(&id))
                && !view.loads().is_empty()
            {
                constants.push((Constant::Base(id), *var, &pointer));
            }
        }
        let written: BTreeSet<ArrayId> =
            nest.accesses().into_iter().filter(|(_, w)| *w).map(|(a, _)| a.array).collect();
        for array in written {
            let Some(target) = state.vars.get(&array) else { continue };
            if matches!(state.program.array(array).storage, Storage::Body(_) | Storage::Temp(_)) {
                continue;
            }
            for (constant, var, ty) in &constants {
                let is_base = matches!(ty, Type::Other(_));
                let is_apart = |a: VarId, b: VarId| self.cx.pointers.are_distinct(a, b);
                let may_share = match is_base {
                    true => self.may_hold_pointers(*target),
                    false => {
                        self.may_share(ty, self.cx.file.var(*target).ty.innermost())
                            && !is_apart(*var, *target)
                    }
                };
                if may_share && (is_base || *constant != Constant::Base(array)) {
                    found.push((*constant, array));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Notes which rows behind pointers the nest uses.
    fn test_rows(&self, state: &mut State, nest: &Nest, at: Range) -> Lowered<()> {
        let (rows, conditions) = row_tests(&state.program, nest, &state.rows, at)?;
        if rows.is_empty() {
            return Ok(());
        }
        let written = nest.accesses().into_iter().filter(|(_, w)| *w).map(|(a, _)| a.array);
        let written: BTreeSet<ArrayId> = written.collect();
        for array in written {
            if let Some(var) = state.vars.get(&array)
                && !self.cx.no_alias
                && self.may_hold_pointers(*var)
            {
                let (name, rows) =
                    (&state.program.array(array).name, &state.program.array(rows[0].array).name);
                let head = Range { start: at.start, end: at.start + 3 };
                let message = format!("writing to `{name}` may change the pointers in `{rows}`");
                return Err(Refusal::new(head, message).help("if they never overlap, say so with --no-alias"));
            }
        }
        let entry = state.program.entries.entry(nest.id).or_default();
        entry.rows = rows;
        let mut seen = BTreeSet::new();
        for condition in conditions {
            // The same for each access.
            if !seen.insert(format!("{condition:?}")) {
                continue;
            }
            entry.reached = Some(match entry.reached.take() {
                None => condition,
                Some(before) => Expr::Binary(BinaryOp::And, Box::new(before), Box::new(condition)),
            });
        }
        Ok(())
    }

    /// Whether writing to an array of numbers may change a pointer that lies somewhere in a structure.
    fn may_hold_pointers(&self, target: VarId) -> bool {
        let variable = self.cx.file.var(target);
        let is_own_variable = variable.member.is_none()
            && !matches!(variable.ty, Type::Pointer { .. })
            && !matches!((&variable.ty, variable.kind), (Type::Array { .. }, VarKind::Param(_)));
        let is_char = variable.ty.innermost().as_scalar().is_some_and(|s| s.ty.bytes() == 1 && !s.is_bool);
        !is_own_variable && (is_char || !self.cx.has_strict_aliasing)
    }

    /// Whether C lets objects of these types share memory.
    fn may_share(&self, a: &Type, b: &Type) -> bool {
        let (Type::Scalar(a), Type::Scalar(b)) = (a, b) else { return true };
        let is_char = |s: &Scalar| s.ty.bytes() == 1 && !s.is_bool;
        !self.cx.has_strict_aliasing
            || is_char(a)
            || is_char(b)
            || (a.ty.bytes() == b.ty.bytes() && a.ty.is_float() == b.ty.is_float())
    }

    fn live_out(&self, state: &State, nest: &Nest, range: Range) -> Vec<ArrayId> {
        let mut written: Vec<ArrayId> =
            nest.accesses().into_iter().filter(|(_, is_write)| *is_write).map(|(a, _)| a.array).collect();
        written.sort_unstable();
        written.dedup();
        written.retain(|id| {
            let array = state.program.array(*id);
            let Some(var) = state.vars.get(id) else { return false };
            let variable = self.cx.file.var(*var);
            match (array.storage, &variable.ty) {
                (Storage::Param, Type::Scalar(_)) => {
                    is_live_after(self.cx.file, self.cx.function, range, *var)
                }
                (Storage::Local, Type::Pointer { .. }) => true,
                (Storage::Local, Type::Array { of, .. }) if matches!(**of, Type::Pointer { .. }) => true,
                (Storage::Local, Type::Array { .. }) => {
                    self.cx.pointers.escapes(*var)
                        || is_live_after(self.cx.file, self.cx.function, range, *var)
                }
                (Storage::Local, _) => is_live_after(self.cx.file, self.cx.function, range, *var),
                _ => false,
            }
        });
        written
    }

    /// Pairs of arrays that may share memory, of which some nest that uses both writes one.
    fn find_aliases(&mut self) {
        if self.cx.no_alias {
            return;
        }
        let mut pairs = BTreeSet::new();
        for nest in self.state.program.nests.values() {
            let accesses = nest.accesses();
            let written: BTreeSet<ArrayId> =
                accesses.iter().filter(|(_, w)| *w).map(|(a, _)| a.array).collect();
            let used = nest.arrays();
            for a in &written {
                for b in used.iter().filter(|b| *b != a) {
                    pairs.insert((*a.min(b), *a.max(b)));
                }
            }
        }
        let may_alias = |(a, b): &(ArrayId, ArrayId)| {
            let is_own = |id: &ArrayId| matches!(self.state.program.array(*id).storage, Storage::Body(_));
            let (Some(x), Some(y)) = (self.state.vars.get(a), self.state.vars.get(b)) else { return false };
            if is_own(a) || is_own(b) {
                return false;
            }
            let (t, u) = (self.cx.file.var(*x).ty.innermost(), self.cx.file.var(*y).ty.innermost());
            self.may_share(t, u) && !self.cx.pointers.are_distinct(*x, *y)
        };
        let found: Vec<_> = pairs.into_iter().filter(may_alias).collect();
        self.state.program.may_alias = found;
    }

    fn sequence(&self, pieces: Vec<Piece>) -> Region {
        let mut regions: Vec<Region> = Vec::new();
        let mut nests: Vec<NestId> = Vec::new();
        let flush = |nests: &mut Vec<NestId>, regions: &mut Vec<Region>| {
            if !nests.is_empty() {
                regions.push(Region::Dataflow(DataflowGraph::build(&self.state.program, nests)));
                nests.clear();
            }
        };
        for piece in pieces {
            if let Piece::Nest(id) = piece {
                nests.push(id);
                continue;
            }
            let region = self.region(piece);
            if let Some(region) = region {
                flush(&mut nests, &mut regions);
                regions.push(region);
            }
        }
        flush(&mut nests, &mut regions);
        if regions.len() == 1 { regions.remove(0) } else { Region::Sequence(regions) }
    }

    fn region(&self, piece: Piece) -> Option<Region> {
        let arrays = |vars: &BTreeSet<VarId>| -> Vec<ArrayId> {
            let mut ids: Vec<_> = vars.iter().filter_map(|v| self.state.arrays.get(v)).copied().collect();
            ids.sort_unstable();
            ids
        };
        Some(match piece {
            Piece::Nest(_) => return None,
            Piece::Loop { var, range, body } => Region::Loop(ControlLoop {
                iterator: var.and_then(|v| self.state.symbols.get(&v)).copied(),
                range,
                body: Box::new(self.sequence(body)),
            }),
            Piece::Branch { condition, then, otherwise } => Region::Branch {
                condition,
                then: Box::new(self.sequence(then)),
                otherwise: Box::new(self.sequence(otherwise)),
            },
            Piece::Swap(a, b) => match (self.state.arrays.get(&a), self.state.arrays.get(&b)) {
                (Some(a), Some(b)) => Region::Swap(*a, *b),
                _ => return None,
            },
            Piece::Opaque { reason, touched } => {
                let (reads, writes) = match touched {
                    Some(t) => (Some(arrays(&t.reads)), Some(arrays(&t.writes))),
                    None => (None, None),
                };
                let is_nothing = |list: &Option<Vec<ArrayId>>| list.as_ref().is_some_and(Vec::is_empty);
                if is_nothing(&reads) && is_nothing(&writes) {
                    return None;
                }
                Region::Opaque(Opaque { reason, reads, writes })
            }
        })
    }
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
            None => touched.writes.extend(crate::lower::pointer_var(target)),
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
