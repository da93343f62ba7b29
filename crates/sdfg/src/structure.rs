//! Finds sequences, loops and branches in the graph of states.

use crate::model::{Block, ControlGraph, InterstateEdge, LoopRegion, State};
use crate::syntax::{Ex, Operator, Statement, parse_expression, parse_statements};
use std::collections::{BTreeMap, BTreeSet};

/// A piece of structured control.
#[derive(Clone, Debug)]
pub(crate) enum Control<'a> {
    /// The dataflow of a state.
    State(StateRef<'a>),
    /// Symbols get new values.
    Assign(Vec<(String, String)>),
    /// A counted loop. The first value of its iterator has been assigned before.
    Loop(CountedLoop<'a>),
    /// Another loop.
    While {
        /// What is repeated; what its header computes is computed once more before the loop ends.
        body: Vec<Control<'a>>,
        /// How much of the body is its header: the loop may end behind that.
        n_header: usize,
        /// What holds behind the header as long as the loop goes on, if that is known.
        condition: Option<Ex>,
    },
    /// The first arm whose condition holds.
    Branch {
        /// Conditions with what they guard.
        arms: Vec<(Ex, Vec<Control<'a>>)>,
        /// If none holds.
        otherwise: Vec<Control<'a>>,
    },
    /// What has no structure.
    Opaque {
        /// The states inside.
        states: Vec<StateRef<'a>>,
        /// Symbols that may get new values.
        assigned: BTreeSet<String>,
        /// Why.
        reason: String,
    },
}

/// A state with its place: positions among the blocks, from the outermost region.
#[derive(Clone, Debug)]
pub(crate) struct StateRef<'a> {
    pub(crate) state: &'a State,
    pub(crate) id: Vec<usize>,
}

/// A loop with a constant step.
#[derive(Clone, Debug)]
pub(crate) struct CountedLoop<'a> {
    /// Positions of its header among the blocks around it.
    pub(crate) id: Vec<usize>,
    /// The iterator.
    pub(crate) variable: String,
    /// How it compares with the limit while the loop goes on: `<`, `<=`, `>`, `>=`.
    pub(crate) comparison: Operator,
    /// The limit.
    pub(crate) limit: Ex,
    /// Not zero.
    pub(crate) step: i64,
    /// What is repeated.
    pub(crate) body: Vec<Control<'a>>,
}

/// How deep loops and branches may be nested.
const MAX_DEPTH: usize = 40;

/// The structure of a graph.
pub(crate) fn structure<'a>(graph: &'a ControlGraph, place: &[usize], depth: usize) -> Vec<Control<'a>> {
    if graph.blocks.is_empty() {
        return Vec::new();
    }
    if depth > MAX_DEPTH {
        return vec![opaque(graph, place, 0..graph.blocks.len(), "regions are nested too deeply".into())];
    }
    Finder::new(graph, place, depth).walk(graph.start, None, depth)
}

fn opaque<'a>(
    graph: &'a ControlGraph,
    place: &[usize],
    blocks: impl IntoIterator<Item = usize>,
    reason: String,
) -> Control<'a> {
    let mut states = Vec::new();
    for at in blocks {
        let id: Vec<usize> = place.iter().copied().chain([at]).collect();
        match &graph.blocks[at] {
            Block::State(state) => states.push(StateRef { state, id }),
            Block::Loop(region) => {
                states
                    .extend(region.body.states().into_iter().map(|state| StateRef { state, id: id.clone() }));
            }
            Block::Conditional { branches, .. } => {
                let inner = branches.iter().flat_map(|(_, body)| body.states());
                states.extend(inner.map(|state| StateRef { state, id: id.clone() }));
            }
            Block::Other { .. } => {}
        }
    }
    let edges = graph.all_edges();
    let names = edges.iter().flat_map(|e| e.assignments.iter().map(|(name, _)| name.clone()));
    let iterators = graph.blocks.iter().filter_map(|b| match b {
        Block::Loop(region) => Some(region.variable.clone()),
        _ => None,
    });
    let assigned = names.chain(iterators).collect();
    Control::Opaque { states, assigned, reason }
}

struct Finder<'a, 'p> {
    graph: &'a ControlGraph,
    place: &'p [usize],
    depth: usize,
    out: Vec<Vec<&'a InterstateEdge>>,
    dominators: Vec<Option<usize>>,
    post_dominators: Vec<Option<usize>>,
    is_visited: Vec<bool>,
}

