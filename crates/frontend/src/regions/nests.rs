//! Lowering one nest, with its conditions and effects.

use super::Regions;
use super::rolled::roll_all;
use crate::ast::{ExprKind, For, Range, Stmt, StmtKind, Type, VarId, VarKind};
use crate::context::Team;
use crate::directives::{Construct, Directive};
use crate::flow::{is_array_kept, is_live_after, is_scratch_of};
use crate::followed::followed_before;
use crate::lexer::{ARITHMETIC_WORDS, TokenKind, tokens};
use crate::lower::{
    Followed, Lowerer, Outcome, Reading, RowLength, Rows, State, changing_places, disguised, may_end_program,
    needed_later, reached, reads, remove_stores, row_lengths, row_tests, sets, used_both_ways,
    without_checks,
};
use crate::prove::Facts;
use crate::refusal::{Lowered, Refusal};
use crate::rotations::{rotations_in, split_rotations};
use crate::scan::{Scan, commas};
use oxeye_binding::{Clauses, Entry, OwnText};
use oxeye_ir::{ArrayId, BinaryOp, Expr, Nest, NestId, Node, Span, Storage, SymId, Threads, Update};
use std::collections::{BTreeSet, HashMap};

/// What was found out about the variables of a nest while it was read.
struct Found<'a> {
    scan: &'a Scan,
    /// File-scope variables that functions in place of calls name themselves.
    by_calls: &'a BTreeSet<VarId>,
    /// Pointers that loops end at: another one, and how many elements behind it they lead, in C.
    ends: &'a HashMap<VarId, (VarId, String)>,
    /// Pointers that loops end at, and those they are subtracted from.
    subtracted: &'a HashMap<VarId, VarId>,
}

