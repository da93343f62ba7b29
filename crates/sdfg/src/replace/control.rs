//! The states of a loop become one state with a tasklet.

use super::json::{access, edge, memlet, mentions, number, object, position, text};
use super::tasklet::Tasklet;
use crate::json::Json;
use crate::model::{Block, Graph, InterstateEdge, NodeKind, Range, State};
use std::collections::{BTreeMap, BTreeSet};

/// Blocks that go, and the state that comes in the place of the first of them.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    header: usize,
    blocks: BTreeSet<usize>,
    state: Json,
    /// Symbols that are used nowhere else.
    symbols: Vec<String>,
    is_region: bool,
}

/// Plans how the blocks of a loop become a state.
///
/// # Errors
/// Why they cannot.
pub(super) fn plan(
    graph: &Graph,
    document: &Json,
    blocks: &[Vec<usize>],
    assigned: Option<&BTreeSet<String>>,
    tasklet: &Tasklet,
) -> Result<Edit, String> {
    let header = match blocks.first().map(Vec::as_slice) {
        Some([header]) => *header,
        _ => return Err("it is in a region of control".into()),
    };
    let is_region = !matches!(graph.control.blocks.get(header), Some(Block::State(_)));
    let mut covered: BTreeSet<usize> = blocks.iter().filter_map(|way| way.first().copied()).collect();
    // Empty states in between are part of the loop too.
    loop {
        let n_before = covered.len();
        for e in &graph.control.edges {
            if e.src != header && covered.contains(&e.src) {
                covered.insert(e.dst);
            }
            if e.dst != header && covered.contains(&e.dst) {
                covered.insert(e.src);
            }
        }
        if covered.len() == n_before {
            break;
        }
    }
    for e in &graph.control.edges {
        let is_entered = !covered.contains(&e.src) && covered.contains(&e.dst) && e.dst != header;
        let is_left = covered.contains(&e.src) && !covered.contains(&e.dst) && e.src != header;
        if is_entered || is_left {
            return Err("its loop is not only entered and left at its begin".into());
        }
    }
    let mut symbols = Vec::new();
    for name in assigned.into_iter().flatten() {
        if is_read_behind(graph, document, &covered, header, name) {
            return Err(format!("the value of `{name}` is read behind it"));
        }
        let is_inside = |e: &&InterstateEdge| covered.contains(&e.src) && covered.contains(&e.dst);
        let rest = graph.control.edges.iter().filter(|e| !is_inside(e));
        if !rest.flat_map(|e| &e.assignments).any(|(assigned, _)| assigned == name) {
            symbols.push(name.clone());
        }
    }
    Ok(Edit { header, blocks: covered, state: state(tasklet), symbols, is_region })
}

/// Whether a symbol's value at the end of a loop may be read later.
fn is_read_behind(
    graph: &Graph,
    document: &Json,
    covered: &BTreeSet<usize>,
    header: usize,
    name: &str,
) -> bool {
    let blocks = document.get("nodes").and_then(Json::as_array).unwrap_or_default();
    let has = |text: &str| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|w| w == name);
    let (mut todo, mut seen) = (vec![header], covered.clone());
    while let Some(at) = todo.pop() {
        for e in graph.control.edges.iter().filter(|e| e.src == at && !covered.contains(&e.dst)) {
            let is_condition = at != header && e.condition.as_deref().is_some_and(has);
            if is_condition || e.assignments.iter().any(|(_, value)| has(value)) {
                return true;
            }
            if e.assignments.iter().any(|(assigned, _)| assigned == name) || !seen.insert(e.dst) {
                continue;
            }
            let is_read = match graph.control.blocks.get(e.dst) {
                Some(Block::State(state)) => is_read_in(state, name),
                _ => blocks.get(e.dst).is_none_or(|block| mentions(block, name)),
            };
            if is_read {
                return true;
            }
            todo.push(e.dst);
        }
    }
    false
}

/// Whether a symbol is read in a state: by something that is not in the scope of a map with an iterator of that name.
fn is_read_in(state: &State, name: &str) -> bool {
    let has = |text: &str| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|w| w == name);
    let has_range = |r: &Range| [&r.start, &r.end, &r.step, &r.tile].into_iter().any(|text| has(text));
    let is_own = |at: usize| {
        let mut here = Some(at);
        while let Some(node) = here {
            if matches!(&state.nodes[node].kind, NodeKind::MapEntry { params, .. } if params.iter().any(|p| p == name))
            {
                return true;
            }
            here = state.nodes[node].scope;
        }
        false
    };
    let in_nodes = state.nodes.iter().any(|node| match &node.kind {
        NodeKind::MapEntry { ranges, .. } => !node.scope.is_some_and(is_own) && ranges.iter().any(has_range),
        _ if node.scope.is_some_and(is_own) => false,
        NodeKind::Tasklet { code, .. } => has(code),
        NodeKind::Nested { symbols, .. } => symbols.iter().any(|(_, value)| has(value)),
        NodeKind::Library { attributes, .. } => mentions(attributes, name),
        NodeKind::Access { .. } | NodeKind::MapExit => false,
        NodeKind::Other { .. } => true,
    });
    in_nodes
        || state
            .edges
            .iter()
            .filter(|e| !is_own(e.src) || !is_own(e.dst))
            .any(|e| e.memlet.iter().flat_map(|m| m.subset.iter().chain(&m.other)).flatten().any(has_range))
}

