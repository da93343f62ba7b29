//! What the variables of a loop hold in each iteration, as values and pointers of the nest.
//!
//! [`crate::evolution`] says how they change: `sum += *w++ * x[k];` and `a[k++] = b[i]` lead as much further in every iteration
//! of a loop as in all others, and `t0 = t % 2` in a header follows the counter. Here their first values are found, and what
//! they hold becomes an expression of the iterators.

use super::assigned::{reads as uses_value, remove_stores, sets};
use super::lowerer::{Bound, Lowerer};
use super::pointer::Pointer;
use super::value::{Value, constant, is_unsigned, reads_memory};
use crate::ast::{self, ExprKind, For, Range, Stmt, StmtKind, Type, VarId};
use crate::definitions::value_before;
use crate::evolution::{Evaluator, Evolution, Sum, Symbol};
use crate::flow::is_live_after;
use crate::refusal::{Lowered, Refusal};
use crate::scan::{Scan, assigned_var, commas};
use oxeye_binding::Advance;
use oxeye_ir::{Access, Affine, BinaryOp, Expr, Loop, LoopId, Node, ScalarType, Update};
use std::collections::HashMap;

/// Tests before a nest for how often loops run in which variables step.
const MOST_TESTS: usize = 6;

/// A variable that a loop hands on from one iteration to the next.
struct Evolving {
    var: VarId,
    how: How,
}

enum How {
    /// Where a pointer leads in the first iteration, and the elements from one iteration to the next.
    Pointer(Pointer, Expr),
    /// An integer in the first iteration, and what each adds.
    Number(Value, Expr),
    /// An integer that follows others.
    Function(Evolution),
}

/// Those of a loop whose values are known.
#[derive(Default)]
pub(super) struct Carried {
    all: Vec<Evolving>,
    /// The integers among them that only the header sets and nobody reads behind the loop: nothing needs to set them.
    pub(super) in_header: Vec<VarId>,
    /// The counter, its first value, and what else the functions among them need.
    counter: Option<(VarId, Value)>,
    entry: HashMap<VarId, Bound>,
    fixed: Vec<ast::Expr>,
}

/// An iteration of the innermost loop: how far the iterator is from its first value, and its step.
#[derive(Clone)]
pub(super) struct Here {
    way: Option<Affine>,
    step: i64,
}

impl Here {
    /// The iteration that an iterator says which has this first value.
    pub(super) fn of(id: LoopId, first: Option<&Affine>, step: i64) -> Self {
        Here { way: first.map(|first| Affine::var(id) - first.clone()), step }
    }

    /// Behind so many iterations.
    fn behind(times: Affine) -> Self {
        Here { way: Some(times), step: 1 }
    }

    /// So many iterations later.
    pub(super) fn later(&self, n: i64) -> Self {
        Here { way: self.way.clone().map(|way| way.offset(n * self.step)), ..self.clone() }
    }

    /// How far a number of elements per iteration leads, if that is exact.
    fn far(&self, by: &Expr, wide: bool) -> Option<Expr> {
        let way = self.way.clone()?;
        if let Some(by) = by.as_affine().and_then(Affine::as_constant) {
            return (by.checked_rem(self.step)? == 0).then(|| way.scaled(by / self.step).into());
        }
        if self.step.abs() != 1 {
            return None;
        }
        // `-m` times `k` is `m` times `-k`.
        let (by, sign) = match by {
            Expr::Affine(a) if a.terms().all(|(_, c)| c < 0) && a.constant_part() <= 0 => {
                (Expr::Affine(-a.clone()), -self.step)
            }
            by => (by.clone(), self.step),
        };
        Some(product(way.scaled(sign), by, wide))
    }
}

/// How far a number of iterations leads, computed in 64 bits if need be.
fn product(times: Affine, by: Expr, wide: bool) -> Expr {
    match (by.as_affine().and_then(Affine::as_constant), times.as_constant()) {
        (Some(by), _) => times.scaled(by).into(),
        (None, Some(times)) => Expr::binary(BinaryOp::Mul, Expr::from(times), by),
        _ if wide => Expr::binary(BinaryOp::Mul, Expr::Cast(ScalarType::I64, Box::new(times.into())), by),
        _ => Expr::binary(BinaryOp::Mul, times.into(), by),
    }
}

