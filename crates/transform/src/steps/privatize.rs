//! Privatize: gives every iteration of a loop scratch arrays of its own.
//!
//! *Rewrite*: `for j { for i q[i] = u[j][i]; for i w[j][i] = q[i] - q[i - 1] }` → the same with an array that is declared in the body
//! of `j` in the place of `q`, so that no iteration touches what another one uses.
//!
//! *Legal when* nothing reads the array behind the nest, nothing but the loop touches it in the nest, and the exact test proves that
//! each read in an iteration is preceded by a write of the same element in that iteration. *Refused when* there is no such array.

use super::argument::Kind;
use super::registry::step;
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::scan::for_each_access;
use crate::schedule::fresh_array;
use crate::values::{NestRewrite, Valued};
use oxeye_analysis::{common_loops, is_covered};
use oxeye_ir::{ArrayId, Expr, LoopId, Storage};

step! {
    /// Gives every iteration of a loop scratch arrays of its own.
    Privatize: "privatize",
    "give every iteration of a loop its own copies of the arrays that it sets before it reads them",
    "{at}";
    /// The loop.
    at: LoopId = Kind::Loop,
}

impl NestRewrite for Privatize {
    fn rewrite(&self, nest: &mut Valued, _: Policy) -> Result<(), Reason> {
        if nest.nest.find_loop(self.at).is_none() {
            return Err(Reason::new(RefusalKind::NoSuchLoop, format!("there is no loop {}", self.at)));
        }
        let scratch: Vec<(ArrayId, Vec<Expr>)> =
            nest.nest.arrays().into_iter().filter_map(|id| Some((id, self.scratch(nest, id)?))).collect();
        if scratch.is_empty() {
            let text =
                "no array is set anew in every iteration before it is read, and never read after the nest";
            return Err(Reason::unsupported(text));
        }
        for (id, shape) in scratch {
            let known = nest.program.array(id).clone();
            let own = fresh_array(
                &mut nest.program,
                &known.name,
                known.element,
                shape,
                Storage::Temp(Some(self.at)),
            );
            nest.program.arrays[&own].c_type = known.c_type;
            for root in &mut nest.nest.roots {
                for_each_access(root, &mut |access| {
                    if access.array == id {
                        access.array = own;
                    }
                });
            }
        }
        Ok(())
    }
}

impl Privatize {
    /// The shape of an array of which every iteration of the loop may have its own.
    fn scratch(&self, nest: &Valued, id: ArrayId) -> Option<Vec<Expr>> {
        let array = nest.program.array(id);
        let shape: Vec<Expr> = array.shape.iter().cloned().collect::<Option<_>>()?;
        let is_dead = array.storage == Storage::Local && !nest.nest.live_out.contains(&id);
        let changes_places = nest.nest.rotations.iter().any(|rotation| rotation.pointers.contains(&id));
        if shape.is_empty() || !is_dead || changes_places {
            return None;
        }
        let common = common_loops(&nest.nest, id)?;
        let depth = common.iter().position(|l| *l == self.at)?;
        is_covered(&nest.program, &nest.nest, id, &common[..=depth]).then_some(shape)
    }
}