/// A state that holds only a tasklet.
fn state(tasklet: &Tasklet) -> Json {
    let (mut inputs, mut outputs) = (BTreeSet::new(), BTreeSet::new());
    let (mut nodes, mut edges) = (vec![Json::Null], Vec::new());
    for used in tasklet.used.values() {
        let shape = used.shape.as_deref().unwrap_or_default();
        if used.is_read {
            inputs.insert(used.data.clone());
            let (from, connector) = (nodes.len(), used.input());
            edges.push(edge((from, None), (0, Some(&connector)), memlet(&used.data, shape, false)));
            nodes.push(access(&used.data));
        }
        if used.is_written {
            outputs.insert(used.data.clone());
            let (to, connector) = (nodes.len(), used.output());
            let is_dynamic = used.shape.is_some();
            edges.push(edge((0, Some(&connector)), (to, None), memlet(&used.data, shape, is_dynamic)));
            nodes.push(access(&used.data));
        }
    }
    nodes[0] = tasklet.node(&inputs, &outputs, (&[], &[]));
    for (k, node) in nodes.iter_mut().enumerate() {
        if let Json::Object(members) = node {
            members.insert("id".to_owned(), number(k));
        }
    }
    let all = Json::Array((0..nodes.len()).map(number).collect());
    object([
        ("type", text("SDFGState")),
        ("label", text(tasklet.label())),
        ("id", number(0)),
        ("collapsed", Json::Bool(false)),
        ("scope_dict", object([("-1", all)])),
        ("nodes", Json::Array(nodes)),
        ("edges", Json::Array(edges)),
        ("attributes", object([])),
    ])
}

/// Changes the graph of states.
pub(super) fn apply(document: &mut Json, edits: &[Edit]) {
    if edits.is_empty() {
        return;
    }
    let gone: BTreeSet<usize> =
        edits.iter().flat_map(|e| e.blocks.iter().copied().filter(|b| *b != e.header)).collect();
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    if let Some(Json::Array(blocks)) = document.get_mut("nodes") {
        let old = std::mem::take(blocks);
        for (k, block) in old.into_iter().enumerate().filter(|(k, _)| !gone.contains(k)) {
            numbers.insert(k, blocks.len());
            let block = edits.iter().find(|e| e.header == k).map_or(block, |e| e.state.clone());
            blocks.push(block);
        }
        for (k, block) in blocks.iter_mut().enumerate() {
            if let Json::Object(members) = block {
                members.insert("id".to_owned(), number(k));
            }
        }
    }
    if let Some(Json::Array(edges)) = document.get_mut("edges") {
        let old = std::mem::take(edges);
        for mut edge in old {
            let (Some(src), Some(dst)) = (position(&edge, "src"), position(&edge, "dst")) else { continue };
            let is_inside = |e: &Edit| e.blocks.contains(&src) && e.blocks.contains(&dst);
            if edits.iter().any(is_inside) {
                continue;
            }
            if edits.iter().any(|e| e.header == src && !e.is_region) {
                always(&mut edge);
            }
            if let (Json::Object(members), Some(src), Some(dst)) =
                (&mut edge, numbers.get(&src), numbers.get(&dst))
            {
                members.insert("src".to_owned(), text(src.to_string()));
                members.insert("dst".to_owned(), text(dst.to_string()));
            }
            edges.push(edge);
        }
    }
    let start = document.get("start_block").and_then(|s| match s {
        Json::Number(text) | Json::String(text) => text.parse::<usize>().ok(),
        _ => None,
    });
    if let (Some(new), Json::Object(members)) = (start.and_then(|s| numbers.get(&s)), &mut *document) {
        members.insert("start_block".to_owned(), number(*new));
    }
    let symbols = document.get_mut("attributes").and_then(|a| a.get_mut("symbols"));
    if let Some(Json::Object(symbols)) = symbols {
        for name in edits.iter().flat_map(|e| &e.symbols) {
            symbols.shift_remove(name);
        }
    }
}

/// Takes the condition from an edge.
fn always(edge: &mut Json) {
    let data =
        edge.get_mut("attributes").and_then(|a| a.get_mut("data")).and_then(|d| d.get_mut("attributes"));
    if let Some(Json::Object(attributes)) = data {
        attributes.shift_remove("condition");
    }
}
