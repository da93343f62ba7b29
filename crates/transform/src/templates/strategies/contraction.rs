//! Finds statements that could be packed contractions, and their block sizes.

use crate::schedule::Schedule;
use crate::schedule::packed_contraction::Blocks;
use crate::templates::machine::Machine;
use crate::templates::template::{BlockShape, Registers, Share};
use oxeye_ir::{Affine, LoopId, Update};

/// Statements that could be packed contractions: row, column and depth loops among their own.
pub(crate) fn products(schedule: &Schedule) -> Vec<(usize, [LoopId; 3])> {
    let mut found = Vec::new();
    for (s, (statement, path)) in schedule.statements.iter().zip(schedule.paths()).enumerate() {
        let Some(stmt) = statement.assignment() else { continue };
        if path.len() < 3 || !matches!(stmt.update, Update::Add | Update::Sub) {
            continue;
        }
        let Some(indices) = stmt.target.affine_indices() else { continue };
        let target: Vec<Affine> = indices.into_iter().map(|a| statement.mapped(a)).collect();
        let Some((last, others)) = target.split_last() else { continue };
        let column =
            path.iter().copied().find(|l| last.coefficient(*l) == 1 && !others.iter().any(|o| o.uses(*l)));
        let depth = path.iter().rev().copied().find(|l| !target.iter().any(|t| t.uses(*l)));
        let row =
            path.iter().rev().copied().find(|l| Some(*l) != column && target.iter().any(|t| t.uses(*l)));
        if let (Some(row), Some(column), Some(depth)) = (row, column, depth) {
            found.push((s, [row, column, depth]));
        }
    }
    found
}

/// Block sizes on a machine, for elements of the given size in bytes.
pub(crate) fn blocks(shape: &BlockShape, machine: &Machine, element: u64) -> Blocks {
    let lanes = (u64::from(machine.vector_bytes) / element).max(2) as i64;
    let usual = if machine.vector_bytes >= 64 {
        Registers { rows: 6, vectors: 4 }
    } else {
        Registers { rows: 4, vectors: 3 }
    };
    let registers = shape.registers.unwrap_or(usual);
    let mr = i64::from(registers.rows);
    let nr = lanes * i64::from(registers.vectors);
    let fit = |share: Share, row: i64| (share.bytes(machine) / element) as i64 / row.max(1);
    let most = |limit: u16, unit: i64| (i64::from(limit) * unit).max(unit);
    let deepest = most(shape.depth.most, 1);
    let kc = (fit(shape.depth.share, nr) / DEPTH_UNIT * DEPTH_UNIT).clamp(LEAST_DEPTH.min(deepest), deepest);
    let mc = (fit(shape.rows.share, kc) / mr.max(1) * mr).clamp(mr, most(shape.rows.most, mr));
    let nc = (fit(shape.columns.share, kc) / nr.max(1) * nr).clamp(nr, most(shape.columns.most, nr));
    Blocks { mr, nr, lanes: lanes as u32, mc, nc, kc }
}

/// Depths chosen by a cache size are multiples of this.
const DEPTH_UNIT: i64 = 32;
/// Smaller depths do not pay for loading and storing the register tile.
const LEAST_DEPTH: i64 = 64;
