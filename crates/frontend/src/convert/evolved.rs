//! Loops whose counters change in several places of their bodies: `while (i < n) { x[i] = 0; i++; ...; i++; }`, and
//! `while (k < n) for (j = 0; j < 4; j++) x[k++] = 0;`. Where every iteration changes the counter by the same amount, the
//! loop counts with a variable of its own, which is what the counter is at the head of each iteration. Where it counts with a
//! pointer, or in steps of other kinds, `for (p = a; p < a + n; p += m)`, it counts what it has covered of its way.

use super::counts::{self, changes};
use super::endless;
use super::headers::{first_value, is_plain_counter, set, tests_inside};
use crate::ast::*;
use crate::evolution::{Evaluator, Evolution, Sum, Symbol, Trips};
use crate::flow::is_live_after;
use crate::scan::{assigned_var, commas, counter};
use oxeye_ir::{BinaryOp, ScalarType};
use std::collections::{BTreeMap, BTreeSet};

/// Reads the loops of all functions so.
pub(super) fn settle(file: &mut File) {
    for position in 0..file.functions.len() {
        let mut body = file.functions[position].body.clone();
        inside(file, position, None, &mut body);
        file.functions[position].body = body;
    }
}

fn inside(file: &mut File, position: usize, before: Option<&Stmt>, s: &mut Stmt) {
    match &mut s.kind {
        StmtKind::Block(body) | StmtKind::Unknown(_, body) => {
            for k in 0..body.len() {
                let (before, rest) = body.split_at_mut(k);
                inside(file, position, before.last(), &mut rest[0]);
            }
        }
        _ => s.children_mut().into_iter().for_each(|s| inside(file, position, None, s)),
    }
    if let Some(counted) = counts::counted(file, before, s) {
        *s = counted;
    }
    if let Some(f) = parts(file, s).and_then(|f| evolved(file, position, before, f, s.range)) {
        s.kind = StmtKind::For(Box::new(f));
    }
}

/// A loop that does not count by its header in steps that are read there.
fn parts(file: &File, s: &Stmt) -> Option<For> {
    let mut f = s.as_for()?;
    endless::settle(file, &mut f);
    let is_for = matches!(s.kind, StmtKind::For(_));
    let counts = |var| !changes(&f.body, var) && !is_pointer(file, var);
    (!is_for || !f.is_behind && !counter(&f).is_some_and(counts)).then_some(f)
}

fn is_pointer(file: &File, var: VarId) -> bool {
    matches!(file.var(var).ty, Type::Pointer { .. })
}

