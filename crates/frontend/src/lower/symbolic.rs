//! Loops that step by a number only the run knows: `for (x = first; x < n; x += block)`.
//!
//! The nest counts the iterations: `x` is `first + block * k`, and how many there are is a symbol, computed before the
//! nest. All of it holds for positive steps; that is proved, or tested before the nest.
//!
//! Loops with a constant step in which a pointer or a number walks by no multiple of it, `do { sum += *a++ * b[i]; } while ((i -= 2)
//! > 0)` and `for (i = 0, k = 0; i < n; i += 2) y[k++] = x[i]`, are counted in the same way.

use super::evolving::{Here, is_counted, reads};
use super::header::{Header, Step, Stride, may_change};
use super::index::Mode;
use super::iterations::Counted;
use super::limits::Limits;
use super::lowerer::{Bound, Lowerer};
use super::searches::leave_loop;
use super::value::{Value, is_comparison, is_unsigned, reads_memory};
use crate::ast::{self, ExprKind, For, Range, Stmt, StmtKind, VarId};
use crate::evolution::{Evaluator, Evolution};
use crate::refusal::{Lowered, Refusal};
use crate::rotations::split_rotations;
use crate::scan::{Scan, assigned_var, commas, mentions};
use oxeye_ir::{
    Access, Affine, BinaryOp, BoundTerm, Constraint, Execution, Expr, Loop, LoopId, Node, Program,
    ScalarType, SymId, Update, Var,
};

/// Most tests before a nest for steps and first values.
pub(super) const MOST_TESTS: usize = 8;

/// How often a loop runs.
struct Counts {
    /// The least of these.
    upper: Vec<BoundTerm>,
    /// The conditions under which it does.
    guards: Vec<Expr>,
    /// What the loop writes.
    inside: Scan,
    /// If it counts down to one end, how often that is and the last value of its variable.
    last: Option<(Affine, Expr)>,
    /// What holds in each iteration.
    known: Vec<Constraint>,
}

