//! Recipes of other nests in the words of this one.

use super::align::AlignedNode;
use crate::{Recipe, Transformation};
use oxeye_ir::{Affine, LoopId, StmtId, Var};
use oxeye_transform::{Dimension, StatementSchedule};
use std::collections::BTreeMap;

/// What the loops and statements of a donor's normal form are here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    loops: BTreeMap<LoopId, LoopId>,
    stmts: BTreeMap<StmtId, StmtId>,
    /// Loops of the donor and of this nest: what steps make is numbered from there on.
    first_new: (u32, u32),
}

impl Names {
    /// From aligned normal forms with so many loops each.
    pub(crate) fn of(aligned: &[AlignedNode], n_donor_loops: usize, n_loops: usize) -> Self {
        let number = |id: &str| id.get(1..).and_then(|digits| digits.parse::<u32>().ok());
        let pairs = |kind: &'static str| {
            let of_kind = aligned.iter().filter(move |node| node.kind == kind);
            of_kind.filter_map(|node| Some((number(&node.donor)?, number(&node.here)?)))
        };
        Self {
            loops: pairs("loop").map(|(donor, here)| (LoopId(donor), LoopId(here))).collect(),
            stmts: pairs("stmt").map(|(donor, here)| (StmtId(donor), StmtId(here))).collect(),
            first_new: (n_donor_loops as u32, n_loops as u32),
        }
    }

    fn of_loop(&self, id: LoopId) -> Result<LoopId, String> {
        let (donor, here) = self.first_new;
        if id.0 >= donor {
            return Ok(LoopId(id.0 - donor + here));
        }
        self.loops.get(&id).copied().ok_or_else(|| format!("no loop here is like loop {id} of the donor"))
    }

    fn of_stmt(&self, id: StmtId) -> Result<StmtId, String> {
        let found = self.stmts.get(&id).copied();
        found.ok_or_else(|| format!("no statement here is like statement {id} of the donor"))
    }

    fn of_affine(&self, affine: &Affine) -> Result<Affine, String> {
        let mut result = Affine::constant(affine.constant_part());
        for (var, coefficient) in affine.terms() {
            let Var::Loop(id) = var else {
                return Err("it depends on a size of the donor".into());
            };
            result = result.add_scaled(&Affine::var(self.of_loop(id)?), coefficient);
        }
        Ok(result)
    }

    fn of_schedule(&self, schedule: &StatementSchedule) -> Result<StatementSchedule, String> {
        let dimension = |dimension: &Dimension| {
            Ok(match dimension {
                Dimension::At(position) => Dimension::At(*position),
                Dimension::By { expr, reverse } => {
                    Dimension::By { expr: self.of_affine(expr)?, reverse: *reverse }
                }
            })
        };
        let dimensions = schedule.dimensions.iter().map(dimension).collect::<Result<_, String>>()?;
        Ok(StatementSchedule { stmt: self.of_stmt(schedule.stmt)?, dimensions })
    }

    fn of_step(&self, step: &Transformation) -> Result<Transformation, String> {
        use Transformation as T;
        let at = |id: &LoopId| self.of_loop(*id);
        Ok(match step {
            T::Normalize => T::Normalize,
            T::Reorder { schedules } => {
                let schedules = schedules.iter().map(|s| self.of_schedule(s)).collect::<Result<_, _>>()?;
                T::Reorder { schedules }
            }
            T::Distribute { at: id, before } => T::Distribute { at: at(id)?, before: *before },
            T::Interchange { outer, inner } => T::Interchange { outer: at(outer)?, inner: at(inner)? },
            T::Fuse { first, second, shift } => {
                T::Fuse { first: at(first)?, second: at(second)?, shift: *shift }
            }
            T::Skew { inner, outer, factor } => {
                T::Skew { inner: at(inner)?, outer: at(outer)?, factor: *factor }
            }
            T::Reverse { at: id } => T::Reverse { at: at(id)? },
            T::Tile { loops, sizes } => {
                let loops = loops.iter().map(at).collect::<Result<_, _>>()?;
                T::Tile { loops, sizes: sizes.clone() }
            }
            T::Split { at: id, point } => T::Split { at: at(id)?, point: self.of_affine(point)? },
            T::Parallelize { at: id, omp_schedule } => {
                T::Parallelize { at: at(id)?, omp_schedule: *omp_schedule }
            }
            T::Vectorize { at: id } => T::Vectorize { at: at(id)? },
            T::Unroll { at: id, factor } => T::Unroll { at: at(id)?, factor: *factor },
            T::UnrollAndJam { at: id, factor } => T::UnrollAndJam { at: at(id)?, factor: *factor },
            T::Contract { stmt, row, column, depth, blocks, parallel } => T::Contract {
                stmt: self.of_stmt(*stmt)?,
                row: at(row)?,
                column: at(column)?,
                depth: at(depth)?,
                blocks: *blocks,
                parallel: *parallel,
            },
        })
    }
}

/// A recipe for a donor's normal form in the words of this nest's.
///
/// # Errors
/// Which step has no meaning here, and why.
pub(crate) fn remap(recipe: &Recipe, names: &Names) -> Result<Recipe, String> {
    let step = |step| names.of_step(step).map_err(|why| format!("{step}: {why}"));
    Ok(Recipe { steps: recipe.steps.iter().map(step).collect::<Result<_, _>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(pairs: &[(&str, &str, &str)], n_donor: usize, n_here: usize) -> Names {
        let node = |(kind, donor, here): &(&str, &str, &str)| AlignedNode {
            kind: (*kind).into(),
            donor: (*donor).into(),
            here: (*here).into(),
            distance: 0.0,
        };
        Names::of(&pairs.iter().map(node).collect::<Vec<_>>(), n_donor, n_here)
    }

    #[test]
    fn loops_are_called_as_here_and_new_ones_come_after_those_here() {
        let recipe: Recipe =
            "interchange L0 L1; tile L1:32 L0:16; parallelize L2; vectorize L0".parse().expect("a recipe");
        let names = names(&[("loop", "L0", "L1"), ("loop", "L1", "L2")], 2, 3);
        let here = remap(&recipe, &names).expect("every loop is here");
        assert_eq!(here.to_string(), "interchange L1 L2; tile L2:32 L1:16; parallelize L3; vectorize L1");
    }

    #[test]
    fn what_is_not_here_is_named() {
        let recipe: Recipe = "vectorize L1".parse().expect("a recipe");
        let refused = remap(&recipe, &names(&[("loop", "L0", "L0")], 2, 1)).expect_err("no L1 here");
        assert_eq!(refused, "vectorize L1: no loop here is like loop L1 of the donor");
    }

    #[test]
    fn schedules_of_statements_are_carried_over() {
        let recipe: Recipe = "reorder S0[0 L1 0 L0 0]".parse().expect("a recipe");
        let all = [("loop", "L0", "L2"), ("loop", "L1", "L3"), ("stmt", "S0", "S1")];
        let here = remap(&recipe, &names(&all, 2, 4)).expect("all here");
        assert_eq!(here.to_string(), "reorder S1[0 L3 0 L2 0]");
        remap(&recipe, &names(&all[..2], 2, 4)).expect_err("no such statement here");
    }
}
