//! Rows behind pointers of which conditions or numbers from memory decide whether they are used: loops that find out
//! before the nest.

use super::hull::hull;
use super::uses::{Use, converted, iterators};
use oxeye_binding::{RowForm, RowScan, RowTest, ScanEnd, ScanStep};
use oxeye_ir::{Affine, ArrayId, BinaryOp, Bound, BoundTerm, Expr, Loop, LoopId, Program, ScalarType, SymId};
use std::collections::BTreeSet;

/// The test of an array with one dimension of pointers, if it can be found out which rows it uses; what finds that out is
/// added to the scans.
pub(super) fn scanned(
    program: &mut Program,
    array: ArrayId,
    uses: &[Use],
    scans: &mut Vec<RowScan>,
) -> Option<RowTest> {
    let is_dominated = |u: &Use| {
        uses.iter().any(|other| {
            !std::ptr::eq(u, other)
                && other.n_unknown == 0
                && other.indices.first() == u.indices.first()
                && (u.loops.len(), u.guards.len(), u.n_unknown)
                    > (other.loops.len(), other.guards.len(), other.n_unknown)
                && u.loops.get(..other.loops.len()) == Some(&other.loops)
                && u.guards.get(..other.guards.len()) == Some(&other.guards)
        })
    };
    let kept: Vec<&Use> = uses.iter().filter(|u| !is_dominated(u)).collect();
    let (known, unknown): (Vec<&Use>, Vec<&Use>) = kept.into_iter().partition(|u| u.n_unknown == 0);
    if known.is_empty() {
        return None;
    }
    let all: Vec<&Use> = uses.iter().collect();
    let columns = hull(&all, 1);
    let mut found = Vec::new();
    let rows = symbols(program, "row", array);
    let row = |u: &Use| -> Option<Wanted> {
        let row = u.indices.first()?.clone();
        Some((rows, row.clone(), row))
    };
    let columns = match columns {
        Some(ends) => {
            for u in &known {
                join(program, chain((*u).clone(), vec![row(u)?])?, &mut found);
            }
            ends.ranges()?
        }
        // What a use reaches in its row depends on numbers from memory.
        None => {
            if uses.iter().any(|u| u.n_unknown > 0) {
                return None;
            }
            let symbols = symbols(program, "element", array);
            for u in uses.iter().filter(|u| !u.is_of_row) {
                let (u, low, high) = within_row(u)?;
                // Fewer loops find each out by itself.
                for wanted in [row(&u)?, (symbols, low, high)] {
                    join(program, chain(u.clone(), vec![wanted])?, &mut found);
                }
            }
            (symbols.0.into(), symbols.1.into())
        }
    };
    let at_most = |a: Expr, b: Expr| Expr::Binary(BinaryOp::Le, Box::new(a), Box::new(b));
    let (first, last): (Expr, Expr) = (rows.0.into(), rows.1.into());
    let (range, used) = if unknown.is_empty() {
        ((first.clone(), last.clone()), at_most(first, last))
    } else {
        // All of them lie in a range, the ends of which others use.
        let (low, high) = hull(&all, 0)?.ranges()?;
        let used = both(at_most(first, low.clone()), at_most(high.clone(), last));
        ((low, high), used)
    };
    found.into_iter().for_each(|scan| join(program, scan, scans));
    Some(RowTest {
        array,
        form: RowForm::Even,
        ranges: vec![range, columns],
        parts: Vec::new(),
        used: Some(used),
    })
}

/// Symbols for the least and the greatest of some values that have to do with an array.
pub(super) fn symbols(program: &mut Program, what: &str, array: ArrayId) -> (SymId, SymId) {
    let mut symbol = |end: &str| {
        let name = format!("oxeye_{end}_{what}_{}", array.0);
        let there = program.symbols.values().find(|s| s.name == name).map(|s| s.id);
        there.unwrap_or_else(|| program.add_symbol(name, ScalarType::I64))
    };
    (symbol("first"), symbol("last"))
}

fn both(a: Expr, b: Expr) -> Expr {
    Expr::Binary(BinaryOp::And, Box::new(a), Box::new(b))
}

