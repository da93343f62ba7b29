//! Finds statements that could be packed contractions, and their block sizes.

use crate::schedule::packed_contraction::Blocks;
use crate::schedule::{Schedule, Statement};
use crate::steps::iterations;
use crate::templates::machine::Machine;
use crate::templates::template::{BlockShape, Cache, Registers, Share};
use oxeye_ir::{Affine, Expr, LoopId, Stmt, Storage, Update};

/// A statement that could be a packed contraction.
pub(crate) struct Product {
    pub(crate) stmt: usize,
    /// A loop each over rows, columns and depth, among its own.
    pub(crate) three: [LoopId; 3],
    /// All loops that could be over rows, over columns and over depth, outermost first, if they are more than three.
    pub(crate) many: Option<[Vec<LoopId>; 3]>,
    /// Whether it is summed up in a variable of the nest.
    pub(crate) is_aside: bool,
}

impl Product {
    /// The loops over rows, columns and depth: three, or all.
    pub(crate) fn loops(&self, all: bool) -> [Vec<LoopId>; 3] {
        let many = self.many.clone().filter(|_| all);
        many.unwrap_or_else(|| self.three.map(|id| vec![id]))
    }
}

/// Statements that could be packed contractions.
pub(crate) fn products(schedule: &Schedule) -> Vec<Product> {
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
            let many = many(schedule, statement, stmt, &path, column);
            let storage = schedule.program.array(stmt.target.array).storage;
            let is_aside = matches!(storage, Storage::Body(_) | Storage::Temp(_));
            found.push(Product { stmt: s, three: [row, column, depth], many, is_aside });
        }
    }
    found
}

/// The loops over rows, columns and depth as the operands use them: those that use `column` have the other columns, the
/// rest has the rows. Loops that both use stay around the contraction.
fn many(
    schedule: &Schedule,
    statement: &Statement,
    stmt: &Stmt,
    path: &[LoopId],
    column: LoopId,
) -> Option<[Vec<LoopId>; 3]> {
    let target: Vec<Affine> =
        stmt.target.affine_indices()?.into_iter().map(|index| statement.mapped(index)).collect();
    let (mut by_columns, mut by_rows, mut used) = (Vec::new(), Vec::new(), Vec::new());
    for read in stmt.value.reads() {
        let mut loops: Vec<LoopId> = Vec::new();
        for index in &read.indices {
            index.visit(&mut |e| {
                if let Expr::Affine(a) = e {
                    loops.extend(statement.mapped(a).loops());
                }
            });
        }
        let own: Vec<LoopId> = path.iter().copied().filter(|id| loops.contains(id)).collect();
        used.extend(own.iter().copied());
        if own.contains(&column) { by_columns.extend(own) } else { by_rows.extend(own) }
    }
    let in_target = |id: &LoopId| target.iter().any(|index| index.uses(*id));
    let only = |these: &[LoopId], others: &[LoopId]| -> Vec<LoopId> {
        let is_only = |id: &LoopId| in_target(id) && these.contains(id) && !others.contains(id);
        path.iter().copied().filter(is_only).collect()
    };
    let is_free = |id: &LoopId| {
        let joins = |other: &LoopId| statement.domain.iter().any(|c| c.expr.uses(*id) && c.expr.uses(*other));
        !path.iter().any(|other| other != id && joins(other))
    };
    let known = |id: &LoopId| iterations(schedule, *id);
    let mut depth: Vec<LoopId> =
        path.iter().copied().filter(|id| !in_target(id) && used.contains(id) && is_free(id)).collect();
    // Blocks are cut from the first loop, and have all iterations of the others if these are few.
    let length = |id: &LoopId| known(id).unwrap_or(i64::MAX);
    if depth.iter().skip(1).map(length).fold(1, i64::saturating_mul) > MOST_INNER
        && let Some(longest) = (0..depth.len()).rev().max_by_key(|k| length(&depth[*k]))
    {
        depth[..=longest].rotate_right(1);
    }
    let last_two = |mut loops: Vec<LoopId>, is_tiled: &dyn Fn(&LoopId) -> bool| {
        let last = loops.iter().rposition(is_tiled)?;
        let last = loops.remove(last);
        let outer = loops.into_iter().rev().find(is_free);
        Some(outer.filter(|_| is_free(&last)).into_iter().chain([last]).collect::<Vec<_>>())
    };
    let rows = last_two(only(&by_rows, &by_columns), &|_| true)?;
    let columns = last_two(only(&by_columns, &by_rows), &|id| *id == column)?;
    let is_free = [&rows, &columns, &depth].into_iter().flatten().all(is_free);
    (is_free && !depth.is_empty() && rows.len() + columns.len() + depth.len() > 3)
        .then_some([rows, columns, depth])
}

/// Most iterations of loops inside another of their kind that are all in one block.
const MOST_INNER: i64 = 256;

/// How many iterations the loops over rows, columns and depth have, where that is known.
pub(crate) struct Extents([Vec<Option<i64>>; 3]);

impl Extents {
    pub(crate) fn of(schedule: &Schedule, loops: &[Vec<LoopId>; 3]) -> Self {
        Self(loops.each_ref().map(|loops| loops.iter().map(|id| iterations(schedule, *id)).collect()))
    }

