//! Converts pieces to regions of the program, with the final ids of arrays.

use super::{Piece, Regions};
use crate::ast::VarId;
use oxeye_ir::{ArrayId, ControlLoop, DataflowGraph, NestId, Opaque, Region};
use std::collections::BTreeSet;

impl Regions<'_> {
    pub(super) fn sequence(&self, pieces: Vec<Piece>) -> Region {
        let mut regions: Vec<Region> = Vec::new();
        let mut nests: Vec<NestId> = Vec::new();
        let flush = |nests: &mut Vec<NestId>, regions: &mut Vec<Region>| {
            if !nests.is_empty() {
                regions.push(Region::Dataflow(DataflowGraph::build(&self.state.program, nests)));
                nests.clear();
            }
        };
        for piece in pieces {
            if let Piece::Nest(id) = piece {
                nests.push(id);
                continue;
            }
            let region = self.region(piece);
            if let Some(region) = region {
                flush(&mut nests, &mut regions);
                regions.push(region);
            }
        }
        flush(&mut nests, &mut regions);
        if regions.len() == 1 { regions.remove(0) } else { Region::Sequence(regions) }
    }

    pub(super) fn region(&self, piece: Piece) -> Option<Region> {
        let arrays = |vars: &BTreeSet<VarId>| -> Vec<ArrayId> {
            let mut ids: Vec<_> = vars.iter().filter_map(|v| self.state.arrays.get(v)).copied().collect();
            ids.sort_unstable();
            ids
        };
        Some(match piece {
            Piece::Nest(_) => return None,
            Piece::Loop { var, range, body } => Region::Loop(ControlLoop {
                iterator: var.and_then(|v| self.state.symbols.get(&v)).copied(),
                range,
                body: Box::new(self.sequence(body)),
            }),
            Piece::Branch { condition, then, otherwise } => Region::Branch {
                condition,
                then: Box::new(self.sequence(then)),
                otherwise: Box::new(self.sequence(otherwise)),
            },
            Piece::Turn(pointers) => {
                let known: Vec<ArrayId> =
                    pointers.iter().filter_map(|v| self.state.arrays.get(v)).copied().collect();
                if known.len() == pointers.len() {
                    let swaps = known.windows(2).map(|pair| Region::Swap(pair[0], pair[1]));
                    let mut swaps: Vec<Region> = swaps.collect();
                    return if swaps.len() == 1 { swaps.pop() } else { Some(Region::Sequence(swaps)) };
                }
                if known.is_empty() {
                    return None;
                }
                let (reads, writes) = (Some(known.clone()), Some(known));
                Region::Opaque(Opaque { reason: "pointers change places".into(), reads, writes })
            }
            Piece::Opaque { reason, touched } => {
                let (reads, writes) = match touched {
                    Some(t) => (Some(arrays(&t.reads)), Some(arrays(&t.writes))),
                    None => (None, None),
                };
                let is_nothing = |list: &Option<Vec<ArrayId>>| list.as_ref().is_some_and(Vec::is_empty);
                if is_nothing(&reads) && is_nothing(&writes) {
                    return None;
                }
                Region::Opaque(Opaque { reason, reads, writes })
            }
        })
    }
}
