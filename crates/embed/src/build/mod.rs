//! From a nest to its graph.

mod accesses;
mod canonical;
mod carried;
mod draft;
mod facts;
mod loops;
mod reach;
mod stmts;

use crate::error::EmbedError;
use crate::graph::NestGraph;
use crate::schema::FEATURE_SCHEMA;
use crate::vectors::HostVector;
use carried::Carried;
use draft::Draft;
use facts::Facts;
use oxeye_ir::{Nest, Program, SymId};
use reach::Reach;

/// The graph of `nest` for values of the symbols and a machine. The nest uses the declarations of `program`; a
/// transformed nest need not be part of it yet. Features that need a symbol without a value are unknown.
///
/// The result depends neither on names nor on ids, nor on an order of statements that dependences leave open. Nothing
/// is normalised here: normalise nests first if equal computations should have equal graphs.
///
/// # Errors
/// [`EmbedError::UnknownArray`] if the nest uses an array that the program does not declare, [`EmbedError::EmptyNest`] if
/// it has no statement, and [`EmbedError::TooLarge`] if it has thousands of dependences.
pub fn graph(
    program: &Program,
    nest: &Nest,
    value_of: &dyn Fn(SymId) -> Option<i64>,
    host: &HostVector,
) -> Result<NestGraph, EmbedError> {
    if let Some(array) = nest.arrays().into_iter().find(|array| !program.arrays.contains_key(array)) {
        return Err(EmbedError::UnknownArray { nest: nest.id, array });
    }
    let facts = Facts::new(program, nest, value_of, host);
    if facts.stmts.is_empty() {
        return Err(EmbedError::EmptyNest(nest.id));
    }
    let reach = Reach::new(&facts);
    let carried = Carried::new(&facts).ok_or(EmbedError::TooLarge(nest.id))?;
    let mut draft = Draft::default();
    loops::add(&facts, &reach, &carried, &mut draft);
    stmts::add(&facts, &mut draft);
    accesses::add(&facts, &reach, &mut draft);
    carried.add_edges(&facts, &mut draft);
    let (nodes, edges) = canonical::ordered(draft.nodes, draft.edges);
    Ok(NestGraph { schema: FEATURE_SCHEMA.to_owned(), nodes, edges, host: host.features(), profile: None })
}