/// Adds a scan, to one with the same steps if there is one.
pub(super) fn join(program: &Program, scan: RowScan, scans: &mut Vec<RowScan>) {
    let same = scans.iter_mut().find(|s| s.steps == scan.steps && s.n_deciding == scan.n_deciding);
    let Some(same) = same else { return scans.push(scan) };
    for end in scan.ends {
        let distance = |other: &ScanEnd| match (&end.value, &other.value) {
            (Expr::Affine(a), Expr::Affine(b)) => (a.clone() - b.clone()).as_constant(),
            (a, b) => {
                let ((a, first), (b, second)) = (offset(a), offset(b));
                let is_exact = first == second || is_signed(program, a);
                (a == b && is_exact).then(|| first.checked_sub(second)).flatten()
            }
        };
        let alike = |other: &&mut ScanEnd| (other.symbol, other.is_least) == (end.symbol, end.is_least);
        let known = same.ends.iter_mut().filter(alike).find_map(|o| Some((distance(o)?, o)));
        match known {
            Some((distance, known)) if (distance < 0) == end.is_least && distance != 0 => *known = end,
            Some(_) => {}
            None => same.ends.push(end),
        }
    }
}

/// An expression without a number that is added to it, and that.
fn offset(e: &Expr) -> (&Expr, i64) {
    match e {
        Expr::Binary(BinaryOp::Add, rest, number) => {
            number.as_affine().and_then(Affine::as_constant).map_or((e, 0), |number| (&**rest, number))
        }
        e => (e, 0),
    }
}

/// Whether nothing in an expression wraps around.
fn is_signed(program: &Program, e: &Expr) -> bool {
    let mut is_signed = true;
    e.visit(&mut |e| match e {
        Expr::Read(access) => {
            is_signed &= !matches!(program.array(access.array).element, ScalarType::U32 | ScalarType::U64);
        }
        Expr::Cast(ty, _) => is_signed &= !matches!(ty, ScalarType::U32 | ScalarType::U64),
        _ => {}
    });
    is_signed
}

/// Symbols for the least and the greatest value, and expressions that are never less or greater in an iteration.
pub(super) type Wanted = ((SymId, SymId), Expr, Expr);

/// The loops and conditions of a use, those first on which the values depend.
pub(super) fn chain(u: Use, wanted: Vec<Wanted>) -> Option<RowScan> {
    let position = |id: &LoopId| u.loops.iter().position(|l| l.id == *id);
    let mut deciding: BTreeSet<usize> = BTreeSet::new();
    let mut next: Vec<usize> = Vec::new();
    for (_, low, high) in &wanted {
        for id in iterators(low).union(&iterators(high)) {
            next.push(position(id)?);
        }
    }
    while let Some(k) = next.pop() {
        if !deciding.insert(k) {
            continue;
        }
        let (needed, reads) = bounds_need(&u.loops[k])?;
        for id in &needed {
            next.push(position(id)?);
        }
        // What a bound reads is there if all around it holds.
        if reads {
            next.extend(0..k);
        }
    }
    let (first, rest): (Vec<usize>, Vec<usize>) = (0..u.loops.len()).partition(|k| deciding.contains(k));
    let mut placed = vec![false; u.loops.len()];
    let mut guards = u.guards.iter().peekable();
    let (mut steps, mut n_deciding) = (Vec::new(), 0);
    let mut place_guards = |placed: &[bool], steps: &mut Vec<ScanStep>| {
        while let Some((guard, _)) =
            guards.next_if(|(_, depth)| placed.iter().take(*depth).all(|is_placed| *is_placed))
        {
            steps.push(ScanStep::If(guard.clone()));
        }
    };
    place_guards(&placed, &mut steps);
    for k in first.into_iter().chain(rest) {
        bounds_need(&u.loops[k])?;
        steps.push(ScanStep::Loop(u.loops[k].clone()));
        if deciding.contains(&k) {
            n_deciding = steps.len();
        }
        placed[k] = true;
        place_guards(&placed, &mut steps);
    }
    // Of a loop that nothing depends on it counts whether there is an iteration.
    for k in (n_deciding..steps.len()).rev() {
        let ScanStep::Loop(l) = &steps[k] else { continue };
        let is_used = steps[k + 1..].iter().any(|step| match step {
            ScanStep::If(condition) => condition.uses(l.id),
            ScanStep::Loop(inner) => bounds_need(inner).is_some_and(|(needed, _)| needed.contains(&l.id)),
        });
        if !is_used {
            steps[k] = ScanStep::If(is_entered(l)?);
        }
    }
    // What is always so.
    let is_true = |step: &ScanStep| matches!(step, ScanStep::If(Expr::Affine(a)) if a.as_constant().is_some_and(|c| c != 0));
    let n_true = steps[..n_deciding].iter().filter(|step| is_true(step)).count();
    n_deciding -= n_true;
    steps.retain(|step| !is_true(step));
    let steps = joined(steps, &mut n_deciding);
    let ends = wanted.into_iter().flat_map(|((first, last), low, high)| {
        [
            ScanEnd { symbol: first, is_least: true, value: low },
            ScanEnd { symbol: last, is_least: false, value: high },
        ]
    });
    Some(RowScan { steps, n_deciding, ends: ends.collect() })
}

