//! Programs inside of the program, and what is done to each.

use super::tasklet::Tasklet;
use super::{control, state};
use crate::json::Json;
use crate::lower::{Unit, Way};
use crate::model::{Block, Graph, NodeKind};
use indexmap::IndexMap;
use oxeye_ir::ArrayId;
use std::collections::BTreeSet;

/// A program, perhaps inside of others.
pub(super) struct Level<'a> {
    pub(super) graph: &'a Graph,
    pub(super) document: &'a Json,
    /// Its containers that arrays are.
    pub(super) containers: &'a IndexMap<ArrayId, String>,
    way: Way,
    /// The programs on the way with what they call the symbols around them, from outside to inside.
    entered: Vec<(&'a Graph, &'a [(String, String)])>,
}

/// A symbol that a program on the way has to be given: the way to it, name and type.
type Needed = (Way, String, String);

impl<'a> Level<'a> {
    /// The program at the end of a way.
    ///
    /// # Errors
    /// If nothing is replaced there.
    pub(super) fn at(
        graph: &'a Graph,
        document: &'a Json,
        unit: &'a Unit,
        way: &Way,
    ) -> Result<Self, String> {
        let unknown = || "it is in a program that is not found".to_owned();
        let containers = if way.is_empty() { Some(&unit.containers) } else { unit.inner.get(way) };
        let containers = containers.ok_or_else(unknown)?;
        let (mut graph, mut document, mut entered) = (graph, document, Vec::new());
        for (state, node) in way {
            let [state] = state.as_slice() else { return Err("it is in a region of control".into()) };
            let Some(Block::State(inner)) = graph.control.blocks.get(*state) else { return Err(unknown()) };
            let Some(NodeKind::Nested { graph: inner, symbols }) = inner.nodes.get(*node).map(|n| &n.kind)
            else {
                return Err(unknown());
            };
            let item = |value: &'a Json, at: usize| value.get("nodes")?.as_array()?.get(at);
            let found = item(document, *state).and_then(|s| item(s, *node));
            let found = found.and_then(|n| n.get("attributes")?.get("sdfg"));
            (graph, document) = (inner, found.ok_or_else(unknown)?);
            entered.push((graph, symbols.as_slice()));
        }
        Ok(Self { graph, document, containers, way: way.clone(), entered })
    }

    /// Symbols that a text needs and that are not known here yet.
    ///
    /// # Errors
    /// If a name means something else here than in the text.
    pub(super) fn symbols(
        &self,
        root: &Graph,
        unit: &Unit,
        tasklet: &Tasklet,
    ) -> Result<Vec<Needed>, String> {
        if self.way.is_empty() {
            return Ok(Vec::new());
        }
        let words = tasklet.words();
        let names: BTreeSet<&str> = unit
            .program
            .symbols
            .values()
            .flat_map(|symbol| symbol.name.split(|c: char| !(c.is_alphanumeric() || c == '_')))
            .filter(|name| words.contains(name) && name.starts_with(|c: char| !c.is_ascii_digit()))
            .collect();
        let mut needed = Vec::new();
        for name in names {
            let other = || format!("`{name}` means something else there");
            let ty = root.symbols.get(name).ok_or_else(other)?;
            for (depth, (graph, given)) in self.entered.iter().enumerate() {
                match given.iter().find(|(inner, _)| inner == name) {
                    Some((_, outer)) if outer.trim() == name => {}
                    None if !graph.symbols.contains_key(name) && !graph.arrays.contains_key(name) => {
                        needed.push((self.way[..=depth].to_vec(), name.to_owned(), ty.clone()));
                    }
                    _ => return Err(other()),
                }
            }
        }
        Ok(needed)
    }
}

/// What is done to a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Edits {
    pub(super) in_states: IndexMap<usize, Vec<state::Edit>>,
    pub(super) in_control: Vec<control::Edit>,
    /// Symbols that it is given besides, with their types.
    pub(super) symbols: IndexMap<String, String>,
}

impl Edits {
    /// Changes the program at the end of a way through the document.
    pub(super) fn apply(&self, document: &mut Json, way: &Way) {
        let mut place = document;
        for (depth, (state, node)) in way.iter().enumerate() {
            let state = state.first().copied().unwrap_or(0);
            let Some(found) = item(place, state).and_then(|s| item(s, *node)) else { return };
            let Some(attributes) = found.get_mut("attributes") else { return };
            if depth + 1 == way.len() {
                add(attributes, "symbol_mapping", self.symbols.keys().map(|name| (name, name)));
            }
            let Some(inner) = attributes.get_mut("sdfg") else { return };
            place = inner;
        }
        if let Some(attributes) = place.get_mut("attributes") {
            add(attributes, "symbols", self.symbols.iter());
        }
        for (at, edits) in &self.in_states {
            if let Some(block) = item(place, *at) {
                state::apply(block, edits);
            }
        }
        control::apply(place, &self.in_control);
    }
}

fn item(value: &mut Json, at: usize) -> Option<&mut Json> {
    match value.get_mut("nodes")? {
        Json::Array(items) => items.get_mut(at),
        _ => None,
    }
}

/// Adds members to an object in an object, which is made if there is none.
fn add<'n>(attributes: &mut Json, key: &str, members: impl Iterator<Item = (&'n String, &'n String)>) {
    let Json::Object(attributes) = attributes else { return };
    for (name, value) in members {
        let object = attributes.entry(key.to_owned()).or_insert_with(|| Json::Object(IndexMap::new()));
        if let Json::Object(object) = object {
            object.insert(name.clone(), Json::String(value.clone()));
        }
    }
}