/// The loop with a variable of its own: what a counter is at the head of each iteration, or what is covered of the distance to
/// where the loop ends.
fn evolved(file: &mut File, position: usize, before: Option<&Stmt>, mut f: For, at: Range) -> Option<For> {
    // A `while` loop leaves a pointer to the text before it, if that is to lead further behind it.
    let leads_further = |v: VarId| is_live_after(file, &file.functions[position], at, v);
    if f.enters_with.is_some() && counter(&f).is_some_and(|v| is_pointer(file, v) && leads_further(v)) {
        f.init = None;
    }
    let condition = f.condition.as_ref().filter(|condition| !sets_any(condition))?;
    let (evaluator, evolutions) = Evaluator::of(file, &f)?;
    let (range, fixed) = (condition.range, evaluator.fixed);
    let mut written = Written::of(file, &fixed, range);
    let steady = evolutions.heads.iter().find_map(|(var, head)| match head {
        Evolution::Add { step, of: 0, .. } if is_plain_counter(file, *var) => {
            let step = step.as_sum().filter(|_| condition.mentions(*var))?;
            Some((*var, written.amount(step)?))
        }
        _ => None,
    });
    if let Some((var, step)) = steady {
        if let (None, Some(first)) = (&f.init, before.and_then(|before| first_value(before, var))) {
            f.init = Some(set(Expr { kind: ExprKind::Var(var), range }, first.clone()));
            f.enters_with = Some(first.clone());
        }
        return by_counter(file, position, f, (var, step), at);
    }
    let (distance, by) = match &evolutions.trips {
        Trips::Covers { distance, by } => (distance.as_sum()?, Sum::from(*by)),
        Trips::By { distance, by } => (distance.as_sum()?, by.clone()),
        Trips::Unknown(_) => return None,
    };
    let mut moving = BTreeSet::new();
    let is_lost = |symbol| match symbol {
        Symbol::Entry(v) => evolutions.heads.contains_key(&v),
        Symbol::Start(..) | Symbol::Head(..) => true,
        Symbol::Fixed(_) => false,
    };
    distance.symbols(&mut |symbol| match symbol {
        Symbol::Entry(v) if is_lost(symbol) && is_pointer(file, v) => _ = moving.insert(v),
        _ => {}
    });
    for base in
        evolutions.heads.iter().filter(|(v, _)| is_pointer(file, **v)).map(|(_, head)| head.at_start(0))
    {
        base.as_sum().into_iter().for_each(|sum| sum.symbols(&mut |s| _ = written.followed.insert(s)));
    }
    let followed = written.followed;
    let is_moving = |symbol| matches!(symbol, Symbol::Entry(v) if moving.contains(&v));
    if by.mentions(&is_lost) || distance.mentions(&|symbol| is_lost(symbol) && !is_moving(symbol)) {
        return None;
    }
    let counted = counter(&f).filter(|v| is_pointer(file, *v)).or(moving.first().copied());
    let name = counted.map_or("covered", |v| &file.var(v).name).to_owned();
    let mut firsts = BTreeMap::new();
    for var in moving {
        let Variable { name, ty, .. } = file.var(var).clone();
        firsts.insert(var, own_variable(file, position, (format!("{name}.first"), ty), at)?);
    }
    let written = Written { followed, firsts, ..Written::of(file, &fixed, range) };
    let in_parts = by.as_constant().is_some_and(|by| {
        let is_part = |step: &Evolution| step.as_constant().is_none_or(|c| c % by != 0);
        evolutions.heads.values().any(|head| matches!(head, Evolution::Add { step, .. } if is_part(step)))
    });
    let (distance, by) = (written.amount(distance)?, written.amount(&by)?);
    let firsts = written.firsts;
    let own = own_variable(file, position, (format!("{name}.at"), Type::scalar(ScalarType::I64)), at)?;
    Some(by_distance(f, (own, &firsts), (distance, by, in_parts), at))
}

/// `for (long k = 0; k < distance; k += by)`, or `for (long k = 0; by * k < distance; k++)` if something steps by a part of that,
/// with all that the header does; before that, other variables keep where pointers are that the loop moves.
fn by_distance(
    f: For,
    (own, firsts): (VarId, &BTreeMap<VarId, VarId>),
    (distance, by, in_parts): (Expr, Expr, bool),
    at: Range,
) -> For {
    let range = distance.range;
    let named = || Box::new(Expr { kind: ExprKind::Var(own), range });
    let int = |n| Expr { kind: ExprKind::Int(n, ScalarType::I32), range };
    let begin = Range { start: at.start, end: at.start };
    let firsts = firsts.iter().map(|(var, own)| (*own, Expr { kind: ExprKind::Var(*var), range: begin }));
    let init = Some(with_first(f.init, None, firsts.collect(), (own, int(0)), range));
    let (covered, by) = match in_parts {
        false => (named(), by),
        true => {
            let product = ExprKind::Binary(BinaryOp::Mul, Box::new(by), named());
            (Box::new(Expr { kind: product, range }), int(1))
        }
    };
    let ends = ExprKind::Binary(BinaryOp::Lt, covered, Box::new(distance));
    let add = ExprKind::Assign(Some(BinaryOp::Add), named(), Box::new(by));
    let step = f.step.into_iter().fold(Expr { kind: add, range }, |all, e| Expr {
        kind: ExprKind::Comma(Box::new(all), Box::new(e)),
        range,
    });
    For { init, condition: Some(Expr { kind: ends, range }), step: Some(step), ..f }
}

/// A variable that the source does not have.
fn own_variable(file: &mut File, position: usize, (name, ty): (String, Type), at: Range) -> Option<VarId> {
    let own = VarId(u32::try_from(file.vars.len()).ok()?);
    file.vars.push(Variable {
        name,
        ty,
        kind: VarKind::Local { is_static: false },
        range: Range { start: at.start, end: at.start },
        function: Some(position),
        member: None,
    });
    Some(own)
}