    /// All iterations of a kind, those of its last loop filled up to a multiple of `unit`.
    fn total(&self, kind: usize, unit: i64) -> Option<i64> {
        let (last, outer) = self.0[kind].split_last()?;
        let last = up((*last)?, unit);
        outer.iter().try_fold(last, |n, extent| n.checked_mul((*extent)?))
    }

    fn last(&self, kind: usize) -> Option<i64> {
        self.0[kind].last().copied().flatten()
    }
}

const ROWS: usize = 0;
const COLUMNS: usize = 1;

fn up(n: i64, unit: i64) -> i64 {
    (n + unit - 1) / unit * unit
}

/// Block sizes on a machine, for elements of the given size in bytes.
pub(crate) fn blocks(shape: &BlockShape, machine: &Machine, element: u64, extents: &Extents) -> Blocks {
    let lanes = (u64::from(machine.vector_bytes) / element).max(2) as i64;
    let usual = if machine.vector_bytes >= 64 {
        Registers { rows: 6, vectors: 4 }
    } else {
        Registers { rows: 4, vectors: 3 }
    };
    let registers = shape.registers.unwrap_or_else(|| fitting(usual, lanes, extents));
    let mr = i64::from(registers.rows);
    let nr = lanes * i64::from(registers.vectors);
    let fit = |share: Share, row: i64| (share.bytes(machine) / element) as i64 / row.max(1);
    let most = |limit: u16, unit: i64| (i64::from(limit) * unit).max(unit);
    let deepest = most(shape.depth.most, 1);
    let kc = (fit(shape.depth.share, nr) / DEPTH_UNIT * DEPTH_UNIT).clamp(LEAST_DEPTH.min(deepest), deepest);
    let mc = (fit(shape.rows.share, kc) / mr.max(1) * mr).clamp(mr, most(shape.rows.most, mr));
    let nc = (fit(shape.columns.share, kc) / nr.max(1) * nr).clamp(nr, most(shape.columns.most, nr));
    let blocks = Blocks { mr, nr, lanes: lanes as u32, mc, nc, kc, rows_first: false };
    let inside = fit(shape.rows.share, kc) / nr * nr;
    let Some(n_rows) = extents.total(ROWS, mr) else {
        // Windows and tensors have fewer rows than columns, as a rule.
        let is_plain = extents.0.iter().all(|loops| loops.len() == 1);
        return if is_plain { blocks } else { Blocks { nc: inside.max(nr), rows_first: true, ..blocks } };
    };
    let n_columns = extents.total(COLUMNS, nr);
    let threads = i64::from(machine.threads).max(1);
    // Where there is another loop around it, all of the last one is in each block, if that is not long.
    let least = |kind: usize, unit: i64| match &extents.0[kind][..] {
        [_, .., Some(last)] if *last <= MOST_INNER => up(*last, unit),
        _ => unit,
    };
    // Few rows are packed once, before the blocks of columns that threads share.
    let few = fit(Share { cache: Cache::L2, divisor: 4 }, kc);
    if n_rows <= few && n_columns.is_none_or(|n| n / 4 >= n_rows) {
        let shared = n_columns.map_or(inside, |n| up(n / (2 * threads), nr));
        let nc = inside.min(shared).max(least(COLUMNS, nr));
        return Blocks { mc: n_rows.max(mr), nc, rows_first: true, ..blocks };
    }
    let mc = mc.min(up(n_rows / threads, mr)).max(least(ROWS, mr));
    Blocks { mc, nc: nc.max(least(COLUMNS, nr)), ..blocks }
}

/// The register tile with which known numbers of rows and columns take the fewest cycles: two sums of vectors a cycle, and one to
/// load what is summed up.
fn fitting(usual: Registers, lanes: i64, extents: &Extents) -> Registers {
    let n_registers = usual.rows * usual.vectors;
    let Some(n_columns) = extents.last(COLUMNS) else { return usual };
    let shapes = (1..=usual.vectors).rev().flat_map(|vectors| {
        let most = (n_registers / vectors).min(MOST_ROWS);
        let least = if extents.last(ROWS).is_some() { most.div_ceil(2) } else { most };
        (least..=most).rev().map(move |rows| Registers { rows, vectors })
    });
    let cost = |r: &Registers| {
        let (rows, vectors) = (i64::from(r.rows), i64::from(r.vectors));
        let n_tiles = |n: i64, size: i64| (n + size - 1) / size;
        // Of an unknown number of rows, a share.
        let n_rows = extents.last(ROWS).map_or(i64::from(MANY_ROWS) * 2 / rows, |n| 2 * n_tiles(n, rows));
        let n_all = n_rows.saturating_mul(n_tiles(n_columns, vectors * lanes));
        n_all.saturating_mul(rows * vectors + 2)
    };
    shapes.min_by_key(cost).unwrap_or(usual)
}

/// Most rows of a register tile that is chosen here.
const MOST_ROWS: u8 = 12;
/// A number of rows that is long, where it is not known.
const MANY_ROWS: u16 = 27720;
/// Depths chosen by a cache size are multiples of this.
const DEPTH_UNIT: i64 = 32;
/// Smaller depths do not pay for loading and storing the register tile.
const LEAST_DEPTH: i64 = 64;
