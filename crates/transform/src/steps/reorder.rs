//! Reorder: gives every statement a new schedule.
//!
//! *Rewrite*: the tree is rebuilt from schedules in 2d+1 form. `S0[0 L1 0 L0 0]` puts `S0` into a loop over the old
//! iterator L1 and, inside it, one over L0; statements whose leading dimensions agree share those loops. `By` may also
//! be a shifted, negated or skewed iterator such as `L1 + 2*L0 + 1`, or an expression of iterators that are already
//! outside: then the statement runs in that one iteration of the loop.
//!
//! *Legal when* the judge finds every dependence in order. *Refused when* an expression determines more than one
//! further iterator, or one with a coefficient other than ±1, or a statement is missing.

use super::argument::Kind;
use super::registry::{Step, step};
use crate::policy::Policy;
use crate::refusal::{Reason, RefusalKind};
use crate::schedule::statement_schedule::{Dimension, StatementSchedule};
use crate::schedule::{LoopNode, Schedule, Tree};
use oxeye_ir::{Affine, Constraint, Execution, LoopId, ScalarType, Var};
use std::collections::BTreeMap;

step! {
    /// Gives every statement a new schedule.
    Reorder: "reorder",
    "give every statement a new schedule: loop order, fusion, fission, shifts and skews at once",
    "{schedules}",
    .renumbers();
    /// One for every statement of the nest.
    schedules: Vec<StatementSchedule> = Kind::Schedules,
}

impl Step for Reorder {
    fn edit(&self, schedule: &mut Schedule, _: Policy) -> Result<(), Reason> {
        reorder(schedule, &self.schedules)
    }
}

/// An error in the schedules.
fn bad(text: impl Into<String>) -> Reason {
    Reason::new(RefusalKind::BadArgument { argument: "schedules".into() }, text)
}

fn reorder(schedule: &mut Schedule, schedules: &[StatementSchedule]) -> Result<(), Reason> {
    let paths = schedule.paths();
    let mut rows: Vec<(usize, &[Dimension])> = Vec::new();
    for (s, statement) in schedule.statements.iter().enumerate() {
        let mut found = schedules.iter().filter(|r| r.stmt == statement.id);
        let (Some(row), None) = (found.next(), found.next()) else {
            return Err(bad(format!("{} needs exactly one schedule", statement.id)));
        };
        let well_formed = row.dimensions.len() > 2 * paths[s].len()
            && row.dimensions.len() % 2 == 1
            && row.dimensions.iter().enumerate().all(|(k, d)| matches!(d, Dimension::At(_)) == (k % 2 == 0));
        if !well_formed {
            return Err(bad(format!(
                "the schedule of {} needs {} loops or more between positions",
                row.stmt,
                paths[s].len()
            )));
        }
        rows.push((s, &row.dimensions));
    }
    let mut builder =
        Builder { schedule, solved: vec![BTreeMap::new(); rows.len()], fixed: Vec::new(), paths: &paths };
    let roots = builder.trees(&rows)?;
    for (s, _) in &rows {
        if let Some(lost) = paths[*s].iter().find(|l| !builder.solved[*s].contains_key(l)) {
            return Err(bad(format!(
                "no loop of the schedule of {} stands for its iterator {}",
                builder.schedule.statements[*s].id,
                builder.schedule.loop_name(*lost)
            )));
        }
    }
    let Builder { solved, fixed, .. } = builder;
    schedule.roots = roots;
    for (statement, solved) in schedule.statements.iter_mut().zip(solved) {
        let with = |v: Var| match v {
            Var::Loop(l) => solved.get(&l).cloned(),
            Var::Sym(_) => None,
        };
        for value in statement.map.values_mut() {
            *value = value.substitute(&with);
        }
        for c in &mut statement.domain {
            *c = c.substitute(&with);
        }
    }
    for (s, constraint) in fixed {
        schedule.statements[s].domain.push(constraint);
    }
    Ok(())
}

struct Builder<'a> {
    schedule: &'a mut Schedule,
    /// Per statement: old loop → expression of new loops.
    solved: Vec<BTreeMap<LoopId, Affine>>,
    /// Statements pinned to one iteration of a new loop.
    fixed: Vec<(usize, Constraint)>,
    paths: &'a [Vec<LoopId>],
}

impl Builder<'_> {
    fn trees(&mut self, rows: &[(usize, &[Dimension])]) -> Result<Vec<Tree>, Reason> {
        let mut groups: BTreeMap<usize, Vec<(usize, &[Dimension])>> = BTreeMap::new();
        for (s, dims) in rows {
            if let [Dimension::At(position), rest @ ..] = dims {
                groups.entry(*position).or_default().push((*s, rest));
            }
        }
        groups.into_values().map(|group| self.tree(&group)).collect()
    }

    fn tree(&mut self, group: &[(usize, &[Dimension])]) -> Result<Tree, Reason> {
        if let [(s, [])] = group {
            return Ok(Tree::Leaf(*s));
        }
        let mut id = None;
        let mut direction = None;
        let mut rest = Vec::new();
        for (s, dims) in group {
            let [Dimension::By { expr, reverse }, tail @ ..] = dims else {
                return Err(bad(format!(
                    "{} shares its position with a loop",
                    self.schedule.statements[*s].id
                )));
            };
            if *direction.get_or_insert(*reverse) != *reverse {
                return Err(bad("a loop cannot run in both directions"));
            }
            let unknown = self.unknown(*s, expr)?;
            let old = unknown.map(|(old, _)| old);
            let id = *id.get_or_insert_with(|| {
                let info = old.and_then(|old| self.schedule.iterators.get(&old));
                let (name, ty) = info.map_or(("i".to_owned(), ScalarType::I32), |i| (i.name.clone(), i.ty));
                self.schedule.fresh_loop(name, ty)
            });
            let others = match unknown {
                Some((old, sign)) => expr.clone().add_scaled(&Affine::var(old), -sign),
                None => expr.clone(),
            };
            let known = others.substitute(&|v| match v {
                Var::Loop(l) => self.solved[*s].get(&l).cloned(),
                Var::Sym(_) => None,
            });
            match unknown {
                Some((old, sign)) => {
                    self.solved[*s].insert(old, (Affine::var(id) - known).scaled(sign));
                }
                None => self.fixed.push((*s, Constraint::eq(Affine::var(id), known))),
            }
            rest.push((*s, tail));
        }
        let body = self.trees(&rest)?;
        let id = id.ok_or_else(|| bad("an empty loop"))?;
        Ok(Tree::Loop(LoopNode {
            id,
            reverse: direction.unwrap_or(false),
            execution: Execution::Sequential,
            separate: Vec::new(),
            batch: None,
            body,
        }))
    }

    /// The one iterator that `expr` determines beyond those already known, if any, and its sign.
    fn unknown(&self, s: usize, expr: &Affine) -> Result<Option<(LoopId, i64)>, Reason> {
        let stmt = self.schedule.statements[s].id;
        let new: Vec<LoopId> = expr.loops().filter(|l| !self.solved[s].contains_key(l)).collect();
        match new.as_slice() {
            [only] if self.paths[s].contains(only) && expr.coefficient(*only).abs() == 1 => {
                Ok(Some((*only, expr.coefficient(*only))))
            }
            [] => Ok(None),
            _ => Err(bad(format!("a loop of {stmt} does not stand for one more of its iterators"))),
        }
    }
}
