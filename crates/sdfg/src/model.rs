//! What an SDFG says, with references checked: nodes and edges name things that exist, and scopes are no circles.
//!
//! Expressions stay text here; whoever needs one parses it.

use crate::error::SdfgError;
use crate::json::Json;
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// A dataflow program with its containers.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Its name.
    pub name: String,
    /// Containers by name.
    pub arrays: IndexMap<String, Descriptor>,
    /// Types of symbols by name.
    pub symbols: IndexMap<String, String>,
    /// Numbers with a name.
    pub constants: IndexMap<String, String>,
    /// States and the edges between them.
    pub control: ControlGraph,
}

/// A container.
#[derive(Clone, Debug)]
pub struct Descriptor {
    /// `Array`, `Scalar`, `ArrayView`, …
    pub kind: String,
    /// The type of its elements.
    pub dtype: String,
    /// Extents.
    pub shape: Vec<String>,
    /// Elements from one index to the next, where that is not row-major.
    pub strides: Option<Vec<String>>,
    /// Whether the program makes it itself.
    pub is_transient: bool,
}

/// Blocks with the edges between them.
#[derive(Clone, Debug)]
pub struct ControlGraph {
    /// States and regions.
    pub blocks: Vec<Block>,
    /// Edges between them.
    pub edges: Vec<InterstateEdge>,
    /// Where it starts.
    pub start: usize,
}

/// An edge of control.
#[derive(Clone, Debug)]
pub struct InterstateEdge {
    /// The block it leaves.
    pub src: usize,
    /// The block it reaches.
    pub dst: usize,
    /// When it is taken; always if there is none.
    pub condition: Option<String>,
    /// New values of symbols, all of them computed before any is set.
    pub assignments: Vec<(String, String)>,
}

/// A state, or a region of control of its own.
#[derive(Clone, Debug)]
pub enum Block {
    /// Dataflow.
    State(State),
    /// A loop as a region.
    Loop(LoopRegion),
    /// Branches with conditions; the last one may have none.
    Conditional {
        /// Its label.
        label: String,
        /// Conditions and what they guard.
        branches: Vec<(Option<String>, ControlGraph)>,
    },
    /// Anything else.
    Other {
        /// Its label.
        label: String,
        /// Its type.
        kind: String,
    },
}

/// A loop as a region.
#[derive(Clone, Debug)]
pub struct LoopRegion {
    /// Its label.
    pub label: String,
    /// The iterator; empty for a `while` loop.
    pub variable: String,
    /// `i = 0`
    pub init: Option<String>,
    /// `i < N`
    pub condition: String,
    /// `i = i + 1`
    pub update: Option<String>,
    /// Whether the condition is tested behind the body.
    pub is_inverted: bool,
    /// The body.
    pub body: ControlGraph,
}

/// Dataflow between containers.
#[derive(Clone, Debug)]
pub struct State {
    /// Its label.
    pub label: String,
    /// Nodes.
    pub nodes: Vec<Node>,
    /// Edges.
    pub edges: Vec<Edge>,
}

/// A node of a state.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its label.
    pub label: String,
    /// The entry of the scope it is in.
    pub scope: Option<usize>,
    /// What it is.
    pub kind: NodeKind,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// A container at a point of the dataflow.
    Access {
        /// The container.
        data: String,
    },
    /// Code.
    Tasklet {
        /// Its text.
        code: String,
        /// `Python`, `CPP`, …
        language: String,
    },
    /// The begin of a map.
    MapEntry {
        /// Iterators.
        params: Vec<String>,
        /// Their ranges.
        ranges: Vec<Range>,
    },
    /// The end of a map.
    MapExit,
    /// A program in the program.
    Nested {
        /// The program.
        graph: Box<Graph>,
        /// Its symbols, as expressions of those around it.
        symbols: Vec<(String, String)>,
    },
    /// An operation of a library.
    Library {
        /// Its class.
        class: String,
        /// Its attributes.
        attributes: Json,
    },
    /// Anything else.
    Other {
        /// Its type.
        kind: String,
    },
}

/// An edge of a state.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The node it leaves.
    pub src: usize,
    /// Where it leaves it.
    pub src_connector: Option<String>,
    /// The node it reaches.
    pub dst: usize,
    /// Where it reaches it.
    pub dst_connector: Option<String>,
    /// What moves; nothing if the edge is only there for the order.
    pub memlet: Option<Memlet>,
}

