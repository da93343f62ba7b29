//! An SDFG becomes a program.
//!
//! What comes in is a [`Graph`] with checked references. What goes out is a [`Unit`]: the program, where each nest stands
//! in the SDFG, and what could not be read. `regions` decides what is a nest and what is control; `control`, `dataflow`,
//! `tasklet` and `library` make loops and statements, or say why they cannot.

mod arrays;
mod control;
mod dataflow;
mod library;
mod names;
mod nest;
mod ranges;
mod regions;
mod tasklet;

use crate::model::{Edge, Graph, NodeKind, State};
use crate::structure::structure;
use crate::syntax::Ex;
use crate::{Sdfg, SdfgError};
use indexmap::IndexMap;
use names::{Converter, Env, Names};
use oxeye_ir::{Affine, ArrayId, Constraint, Expr, NestId, Program, Region, ScalarType, Storage, SymId, Var};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Where something stands in an SDFG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The way to the graph: of every program inside another one the state and the node there.
    pub graph: Vec<(Vec<usize>, usize)>,
    /// Blocks: states, or the header of a loop and its states. Each is a way of positions through regions.
    pub blocks: Vec<Vec<usize>>,
    /// Nodes of the only block; none if all of the blocks is meant.
    pub nodes: Vec<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = |id: &[usize]| id.iter().map(ToString::to_string).collect::<Vec<_>>().join(".");
        for (state, node) in &self.graph {
            write!(f, "state {}, node {node}, ", way(state))?;
        }
        match (self.blocks.as_slice(), self.nodes.as_slice()) {
            ([state], [node]) => write!(f, "state {}, node {node}", way(state)),
            ([state], _) => write!(f, "state {}", way(state)),
            (states, _) => {
                write!(f, "states {}", states.iter().map(|s| way(s)).collect::<Vec<_>>().join(" "))
            }
        }
    }
}

/// What could not be read, and stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where.
    pub place: Place,
    /// What and why: lower case, no final period.
    pub message: String,
    /// Whether it is opaque now. Else it is control around nests, not part of one.
    pub is_opaque: bool,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_opaque { "not read" } else { "kept as control" };
        write!(f, "{}: {kind}: {}", self.place, self.message)
    }
}

/// An SDFG as a program.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The program.
    pub program: Program,
    /// Where each nest stands.
    pub places: IndexMap<NestId, Place>,
    /// What could not be read.
    pub diagnostics: Vec<Diagnostic>,
    /// Symbols of the program that the SDFG does not have: sizes that are no affine expressions.
    pub definitions: IndexMap<SymId, Expr>,
    /// Transients whose elements lie otherwise than in the SDFG, since their extents are rounded up to be the same in
    /// all iterations. They must not be shared with what is not replaced.
    pub relaid: BTreeSet<ArrayId>,
}

/// Reads an SDFG.
///
/// # Errors
/// If the document is damaged. What is only not understood becomes a diagnostic.
pub fn read_sdfg(sdfg: &Sdfg) -> Result<Unit, SdfgError> {
    let graph = sdfg.graph()?;
    let mut lowering = Lowering::new(&graph.name);
    let controls = structure(&graph.control, &[], 0);
    let assigned = crate::structure::assigned(&controls);
    let mut env = Env::default();
    for (name, ty) in graph.symbols.iter().filter(|(name, _)| !assigned.contains(*name)) {
        let id = lowering.add_symbol(name, ty);
        env.symbols.insert(name.clone(), Expr::from(id));
    }
    lowering.declare(&graph, &mut env, &arrays::iterators(&controls), None);
    lowering.assume_sizes(&graph, &env);
    let frame = Frame::new(&graph, Vec::new(), &env);
    let regions = lowering.regions(&frame, &controls, &mut env, 0);
    lowering.program.body = regions::single(regions);
    lowering.finish();
    let Lowering { program, places, diagnostics, definitions, relaid, .. } = lowering;
    Ok(Unit { program, places, diagnostics, definitions, relaid })
}

/// More nodes than are read one after the other before it is given up.
const MAX_WORK: usize = 300_000;

struct Lowering {
    program: Program,
    places: IndexMap<NestId, Place>,
    diagnostics: Vec<Diagnostic>,
    definitions: IndexMap<SymId, Expr>,
    relaid: BTreeSet<ArrayId>,
    /// First and last value of iterators.
    ranges: BTreeMap<Var, (Affine, Affine)>,
    n_work: usize,
}

