//! Puts tuned nests into the document: each becomes a tasklet of C++ in the place of the nodes or states that it covers.
//!
//! What is not replaced keeps everything, known or not; only positions in lists are counted anew. `tasklet` and
//! `cpp` make the text, `state` replaces nodes of a state, `control` replaces the states of a loop, and `inside` finds the
//! way into programs inside of the program.

mod control;
mod cpp;
mod inside;
mod json;
mod state;
mod tasklet;

use crate::document::Sdfg;
use crate::error::SdfgError;
use crate::lower::{Place, Unit, Way};
use crate::to_c::{CProgram, Changed};
use indexmap::IndexMap;
use oxeye_codegen::prelude;
use oxeye_ir::NestId;
use std::collections::{BTreeMap, BTreeSet};
use tasklet::Tasklet;

/// A document with tuned nests.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// The document.
    pub sdfg: Sdfg,
    /// The nests that were replaced.
    pub nests: BTreeSet<NestId>,
    /// Why others were not.
    pub refused: IndexMap<NestId, String>,
}

/// Replaces the nests of a document that have changed, as far as they are among `wanted`.
///
/// # Errors
/// If the document is damaged.
pub fn replace_nests(
    sdfg: &Sdfg,
    unit: &Unit,
    program: &CProgram,
    changed: &Changed,
    wanted: &BTreeSet<NestId>,
) -> Result<Replaced, SdfgError> {
    let graph = sdfg.graph()?;
    let mut refused = IndexMap::new();
    let mut edits: BTreeMap<Way, inside::Edits> = BTreeMap::new();
    let mut nests = BTreeSet::new();
    for (id, text) in changed.nests.iter().filter(|(id, _)| wanted.contains(*id)) {
        let group = program.group(*id);
        let places: Option<Vec<&Place>> = group.iter().map(|member| unit.places.get(member)).collect();
        let made = places.ok_or("it has no place".to_owned()).and_then(|places| {
            let way = places.first().map(|place| place.graph.clone()).unwrap_or_default();
            let level = inside::Level::at(&graph, sdfg.document(), unit, &way)?;
            let tasklet = Tasklet::new(level.graph, level.containers, unit, program, *id, text)?;
            let symbols = level.symbols(&graph, unit, &tasklet)?;
            Ok((way, symbols, plan(&level, unit, *id, &places, &tasklet)?))
        });
        match made {
            Ok((way, symbols, plan)) => {
                for (way, name, ty) in symbols {
                    edits.entry(way).or_default().symbols.insert(name, ty);
                }
                let edits = edits.entry(way).or_default();
                match plan {
                    Plan::Nodes(state, edit) => edits.in_states.entry(state).or_default().push(edit),
                    Plan::Blocks(edit) => edits.in_control.push(edit),
                }
            }
            Err(reason) => {
                refused.insert(*id, reason);
                continue;
            }
        }
        nests.insert(*id);
    }
    let mut result = sdfg.clone();
    let document = result.document_mut();
    // Those further inside first: positions on the way to them stay.
    let mut ways: Vec<&Way> = edits.keys().collect();
    ways.sort_by_key(|way| std::cmp::Reverse(way.len()));
    for way in ways {
        edits[way].apply(document, way);
    }
    if !nests.is_empty() {
        // Macros that the texts use may be those of the untuned file.
        let texts = nests.iter().filter_map(|id| changed.nests.get(id)).map(String::as_str);
        let macros = prelude(&texts.collect::<Vec<_>>());
        let global = cpp::cpp(&format!("{macros}{}", changed.global));
        json::add_global(document, &format!("{}{global}", cpp::ANY));
    }
    result.graph()?;
    Ok(Replaced { sdfg: result, nests, refused })
}

/// How a nest is replaced.
enum Plan {
    /// Nodes of a state.
    Nodes(usize, state::Edit),
    /// States of a loop.
    Blocks(control::Edit),
}

fn plan(
    level: &inside::Level<'_>,
    unit: &Unit,
    id: NestId,
    places: &[&Place],
    tasklet: &Tasklet,
) -> Result<Plan, String> {
    let (graph, document) = (level.graph, level.document);
    let Some(place) = places.first() else { return Err("it has no place".into()) };
    if places.iter().any(|other| other.graph != place.graph) {
        return Err("it is in several programs".into());
    }
    match (place.blocks.as_slice(), place.nodes.as_slice()) {
        ([state], [_]) => match state.as_slice() {
            [at] => {
                if places.iter().any(|p| p.blocks != place.blocks || p.nodes.len() != 1) {
                    return Err("it is in several states".into());
                }
                let nodes: Vec<usize> = places.iter().flat_map(|p| p.nodes.iter().copied()).collect();
                Ok(Plan::Nodes(*at, state::plan(graph, document, *at, &nodes, tasklet)?))
            }
            _ => Err("it is in a region of control".into()),
        },
        (blocks, []) if !blocks.is_empty() => {
            let assigned = unit.assigned.get(&id);
            Ok(Plan::Blocks(control::plan(graph, document, blocks, assigned, tasklet)?))
        }
        _ => Err("it has several nodes".into()),
    }
}
