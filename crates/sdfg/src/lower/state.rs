//! What is known while an SDFG is read, and what comes out of it.

use super::names::{Converter, Env, Names, identifier, scalar_type};
use super::outline::Outline;
use crate::model::{Edge, Graph, NodeKind, State};
use crate::syntax::Ex;
use indexmap::IndexMap;
use oxeye_ir::{Affine, ArrayId, Constraint, Expr, NestId, Program, ScalarType, SymId, Var};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Where something stands in an SDFG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The way to the graph.
    pub graph: Way,
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
    /// Symbols of the SDFG that the blocks of a nest give new values. Whoever replaces them has to do so too, if others
    /// read them.
    pub assigned: IndexMap<NestId, BTreeSet<String>>,
    /// What runs in which order.
    pub outline: Vec<Outline>,
    /// The containers of the SDFG, none of those inside of other programs, that arrays are.
    pub containers: IndexMap<ArrayId, String>,
    /// The same of programs inside of others, by the way to them: containers that are all of an array.
    pub inner: BTreeMap<Way, IndexMap<ArrayId, String>>,
    /// Symbols of the SDFG that keep the value that they are given from outside.
    pub given: BTreeSet<SymId>,
    /// Nests that do without some of the arrays between operations that the SDFG has.
    pub folded: BTreeSet<NestId>,
}

/// The way to a program inside of others: of each the state and the node there.
pub type Way = Vec<(Vec<usize>, usize)>;

/// More nodes than are read one after the other before it is given up.
const MAX_WORK: usize = 300_000;

pub(super) struct Lowering {
    pub(super) program: Program,
    pub(super) places: IndexMap<NestId, Place>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) definitions: IndexMap<SymId, Expr>,
    pub(super) relaid: BTreeSet<ArrayId>,
    pub(super) inner: BTreeMap<Way, IndexMap<ArrayId, String>>,
    /// First and last value of iterators.
    pub(super) ranges: BTreeMap<Var, (Affine, Affine)>,
    pub(super) n_work: usize,
    /// Names of symbols that the program gets.
    pub(super) free: BTreeSet<String>,
    /// Scalars that hold the values of symbols.
    pub(super) variables: BTreeSet<ArrayId>,
    pub(super) assigned: IndexMap<NestId, BTreeSet<String>>,
    /// What runs in the control that is being read.
    pub(super) outline: Vec<Outline>,
}

/// A graph that is being read.
pub(super) struct Frame<'a> {
    pub(super) graph: &'a Graph,
    pub(super) path: Vec<(Vec<usize>, usize)>,
    /// Arrays that it writes.
    pub(super) written: BTreeSet<ArrayId>,
    /// Where containers are used: in which states, in which scopes there.
    pub(super) uses: BTreeMap<&'a str, Vec<(&'a State, Option<usize>)>>,
}

/// A state that is being read.
pub(super) struct Site<'a> {
    pub(super) frame: &'a Frame<'a>,
    pub(super) state: &'a State,
    pub(super) id: Vec<usize>,
    pub(super) order: Vec<usize>,
}

/// Containers that states read, and those that they write.
pub(super) fn touched<'a>(
    states: impl IntoIterator<Item = &'a State>,
) -> (BTreeSet<&'a str>, BTreeSet<&'a str>) {
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
    pub(super) fn new(graph: &'a Graph, path: Vec<(Vec<usize>, usize)>, env: &Env) -> Self {
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

    pub(super) fn place(&self, blocks: Vec<Vec<usize>>, nodes: Vec<usize>) -> Place {
        Place { graph: self.path.clone(), blocks, nodes }
    }
}

impl<'a> Site<'a> {
    pub(super) fn new(frame: &'a Frame<'a>, state: &'a State, id: &[usize]) -> Result<Self, String> {
        let order =
            state.order().ok_or_else(|| format!("the nodes of state `{}` are a circle", state.label))?;
        Ok(Self { frame, state, id: id.to_vec(), order })
    }

    /// The container that an edge out of a map's entry gets its values from.
    pub(super) fn source(&self, edge: &Edge) -> Option<String> {
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
    pub(super) fn target(&self, edge: &Edge) -> Option<String> {
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
pub(super) struct Snapshot {
    pub(super) n_arrays: usize,
    pub(super) n_symbols: usize,
    pub(super) n_definitions: usize,
    pub(super) ranges: BTreeMap<Var, (Affine, Affine)>,
}

impl Lowering {
    pub(super) fn new(name: &str) -> Self {
        Self {
            program: Program::new(identifier(name)),
            places: IndexMap::new(),
            diagnostics: Vec::new(),
            definitions: IndexMap::new(),
            relaid: BTreeSet::new(),
            inner: BTreeMap::new(),
            ranges: BTreeMap::new(),
            n_work: 0,
            variables: BTreeSet::new(),
            free: BTreeSet::new(),
            assigned: IndexMap::new(),
            outline: Vec::new(),
        }
    }

    pub(super) fn spend(&mut self) -> Result<(), String> {
        self.n_work += 1;
        if self.n_work > MAX_WORK { Err("the program is too large".into()) } else { Ok(()) }
    }

    pub(super) fn add_symbol(&mut self, name: &str, ty: &str) -> SymId {
        let ty = match scalar_type(ty) {
            Some((ty, false)) if !ty.is_float() => ty,
            _ => ScalarType::I64,
        };
        let name = identifier(name);
        let found = self.program.symbols.values().find(|s| s.name == name && s.ty == ty).map(|s| s.id);
        found.unwrap_or_else(|| self.program.add_symbol(name, ty))
    }

    /// Extents of arrays are not negative.
    pub(super) fn assume_sizes(&mut self, graph: &Graph, env: &Env) {
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

    pub(super) fn convert_with(&self, ex: &Ex, names: &dyn Names) -> Result<Expr, String> {
        Converter { program: &self.program, names }.convert(ex)
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot {
            n_arrays: self.program.arrays.len(),
            n_symbols: self.program.symbols.len(),
            n_definitions: self.definitions.len(),
            ranges: self.ranges.clone(),
        }
    }

    pub(super) fn restore(&mut self, before: Snapshot) {
        self.program.arrays.truncate(before.n_arrays);
        self.program.symbols.truncate(before.n_symbols);
        self.definitions.truncate(before.n_definitions);
        let arrays = &self.program.arrays;
        self.relaid.retain(|id| arrays.contains_key(id));
        self.ranges = before.ranges;
    }
}
