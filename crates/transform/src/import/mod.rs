//! Builds a schedule from a nest, in its original order.

mod privatize;

pub(crate) use privatize::stem;

use crate::schedule::{
    IteratorInfo, LoopNode, MemoryAccess, Original, OriginalTime, Schedule, Statement, Tree,
};
use indexmap::IndexMap;
use oxeye_analysis::{affine_condition, bound_constraints, known_bound_constraints, negated_condition};
use oxeye_ir::{
    Affine, ArrayId, Constraint, Loop, LoopId, Nest, Node, Program, StmtId, Storage, Update, Var,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

struct Importer<'a> {
    program: &'a Program,
    statements: Vec<Statement>,
    iterators: IndexMap<LoopId, IteratorInfo>,
}

impl Importer<'_> {
    /// Imports `nodes` as children of the loops in `time`; `position` counts the children of the innermost loop.
    fn nodes(
        &mut self,
        nodes: &[Node],
        time: &OriginalTime,
        position: &mut usize,
        map: &BTreeMap<LoopId, Affine>,
        domain: &[Constraint],
    ) -> Vec<Tree> {
        let mut trees = Vec::new();
        for node in nodes {
            match node {
                Node::Loop(l) => match self.affine_loop(l) {
                    Some((value, bounds)) => {
                        self.iterators.insert(l.id, IteratorInfo { name: l.name.clone(), ty: l.ty });
                        let mut time = time.clone();
                        time.positions.push(*position);
                        *position += 1;
                        time.loops.push((l.id, l.step < 0));
                        let mut map = map.clone();
                        let with = |v: Var| match v {
                            Var::Loop(o) => map.get(&o).cloned(),
                            Var::Sym(_) => None,
                        };
                        let mut domain = domain.to_vec();
                        domain.extend(bounds.iter().map(|c| c.substitute(&with)));
                        let value = value.substitute(&with);
                        map.insert(l.id, value);
                        let body = self.nodes(&l.body, &time, &mut 0, &map, &domain);
                        if !body.is_empty() {
                            trees.push(Tree::Loop(LoopNode {
                                id: l.id,
                                reverse: l.step == -1,
                                execution: l.execution.clone(),
                                separate: Vec::new(),
                                batch: None,
                                body,
                            }));
                        }
                    }
                    None => trees.push(self.leaf(node, time, position, map, domain)),
                },
                Node::If { condition, then, otherwise } => {
                    let positive = affine_condition(condition);
                    let negative =
                        if otherwise.is_empty() { Some(Vec::new()) } else { negated_condition(condition) };
                    let (Some(positive), Some(negative)) = (positive, negative) else {
                        trees.push(self.leaf(node, time, position, map, domain));
                        continue;
                    };
                    for (side, constraints) in [(then, positive), (otherwise, negative)] {
                        let mut domain = domain.to_vec();
                        domain.extend(constraints.iter().map(|c| {
                            c.substitute(&|v| match v {
                                Var::Loop(o) => map.get(&o).cloned(),
                                Var::Sym(_) => None,
                            })
                        }));
                        trees.extend(self.nodes(side, time, position, map, &domain));
                    }
                }
                Node::Stmt(_) => trees.push(self.leaf(node, time, position, map, domain)),
            }
        }
        trees
    }

    /// The original iterator in terms of the schedule's (which has the same id) and the bounds as constraints.
    fn affine_loop(&self, l: &Loop) -> Option<(Affine, Vec<Constraint>)> {
        let own = Affine::var(l.id);
        if l.step.abs() == 1 {
            return Some((own.clone(), bound_constraints(&own, &l.lower, &l.upper)?));
        }
        // The schedule's iterator counts from zero: i = lower + s·k, or upper − 1 − |s|·k.
        let (lower, upper) = (l.lower.as_affine()?, l.upper.as_affine()?);
        let start = if l.step > 0 { lower.clone() } else { upper.clone().offset(-1) };
        let value = start.add_scaled(&own, l.step);
        let mut bounds = vec![Constraint::ge(own, 0.into())];
        bounds.push(Constraint::ge(value.clone(), lower.clone()));
        bounds.push(Constraint::lt(value.clone(), upper.clone()));
        Some((value, bounds))
    }

    fn leaf(
        &mut self,
        node: &Node,
        time: &OriginalTime,
        position: &mut usize,
        map: &BTreeMap<LoopId, Affine>,
        domain: &[Constraint],
    ) -> Tree {
        let mut time = time.clone();
        time.positions.push(*position);
        *position += 1;
        let index = self.statements.len();
        let id = match node {
            Node::Stmt(s) => s.id,
            _ => first_stmt(node).unwrap_or(StmtId(u32::MAX)),
        };
        self.statements.push(Statement {
            id,
            origin: index,
            node: Arc::new(node.clone()),
            accesses: memory_accesses(self.program, node).into(),
            time: Arc::new(time),
            map: map.clone(),
            domain: domain.to_vec(),
        });
        Tree::Leaf(index)
    }
}