impl Lowerer<'_> {
    /// An amount other than a constant that a loop's variable steps by.
    pub(super) fn symbolic_step(&mut self, amount: Value, sign: i64, at: Range) -> Lowered<Step> {
        let amount = self.ahead(amount, at)?;
        let exact = self.exact(&amount.e);
        let by = exact.and_then(|e| e.as_affine().cloned().or_else(|| self.computed_end(&e)));
        match by.filter(|_| !amount.ty.is_float()) {
            Some(by) => Ok(Step::Symbolic(Stride { by, ty: amount.ty, is_down: sign < 0, beside: None })),
            None => Err(may_change(at)),
        }
    }

    /// What a loop's variable of this type steps by. A constant is like a number that only the run knows where a pointer or
    /// another number walks in the loop, and its distances are no multiples of that.
    pub(super) fn counted_step(
        &mut self,
        f: &For,
        header: &Header<'_>,
        (ty, is_narrow): (ScalarType, bool),
    ) -> Lowered<Step> {
        let step = self.step(header.step)?;
        let Step::Constant(by) = step else { return Ok(step) };
        let (body, rotations) = split_rotations(self.cx.file, &f.body);
        let is_plain = rotations.is_empty() && !f.is_behind && !self.is_left(body);
        if by.abs() == 1 || is_narrow || !is_plain || (by < 0 && is_unsigned(ty)) {
            return Ok(step);
        }
        Ok(match self.walking_between(f, header.var, by) {
            None => step,
            Some(walking) => {
                let beside = Some(walking).filter(|v| self.is_pointer_var(*v));
                // It can be read without what a number holds.
                self.reading.has_split |= beside.is_none();
                Step::Symbolic(Stride { by: by.abs().into(), ty, is_down: by < 0, beside })
            }
        })
    }

    /// A pointer, or else a number that the loop reads, that walks in it by a distance that is no multiple of this.
    fn walking_between(&self, f: &For, counter: VarId, by: i64) -> Option<VarId> {
        let file = self.cx.file;
        let is_pointer = |v: &VarId| self.is_pointer_var(*v);
        let body = Scan::of(file, &f.body);
        let is_number = |v: &VarId| {
            let is_counted = file.var(*v).ty.as_scalar().is_some_and(|scalar| is_counted(scalar.ty));
            self.reading.splits && is_counted && *v != counter && !body.declared.contains(v) && reads(f, *v)
        };
        let steps = f.step.iter().flat_map(commas).filter_map(assigned_var);
        let written: Vec<VarId> = body.written.iter().copied().chain(steps).collect();
        if !written.iter().any(|v| is_pointer(v) || is_number(v)) {
            return None;
        }
        let (_, evolutions) = Evaluator::of(file, f)?;
        let is_between = |head: &Evolution| match head {
            Evolution::Add { step, of: 0, .. } => step.as_sum().is_some_and(|distance| {
                let is_constant = distance.terms.is_empty() && distance.products.is_empty();
                !is_constant || distance.constant % by != 0
            }),
            _ => false,
        };
        let walking = |is_it: &dyn Fn(&VarId) -> bool| {
            evolutions.heads.iter().find(|(var, head)| is_it(var) && is_between(head)).map(|(var, _)| *var)
        };
        walking(&is_pointer).or_else(|| walking(&is_number))
    }

    /// Why a loop is not counted: where its step is a constant, that was wanted for a pointer only.
    fn uncounted_by(&self, stride: &Stride, at: Range, refusal: Box<Refusal>) -> Box<Refusal> {
        stride.beside.map_or(refusal, |pointer| self.unclear(pointer, at))
    }

    /// Makes sure that a number is at least `least`, by a test before the nest if it must be.
    pub(super) fn is_at_least(&mut self, a: &Affine, least: i64) -> bool {
        if self.facts.prove_non_negative(&a.clone().offset(-least)) {
            return true;
        }
        let is_never = self.facts.prove_non_negative(&(-a.clone()).offset(least - 1));
        let test = Expr::Binary(BinaryOp::Ge, Box::new(a.clone().into()), Box::new(Expr::from(least)));
        let is_known = self.outcome.tests.contains(&test);
        if is_never || a.loops().next().is_some() || (!is_known && self.outcome.tests.len() >= MOST_TESTS) {
            return false;
        }
        if !is_known {
            self.relies_on(&test);
            self.outcome.tests.push(test);
        }
        self.facts.push(Constraint::ge(a.clone(), least.into()));
        true
    }

    /// Notes that what is computed before the nest uses these symbols.
    pub(super) fn relies_on(&mut self, e: &Expr) {
        e.visit(&mut |e| {
            let vars = e.as_affine().into_iter().flat_map(Affine::terms);
            self.outcome.counted.extend(vars.filter_map(|(v, _)| match v {
                Var::Sym(id) => Some(id),
                Var::Loop(_) => None,
            }));
        });
    }

    /// The same for an expression that is not negative.
    pub(super) fn is_never_negative(&mut self, e: &Expr) -> bool {
        match e {
            Expr::Affine(a) => self.is_at_least(&a.clone(), 0),
            _ => self.is_non_negative(e) || self.is_tested(BinaryOp::Ge, e, 0),
        }
    }

    /// The same for an expression that is not above `most`.
    pub(super) fn is_at_most(&mut self, e: &Expr, most: i64) -> bool {
        match e {
            Expr::Affine(a) => self.is_at_least(&(Affine::constant(most) - a.clone()), 0),
            _ => self.is_tested(BinaryOp::Le, e, most),
        }
    }

    /// Whether a comparison with a number is tested before the nest, where both are fixed.
    fn is_tested(&mut self, op: BinaryOp, e: &Expr, limit: i64) -> bool {
        let test = Expr::Binary(op, Box::new(e.clone()), Box::new(Expr::from(limit)));
        let mut is_fixed = true;
        e.visit(&mut |e| is_fixed &= !matches!(e, Expr::Affine(a) if a.loops().next().is_some()));
        if self.outcome.tests.contains(&test) {
            return true;
        }
        if is_fixed && self.outcome.tests.len() < MOST_TESTS {
            self.relies_on(&test);
            self.outcome.tests.push(test);
            return true;
        }
        false
    }

    /// A loop whose variable, of type `ty`, steps by what only the run knows.
    pub(super) fn symbolic_loop(
        &mut self,
        s: &Stmt,
        f: &For,
        header: &Header<'_>,
        (ty, stride): (ScalarType, Stride),
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        let (var, at) = (header.var, header.step.range);
        let name = self.name(var).replace('.', "_");
        let by = &stride.by;
        if !self.is_at_least(by, 1) || stride.is_down && is_unsigned(ty) {
            let way = if stride.is_down { "downwards" } else { "upwards" };
            return Err(Refusal::new(at, format!("`{name}` does not surely step {way}"))
                .help("count upwards, with a step that the nest leaves as it is"));
        }
        if let Some(whole) = self.without_blocks(s, f, header) {
            return self.for_loop(s, &whole, out);
        }
        let (body, rotations) = split_rotations(self.cx.file, &f.body);
        if self.is_left(body) {
            let message = format!("the loop is left early, and `{name}` does not step by a constant");
            return Err(Refusal::new(at, message).help("count with a step of one and multiply"));
        }
        if f.is_behind || !rotations.is_empty() || header.after.iter().any(|e| e.mentions(var)) {
            let message =
                format!("`{name}` does not step by a constant, and what changes with it is unclear");
            let refusal = Refusal::new(at, message).help("count with a step of one and multiply");
            return Err(self.uncounted_by(&stride, s.range, refusal));
        }
        let first = self.first_by(header, (ty, &stride), s.range, out)?;
        self.set_pointers(header, true, s.range, out)?;
        self.set_pointers(header, false, s.range, out)?;
        let inside = Scan::of(self.cx.file, s);
        let mut carried = self.carried(s, f, (var, None), out);
        // The iterations are counted by one.
        let counted_by = |id| Here::of(id, Some(&Affine::constant(0)), 1);
        self.settle_header(&mut carried, &counted_by(LoopId(self.next_loop)));
        self.set_before(f, header, &carried.in_header, s.range, out)?;
        self.forget(&inside);
        carried.in_header.iter().for_each(|var| _ = self.bound.remove(var));
        let mark = self.facts.len();
        let Counts { upper, guards, inside, last, known } =
            self.counts(header, (ty, &first, &stride), inside, s.range)?;
        if f.runs_first
            && !upper
                .iter()
                .all(|term| matches!(term, BoundTerm::Affine { expr, .. } if self.is_at_least(expr, 1)))
        {
            return Err(self.runs_anyway(header.condition.range));
        }

        let id = self.fresh_loop();
        let is_narrow = ty == ScalarType::I32 && stride.ty.bytes() <= 4 && !is_unsigned(stride.ty);
        let counted = if is_narrow { ScalarType::I32 } else { ScalarType::I64 };
        self.loop_types.insert(id, counted);
        self.loops.push((Some(var), id));
        let l = Loop {
            id,
            name,
            ty: counted,
            lower: Affine::constant(0).into(),
            upper: oxeye_ir::Bound(upper),
            step: 1,
            execution: Execution::Sequential,
            body: Vec::new(),
        };
        self.facts.push_loop(&l);
        known.into_iter().for_each(|known| self.facts.push(known));
        for guard in &guards {
            self.facts.push_condition(guard, true);
        }
        let here = stride.value(&first, last.as_ref(), id);
        let here = self.typed(here, ty);
        self.bound.insert(var, Bound::Value(here));
        self.bind_carried(&carried, &counted_by(id), s.range)?;
        let after = self.counter_after(s, f, &l, guards.is_empty())?;
        let here = counted_by(id);
        let counted = Counted { l, guards, inside, carried, here, mark, is_kept: false, is_iterator: false };
        self.iterations((s, f, header), counted, out)?;
        if let Some(count) = after {
            let target = self.array(var, s.range)?;
            let by = if stride.is_down { -by.clone() } else { by.clone() };
            let value = at_count(&first, &by, count);
            self.push(Access::scalar(target), Update::Assign, value, s.range, out);
        }
        Ok(())
    }

    /// The first value of a variable of type `ty` that steps so.
    fn first_by(
        &mut self,
        header: &Header<'_>,
        (ty, stride): (ScalarType, &Stride),
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<Expr> {
        let name = self.name(header.var).replace('.', "_");
        let first = self.hoisting(None, out, |l, _| l.value(header.init))?;
        let first = self.ahead(first, header.init.range)?;
        let mode = if ty == ScalarType::I32 { Mode::Narrow } else { Mode::Exact };
        let refuse = |l: &Self, what: &str, help: &str| {
            let message = format!("the first value of `{name}`, which does not step by a constant, {what}");
            let refusal = Refusal::new(header.init.range, message).help(help);
            Err(l.uncounted_by(stride, at, refusal))
        };
        let first = match self.stripped(&first.e, mode) {
            Some(e) if !first.ty.is_float() && !reads_memory(&e) => e,
            _ => return refuse(self, "may change in the nest", "copy it into a variable before the nest"),
        };
        // The products of a count with the step must not be greater than the variable is.
        if !stride.is_down && !self.is_never_negative(&first) {
            return refuse(self, "may be negative", "count from zero");
        }
        Ok(first)
    }

    /// How often the loop runs.
    fn counts(
        &mut self,
        header: &Header<'_>,
        (ty, first, stride): (ScalarType, &Expr, &Stride),
        inside: Scan,
        at: Range,
    ) -> Lowered<Counts> {
        let mark = self.facts.len();
        // Stands for the variable while its end is found.
        let id = self.fresh_loop();
        self.loop_types.insert(id, ty);
        let mut limits = Limits { is_increasing: !stride.is_down, ..Limits::new(id, ty, inside) };
        self.loops.push((Some(header.var), id));
        if let Expr::Affine(first) = first {
            let (great, small) = if stride.is_down {
                (first.clone(), Affine::var(id))
            } else {
                (Affine::var(id), first.clone())
            };
            self.facts.push(Constraint::ge(great, small));
        }
        let found = self.limits(header.condition, &mut limits);
        self.loops.pop();
        self.facts.truncate(mark);
        found?;
        if limits.terms.is_empty() {
            return Err(Refusal::new(header.condition.range, "nothing ends the loop")
                .help("let its condition compare a counter with an end"));
        }
        let (mut upper, mut known, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        let sub = |l: Expr, r: Expr| Expr::binary(BinaryOp::Sub, l, r);
        for term in limits.terms {
            let end = match term {
                BoundTerm::Affine { expr, divisor: 1 } => Expr::from(expr),
                BoundTerm::Data(end) => end,
                BoundTerm::Affine { .. } | BoundTerm::Open => {
                    let message = "the end of a loop that does not step by a constant is a quotient";
                    let refusal = Refusal::new(at, message).help("copy it into a variable before the nest");
                    return Err(self.uncounted_by(stride, at, refusal));
                }
            };
            if !stride.is_down {
                let count = self.count(sub(end.clone(), first.clone()), &stride.by);
                known.extend(stride.last_within(first, &end, &count));
                upper.push(count);
                continue;
            }
            if !self.is_never_negative(&end) {
                let message = "a loop that counts down by something other than a constant may go below zero";
                let refusal = Refusal::new(at, message).help("count upwards, or use a constant");
                return Err(self.uncounted_by(stride, at, refusal));
            }
            let distance = sub(first.clone(), end.clone());
            let count = self.count(Expr::binary(BinaryOp::Add, distance.clone(), Expr::from(1)), &stride.by);
            known.extend(stride.last_within(first, &end, &count));
            upper.push(count);
            ends.push((end, distance));
        }
        let last = match (upper.as_slice(), ends.as_slice()) {
            _ if stride.is_constant() => None,
            ([BoundTerm::Affine { expr, divisor: 1 }], [(end, distance)]) => {
                let far =
                    Expr::binary(BinaryOp::Mul, stride.by.clone().into(), expr.clone().offset(-1).into());
                let rest = Expr::Select {
                    condition: Box::new(Expr::Binary(
                        BinaryOp::Gt,
                        Box::new(expr.clone().into()),
                        Box::new(Expr::from(0)),
                    )),
                    then: Box::new(sub(distance.clone(), far)),
                    otherwise: Box::new(Expr::from(0)),
                };
                let rest = self.computed_end(&rest);
                rest.map(|rest| {
                    self.assume(Constraint::ge(rest.clone(), 0.into()));
                    (expr.clone(), Expr::binary(BinaryOp::Add, rest.into(), end.clone()))
                })
            }
            _ => None,
        };
        Ok(Counts { upper, guards: limits.guards, inside: limits.inside, last, known })
    }

    /// The number of steps that lead so far.
    fn count(&mut self, distance: Expr, by: &Affine) -> BoundTerm {
        let by = Expr::from(by.clone());
        let program = &self.state.program;
        let (Some(far), Some(step)) = (text(program, &distance), text(program, &by)) else {
            return BoundTerm::Data(rounded_up(distance, by));
        };
        self.relies_on(&distance);
        self.relies_on(&by);
        let is_positive = by.as_affine().and_then(Affine::as_constant).is_some_and(|by| by > 0);
        let is_step = if is_positive { String::new() } else { format!("{step} > 0 && ") };
        let name = format!("({is_step}{far} > 0 ? ({far} - 1) / {step} + 1 : 0)");
        let id = self.computed_before(name);
        self.assume(Constraint::ge(Affine::var(id), 0.into()));
        Affine::var(id).into()
    }

    /// The symbol for a number that this text says.
    pub(super) fn computed_before(&mut self, text: String) -> SymId {
        let known = self.symbol_of_text(&text);
        known.unwrap_or_else(|| self.state.program.add_symbol(text, ScalarType::I64))
    }

    fn symbol_of_text(&self, text: &str) -> Option<SymId> {
        self.state.program.symbols.values().find(|s| s.name == text).map(|s| s.id)
    }

    /// An end of a loop that the nest does not change, but chooses or computes, as in `k < (is_first ? n : m)`, `k < n * m` and
    /// `k < n / 2`: a number computed before the nest.
    pub(super) fn computed_end(&mut self, e: &Expr) -> Option<Affine> {
        let shift = match e {
            Expr::Binary(BinaryOp::Add, _, r) => r.as_affine().and_then(Affine::as_constant),
            _ => None,
        };
        let (computed, shift) = match (e, shift) {
            (Expr::Binary(_, l, _), Some(shift)) => (&**l, shift),
            (e, _) => (e, 0),
        };
        let is_computed = match computed {
            Expr::Binary(op, ..) => is_arithmetic(*op),
            other => matches!(other, Expr::Select { .. } | Expr::Cast(ScalarType::I32, _)),
        };
        let text = is_computed.then(|| text(&self.state.program, computed)).flatten()?;
        self.relies_on(computed);
        Some(Affine::var(self.computed_before(text)).offset(shift))
    }

    /// The same with quotients of what the nest does not change as numbers computed before it: what is left may be linear. At the end
    /// of a loop so are remainders.
    pub(super) fn with_quotients_before(&mut self, e: Expr, is_end: bool) -> Expr {
        match e {
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), l, r) => {
                let l = self.with_quotients_before(*l, is_end);
                Expr::binary(op, l, self.with_quotients_before(*r, is_end))
            }
            Expr::Cast(ScalarType::I64, inner) => match self.with_quotients_before(*inner, is_end) {
                Expr::Affine(a) => a.into(),
                other => Expr::Cast(ScalarType::I64, Box::new(other)),
            },
            e => match self.quotient_symbol(&e).or_else(|| self.rounded(&e, is_end)) {
                Some(quotient) => quotient.into(),
                None => e,
            },
        }
    }

    /// A number without its last bits, computed before the nest.
    pub(super) fn rounded_down(&mut self, whole: Affine, bits: u32) -> Option<Affine> {
        let bits = Box::new(Expr::from(i64::from(bits)));
        self.quotient_symbol(&Expr::Binary(BinaryOp::Shr, Box::new(whole.into()), bits))
    }

    /// What is left of a number without its last digits, or at the end of a loop these: `n >> 3 << 3`, `n & ~7`, and `n % 8`.
    fn rounded(&mut self, e: &Expr, is_end: bool) -> Option<Affine> {
        let constant = |e: &Expr| e.as_affine().and_then(Affine::as_constant);
        let Expr::Binary(op, l, r) = e else { return None };
        match op {
            BinaryOp::Shl => {
                let bits = constant(r).filter(|bits| (0..31).contains(bits))?;
                let kept = self.with_quotients_before((**l).clone(), is_end);
                Some(kept.as_affine()?.scaled(1 << bits))
            }
            BinaryOp::BitAnd => {
                let (number, mask) = if constant(r).is_some() { (l, r) } else { (r, l) };
                let unit = -constant(mask).filter(|mask| (-(1 << 30)..-1).contains(mask))?;
                let bits = (unit as u64).is_power_of_two().then(|| unit.trailing_zeros())?;
                Some(self.rounded_down(number.as_affine()?.clone(), bits)?.scaled(unit))
            }
            BinaryOp::Rem if is_end => {
                let by = constant(r).filter(|by| *by > 1)?;
                let whole = l.as_affine()?.clone();
                let kept = self.quotient_symbol(&Expr::Binary(BinaryOp::Div, l.clone(), r.clone()))?;
                let rest = whole - kept.scaled(by);
                // Of a negative number it is negative: the user's own loop runs.
                self.is_at_least(&rest, 0);
                Some(rest)
            }
            _ => None,
        }
    }

    /// A quotient by a constant, as a number computed before the nest.
    fn quotient_symbol(&mut self, e: &Expr) -> Option<Affine> {
        let Expr::Binary(op @ (BinaryOp::Div | BinaryOp::Shr), l, r) = e else { return None };
        let whole = l.as_affine()?;
        // Quotients are rounded to zero.
        let is_negative = *op == BinaryOp::Div
            && whole.constant_part() <= 0
            && whole.terms().next().is_some()
            && whole.terms().all(|(_, c)| c < 0);
        let whole = if is_negative { -whole.clone() } else { whole.clone() };
        let quotient = self.computed_end(&Expr::Binary(*op, Box::new(whole.clone().into()), r.clone()))?;
        let by = r.as_affine()?.as_constant()?;
        let by = if *op == BinaryOp::Shr { 1 << by } else { by };
        let rest = whole.clone() - quotient.scaled(by);
        // Shifts round down, quotients to zero.
        let least = if *op == BinaryOp::Shr { 0 } else { 1 - by };
        self.assume(Constraint::ge(rest.clone(), least.into()));
        self.assume(Constraint::ge(Affine::constant(by - 1), rest.clone()));
        if self.facts.prove_non_negative(&whole) {
            self.facts.push(Constraint::ge(rest, 0.into()));
        }
        Some(if is_negative { -quotient } else { quotient })
    }

    /// A number that something else of the nest uses already.
    pub(super) fn is_computed_before(&self, e: &Expr) -> bool {
        text(&self.state.program, e).is_some_and(|text| self.symbol_of_text(&text).is_some())
    }

    /// `for (i = first; i < n; i++)` of `for (x = first; x < n; x += b) for (i = x; i < min(x + b, n); i++)`.
    fn without_blocks(&self, s: &Stmt, f: &For, outer: &Header<'_>) -> Option<For> {
        let file = self.cx.file;
        let block = only_loop(&f.body)?;
        let StmtKind::For(inner) = &block.kind else { return None };
        let head = super::header::header(inner, block.range).ok()?;
        let is_simple =
            |h: &Header<'_>| h.before.is_empty() && h.declared_before.is_empty() && h.after.is_empty();
        let is_one = matches!(&head.step.kind, ExprKind::Step { by: 1, .. })
            || matches!(&head.step.kind, ExprKind::Assign(Some(BinaryOp::Add), _, by) if ast::constant(by) == Some(1));
        let starts_there = head.init.as_var() == Some(outer.var);
        // What leaves one block goes on with the next.
        let is_left = leave_loop(std::slice::from_ref(&inner.body), false);
        let is_free = !mentions(&inner.body, outer.var) && !f.is_behind && !inner.is_behind && !is_left;
        let are_alike = file.var(outer.var).ty == file.var(head.var).ty;
        if !(is_simple(outer) && is_simple(&head) && is_one && starts_there && is_free && are_alike) {
            return None;
        }
        // Neither is needed behind the loop, where they would have other values.
        if self.is_wanted_after(s, f, outer.var) || self.is_wanted_after(s, inner, head.var) {
            return None;
        }
        let [end] = ends(outer.condition, outer.var)?.try_into().ok()?;
        let [a, b]: [&ast::Expr; 2] = ends(head.condition, head.var)?.try_into().ok()?;
        let block_end = match (ast::alike(a, end), ast::alike(b, end)) {
            (true, false) => b,
            (false, true) => a,
            _ => return None,
        };
        let amount = match &outer.step.kind {
            ExprKind::Assign(Some(BinaryOp::Add), _, by) => by,
            ExprKind::Assign(None, _, sum) => other_term(sum, outer.var)?,
            _ => return None,
        };
        if !ast::alike(other_term(block_end, outer.var)?, amount) {
            return None;
        }
        let start = ast::Expr { kind: ExprKind::Var(outer.var), range: outer.init.range };
        let mut whole = (**inner).clone();
        replace_first(whole.init.as_mut()?, &start, outer.init);
        let own = ast::Expr { kind: ExprKind::Var(head.var), range: head.condition.range };
        whole.condition = Some(ast::Expr {
            kind: ExprKind::Binary(BinaryOp::Lt, Box::new(own), Box::new(end.clone())),
            range: head.condition.range,
        });
        Some(whole)
    }
}