impl<'a, 'p> Finder<'a, 'p> {
    fn new(graph: &'a ControlGraph, place: &'p [usize], depth: usize) -> Self {
        let n = graph.blocks.len();
        let mut out = vec![Vec::new(); n];
        let mut forward = vec![Vec::new(); n + 1];
        let mut backward = vec![Vec::new(); n + 1];
        for edge in &graph.edges {
            out[edge.src].push(edge);
            forward[edge.src].push(edge.dst);
            backward[edge.dst].push(edge.src);
        }
        let dominators = dominators(&forward[..n], graph.start);
        // One more node behind all blocks without successors.
        backward[n].extend((0..n).filter(|at| out[*at].is_empty()));
        let mut post_dominators = dominators_of(&backward, n);
        post_dominators.truncate(n);
        let post_dominators = post_dominators.into_iter().map(|d| d.filter(|d| *d < n)).collect();
        Self { graph, place, depth, out, dominators, post_dominators, is_visited: vec![false; n] }
    }

    fn id(&self, at: usize) -> Vec<usize> {
        self.place.iter().copied().chain([at]).collect()
    }

    fn dominates(&self, above: usize, mut at: usize) -> bool {
        loop {
            if at == above {
                return true;
            }
            match self.dominators[at] {
                Some(next) if next != at => at = next,
                _ => return false,
            }
        }
    }

