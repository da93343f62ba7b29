//! `for` headers.

use super::evolving::Here;
use super::header::{Header, Step, header, may_change};
use super::index::Mode;
use super::iterations::Counted;
use super::limits::{Limits, WithoutZero};
use super::lowerer::{self, Lowerer};
use super::value::{Value, constant, divided, is_unsigned};
use crate::ast::{self, Declared, ExprKind, For, Range, Stmt, StmtKind, Type, VarId};
use crate::evolution::{Evaluator, Trips};
use crate::flow::{is_address_taken, is_live_after};
use crate::prove::Facts;
use crate::refusal::{Lowered, Refusal};
use crate::scan::{Scan, assigned_var, mentions};
use oxeye_ir::{
    Access, Affine, BinaryOp, Bound, BoundTerm, Constraint, Execution, Expr, Loop, Node, ScalarType, Update,
};

impl Lowerer<'_> {
    /// The step of a loop.
    pub(super) fn step(&mut self, e: &ast::Expr) -> Lowered<Step> {
        let var = assigned_var(e);
        let is_var = |e: &ast::Expr| e.as_var() == var;
        let (sign, amount) = match &e.kind {
            ExprKind::Step { by, .. } => return Ok(Step::Constant(*by)),
            ExprKind::Assign(Some(BinaryOp::Add), _, by) => (1, by),
            ExprKind::Assign(Some(BinaryOp::Sub), _, by) => (-1, by),
            ExprKind::Assign(None, _, value) => match &value.kind {
                ExprKind::Binary(BinaryOp::Add, l, r) if is_var(l) => (1, r),
                ExprKind::Binary(BinaryOp::Add, l, r) if is_var(r) => (1, l),
                ExprKind::Binary(BinaryOp::Sub, l, r) if is_var(l) => (-1, r),
                _ => {
                    return Err(Refusal::new(e.range, "the loop's variable does not step by a constant")
                        .help("count with a step of one, and compute the other number from that"));
                }
            },
            _ => {
                return Err(Refusal::new(e.range, "the loop's variable does not step by a constant")
                    .help("count with a step of one, and compute the other number from that"));
            }
        };
        let amount = self.value(amount)?;
        match constant(&amount) {
            Some(c) if c != 0 && c.abs() < 1 << 31 => Ok(Step::Constant(sign * c)),
            Some(_) => Err(Refusal::new(e.range, "the loop's variable does not advance")
                .help("let it step by a constant other than zero")),
            None => self.symbolic_step(amount, sign, e.range),
        }
    }

    pub(super) fn is_pointer_var(&self, var: VarId) -> bool {
        matches!(self.cx.file.var(var).ty, Type::Pointer { .. })
    }

    /// Whether an expression sets a pointer.
    pub(super) fn sets_pointer(&self, e: &ast::Expr) -> bool {
        assigned_var(e).is_some_and(|v| self.is_pointer_var(v))
    }

    /// Sets the pointers that a header sets before its own variable, or behind it.
    pub(super) fn set_pointers(
        &mut self,
        header: &Header<'_>,
        is_before: bool,
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        let is_now = |range: Range| (range.start < header.init.range.start) == is_before;
        for d in &header.declared_before {
            if self.is_pointer_var(d.var) && is_now(self.cx.file.var(d.var).range) {
                self.declare(d, at, out)?;
            }
        }
        for e in &header.before {
            if self.sets_pointer(e) && is_now(e.range) {
                self.effect(e, out)?;
            }
        }
        Ok(())
    }

    /// Whether a header steps by a constant.
    pub(crate) fn steps_by_constant(&mut self, header: &Header<'_>) -> bool {
        matches!(self.step(header.step), Ok(Step::Constant(_)))
    }

    pub(crate) fn for_loop(&mut self, s: &Stmt, f: &For, out: &mut Vec<Node>) -> Lowered<()> {
        let header = header(f, s.range)?;
        let var = header.var;
        if self.is_pointer_var(var) {
            return Err(uncounted(self.cx.file, f, s.range));
        }
        // A variable that the source does not have gets a name of C.
        let name = self.name(var).replace('.', "_");
        let ty = match self.cx.file.var(var).ty.as_scalar() {
            Some(scalar) if scalar.is_volatile => {
                return Err(Refusal::new(s.range, format!("the loop's variable `{name}` is volatile"))
                    .help("count with a local variable that is not volatile"));
            }
            Some(scalar) => scalar.ty,
            None => {
                return Err(Refusal::new(s.range, format!("the loop's variable `{name}` is not an integer"))
                    .help("count with `int`, `long` or `size_t`"));
            }
        };
        if ty.is_float() {
            let message = format!("the loop's variable `{name}` is not an integer");
            return Err(Refusal::new(s.range, message).help("count with `int`, `long` or `size_t`"));
        }
        // Narrow ones are `int` in all that is computed with them.
        let (ty, narrow) = if ty.bytes() < 4 { (ScalarType::I32, Some(ty)) } else { (ty, None) };
        if self.cx.file.is_member(var) {
            let message = format!("the loop counts with `{name}`, a member of a structure");
            return Err(Refusal::new(s.range, message).help("count with a local variable"));
        }
        let body = Scan::of(self.cx.file, &f.body);
        if body.written.contains(&var) {
            if let Some(unread) = unread_with(&f.body, var) {
                return Err(unread);
            }
            return Err(Refusal::new(
                s.range,
                format!("the loop's variable `{name}` is also assigned inside the loop"),
            )
            .help("use another variable for one of the two"));
        }
        if self.loops.iter().any(|(v, _)| *v == Some(var)) {
            return Err(Refusal::new(s.range, format!("`{name}` already counts the loop around this one"))
                .help("count with a variable of its own"));
        }
        if is_address_taken(self.cx.function, var) {
            return Err(Refusal::new(
                s.range,
                format!("the address of the loop's variable `{name}` is taken"),
            )
            .help("copy it into another variable, and take the address of that"));
        }
        if let Some(values) = self.regions(s, f, &header).filter(|_| !f.runs_first && narrow.is_none()) {
            return self.in_regions(f, var, values, out);
        }
        if !f.runs_first && self.in_cases(s, f, &header, out)? {
            return Ok(());
        }
        if narrow.is_none() && self.in_digits(s, f, &header, out)? {
            return Ok(());
        }
        if header.init.mentions(var)
            && !self.bound.contains_key(&var)
            && let Some(entry) = self.value_at_entry(var, out, header.init.range)?
        {
            self.bound.insert(var, lowerer::Bound::Value(entry));
        }
        self.begin_at_entry(header.init, out);
        if header.changes(header.step, &body) {
            return Err(may_change(header.step.range));
        }
        let step = match self.counted_step(f, &header, (ty, narrow.is_some()))? {
            Step::Constant(step) => step,
            Step::Symbolic(_) if narrow.is_some() => {
                let message = format!("`{name}` is narrower than `int`, and does not step by a constant");
                return Err(Refusal::new(header.step.range, message).help("count with `int` or `long`"));
            }
            Step::Symbolic(stride) => return self.symbolic_loop(s, f, &header, (ty, stride), out),
        };
        let is_increasing = step > 0;
        let first = self.hoisting(None, out, |l, _| l.value(header.init))?;
        let first = self.ahead(first, header.init.range)?;
        if first.ty.is_float() {
            return Err(Refusal::new(
                header.init.range,
                "the first value of the loop's variable is not an integer",
            )
            .help("convert it to an integer first"));
        }
        let first_value = first.clone();
        self.set_pointers(&header, true, s.range, out)?;
        let before = self.bound.insert(var, lowerer::Bound::Value(first.clone()));
        let done = self.set_pointers(&header, false, s.range, out);
        self.unbind(var, before);
        done?;
        let inside = Scan::of(self.cx.file, s);
        let mut carried = self.carried(s, f, (var, Some(&first_value)), out);
        self.forget(&header.repeated(self.cx.file, f));
        let first = self.as_first(first, ty, is_increasing, header.init.range)?;

        let id = self.fresh_loop();
        let mut limits = Limits {
            id,
            is_increasing,
            is_unit: step.abs() == 1,
            steps: constant(&first_value).map(|first| (first, step)),
            ty,
            first: first_of_terms(&first, is_increasing),
            terms: Vec::new(),
            guards: Vec::new(),
            inside,
        };
        self.loop_types.insert(id, ty);
        let mark = self.facts.len();
        let mut here = Here::of(id, limits.first.as_ref(), step);
        self.settle_header(&mut carried, &here);
        self.set_before(f, &header, &carried.in_header, s.range, out)?;
        self.bind_carried(&carried, &here, s.range)?;
        self.loops.push((Some(var), id));
        let mut l = Loop {
            id,
            name,
            ty,
            lower: Bound(Vec::new()),
            upper: Bound(Vec::new()),
            step,
            execution: Execution::Sequential,
            body: Vec::new(),
        };
        *(if is_increasing { &mut l.lower } else { &mut l.upper }) = Bound(first);
        self.facts.push_loop(&l);
        if is_unsigned(ty) {
            // C guarantees this; whether the nest keeps to it is checked below.
            self.facts.push(Constraint::ge(Affine::var(id), 0.into()));
        }
        self.limits(header.condition, &mut limits)?;
        if limits.terms.is_empty() {
            return Err(Refusal::new(header.condition.range, "nothing ends the loop")
                .help("let its condition compare a counter with an end"));
        }
        if f.runs_first {
            let first = if is_increasing { &l.lower } else { &l.upper };
            self.is_entered(first, &limits, header.condition.range)?;
        }
        *(if is_increasing { &mut l.upper } else { &mut l.lower }) = Bound(std::mem::take(&mut limits.terms));
        self.facts.push_loop(&l);
        self.check_unsigned(&l, s.range)?;
        if let Some(narrow) = narrow {
            self.check_narrow(&l, narrow, s.range)?;
        }
        if let Some(whole) = self.counted_by_one(f, &l, var) {
            l = whole;
            here = Here::of(id, Some(&Affine::constant(0)), 1);
            self.bind_carried(&carried, &here, s.range)?;
            self.facts.push_loop(&l);
        }
        for guard in &limits.guards {
            self.facts.push_condition(guard, true);
        }
        if f.is_behind {
            let here = self.typed(Affine::var(id).offset(-1).into(), ty);
            self.bound.insert(var, lowerer::Bound::Value(here));
        }
        if self.reading.keeps_counters && self.is_wanted_after(s, f, var) {
            self.end_at_whole_step(&mut l);
        }
        let after_loop = self.counter_after(s, f, &l, limits.guards.is_empty())?;
        let Limits { guards, inside, .. } = limits;
        let is_kept = after_loop.is_some();
        let counted = Counted { l, guards, inside, carried, here, mark, is_kept, is_iterator: true };
        let leaving = self.iterations((s, f, &header), counted, out)?;
        if let Some(value) = after_loop {
            let target = self.array(var, s.range)?;
            let mut set = Vec::new();
            let known = Value { e: value.clone(), ty };
            self.push(Access::scalar(target), Update::Assign, value, s.range, &mut set);
            match leaving {
                Some(leaving) => {
                    let condition = leaving.has_not();
                    out.push(Node::If { condition, then: set, otherwise: Vec::new() });
                }
                None => {
                    out.append(&mut set);
                    self.note_value(var, Some(known));
                }
            }
        }
        Ok(())
    }

    /// A loop whose variable only the header names, from zero on in several steps at once, as one that counts its iterations.
    fn counted_by_one(&self, f: &For, l: &Loop, var: VarId) -> Option<Loop> {
        let is_from_zero = l.lower.as_affine().and_then(Affine::as_constant) == Some(0);
        let is_own = self.cx.file.var(var).is_own() && !mentions(&f.body, var);
        let upper = divided(l.upper.as_affine()?, l.step)?;
        (is_own && is_from_zero && l.step > 1).then(|| Loop { upper: upper.into(), step: 1, ..l.clone() })
    }

    /// Lets a loop in steps of a power of two end where its variable is then, `4 * (n >> 2)` for `i + 3 < n`.
    fn end_at_whole_step(&mut self, l: &mut Loop) {
        let (Some(lower), Some(upper)) = (l.lower.as_affine(), l.upper.as_affine()) else { return };
        let is_power = u64::try_from(l.step).is_ok_and(|step| step > 1 && step.is_power_of_two());
        let distance = upper.clone() - lower.clone();
        if !is_power || divided(&distance, l.step).is_some() {
            return;
        }
        if let Some(n) = self.rounded_down(distance.offset(l.step - 1), l.step.trailing_zeros()) {
            l.upper = (lower.clone() + n.scaled(l.step)).into();
            self.facts.push_loop(l);
        }
    }

    /// The value of a loop's variable after the loop, if it may be read there.
    pub(super) fn counter_after(
        &mut self,
        s: &Stmt,
        f: &For,
        l: &Loop,
        is_unguarded: bool,
    ) -> Lowered<Option<Expr>> {
        let file = self.cx.file;
        let Some((Some(var), _)) = self.loops.last().copied() else { return Ok(None) };
        if !self.reading.keeps_counters || !self.is_wanted_after(s, f, var) {
            return Ok(None);
        }
        let is_shared = self.cx.constructs(s).any(|c| c.is_shared);
        let bounds = (l.lower.as_affine(), l.upper.as_affine());
        // `while (n--)` leaves the greatest of all unsigned numbers.
        let wraps_around = is_unsigned(l.ty) && f.is_behind;
        let ((Some(lower), Some(upper)), false, true) = (bounds, is_shared || wraps_around, is_unguarded)
        else {
            return Err(needed_later(file, s, var));
        };
        // If the loop is not entered, the variable has its first value.
        let by = |n: Expr, step: i64| Expr::Binary(BinaryOp::Mul, Box::new(n), Box::new(Expr::from(step)));
        let is_even = || divided(&(upper.clone() - lower.clone()), l.step).is_some();
        let value = match l.step {
            -1 => extreme(
                BinaryOp::Min,
                lower.clone().offset(-1),
                upper.clone().offset(-1),
                &self.facts_before(l),
            ),
            step if step > 0 && is_even() => {
                extreme(BinaryOp::Max, lower.clone(), upper.clone(), &self.facts_before(l))
            }
            step => {
                let first = if step > 0 { lower.clone() } else { upper.clone().offset(-1) };
                let Some(n_steps) = self.n_steps(l, step) else { return Err(needed_later(file, s, var)) };
                Expr::binary(BinaryOp::Add, first.into(), by(n_steps, step))
            }
        };
        Ok(Some(value))
    }

    /// How often a loop runs.
    pub(super) fn n_steps(&self, l: &Loop, step: i64) -> Option<Expr> {
        let distance = l.upper.as_affine()?.clone() - l.lower.as_affine()?.clone();
        if let Some(n) = divided(&distance, step.abs()) {
            return Some(extreme(BinaryOp::Max, 0.into(), n, &self.facts_before(l)));
        }
        let distance = extreme(BinaryOp::Max, 0.into(), distance, &self.facts_before(l));
        Some(match step.abs() {
            1 => distance,
            step => {
                let whole = Expr::binary(BinaryOp::Add, distance, Expr::from(step - 1));
                Expr::Binary(BinaryOp::Div, Box::new(whole), Box::new(Expr::from(step)))
            }
        })
    }

    /// Whether behind a loop its variable may be read.
    pub(super) fn is_wanted_after(&self, s: &Stmt, f: &For, var: VarId) -> bool {
        let file = self.cx.file;
        let is_own = matches!(f.init.as_ref().map(|s| &s.kind), Some(StmtKind::Declare(_)));
        let function = file.var(var).function.and_then(|k| file.functions.get(k));
        let is_read = || function.is_none_or(|function| is_live_after(file, function, s.range, var));
        // Where jumps make liveness uncertain, the nest's own reads are certain.
        let is_of_nest = file.var(var).function == Some(self.cx.position);
        let is_wanted = || {
            !is_of_nest
                || self.read_elsewhere.contains(&var)
                || is_live_after(file, self.cx.function, self.at, var)
        };
        !is_own && is_read() && is_wanted()
    }

    /// Sets what a header sets before the loop, other than pointers and what is a function of the counter. What iterations
    /// change keeps no value.
    pub(super) fn set_before(
        &mut self,
        f: &For,
        header: &Header<'_>,
        carried: &[VarId],
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        for d in &header.declared_before {
            if !carried.contains(&d.var) && !self.is_pointer_var(d.var) {
                self.declare_before(header, d, at, out)?;
            }
        }
        for e in &header.before {
            let is_carried = assigned_var(e).is_some_and(|v| carried.contains(&v));
            if !is_carried && !self.sets_pointer(e) {
                self.effect(e, out)?;
            }
        }
        let mut changed = header.repeated(self.cx.file, f);
        carried.iter().for_each(|var| _ = changed.written.remove(var));
        self.forget(&changed);
        Ok(())
    }

    /// The facts that hold outside of the innermost loop.
    fn facts_before(&self, l: &Loop) -> Facts {
        let mut facts = self.facts.clone();
        facts.retain(|c| !c.expr.uses(l.id));
        facts
    }

    /// A second variable declared in a header.
    fn declare_before(
        &mut self,
        header: &Header<'_>,
        d: &Declared,
        at: Range,
        out: &mut Vec<Node>,
    ) -> Lowered<()> {
        if self.loops.is_empty() || d.init.as_ref().is_some_and(|init| init.mentions(header.var)) {
            let name = self.name(d.var).to_owned();
            return Err(Refusal::new(at, format!("the loop declares a second variable, `{name}`"))
                .help("declare it before the loop or inside it"));
        }
        self.declare(d, at, out)
    }

    /// The first value as a bound: greatest of the terms, or one more than the least of them.
    fn as_first(
        &mut self,
        first: Value,
        ty: ScalarType,
        is_increasing: bool,
        at: Range,
    ) -> Lowered<Vec<BoundTerm>> {
        let mode = match (ty, first.ty) {
            _ if is_unsigned(ty) => Mode::Limit,
            (ScalarType::I32, _) => Mode::Narrow,
            (_, ScalarType::U64) => Mode::Index,
            _ => Mode::Exact,
        };
        let Some(e) = self.stripped(&first.e, mode) else {
            return Err(Refusal::new(at, "the first value of the loop's variable may wrap around")
                .help("count with a signed type"));
        };
        self.keeps_within_unsigned(&first.e);
        let mut terms = Vec::new();
        self.split_first(self.in_its_width(e, &first.e), is_increasing, &mut terms);
        Ok(terms)
    }

    fn split_first(&mut self, e: Expr, is_increasing: bool, terms: &mut Vec<BoundTerm>) {
        let offset = if is_increasing { 0 } else { 1 };
        match e {
            Expr::Affine(a) => terms.push(a.offset(offset).into()),
            Expr::Binary(BinaryOp::Max, l, r) if is_increasing => {
                self.split_first(*l, is_increasing, terms);
                self.split_first(*r, is_increasing, terms);
            }
            Expr::Binary(BinaryOp::Min, l, r) if !is_increasing => {
                self.split_first(*l, is_increasing, terms);
                self.split_first(*r, is_increasing, terms);
            }
            e => match self.quotient(&e, offset, false) {
                Some(term) => terms.push(term),
                None => {
                    let data = Expr::binary(BinaryOp::Add, e, Expr::from(offset)).without_zero();
                    terms.push(self.end_before(data));
                }
            },
        }
    }

    /// `⌊expr / divisor⌋ + offset` as a rounded-up quotient, if the C quotient is rounded down here.
    pub(super) fn quotient(&self, e: &Expr, offset: i64, is_harmless: bool) -> Option<BoundTerm> {
        let (e, divisor) = match e {
            Expr::Binary(BinaryOp::Div, l, r) => (l.as_affine()?, r.as_affine()?.as_constant()?),
            Expr::Binary(BinaryOp::Shr, l, r) => {
                let shift = r.as_affine()?.as_constant().filter(|s| (0..31).contains(s))?;
                (l.as_affine()?, 1 << shift)
            }
            _ => return None,
        };
        if divisor < 1 || !(is_harmless || self.facts.prove_non_negative(e)) {
            return None;
        }
        let shift = offset.checked_mul(divisor)?.checked_sub(divisor - 1)?;
        Some(BoundTerm::Affine { expr: e.clone().offset(shift), divisor })
    }

    /// Checks that unsigned counters never pass zero; a first value from before the nest is tested there.
    fn check_unsigned(&mut self, l: &Loop, at: Range) -> Lowered<()> {
        if !is_unsigned(l.ty) {
            return Ok(());
        }
        let least = if l.step > 0 { 0 } else { -l.step };
        let is_fine = l.lower.0.iter().any(|term| match term {
            BoundTerm::Affine { expr, divisor } => {
                // Rounded-up quotients are at least what their numerators say.
                let slack = (least - 1).saturating_mul(*divisor).saturating_add(1);
                self.facts.prove_non_negative(&expr.clone().offset(-slack))
            }
            BoundTerm::Data(e) => {
                let is_unsigned =
                    matches!(e, Expr::Cast(ScalarType::I64, inner) if is_unsigned(self.natural(inner)));
                least == 0 && (is_unsigned || self.is_non_negative(e))
            }
            BoundTerm::Open => false,
        });
        if is_fine
            || l.step > 0 && matches!(l.lower.as_affine(), Some(first) if self.is_at_least(&first.clone(), 0))
        {
            return Ok(());
        }
        Err(Refusal::new(
            at,
            format!("the unsigned loop variable `{}` may pass zero and wrap around", l.name),
        )
        .help("count with a signed type"))
    }
}