/// What moves along an edge.
#[derive(Clone, Debug)]
pub struct Memlet {
    /// The container that the subset is of.
    pub data: String,
    /// Elements of `data`; all of them if there is none.
    pub subset: Option<Vec<Range>>,
    /// Elements of the container at the edge's other end.
    pub other: Option<Vec<Range>>,
    /// How a value is combined with the one that is there.
    pub wcr: Option<String>,
    /// Whether it may be that nothing moves.
    pub is_dynamic: bool,
    /// Whether `data` is where the edge begins, if the file says so.
    pub is_data_src: Option<bool>,
}

/// Indices `start..=end` by `step`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// First index.
    pub start: String,
    /// Last index.
    pub end: String,
    /// From one index to the next.
    pub step: String,
    /// Indices that are taken together.
    pub tile: String,
}

type Result<T> = std::result::Result<T, SdfgError>;

fn wrong<T>(place: &str, message: impl Into<String>) -> Result<T> {
    Err(SdfgError::Document { place: place.to_owned(), message: message.into() })
}

fn member<'a>(value: &'a Json, key: &str, place: &str) -> Result<&'a Json> {
    match value {
        Json::Object(members) => match members.get(key) {
            Some(found) => Ok(found),
            None => wrong(place, format!("`{key}` is missing")),
        },
        other => wrong(place, format!("an object is needed here, not {}", other.kind())),
    }
}

fn optional<'a>(value: &'a Json, key: &str) -> Option<&'a Json> {
    value.get(key).filter(|v| **v != Json::Null)
}

fn text<'a>(value: &'a Json, place: &str) -> Result<&'a str> {
    match value {
        Json::String(text) => Ok(text),
        other => wrong(place, format!("a string is needed here, not {}", other.kind())),
    }
}

fn list<'a>(value: &'a Json, place: &str) -> Result<&'a [Json]> {
    match value {
        Json::Array(items) => Ok(items),
        other => wrong(place, format!("a list is needed here, not {}", other.kind())),
    }
}

fn object<'a>(value: &'a Json, place: &str) -> Result<&'a IndexMap<String, Json>> {
    match value {
        Json::Object(members) => Ok(members),
        other => wrong(place, format!("an object is needed here, not {}", other.kind())),
    }
}

/// A symbolic expression: a string, or a number.
fn expression(value: &Json, place: &str) -> Result<String> {
    match value {
        Json::String(text) | Json::Number(text) => Ok(text.clone()),
        Json::Bool(value) => Ok(if *value { "True".into() } else { "False".into() }),
        other => wrong(place, format!("an expression is needed here, not {}", other.kind())),
    }
}

fn flag(value: Option<&Json>, place: &str) -> Result<bool> {
    match value {
        None | Some(Json::Null) => Ok(false),
        Some(Json::Bool(value)) => Ok(*value),
        Some(other) => wrong(place, format!("`true` or `false` is needed here, not {}", other.kind())),
    }
}

/// A position in a list of `n`: a number, or a string of one.
fn position(value: &Json, n: usize, place: &str) -> Result<usize> {
    let parsed = match value {
        Json::String(text) | Json::Number(text) => text.parse().ok(),
        _ => None,
    };
    match parsed {
        Some(at) if at < n => Ok(at),
        Some(at) => wrong(place, format!("there is no number {at} among {n}")),
        None => wrong(place, "a position in a list is needed here"),
    }
}

/// The text of a piece of code: a string, or an object with its language.
fn code(value: &Json, place: &str) -> Result<(String, String)> {
    match value {
        Json::Object(_) => {
            let language = optional(value, "language").map_or(Ok("Python"), |v| text(v, place))?;
            let inner = match value.get("string_data") {
                None | Some(Json::Null) => String::new(),
                Some(inner) => expression(inner, place)?,
            };
            Ok((inner, language.to_owned()))
        }
        other => Ok((expression(other, place)?, "Python".to_owned())),
    }
}

impl Graph {
    /// Reads a program.
    ///
    /// # Errors
    /// If something is missing, is of the wrong type, or refers to what is not there; with its place.
    pub fn read(value: &Json) -> Result<Graph> {
        graph(value, "the program")
    }
}