/// Conditions that follow each other become one.
fn joined(steps: Vec<ScanStep>, n_deciding: &mut usize) -> Vec<ScanStep> {
    let (mut result, mut first): (Vec<ScanStep>, usize) = (Vec::new(), *n_deciding);
    for (k, step) in steps.into_iter().enumerate() {
        match (result.last_mut(), step) {
            (Some(ScanStep::If(known)), ScanStep::If(next)) if k != *n_deciding => {
                if *known != next {
                    *known = both(known.clone(), next);
                }
                first -= usize::from(k < *n_deciding);
            }
            (_, step) => result.push(step),
        }
    }
    *n_deciding = first;
    result
}

/// The iterators in a loop's bounds, and whether they read memory; `None` for a bound that is a quotient or open.
fn bounds_need(l: &Loop) -> Option<(BTreeSet<LoopId>, bool)> {
    let (mut needed, mut reads) = (BTreeSet::new(), false);
    for term in l.lower.0.iter().chain(&l.upper.0) {
        match term {
            BoundTerm::Affine { expr, divisor: 1 } => needed.extend(expr.loops()),
            BoundTerm::Affine { .. } | BoundTerm::Open => return None,
            BoundTerm::Data(e) => {
                needed.extend(iterators(e));
                reads = true;
            }
        }
    }
    Some((needed, reads))
}

/// A term of a bound as a number of 64 bits.
fn term_value(term: &BoundTerm) -> Option<Expr> {
    match term {
        BoundTerm::Affine { expr, divisor: 1 } => Some(Expr::Affine(expr.clone())),
        BoundTerm::Affine { .. } | BoundTerm::Open => None,
        BoundTerm::Data(e) => Some(converted(ScalarType::I64, e.clone())),
    }
}

/// Whether a loop has an iteration.
fn is_entered(l: &Loop) -> Option<Expr> {
    let terms = |bound: &Bound| bound.0.iter().map(term_value).collect::<Option<Vec<_>>>();
    let (lowers, uppers) = (terms(&l.lower)?, terms(&l.upper)?);
    let pairs = lowers.iter().flat_map(|lower| uppers.iter().map(move |upper| (lower, upper)));
    let conditions = pairs.filter_map(|(lower, upper)| {
        if let (Expr::Affine(a), Expr::Affine(b)) = (lower, upper)
            && (b.clone() - a.clone()).as_constant().is_some_and(|n| n > 0)
        {
            return None;
        }
        Some(Expr::Binary(BinaryOp::Lt, Box::new(lower.clone()), Box::new(upper.clone())))
    });
    Some(conditions.reduce(both).unwrap_or(Expr::from(1)))
}

/// A use without the innermost loop that moves it along its row, and the first and the last element that it then reaches.
fn within_row(u: &Use) -> Option<(Use, Expr, Expr)> {
    within(u, u.indices.get(1)?)
}

