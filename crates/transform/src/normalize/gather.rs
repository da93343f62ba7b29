//! Merges a function's control regions into nests that are as long as possible.
//!
//! Consecutive nests become one nest with several roots. A control loop that contains only nests becomes a loop of the
//! nest, including pointer swaps at its end if the number of iterations is known and even.

use super::rotate::{Fresh, swapped_twice};
use oxeye_ir::{
    Affine, ArrayId, Bound, ControlLoop, DataflowGraph, Execution, Expr, Loop, LoopId, Nest, NestId, Node,
    Program, Region, Rotation, Storage, SymId, Var,
};
use std::collections::BTreeSet;

/// A part of a function, in execution order.
enum Item {
    Nest { roots: Vec<Node>, live_out: BTreeSet<ArrayId> },
    Loop(ControlLoop, Vec<Item>),
    Branch(Option<Expr>, [Vec<Item>; 2]),
    Other(Region),
}

/// The program with its nests merged, and what was done, as messages.
pub(super) fn gather(program: &Program) -> (Program, Vec<String>) {
    let mut gatherer =
        Gatherer { program: program.clone(), fresh: Fresh { next_loop: 0, next_stmt: 0 }, done: Vec::new() };
    let body = program.body.clone();
    let items = gatherer.items(&body);
    let Gatherer { mut program, done, .. } = gatherer;
    let function = program.nests.values().next().map_or(program.name.clone(), |n| n.function.clone());
    program.nests.clear();
    program.body = rebuild(items, &mut program, &function);
    program.rebuild_dataflow();
    (program, done)
}

fn rebuild(items: Vec<Item>, program: &mut Program, function: &str) -> Region {
    let mut regions = Vec::new();
    for item in items {
        regions.push(match item {
            Item::Nest { roots, live_out } => {
                let id = NestId(program.nests.len() as u32);
                let live_out = live_out.into_iter().collect();
                let function = function.to_owned();
                let nest = Nest {
                    id,
                    function,
                    span: None,
                    roots,
                    live_out,
                    rotations: Vec::new(),
                    mentions: Vec::new(),
                    unordered: Vec::new(),
                    bounded: Vec::new(),
                };
                program.nests.insert(id, nest);
                Region::Dataflow(DataflowGraph::build(program, &[id]))
            }
            Item::Loop(header, body) => {
                let body = Box::new(rebuild(body, program, function));
                Region::Loop(ControlLoop { body, ..header })
            }
            Item::Branch(condition, [then, otherwise]) => Region::Branch {
                condition,
                then: Box::new(rebuild(then, program, function)),
                otherwise: Box::new(rebuild(otherwise, program, function)),
            },
            Item::Other(region) => region,
        });
    }
    match regions.len() {
        1 => regions.remove(0),
        _ => Region::Sequence(regions),
    }
}

struct Gatherer {
    program: Program,
    fresh: Fresh,
    done: Vec<String>,
}

impl Gatherer {
    fn items(&mut self, region: &Region) -> Vec<Item> {
        let mut items = Vec::new();
        match region {
            Region::Sequence(regions) => {
                for r in regions {
                    for item in self.items(r) {
                        push(&mut items, item);
                    }
                }
            }
            Region::Dataflow(graph) => {
                for id in graph.nests() {
                    if let Some(item) = self.nest(*id) {
                        push(&mut items, item);
                    }
                    let nest = self.program.nests.get(id);
                    items.extend(nest.into_iter().flat_map(|nest| &nest.rotations).flat_map(turned_after));
                }
            }
            Region::Loop(l) => items.push(self.control_loop(l)),
            Region::Branch { condition, then, otherwise } => {
                items.push(Item::Branch(condition.clone(), [self.items(then), self.items(otherwise)]));
            }
            Region::Swap(..) | Region::Opaque(_) => items.push(Item::Other(region.clone())),
        }
        items
    }

    fn nest(&mut self, id: NestId) -> Option<Item> {
        let nest = self.program.nests.get(&id)?.clone();
        let mut roots = nest.roots.clone();
        let renamed = self.fresh.rename(&mut roots);
        for array in nest.arrays() {
            let Some(decl) = self.program.arrays.get_mut(&array) else { continue };
            match &mut decl.storage {
                Storage::Body(l) | Storage::Temp(Some(l)) => {
                    if let Some(new) = renamed.get(l) {
                        *l = *new;
                    }
                }
                _ => {}
            }
        }
        Some(Item::Nest { roots, live_out: nest.live_out.iter().copied().collect() })
    }

