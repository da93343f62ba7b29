//! Nodes of a state become a tasklet.

use super::json::{access, edge, memlet, number, position, text};
use super::tasklet::{Extra, Tasklet};
use crate::json::Json;
use crate::model::{Block, Edge, Graph, NodeKind, State};
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// What is done to a state: nodes and edges that go, and what comes.
#[derive(Clone, Debug, Default)]
pub(super) struct Edit {
    nodes: BTreeSet<usize>,
    edges: BTreeSet<usize>,
    new_nodes: Vec<Json>,
    new_edges: Vec<(End, End, Json)>,
}

/// An end of a new edge: a node that is there or a new one, and the connector.
type End = (Result<usize, usize>, Option<String>);

/// Plans how nodes, with all that is in their scopes and what is only between them, become a tasklet.
///
/// # Errors
/// Why they cannot.
pub(super) fn plan(
    graph: &Graph,
    document: &Json,
    at: usize,
    roots: &[usize],
    tasklet: &Tasklet,
) -> Result<Edit, String> {
    let Some(Block::State(state)) = graph.control.blocks.get(at) else {
        return Err("its state is not there".into());
    };
    let document = document.get("nodes").and_then(Json::as_array).and_then(|n| n.get(at));
    let memlets = document.and_then(|s| s.get("edges")).and_then(Json::as_array).unwrap_or_default();
    if memlets.len() != state.edges.len() {
        return Err("its state has edges of other kinds".into());
    }
    let mut edit = Edit { nodes: covered(state, roots), ..Edit::default() };
    let (mut into, mut out) = (Vec::new(), Vec::new());
    for (k, e) in state.edges.iter().enumerate() {
        let ends = (edit.nodes.contains(&e.src), edit.nodes.contains(&e.dst));
        let is_copied = is_copy(state, roots, e);
        if ends == (false, false) && !is_copied {
            continue;
        }
        if !ends.0 {
            into.push(k);
        }
        if !ends.1 {
            out.push(k);
        }
        edit.edges.insert(k);
    }
    if into.is_empty() && out.is_empty() {
        return Err("nothing leads there".into());
    }
    // What is written here is not also needed beforehand.
    let written: BTreeSet<usize> = out.iter().map(|k| state.edges[*k].dst).collect();
    if roots.len() > 1 {
        into.retain(|k| !written.contains(&state.edges[*k].src));
        let sources: BTreeSet<usize> = into.iter().map(|k| state.edges[*k].src).collect();
        if leads_to(state, &edit, &written, &sources) {
            return Err("something else stands between its parts".into());
        }
    }
    let data_of = |at: usize| match &state.nodes[at].kind {
        NodeKind::Access { data } => Ok(data.clone()),
        _ => Err("it is connected with other code directly".to_owned()),
    };
    let (mut inputs, mut outputs) = (BTreeSet::new(), BTreeSet::new());
    let (mut more_in, mut more_out) = (Vec::new(), Vec::new());
    let this = Err(0);
    edit.new_nodes.push(Json::Null);
    let mut seen = BTreeSet::new();
    for k in out {
        let e = &state.edges[k];
        if !seen.insert(e.dst) {
            continue;
        }
        let Some(moved) = &e.memlet else {
            edit.new_edges.push(((this, None), (Ok(e.dst), None), empty()));
            continue;
        };
        let data = data_of(e.dst)?;
        match tasklet.used.get(&data) {
            Some(used) if used.is_written && outputs.insert(data.clone()) => {
                let all = memlet(&data, used.shape.as_deref().unwrap_or_default(), used.shape.is_some());
                edit.new_edges.push(((this, Some(used.output())), (Ok(e.dst), None), all));
            }
            Some(used) if used.shape.is_none() => {
                return Err(format!("`{data}` is written more than once"));
            }
            _ => {
                let extra = extra(graph, &data, format!("__order_out_{}", more_out.len()))?;
                let kept = plain(&memlets[k], &moved.data, &data)?;
                edit.new_edges.push(((this, Some(extra.connector.clone())), (Ok(e.dst), None), kept));
                more_out.push(extra);
            }
        }
    }
    let mut seen = BTreeSet::new();
    for k in into {
        let e = &state.edges[k];
        if !seen.insert(e.src) {
            continue;
        }
        let Some(moved) = &e.memlet else {
            edit.new_edges.push(((Ok(e.src), None), (this, None), empty()));
            continue;
        };
        let data = data_of(e.src)?;
        match tasklet.used.get(&data) {
            Some(used) if inputs.insert(data.clone()) => {
                let all = memlet(&data, used.shape.as_deref().unwrap_or_default(), false);
                edit.new_edges.push(((Ok(e.src), None), (this, Some(used.input())), all));
            }
            _ => {
                let extra = extra(graph, &data, format!("__order_in_{}", more_in.len()))?;
                let kept = plain(&memlets[k], &moved.data, &data)?;
                edit.new_edges.push(((Ok(e.src), None), (this, Some(extra.connector.clone())), kept));
                more_in.push(extra);
            }
        }
    }
    // What others read has to be written somewhere.
    for used in tasklet.used.values().filter(|u| u.is_written && roots.len() > 1) {
        if outputs.insert(used.data.clone()) {
            let all = memlet(&used.data, used.shape.as_deref().unwrap_or_default(), used.shape.is_some());
            let new = edit.new_nodes.len();
            edit.new_nodes.push(access(&used.data));
            edit.new_edges.push(((this, Some(used.output())), (Err(new), None), all));
        }
    }
    for used in tasklet.used.values() {
        let is_known = inputs.contains(&used.data) || outputs.contains(&used.data) && !used.is_read;
        if is_known || (used.shape.is_some() && outputs.contains(&used.data)) {
            continue;
        }
        if used.shape.is_none() && used.is_written && !outputs.contains(&used.data) {
            return Err(format!("`{}` has no place to go", used.data));
        }
        inputs.insert(used.data.clone());
        let all = memlet(&used.data, used.shape.as_deref().unwrap_or_default(), false);
        let new = edit.new_nodes.len();
        edit.new_nodes.push(access(&used.data));
        edit.new_edges.push(((Err(new), None), (this, Some(used.input())), all));
    }
    edit.new_nodes[0] = tasklet.node(&inputs, &outputs, (&more_in, &more_out));
    Ok(edit)
}