impl Stride {
    fn is_constant(&self) -> bool {
        self.by.as_constant().is_some()
    }

    /// That a variable that steps by a constant does not go beyond its end in the last of so many iterations.
    fn last_within(&self, first: &Expr, end: &Expr, count: &BoundTerm) -> Option<Constraint> {
        let BoundTerm::Affine { expr: count, divisor: 1 } = count else { return None };
        let (first, end) = (first.as_affine()?.clone(), end.as_affine()?.clone());
        let far = count.clone().offset(-1).scaled(self.by.as_constant()?);
        Some(match self.is_down {
            true => Constraint::ge(first - far, end),
            false => Constraint::ge(end.offset(-1), first + far),
        })
    }

    /// What the variable is in an iteration.
    fn value(&self, first: &Expr, last: Option<&(Affine, Expr)>, id: LoopId) -> Expr {
        match (last, self.is_down) {
            // Counted from the last one on, which is less than one step from the end.
            (Some((n, last)), _) => at_count(last, &self.by, (n.clone() - Affine::var(id)).offset(-1).into()),
            (None, true) => at_count(first, &-self.by.clone(), Affine::var(id).into()),
            (None, false) => at_count(first, &self.by, Affine::var(id).into()),
        }
    }
}

/// `first + by * count`.
fn at_count(first: &Expr, by: &Affine, count: Expr) -> Expr {
    let steps = Expr::binary(BinaryOp::Mul, by.clone().into(), count);
    match first.as_affine().and_then(Affine::as_constant) {
        Some(0) => steps,
        _ => Expr::binary(BinaryOp::Add, steps, first.clone()),
    }
}

