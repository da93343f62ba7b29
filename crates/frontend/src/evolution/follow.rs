//! Follows the statements of a loop's body, path by path.

use super::form::{Evolution, Trips, minus, operation, plus, select, times};
use super::sum::{Level, Symbol};
use crate::ast::*;
use crate::flow::is_address_taken;
use crate::scan::{Scan, commas};
use oxeye_ir::{BinaryOp, ScalarType, UnaryOp};
use std::collections::{BTreeMap, BTreeSet};

/// What the variables hold at a place.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) values: BTreeMap<VarId, Evolution>,
    /// Distances that must not be negative for those to be right, as none of the loops that cover them may be left out.
    pub(super) needs: BTreeMap<VarId, Vec<Evolution>>,
    /// Whether the place is never reached.
    pub(super) is_dead: bool,
}

/// Where the paths through a body go.
#[derive(Default)]
pub(super) struct Paths {
    /// The states at each `continue`.
    pub(super) continued: Vec<State>,
    /// Whether the loop may be left from inside.
    pub(super) is_left: bool,
}

/// What a loop does to its variables.
#[derive(Clone, Debug)]
pub(crate) struct Evolutions {
    /// What each variable that it changes holds at the head of an iteration.
    pub(crate) heads: BTreeMap<VarId, Evolution>,
    /// Distances that must not be negative for that to hold.
    pub(crate) needs: BTreeMap<VarId, Vec<Evolution>>,
    pub(crate) trips: Trips,
    /// Whether it may be left before that.
    pub(crate) is_left: bool,
    /// How often it runs at least.
    pub(crate) least: i64,
    /// What each holds behind the loop, with what that needs.
    pub(crate) exits: BTreeMap<VarId, Evolution>,
    pub(crate) level: Level,
}

/// Evaluates one loop with all inside.
pub(crate) struct Evaluator<'f> {
    pub(super) file: &'f File,
    /// What the loop changes.
    changed: Scan,
    /// Expressions that are not followed.
    pub(crate) fixed: Vec<Expr>,
    n_loops: Level,
    /// Each loop that was followed, inner ones in terms of the heads of those around them.
    pub(crate) inner: Vec<Evolutions>,
}

impl<'f> Evaluator<'f> {
    /// The evaluator of a loop, and what that does to its variables. `None` if there are jumps in it, or more calls than are
    /// followed.
    pub(crate) fn of(file: &'f File, f: &For) -> Option<(Self, Evolutions)> {
        let mut is_wild = false;
        f.body.walk(&mut |s| {
            is_wild |= matches!(s.kind, StmtKind::Goto(_) | StmtKind::Label(..) | StmtKind::Unknown(..));
        });
        let changed = changed_by(file, f);
        if is_wild || changed.is_cut_short {
            return None;
        }
        let mut evaluator = Evaluator { file, changed, fixed: Vec::new(), n_loops: 0, inner: Vec::new() };
        let mut state = State::default();
        let found = evaluator.a_loop(f, &mut state);
        Some((evaluator, found))
    }

    /// Whether a variable is an integer or a pointer that only assignments to its name change.
    pub(super) fn is_followed(&self, var: VarId) -> bool {
        use ScalarType::{I32, I64, U32, U64};
        let variable = self.file.var(var);
        let is_own = matches!(variable.kind, VarKind::Param(_) | VarKind::Local { is_static: false });
        let is_number = match &variable.ty {
            Type::Scalar(s) => matches!(s.ty, I32 | I64 | U32 | U64) && !s.is_volatile && !s.is_bool,
            ty => matches!(ty, Type::Pointer { .. }),
        };
        let function = variable.function.and_then(|k| self.file.functions.get(k));
        is_own && is_number && function.is_some_and(|function| !is_address_taken(function, var))
    }

    pub(super) fn is_changed(&self, var: VarId) -> bool {
        [&self.changed.written, &self.changed.declared, &self.changed.iterators]
            .iter()
            .any(|set| set.contains(&var))
    }

    /// What a variable holds.
    pub(super) fn held(&self, state: &State, var: VarId, at: Range) -> Evolution {
        if let Some(value) = state.values.get(&var) {
            return value.clone();
        }
        if self.is_changed(var) && !self.is_followed(var) || self.changed.declared.contains(&var) {
            let name = &self.file.var(var).name;
            return Evolution::unknown(format!("what `{name}` holds is not followed"), at);
        }
        match self.file.constants.get(&var) {
            Some(n) => (*n).into(),
            None => Symbol::Entry(var).into(),
        }
    }