/// The statement that a nest is.
#[derive(Clone, Copy)]
pub(super) enum Whole<'a> {
    /// One loop.
    Loop(&'a For),
    /// Several: those that a macro expands to, or a group.
    Block(&'a [Stmt]),
}

impl<'a> Regions<'a> {
    /// Lowers one nest into the program, with integers in memory that it leaves alone as symbols if that can be done.
    pub(super) fn nest(&mut self, s: &'a Stmt, whole: Whole<'_>, facts: &Facts) -> Lowered<NestId> {
        self.has_read_ahead = false;
        self.has_split = false;
        let rows = self.rows_of_group(s, whole, facts);
        let mut result = self.nest_with(s, whole, facts, (true, true, &rows));
        if result.is_err() && !rows.is_empty() {
            result = self.nest_with(s, whole, facts, (true, true, &[]));
        }
        if result.is_err() && self.has_split {
            result = self.nest_with(s, whole, facts, (true, false, &[]));
        }
        if result.is_err() && self.has_read_ahead {
            result = self.nest_with(s, whole, facts, (false, false, &[]));
        }
        result
    }

    /// How long the rows are in which loops of a group take flat memory.
    fn rows_of_group(&self, s: &Stmt, whole: Whole<'_>, facts: &Facts) -> Vec<RowLength> {
        let Whole::Block(body) = whole else { return Vec::new() };
        if !self.places.is_joined(s.range) {
            return Vec::new();
        }
        let mut lowerer = Lowerer::new(self.cx, self.state.clone(), facts, s);
        let mut roots = Vec::new();
        match lowerer.stmts(body, &mut roots) {
            Ok(()) => row_lengths(&lowerer.state.program, &roots),
            Err(_) => Vec::new(),
        }
    }

    fn nest_with(
        &mut self,
        s: &'a Stmt,
        whole: Whole<'_>,
        facts: &Facts,
        (reads_ahead, splits, rows): (bool, bool, &[RowLength]),
    ) -> Lowered<NestId> {
        let head = Range { start: s.range.start, end: s.range.start + 3 };
        let span = self.place(s, head)?;
        let is_together = self.is_run_together(s);
        self.cx.check_pragmas(self.cx.function, s, is_together)?;
        let makes_team = self.cx.constructs(s).any(|c| c.is_parallel);
        let is_of_team = self.is_shared_by_team(s) || is_together && !makes_team;
        let team = self.team.or(Some(Team { region: None })).filter(|_| is_of_team);
        let team = team.filter(|_| self.cx.is_threaded);
        if let Some(team) = team {
            self.cx.check_team(s, team)?;
            let differing = self.uniform.at(self.cx, team, s);
            self.cx.check_uniform(s, team, &differing)?;
            self.cx.check_waiting(s, team)?;
        }
        if self.cx.is_threaded && !makes_team && !is_together && self.cx.shares_outer_team(s) {
            return Err(Refusal::new(head, "an existing team of threads shares the loops inside"));
        }
        let at_end = match whole {
            Whole::Loop(f) => split_rotations(self.cx.file, &f.body).1,
            Whole::Block(_) => Vec::new(),
        };
        if let Some(rotation) = rotations_in(self.cx.file, s).iter().find(|r| !at_end.contains(r)) {
            return Err(changing_places(self.cx.file, rotation));
        }
        let scan = Scan::of(self.cx.file, s);
        let mut lowerer = Lowerer::new(self.cx, self.state.clone(), facts, s);
        lowerer.reading = Reading { reads_ahead, splits, row_lengths: rows.to_vec(), ..lowerer.reading };
        let mut roots = Vec::new();
        let lowered = match whole {
            Whole::Loop(f) => lowerer.for_loop(s, f, &mut roots),
            Whole::Block(body) => lowerer.stmts(body, &mut roots),
        };
        self.has_read_ahead |= lowerer.reading.has_read_ahead;
        self.has_split |= lowerer.reading.has_split;
        lowered?;
        roots.splice(0..0, std::mem::take(&mut lowerer.outcome.tables));
        let mut mentions = self.mentions(s, &mut lowerer);
        mentions.extend(
            lowerer.outcome.counted.iter().filter(|id| !mentions.contains(id)).copied().collect::<Vec<_>>(),
        );
        let Lowerer { mut state, outcome, .. } = lowerer;
        let Outcome {
            inlined,
            rotations,
            advances,
            tests,
            conditional,
            by_calls,
            substituted,
            ends,
            subtracted,
            read_marks,
            counted,
            ..
        } = outcome;
        let marked = roots.clone();
        for mark in read_marks {
            remove_stores(&mut roots, mark);
            state.program.arrays.shift_remove(&mark);
        }
        let mut unread = substituted;
        unread.extend(scan.iterators.iter().filter(|v| {
            let array = state.arrays.get(v).and_then(|id| state.program.arrays.get(id));
            array.is_some_and(|array| matches!(array.storage, Storage::Body(_)))
        }));
        self.without_unread(&state, &mut roots, &unread, s.range);
        let mut iterators: Vec<VarId> = scan.iterators.iter().copied().collect();
        iterators.sort_unstable();
        for var in iterators {
            let is_own = self.cx.file.var(var).function.is_none_or(|f| f == self.cx.position);
            if is_own && is_live_after(self.cx.file, self.cx.function, s.range, var) {
                // The nest itself sets it after each such loop.
                let is_set = state.arrays.get(&var).is_some_and(|id| {
                    sets(&roots, *id) || advances.iter().any(|advance| advance.array == *id)
                });
                if !is_set {
                    return Err(needed_later(self.cx.file, s, var));
                }
            }
        }
        // What a team of threads shares is named by its loops.
        if team.is_none() {
            roll_all(&mut state.program, &mut roots, facts, &tests);
        }
        let id = NestId(state.program.nests.keys().map(|n| n.0 + 1).max().unwrap_or(0));
        let mut nest = Nest {
            id,
            function: self.cx.function.name.clone(),
            span: Some(span),
            roots,
            live_out: Vec::new(),
            rotations,
            mentions,
            unordered: Vec::new(),
            bounded: Vec::new(),
        };
        nest.unordered = self.unordered(&state, &nest, s);
        if nest.stmts().is_empty() {
            return Err(Refusal::new(s.range, "the loop does nothing"));
        }
        if let Err(violations) = oxeye_ir::verify_nest(&state.program, &nest) {
            let what = violations.first().map_or_else(String::new, ToString::to_string);
            return Err(Refusal::new(s.range, format!("the loop has no exact description ({what})")));
        }
        let may_change = self.may_change(&state, &nest);
        state.binding.may_change.extend(may_change);
        state.binding.may_change.sort_unstable();
        state.binding.may_change.dedup();
        let is_reached = |before: &BTreeSet<Followed>| {
            reached((&state.program, &state.binding), &nest, &marked, &conditional, before)
        };
        let condition = is_reached(&BTreeSet::new());
        match condition.or_else(|_| is_reached(&self.followed_before(s.range))) {
            Ok(None) => {}
            Ok(reached) => {
                let entry = Entry { reached, ..Entry::default() };
                state.binding.entries.insert(id, entry);
            }
            Err(name) => {
                let message = format!("whether the loop follows `{name}` at all depends on what it computes");
                return Err(Refusal::new(head, message).help(format!(
                    "copy the values you need from `{name}` into local variables before the loop"
                )));
            }
        }
        let mut tests = tests;
        tests.extend(disguised(&state.program, &nest, &counted, &tests));
        if !tests.is_empty() {
            state.binding.entries.entry(id).or_default().tests = tests;
        }
        if !advances.is_empty() {
            if team.is_some() {
                return Err(Refusal::new(head, "pointers move in a loop that threads share"));
            }
            state.binding.advances.insert(id, advances);
        }
        self.test_rows(&mut state, &nest, s.range)?;
        check_elements(&state, &nest, head)?;
        check_checks(&state, &nest, facts, head)?;
        let is_of_thread = |v: &&VarId| self.cx.directives.is_threadprivate(&self.cx.file.var(**v).name);
        let own = nest.arrays().iter().filter_map(|id| state.vars.get(id)).find(is_of_thread).copied();
        let symbols = state.symbols.iter().filter(|(_, id)| nest.vars().contains(&(**id).into()));
        let own = own.or_else(|| symbols.map(|(v, _)| v).filter(is_of_thread).min().copied());
        let own = own.filter(|_| self.cx.is_threaded).map(|var| &self.cx.file.var(var).name);
        let own = own.map(|name| format!("each thread has its own `{name}` (`threadprivate`)"));
        if let (Some(message), Some(_)) = (&own, team) {
            return Err(Refusal::new(head, message).help("copy it into a local variable before the loop"));
        }
        // A replay has no value for a pointer that is not followed.
        let only_tested = state.null_tests.iter().filter(|(var, id)| {
            let is_followed = state.arrays.get(var).is_some_and(|a| nest.arrays().contains(a));
            nest.vars().contains(&(**id).into()) && !is_followed
        });
        if let Some(var) = only_tested.map(|(var, _)| var).min() {
            let message =
                format!("the pointer `{}` is tested and never followed", self.cx.file.var(*var).name);
            return Err(Refusal::new(head, message).help("test it before the loop"));
        }
        let is_followed = |var: &VarId| state.arrays.get(var).is_some_and(|a| nest.arrays().contains(a));
        // One is another's name for the memory of the other, or leads nowhere in a replay.
        let by_both = subtracted.iter().filter(|(end, base)| is_followed(end) || !is_followed(base)).min();
        if let Some((end, _)) = by_both {
            let message =
                format!("the loop ends at `{}`, which is followed as well", self.cx.file.var(*end).name);
            return Err(Refusal::new(head, message).help("count with an integer"));
        }
        if let Some((end, (base, _))) = ends.iter().filter(|(_, (base, _))| !is_followed(base)).min() {
            let [end, base] = [end, base].map(|v| &self.cx.file.var(*v).name);
            let message = format!("the loop ends at `{end}`, and `{base}` is never followed");
            return Err(Refusal::new(head, message).help("count with an integer"));
        }
        nest.live_out = self.live_out(&state, &nest, s.range, span);
        if let Some(team) = team {
            let team = self.team_of(s, &nest, &state, team)?;
            state.program.threads.insert(id, Threads::Team);
            state.binding.teams.insert(id, team);
        }
        let one_thread = match own {
            _ if self.in_lanes => Some("a loop around it runs in vector lanes".to_owned()),
            None if self.is_of_every_thread(s) && !is_together => {
                Some("every thread of the `omp parallel` around it runs this loop".to_owned())
            }
            own => own,
        };
        if let Some(reason) = one_thread {
            state.program.threads.insert(id, Threads::One(reason));
            state.binding.teams.shift_remove(&id);
        }
        let known = Found { scan: &scan, by_calls: &by_calls, ends: &ends, subtracted: &subtracted };
        let mut own_text = self.own_text(&state, &nest, s, &known);
        own_text.clauses = self.clauses(s, &inlined);
        if own_text != OwnText::default() {
            self.own_texts.insert(id, own_text);
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

    /// The pointers that are followed on every way to a statement.
    fn followed_before(&self, at: Range) -> BTreeSet<Followed> {
        let file = self.cx.file;
        let own = |name: &str| {
            file.vars
                .iter()
                .filter(|v| v.function == Some(self.cx.position) && v.member.is_none() && v.name == name)
                .count()
        };
        followed_before(file, self.cx.function, at, self.cx.has_strict_aliasing)
            .into_iter()
            .map(|(root, steps)| (file.var(root).name.clone(), steps))
            .filter(|(name, _)| own(name) == 1)
            .collect()
    }

    /// The bytes of a nest in the user's file.
    fn place(&self, s: &Stmt, head: Range) -> Lowered<Span> {
        if !self.places.has_statement(s.range) {
            return Err(match self.places.maker(s.range) {
                Some(name) => {
                    Refusal::new(head, format!("the macro `{name}` expands to more than this loop"))
                        .help("a macro must expand to one loop and nothing else")
                }
                None => Refusal::new(
                    head,
                    "this `for` is not written out in the file: a macro or an `#if` extends across its end",
                )
                .help("write the loop itself without macros; macros inside it are fine"),
            });
        }
        let Some(span) = self.places.of_statement(s.range, self.cx.above(s)) else {
            return Err(Refusal::new(head, "the pragmas above the loop are not written out in the file"));
        };
        if self.places.is_joined(s.range) {
            self.check_group(s, head)?;
        }
        Ok(span)
    }

    /// Refuses a group some loops of which a team of threads shares that is there already.
    fn check_group(&self, s: &Stmt, head: Range) -> Lowered<()> {
        if !self.cx.is_threaded {
            return Ok(());
        }
        let is_shared = |s: &Stmt| {
            self.cx.constructs(s).any(|c| c.is_shared) && !self.cx.constructs(s).any(|c| c.is_parallel)
        };
        let mut is_any = self.team.is_some();
        s.walk(&mut |s| is_any |= is_shared(s));
        match is_any {
            true => Err(Refusal::new(head, "threads that are there already run these loops one by one")),
            false => Ok(()),
        }
    }

    /// Removes stores to variables that are no longer read, since their reads were replaced by their values.
    fn without_unread(&self, state: &State, roots: &mut Vec<Node>, substituted: &BTreeSet<VarId>, at: Range) {
        for var in substituted {
            let Some(id) = state.arrays.get(var) else { continue };
            let is_own = self.cx.file.var(*var).function == Some(self.cx.position);
            let is_needed = is_own && is_live_after(self.cx.file, self.cx.function, at, *var);
            if !is_needed && !reads(roots, *id) {
                remove_stores(roots, *id);
            }
        }
    }

    /// The variables that are private to a team's threads while they run a nest.
    fn team_of(&self, s: &Stmt, nest: &Nest, state: &State, team: Team<'_>) -> Lowered<oxeye_binding::Team> {
        let head = Range { start: s.range.start, end: s.range.start + 3 };
        if !nest.rotations.is_empty() {
            return Err(Refusal::new(head, "pointers change places in a loop that threads share"));
        }
        let changed = self.cx.changed_by_threads(s, team);
        for var in &changed {
            let variable = self.cx.file.var(*var);
            let name = &variable.name;
            if matches!(variable.ty, Type::Array { .. } | Type::Struct(_)) {
                let message = format!("each thread has its own `{name}`, which the loop writes");
                return Err(Refusal::new(head, message).help(format!("declare `{name}` inside the loop")));
            }
            if !self.cx.is_set_before_use(s, *var) {
                let message = format!(
                    "each thread has its own `{name}`, which an iteration may read before it sets it"
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
        Ok(oxeye_binding::Team { own, names })
    }

    /// The name of an array whose elements are constants; with its declaration if that stands in a function.
    fn table(&self, var: VarId) -> Option<(String, Option<String>)> {
        let file = self.cx.file;
        let variable = file.var(var);
        if !matches!(variable.ty, Type::Array { .. }) || !file.fixed.contains(&var) {
            return None;
        }
        if matches!(variable.kind, VarKind::Global { .. }) {
            return Some((variable.name.clone(), None));
        }
        let mut value = None;
        self.cx.function.body.walk(&mut |s| {
            if let StmtKind::Declare(declared) = &s.kind {
                let init = declared.iter().find(|d| d.var == var).and_then(|d| d.init.as_ref());
                value = init.map(|init| init.range).or(value);
            }
        });
        let value = self.cx.preprocessed.text.get(value?.start..value?.end)?.replace('\n', " ");
        let declaration = format!("static const {} = {value};", file.declaration(variable)?);
        // Other names are no constants, or may be known in the function only.
        let is_known = |word: &str| {
            ["static", "const"].contains(&word) || word == variable.name || ARITHMETIC_WORDS.contains(&word)
        };
        let mut words = tokens(&declaration).into_iter().filter(|t| t.kind == TokenKind::Word);
        words.all(|t| is_known(t.text)).then(|| (variable.name.clone(), Some(declaration)))
    }

    /// The value of a variable that has one from its declaration on.
    fn known_value(&self, var: VarId) -> Option<String> {
        let file = self.cx.file;
        match (file.constants.get(&var), file.values.get(&var)) {
            (Some(value), _) => Some(value.to_string()),
            (None, Some(value)) => self.places.text(value.range).map(str::to_owned),
            (None, None) => None,
        }
    }

    /// The name of such a variable, its declaration, and its value.
    fn constant(&self, var: VarId) -> Option<[String; 3]> {
        let variable = self.cx.file.var(var);
        // Compilers know the value in the functions that they make of parallel loops only if it is declared `const`.
        let word = if self.cx.file.fixed.contains(&var) { "const " } else { "" };
        let declaration = format!("{word}{}", self.cx.file.declaration(variable)?);
        Some([variable.name.clone(), declaration, self.known_value(var)?])
    }

    /// The variables that the text of a nest uses besides its arguments.
    fn own_text(&self, state: &State, nest: &Nest, s: &Stmt, found: &Found<'_>) -> OwnText {
        let Found { scan, by_calls, ends, subtracted } = found;
        let file = self.cx.file;
        let used = state.vars_of(nest);
        let symbols = state
            .symbols
            .iter()
            .filter(|(_, id)| used.contains(&(**id).into()) || nest.mentions.contains(id));
        let mut represented: BTreeSet<VarId> = symbols.map(|(v, _)| *v).collect();
        represented.extend(nest.arrays().iter().filter_map(|id| state.vars.get(id)));
        let loads = state.binding.loads().filter(|(id, _)| used.contains(&(*id).into()));
        represented.extend(loads.filter_map(|(_, access)| state.vars.get(&access.array)));
        let roots: Vec<VarId> = represented.iter().map(|v| file.root(*v)).collect();
        represented.extend(roots);
        let loops: BTreeSet<String> = nest.loops().into_iter().map(|l| l.name.clone()).collect();
        let mut unused = BTreeSet::new();
        let mut sized = BTreeSet::new();
        s.walk_exprs(&mut |e| {
            if let ExprKind::SizeofExpr(inner) = &e.kind {
                inner.walk(&mut |e| sized.extend(e.as_var()));
            }
            let Some(var) = e.as_var().map(|v| file.root(v)) else { return };
            let is_counter = scan.iterators.contains(&var) && loops.contains(&file.var(var).name);
            let is_inside = file.var(var).function.is_some() && s.range.contains(file.var(var).range);
            let is_own = scan.declared.contains(&var)
                || file.var(var).is_own()
                || is_counter
                || is_inside
                || subtracted.contains_key(&var);
            if !is_own && !represented.contains(&var) && !self.is_visible_anywhere(var) {
                unused.insert(var);
            }
        });
        let is_array = |v: &VarId| {
            let variable = file.var(*v);
            matches!(variable.ty, Type::Array { .. })
                && file.layout(&variable.ty).is_some()
                && matches!(variable.kind, VarKind::Global { .. } | VarKind::Local { .. })
        };
        sized.retain(|v| represented.contains(v) && is_array(v));
        let declared = |v: VarId| Some((file.var(v).name.clone(), file.declaration(file.var(v))?));
        // A `while` loop leaves it to the text before it; the value that stands for it may have been moved into the loop.
        let begins = match &s.kind {
            StmtKind::For(f) => f.enters_with.as_ref().and_then(|value| {
                let init = match &f.init.as_ref()?.kind {
                    StmtKind::Expr(init) => init,
                    _ => return None,
                };
                let var = commas(init).into_iter().find_map(|e| match &e.kind {
                    ExprKind::Assign(_, target, _) => target.as_var().filter(|v| !file.var(*v).is_own()),
                    _ => None,
                });
                let var = var.filter(|var| value.as_var() != Some(*var))?;
                Some((file.var(var).name.clone(), self.places.text(value.range)?.to_owned()))
            }),
            _ => None,
        };
        // It is none of the iterators that are declared with their first values.
        let is_unused = |name: &str| unused.iter().any(|v| file.var(*v).name == name);
        let (first, begins) = match begins {
            Some((name, value)) if is_unused(&name) => (Some((name, value)), None),
            begins => (None, begins),
        };
        let (constant, unused): (Vec<VarId>, Vec<VarId>) =
            unused.into_iter().partition(|v| self.known_value(*v).is_some());
        OwnText {
            clauses: Clauses::default(),
            constants: constant.iter().filter_map(|v| self.constant(*v)).collect(),
            tables: represented.iter().filter_map(|v| self.table(*v)).collect(),
            begins,
            sized: sized.into_iter().filter_map(declared).collect(),
            by_calls: by_calls.iter().map(|v| file.var(*v).name.clone()).collect(),
            unused: self
                .enumerations(s)
                .into_iter()
                .chain(unused.into_iter().filter_map(|v| {
                    if let Some(function) = file.callees.get(&v) {
                        return Some(format!("__typeof__(&{function}) {} = &{function}", file.var(v).name));
                    }
                    let declaration = file.declaration(file.var(v))?;
                    if let Some((base, far)) = ends.get(&v) {
                        return Some(format!("{declaration} = {} + {far}", file.var(*base).name));
                    }
                    if let Some((_, value)) = first.as_ref().filter(|(name, _)| *name == file.var(v).name) {
                        return Some(format!("{declaration} = {value}"));
                    }
                    Some(format!("{declaration} = {{0}}"))
                }))
                .collect(),
        }
    }

    /// What the directives in and above a nest say, and those of the functions that it calls.
    fn clauses(&self, s: &Stmt, inlined: &BTreeSet<usize>) -> Clauses {
        let above = || self.cx.constructs(s);
        let reaches_inside = above().any(|c| c.n_collapsed > 1 || c.is_simd);
        let is_for_threads = above().any(|c| c.is_shared || c.is_parallel);
        if !self.cx.is_threaded {
            return Clauses { reaches_inside, is_for_threads, ..Clauses::default() };
        }
        let mut own: Vec<&Construct> = Vec::new();
        s.walk(&mut |inner| own.extend(self.cx.constructs(inner)));
        let functions = inlined.iter().map(|position| self.cx.file.functions[*position].range);
        let called = functions.flat_map(|range| self.cx.directives.inside(range));
        let creates_team = own.iter().any(|c| c.is_parallel)
            || called.into_iter().any(|p| matches!(&p.directive, Directive::Construct(c) if c.is_parallel));
        let all = |names: &dyn Fn(&Construct) -> Vec<String>| {
            let found: BTreeSet<String> = own.iter().flat_map(|c| names(c)).collect();
            found.into_iter().collect()
        };
        Clauses {
            reaches_inside,
            is_for_threads,
            creates_team,
            variables: all(&|c| c.variables()),
            counts: all(&|c| c.counts.clone()),
        }
    }

    /// Declarations of the function's own constants that the text uses.
    fn enumerations(&self, s: &Stmt) -> Vec<String> {
        let function = self.cx.function.range;
        let words: BTreeSet<&str> = self.places.text(s.range).map(words).unwrap_or_default();
        let own = self.cx.file.named.iter().filter(|(name, range)| {
            function.start <= range.start && range.end <= s.range.start && words.contains(name.as_str())
        });
        let bodies: BTreeSet<(usize, usize)> = own.map(|(_, range)| (range.start, range.end)).collect();
        let text = |(start, end)| self.places.text(Range { start, end }).filter(|text| text.starts_with('{'));
        bodies.into_iter().filter_map(text).map(|body| format!("enum {body}")).collect()
    }

    fn is_visible_anywhere(&self, var: VarId) -> bool {
        matches!(self.cx.file.var(var).kind, VarKind::Global { .. })
    }

    /// Symbols for the integers that clauses of a nest's directives use.
    pub(super) fn mentions(&self, s: &Stmt, lowerer: &mut Lowerer<'_>) -> Vec<SymId> {
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
                // A local variable hides one of the file.
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

    /// The variables that the nest does nothing with but accumulate, as the directive above it allows in any order.
    fn unordered(&self, state: &State, nest: &Nest, s: &Stmt) -> Vec<ArrayId> {
        if !self.cx.is_threaded || self.cx.keeps_order {
            return Vec::new();
        }
        let clauses: Vec<&(String, String)> = match (self.places.is_joined(s.range), &s.kind) {
            (true, StmtKind::Block(loops)) => self.reduced_by_all(loops),
            _ => self.cx.constructs(s).flat_map(|c| &c.reduced).collect(),
        };
        let stmts = nest.stmts();
        let is_left_open = |id: &ArrayId| {
            let Some(var) = state.vars.get(id) else { return false };
            let variable = self.cx.file.var(*var);
            // Of names in inner scopes, the clause means none.
            let is_outer = variable.member.is_none()
                && !matches!(state.program.array(*id).storage, Storage::Body(_) | Storage::Temp(_))
                && variable.function.is_none_or(|f| f == self.cx.position);
            let ops: Vec<&str> = clauses
                .iter()
                .filter(|(name, _)| *name == variable.name)
                .map(|(_, op)| op.as_str())
                .collect();
            let [op] = ops.as_slice() else { return false };
            let fits = |update: Update| match *op {
                "+" | "-" => matches!(update, Update::Add | Update::Sub),
                "*" => update == Update::Mul,
                "min" => update == Update::Min,
                "max" => update == Update::Max,
                _ => false,
            };
            is_outer && stmts.iter().filter(|stmt| stmt.target.array == *id).all(|stmt| fits(stmt.update))
        };
        let mut written: Vec<ArrayId> = stmts.iter().map(|stmt| stmt.target.array).collect();
        written.sort_unstable();
        written.dedup();
        written.retain(is_left_open);
        written
    }

    /// What the directives above those loops of a group say that change it.
    fn reduced_by_all(&self, loops: &[Stmt]) -> Vec<&'a (String, String)> {
        let clauses = |s: &Stmt| self.cx.constructs(s).flat_map(|c| &c.reduced);
        let changes = |s: &&Stmt, name: &str| {
            let scan = Scan::of(self.cx.file, s);
            scan.written.iter().chain(&scan.stored).any(|v| self.cx.file.var(*v).name == name)
        };
        let mut found: Vec<&(String, String)> = loops.iter().flat_map(clauses).collect();
        found.sort_unstable();
        found.dedup();
        found.retain(|clause| {
            let mut changing = loops.iter().filter(|s| changes(s, &clause.0));
            changing.all(|s| clauses(s).any(|own| own == *clause))
        });
        found
    }

    /// Records which rows behind pointers the nest uses.
    pub(super) fn test_rows(&self, state: &mut State, nest: &Nest, at: Range) -> Lowered<()> {
        let Rows { tests: rows, scans, conditions } = row_tests(state, nest, at)?;
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
        let entry = state.binding.entries.entry(nest.id).or_default();
        entry.rows = rows;
        entry.scans = scans;
        let mut seen = BTreeSet::new();
        for condition in conditions {
            // Each access gives the same condition.
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

    pub(super) fn live_out(&self, state: &State, nest: &Nest, range: Range, span: Span) -> Vec<ArrayId> {
        let mut written: Vec<ArrayId> =
            nest.accesses().into_iter().filter(|(_, is_write)| *is_write).map(|(a, _)| a.array).collect();
        written.sort_unstable();
        written.dedup();
        written.retain(|id| {
            let array = state.program.array(*id);
            let Some(var) = state.vars.get(id) else { return false };
            let variable = self.cx.file.var(*var);
            if variable.function == Some(self.cx.position)
                && variable.member.is_none()
                && matches!(array.storage, Storage::Param | Storage::Local)
                && self.cx.unseen.may_read(variable, span)
            {
                return array.storage == Storage::Local || matches!(variable.ty, Type::Scalar(_));
            }
            match (array.storage, &variable.ty) {
                (Storage::Param, Type::Scalar(_)) => {
                    is_live_after(self.cx.file, self.cx.function, range, *var)
                }
                (Storage::Local, Type::Pointer { .. }) => {
                    !is_scratch_of(self.cx.file, self.cx.function, range, *var)
                }
                (Storage::Local, Type::Array { of, .. }) if matches!(**of, Type::Pointer { .. }) => true,
                (Storage::Local, Type::Array { .. }) => {
                    is_array_kept(self.cx.file, self.cx.function, *var)
                        || is_live_after(self.cx.file, self.cx.function, range, *var)
                }
                (Storage::Local, _) => is_live_after(self.cx.file, self.cx.function, range, *var),
                _ => false,
            }
        });
        written
    }
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').collect()
}

/// Refuses a nest that uses structures of an array by an index that changes besides single ones.
fn check_elements(state: &State, nest: &Nest, head: Range) -> Lowered<()> {
    let Some(name) = used_both_ways((&state.program, &state.binding), nest) else { return Ok(()) };
    let message = format!("`{name}` is used, and other elements of its array are besides");
    Err(Refusal::new(head, message).help("let a pointer lead to the structure, and set it before the loop"))
}

/// Refuses a nest with checks that end the program if it cannot be found out before it that none fails.
fn check_checks(state: &State, nest: &Nest, facts: &Facts, head: Range) -> Lowered<()> {
    let (mut program, mut probe) = (state.program.clone(), nest.clone());
    if without_checks(&mut program, &mut probe, &state.checks, facts).is_none() {
        let mut stmts = nest.stmts().into_iter();
        let first = stmts.find_map(|s| state.checks.get(&s.target.array));
        return Err(may_end_program(first.map_or(head, |check| check.at)));
    }
    if probe.stmts().is_empty() {
        return Err(Refusal::new(head, "the loop does nothing but check"));
    }
    Ok(())
}