/// A graph that is being read.
struct Frame<'a> {
    graph: &'a Graph,
    path: Vec<(Vec<usize>, usize)>,
    /// Arrays that it writes.
    written: BTreeSet<ArrayId>,
    /// Where containers are used: in which states, in which scopes there.
    uses: BTreeMap<&'a str, Vec<(&'a State, Option<usize>)>>,
}

/// A state that is being read.
struct Site<'a> {
    frame: &'a Frame<'a>,
    state: &'a State,
    id: Vec<usize>,
    order: Vec<usize>,
}

/// Containers that states read, and those that they write.
fn touched<'a>(states: impl IntoIterator<Item = &'a State>) -> (BTreeSet<&'a str>, BTreeSet<&'a str>) {
    let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
    for state in states {
        for (at, node) in state.nodes.iter().enumerate() {
            let NodeKind::Access { data } = &node.kind else { continue };
            if state.out_of(at).next().is_some() {
                reads.insert(data.as_str());
            }
            if state.into(at).next().is_some() {
                writes.insert(data.as_str());
            }
            // A view is what it is a view of.
            if state.out_of(at).any(|e| e.dst_connector.as_deref() == Some("views")) {
                writes.insert(data.as_str());
            }
        }
    }
    (reads, writes)
}

impl<'a> Frame<'a> {
    fn new(graph: &'a Graph, path: Vec<(Vec<usize>, usize)>, env: &Env) -> Self {
        let states = graph.control.states();
        let (_, writes) = touched(states.iter().copied());
        let written = writes.iter().filter_map(|name| Some(env.data.get(*name)?.array)).collect();
        let edges = graph.control.all_edges();
        let texts: Vec<&String> = edges
            .iter()
            .flat_map(|e| e.condition.iter().chain(e.assignments.iter().map(|(_, text)| text)))
            .collect();
        let mut uses: BTreeMap<&str, Vec<(&State, Option<usize>)>> = BTreeMap::new();
        for state in states {
            for node in &state.nodes {
                let NodeKind::Access { data } = &node.kind else { continue };
                let found = uses.entry(data.as_str()).or_default();
                if !found.iter().any(|(s, scope)| std::ptr::eq(*s, state) && *scope == node.scope) {
                    found.push((state, node.scope));
                }
            }
        }
        uses.retain(|name, _| !texts.iter().any(|text| text.contains(*name)));
        Self { graph, path, written, uses }
    }

    fn place(&self, blocks: Vec<Vec<usize>>, nodes: Vec<usize>) -> Place {
        Place { graph: self.path.clone(), blocks, nodes }
    }
}

impl<'a> Site<'a> {
    fn new(frame: &'a Frame<'a>, state: &'a State, id: &[usize]) -> Result<Self, String> {
        let order =
            state.order().ok_or_else(|| format!("the nodes of state `{}` are a circle", state.label))?;
        Ok(Self { frame, state, id: id.to_vec(), order })
    }

    /// The container that an edge out of a map's entry gets its values from.
    fn source(&self, edge: &Edge) -> Option<String> {
        let mut edge = edge;
        for _ in 0..self.state.nodes.len() {
            match &self.state.nodes[edge.src].kind {
                NodeKind::Access { data } => return Some(data.clone()),
                NodeKind::MapEntry { .. } => {
                    let name = edge.src_connector.as_deref()?.strip_prefix("OUT_")?;
                    edge = self.state.into(edge.src).find(|e| {
                        e.dst_connector.as_deref().and_then(|c| c.strip_prefix("IN_")) == Some(name)
                    })?;
                }
                _ => return None,
            }
        }
        None
    }

    /// The container that an edge into a map's exit brings its values to.
    fn target(&self, edge: &Edge) -> Option<String> {
        let mut edge = edge;
        for _ in 0..self.state.nodes.len() {
            match &self.state.nodes[edge.dst].kind {
                NodeKind::Access { data } => return Some(data.clone()),
                NodeKind::MapExit => {
                    let name = edge.dst_connector.as_deref()?.strip_prefix("IN_")?;
                    edge = self.state.out_of(edge.dst).find(|e| {
                        e.src_connector.as_deref().and_then(|c| c.strip_prefix("OUT_")) == Some(name)
                    })?;
                }
                _ => return None,
            }
        }
        None
    }
}

/// What there was before a nest was tried.
struct Snapshot {
    n_arrays: usize,
    n_symbols: usize,
    n_definitions: usize,
    ranges: BTreeMap<Var, (Affine, Affine)>,
}

