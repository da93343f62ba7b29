//! Loops whose counters change in several places of their bodies: `while (i < n) { x[i] = 0; i++; ...; i++; }`, and
//! `while (k < n) for (j = 0; j < 4; j++) x[k++] = 0;`. Where every iteration changes the counter by the same amount, the
//! loop counts with a variable of its own, which is what the counter is at the head of each iteration. Where the steps are of
//! other kinds, `for (p = a; p < a + n; p += m)`, it counts what it has covered of its way.

use super::body_steps::changes;
use super::counts::as_for;
use super::headers::counts_with;
use crate::ast::*;
use crate::evolution::{Evaluator, Evolution, Sum, Symbol, Trips};
use crate::scan::{assigned_var, commas, counter};
use oxeye_ir::{BinaryOp, ScalarType};

/// Reads such loops of all functions so.
pub(super) fn settle(file: &mut File) {
    for position in 0..file.functions.len() {
        let mut is_needed = false;
        file.functions[position].body.walk(&mut |s| is_needed |= parts(file, s).is_some());
        if is_needed {
            let mut body = file.functions[position].body.clone();
            inside(file, position, &mut body);
            file.functions[position].body = body;
        }
    }
}

fn inside(file: &mut File, position: usize, s: &mut Stmt) {
    s.children_mut().into_iter().for_each(|s| inside(file, position, s));
    if let Some(f) = parts(file, s).and_then(|f| counted(file, position, f, s.range)) {
        s.kind = StmtKind::For(Box::new(f));
    }
}

/// A loop that does not count by its header in steps that are read there.
fn parts(file: &File, s: &Stmt) -> Option<For> {
    let f = as_for(s)?;
    let is_for = matches!(s.kind, StmtKind::For(_));
    let counts = |var| !changes(&f.body, var) && !is_uneven(file, &f, var);
    (!is_for || !f.is_behind && !counter(&f).is_some_and(counts)).then_some(f)
}

/// Whether a header counts with a pointer in steps of several elements or towards another pointer that moves, or counts down
/// by something other than a constant.
fn is_uneven(file: &File, f: &For, var: VarId) -> bool {
    let is_pointer = |v: VarId| matches!(file.var(v).ty, Type::Pointer { .. });
    let mut steps = f.step.iter().flat_map(commas);
    steps.any(|e| match &e.kind {
        ExprKind::Assign(Some(op @ (BinaryOp::Add | BinaryOp::Sub)), target, by)
            if constant(by).is_none() =>
        {
            target.as_var() == Some(var) && (is_pointer(var) || *op == BinaryOp::Sub)
        }
        _ => {
            let other = assigned_var(e).filter(|v| *v != var && is_pointer(*v));
            is_pointer(var) && other.is_some_and(|v| f.condition.as_ref().is_some_and(|c| c.mentions(v)))
        }
    })
}

/// The loop with a variable of its own: what a counter is at the head of each iteration, or what is covered of the distance to
/// where the loop ends.
fn counted(file: &mut File, position: usize, f: For, at: Range) -> Option<For> {
    let condition = f.condition.as_ref().filter(|condition| !sets_any(condition))?;
    let (evaluator, evolutions) = Evaluator::of(file, &f)?;
    let is_own = counter(&f).is_none_or(|var| changes(&f.body, var) || !is_uneven(file, &f, var));
    let moves = |v: VarId| file.var(v).ty.is_pointer() && evolutions.heads.contains_key(&v);
    let ends_elsewhere = |var: VarId| {
        let mut found = false;
        condition.walk(&mut |e| found |= e.as_var().is_some_and(|v| v != var && moves(v)));
        found
    };
    let steady = evolutions.heads.iter().find_map(|(var, head)| match head {
        Evolution::Add { step, of: 0, .. }
            if is_own && counts_with(file, condition, *var) && !ends_elsewhere(*var) =>
        {
            let step = step.as_sum().filter(|_| condition.mentions(*var))?;
            let is_pointer = file.var(*var).ty.is_pointer();
            let is_read = step.as_constant().is_some() || !is_pointer && !step.is_negative();
            Some((*var, amount(step, &evaluator.fixed, condition.range).filter(|_| is_read)?))
        }
        _ => None,
    });
    match steady {
        Some(steady) => by_counter(file, position, f, steady, at),
        None => {
            let (distance, by) = match &evolutions.trips {
                Trips::Covers { distance, by } => (distance.as_sum()?, Sum::from(*by)),
                Trips::By { distance, by } => (distance.as_sum()?, by.clone()),
                Trips::Unknown(_) => return None,
            };
            let is_changing = |symbol| match symbol {
                Symbol::Entry(v) => evolutions.heads.contains_key(&v) || file.var(v).ty.is_pointer(),
                Symbol::Start(..) | Symbol::Head(..) => true,
                Symbol::Fixed(_) => false,
            };
            if distance.mentions(&is_changing) || by.mentions(&is_changing) || f.runs_first {
                return None;
            }
            let as_c = |sum: &Sum| amount(sum, &evaluator.fixed, condition.range);
            let (distance, by) = (as_c(distance)?, as_c(&by)?);
            by_distance(file, position, f, (distance, by), at)
        }
    }
}