    /// Blocks that are reached from here without passing `stop`.
    fn reached(&self, from: usize, stop: Option<usize>) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut todo = vec![from];
        while let Some(at) = todo.pop() {
            if Some(at) != stop && found.insert(at) {
                todo.extend(self.out[at].iter().map(|e| e.dst));
            }
        }
        found
    }

    /// The blocks of the loop with this header, if it is one.
    fn loop_of(&self, header: usize) -> Option<BTreeSet<usize>> {
        let back = self.graph.edges.iter().filter(|e| e.dst == header && self.dominates(header, e.src));
        let mut todo: Vec<usize> = back.map(|e| e.src).collect();
        if todo.is_empty() {
            return None;
        }
        let mut found = BTreeSet::from([header]);
        while let Some(at) = todo.pop() {
            if found.insert(at) {
                todo.extend(self.graph.edges.iter().filter(|e| e.dst == at).map(|e| e.src));
            }
        }
        Some(found)
    }

    fn walk(&mut self, from: usize, stop: Option<usize>, depth: usize) -> Vec<Control<'a>> {
        let mut found = Vec::new();
        let mut at = from;
        loop {
            if Some(at) == stop {
                return found;
            }
            if self.is_visited[at] || depth > MAX_DEPTH {
                let blocks = self.reached(at, stop);
                found.push(opaque(self.graph, self.place, blocks, "states that are jumped between".into()));
                return found;
            }
            self.is_visited[at] = true;
            let next = match self.loop_of(at) {
                Some(inside) => self.repeated(at, &inside, stop, depth, &mut found),
                None => {
                    self.block(at, &mut found);
                    self.behind(at, stop, depth, &mut found)
                }
            };
            match next {
                Some(next) => at = next,
                None => return found,
            }
        }
    }

    /// What a block is.
    fn block(&self, at: usize, found: &mut Vec<Control<'a>>) {
        let depth = self.depth + 1;
        match &self.graph.blocks[at] {
            Block::State(state) => {
                if !state.nodes.is_empty() {
                    found.push(Control::State(StateRef { state, id: self.id(at) }));
                }
            }
            Block::Loop(region) => found.extend(region_loop(region, &self.id(at), depth)),
            Block::Conditional { label, branches } => {
                let mut arms = Vec::new();
                let mut otherwise = Vec::new();
                for (position, (condition, body)) in branches.iter().enumerate() {
                    let place: Vec<usize> = self.id(at).into_iter().chain([position]).collect();
                    let body = structure(body, &place, depth);
                    match condition.as_deref().map(parse_expression) {
                        Some(Ok(condition)) => arms.push((condition, body)),
                        None if position + 1 == branches.len() => otherwise = body,
                        _ => {
                            let reason = format!("the condition of `{label}` is not understood");
                            found.push(opaque(self.graph, self.place, [at], reason));
                            return;
                        }
                    }
                }
                found.push(Control::Branch { arms, otherwise });
            }
            Block::Other { label, kind } => {
                found.push(opaque(self.graph, self.place, [at], format!("`{label}` is a {kind}")));
            }
        }
    }

    fn irregular(
        &mut self,
        at: usize,
        stop: Option<usize>,
        reason: String,
        found: &mut Vec<Control<'a>>,
    ) -> Option<usize> {
        let next = self.post_dominators[at].filter(|next| Some(*next) != stop && !self.is_visited[*next]);
        let blocks = self.reached(at, next.or(stop));
        let blocks: Vec<usize> = blocks.into_iter().filter(|b| *b == at || !self.is_visited[*b]).collect();
        blocks.iter().for_each(|b| self.is_visited[*b] = true);
        found.push(opaque(self.graph, self.place, blocks, reason));
        next
    }

    /// What comes behind a block that is no loop; returns where to go on.
    fn behind(
        &mut self,
        at: usize,
        stop: Option<usize>,
        depth: usize,
        found: &mut Vec<Control<'a>>,
    ) -> Option<usize> {
        let edges = self.out[at].clone();
        match edges.as_slice() {
            [] => None,
            [only] if only.condition.is_none() => {
                assign(&only.assignments, None, found);
                Some(only.dst)
            }
            _ => {
                let conditions: Option<Vec<Ex>> = edges
                    .iter()
                    .map(|e| e.condition.as_deref().and_then(|c| parse_expression(c).ok()))
                    .collect();
                let Some(conditions) = conditions else {
                    return self.irregular(at, stop, "a condition is not understood".into(), found);
                };
                let is_complete = match conditions.as_slice() {
                    [a, b] => are_opposite(a, b),
                    _ => false,
                };
                if !is_complete {
                    let reason = "edges whose conditions do not exclude each other".into();
                    return self.irregular(at, stop, reason, found);
                }
                let merge = self.post_dominators[at];
                let mut sides = Vec::new();
                for edge in &edges {
                    let mut side = Vec::new();
                    assign(&edge.assignments, None, &mut side);
                    side.extend(self.walk(edge.dst, merge.or(stop), depth + 1));
                    sides.push(side);
                }
                let otherwise = sides.pop().unwrap_or_default();
                let then = sides.pop().unwrap_or_default();
                let condition = conditions.into_iter().next().unwrap_or(Ex::Bool(true));
                found.push(match condition {
                    Ex::Not(inner) => Control::Branch { arms: vec![(*inner, otherwise)], otherwise: then },
                    condition => Control::Branch { arms: vec![(condition, then)], otherwise },
                });
                merge
            }
        }
    }

    /// The loop with this header; returns where to go on.
    fn repeated(
        &mut self,
        header: usize,
        inside: &BTreeSet<usize>,
        stop: Option<usize>,
        depth: usize,
        found: &mut Vec<Control<'a>>,
    ) -> Option<usize> {
        let leaves = |e: &&&InterstateEdge| !inside.contains(&e.dst);
        let n_exits: usize = inside.iter().map(|at| self.out[*at].iter().filter(leaves).count()).sum();
        let edges = self.out[header].clone();
        let [first, second] = edges.as_slice() else {
            return self.irregular(header, stop, "a loop that does not end at its begin".into(), found);
        };
        let (enter, exit) = if inside.contains(&first.dst) { (*first, *second) } else { (*second, *first) };
        if n_exits != 1 || inside.contains(&exit.dst) || !inside.contains(&enter.dst) {
            return self.irregular(header, stop, "a loop with several ends".into(), found);
        }
        let condition = enter.condition.as_deref().and_then(|c| parse_expression(c).ok());
        let opposite = exit.condition.as_deref().and_then(|c| parse_expression(c).ok());
        let is_complete = matches!((&condition, &opposite), (Some(a), Some(b)) if are_opposite(a, b));
        let back: Vec<&InterstateEdge> =
            self.graph.edges.iter().filter(|e| e.dst == header && inside.contains(&e.src)).collect();
        let is_plain = matches!(&self.graph.blocks[header], Block::State(state) if state.nodes.is_empty());
        let changed: Vec<&str> = self
            .graph
            .edges
            .iter()
            .filter(|e| inside.contains(&e.src) && inside.contains(&e.dst))
            .flat_map(|e| e.assignments.iter().map(|(name, _)| name.as_str()))
            .collect();
        let counted = match (&condition, back.as_slice()) {
            (Some(condition), [back]) if is_complete && is_plain => {
                counted(condition, &back.assignments, &changed)
            }
            _ => None,
        };
        let id = self.id(header);
        let mut body = Vec::new();
        if !is_plain {
            self.block(header, &mut body);
        }
        let n_header = body.len();
        assign(&enter.assignments, None, &mut body);
        body.extend(self.walk(enter.dst, Some(header), depth + 1));
        let iterator = counted.as_ref().map(|(variable, ..)| variable.as_str());
        back.iter().for_each(|edge| assign(&edge.assignments, iterator, &mut body));
        found.push(match counted {
            Some((variable, comparison, limit, step)) => {
                Control::Loop(CountedLoop { id, variable, comparison, limit, step, body })
            }
            None => Control::While { body, n_header, condition: condition.filter(|_| is_complete) },
        });
        assign(&exit.assignments, None, found);
        Some(exit.dst)
    }
}