/// The loop counts as one of its variables does.
fn by_counter(
    file: &mut File,
    position: usize,
    f: For,
    (var, step): (VarId, Expr),
    at: Range,
) -> Option<For> {
    let condition = f.condition.as_ref()?;
    let range = condition.range;
    let first = match &f.init {
        Some(init) => first_of(init, var)?,
        None => Expr { kind: ExprKind::Var(var), range },
    };
    let variable = file.var(var);
    let (name, ty) = (variable.name.clone(), variable.ty.clone());
    let own = own_variable(file, position, (format!("{name}.at"), ty), at)?;
    let named = || Box::new(Expr { kind: ExprKind::Var(own), range });
    let mut condition = condition.clone();
    put(&mut condition, var, own);
    let add = ExprKind::Assign(Some(BinaryOp::Add), named(), Box::new(step));
    let step = Expr { kind: add, range };
    let is_declared = matches!(&f.init, Some(Stmt { kind: StmtKind::Declare(declared), .. })
        if declared.iter().any(|d| d.var == var));
    if is_declared && is_used_beside(&f, var) {
        return None;
    }
    let own_value = is_declared.then(|| *named());
    let others = f.step.iter().flat_map(commas).filter(|e| !is_declared || assigned_var(e) != Some(var));
    let step = others
        .cloned()
        .fold(step, |all, e| Expr { kind: ExprKind::Comma(Box::new(all), Box::new(e)), range });
    let replaced = own_value.as_ref().map(|_| var);
    let init = Some(with_first(f.init.clone(), replaced, Vec::new(), (own, first), range));
    let body = match own_value {
        Some(value) => declared_inside(var, value, f.body),
        None => f.body,
    };
    let mut f = For { init, condition: Some(condition), step: Some(step), body, ..f };
    tests_inside(&mut f);
    Some(f)
}

/// Whether what else a header sets depends on a variable.
fn is_used_beside(f: &For, var: VarId) -> bool {
    let steps = f.step.iter().flat_map(commas).filter(|e| assigned_var(e) != Some(var));
    let inits = match f.init.as_ref().map(|s| &s.kind) {
        Some(StmtKind::Declare(declared)) => declared.as_slice(),
        _ => &[],
    };
    let inits = inits.iter().filter(|d| d.var != var).filter_map(|d| d.init.as_ref());
    steps.chain(inits).any(|e| e.mentions(var))
}

/// The body of a loop at whose beginning a variable is declared with a value.
fn declared_inside(var: VarId, value: Expr, body: Stmt) -> Stmt {
    let (range, at) = (body.range, value.range);
    let declared = Stmt { kind: StmtKind::Declare(vec![Declared::plain(var, Some(value))]), range: at };
    let rest = match body.kind {
        StmtKind::Block(rest) => rest,
        _ => vec![body],
    };
    Stmt { kind: StmtKind::Block(std::iter::once(declared).chain(rest).collect()), range }
}

/// The first part of a header that sets some variables before all others and one behind them, and does not declare that for
/// which it stands.
fn with_first(
    init: Option<Stmt>,
    replaced: Option<VarId>,
    before: Vec<(VarId, Expr)>,
    (own, first): (VarId, Expr),
    range: Range,
) -> Stmt {
    if let Some(Stmt { kind: StmtKind::Declare(others), range }) = init {
        let declared = |(var, init)| Declared::plain(var, Some(init));
        let others = others.into_iter().filter(|d| Some(d.var) != replaced);
        let all = before.into_iter().map(declared).chain(others).chain([declared((own, first))]);
        return Stmt { kind: StmtKind::Declare(all.collect()), range };
    }
    let set = |(own, value): (VarId, Expr)| {
        let range = value.range;
        let named = Expr { kind: ExprKind::Var(own), range };
        Expr { kind: ExprKind::Assign(None, Box::new(named), Box::new(value)), range }
    };
    let others = match init.map(|init| init.kind) {
        Some(StmtKind::Expr(others)) => Some(others),
        _ => None,
    };
    let first = set((own, first));
    let all = before.into_iter().map(set).chain(others).chain([first.clone()]);
    let both = |l, r| Expr { kind: ExprKind::Comma(Box::new(l), Box::new(r)), range };
    Stmt { kind: StmtKind::Expr(all.reduce(both).unwrap_or(first)), range }
}