    fn set(&self, state: &mut State, var: VarId, value: Evolution, needs: Vec<Evolution>) {
        if self.is_followed(var) {
            state.needs.insert(var, needs);
            state.values.insert(var, value);
        }
    }

    /// What must hold for the values of these expressions.
    fn needed(&self, state: &State, of: &[&Expr]) -> Vec<Evolution> {
        let mut needs: Vec<Evolution> = Vec::new();
        for e in of {
            e.walk(&mut |e| {
                for need in e.as_var().and_then(|v| state.needs.get(&v)).into_iter().flatten() {
                    if !needs.contains(need) {
                        needs.push(need.clone());
                    }
                }
            });
        }
        needs
    }

    /// The value of an expression without effects.
    pub(super) fn value(&mut self, state: &State, e: &Expr) -> Evolution {
        let at = e.range;
        match &e.kind {
            ExprKind::Int(n, _) => (*n).into(),
            ExprKind::Var(v) => self.held(state, *v, at),
            ExprKind::Promote(inner) => self.value(state, inner),
            _ if self.kind(e) == Kind::Other || self.kind(e) == Kind::Unsigned => self.as_it_is(e),
            ExprKind::Cast(ty, inner) if ty.is_pointer() && self.file.type_of(inner).as_ref() == Some(ty) => {
                self.value(state, inner)
            }
            ExprKind::Cast(_, inner) if self.kind(inner) == Kind::Signed => {
                let is_wide = |e: &Expr| self.width(e) >= self.width(inner);
                if is_wide(e) { self.value(state, inner) } else { self.as_it_is(e) }
            }
            ExprKind::Unary(UnaryOp::Neg, inner) => times(self.value(state, inner), (-1).into(), at),
            ExprKind::Binary(op, l, r) => {
                let is_linear = matches!(op, BinaryOp::Add | BinaryOp::Sub);
                let fits = |k: Kind| k == Kind::Signed || k == Kind::Pointer && (is_linear || compares(*op));
                if !fits(self.kind(l)) || !fits(self.kind(r)) && !compares(*op) {
                    return self.as_it_is(e);
                }
                // What does not change and is no plain sum is one thing.
                let has_constant = constant(l).or(constant(r)).is_some();
                let is_scaled = has_constant && matches!(op, BinaryOp::Mul | BinaryOp::Shl);
                if !is_linear && !compares(*op) && !is_scaled && !self.changes(e) {
                    return self.as_it_is(e);
                }
                let (l, r) = (self.value(state, l), self.value(state, r));
                match (op, r.as_constant()) {
                    (BinaryOp::Add, _) => plus(l, r, at),
                    (BinaryOp::Sub, _) => minus(l, r, at),
                    (BinaryOp::Mul, _) => times(l, r, at),
                    (BinaryOp::Shl, Some(by @ 0..=30)) => times(l, (1i64 << by).into(), at),
                    (BinaryOp::Div | BinaryOp::Rem | BinaryOp::BitAnd, Some(_)) => operation(*op, l, r),
                    (op, _) if compares(*op) => operation(*op, l, r),
                    _ => self.as_it_is(e),
                }
            }
            ExprKind::Select(..) if !self.changes(e) => self.as_it_is(e),
            ExprKind::Select(condition, then, otherwise) => {
                let condition = self.value(state, condition);
                select(condition, self.value(state, then), self.value(state, otherwise))
            }
            _ => self.as_it_is(e),
        }
    }

    /// An expression that is not taken apart.
    fn as_it_is(&mut self, e: &Expr) -> Evolution {
        if self.changes(e) {
            return Evolution::unknown("the value is not one that is followed", e.range);
        }
        let known = self.fixed.iter().position(|known| alike(known, e));
        Symbol::Fixed(known.unwrap_or_else(|| {
            self.fixed.push(e.clone());
            self.fixed.len() - 1
        }))
        .into()
    }

    /// Whether an expression may have another value in another iteration, or does something.
    fn changes(&self, e: &Expr) -> bool {
        let mut found = false;
        e.walk(&mut |e| match &e.kind {
            ExprKind::Var(v) => found |= self.is_changed(*v),
            ExprKind::Index(..) | ExprKind::Deref(_) => {
                found |= self.file.pointer_var(e).is_none_or(|v| self.changed.stored.contains(&v));
            }
            ExprKind::Call(..) | ExprKind::Assign(..) | ExprKind::Step { .. } | ExprKind::Unknown(..) => {
                found = true;
            }
            _ => {}
        });
        found
    }