impl Carried {
    pub(super) fn is_in_header(&self, e: &ast::Expr) -> bool {
        assigned_var(e).is_some_and(|v| self.in_header.contains(&v))
    }

    /// Whether an expression of the header's last part does nothing that is not known.
    pub(super) fn is_known(&self, step: &ast::Expr) -> bool {
        let is_pointer = |v| self.all.iter().any(|e| e.var == v && matches!(e.how, How::Pointer(..)));
        self.is_in_header(step) || assigned_var(step).is_some_and(is_pointer)
    }
}

impl Lowerer<'_> {
    /// The variables whose values in every iteration of a loop are known, seen from before it. The loop's own variable has this
    /// value first, if it is a number.
    pub(super) fn carried(
        &mut self,
        s: &Stmt,
        f: &For,
        (counter, first): (VarId, Option<&Value>),
        out: &[Node],
    ) -> Carried {
        let file = self.cx.file;
        let mut found = Carried::default();
        let (body, mut inside) = (Scan::of(file, &f.body), Scan::of(file, &f.body));
        let header = f.step.iter().chain(&f.condition).flat_map(commas).filter_map(assigned_var);
        inside.written.extend(header);
        let is_candidate = |v: &VarId| {
            *v != counter
                && !inside.declared.contains(v)
                && !self.moving.in_turns.contains(v)
                && self.is_tame(*v)
        };
        if !inside.written.iter().any(is_candidate) {
            return found;
        }
        let candidates: Vec<VarId> = inside.written.iter().filter(|v| is_candidate(v)).copied().collect();
        let Some((evaluator, evolutions)) = Evaluator::of(file, f) else { return found };
        found.fixed = evaluator.fixed;
        found.entry = self.bound.clone();
        found.counter = first.map(|first| (counter, first.clone()));
        let before = self.bound.get(&counter).cloned();
        if let Some(first) = first {
            self.bound.insert(counter, Bound::Value(first.clone()));
        }
        for (var, head) in &evolutions.heads {
            if !candidates.contains(var) || head.is_unknown() {
                continue;
            }
            let needs = evolutions.needs.get(var).map(Vec::as_slice).unwrap_or_default();
            let how = match self.is_pointer_var(*var) {
                true => self.walk(*var, head, &found.fixed),
                false => self.number(f, (*var, head), &found.fixed, out),
            };
            let Some(how) = how.filter(|_| self.are_met(needs, &found.fixed)) else { continue };
            if !matches!(how, How::Pointer(..)) && self.is_of_header(s, f, *var, &body) {
                found.in_header.push(*var);
            }
            found.all.push(Evolving { var: *var, how });
        }
        self.unbind(counter, before);
        found
    }

    /// How a pointer walks.
    fn walk(&mut self, var: VarId, head: &Evolution, fixed: &[ast::Expr]) -> Option<How> {
        let start = match self.bound.get(&var) {
            Some(Bound::Pointer(pointer)) => pointer.clone(),
            Some(Bound::Value(_)) => return None,
            // Where it leads before the nest.
            None => Pointer::of(self.cx.file, var).filter(|_| self.is_where_it_was(var))?,
        };
        let is_plain = matches!(start.pointee, Type::Scalar(_) | Type::Struct(_)) && !start.is_object;
        let by = match head {
            Evolution::Add { step, of: 0, .. } => self.amount(step.as_sum()?, fixed)?,
            Evolution::Sum(_) => Expr::from(0),
            _ => return None,
        };
        is_plain.then_some(How::Pointer(start, by))
    }

    /// How an integer that the loop reads steps, or which function of the counter it is.
    fn number(
        &mut self,
        f: &For,
        (var, head): (VarId, &Evolution),
        fixed: &[ast::Expr],
        out: &[Node],
    ) -> Option<How> {
        let scalar = self.cx.file.var(var).ty.as_scalar()?;
        if !is_counted(scalar.ty) || !reads(f, var) {
            return None;
        }
        match head {
            Evolution::Add { base, step, of: 0 } => {
                let by = self.amount(step.as_sum()?, fixed)?;
                let start = self.start(base, var, fixed, out)?;
                (is_unsigned(start.ty) <= is_unsigned(scalar.ty)).then_some(How::Number(start, by))
            }
            Evolution::Of(..) | Evolution::Select { .. } => Some(How::Function(head.clone())),
            _ => None,
        }
    }

    /// What an integer holds in the first iteration.
    fn start(&mut self, base: &Evolution, var: VarId, fixed: &[ast::Expr], out: &[Node]) -> Option<Value> {
        let sum = base.as_sum()?;
        if *sum == Sum::from(Symbol::Entry(var)) && !self.bound.contains_key(&var) {
            return self.entry_value(var, out);
        }
        let value = self.sum_value(sum, fixed)?;
        (!reads_memory(&value.e)).then_some(value)
    }

    /// What an integer of the function holds before the nest: a number that it was set to, which is tested there as people may
    /// edit it, or what is read there.
    fn entry_value(&mut self, var: VarId, out: &[Node]) -> Option<Value> {
        if !self.is_where_it_was(var) {
            return None;
        }
        let read = self.value_at_entry(var, out, self.at).ok()??;
        let known = value_before(self.cx.file, self.cx.function, self.at, var).and_then(ast::constant);
        let Some(known) = known else { return Some(read) };
        let test = Expr::Binary(BinaryOp::Eq, Box::new(read.e.clone()), Box::new(Expr::from(known)));
        if !self.outcome.tests.contains(&test) {
            if self.outcome.tests.len() >= MOST_TESTS {
                return Some(read);
            }
            self.relies_on(&test);
            self.outcome.tests.push(test);
        }
        Some(self.typed(Expr::from(known), read.ty))
    }

    /// Integers of the function in the first value of a loop's variable that the nest changes later stand for what they hold
    /// before it.
    pub(super) fn begin_at_entry(&mut self, first: &ast::Expr, out: &[Node]) {
        let mut used = Vec::new();
        first.walk(&mut |e| used.extend(e.as_var()));
        used.retain(|v| {
            self.scan.written.contains(v) && !self.bound.contains_key(v) && !self.is_pointer_var(*v)
        });
        for var in used {
            let ty = self.cx.file.var(var).ty.as_scalar().map(|s| s.ty);
            if ty.is_some_and(is_counted)
                && let Some(value) = self.entry_value(var, out)
            {
                self.outcome.substituted.insert(var);
                self.bound.insert(var, Bound::Value(value));
            }
        }
    }

    /// A sum as it is before the loop.
    fn sum_value(&mut self, sum: &Sum, fixed: &[ast::Expr]) -> Option<Value> {
        let mut total = self.typed(Expr::from(sum.constant), ScalarType::I32);
        if sum.constant != 0 && self.natural(&total.e) != ScalarType::I32 {
            total = self.typed(Expr::from(sum.constant), ScalarType::I64);
        }
        for (symbol, c) in &sum.terms {
            let value = self.symbol_value(*symbol, fixed)?;
            let factor = Value { e: Expr::from(*c), ty: ScalarType::I32 };
            let term = match c {
                1 => value,
                _ => self.binary(BinaryOp::Mul, factor, value, self.at).ok()?,
            };
            total = match total.e == Expr::from(0) {
                true => term,
                false => self.binary(BinaryOp::Add, term, total, self.at).ok()?,
            };
        }
        sum.products.is_empty().then_some(total)
    }

    fn symbol_value(&mut self, symbol: Symbol, fixed: &[ast::Expr]) -> Option<Value> {
        let e = match symbol {
            Symbol::Entry(v) | Symbol::Start(v, _) if self.is_pointer_var(v) => return None,
            Symbol::Entry(v) | Symbol::Start(v, _) => ast::Expr { kind: ExprKind::Var(v), range: self.at },
            Symbol::Fixed(k) => fixed.get(k)?.clone(),
            Symbol::Head(..) => return None,
        };
        self.unsurely(|l| l.value(&e)).ok()
    }

    /// An amount that is the same in all iterations, and wraps nowhere.
    fn amount(&mut self, sum: &Sum, fixed: &[ast::Expr]) -> Option<Expr> {
        let affine = self.fixed_amount(sum, fixed)?;
        let mut total: Option<Expr> = None;
        for (c, factors) in &sum.products {
            let mut amounts = factors.iter().map(|factor| match factor.products.is_empty() {
                true => self.fixed_amount(factor, fixed),
                false => None,
            });
            let amounts: Vec<Affine> = amounts.by_ref().collect::<Option<_>>()?;
            let (last, rest) = amounts.split_last()?;
            let last = Expr::from(last.scaled(*c));
            let far = rest.iter().rev().fold(last, |by, times| product(times.clone(), by, true));
            total = Some(match total {
                Some(total) => Expr::binary(BinaryOp::Add, total, far),
                None => far,
            });
        }
        Some(match total {
            Some(total) if affine == Affine::constant(0) => total,
            Some(total) => Expr::binary(BinaryOp::Add, total, affine.into()),
            None => affine.into(),
        })
    }

    /// The part of a sum that has no products.
    fn fixed_amount(&mut self, sum: &Sum, fixed: &[ast::Expr]) -> Option<Affine> {
        let mut total = Affine::constant(sum.constant);
        for (symbol, c) in &sum.terms {
            let value = self.symbol_value(*symbol, fixed)?;
            let value = self.ahead(value, self.at).ok()?;
            let e = self.exact(&value.e).filter(|_| !value.ty.is_float())?;
            let amount = e.as_affine().cloned().or_else(|| self.computed_end(&e))?;
            total = total + amount.scaled(*c);
        }
        Some(total)
    }

    /// Whether distances are never less than zero, or are tested before the nest.
    fn are_met(&mut self, needs: &[Evolution], fixed: &[ast::Expr]) -> bool {
        needs.iter().all(|need| {
            let sum = need.as_sum().filter(|sum| sum.products.is_empty());
            let distance = sum.and_then(|sum| self.fixed_amount(sum, fixed));
            distance.is_some_and(|distance| self.is_never_less(&distance))
        })
    }

    /// Whether only the header sets an integer, which nobody reads behind the loop.
    fn is_of_header(&self, s: &Stmt, f: &For, var: VarId, body: &Scan) -> bool {
        let file = self.cx.file;
        let sets_once = match f.init.as_ref().map(|s| &s.kind) {
            Some(StmtKind::Declare(declared)) => {
                declared.iter().filter(|d| d.var == var && d.init.is_some()).count() == 1
            }
            Some(StmtKind::Expr(e)) => {
                commas(e).into_iter().filter(|e| assigned_var(e) == Some(var)).count() == 1
            }
            _ => false,
        };
        let steps = f.step.iter().flat_map(commas).filter(|e| assigned_var(e) == Some(var)).count();
        let function = file.var(var).function.and_then(|k| file.functions.get(k));
        let is_lost = function.is_none_or(|function| is_live_after(file, function, s.range, var));
        sets_once && steps == 1 && !is_lost && !body.written.contains(&var) && !body.iterators.contains(&var)
    }

    /// Variables stand for what they hold in an iteration.
    pub(super) fn bind_carried(&mut self, carried: &Carried, here: &Here, at: Range) -> Lowered<()> {
        for evolving in &carried.all {
            let var = evolving.var;
            if let How::Pointer(start, by) = &evolving.how {
                let pointer = match *by == Expr::from(0) {
                    true => start.clone(),
                    false => {
                        let far = here.far(by, true).ok_or_else(|| self.unclear(var, at))?;
                        self.further(start, far, at)?
                    }
                };
                if self.is_set_behind(var, start) {
                    self.moving.walking.insert(var);
                }
                self.bound.insert(var, Bound::Pointer(pointer));
            } else if let Some(value) = self.carried_value(evolving, carried, here) {
                if !carried.in_header.contains(&var) {
                    self.outcome.substituted.insert(var);
                }
                self.bound.insert(var, Bound::Value(value));
            }
        }
        Ok(())
    }

    fn carried_value(&mut self, evolving: &Evolving, carried: &Carried, here: &Here) -> Option<Value> {
        match &evolving.how {
            How::Number(start, by) => self.stepped(evolving.var, start, by, here),
            How::Function(e) => self.function_value(evolving.var, e, carried, here),
            How::Pointer(..) => None,
        }
    }

    /// Drops those of the header that have no value here, as they must be set like other variables; the rest have their first
    /// values while the header sets what else it does.
    pub(super) fn settle_header(&mut self, carried: &mut Carried, here: &Here) {
        let mut known = Vec::new();
        for evolving in carried.all.iter().filter(|e| carried.in_header.contains(&e.var)) {
            let first = Here { way: Some(Affine::constant(0)), ..*here };
            if self.carried_value(evolving, carried, here).is_some()
                && let Some(first) = self.carried_value(evolving, carried, &first)
            {
                known.push((evolving.var, first));
            }
        }
        carried.in_header = known.iter().map(|(var, _)| *var).collect();
        self.bound.extend(known.into_iter().map(|(var, first)| (var, Bound::Value(first))));
    }

    fn further(&mut self, start: &Pointer, far: Expr, at: Range) -> Lowered<Pointer> {
        let ty = self.natural(&far);
        self.moved(start.clone(), BinaryOp::Add, Value { e: far, ty }, at)
    }

    /// What an integer holds that steps by as much in each iteration.
    fn stepped(&self, var: VarId, start: &Value, by: &Expr, here: &Here) -> Option<Value> {
        let ty = self.cx.file.var(var).ty.as_scalar()?.ty;
        // From zero on, the product is what the variable is; else it might be beyond `int`.
        let is_from_zero = constant(start) == Some(0) && ty == ScalarType::I32;
        let far = here.far(by, !is_from_zero)?;
        let first = match &start.e {
            Expr::Cast(ScalarType::I32, inner) if self.natural(inner) == ScalarType::I64 => (**inner).clone(),
            // Converted, the sum is the same.
            Expr::Cast(ScalarType::U32 | ScalarType::U64, inner) if inner.as_affine().is_some() => {
                (**inner).clone()
            }
            first => first.clone(),
        };
        let sum = match (first, far) {
            (Expr::Binary(BinaryOp::Add, product, rest), Expr::Affine(far)) if rest.as_affine().is_some() => {
                Expr::Binary(BinaryOp::Add, product, Box::new(Expr::binary(BinaryOp::Add, *rest, far.into())))
            }
            (first @ Expr::Affine(_), far) => Expr::binary(BinaryOp::Add, far, first),
            (first, far) => Expr::binary(BinaryOp::Add, first, far),
        };
        Some(self.typed(sum, ty))
    }

    /// What an integer holds that follows others.
    fn function_value(&mut self, var: VarId, e: &Evolution, carried: &Carried, here: &Here) -> Option<Value> {
        let scalar = self.cx.file.var(var).ty.as_scalar()?.clone();
        let mut entry = carried.entry.clone();
        entry.extend(carried.counter.iter().map(|(counter, first)| (*counter, Bound::Value(first.clone()))));
        let own = std::mem::replace(&mut self.bound, entry);
        let value = self.evolved(e, &carried.fixed, here);
        self.bound = own;
        value.filter(|v| !reads_memory(&v.e)).map(|value| self.converted(value, &scalar))
    }

    /// An evolution in an iteration, with the variables as they are before the loop.
    fn evolved(&mut self, e: &Evolution, fixed: &[ast::Expr], here: &Here) -> Option<Value> {
        match e {
            Evolution::Sum(sum) => self.sum_value(sum, fixed),
            Evolution::Add { base, step, of: 0 } => {
                let start = self.sum_value(base.as_sum()?, fixed)?;
                let by = self.amount(step.as_sum()?, fixed)?;
                let far = here.far(&by, true)?;
                let far = Value { ty: self.natural(&far), e: far };
                let is_signed = !is_unsigned(start.ty);
                is_signed.then_some(())?;
                match constant(&start) {
                    Some(0) => Some(far),
                    _ => self.binary(BinaryOp::Add, far, start, self.at).ok(),
                }
            }
            Evolution::Of(op, l, r) => {
                let (l, r) = (self.evolved(l, fixed, here)?, self.evolved(r, fixed, here)?);
                self.binary(*op, l, r, self.at).ok()
            }
            Evolution::Select { condition, then, otherwise } => {
                let condition = self.evolved(condition, fixed, here)?;
                let (then, otherwise) =
                    (self.evolved(then, fixed, here)?, self.evolved(otherwise, fixed, here)?);
                Some(self.select(condition.e, then, otherwise))
            }
            _ => None,
        }
    }

    /// Whether a variable of the function, before this loop, is what it is before the nest.
    pub(super) fn is_where_it_was(&self, var: VarId) -> bool {
        self.loops.is_empty()
            && self.depth() == 0
            && self.is_of_function(var)
            && !self.moving.moved_on.contains(&var)
    }

    fn is_of_function(&self, var: VarId) -> bool {
        self.cx.file.var(var).function == Some(self.cx.position)
    }

    /// Whether a number of iterations is never less than zero, or is tested before the nest.
    pub(super) fn is_never_less(&mut self, times: &Affine) -> bool {
        if self.facts.prove_non_negative(times) {
            return true;
        }
        let test = never_less(times);
        let is_known = self.outcome.tests.contains(&test);
        if times.loops().next().is_some() || (!is_known && self.outcome.tests.len() >= MOST_TESTS) {
            return false;
        }
        if !is_known {
            self.outcome.tests.push(test);
        }
        true
    }

    /// Whether the nest itself is what moves the pointer from where it led before.
    fn is_set_behind(&self, var: VarId, start: &Pointer) -> bool {
        self.is_of_function(var) && start.base == var && start.offset.is_none()
    }

    pub(super) fn unclear(&self, var: VarId, at: Range) -> Box<Refusal> {
        let name = self.name(var);
        Refusal::new(at, format!("where the pointer `{name}` leads depends on what the loop did before"))
            .help(format!("leave `{name}` as it is and subscript it"))
    }

    /// Behind a loop, variables stand for what they hold then; behind the nest, pointers are set to it. `times` is how often the
    /// loop runs, if that is known.
    pub(super) fn leave_carried(
        &mut self,
        carried: Carried,
        times: Option<Affine>,
        at: Range,
    ) -> Lowered<()> {
        for Evolving { var, how } in carried.all {
            match how {
                How::Pointer(start, by) => self.leave_pointer((var, start, by), times.as_ref(), at)?,
                How::Number(start, by) if !carried.in_header.contains(&var) && !self.loops.is_empty() => {
                    let is_sure = |l: &Self, times: &&Affine| {
                        l.facts.prove_non_negative(times) || l.outcome.tests.contains(&never_less(times))
                    };
                    let Some(times) = times.as_ref().filter(|times| is_sure(self, times)) else { continue };
                    if let Some(value) = self.stepped(var, &start, &by, &Here::behind(times.clone())) {
                        self.bound.insert(var, Bound::Value(value));
                    }
                }
                How::Number(..) | How::Function(_) => {}
            }
        }
        Ok(())
    }

    /// Integers that only their steps set in a loop are set once, behind it: it runs `n` times.
    pub(super) fn sink(
        &mut self,
        carried: &Carried,
        (l, n): (&mut Loop, &Expr),
        at: Range,
        behind: &mut Vec<Node>,
    ) {
        for evolving in carried.all.iter().filter(|e| !carried.in_header.contains(&e.var)) {
            let (How::Number(start, by), Some(id)) = (&evolving.how, self.state.arrays.get(&evolving.var))
            else {
                continue;
            };
            let id = *id;
            if !sets(&l.body, id) || uses_value(&l.body, id) {
                continue;
            }
            let far = match n {
                Expr::Affine(n) => product(n.clone(), by.clone(), true),
                n => {
                    Expr::binary(BinaryOp::Mul, by.clone(), Expr::Cast(ScalarType::I64, Box::new(n.clone())))
                }
            };
            let ty = self.state.program.array(id).element;
            let value = match constant(start) {
                Some(0) => far,
                _ => Expr::binary(BinaryOp::Add, far, start.e.clone()),
            };
            let value = self.typed(value, ty);
            remove_stores(&mut l.body, id);
            self.push(Access::scalar(id), Update::Assign, value.e, at, behind);
        }
    }

    fn leave_pointer(
        &mut self,
        (var, start, by): (VarId, Pointer, Expr),
        times: Option<&Affine>,
        at: Range,
    ) -> Lowered<()> {
        let is_set = self.loops.is_empty() && self.is_set_behind(var, &start);
        if is_set {
            self.bound.remove(&var);
            self.moving.walking.remove(&var);
        }
        if by == Expr::from(0) {
            if !is_set {
                self.bound.insert(var, Bound::Pointer(start));
            }
            return Ok(());
        }
        if is_set {
            self.moving.moved_on.insert(var);
            if !is_live_after(self.cx.file, self.cx.function, self.at, var) {
                return Ok(());
            }
        }
        let file = self.cx.file;
        let function = file.var(var).function.and_then(|k| file.functions.get(k));
        let is_read = function.is_none_or(|function| is_live_after(file, function, at, var));
        let Some(times) = times.filter(|times| is_read && self.is_never_less(times)) else {
            self.bound.remove(&var);
            return if is_set { Err(self.unclear(var, at)) } else { Ok(()) };
        };
        let far = product(times.clone(), by, true);
        if !is_set {
            let pointer = self.further(&start, far, at)?;
            self.bound.insert(var, Bound::Pointer(pointer));
            return Ok(());
        }
        if matches!(start.pointee, Type::Struct(_)) {
            let name = self.name(var);
            let message = format!("the pointer `{name}` walks over structures, and is used after the loop");
            return Err(Refusal::new(at, message).help(format!("leave `{name}` as it is and subscript it")));
        }
        let array = self.array(var, at)?;
        self.outcome.advances.push(Advance { array, by: far });
        Ok(())
    }

    pub(super) fn unbind(&mut self, var: VarId, before: Option<Bound>) {
        match before {
            Some(before) => self.bound.insert(var, before),
            None => self.bound.remove(&var),
        };
    }
}

/// Whether a type is one that loops count with.
pub(super) fn is_counted(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::I32 | ScalarType::I64 | ScalarType::U32 | ScalarType::U64)
}

/// How often a loop runs that steps by one, if it does not run a negative number of times.
pub(super) fn times(l: &Loop) -> Option<Affine> {
    let (lower, upper) = (l.lower.as_affine()?, l.upper.as_affine()?);
    (l.step.abs() == 1).then(|| upper.clone() - lower.clone())
}

fn never_less(times: &Affine) -> Expr {
    Expr::Binary(BinaryOp::Ge, Box::new(times.clone().into()), Box::new(Expr::from(0)))
}

/// Whether a loop reads a variable other than to step it.
pub(super) fn reads(f: &For, var: VarId) -> bool {
    let (mut n_mentioned, mut n_set) = (0, 0);
    let mut look = |e: &ast::Expr| {
        n_mentioned += usize::from(e.as_var() == Some(var));
        n_set += usize::from(assigned_var(e) == Some(var));
    };
    f.body.walk_exprs(&mut |e| look(e));
    f.condition.iter().chain(&f.step).for_each(|e| e.walk(&mut |e| look(e)));
    n_mentioned > n_set
}