fn graph(value: &Json, place: &str) -> Result<Graph> {
    match member(value, "type", place)?.as_str() {
        Some("SDFG") => {}
        _ => return wrong(place, "this is no SDFG"),
    }
    let attributes = member(value, "attributes", place)?;
    let name = text(member(attributes, "name", place)?, place)?.to_owned();
    let place = &format!("{place} `{name}`");
    let mut arrays = IndexMap::new();
    if let Some(listed) = optional(attributes, "_arrays") {
        for (name, value) in object(listed, place)? {
            let place = &format!("{place}, container `{name}`");
            if *value != Json::Null {
                arrays.insert(name.clone(), descriptor(value, place)?);
            }
        }
    }
    let mut symbols = IndexMap::new();
    if let Some(listed) = optional(attributes, "symbols") {
        for (name, value) in object(listed, place)? {
            symbols.insert(name.clone(), value.as_str().unwrap_or("int64").to_owned());
        }
    }
    let mut constants = IndexMap::new();
    if let Some(Json::Object(listed)) = optional(attributes, "constants_prop") {
        for (name, value) in listed {
            let number = match value {
                Json::Array(pair) => pair.last(),
                other => Some(other),
            };
            if let Some(Json::Number(text)) = number {
                constants.insert(name.clone(), text.clone());
            }
        }
    }
    let control = control(value, "start_block", place)?;
    Ok(Graph { name, arrays, symbols, constants, control })
}

fn descriptor(value: &Json, place: &str) -> Result<Descriptor> {
    let kind = text(member(value, "type", place)?, place)?.to_owned();
    let attributes = member(value, "attributes", place)?;
    let expressions = |key: &str| -> Result<Option<Vec<String>>> {
        let Some(listed) = optional(attributes, key) else { return Ok(None) };
        list(listed, place)?.iter().map(|e| expression(e, place)).collect::<Result<_>>().map(Some)
    };
    let dtype = match optional(attributes, "dtype") {
        None => "int32".to_owned(),
        Some(Json::String(name)) => name.clone(),
        Some(other) => other.get("type").and_then(Json::as_str).unwrap_or("another type").to_owned(),
    };
    let shape = expressions("shape")?.unwrap_or_else(|| vec!["1".to_owned()]);
    let strides = expressions("strides")?;
    if strides.as_ref().is_some_and(|strides| strides.len() != shape.len()) {
        return wrong(place, "there are not as many strides as dimensions");
    }
    let is_transient = flag(attributes.get("transient"), place)?;
    Ok(Descriptor { kind, dtype, shape, strides, is_transient })
}

fn control(value: &Json, start: &str, place: &str) -> Result<ControlGraph> {
    let items = list(member(value, "nodes", place)?, place)?;
    let blocks: Vec<Block> = items
        .iter()
        .enumerate()
        .map(|(at, item)| block(item, &format!("{place}, block {at}")))
        .collect::<Result<_>>()?;
    let mut edges = Vec::new();
    for (at, item) in list(member(value, "edges", place)?, place)?.iter().enumerate() {
        let place = &format!("{place}, edge {at}");
        let src = position(member(item, "src", place)?, blocks.len(), place)?;
        let dst = position(member(item, "dst", place)?, blocks.len(), place)?;
        let data = member(member(item, "attributes", place)?, "data", place)?;
        let attributes = member(data, "attributes", place)?;
        let condition = optional(attributes, "condition").map(|c| code(c, place)).transpose()?;
        let mut assignments = Vec::new();
        if let Some(listed) = optional(attributes, "assignments") {
            for (name, value) in object(listed, place)? {
                assignments.push((name.clone(), expression(value, place)?));
            }
        }
        let condition = condition.map(|(text, _)| text).filter(|c| !matches!(c.trim(), "1" | "True" | ""));
        edges.push(InterstateEdge { src, dst, condition, assignments });
    }
    // What the file says counts only where several blocks have none before them.
    let mut sources = (0..blocks.len()).filter(|at| edges.iter().all(|e| e.dst != *at));
    let only = sources.next().filter(|_| sources.next().is_none());
    let start = match optional(value, start).or_else(|| optional(value, "start_state")) {
        _ if only.is_some() => only.unwrap_or(0),
        Some(Json::Number(text)) if text.starts_with('-') => 0,
        Some(at) if !blocks.is_empty() => position(at, blocks.len(), &format!("{place}, its start"))?,
        _ => 0,
    };
    Ok(ControlGraph { blocks, edges, start })
}