impl Lowering {
    fn new(name: &str) -> Self {
        Self {
            program: Program::new(nest::identifier(name)),
            places: IndexMap::new(),
            diagnostics: Vec::new(),
            definitions: IndexMap::new(),
            relaid: BTreeSet::new(),
            ranges: BTreeMap::new(),
            n_work: 0,
        }
    }

    fn spend(&mut self) -> Result<(), String> {
        self.n_work += 1;
        if self.n_work > MAX_WORK { Err("the program is too large".into()) } else { Ok(()) }
    }

    fn add_symbol(&mut self, name: &str, ty: &str) -> SymId {
        let ty = match names::scalar_type(ty) {
            Some((ty, false)) if !ty.is_float() => ty,
            _ => ScalarType::I64,
        };
        let name = nest::identifier(name);
        let found = self.program.symbols.values().find(|s| s.name == name && s.ty == ty).map(|s| s.id);
        found.unwrap_or_else(|| self.program.add_symbol(name, ty))
    }

    /// Extents of arrays are not negative.
    fn assume_sizes(&mut self, graph: &Graph, env: &Env) {
        for view in graph.arrays.keys().filter_map(|name| env.data.get(name)) {
            let shape = self.program.array(view.array).shape.iter().flatten();
            let sizes = shape.filter_map(|e| e.as_affine().filter(|a| a.as_var().is_some()));
            for size in sizes.cloned().collect::<Vec<_>>() {
                let constraint = Constraint::ge(size, Affine::constant(0));
                if !self.program.assumptions.contains(&constraint) {
                    self.program.assumptions.push(constraint);
                }
            }
        }
    }

    fn convert_with(&self, ex: &Ex, names: &dyn Names) -> Result<Expr, String> {
        Converter { program: &self.program, names }.convert(ex)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            n_arrays: self.program.arrays.len(),
            n_symbols: self.program.symbols.len(),
            n_definitions: self.definitions.len(),
            ranges: self.ranges.clone(),
        }
    }

    fn restore(&mut self, before: Snapshot) {
        self.program.arrays.truncate(before.n_arrays);
        self.program.symbols.truncate(before.n_symbols);
        self.definitions.truncate(before.n_definitions);
        let arrays = &self.program.arrays;
        self.relaid.retain(|id| arrays.contains_key(id));
        self.ranges = before.ranges;
    }

    /// Leaves out what nothing uses, and says what is read after each nest.
    fn finish(&mut self) {
        let mut users: BTreeMap<ArrayId, BTreeSet<Option<NestId>>> = BTreeMap::new();
        let mut all_used = false;
        for (id, nest) in &self.program.nests {
            nest.arrays().into_iter().for_each(|a| {
                users.entry(a).or_default().insert(Some(*id));
            });
        }
        let mut in_loops = BTreeSet::new();
        self.program.body.visit(&mut |region| {
            let mut used: Vec<ArrayId> = Vec::new();
            match region {
                Region::Branch { condition, .. } => {
                    used.extend(condition.iter().flat_map(Expr::reads).map(|a| a.array));
                }
                Region::Loop(l) => {
                    used.extend(
                        l.range
                            .iter()
                            .flat_map(|(a, b)| a.reads().into_iter().chain(b.reads()))
                            .map(|a| a.array),
                    );
                    region.visit(&mut |inner| {
                        if let Region::Dataflow(graph) = inner {
                            in_loops.extend(graph.nests().iter().copied());
                        }
                    });
                }
                Region::Opaque(opaque) => {
                    for list in [&opaque.reads, &opaque.writes] {
                        all_used |= list.is_none();
                        used.extend(list.iter().flatten());
                    }
                }
                _ => {}
            }
            used.into_iter().for_each(|a| {
                users.entry(a).or_default().insert(None);
            });
        });
        let program = &mut self.program;
        program.arrays.retain(|id, array| match array.storage {
            Storage::Param => true,
            Storage::Local => all_used || users.contains_key(id),
            _ => users.contains_key(id),
        });
        let arrays = &program.arrays;
        self.relaid.retain(|id| arrays.contains_key(id));
        for (id, nest) in &mut program.nests {
            let mut live: Vec<ArrayId> = nest
                .accesses()
                .into_iter()
                .filter(|(access, is_write)| {
                    let is_local = arrays.get(&access.array).is_some_and(|a| a.storage == Storage::Local);
                    let n_users = users.get(&access.array).map_or(0, BTreeSet::len);
                    *is_write && is_local && (all_used || n_users > 1 || in_loops.contains(id))
                })
                .map(|(access, _)| access.array)
                .collect();
            live.sort_unstable();
            live.dedup();
            nest.live_out = live;
        }
    }
}