    fn control_loop(&mut self, l: &ControlLoop) -> Item {
        let mut items = self.items(&l.body);
        match self.as_loop(l, &items) {
            Some((id, lower, upper, body)) => {
                let Some(info) = l.iterator.and_then(|s| self.program.symbols.get(&s)) else {
                    return Item::Loop(l.clone(), items);
                };
                let node = Node::Loop(Loop {
                    id,
                    name: info.name.clone(),
                    ty: info.ty,
                    lower: Bound::from(lower),
                    upper: Bound::from(upper),
                    step: 1,
                    execution: Execution::Sequential,
                    body,
                });
                match items.swap_remove(0) {
                    Item::Nest { live_out, .. } => Item::Nest { roots: vec![node], live_out },
                    other => other,
                }
            }
            None => Item::Loop(l.clone(), items),
        }
    }

    /// A control loop as a loop of a nest: its id, bounds and body.
    fn as_loop(&mut self, l: &ControlLoop, items: &[Item]) -> Option<(LoopId, Affine, Affine, Vec<Node>)> {
        let (symbol, (start, end)) = (l.iterator?, l.range.as_ref()?);
        let (start, end) = (start.as_affine()?.clone(), end.as_affine()?.clone());
        let [Item::Nest { roots, .. }, rest @ ..] = items else { return None };
        let mut pairs: Vec<(ArrayId, ArrayId)> = Vec::new();
        for item in rest {
            let Item::Other(Region::Swap(a, b)) = item else { return None };
            if pairs.iter().any(|(p, q)| [p, q].contains(&a) || [p, q].contains(&b)) {
                return None;
            }
            pairs.push((*a, *b));
        }
        if self.used_elsewhere(symbol, &l.body) {
            return None;
        }
        let mut roots = roots.clone();
        let id = LoopId(self.fresh.next_loop);
        self.fresh.next_loop += 1;
        let bounds = if pairs.is_empty() {
            (start, end)
        } else {
            let trips = (end - start).as_constant().filter(|n| *n >= 0 && n % 2 == 0)?;
            let nest = Nest::new(NestId(0), "", roots.clone());
            if nest.vars().contains(&Var::Sym(symbol)) {
                return None;
            }
            roots = swapped_twice(&self.program, roots, &pairs, &mut self.fresh)?;
            let name = &self.program.symbols.get(&symbol)?.name;
            self.done
                .push(format!("loop {name}: unrolled by 2, so that swapped pointers return to their places"));
            (0.into(), (trips / 2).into())
        };
        roots.iter_mut().for_each(|n| n.substitute(&|v| (v == Var::Sym(symbol)).then(|| Affine::var(id))));
        Some((id, bounds.0, bounds.1, roots))
    }

    /// Whether a nest outside the region uses the symbol.
    fn used_elsewhere(&self, symbol: SymId, body: &Region) -> bool {
        let mut inside: BTreeSet<NestId> = BTreeSet::new();
        body.visit(&mut |r| {
            if let Region::Dataflow(graph) = r {
                inside.extend(graph.nests().iter().copied());
            }
        });
        let uses = |n: &Nest| n.vars().contains(&Var::Sym(symbol));
        self.program.nests.values().any(|n| !inside.contains(&n.id) && uses(n))
    }
}

/// The swaps that remain after a nest; nothing if the pointers are back in their places.
fn turned_after(rotation: &Rotation) -> Vec<Item> {
    let turned = |by: usize| -> Vec<Item> {
        let turn = || rotation.exchanges().map(|(a, b)| Item::Other(Region::Swap(a, b)));
        (0..by).flat_map(|_| turn()).collect()
    };
    match rotation.times.as_constant() {
        Some(times) => turned(rotation.left(times)),
        None => (1..rotation.pointers.len())
            .rev()
            .fold(Vec::new(), |otherwise, by| vec![Item::Branch(None, [turned(by), otherwise])]),
    }
}

/// Adds an item; consecutive nests are merged.
fn push(items: &mut Vec<Item>, item: Item) {
    match (items.last_mut(), item) {
        (Some(Item::Nest { roots, live_out }), Item::Nest { roots: more, live_out: later }) => {
            let next = Nest::new(NestId(0), "", more);
            // The last nest that uses an array decides whether it is read afterwards.
            for array in next.arrays() {
                live_out.remove(&array);
            }
            live_out.extend(later);
            roots.extend(next.roots);
        }
        (_, item) => items.push(item),
    }
}