fn block(value: &Json, place: &str) -> Result<Block> {
    let kind = text(member(value, "type", place)?, place)?;
    let label = optional(value, "label").and_then(Json::as_str).unwrap_or("").to_owned();
    let place = &format!("{place} (`{label}`)");
    let of_attributes = |key: &str| value.get("attributes").and_then(|a| optional(a, key));
    let code_of = |key: &str| -> Result<Option<String>> {
        Ok(of_attributes(key).map(|c| code(c, place)).transpose()?.map(|(text, _)| text))
    };
    Ok(match kind {
        "SDFGState" => Block::State(state(value, label, place)?),
        "LoopRegion" => Block::Loop(LoopRegion {
            variable: of_attributes("loop_variable").and_then(Json::as_str).unwrap_or("").to_owned(),
            init: code_of("init_statement")?,
            condition: code_of("loop_condition")?.unwrap_or_else(|| "True".to_owned()),
            update: code_of("update_statement")?,
            is_inverted: flag(of_attributes("inverted"), place)?,
            body: control(value, "start_block", place)?,
            label,
        }),
        "ConditionalBlock" => {
            let mut branches = Vec::new();
            for item in list(member(value, "branches", place)?, place)? {
                let [condition, body] = list(item, place)? else {
                    return wrong(place, "a branch is a condition and a region");
                };
                let condition = match condition {
                    Json::Null => None,
                    other => Some(code(other, place)?.0),
                };
                branches.push((condition, control(body, "start_block", place)?));
            }
            Block::Conditional { label, branches }
        }
        other => Block::Other { label, kind: other.to_owned() },
    })
}

fn state(value: &Json, label: String, place: &str) -> Result<State> {
    let items = list(member(value, "nodes", place)?, place)?;
    let nodes: Vec<Node> = items
        .iter()
        .enumerate()
        .map(|(at, item)| node(item, items.len(), &format!("{place}, node {at}")))
        .collect::<Result<_>>()?;
    for (at, node) in nodes.iter().enumerate() {
        let mut seen = BTreeSet::from([at]);
        let mut scope = node.scope;
        while let Some(entry) = scope {
            let place = &format!("{place}, node {at}");
            if !seen.insert(entry) {
                return wrong(place, "its scopes are a circle");
            }
            scope = nodes[entry].scope;
        }
    }
    let mut edges = Vec::new();
    for (at, item) in list(member(value, "edges", place)?, place)?.iter().enumerate() {
        let place = &format!("{place}, edge {at}");
        let connector = |key: &str| -> Result<Option<String>> {
            optional(item, key).map(|c| Ok(text(c, place)?.to_owned())).transpose()
        };
        edges.push(Edge {
            src: position(member(item, "src", place)?, nodes.len(), place)?,
            src_connector: connector("src_connector")?,
            dst: position(member(item, "dst", place)?, nodes.len(), place)?,
            dst_connector: connector("dst_connector")?,
            memlet: memlet(item, place)?,
        });
    }
    Ok(State { label, nodes, edges })
}

fn node(value: &Json, n_nodes: usize, place: &str) -> Result<Node> {
    let kind = text(member(value, "type", place)?, place)?;
    let label = optional(value, "label").and_then(Json::as_str).unwrap_or("").to_owned();
    let place = &format!("{place} (`{label}`)");
    let attributes = member(value, "attributes", place)?;
    let scope = match optional(value, "scope_entry") {
        None => None,
        Some(at) => Some(position(at, n_nodes, place)?),
    };
    let kind = match kind {
        "AccessNode" => {
            NodeKind::Access { data: text(member(attributes, "data", place)?, place)?.to_owned() }
        }
        "Tasklet" => {
            let (code, language) = code(member(attributes, "code", place)?, place)?;
            NodeKind::Tasklet { code, language }
        }
        "MapEntry" => {
            let params = list(member(attributes, "params", place)?, place)?;
            let params: Vec<String> =
                params.iter().map(|p| Ok(text(p, place)?.to_owned())).collect::<Result<_>>()?;
            let ranges = subset(member(attributes, "range", place)?, place)?.unwrap_or_default();
            if ranges.len() != params.len() || params.is_empty() {
                return wrong(place, "there are not as many ranges as iterators");
            }
            NodeKind::MapEntry { params, ranges }
        }
        "MapExit" => NodeKind::MapExit,
        "NestedSDFG" => {
            let mut symbols = Vec::new();
            if let Some(mapping) = optional(attributes, "symbol_mapping") {
                for (name, value) in object(mapping, place)? {
                    symbols.push((name.clone(), expression(value, place)?));
                }
            }
            match optional(attributes, "sdfg") {
                Some(inner) => NodeKind::Nested { graph: Box::new(graph(inner, place)?), symbols },
                None => NodeKind::Other { kind: "NestedSDFG without a program".to_owned() },
            }
        }
        "LibraryNode" => {
            let class = optional(value, "classpath").map_or(Ok(""), |c| text(c, place))?.to_owned();
            NodeKind::Library { class, attributes: attributes.clone() }
        }
        other => NodeKind::Other { kind: other.to_owned() },
    };
    Ok(Node { label, scope, kind })
}

