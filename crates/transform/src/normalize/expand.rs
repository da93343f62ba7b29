//! Expansion of scratch arrays.
//!
//! An array that is not read after the nest, and of which every iteration of a loop reads only what it wrote, carries
//! nothing from one iteration to the next. It gets a dimension for each such loop that does not index it yet, so that
//! the loop can be distributed (array privatisation; Tu and Padua, "Automatic array privatization", 1993).

use super::rewrites::Done;
use crate::instances::Instances;
use crate::rewrite::Rewrite;
use crate::scan::for_each_access;
use crate::schedule::fresh_array;
use oxeye_analysis::{common_loops, is_covered};
use oxeye_ir::{Access, ArrayId, Expr, Loop, LoopId, Nest, Program, Storage, Var};

/// Expands every array that can be expanded; returns what was done, as messages.
pub(super) fn expand(program: &mut Program, nest: &mut Nest, instances: &mut Instances) -> Done {
    let mut done = Done::new();
    for id in nest.arrays() {
        let decl = program.array(id).clone();
        let is_scratch = match decl.storage {
            Storage::Local => !nest.live_out.contains(&id),
            Storage::Temp(None) => true,
            _ => false,
        };
        if !is_scratch || decl.shape.is_empty() {
            continue;
        }
        let Some(common) = common_loops(nest, id) else { continue };
        for depth in (1..=common.len()).rev() {
            let loops = missing(nest, id, &common[..depth]);
            if loops.is_empty() || !is_covered(program, nest, id, &common[..depth]) {
                continue;
            }
            let extents: Option<Vec<Expr>> = loops.iter().map(|l| extent(nest.find_loop(*l)?)).collect();
            let shape: Option<Vec<Expr>> = decl.shape.iter().cloned().collect();
            let own = || extent_of_uses(program, nest, id);
            let (Some(extents), Some(shape)) = (extents, shape.or_else(own)) else { continue };
            let shape = extents.into_iter().chain(shape).collect();
            let wide = fresh_array(program, &decl.name, decl.element, shape, Storage::Temp(None));
            for root in &mut nest.roots {
                for_each_access(root, &mut |a| {
                    if a.array == id {
                        a.array = wide;
                        let own = std::mem::take(&mut a.indices);
                        a.indices = loops.iter().map(|l| Expr::from(*l)).chain(own).collect();
                    }
                });
            }
            instances.move_array(id, Rewrite::ArrayExpansion);
            let names: Vec<&str> =
                loops.iter().filter_map(|l| nest.find_loop(*l)).map(|l| l.name.as_str()).collect();
            let what = format!("array {}: one copy for every iteration of {}", decl.name, names.join(", "));
            done.push((Rewrite::ArrayExpansion, what));
            break;
        }
    }
    done
}

fn uses(nest: &Nest, id: ArrayId) -> Vec<Access> {
    nest.accesses().into_iter().filter(|(a, _)| a.array == id).map(|(a, _)| a.clone()).collect()
}

/// The loops that no index of the array uses.
fn missing(nest: &Nest, id: ArrayId, loops: &[LoopId]) -> Vec<LoopId> {
    let uses = uses(nest, id);
    let indexed = |l: &LoopId| uses.iter().any(|a| a.indices.iter().any(|i| i.uses(*l)));
    loops.iter().copied().filter(|l| !indexed(l)).collect()
}

/// The number of copies that a loop from zero needs.
fn extent(l: &Loop) -> Option<Expr> {
    let upper = l.upper.as_affine()?;
    let plain =
        l.lower.as_affine()?.as_constant() == Some(0) && l.step == 1 && upper.loops().next().is_none();
    if !plain {
        return None;
    }
    match upper.as_constant() {
        Some(n) => Some(Expr::from(n.max(1))),
        None => Some(Expr::binary(oxeye_ir::BinaryOp::Max, Expr::Affine(upper.clone()), Expr::from(1))),
    }
}

/// Extents from the loops that index an array whose first extent is unknown.
fn extent_of_uses(program: &Program, nest: &Nest, id: ArrayId) -> Option<Vec<Expr>> {
    let shape = &program.array(id).shape;
    let mut first: Option<Expr> = None;
    for access in uses(nest, id) {
        let index = access.indices.first()?.as_affine()?.as_var()?;
        let Var::Loop(l) = index else { return None };
        let own = extent(nest.find_loop(l)?)?;
        if first.get_or_insert(own.clone()) != &own {
            return None;
        }
    }
    let rest: Option<Vec<Expr>> = shape.iter().skip(1).cloned().collect();
    Some([vec![first?], rest?].concat())
}