fn assign(assignments: &[(String, String)], except: Option<&str>, found: &mut Vec<Control<'_>>) {
    let kept: Vec<_> =
        assignments.iter().filter(|(name, _)| Some(name.as_str()) != except).cloned().collect();
    if !kept.is_empty() {
        found.push(Control::Assign(kept));
    }
}

fn are_opposite(a: &Ex, b: &Ex) -> bool {
    a.negated() == *b || b.negated() == *a || Ex::Not(Box::new(a.clone())) == *b
}

type Counted = (String, Operator, Ex, i64);

/// Iterator, comparison, limit and step of a loop, if it is counted. `changed` are the symbols that are assigned inside.
fn counted(condition: &Ex, updates: &[(String, String)], changed: &[&str]) -> Option<Counted> {
    use Operator::{Ge, Gt, Le, Lt};
    let Ex::Binary(comparison, left, right) = condition else { return None };
    let (variable, comparison, limit) = match (&**left, &**right) {
        (Ex::Name(name), limit) if updates.iter().any(|(n, _)| n == name) => (name, *comparison, limit),
        (limit, Ex::Name(name)) => {
            let mirrored = match comparison {
                Lt => Gt,
                Le => Ge,
                Gt => Lt,
                Ge => Le,
                _ => return None,
            };
            (name, mirrored, limit)
        }
        _ => return None,
    };
    let (_, update) = updates.iter().find(|(name, _)| name == variable)?;
    let step = step(variable, &parse_expression(update).ok()?)?;
    let is_right_way = match comparison {
        Lt | Le => step > 0,
        Gt | Ge => step < 0,
        _ => false,
    };
    let is_once = changed.iter().filter(|name| *name == variable).count() <= 1;
    let is_constant = limit.names().iter().all(|name| !changed.contains(name) && name != variable);
    (is_right_way && is_once && is_constant).then(|| (variable.clone(), comparison, limit.clone(), step))
}

/// By how much an assignment raises a variable.
fn step(variable: &str, value: &Ex) -> Option<i64> {
    let Ex::Binary(operator, left, right) = value else { return None };
    let is_it = |e: &Ex| matches!(e, Ex::Name(name) if name == variable);
    match (operator, &**left, &**right) {
        (Operator::Add, l, Ex::Int(step)) if is_it(l) => Some(*step),
        (Operator::Add, Ex::Int(step), r) if is_it(r) => Some(*step),
        (Operator::Sub, l, Ex::Int(step)) if is_it(l) => step.checked_neg(),
        _ => None,
    }
    .filter(|step| *step != 0)
}

fn region_loop<'a>(region: &'a LoopRegion, id: &[usize], depth: usize) -> Vec<Control<'a>> {
    let mut body = structure(&region.body, id, depth);
    let single = |code: &Option<String>| -> Option<(String, Ex, String)> {
        let text = code.as_deref()?;
        match parse_statements(text).ok()?.as_slice() {
            [Statement::Assign { target, indices, operator: None, value }] if indices.is_empty() => {
                let (_, value_text) = text.split_once('=')?;
                Some((target.clone(), value.clone(), value_text.trim().to_owned()))
            }
            _ => None,
        }
    };
    let (init, update) = (single(&region.init), single(&region.update));
    let mut found = Vec::new();
    let edges = region.body.all_edges();
    let mut changed: Vec<&str> =
        edges.iter().flat_map(|e| e.assignments.iter().map(|(name, _)| name.as_str())).collect();
    changed.push(region.variable.as_str());
    let has_jumps = region.body.blocks.iter().any(|b| matches!(b, Block::Other { .. }));
    let condition = parse_expression(&region.condition).ok();
    if let (Some((variable, _, first)), Some((updated, _, text))) = (init, update)
        && variable == updated
        && !region.is_inverted
        && !has_jumps
        && let Some(condition) = &condition
        && let Some((variable, comparison, limit, step)) = counted(condition, &[(updated, text)], &changed)
    {
        found.push(Control::Assign(vec![(variable.clone(), first)]));
        let id = id.to_vec();
        found.push(Control::Loop(CountedLoop { id, variable, comparison, limit, step, body }));
        return found;
    }
    // The iterator has no known value.
    body.insert(0, Control::Assign(vec![(region.variable.clone(), String::new())]));
    found.push(Control::While { body, n_header: 0, condition: None });
    found
}