fn first_stmt(node: &Node) -> Option<StmtId> {
    match node {
        Node::Stmt(s) => Some(s.id),
        _ => node.bodies().into_iter().flatten().find_map(first_stmt),
    }
}

fn without_bodies(node: &Node) -> Node {
    match node {
        Node::Stmt(s) => Node::Stmt(s.clone()),
        Node::If { condition, .. } => {
            Node::If { condition: condition.clone(), then: Vec::new(), otherwise: Vec::new() }
        }
        Node::Loop(l) => Node::Loop(Loop { body: Vec::new(), ..l.clone() }),
    }
}

/// Every access under a node, in the order of [`Nest::accesses`], except those to arrays that live inside it.
fn memory_accesses(program: &Program, node: &Node) -> Vec<MemoryAccess> {
    let nest = Nest::new(oxeye_ir::NestId(0), "", vec![node.clone()]);
    let inner_loops: BTreeSet<LoopId> = nest.loops().iter().map(|l| l.id).collect();
    // What at least holds for the iterators of the subtree's loops around each access, and the update that it belongs to.
    let mut inner: Vec<(Vec<Constraint>, Option<Update>)> = Vec::new();
    nest.visit(&mut |path, node| {
        let alone = Nest { roots: vec![without_bodies(node)], ..nest.clone() };
        let around = path
            .iter()
            .filter(|l| l.step.abs() == 1)
            .flat_map(|l| known_bound_constraints(&Affine::var(l.id), &l.lower, &l.upper));
        let constraints: Vec<Constraint> = around.collect();
        let update = match node {
            Node::Stmt(s) if s.update.reads_target() => Some(s.update),
            _ => None,
        };
        // The target's load and its store come first.
        let updates = |k: usize| update.filter(|_| k < 2);
        inner.extend(alone.accesses().iter().enumerate().map(|(k, _)| (constraints.clone(), updates(k))));
    });
    nest.accesses()
        .into_iter()
        .zip(inner)
        .filter(|((a, _), _)| match program.arrays.get(&a.array).map(|a| a.storage) {
            Some(Storage::Body(l) | Storage::Temp(Some(l))) => !inner_loops.contains(&l),
            _ => true,
        })
        .map(|((a, write), (inner, update))| MemoryAccess {
            array: a.array,
            source: a.clone(),
            indices: a.indices.iter().map(|e| e.as_affine().cloned()).collect(),
            write,
            update,
            inner,
        })
        .collect()
}

impl Schedule {
    /// The nest in its original order.
    pub(crate) fn import(program: &Program, nest: &Nest) -> Self {
        let (program, nest, privates) = privatize::privatize(program, nest);
        let mut importer = Importer { program: &program, statements: Vec::new(), iterators: IndexMap::new() };
        let time = OriginalTime { positions: Vec::new(), loops: Vec::new() };
        let roots = importer.nodes(&nest.roots, &time, &mut 0, &BTreeMap::new(), &[]);
        let Importer { statements, iterators, .. } = importer;
        let next_loop = nest.loops().iter().map(|l| l.id.0 + 1).max().unwrap_or(0);
        let mut schedule = Self {
            program: Arc::new(program),
            nest: Arc::new(nest),
            statements,
            roots,
            iterators,
            privates,
            temporaries: Vec::new(),
            original: Default::default(),
            next_loop,
            scalar_replacement: true,
        };
        schedule.original = Arc::new(Original::new(&schedule.program, &schedule.nest, &schedule.statements));
        schedule
    }

    /// The normal form of a nest, whose values are kept in temporaries so that everything can be distributed.
    pub(crate) fn import_normal(program: &Program, nest: &Nest) -> Self {
        let mut schedule = Self::import(program, nest);
        let is_temporary = |id: &ArrayId| {
            let array = schedule.program.array(*id);
            let is_private = schedule.privates.iter().any(|p| p.array == *id);
            let uses = schedule.statements.iter().flat_map(|s| s.accesses.iter().map(move |a| (s, a)));
            let is_exact = |(s, a): (&Statement, &MemoryAccess)| {
                a.array != *id || s.assignment().is_some() && a.indices.iter().all(Option::is_some)
            };
            array.storage == Storage::Temp(None)
                && !array.shape.is_empty()
                && !is_private
                && uses.into_iter().all(is_exact)
        };
        schedule.temporaries = schedule.nest.arrays().into_iter().filter(is_temporary).collect();
        schedule
    }
}