fn memlet(edge: &Json, place: &str) -> Result<Option<Memlet>> {
    let data = member(member(edge, "attributes", place)?, "data", place)?;
    let Some(attributes) = optional(data, "attributes") else { return Ok(None) };
    let Some(name) = optional(attributes, "data") else { return Ok(None) };
    let of = |key: &str| optional(attributes, key).map_or(Ok(None), |s| subset(s, place));
    let is_data_src = match optional(attributes, "is_data_src") {
        None => None,
        some => Some(flag(some, place)?),
    };
    let wcr = match optional(attributes, "wcr") {
        None => None,
        Some(wcr) => Some(code(wcr, place)?.0),
    };
    Ok(Some(Memlet {
        data: text(name, place)?.to_owned(),
        subset: of("subset")?,
        other: of("other_subset")?,
        wcr,
        is_dynamic: flag(attributes.get("dynamic"), place)?,
        is_data_src,
    }))
}

/// Ranges or indices; none for what is neither.
fn subset(value: &Json, place: &str) -> Result<Option<Vec<Range>>> {
    match value.get("type").and_then(Json::as_str) {
        Some("Range") => {}
        Some("Indices") => {
            let indices = list(member(value, "indices", place)?, place)?;
            let single = |e: &Json| {
                let at = expression(e, place)?;
                Ok(Range { start: at.clone(), end: at, step: "1".into(), tile: "1".into() })
            };
            return indices.iter().map(single).collect::<Result<_>>().map(Some);
        }
        Some("SubsetUnion") => {
            return match list(member(value, "subset_list", place)?, place)? {
                [only] => subset(only, place),
                _ => Ok(None),
            };
        }
        _ => return wrong(place, "ranges are needed here"),
    }
    let mut ranges = Vec::new();
    for range in list(member(value, "ranges", place)?, place)? {
        let of = |key: &str| expression(member(range, key, place)?, place);
        let or_one = |key: &str| optional(range, key).map_or(Ok("1".to_owned()), |e| expression(e, place));
        ranges.push(Range {
            start: of("start")?,
            end: of("end")?,
            step: or_one("step")?,
            tile: or_one("tile")?,
        });
    }
    Ok(Some(ranges))
}

impl ControlGraph {
    /// Every state inside, also in regions, in the order of the file.
    pub fn states(&self) -> Vec<&State> {
        let mut found = Vec::new();
        for block in &self.blocks {
            match block {
                Block::State(state) => found.push(state),
                Block::Loop(region) => found.extend(region.body.states()),
                Block::Conditional { branches, .. } => {
                    branches.iter().for_each(|(_, body)| found.extend(body.states()));
                }
                Block::Other { .. } => {}
            }
        }
        found
    }

    /// Every edge inside, also in regions.
    pub fn all_edges(&self) -> Vec<&InterstateEdge> {
        let mut found: Vec<_> = self.edges.iter().collect();
        for block in &self.blocks {
            match block {
                Block::Loop(region) => found.extend(region.body.all_edges()),
                Block::Conditional { branches, .. } => {
                    branches.iter().for_each(|(_, body)| found.extend(body.all_edges()));
                }
                Block::State(_) | Block::Other { .. } => {}
            }
        }
        found
    }
}

impl State {
    /// Positions of the nodes, each behind those that it depends on; none if there is a circle.
    pub fn order(&self) -> Option<Vec<usize>> {
        let mut n_before = vec![0usize; self.nodes.len()];
        let mut after = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            n_before[edge.dst] += 1;
            after[edge.src].push(edge.dst);
        }
        let mut ready: BTreeSet<usize> = (0..self.nodes.len()).filter(|n| n_before[*n] == 0).collect();
        let mut order = Vec::new();
        while let Some(next) = ready.pop_first() {
            order.push(next);
            for dst in &after[next] {
                n_before[*dst] -= 1;
                if n_before[*dst] == 0 {
                    ready.insert(*dst);
                }
            }
        }
        (order.len() == self.nodes.len()).then_some(order)
    }

    /// Edges that reach a node.
    pub fn into(&self, node: usize) -> impl Iterator<Item = &Edge> + '_ {
        self.edges.iter().filter(move |e| e.dst == node)
    }

    /// Edges that leave a node.
    pub fn out_of(&self, node: usize) -> impl Iterator<Item = &Edge> + '_ {
        self.edges.iter().filter(move |e| e.src == node)
    }
}