/// Whether an edge is one of the copies among the nodes.
fn is_copy(state: &State, roots: &[usize], e: &Edge) -> bool {
    let is_access = |at: usize| matches!(state.nodes[at].kind, NodeKind::Access { .. });
    roots.contains(&e.dst)
        && is_access(e.dst)
        && is_access(e.src)
        && e.dst_connector.as_deref() != Some("views")
        && e.memlet.is_some()
}

/// The nodes with their scopes, and containers that only they use there.
fn covered(state: &State, roots: &[usize]) -> BTreeSet<usize> {
    let is_access = |at: usize| matches!(state.nodes[at].kind, NodeKind::Access { .. });
    let mut found = BTreeSet::new();
    for inner in 0..state.nodes.len() {
        let mut here = Some(inner);
        while let Some(current) = here {
            if roots.contains(&current) && !is_access(current) {
                found.insert(inner);
                break;
            }
            here = state.nodes[current].scope;
        }
    }
    if roots.len() < 2 {
        return found;
    }
    let outer = |at: &usize| is_access(*at) && state.nodes[*at].scope.is_none();
    let mut between: BTreeSet<usize> = (0..state.nodes.len())
        .filter(outer)
        .filter(|at| state.into(*at).next().is_some() && state.out_of(*at).next().is_some())
        .collect();
    loop {
        let is_inside = |other: usize, e: &Edge| {
            let is_view = [&e.src_connector, &e.dst_connector].iter().any(|c| c.as_deref() == Some("views"));
            found.contains(&other) || (between.contains(&other) && (is_view || is_copy(state, roots, e)))
        };
        let is_left = |at: &usize| {
            state.into(*at).all(|e| is_inside(e.src, e)) && state.out_of(*at).all(|e| is_inside(e.dst, e))
        };
        let kept: BTreeSet<usize> = between.iter().copied().filter(is_left).collect();
        if kept.len() == between.len() {
            break;
        }
        between = kept;
    }
    found.extend(between);
    found
}

/// Whether a way outside leads from one of the nodes to one of the others.
fn leads_to(state: &State, edit: &Edit, from: &BTreeSet<usize>, to: &BTreeSet<usize>) -> bool {
    let (mut todo, mut seen): (Vec<usize>, _) = (from.iter().copied().collect(), from.clone());
    while let Some(at) = todo.pop() {
        if to.contains(&at) {
            return true;
        }
        for (_, e) in state.edges.iter().enumerate().filter(|(k, e)| e.src == at && !edit.edges.contains(k)) {
            if seen.insert(e.dst) {
                todo.push(e.dst);
            }
        }
    }
    false
}

fn extra(graph: &Graph, data: &str, connector: String) -> Result<Extra, String> {
    let descriptor = graph.arrays.get(data).ok_or("a container is missing")?;
    if descriptor.kind == "Scalar" {
        return Err(format!("the scalar `{data}` is connected with it, but not used"));
    }
    Ok(Extra { connector, dtype: descriptor.dtype.clone() })
}

