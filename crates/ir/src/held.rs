//! Integer scalars of which a nest itself sets every value that it reads, as `if (u[i] > 0) up = i - 1; else up = i + 1;`.

use crate::types::expr_type;
use crate::{
    ArrayId, BoundTerm, Expr, Loop, LoopId, Nest, Node, Program, ScalarType, Stmt, Storage, Update, Var,
};
use std::collections::{BTreeMap, BTreeSet};

/// These scalars: each value that is read is one that a statement of the nest assigned, and no narrower than that.
pub fn held_scalars(nest: &Nest, program: &Program) -> BTreeSet<ArrayId> {
    let types: BTreeMap<LoopId, ScalarType> = nest.loops().into_iter().map(|l| (l.id, l.ty)).collect();
    let mut holds: BTreeMap<ArrayId, bool> = BTreeMap::new();
    for s in nest.stmts() {
        let is_held = s.target.indices.is_empty() && s.update == Update::Assign && fits(s, program, &types);
        *holds.entry(s.target.array).or_insert(true) &= is_held;
    }
    let may_change = |id: &ArrayId| program.may_alias.iter().any(|(a, b)| a == id || b == id);
    let is_held = |id: &ArrayId| match program.arrays.get(id).map(|array| array.storage) {
        // What is declared in an iteration has no value from before it.
        Some(Storage::Body(l)) if types.contains_key(&l) => !may_change(id),
        Some(Storage::Body(_) | Storage::Local | Storage::Temp(_)) => {
            !may_change(id) && set_by(&nest.roots, *id, false).is_some()
        }
        _ => false,
    };
    holds.into_iter().filter(|(id, holds)| *holds && is_held(id)).map(|(id, _)| id).collect()
}

/// Whether an assignment to an integer keeps the value.
fn fits(s: &Stmt, program: &Program, types: &BTreeMap<LoopId, ScalarType>) -> bool {
    let type_of = |var: Var| match var {
        Var::Loop(id) => types.get(&id).copied().unwrap_or(ScalarType::I64),
        Var::Sym(id) => program.symbols.get(&id).map_or(ScalarType::I64, |symbol| symbol.ty),
    };
    let value = || expr_type(&s.value, program, &type_of);
    match program.arrays.get(&s.target.array).map(|array| array.element) {
        Some(ScalarType::I64) => !value().is_float() && value() != ScalarType::U64,
        Some(ScalarType::I32) => {
            !value().is_float() && (value() == ScalarType::I32 || value().bytes() < ScalarType::I32.bytes())
        }
        _ => false,
    }
}

/// Whether the nodes have set a scalar when they are done; `None` if one of them may read it before. `is_set` says whether it is set
/// before them.
fn set_by(nodes: &[Node], id: ArrayId, mut is_set: bool) -> Option<bool> {
    let reads = |e: &Expr| e.reads().iter().any(|access| access.array == id);
    let allowed = |is_set: bool, is_read: bool| (is_set || !is_read).then_some(());
    for node in nodes {
        match node {
            Node::Stmt(s) => {
                allowed(is_set, reads(&s.value) || s.target.indices.iter().any(reads))?;
                is_set |= s.target.array == id;
            }
            Node::Loop(Loop { lower, upper, body, .. }) => {
                let is_read = lower.0.iter().chain(&upper.0).any(|term| match term {
                    BoundTerm::Data(e) => reads(e),
                    BoundTerm::Affine { .. } | BoundTerm::Open => false,
                });
                allowed(is_set, is_read)?;
                // It may have no iteration.
                set_by(body, id, is_set)?;
            }
            Node::If { condition, then, otherwise } => {
                allowed(is_set, reads(condition))?;
                let (then, otherwise) = (set_by(then, id, is_set)?, set_by(otherwise, id, is_set)?);
                is_set = then && otherwise;
            }
        }
    }
    Some(is_set)
}
