//! Which elements of an array a nest reads, as loops that reach them: those of the nest around the reads, without what is not
//! needed for that. They read nothing that the nest would not read.

use super::only_if;
use crate::refusal::Reason;
use oxeye_ir::{
    Access, Affine, ArrayId, BinaryOp, Bound, BoundTerm, Execution, Expr, Loop, LoopId, Nest, Node, Program,
    Storage, UnaryOp, Var,
};
use std::collections::BTreeSet;

/// What is around a read, from the outermost inwards.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// A loop, without its body.
    Loop(Loop),
    /// A condition.
    If(Expr),
}

/// One read in the text of a nest.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) steps: Vec<Step>,
    pub(crate) access: Access,
}

/// Loops and conditions, and the elements that are read inside them.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) steps: Vec<Step>,
    pub(crate) accesses: Vec<Access>,
}

/// The reads of an array under some nodes.
///
/// # Errors
/// If an expression decides whether one happens.
pub(crate) fn reads_under(nodes: &[Node], array: ArrayId) -> Result<Vec<Read>, Reason> {
    let mut search = Search { array, steps: Vec::new(), found: Vec::new() };
    search.nodes(nodes)?;
    Ok(search.found)
}

struct Search {
    array: ArrayId,
    steps: Vec<Step>,
    found: Vec<Read>,
}

impl Search {
    fn nodes(&mut self, nodes: &[Node]) -> Result<(), Reason> {
        for node in nodes {
            match node {
                Node::Stmt(s) => {
                    for e in s.target.indices.iter().chain([&s.value]) {
                        self.expr(e, false)?;
                    }
                }
                Node::Loop(l) => {
                    for term in l.lower.0.iter().chain(&l.upper.0) {
                        if let BoundTerm::Data(e) = term {
                            self.expr(e, false)?;
                        }
                    }
                    let header = Loop { body: Vec::new(), execution: Execution::Sequential, ..l.clone() };
                    self.inside(Step::Loop(header), &l.body)?;
                }
                Node::If { condition, then, otherwise } => {
                    self.expr(condition, false)?;
                    self.inside(Step::If(condition.clone()), then)?;
                    self.inside(Step::If(Expr::unary(UnaryOp::Not, condition.clone())), otherwise)?;
                }
            }
        }
        Ok(())
    }

    fn inside(&mut self, step: Step, nodes: &[Node]) -> Result<(), Reason> {
        self.steps.push(step);
        let result = self.nodes(nodes);
        self.steps.pop();
        result
    }

    fn expr(&mut self, e: &Expr, is_selected: bool) -> Result<(), Reason> {
        if let Expr::Read(access) = e
            && access.array == self.array
        {
            if is_selected {
                return Err(Reason::unsupported("an expression decides whether it is read"));
            }
            self.found.push(Read { steps: self.steps.clone(), access: access.clone() });
        }
        let children = e.children();
        let n_sure = match e {
            Expr::Select { .. } | Expr::Binary(BinaryOp::And | BinaryOp::Or, ..) => 1,
            _ => children.len(),
        };
        children
            .into_iter()
            .enumerate()
            .try_for_each(|(k, child)| self.expr(child, is_selected || k >= n_sure))
    }
}

/// The loops and conditions that reach what is read, and everything that is read there.
///
/// # Errors
/// If what decides that changes while the nest runs.
pub(crate) fn grouped(program: &Program, nest: &Nest, reads: &[Read]) -> Result<Vec<Group>, Reason> {
    let mut groups: Vec<Group> = Vec::new();
    for read in reads {
        let steps = needed(read);
        fixed(program, nest, &steps, &read.access)?;
        match groups.iter_mut().find(|group| group.steps == steps) {
            Some(group) if group.accesses.contains(&read.access) => {}
            Some(group) => group.accesses.push(read.access.clone()),
            None => groups.push(Group { steps, accesses: vec![read.access.clone()] }),
        }
    }
    Ok(groups)
}

/// The loops on which the element depends; of the others it counts only whether they have an iteration.
fn needed(read: &Read) -> Vec<Step> {
    let mut needed: BTreeSet<LoopId> = BTreeSet::new();
    read.access.indices.iter().for_each(|e| loops_in(e, &mut needed));
    for step in &read.steps {
        if let Step::If(condition) = step {
            loops_in(condition, &mut needed);
        }
    }
    let mut steps: Vec<Step> = Vec::new();
    for step in read.steps.iter().rev() {
        match step {
            Step::If(_) => steps.push(step.clone()),
            Step::Loop(l) => {
                for term in l.lower.0.iter().chain(&l.upper.0) {
                    match term {
                        BoundTerm::Affine { expr, .. } => needed.extend(expr.loops()),
                        BoundTerm::Data(e) => loops_in(e, &mut needed),
                        BoundTerm::Open => {}
                    }
                }
                match entered(l).filter(|_| !needed.contains(&l.id)) {
                    Some(None) => {}
                    Some(Some(condition)) => steps.push(Step::If(condition)),
                    None => steps.push(step.clone()),
                }
            }
        }
    }
    steps.reverse();
    let is_sure = |k: usize| {
        let is_entered = |step: &Step| matches!((step, &steps[k]), (Step::Loop(l), Step::If(c)) if entered(l) == Some(Some(c.clone())));
        steps[..k].iter().any(is_entered)
    };
    let kept: Vec<usize> = (0..steps.len()).filter(|k| !is_sure(*k)).collect();
    kept.into_iter().map(|k| steps[k].clone()).collect()
}

