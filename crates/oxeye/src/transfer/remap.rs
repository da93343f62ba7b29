//! Recipes of other nests in the words of this one.

use super::align::AlignedNode;
use crate::knowledge::UnreadableRecipe;
use oxeye_ir::{ArrayId, LoopId, StmtId, Var};
use oxeye_transform::{Reason, Recipe, Refusal, RefusalKind, Renaming};
use std::collections::BTreeMap;

/// Why a recipe of a donor cannot be said in the words of this nest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotCarried {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("nothing is known of the loops of the nest it was found on")]
    UnknownLoops,
    #[error("its steps speak of the loops of another nest's source")]
    AnotherSource,
    #[error(transparent)]
    Unreadable(UnreadableRecipe),
}

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
}

impl Renaming for Names {
    fn of_loop(&self, id: LoopId) -> Result<LoopId, Reason> {
        let (donor, here) = self.first_new;
        if id.0 >= donor {
            return Ok(LoopId(id.0 - donor + here));
        }
        self.loops.get(&id).copied().ok_or_else(|| {
            Reason::new(RefusalKind::NoSuchLoop, format!("no loop here is like loop {id} of the donor"))
        })
    }

    fn of_statement(&self, id: StmtId) -> Result<StmtId, Reason> {
        self.stmts.get(&id).copied().ok_or_else(|| {
            let text = format!("no statement here is like statement {id} of the donor");
            Reason::new(RefusalKind::NoSuchStatement, text)
        })
    }

    fn of_array(&self, _: ArrayId) -> Result<ArrayId, Reason> {
        Err(Reason::new(RefusalKind::Unsupported, "it is for the values of an array of the donor"))
    }

    fn of_variable(&self, variable: Var) -> Result<Var, Reason> {
        match variable {
            Var::Loop(id) => self.of_loop(id).map(Var::Loop),
            Var::Sym(_) => Err(Reason::new(RefusalKind::NoSuchSymbol, "it depends on a size of the donor")),
        }
    }
}

/// A recipe for a donor's normal form in the words of this nest's.
///
/// # Errors
/// Which step has no meaning here, and why.
pub(crate) fn remap(recipe: &Recipe, names: &Names) -> Result<Recipe, Refusal> {
    recipe.renamed(names)
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
        assert_eq!(refused.kind, RefusalKind::NoSuchLoop);
        assert_eq!(refused.to_string(), "vectorize L1: no loop here is like loop L1 of the donor");
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