/// A memlet of nothing.
fn empty() -> Json {
    super::json::object([("type", text("Memlet")), ("attributes", super::json::object([]))])
}

/// The memlet of an edge without what combines values.
fn plain(edge: &Json, moved: &str, data: &str) -> Result<Json, String> {
    if moved != data {
        return Err(format!("the subset of `{data}` is not known"));
    }
    let mut found =
        edge.get("attributes").and_then(|a| a.get("data")).cloned().ok_or("an edge without data")?;
    if let Some(Json::Object(attributes)) = found.get_mut("attributes") {
        attributes.shift_remove("wcr");
        attributes.shift_remove("other_subset");
    }
    Ok(found)
}

/// Changes a state.
pub(super) fn apply(state: &mut Json, edits: &[Edit]) {
    let gone: BTreeSet<usize> = edits.iter().flat_map(|e| e.nodes.iter().copied()).collect();
    let cut: BTreeSet<usize> = edits.iter().flat_map(|e| e.edges.iter().copied()).collect();
    let mut numbers: IndexMap<usize, usize> = IndexMap::new();
    let mut n_nodes = 0;
    if let Some(Json::Array(nodes)) = state.get_mut("nodes") {
        let old = std::mem::take(nodes);
        for (k, node) in old.into_iter().enumerate() {
            if !gone.contains(&k) {
                numbers.insert(k, nodes.len());
                nodes.push(node);
            }
        }
        n_nodes = nodes.len();
        for (k, node) in nodes.iter_mut().enumerate() {
            if let Json::Object(members) = node {
                members.insert("id".to_owned(), number(k));
                for key in ["scope_entry", "scope_exit"] {
                    let known = members.get(key).and_then(Json::as_str).and_then(|t| t.parse::<usize>().ok());
                    if let Some(new) = known.and_then(|k| numbers.get(&k)) {
                        members.insert(key.to_owned(), text(new.to_string()));
                    }
                }
            }
        }
        for (k, node) in edits.iter().flat_map(|e| &e.new_nodes).enumerate() {
            let mut node = node.clone();
            if let Json::Object(members) = &mut node {
                members.insert("id".to_owned(), number(n_nodes + k));
            }
            nodes.push(node);
        }
    }
    if let Some(Json::Array(edges)) = state.get_mut("edges") {
        let old = std::mem::take(edges);
        for (_, mut edge) in old.into_iter().enumerate().filter(|(k, _)| !cut.contains(k)) {
            for key in ["src", "dst"] {
                let new = position(&edge, key).and_then(|k| numbers.get(&k).copied());
                if let (Json::Object(members), Some(new)) = (&mut edge, new) {
                    members.insert(key.to_owned(), text(new.to_string()));
                }
            }
            edges.push(edge);
        }
        let mut first = n_nodes;
        for edit in edits {
            let at = |end: &End| match end.0 {
                Ok(old) => numbers.get(&old).copied().unwrap_or(0),
                Err(new) => first + new,
            };
            for (src, dst, moved) in &edit.new_edges {
                let (from, to) = ((at(src), src.1.as_deref()), (at(dst), dst.1.as_deref()));
                edges.push(edge(from, to, moved.clone()));
            }
            first += edit.new_nodes.len();
        }
    }
    renumber_scopes(state, &numbers, n_nodes, edits.iter().map(|e| e.new_nodes.len()).sum());
}

/// Counts anew which nodes are in which scope.
fn renumber_scopes(state: &mut Json, numbers: &IndexMap<usize, usize>, n_old: usize, n_new: usize) {
    let Some(Json::Object(scopes)) = state.get_mut("scope_dict") else { return };
    let old = std::mem::take(scopes);
    for (key, value) in old {
        let new_key = match key.parse::<usize>() {
            Err(_) => Some(key.clone()),
            Ok(at) => numbers.get(&at).map(ToString::to_string),
        };
        let (Some(new_key), Json::Array(members)) = (new_key, value) else { continue };
        let parsed = members.iter().filter_map(|m| match m {
            Json::Number(text) | Json::String(text) => text.parse::<usize>().ok(),
            _ => None,
        });
        let mut kept: Vec<Json> = parsed.filter_map(|m| numbers.get(&m)).map(|m| number(*m)).collect();
        if key == "-1" {
            kept.extend((n_old..n_old + n_new).map(number));
        }
        scopes.insert(new_key, Json::Array(kept));
    }
}