/// The block that dominates each block, itself for the first; none where it is not reached.
fn dominators(successors: &[Vec<usize>], start: usize) -> Vec<Option<usize>> {
    dominators_of(successors, start)
}

fn dominators_of(successors: &[Vec<usize>], start: usize) -> Vec<Option<usize>> {
    let n = successors.len();
    let mut number = vec![usize::MAX; n];
    let mut order = Vec::new();
    let mut seen = vec![false; n];
    let mut stack = vec![(start, 0usize)];
    seen[start] = true;
    while let Some((at, next)) = stack.pop() {
        if let Some(after) = successors[at].get(next) {
            stack.push((at, next + 1));
            if !seen[*after] {
                seen[*after] = true;
                stack.push((*after, 0));
            }
        } else {
            number[at] = order.len();
            order.push(at);
        }
    }
    let mut before: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in &order {
        for after in &successors[*at] {
            before.entry(*after).or_default().push(*at);
        }
    }
    let mut dominators = vec![None; n];
    dominators[start] = Some(start);
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for at in order.iter().rev().filter(|at| **at != start) {
            let mut best: Option<usize> = None;
            for from in before.get(at).into_iter().flatten() {
                if dominators[*from].is_none() {
                    continue;
                }
                best = Some(match best {
                    None => *from,
                    Some(other) => common(&dominators, &number, other, *from),
                });
            }
            if best.is_some() && dominators[*at] != best {
                dominators[*at] = best;
                has_changed = true;
            }
        }
    }
    dominators
}

fn common(dominators: &[Option<usize>], number: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let low = if number[a] < number[b] { &mut a } else { &mut b };
        match dominators[*low] {
            Some(next) if next != *low => *low = next,
            _ => return a.max(b).min(number.len() - 1),
        }
    }
    a
}

/// Symbols that are assigned inside.
pub(crate) fn assigned(controls: &[Control<'_>]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for control in controls {
        match control {
            Control::State(_) => {}
            Control::Assign(assignments) => found.extend(assignments.iter().map(|(name, _)| name.clone())),
            Control::Loop(l) => {
                found.insert(l.variable.clone());
                found.extend(assigned(&l.body));
            }
            Control::While { body, .. } => found.extend(assigned(body)),
            Control::Branch { arms, otherwise } => {
                arms.iter().for_each(|(_, body)| found.extend(assigned(body)));
                found.extend(assigned(otherwise));
            }
            Control::Opaque { assigned, .. } => found.extend(assigned.iter().cloned()),
        }
    }
    found
}

/// Iterators of the counted loops inside.
pub(crate) fn counters(controls: &[Control<'_>]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for control in controls {
        match control {
            Control::Loop(l) => {
                found.insert(l.variable.clone());
                found.extend(counters(&l.body));
            }
            Control::While { body, .. } => found.extend(counters(body)),
            Control::Branch { arms, otherwise } => {
                arms.iter().for_each(|(_, body)| found.extend(counters(body)));
                found.extend(counters(otherwise));
            }
            Control::State(_) | Control::Assign(_) | Control::Opaque { .. } => {}
        }
    }
    found
}

/// States inside.
pub(crate) fn states<'a>(controls: &[Control<'a>]) -> Vec<StateRef<'a>> {
    let mut found = Vec::new();
    for control in controls {
        match control {
            Control::State(state) => found.push(state.clone()),
            Control::Assign(_) => {}
            Control::Loop(CountedLoop { body, .. }) | Control::While { body, .. } => {
                found.extend(states(body));
            }
            Control::Branch { arms, otherwise } => {
                arms.iter().for_each(|(_, body)| found.extend(states(body)));
                found.extend(states(otherwise));
            }
            Control::Opaque { states, .. } => found.extend(states.iter().cloned()),
        }
    }
    found
}
