//! Loops cut into parts so that what has to run in order stands apart from what threads may share.
//!
//! At each loop the statements fall into the strongly connected components of the dependences inside it; a component that no
//! dependence ties to its own later iterations may be shared. Components of one kind stay together as far as dependences allow (typed
//! fusion: Kennedy and McKinley, "Typed fusion with applications to parallel and sequential code generation", 1993), and inside a
//! part everything stays in the order of the source.

use super::builder::Builder;
use crate::order::{Level, Pair, components, pairs};
use crate::schedule::statement_schedule::{Dimension, StatementSchedule};
use crate::schedule::{LoopNode, Schedule, Tree, all_leaves};
use crate::steps::Reorder;
use crate::templates::unfit::Unfit;
use oxeye_ir::Affine;

/// The recipe under construction with loops cut where a part of them has independent iterations and another has not.
pub(crate) fn at_kinds(mut builder: Builder) -> Result<Builder, Unfit> {
    let mut cutter = Cutter { schedule: &builder.schedule, schedules: Vec::new(), is_cut: false };
    cutter.place(&builder.schedule.roots, &pairs(&builder.schedule, builder.policy()), &[], true);
    let Cutter { schedules, is_cut, .. } = cutter;
    if !is_cut {
        return Err(Unfit::Inapplicable("no loop has a part to share beside one that runs in order".into()));
    }
    builder.step(Reorder { schedules }).map_err(|reason| Unfit::Refused(vec![reason]))?;
    Ok(builder)
}

struct Cutter<'a> {
    schedule: &'a Schedule,
    schedules: Vec<StatementSchedule>,
    is_cut: bool,
}

/// Statements of a loop that stay together.
struct Part {
    statements: Vec<usize>,
    in_order: bool,
}

impl Cutter<'_> {
    /// Schedules for the statements below `trees`, inside loops whose dimensions are `outer`; loops are cut if `may_cut`.
    fn place(&mut self, trees: &[Tree], open: &[Pair], outer: &[Dimension], may_cut: bool) {
        let mut position = 0;
        for tree in trees {
            let mut next = |more: Option<Dimension>| {
                let own = [Some(Dimension::At(position)), more];
                position += 1;
                [outer, &own.into_iter().flatten().collect::<Vec<_>>()[..]].concat()
            };
            match tree {
                Tree::Leaf(s) => {
                    let stmt = self.schedule.statements[*s].id;
                    self.schedules.push(StatementSchedule { stmt, dimensions: next(None) });
                }
                Tree::PackedContraction(_) => {}
                Tree::Loop(node) => {
                    let level = Level { iterator: node.id, reverse: node.reverse };
                    let parts = if may_cut { parts(node, level, open) } else { Vec::new() };
                    let by = Dimension::By { expr: Affine::var(node.id), reverse: node.reverse };
                    if let [_, _, ..] = &parts[..] {
                        self.is_cut = true;
                        for part in parts {
                            let kept = only(&node.body, &part.statements);
                            self.place(&kept, &[], &next(Some(by.clone())), false);
                        }
                    } else {
                        let runs_in_order = parts.iter().any(|part| part.in_order);
                        let inside: Vec<Pair> = if runs_in_order {
                            open.iter().filter_map(|p| p.restricted(&level, &level)).collect()
                        } else {
                            Vec::new()
                        };
                        self.place(&node.body, &inside, &next(Some(by)), runs_in_order);
                    }
                }
            }
        }
    }
}

/// The parts of a loop, in an order that keeps dependences.
fn parts(node: &LoopNode, level: Level, open: &[Pair]) -> Vec<Part> {
    let statements = all_leaves(&node.body);
    let inside: Vec<Pair> =
        open.iter().filter(|p| statements.contains(&p.s) && statements.contains(&p.t)).cloned().collect();
    let is_carried = |p: &Pair| !p.accumulation && p.possible(&level, &level, 1);
    let mut waiting: Vec<Part> = components(&statements, &inside)
        .into_iter()
        .map(|component| {
            let is_own = |p: &&Pair| component.contains(&p.s) && component.contains(&p.t);
            let in_order = inside.iter().filter(is_own).any(is_carried);
            Part { statements: component, in_order }
        })
        .collect();
    let mut done: Vec<Part> = Vec::new();
    for in_order in [false, true].into_iter().cycle() {
        if waiting.is_empty() {
            break;
        }
        let mut part = Part { statements: Vec::new(), in_order };
        let mut left: Vec<Part> = Vec::new();
        for candidate in waiting {
            let into = |from: &[usize]| {
                inside
                    .iter()
                    .any(|p| from.contains(&p.s) && candidate.statements.contains(&p.t) && !p.accumulation)
            };
            let waits = left.iter().any(|earlier| into(&earlier.statements));
            let ties = !in_order
                && inside.iter().any(|p| {
                    part.statements.contains(&p.s) && candidate.statements.contains(&p.t) && is_carried(p)
                });
            if candidate.in_order == in_order && !waits && !ties {
                part.statements.extend(candidate.statements);
            } else {
                left.push(candidate);
            }
        }
        waiting = left;
        if !part.statements.is_empty() {
            done.push(part);
        }
    }
    done
}

/// The trees with these statements only.
fn only(trees: &[Tree], statements: &[usize]) -> Vec<Tree> {
    trees
        .iter()
        .filter_map(|tree| match tree {
            Tree::Leaf(s) => statements.contains(s).then(|| tree.clone()),
            Tree::PackedContraction(_) => None,
            Tree::Loop(node) => {
                let body = only(&node.body, statements);
                (!body.is_empty()).then(|| Tree::Loop(LoopNode { body, ..node.clone() }))
            }
        })
        .collect()
}