/// `⌈distance / by⌉`, or something not above zero if the distance is not.
fn rounded_up(distance: Expr, by: Expr) -> Expr {
    let distance = Expr::Cast(ScalarType::I64, Box::new(distance));
    let rest = Expr::binary(BinaryOp::Sub, by.clone(), Expr::from(1));
    let sum = Expr::Binary(BinaryOp::Add, Box::new(distance), Box::new(rest));
    Expr::Binary(BinaryOp::Div, Box::new(sum), Box::new(by))
}

/// Operations that are the same in 64 bits, where they do not overflow.
fn is_arithmetic(op: BinaryOp) -> bool {
    use BinaryOp::{Add, BitAnd, Div, Max, Min, Mul, Rem, Shl, Shr, Sub};
    matches!(op, Add | Sub | Mul | Div | Rem | Shl | Shr | BitAnd | Min | Max)
}

/// Whether an operation is defined for every left operand.
fn is_defined(op: BinaryOp, right: &Expr) -> bool {
    let right = right.as_affine().and_then(Affine::as_constant);
    match op {
        BinaryOp::Div | BinaryOp::Rem => right.is_some_and(|n| n > 1),
        BinaryOp::Shl | BinaryOp::Shr => right.is_some_and(|n| (0..31).contains(&n)),
        _ => true,
    }
}

