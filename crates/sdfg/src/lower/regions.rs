//! Control around nests: what is a nest, what is control, what is opaque.

use super::control::join;
use super::names::{Env, identifier};
use super::nest::Cx;
use super::outline::Outline;
use super::state::{Diagnostic, Frame, Lowering, Place, Site, touched};
use crate::model::{NodeKind, State};
use crate::structure::{Control, CountedLoop, StateRef, assigned, states, structure};
use crate::syntax::Ex;
use oxeye_ir::{
    Affine, ArrayId, ControlLoop, DataflowGraph, Expr, Nest, NestId, Node, Opaque, Program, Region,
    ScalarType, verify_nest,
};
use std::collections::BTreeSet;

/// One region, or a sequence of them.
pub(super) fn single(mut regions: Vec<Region>) -> Region {
    match regions.pop() {
        Some(only) if regions.is_empty() => only,
        last => {
            regions.extend(last);
            Region::Sequence(regions)
        }
    }
}

/// Regions in order; neighbouring nests are one.
#[derive(Default)]
struct Regions {
    done: Vec<Region>,
    nests: Vec<NestId>,
}

impl Regions {
    fn flush(&mut self, program: &Program) {
        if !self.nests.is_empty() {
            self.done.push(Region::Dataflow(DataflowGraph::build(program, &std::mem::take(&mut self.nests))));
        }
    }

    fn push(&mut self, program: &Program, region: Region) {
        self.flush(program);
        self.done.push(region);
    }
}

/// How deep programs and control may be nested.
const MAX_DEPTH: usize = 60;