impl Lowerer<'_> {
    /// A variable of a type narrower than `int` holds what it counts to, the first value behind the end included.
    fn check_narrow(&mut self, l: &Loop, ty: ScalarType, at: Range) -> Lowered<()> {
        let bits = 8 * ty.bytes() as u32 - u32::from(!is_unsigned(ty));
        let most = (1_i64 << bits) - 1;
        let least = if is_unsigned(ty) { 0 } else { -most - 1 };
        let plain = |bound: &Bound| -> Vec<Affine> {
            bound.0.iter().filter_map(|term| term.as_affine().cloned()).collect()
        };
        let (lower, upper) = (plain(&l.lower), plain(&l.upper));
        let (first, end) = if l.step > 0 { (l.lower.clone(), upper) } else { (l.upper.clone(), lower) };
        let offset = if l.step > 0 { 0 } else { -1 };
        let is_first_held = first.0.iter().all(|term| {
            term.as_affine().is_some_and(|first| {
                let first = first.clone().offset(offset);
                self.is_at_least(&first, least) && self.is_at_least(&-first, -most)
            })
        });
        let is_end_held = end.into_iter().any(|end| match l.step > 0 {
            true => self.is_at_least(&-end.offset(l.step - 1), -most),
            false => self.is_at_least(&end.offset(l.step), least),
        });
        if is_first_held && is_end_held {
            return Ok(());
        }
        let message = format!("the loop's variable `{}` may not hold all numbers that it counts to", l.name);
        Err(Refusal::new(at, message).help("count with `int`, `long` or `size_t`"))
    }
}

