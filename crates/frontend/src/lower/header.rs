//! The parts of `for` headers.

use crate::ast::{self, Declared, ExprKind, For, Range, StmtKind, VarId};
use crate::refusal::{Lowered, Refusal};
use crate::rotations::Rotation;
use crate::scan::{Scan, assigned_var, commas, counter};
use oxeye_ir::{Affine, ScalarType};

/// The parts of a header.
pub(crate) struct Header<'e> {
    pub(crate) var: VarId,
    pub(crate) init: &'e ast::Expr,
    /// Other variables set before the loop.
    pub(super) before: Vec<&'e ast::Expr>,
    pub(super) declared_before: Vec<&'e Declared>,
    /// The step, and its expression.
    pub(super) step: &'e ast::Expr,
    /// Other effects after each iteration.
    pub(super) after: Vec<&'e ast::Expr>,
    pub(crate) condition: &'e ast::Expr,
}

impl Header<'_> {
    /// Whether it sets nothing but the loop's variable.
    pub(super) fn is_alone(&self) -> bool {
        self.before.is_empty() && self.declared_before.is_empty() && self.after.is_empty()
    }

    /// What iterations do, and the loop's variable.
    pub(super) fn repeated(&self, file: &ast::File, f: &For) -> Scan {
        let mut changed = Scan::of(file, &f.body);
        changed.written.extend(self.after.iter().filter_map(|e| assigned_var(e)));
        changed.iterators.insert(self.var);
        changed
    }

    /// Whether iterations change something else in an expression than the loop's variable.
    pub(crate) fn changes(&self, e: &ast::Expr, body: &Scan) -> bool {
        let is_changed = |v: VarId| {
            v != self.var
                && (body.written.contains(&v)
                    || body.iterators.contains(&v)
                    || self.after.iter().any(|e| assigned_var(e) == Some(v)))
        };
        let mut found = false;
        e.walk(&mut |e| found |= e.as_var().is_some_and(is_changed));
        found
    }
}

/// What a loop's variable changes by.
pub(super) enum Step {
    Constant(i64),
    /// An expression that does not change in the loop.
    Symbolic(Stride),
}

/// What a loop's variable steps by that only the run knows, or that is taken so.
pub(super) struct Stride {
    /// Above zero.
    pub(super) by: Affine,
    pub(super) ty: ScalarType,
    /// Whether it is subtracted.
    pub(super) is_down: bool,
    /// If it is a constant, the pointer beside it that walks by no multiple of it.
    pub(super) beside: Option<VarId>,
}

fn no_counter(at: Range) -> Box<Refusal> {
    Refusal::new(at, "the loop does not count with a single variable")
        .help("write it as `for (i = first; i < end; i += step)`")
}

/// Splits a header into its parts.
pub(crate) fn header<'e>(f: &'e For, at: Range) -> Lowered<Header<'e>> {
    let (Some(condition), Some(step), Some(var)) = (&f.condition, &f.step, counter(f)) else {
        return Err(no_counter(at));
    };
    let Some(init_stmt) = &f.init else {
        return Err(Refusal::new(at, "the loop's variable gets its first value before the loop")
            .help("give it its first value in the `for`"));
    };
    let (mut init, mut before, mut declared_before) = (None, Vec::new(), Vec::new());
    // The first value is taken before anything else that the header sets.
    let mut set: Vec<Option<VarId>> = Vec::new();
    let first = |value: &'e ast::Expr, set: &[Option<VarId>]| {
        // What is no assignment to a variable may change anything.
        let changes =
            |set: &Option<VarId>| set.map_or_else(|| ast::constant(value).is_none(), |v| value.mentions(v));
        match set.iter().any(changes) {
            true => Err(Refusal::new(
                value.range,
                "the loop's first value depends on what its header sets before it",
            )
            .help("set that before the loop")),
            false => Ok(Some(value)),
        }
    };
    match &init_stmt.kind {
        StmtKind::Declare(declared) => {
            for d in declared {
                if d.var == var {
                    init = d.init.as_ref().map_or(Ok(None), |value| first(value, &set))?;
                } else {
                    set.push(Some(d.var));
                    declared_before.push(d);
                }
            }
        }
        StmtKind::Expr(e) => {
            for e in commas(e) {
                match &e.kind {
                    ExprKind::Assign(None, target, value) if target.as_var() == Some(var) => {
                        init = first(value, &set)?;
                    }
                    _ => {
                        set.push(assigned_var(e));
                        before.push(e);
                    }
                }
            }
        }
        _ => {}
    }
    let Some(init) = init else { return Err(no_counter(init_stmt.range)) };
    let (steps, after): (Vec<_>, Vec<_>) =
        commas(step).into_iter().partition(|e| assigned_var(e) == Some(var));
    let [step] = steps.as_slice() else { return Err(no_counter(step.range)) };
    Ok(Header { var, init, before, declared_before, step, after, condition })
}

/// The refusal of a step that is not the same in all iterations.
pub(super) fn may_change(at: Range) -> Box<Refusal> {
    Refusal::new(at, "the loop's variable steps by something that may change in the nest")
        .help("copy the step into a variable before the loop, or count with a step of one")
}

pub(crate) fn changing_places(file: &ast::File, rotation: &Rotation) -> Box<Refusal> {
    let names: Vec<String> = rotation.pointers.iter().map(|v| format!("`{}`", file.var(*v).name)).collect();
    let message = match names.as_slice() {
        [a, b] => format!("the pointers {a} and {b} are swapped"),
        names => format!("the pointers {} take turns", names.join(", ")),
    };
    Refusal::new(rotation.range, message).help("only the loops inside are looked at")
}