impl Lowering {
    /// Structured control as regions.
    pub(super) fn regions(
        &mut self,
        frame: &Frame<'_>,
        controls: &[Control<'_>],
        env: &mut Env,
        depth: usize,
    ) -> Vec<Region> {
        let mut regions = Regions::default();
        for control in controls {
            self.region(frame, control, env, depth, &mut regions);
        }
        regions.flush(&self.program);
        regions.done
    }

    fn region(
        &mut self,
        frame: &Frame<'_>,
        control: &Control<'_>,
        env: &mut Env,
        depth: usize,
        regions: &mut Regions,
    ) {
        if depth > MAX_DEPTH {
            let inside = states(std::slice::from_ref(control));
            return self.opaque_states(frame, &inside, "control is nested too deeply", env, regions);
        }
        match control {
            Control::State(state) => self.state(frame, state, env, depth, regions),
            Control::Assign(assignments) => {
                let values = self.assigned_values(assignments, env);
                self.outline_assignments(frame, &values);
                for (name, value) in values {
                    self.assign_in_region(frame, &name, value, env);
                }
            }
            Control::Loop(l) => self.loop_region(frame, l, env, depth, regions),
            Control::While { body, n_header, condition } => {
                let changed = assigned(body);
                self.read_anew(frame, &changed, env);
                let mut inner = env.clone();
                let (head, tail) = body.split_at((*n_header).min(body.len()));
                let outer = std::mem::take(&mut self.outline);
                let mut inside = self.regions(frame, head, &mut inner, depth + 1);
                let condition = condition.as_ref().and_then(|c| self.convert_with(c, &inner).ok());
                let header = std::mem::take(&mut self.outline);
                inside.extend(self.regions(frame, tail, &mut inner, depth + 1));
                let body = std::mem::replace(&mut self.outline, outer);
                self.outline.push(Outline::While { header, condition, body });
                if !inside.is_empty() {
                    let body = Box::new(single(inside));
                    regions
                        .push(&self.program, Region::Loop(ControlLoop { iterator: None, range: None, body }));
                }
                self.read_anew(frame, &changed, env);
            }
            Control::Branch { arms, otherwise } => {
                let region = self.branch(frame, arms, otherwise, env, depth);
                if let Some(region) = region {
                    regions.push(&self.program, region);
                }
            }
            Control::Opaque { states, assigned, reason } => {
                self.read_anew(frame, assigned, env);
                self.opaque_states(frame, states, reason, env, regions);
            }
        }
    }

    /// Assignments between states. Inside of other programs, names mean other things.
    fn outline_assignments(&mut self, frame: &Frame<'_>, values: &[(String, Result<Expr, String>)]) {
        if !frame.path.is_empty() {
            return;
        }
        for (name, value) in values {
            let name = identifier(name);
            if let Some(symbol) = self.program.symbols.values().find(|s| s.name == name) {
                self.outline.push(Outline::Assign { symbol: symbol.id, value: value.clone().ok() });
            }
        }
    }

    fn assign_in_region(
        &mut self,
        frame: &Frame<'_>,
        name: &str,
        value: Result<Expr, String>,
        env: &mut Env,
    ) {
        let own = self.program.symbols.values().find(|s| s.name == name).map(|s| s.id);
        let is_own = |value: &Expr| own.is_some_and(|id| value.uses(id));
        let names = BTreeSet::from([name.to_owned()]);
        self.read_anew(frame, &names, env);
        match value {
            Ok(value) if self.is_stable(frame, &value) && !is_own(&value) => {
                env.symbols.insert(name.to_owned(), value);
            }
            // What it is cannot be said again later, but it does not change while a nest runs.
            Ok(_) if env.symbols.contains_key(name) => {}
            Ok(_) => {
                env.missing.insert(name.to_owned(), "it is read from memory that changes".into());
            }
            Err(reason) => {
                env.missing.insert(name.to_owned(), reason);
            }
        }
    }

    /// Nothing is known of the values of symbols any more but their names, nor of what was computed from them. Inside
    /// of other programs not even that: names mean other things there.
    fn read_anew(&mut self, frame: &Frame<'_>, names: &BTreeSet<String>, env: &mut Env) {
        let mut todo: Vec<String> = names.iter().cloned().collect();
        let mut done: BTreeSet<String> = names.clone();
        while let Some(name) = todo.pop() {
            env.variables.remove(&name);
            env.symbols.remove(&name);
            env.missing.remove(&name);
            let own = self.program.symbols.values().find(|s| s.name == name).map(|s| s.id);
            if let Some(id) = own {
                let others = env.symbols.iter().filter(|(_, value)| value.uses(id));
                let others: Vec<String> = others.map(|(other, _)| other.clone()).collect();
                todo.extend(others.into_iter().filter(|other| done.insert(other.clone())));
            }
            let ty = frame.graph.symbols.get(&name).map_or("int64", String::as_str);
            if frame.path.is_empty() && ty != "bool" && !ty.starts_with("float") {
                let id = self.add_symbol(&name, ty);
                env.symbols.insert(name, Expr::from(id));
            }
        }
    }

    /// A loop as a nest if all of it can be read, else as control.
    fn loop_region(
        &mut self,
        frame: &Frame<'_>,
        l: &CountedLoop<'_>,
        env: &mut Env,
        depth: usize,
        regions: &mut Regions,
    ) {
        let before = self.snapshot();
        let mut cx = Cx::default();
        let mut tried = env.clone();
        let mut nodes = Vec::new();
        let whole = [Control::Loop(l.clone())];
        let inside = states(&l.body);
        let blocks: Vec<Vec<usize>> =
            std::iter::once(l.id.clone()).chain(inside.iter().map(|s| s.id.clone())).collect();
        let place = frame.place(blocks, Vec::new());
        let outcome = self.controls(frame, &whole, &mut tried, &mut cx, &mut nodes);
        let outcome = outcome.and_then(|()| self.has_constant_sizes(&nodes, &assigned(&l.body)));
        let reason = match outcome.and_then(|()| self.add_nest(nodes, place.clone())) {
            Ok(id) => {
                regions.nests.extend(id);
                self.outline.extend(id.map(Outline::Nest));
                let mut changed = assigned(&l.body);
                changed.insert(l.variable.clone());
                self.read_anew(frame, &changed, env);
                self.assigned.extend(id.map(|id| (id, changed)));
                return;
            }
            Err(reason) => reason,
        };
        self.restore(before);
        let message = format!("the loop over `{}`: {reason}", l.variable);
        self.diagnostics.push(Diagnostic { place, message, is_opaque: false });
        let changed = assigned(&l.body);
        let ty = frame.graph.symbols.get(&l.variable).map_or("int64", String::as_str);
        let iterations = self.iterations(frame, l, env);
        let mut names = changed.clone();
        names.insert(l.variable.clone());
        self.read_anew(frame, &names, env);
        let iterator = if frame.path.is_empty() {
            self.add_symbol(&l.variable, ty)
        } else {
            self.program.add_symbol(identifier(&l.variable), ScalarType::I64)
        };
        let mut range = None;
        let mut ends = None;
        if let Ok(iterations) = iterations {
            let (first, end) = (iterations.first, iterations.end);
            ends = Some((first.clone(), end.clone()));
            if let (Expr::Affine(first), Expr::Affine(end)) = (&first, &end) {
                let ends = match l.step {
                    1.. => (first.clone(), end.clone().offset(-1)),
                    _ => (end.clone().offset(1), first.clone()),
                };
                self.ranges.insert(iterator.into(), ends);
            }
            if l.step == 1 {
                range = Some((first, end));
            }
        }
        let mut inner = env.clone();
        inner.symbols.insert(l.variable.clone(), Expr::Affine(Affine::var(iterator)));
        let outer = std::mem::take(&mut self.outline);
        let inside = self.regions(frame, &l.body, &mut inner, depth + 1);
        let body = std::mem::replace(&mut self.outline, outer);
        self.outline.push(Outline::Loop { iterator, ends, step: l.step, body });
        if !inside.is_empty() {
            let body = Box::new(single(inside));
            regions.push(&self.program, Region::Loop(ControlLoop { iterator: Some(iterator), range, body }));
        }
        self.read_anew(frame, &names, env);
    }

    fn branch(
        &mut self,
        frame: &Frame<'_>,
        arms: &[(Ex, Vec<Control<'_>>)],
        otherwise: &[Control<'_>],
        env: &mut Env,
        depth: usize,
    ) -> Option<Region> {
        let Some(((condition, then), rest)) = arms.split_first() else {
            let inside = self.regions(frame, otherwise, env, depth + 1);
            return (!inside.is_empty()).then(|| single(inside));
        };
        let condition = self.convert_with(condition, env).ok();
        let (mut env_then, mut env_else) = (env.clone(), env.clone());
        let outer = std::mem::take(&mut self.outline);
        let then = self.regions(frame, then, &mut env_then, depth + 1);
        let outline_then = std::mem::take(&mut self.outline);
        let otherwise = if depth > MAX_DEPTH {
            None
        } else {
            self.branch(frame, rest, otherwise, &mut env_else, depth + 1)
        };
        join(env, &env_then, &env_else);
        let outline_else = std::mem::replace(&mut self.outline, outer);
        self.outline.push(Outline::Branch {
            condition: condition.clone(),
            then: outline_then,
            otherwise: outline_else,
        });
        if then.is_empty() && otherwise.is_none() {
            return None;
        }
        let otherwise = Box::new(otherwise.unwrap_or_else(|| Region::Sequence(Vec::new())));
        Some(Region::Branch { condition, then: Box::new(single(then)), otherwise })
    }

    /// The nodes of a state, each a nest if it can be read.
    fn state(
        &mut self,
        frame: &Frame<'_>,
        state: &StateRef<'_>,
        env: &mut Env,
        depth: usize,
        regions: &mut Regions,
    ) {
        let site = match Site::new(frame, state.state, &state.id) {
            Ok(site) => site,
            Err(reason) => {
                return self.opaque_states(frame, std::slice::from_ref(state), &reason, env, regions);
            }
        };
        env.links.clear();
        self.views(&site, None, env);
        for node in site.order.iter().copied().filter(|n| state.state.nodes[*n].scope.is_none()) {
            let place = frame.place(vec![state.id.clone()], vec![node]);
            let reason = if let NodeKind::Nested { graph, symbols } = &state.state.nodes[node].kind {
                match self.enter(&site, node, graph, symbols, env, None) {
                    Ok((inner_frame, mut inner)) if depth < MAX_DEPTH => {
                        let controls = structure(&graph.control, &[], 0);
                        let inside = self.regions(&inner_frame, &controls, &mut inner, depth + 1);
                        for region in inside {
                            match region {
                                Region::Dataflow(graph) => regions.nests.extend(graph.nests()),
                                other => regions.push(&self.program, other),
                            }
                        }
                        continue;
                    }
                    Ok(_) => "programs are nested too deeply".to_owned(),
                    Err(reason) => format!("program `{}`: {reason}", state.state.nodes[node].label),
                }
            } else {
                let before = self.snapshot();
                let mut cx = Cx::default();
                let mut nodes = Vec::new();
                let mut tried = env.clone();
                let outcome = self.node(&site, node, &mut tried, &mut cx, &mut nodes);
                match outcome.and_then(|()| self.add_nest(nodes, place.clone())) {
                    Ok(id) => {
                        regions.nests.extend(id);
                        self.outline.extend(id.map(Outline::Nest));
                        *env = tried;
                        continue;
                    }
                    Err(reason) => {
                        self.restore(before);
                        reason
                    }
                }
            };
            let (reads, writes) = around(state.state, node);
            self.opaque(place, reason, (reads, writes), env, regions);
        }
    }

    /// Whether no array of a nest has a size that changes while the nest runs.
    fn has_constant_sizes(&self, nodes: &[Node], changed: &BTreeSet<String>) -> Result<(), String> {
        let nest = Nest::new(NestId(0), "", nodes.to_vec());
        let symbols = self.program.symbols.values().filter(|s| changed.contains(&s.name));
        let symbols: Vec<_> = symbols.map(|s| s.id).collect();
        let arrays = nest.arrays().into_iter().filter_map(|id| self.program.arrays.get(&id));
        for array in arrays {
            let mut extents = array.shape.iter().flatten();
            if extents.any(|e| symbols.iter().any(|id| e.uses(*id))) {
                return Err(format!("the size of `{}` changes while it runs", array.name));
            }
        }
        Ok(())
    }

    fn add_nest(&mut self, nodes: Vec<Node>, place: Place) -> Result<Option<NestId>, String> {
        if nodes.is_empty() {
            return Ok(None);
        }
        let id = NestId(u32::try_from(self.program.nests.len()).unwrap_or(u32::MAX));
        let nest = Nest::new(id, self.program.name.clone(), nodes);
        if let Err(violations) = verify_nest(&self.program, &nest) {
            let first = violations.first().map(ToString::to_string).unwrap_or_default();
            return Err(format!("it cannot be written down: {first}"));
        }
        self.program.nests.insert(id, nest);
        self.places.insert(id, place);
        self.ranges.retain(|var, _| matches!(var, oxeye_ir::Var::Sym(_)));
        Ok(Some(id))
    }

    fn opaque_states(
        &mut self,
        frame: &Frame<'_>,
        states: &[StateRef<'_>],
        reason: &str,
        env: &Env,
        regions: &mut Regions,
    ) {
        let mut blocks: Vec<Vec<usize>> = states.iter().map(|s| s.id.clone()).collect();
        blocks.dedup();
        let place = frame.place(blocks, Vec::new());
        let touched = touched(states.iter().map(|s| s.state));
        self.opaque(place, reason.to_owned(), touched, env, regions);
    }

    fn opaque(
        &mut self,
        place: Place,
        reason: String,
        (reads, writes): (BTreeSet<&str>, BTreeSet<&str>),
        env: &Env,
        regions: &mut Regions,
    ) {
        let arrays = |names: &BTreeSet<&str>| -> Vec<ArrayId> {
            let found: BTreeSet<ArrayId> =
                names.iter().filter_map(|name| Some(env.data.get(*name)?.array)).collect();
            found.into_iter().collect()
        };
        let (reads, writes) = (Some(arrays(&reads)), Some(arrays(&writes)));
        let opaque = Opaque { reason: reason.clone(), reads, writes: writes.clone() };
        regions.push(&self.program, Region::Opaque(opaque));
        let diagnostic = self.diagnostics.len();
        let writes = writes.into_iter().flatten().collect();
        self.outline.push(Outline::Opaque { diagnostic, writes });
        self.diagnostics.push(Diagnostic { place, message: reason, is_opaque: true });
    }
}

/// Containers that a node and its scope read, and those that they write.
fn around(state: &State, node: usize) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let is_inside = |at: usize| {
        let mut at = Some(at);
        while let Some(here) = at {
            if here == node {
                return true;
            }
            at = state.nodes[here].scope;
        }
        false
    };
    let data = |at: usize| match &state.nodes[at].kind {
        NodeKind::Access { data } => Some(data.as_str()),
        _ => None,
    };
    let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
    for edge in &state.edges {
        let (from, to) = (is_inside(edge.src), is_inside(edge.dst));
        let named = edge.memlet.as_ref().map(|m| m.data.as_str());
        if to {
            reads.extend(named.into_iter().chain(data(edge.src)));
        }
        if from {
            writes.extend(named.into_iter().chain(data(edge.dst)));
        }
        if to && data(node).is_some() {
            writes.extend(data(node));
        }
    }
    (reads, writes)
}