/// Why it is not known how often a loop runs.
fn uncounted(file: &ast::File, f: &For, at: Range) -> Box<Refusal> {
    let trips = Evaluator::of(file, f).map(|(_, evolutions)| evolutions.trips);
    let help = "count with an integer to an end that is computed before, as in `for (i = first; i < end; i += step)`";
    match trips {
        Some(Trips::Unknown(stop)) => Refusal::new(stop.at, stop.why).help(help),
        _ => Refusal::new(at, "how often the loop runs is not known beforehand").help(help),
    }
}

/// The first value behind a bound that has one term.
fn first_of_terms(terms: &[BoundTerm], is_increasing: bool) -> Option<Affine> {
    let [BoundTerm::Affine { expr, divisor: 1 }] = terms else { return None };
    Some(if is_increasing { expr.clone() } else { expr.clone().offset(-1) })
}

/// The greater or lesser of two numbers, by the known facts.
fn extreme(op: BinaryOp, a: Affine, b: Affine, facts: &Facts) -> Expr {
    let (small, great) = if op == BinaryOp::Max { (&a, &b) } else { (&b, &a) };
    if facts.prove_non_negative(&(great.clone() - small.clone())) {
        return Expr::Affine(b);
    }
    Expr::Binary(op, Box::new(a.into()), Box::new(b.into()))
}

/// The refusal of what cannot be read in a loop's body and mentions its variable, if nothing that can be read assigns that.
fn unread_with(body: &Stmt, var: VarId) -> Option<Box<Refusal>> {
    let (mut is_assigned, mut unread) = (false, None);
    body.walk_exprs(&mut |e| match &e.kind {
        ExprKind::Unknown(what, inside) if e.mentions(var) => {
            unread.get_or_insert_with(|| Refusal::of_unknown(e.range, what, inside));
        }
        _ => is_assigned |= assigned_var(e) == Some(var),
    });
    unread.filter(|_| !is_assigned)
}

/// A loop whose variable is used behind it.
pub(crate) fn needed_later(file: &ast::File, s: &Stmt, var: VarId) -> Box<Refusal> {
    let name = &file.var(var).name;
    let head = Range { start: s.range.start, end: s.range.start + 3 };
    Refusal::new(head, format!("the value of `{name}` after the loop may be used later"))
        .help(format!("declare it in the loop, `for (int {name} = ...`, or use another variable afterwards"))
}