    fn kind(&self, e: &Expr) -> Kind {
        let of_type = |ty: &Type| match ty {
            Type::Scalar(s) if s.is_bool || s.is_volatile || s.ty.is_float() => Kind::Other,
            Type::Scalar(s) if matches!(s.ty, ScalarType::U32 | ScalarType::U64) => Kind::Unsigned,
            Type::Scalar(_) => Kind::Signed,
            ty if ty.is_pointer() => Kind::Pointer,
            _ => Kind::Other,
        };
        let both = |l: &Expr, r: &Expr| match (self.kind(l), self.kind(r)) {
            (Kind::Other, _) | (_, Kind::Other) => Kind::Other,
            (Kind::Unsigned, _) | (_, Kind::Unsigned) => Kind::Unsigned,
            (Kind::Pointer, Kind::Pointer) => Kind::Signed,
            (Kind::Pointer, _) | (_, Kind::Pointer) => Kind::Pointer,
            (Kind::Signed, Kind::Signed) => Kind::Signed,
        };
        match &e.kind {
            ExprKind::Int(_, ty) => of_type(&Type::scalar(*ty)),
            ExprKind::Promote(inner) | ExprKind::Unary(UnaryOp::Neg, inner) => self.kind(inner),
            ExprKind::Binary(op, ..) if compares(*op) => Kind::Signed,
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..) | ExprKind::Unary(UnaryOp::Not, _) => {
                Kind::Signed
            }
            ExprKind::Binary(_, l, r) => both(l, r),
            ExprKind::Select(_, then, otherwise) => match (self.kind(then), self.kind(otherwise)) {
                (one, other) if one == other => one,
                _ => Kind::Other,
            },
            _ => self.file.type_of(e).map_or(Kind::Other, |ty| of_type(&ty)),
        }
    }

    pub(super) fn is_unsigned_value(&self, e: &Expr) -> bool {
        self.kind(e) == Kind::Unsigned
    }

    /// Bytes of a signed integer.
    fn width(&self, e: &Expr) -> u64 {
        match &e.kind {
            ExprKind::Int(_, ty) => ty.bytes(),
            ExprKind::Promote(inner) | ExprKind::Unary(_, inner) => self.width(inner).max(4),
            ExprKind::Binary(op, ..) if compares(*op) => 4,
            ExprKind::Binary(_, l, r) | ExprKind::Select(_, l, r) => self.width(l).max(self.width(r)),
            _ => self.file.type_of(e).and_then(|ty| ty.as_scalar().map(|s| s.ty.bytes())).unwrap_or(8),
        }
    }

    pub(super) fn is_unsigned(&self, var: VarId) -> bool {
        let ty = self.file.var(var).ty.as_scalar().map(|s| s.ty);
        matches!(ty, Some(ScalarType::U32 | ScalarType::U64))
    }

    /// An expression that is evaluated for what it does.
    pub(super) fn effect(&mut self, state: &mut State, e: &Expr) {
        for e in commas(e) {
            let at = e.range;
            let set = match &e.kind {
                ExprKind::Step { target, by, .. } => target.as_var().map(|var| {
                    let value = plus(self.held(state, var, at), (*by).into(), at);
                    (var, value, self.needed(state, &[target]))
                }),
                ExprKind::Assign(op, target, value) => target.as_var().map(|var| {
                    let new = self.assigned(state, *op, var, value, at);
                    let sources: &[&Expr] = if op.is_some() { &[target, value] } else { &[value] };
                    (var, new, self.needed(state, sources))
                }),
                _ => None,
            };
            self.lose(state, e);
            if let Some((var, value, needs)) = set {
                self.set(state, var, value, needs);
            }
        }
    }

    /// What an assignment makes of a variable.
    fn assigned(
        &mut self,
        state: &State,
        op: Option<BinaryOp>,
        var: VarId,
        value: &Expr,
        at: Range,
    ) -> Evolution {
        let unclear = || Evolution::unknown("the value is not one that is followed", at);
        if matches!(value.kind, ExprKind::Assign(..) | ExprKind::Step { .. }) {
            return Evolution::unknown("an assignment inside an expression", at);
        }
        let amount = self.value(state, value);
        let own = self.held(state, var, at);
        // Steps of unsigned variables count; what else is computed of them may wrap around.
        match op {
            None => self.converted(var, amount, value),
            Some(_) if self.kind(value) == Kind::Other => unclear(),
            Some(BinaryOp::Add) => plus(own, amount, at),
            Some(BinaryOp::Sub) => minus(own, amount, at),
            _ if self.is_unsigned(var) => Evolution::unknown("the value may wrap around", at),
            Some(BinaryOp::Mul) => times(own, amount, at),
            Some(BinaryOp::Shl) => match amount.as_constant() {
                Some(by @ 0..=30) => times(own, (1i64 << by).into(), at),
                _ => unclear(),
            },
            Some(op @ (BinaryOp::Div | BinaryOp::Rem)) => operation(op, own, amount),
            Some(_) => unclear(),
        }
    }

    /// A value as a variable holds it, if that is the same number.
    fn converted(&self, var: VarId, value: Evolution, e: &Expr) -> Evolution {
        let own = Expr { kind: ExprKind::Var(var), range: e.range };
        let (to, from) = (self.kind(&own), self.kind(e));
        let fits = match value.as_constant() {
            Some(n) => n >= 0 && i32::try_from(n).is_ok() || to == Kind::Signed && self.width(&own) == 8,
            None => to == from && (to == Kind::Pointer || self.width(e) <= self.width(&own)),
        };
        let is_negative = value.as_constant().is_some_and(|n| i32::try_from(n).is_ok() && to == Kind::Signed);
        match value {
            Evolution::Unknown(stop) => Evolution::Unknown(stop),
            value if fits || is_negative => value,
            _ => Evolution::unknown("the value is converted to another type", e.range),
        }
    }

    /// Forgets what an expression assigns, or may assign.
    fn lose(&self, state: &mut State, e: &Expr) {
        e.walk(&mut |e| match &e.kind {
            ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => {
                if let Some(var) = target.as_var() {
                    self.lose_var(state, var, e.range);
                }
            }
            ExprKind::Unknown(_, inside) => {
                for e in inside {
                    e.walk(&mut |e| {
                        e.as_var().into_iter().for_each(|var| self.lose_var(state, var, e.range))
                    });
                }
            }
            _ => {}
        });
    }

    fn lose_var(&self, state: &mut State, var: VarId, at: Range) {
        if self.is_followed(var) {
            let name = &self.file.var(var).name;
            let value = Evolution::unknown(format!("`{name}` is assigned inside an expression"), at);
            state.values.insert(var, value);
        }
    }

    pub(super) fn stmt(&mut self, s: &Stmt, state: &mut State, paths: &mut Paths) {
        if state.is_dead {
            return;
        }
        match &s.kind {
            StmtKind::Empty => {}
            StmtKind::Expr(e) => self.effect(state, e),
            StmtKind::Declare(declared) => declared.iter().for_each(|d| self.declare(state, d, s.range)),
            StmtKind::Block(body) => body.iter().for_each(|s| self.stmt(s, state, paths)),
            StmtKind::If { condition, then, otherwise } => {
                self.lose(state, condition);
                let value = self.value(state, condition);
                let (mut yes, mut no) = (state.clone(), state.clone());
                self.stmt(then, &mut yes, paths);
                otherwise.iter().for_each(|s| self.stmt(s, &mut no, paths));
                *state = self.joined(&value, yes, no, condition.range);
            }
            StmtKind::For(f) => _ = self.a_loop(f, state),
            StmtKind::While { .. } | StmtKind::DoWhile { .. } => {
                if let Some(f) = s.as_for() {
                    self.a_loop(&f, state);
                }
            }
            StmtKind::Continue => {
                paths.continued.push(state.clone());
                state.is_dead = true;
            }
            StmtKind::Break | StmtKind::Return(_) => {
                paths.is_left = true;
                state.is_dead = true;
            }
            // Loops with those are not evaluated.
            StmtKind::Goto(_) | StmtKind::Label(..) | StmtKind::Unknown(..) => state.is_dead = true,
        }
    }

    fn declare(&mut self, state: &mut State, d: &Declared, at: Range) {
        let name = &self.file.var(d.var).name;
        let (value, needs) = match &d.init {
            Some(init) => {
                let value = self.value(state, init);
                let needs = self.needed(state, &[init]);
                self.lose(state, init);
                (self.converted(d.var, value, init), needs)
            }
            None => (Evolution::unknown(format!("`{name}` is not set"), at), Vec::new()),
        };
        self.set(state, d.var, value, needs);
    }

    /// The state where two paths meet.
    pub(super) fn joined(&self, condition: &Evolution, yes: State, no: State, at: Range) -> State {
        if yes.is_dead {
            return no;
        }
        if no.is_dead {
            return yes;
        }
        let vars: BTreeSet<VarId> = yes.values.keys().chain(no.values.keys()).copied().collect();
        let mut joined = State::default();
        for var in vars {
            let (one, other) = (self.held(&yes, var, at), self.held(&no, var, at));
            let value = match (one.is_unknown(), other.is_unknown()) {
                (false, false) if one != other && condition.is_unknown() => {
                    let name = &self.file.var(var).name;
                    Evolution::unknown(format!("what `{name}` holds depends on a condition"), at)
                }
                _ => select(condition.clone(), one, other),
            };
            joined.values.insert(var, value);
            let mut needs = yes.needs.get(&var).cloned().unwrap_or_default();
            let more = no.needs.get(&var).into_iter().flatten();
            needs.extend(more.filter(|need| !needs.contains(need)).cloned().collect::<Vec<_>>());
            joined.needs.insert(var, needs);
        }
        joined
    }

    /// A loop: its recurrences, and the state behind it.
    fn a_loop(&mut self, f: &For, state: &mut State) -> Evolutions {
        let level = self.n_loops;
        self.n_loops += 1;
        let mut outside = Paths::default();
        f.init.iter().for_each(|init| self.stmt(init, state, &mut outside));
        let scan = changed_by(self.file, f);
        let changed = scan.written.iter().chain(&scan.iterators).chain(&scan.declared).copied();
        let changed: BTreeSet<VarId> = changed.filter(|v| self.is_followed(*v)).collect();
        let before = state.clone();
        for var in &changed {
            state.values.insert(*var, Symbol::Head(*var, level).into());
            state.needs.remove(var);
        }
        let mut paths = Paths::default();
        let counter = crate::scan::counter(f);
        f.condition.iter().for_each(|e| self.lose(state, e));
        if let (true, Some(var)) = (f.is_behind, counter) {
            let here = plus(self.held(state, var, f.body.range), (-1).into(), f.body.range);
            state.values.insert(var, here);
        }
        self.stmt(&f.body, state, &mut paths);
        if let (true, Some(var)) = (f.is_behind, counter) {
            state.values.insert(var, Symbol::Head(var, level).into());
        }
        let unclear = Evolution::unknown("it depends on where `continue` goes on", f.body.range);
        for continued in std::mem::take(&mut paths.continued) {
            *state = self.joined(&unclear, continued, std::mem::take(state), f.body.range);
        }
        f.step.iter().for_each(|e| self.effect(state, e));
        let mut found = self.solved(level, &changed, &before, state, f.body.range);
        found.least = i64::from(f.runs_first);
        found.trips = self.trips(f, &found, &before);
        found.is_left = paths.is_left;
        *state = before;
        for var in &changed {
            let (value, need) = found.at_exit(*var, f.body.range);
            let mut needs = state.needs.remove(var).unwrap_or_default();
            for need in found.needs.get(var).into_iter().flatten().chain(&need) {
                if !needs.contains(need) {
                    needs.push(need.clone());
                }
            }
            state.needs.insert(*var, needs);
            found.exits.insert(*var, value.clone());
            state.values.insert(*var, value);
        }
        self.inner.push(found.clone());
        found
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Signed,
    Unsigned,
    Pointer,
    Other,
}

pub(super) fn compares(op: BinaryOp) -> bool {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Lt | Le | Gt | Ge | Eq | Ne)
}

/// The variables that a loop writes, its own included.
fn changed_by(file: &File, f: &For) -> Scan {
    let mut all = Scan::of(file, &f.body);
    let effects = f.init.clone().into_iter().chain(
        f.condition.iter().chain(&f.step).map(|e| Stmt { kind: StmtKind::Expr(e.clone()), range: e.range }),
    );
    for s in effects {
        let more = Scan::of(file, &s);
        all.written.extend(more.written);
        all.declared.extend(more.declared);
        all.stored.extend(more.stored);
        all.is_cut_short |= more.is_cut_short;
    }
    // What the header declares is set by it.
    if let Some(StmtKind::Declare(declared)) = f.init.as_ref().map(|s| &s.kind) {
        declared.iter().filter(|d| d.init.is_some()).for_each(|d| _ = all.declared.remove(&d.var));
        all.written.extend(declared.iter().map(|d| d.var));
    }
    all
}