/// Arithmetic and choices in C, computed in 64 bits; `None` if something in them is no variable or member.
pub(super) fn text(program: &Program, e: &Expr) -> Option<String> {
    match e {
        Expr::Cast(ScalarType::I64, inner) => text(program, inner),
        Expr::Cast(ScalarType::I32, inner) => Some(format!("((long)(int){})", text(program, inner)?)),
        Expr::Select { condition, then, otherwise } => {
            let condition = match &**condition {
                Expr::Binary(op, l, r) if is_comparison(*op) => {
                    format!("{} {} {}", text(program, l)?, op.symbol()?.0, text(program, r)?)
                }
                other => text(program, other)?,
            };
            Some(format!("({condition} ? {} : {})", text(program, then)?, text(program, otherwise)?))
        }
        Expr::Binary(op @ (BinaryOp::Min | BinaryOp::Max), l, r) => {
            let sign = if *op == BinaryOp::Min { "<" } else { ">" };
            let (l, r) = (text(program, l)?, text(program, r)?);
            Some(format!("({l} {sign} {r} ? {l} : {r})"))
        }
        Expr::Binary(op, l, r) if is_arithmetic(*op) && is_defined(*op, r) => {
            let (sign, _) = op.symbol()?;
            Some(format!("({} {sign} {})", text(program, l)?, text(program, r)?))
        }
        Expr::Affine(a) => {
            let mut text = String::new();
            let mut add = |is_negative: bool, term: String| {
                text += match (is_negative, text.is_empty()) {
                    (true, true) => "-",
                    (true, false) => " - ",
                    (false, true) => "",
                    (false, false) => " + ",
                };
                text += &term;
            };
            for (var, c) in a.terms() {
                let Var::Sym(id) = var else { return None };
                let name = &program.symbols.get(&id)?.name;
                // Itself a number that is computed so, a variable, a part of one, or what one holds before the nest.
                let is_computed = name.trim_start_matches('(').starts_with("long)");
                let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']');
                let before = name.strip_prefix('(').and_then(|name| name.strip_suffix(')'));
                if !is_computed && !before.unwrap_or(name).replace("->", ".").chars().all(is_part) {
                    return None;
                }
                let factor =
                    if c.unsigned_abs() == 1 { String::new() } else { format!("{} * ", c.unsigned_abs()) };
                add(c < 0, format!("{factor}(long){name}"));
            }
            if a.constant_part() != 0 || a.terms().next().is_none() {
                add(a.constant_part() < 0, a.constant_part().unsigned_abs().to_string() + "L");
            }
            let is_one = a.terms().count() + usize::from(a.constant_part() != 0) <= 1;
            Some(if is_one && !text.starts_with('-') && !text.contains(" * ") {
                text
            } else {
                format!("({text})")
            })
        }
        _ => None,
    }
}