fn loops_in(e: &Expr, found: &mut BTreeSet<LoopId>) {
    e.visit(&mut |e| {
        if let Expr::Affine(a) = e {
            found.extend(a.loops());
        }
    });
}

/// The least value of a sum over loops, and that behind the greatest one, before all of them; of loops that run over all numbers between
/// two ends.
pub(crate) fn range_over(sum: &Affine, path: &[Loop]) -> Option<(Affine, Affine)> {
    let (mut least, mut most) = (sum.clone(), sum.clone());
    for l in path.iter().rev().filter(|l| l.step.abs() == 1) {
        let (Some(first), Some(end)) = (l.lower.as_affine(), l.upper.as_affine()) else { continue };
        let last = end.clone().offset(-1);
        for (value, is_least) in [(&mut least, true), (&mut most, false)] {
            let at = if (value.coefficient(l.id) > 0) == is_least { first } else { &last };
            *value = value.substitute(&|v| (v == Var::Loop(l.id)).then(|| at.clone()));
        }
    }
    let is_fixed = least.loops().chain(most.loops()).next().is_none();
    is_fixed.then(|| (least, most.offset(1)))
}

/// The condition that a loop has an iteration, `Some(None)` if it always has one; `None` if it cannot be said so.
pub(crate) fn entered(l: &Loop) -> Option<Option<Expr>> {
    let value = |term: &BoundTerm| match term {
        BoundTerm::Affine { expr, divisor: 1 } => Some(Expr::Affine(expr.clone())),
        BoundTerm::Affine { .. } | BoundTerm::Open => None,
        BoundTerm::Data(e) => Some(e.clone()),
    };
    let values = |bound: &Bound| bound.0.iter().map(value).collect::<Option<Vec<_>>>();
    let (lowers, uppers) = (values(&l.lower)?, values(&l.upper)?);
    let mut all: Option<Expr> = None;
    for lower in &lowers {
        for upper in &uppers {
            if let (Expr::Affine(a), Expr::Affine(b)) = (lower, upper)
                && (b.clone() - a.clone()).as_constant().is_some_and(|n| n > 0)
            {
                continue;
            }
            let one = Expr::binary(BinaryOp::Lt, lower.clone(), upper.clone());
            all = Some(match all {
                Some(all) => Expr::binary(BinaryOp::And, all, one),
                None => one,
            });
        }
    }
    Some(all)
}

/// Whether nothing that decides what is read changes while the nest runs.
fn fixed(program: &Program, nest: &Nest, steps: &[Step], access: &Access) -> Result<(), Reason> {
    let mut read: Vec<&Access> = access.indices.iter().flat_map(Expr::reads).collect();
    for step in steps {
        match step {
            Step::If(condition) => read.extend(condition.reads()),
            Step::Loop(l) => read.extend(l.lower.0.iter().chain(&l.upper.0).flat_map(BoundTerm::reads)),
        }
    }
    let written: BTreeSet<ArrayId> =
        nest.accesses().into_iter().filter(|(_, w)| *w).map(|(a, _)| a.array).collect();
    let is_own = |id: &ArrayId| {
        let storage = program.arrays.get(id).map(|array| array.storage);
        matches!(storage, Some(Storage::Body(_) | Storage::Temp(_)))
    };
    match read.iter().map(|access| access.array).find(|id| written.contains(id) || is_own(id)) {
        None => Ok(()),
        Some(id) => Err(Reason::unsupported(format!(
            "which elements are read depends on `{}`, which the nest computes",
            program.array(id).name
        ))),
    }
}

/// The nodes inside the steps.
pub(crate) fn wrapped(steps: &[Step], nodes: Vec<Node>) -> Vec<Node> {
    steps.iter().rev().fold(nodes, |body, step| {
        vec![match step {
            Step::Loop(l) => Node::Loop(Loop { body, ..l.clone() }),
            Step::If(condition) => only_if(condition.clone(), body),
        }]
    })
}

impl Read {
    /// Whether an index of the element depends on the loop.
    pub(crate) fn uses(&self, id: LoopId) -> bool {
        self.access.indices.iter().any(|e| e.uses(Var::Loop(id)))
    }
}
