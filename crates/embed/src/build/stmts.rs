//! Statement nodes and the edges from loops to them.

use super::draft::Draft;
use super::facts::{Facts, StmtFacts, StrideClass};
use crate::graph::{EdgeKind, NodeKind};
use crate::schema::{N_NODE, StmtFeature};
use crate::vector::Features;
use oxeye_analysis::{Role, operations};
use oxeye_ir::{Expr, MathFn, Update};
use std::collections::BTreeSet;

pub(super) fn add(facts: &Facts<'_>, draft: &mut Draft) {
    for stmt in &facts.stmts {
        let id = stmt.stmt.id.to_string();
        draft.node(NodeKind::Stmt, id.clone(), features(facts, stmt));
        if let Some(&inner) = stmt.path.last() {
            draft.edge(EdgeKind::Body, &facts.loops[inner].l.id.to_string(), &id, Features::zero());
        }
    }
}

fn features(facts: &Facts<'_>, of_stmt: &StmtFacts<'_>) -> Features<N_NODE> {
    use StmtFeature as F;
    let StmtFacts { stmt, path, guards, runs, accesses } = of_stmt;
    let mut features = Features::zero();
    features.set(F::Depth, path.len() as f64);
    if let Some(runs) = runs {
        features.flag(F::RunsKnown, true);
        features.flag(F::RunsExact, runs.exact);
        features.set(F::Runs, runs.value);
    }
    let update = match stmt.update {
        Update::Assign => F::Assign,
        Update::Add => F::Add,
        Update::Sub => F::Sub,
        Update::Mul => F::Mul,
        Update::Div => F::Div,
        Update::Min => F::Min,
        Update::Max => F::Max,
    };
    features.flag(update, true);
    let target = accesses.iter().find(|access| access.role == Role::Target);
    let is_still =
        target.is_some_and(|target| target.steps.iter().any(|step| step.class == StrideClass::Zero));
    features.flag(F::Reduces, stmt.update.is_reduction() && is_still);
    features.flag(F::Guarded, !guards.is_empty());
    features.flag(F::GuardData, guards.iter().any(|guard| !guard.reads().is_empty()));
    let array = facts.program.array(stmt.target.array);
    features.flag(F::ResultFloat, array.element.is_float());
    features.set(F::ResultBytes, array.element.bytes() as f64);
    features.flag(F::ScalarTarget, array.shape.is_empty());
    let read: Vec<_> = accesses.iter().filter(|a| a.role == Role::Value).map(|a| a.source.array).collect();
    features.flag(F::SelfRead, read.contains(&stmt.target.array));
    features.set(F::Reads, read.len() as f64);
    features.set(F::ArraysRead, read.iter().collect::<BTreeSet<_>>().len() as f64);
    features.flag(F::Copies, stmt.update == Update::Assign && matches!(stmt.value, Expr::Read(_)));
    features.flag(F::Sets, read.is_empty());
    arithmetic(facts, of_stmt, &mut features);
    features
}

/// The mix of operations.
fn arithmetic(facts: &Facts<'_>, of_stmt: &StmtFacts<'_>, features: &mut Features<N_NODE>) {
    use StmtFeature as F;
    let stmt = of_stmt.stmt;
    let operations = operations(facts.program, stmt);
    features.set(F::FloatAdds, operations.float_adds as f64);
    features.set(F::FloatMuls, operations.float_muls as f64);
    features.set(F::FloatDivs, operations.float_divs as f64);
    features.set(F::FloatCompares, operations.float_compares as f64);
    features.set(F::Integer, operations.integer as f64);
    for class in [F::CallsRoot, F::CallsExponential, F::CallsTrigonometric, F::CallsCheap] {
        let calls = operations.calls.iter().filter(|(function, _)| class_of(**function) == class);
        features.set(class, calls.map(|(_, n)| *n).sum::<u64>() as f64);
    }
    let (mut n_casts, mut n_selects, mut uses_iterators) = (0, 0, false);
    computed(&stmt.value, &mut |expr| match expr {
        Expr::Cast(..) => n_casts += 1,
        Expr::Select { .. } => n_selects += 1,
        Expr::Affine(affine) => uses_iterators |= affine.loops().next().is_some(),
        _ => {}
    });
    features.set(F::Casts, f64::from(n_casts));
    features.set(F::Selects, f64::from(n_selects));
    features.flag(F::UsesIterators, uses_iterators);
}

/// Calls `f` on every subexpression that is not part of an index.
fn computed<'e>(expr: &'e Expr, f: &mut dyn FnMut(&'e Expr)) {
    f(expr);
    if !matches!(expr, Expr::Read(_)) {
        for child in expr.children() {
            computed(child, f);
        }
    }
}

fn class_of(function: MathFn) -> StmtFeature {
    use MathFn::*;
    match function {
        Sqrt | Cbrt | Hypot | Cabs | ReCsqrt | ImCsqrt | ReQuotient | ImQuotient => StmtFeature::CallsRoot,
        Exp | Exp2 | Expm1 | Log | Log2 | Log10 | Log1p | Pow | Sinh | Cosh | Tanh | Asinh | Acosh
        | Atanh | ReCpow | ImCpow | ReCexp | ImCexp | ReClog | ImClog | ReCsinh | ImCsinh | ReCcosh
        | ImCcosh => StmtFeature::CallsExponential,
        Sin | Cos | Tan | Asin | Acos | Atan | Atan2 | Erf | Erfc | Carg | ReCsin | ImCsin | ReCcos
        | ImCcos => StmtFeature::CallsTrigonometric,
        ReProduct | ImProduct => StmtFeature::CallsCheap,
        Fabs | Floor | Ceil | Round | Trunc | Rint | Nearbyint | Fmod | Fmin | Fmax | Fdim | Fma
        | Copysign | Abs | Popcount | Popcountl => StmtFeature::CallsCheap,
    }
}