/// `for (long k = 0; k < distance; k += by)`, or `for (long k = 0; by * k < distance; k++)` if that is a constant, with all that
/// the header does.
fn by_distance(
    file: &mut File,
    position: usize,
    f: For,
    (distance, by): (Expr, Expr),
    at: Range,
) -> Option<For> {
    let range = distance.range;
    let own = own_variable(file, position, ("covered", Type::scalar(ScalarType::I64)), at)?;
    let named = || Box::new(Expr { kind: ExprKind::Var(own), range });
    let int = |n| Expr { kind: ExprKind::Int(n, ScalarType::I32), range };
    let init = Some(with_first(f.init, (None, own), int(0), range));
    let (covered, by) = match constant(&by) {
        Some(1) | None => (named(), by),
        Some(_) => {
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
    Some(For { init, condition: Some(Expr { kind: ends, range }), step: Some(step), ..f })
}

/// A variable that the source does not have.
fn own_variable(file: &mut File, position: usize, (name, ty): (&str, Type), at: Range) -> Option<VarId> {
    let own = VarId(u32::try_from(file.vars.len()).ok()?);
    file.vars.push(Variable {
        name: format!("{name}.at"),
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
        Some(init) => first_value(init, var)?,
        None => Expr { kind: ExprKind::Var(var), range },
    };
    let variable = file.var(var);
    let (name, ty) = (variable.name.clone(), variable.ty.clone());
    let own = own_variable(file, position, (&name, ty), at)?;
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
    let init = Some(with_first(f.init.clone(), (own_value.as_ref().map(|_| var), own), first, range));
    let body = match own_value {
        Some(value) => declared_inside(var, value, f.body),
        None => f.body,
    };
    Some(For { init, condition: Some(condition), step: Some(step), body, ..f })
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
    let declared = Stmt { kind: StmtKind::Declare(vec![Declared { var, init: Some(value) }]), range: at };
    let rest = match body.kind {
        StmtKind::Block(rest) => rest,
        _ => vec![body],
    };
    Stmt { kind: StmtKind::Block(std::iter::once(declared).chain(rest).collect()), range }
}

/// The first part of a header that sets one more variable, and does not declare that for which it stands.
fn with_first(init: Option<Stmt>, (var, own): (Option<VarId>, VarId), first: Expr, range: Range) -> Stmt {
    let named = Expr { kind: ExprKind::Var(own), range };
    let set = Expr { kind: ExprKind::Assign(None, Box::new(named), Box::new(first.clone())), range };
    match init {
        Some(Stmt { kind: StmtKind::Declare(mut declared), range }) => {
            declared.retain(|d| Some(d.var) != var);
            declared.push(Declared { var: own, init: Some(first) });
            Stmt { kind: StmtKind::Declare(declared), range }
        }
        Some(Stmt { kind: StmtKind::Expr(others), range }) => {
            let both = ExprKind::Comma(Box::new(others), Box::new(set));
            Stmt { kind: StmtKind::Expr(Expr { kind: both, range }), range }
        }
        _ => Stmt { kind: StmtKind::Expr(set), range },
    }
}

/// What a header sets a variable to, or the variable if it does not; `None` if that is not one plain value.
fn first_value(init: &Stmt, var: VarId) -> Option<Expr> {
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

/// A sum as an expression.
fn amount(sum: &Sum, fixed: &[Expr], range: Range) -> Option<Expr> {
    let at = |kind| Expr { kind, range };
    let int = |n: i64| i32::try_from(n).ok().map(|_| at(ExprKind::Int(n, ScalarType::I32)));
    let product = |c: i64, e: Expr| match c {
        1 => Some(e),
        c => Some(at(ExprKind::Binary(BinaryOp::Mul, Box::new(int(c)?), Box::new(e)))),
    };
    let mut parts = Vec::new();
    for (symbol, c) in &sum.terms {
        let e = match symbol {
            Symbol::Entry(v) => at(ExprKind::Var(*v)),
            Symbol::Fixed(k) => fixed.get(*k)?.clone(),
            Symbol::Start(..) | Symbol::Head(..) => return None,
        };
        parts.push(product(*c, e)?);
    }
    for (c, factors) in &sum.products {
        let factors: Option<Vec<Expr>> = factors.iter().map(|f| amount(f, fixed, range)).collect();
        let all =
            factors?.into_iter().reduce(|l, r| at(ExprKind::Binary(BinaryOp::Mul, Box::new(l), Box::new(r))));
        parts.push(product(*c, all?)?);
    }
    if sum.constant != 0 || parts.is_empty() {
        parts.push(int(sum.constant)?);
    }
    parts.into_iter().reduce(|l, r| at(ExprKind::Binary(BinaryOp::Add, Box::new(l), Box::new(r))))
}

/// Puts a variable in the place of another one.
fn put(e: &mut Expr, var: VarId, own: VarId) {
    if e.as_var() == Some(var) {
        e.kind = ExprKind::Var(own);
    }
    e.children_mut().into_iter().for_each(|e| put(e, var, own));
}