/// What a header sets a variable to, or the variable if it does not; `None` if that is not one plain value.
fn first_of(init: &Stmt, var: VarId) -> Option<Expr> {
    let sets: Vec<(VarId, &Expr)> = match &init.kind {
        StmtKind::Declare(declared) => {
            declared.iter().filter_map(|d| Some((d.var, d.init.as_ref()?))).collect()
        }
        StmtKind::Expr(e) => commas(e)
            .into_iter()
            .map(|e| match &e.kind {
                ExprKind::Assign(None, target, value) => Some((target.as_var()?, &**value)),
                _ => None,
            })
            .collect::<Option<_>>()?,
        _ => return None,
    };
    let own: Vec<usize> = (0..sets.len()).filter(|k| sets[*k].0 == var).collect();
    let is_plain = |e: &Expr| !sets_any(e) && !sets.iter().any(|(other, _)| e.mentions(*other));
    match own.as_slice() {
        [] => Some(Expr { kind: ExprKind::Var(var), range: init.range }),
        [k] => Some(sets[*k].1.clone()).filter(is_plain),
        _ => None,
    }
}

/// Whether an expression does anything.
fn sets_any(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |e| {
        found |= assigned_var(e).is_some()
            || matches!(e.kind, ExprKind::Assign(..) | ExprKind::Call(..) | ExprKind::Unknown(..));
    });
    found
}

/// How sums are written as expressions.
struct Written<'a> {
    file: &'a File,
    fixed: &'a [Expr],
    /// What keeps where pointers are before the loop.
    firsts: BTreeMap<VarId, VarId>,
    /// Where those are at first that the loop moves.
    followed: BTreeSet<Symbol>,
    range: Range,
}

impl<'a> Written<'a> {
    fn of(file: &'a File, fixed: &'a [Expr], range: Range) -> Self {
        Written { file, fixed, firsts: BTreeMap::new(), followed: BTreeSet::new(), range }
    }

    fn at(&self, kind: ExprKind) -> Expr {
        Expr { kind, range: self.range }
    }

    fn both(&self, op: BinaryOp, l: Expr, r: Expr) -> Expr {
        self.at(ExprKind::Binary(op, Box::new(l), Box::new(r)))
    }

    /// A sum; its pointers are subtracted from each other.
    fn amount(&self, sum: &Sum) -> Option<Expr> {
        let int = |n: i64| i32::try_from(n).ok().map(|_| self.at(ExprKind::Int(n, ScalarType::I32)));
        let product = |c: i64, e: Expr| match c {
            1 => Some(e),
            c => Some(self.both(BinaryOp::Mul, int(c)?, e)),
        };
        let (mut parts, mut starts, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for (symbol, c) in &sum.terms {
            let e = match symbol {
                Symbol::Entry(v) => self.at(ExprKind::Var(*self.firsts.get(v).unwrap_or(v))),
                Symbol::Fixed(k) => self.fixed.get(*k)?.clone(),
                Symbol::Start(..) | Symbol::Head(..) => return None,
            };
            let is_pointer = self.file.type_of(&e).is_some_and(|ty| ty.is_pointer());
            match (is_pointer, c) {
                (true, 1) => ends.push((e, self.followed.contains(symbol))),
                (true, -1) => starts.push((e, self.followed.contains(symbol))),
                (true, _) => return None,
                (false, c) => parts.push(product(*c, e)?),
            }
        }
        if starts.len() != ends.len() {
            return None;
        }
        for ((end, is_followed), (start, other)) in ends.into_iter().zip(starts) {
            let way = match is_followed && !other {
                // Counted from what the loop follows.
                true => product(-1, self.both(BinaryOp::Sub, start, end))?,
                false => self.both(BinaryOp::Sub, end, start),
            };
            parts.insert(0, way);
        }
        for (c, factors) in &sum.products {
            let factors: Option<Vec<Expr>> = factors.iter().map(|f| self.amount(f)).collect();
            let all = factors?.into_iter().reduce(|l, r| self.both(BinaryOp::Mul, l, r));
            parts.push(product(*c, all?)?);
        }
        if sum.constant != 0 || parts.is_empty() {
            parts.push(int(sum.constant)?);
        }
        parts.into_iter().reduce(|l, r| self.both(BinaryOp::Add, l, r))
    }
}

/// Puts a variable in the place of another one.
fn put(e: &mut Expr, var: VarId, own: VarId) {
    if e.as_var() == Some(var) {
        e.kind = ExprKind::Var(own);
    }
    e.children_mut().into_iter().for_each(|e| put(e, var, own));
}