/// The only statement of a block.
fn only_loop(s: &Stmt) -> Option<&Stmt> {
    match &s.kind {
        StmtKind::Block(body) => match body.as_slice() {
            [only] => only_loop(only),
            _ => None,
        },
        StmtKind::For(_) => Some(s),
        _ => None,
    }
}

/// The expressions that a variable is less than wherever the condition holds, which is nowhere else.
fn ends(condition: &ast::Expr, var: VarId) -> Option<Vec<&ast::Expr>> {
    let ExprKind::Binary(op, l, r) = &condition.kind else { return None };
    match op {
        BinaryOp::And => Some([ends(l, var)?, ends(r, var)?].concat()),
        BinaryOp::Lt if l.as_var() == Some(var) => Some(least_of(r)),
        BinaryOp::Gt if r.as_var() == Some(var) => Some(least_of(l)),
        _ => None,
    }
}

/// The expressions of which one is the least.
fn least_of(e: &ast::Expr) -> Vec<&ast::Expr> {
    if let ExprKind::Select(condition, a, b) = &e.kind
        && let ExprKind::Binary(op, l, r) = &condition.kind
    {
        let is_first = ast::alike(l, a) && ast::alike(r, b) && matches!(op, BinaryOp::Lt | BinaryOp::Le);
        let is_second = ast::alike(l, b) && ast::alike(r, a) && matches!(op, BinaryOp::Gt | BinaryOp::Ge);
        if is_first || is_second {
            return vec![a, b];
        }
    }
    vec![e]
}

/// `b` of `x + b` or `b + x`.
fn other_term(e: &ast::Expr, var: VarId) -> Option<&ast::Expr> {
    match &e.kind {
        ExprKind::Binary(BinaryOp::Add, l, r) if l.as_var() == Some(var) => Some(r),
        ExprKind::Binary(BinaryOp::Add, l, r) if r.as_var() == Some(var) => Some(l),
        _ => None,
    }
}

/// Puts a value in the place of the one that is assigned first.
fn replace_first(init: &mut Stmt, old: &ast::Expr, new: &ast::Expr) {
    let put = |e: &mut ast::Expr| {
        if ast::alike(e, old) {
            *e = new.clone();
        }
    };
    match &mut init.kind {
        StmtKind::Declare(declared) => declared.iter_mut().filter_map(|d| d.init.as_mut()).for_each(put),
        StmtKind::Expr(ast::Expr { kind: ExprKind::Assign(None, _, value), .. }) => put(value),
        _ => {}
    }
}