/// The same for an index of the use.
pub(super) fn within(u: &Use, index: &Expr) -> Option<(Use, Expr, Expr)> {
    let Some((at, along)) = u.loops.iter().enumerate().rfind(|(_, l)| index.uses(l.id)) else {
        return Some((u.clone(), index.clone(), index.clone()));
    };
    let is_inside = |(_, depth): &(Expr, usize)| *depth > at;
    if u.guards.iter().any(is_inside) {
        return Some((u.clone(), index.clone(), index.clone()));
    }
    let end = |bound: &Bound, op: BinaryOp, offset: i64| -> Option<Expr> {
        let terms = bound.0.iter().map(term_value).collect::<Option<Vec<_>>>()?;
        let value = terms.into_iter().reduce(|a, b| Expr::Binary(op, Box::new(a), Box::new(b)))?;
        Some(sum(value, Affine::constant(offset)))
    };
    let least = end(&along.lower, BinaryOp::Max, 0)?;
    let greatest = end(&along.upper, BinaryOp::Min, -1)?;
    let (low, high) = match index {
        Expr::Affine(a) if a.coefficient(along.id) < 0 => {
            let coefficient = a.coefficient(along.id);
            let rest = a.clone().add_scaled(&Affine::var(along.id), -coefficient);
            let value =
                |end: Expr| sum(Expr::binary(BinaryOp::Mul, Expr::from(coefficient), end), rest.clone());
            (value(greatest), value(least))
        }
        index => match (with(index, along.id, &least), with(index, along.id, &greatest)) {
            (Some(low), Some(high)) => (low, high),
            // It is looked at in each iteration.
            _ => return Some((u.clone(), index.clone(), index.clone())),
        },
    };
    let along = along.clone();
    let mut u = u.clone();
    u.guards.push((is_entered(&along)?, at));
    for inner in &u.loops[at + 1..] {
        if bounds_need(inner)?.0.contains(&along.id) {
            return None;
        }
    }
    u.loops.remove(at);
    Some((u, low, high))
}

/// An index that grows with an iterator, with a value in its place.
fn with(index: &Expr, iterator: LoopId, value: &Expr) -> Option<Expr> {
    match index {
        e if !e.uses(iterator) => Some(e.clone()),
        Expr::Affine(a) => {
            let coefficient = a.coefficient(iterator);
            let rest = a.clone().add_scaled(&Affine::var(iterator), -coefficient);
            let moved = match coefficient {
                1 => value.clone(),
                2.. => Expr::binary(BinaryOp::Mul, Expr::from(coefficient), value.clone()),
                _ => return None,
            };
            Some(sum(moved, rest))
        }
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Min | BinaryOp::Max), l, r) => {
            Some(Expr::binary(*op, with(l, iterator, value)?, with(r, iterator, value)?))
        }
        Expr::Binary(BinaryOp::Sub, l, r) if !r.uses(iterator) => {
            Some(Expr::binary(BinaryOp::Sub, with(l, iterator, value)?, (**r).clone()))
        }
        Expr::Cast(ScalarType::I64, inner) => Some(converted(ScalarType::I64, with(inner, iterator, value)?)),
        // The lesser or the greater of two values, each of which grows.
        Expr::Select { condition, then, otherwise } => {
            let Expr::Binary(op @ (BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge), l, r) =
                &**condition
            else {
                return None;
            };
            if !((l == then && r == otherwise) || (l == otherwise && r == then)) {
                return None;
            }
            let moved = |e: &Expr| Some(Box::new(with(e, iterator, value)?));
            let condition = Box::new(Expr::Binary(*op, moved(l)?, moved(r)?));
            Some(Expr::Select { condition, then: moved(then)?, otherwise: moved(otherwise)? })
        }
        _ => None,
    }
}

fn sum(e: Expr, a: Affine) -> Expr {
    match a.as_constant() {
        Some(0) => e,
        _ => Expr::binary(BinaryOp::Add, e, Expr::Affine(a)),
    }
}
