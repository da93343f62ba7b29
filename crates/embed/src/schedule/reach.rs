//! Footprints of parts of a scheduled nest, by boxes of indices, in whole cache lines or pages.

use super::tree::{AccessNode, StmtNode, Tree};
use oxeye_ir::ArrayId;

/// Memory touched in one array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    pub(super) array: ArrayId,
    /// Bytes in whole lines.
    pub(super) bytes: f64,
    /// Whether some of it is written.
    pub(super) is_written: bool,
    /// Whether some of it is read, or written in part only.
    pub(super) is_read: bool,
}

/// A box of indices of one array.
struct IndexBox<'t> {
    access: &'t AccessNode<'t>,
    /// First and last index in each dimension.
    ranges: Vec<(f64, f64)>,
    /// No more elements than this.
    points: f64,
    /// Share of iterations that have this box: below 1 under guards.
    presence: f64,
    is_written: bool,
    is_read: bool,
}

/// Bytes of the memory that one access touches during the nest.
pub(super) fn region(tree: &Tree<'_>, stmt: &StmtNode<'_>, access: &AccessNode<'_>, line: f64) -> f64 {
    IndexBox::new(tree, stmt, access, 0, 1.0).bytes(line)
}

/// What the statements in `stmts` touch of each array while the loops from depth `from` inward run once; `entries` is
/// how often that happens. Memory is counted in pieces of `line` bytes. Accesses for which `is_counted` is false are
/// left out.
pub(super) fn reach<'t>(
    tree: &'t Tree<'_>,
    stmts: &[usize],
    from: usize,
    entries: f64,
    line: f64,
    is_counted: fn(&AccessNode<'_>) -> bool,
) -> Vec<Reach> {
    let mut boxes: Vec<IndexBox<'t>> = Vec::new();
    for &stmt_idx in stmts {
        let stmt = &tree.stmts[stmt_idx];
        for access in stmt.accesses.iter().filter(|access| is_counted(access)) {
            let found = IndexBox::new(tree, stmt, access, from, entries);
            // Boxes that overlap count once.
            match boxes
                .iter_mut()
                .find(|other| other.access.array() == access.array() && other.absorbs(&found, line))
            {
                Some(other) => other.absorb(found),
                None => boxes.push(found),
            }
        }
    }
    let mut arrays: Vec<Reach> = Vec::new();
    for found in boxes {
        let array = found.access.array();
        let bytes = found.bytes(line) * found.presence;
        match arrays.iter_mut().find(|other| other.array == array) {
            Some(other) => {
                other.bytes += bytes;
                other.is_written |= found.is_written;
                other.is_read |= found.is_read;
            }
            None => arrays.push(Reach { array, bytes, is_written: found.is_written, is_read: found.is_read }),
        }
        if let (Some(last), Some(whole)) =
            (arrays.iter_mut().find(|r| r.array == array), found.access.whole())
        {
            last.bytes = last.bytes.min(lines(whole, line));
        }
    }
    arrays
}

impl<'t> IndexBox<'t> {
    fn new(
        tree: &Tree<'_>,
        stmt: &StmtNode<'_>,
        access: &'t AccessNode<'t>,
        from: usize,
        entries: f64,
    ) -> Self {
        let inside: Vec<f64> =
            stmt.path[from..].iter().map(|loop_idx| tree.loops[*loop_idx].trips()).collect();
        let all: f64 = inside.iter().product();
        let runs = if entries > 0.0 { stmt.runs / entries } else { 0.0 };
        let moved = (from..stmt.path.len()).zip(&inside).filter(|(depth, _)| access.is_moved(*depth));
        let points: f64 = moved.map(|(_, trips)| trips.max(1.0)).product();
        let range = |dim: usize| {
            let extent = access.extents.get(dim).copied().flatten();
            let mut length = Some(0.0);
            for (depth, trips) in (from..stmt.path.len()).zip(&inside) {
                let step = access.steps[depth].get(dim).copied().flatten();
                length = length.zip(step).map(|(length, step)| length + step.abs() * (trips - 1.0).max(0.0));
            }
            let length = match (length, extent) {
                (Some(length), Some(extent)) => length.min(extent - 1.0),
                (Some(length), None) => length,
                (None, Some(extent)) => extent - 1.0,
                (None, None) => points - 1.0,
            };
            let middle = access.middle[dim].unwrap_or(length / 2.0);
            (middle - length / 2.0, middle + length / 2.0)
        };
        Self {
            access,
            ranges: (0..access.access.indices.len()).map(range).collect(),
            points,
            presence: if all > 0.0 { (runs / all).min(1.0) } else { 0.0 },
            is_written: access.is_write,
            is_read: !access.is_write,
        }
    }

    /// Bytes in whole lines of a row-major array, present or not.
    fn bytes(&self, line: f64) -> f64 {
        let (mut row, mut rows, mut is_whole) = (self.access.element_bytes, 1.0, true);
        for (dim, (first, last)) in self.ranges.iter().enumerate().rev() {
            let length = last - first + 1.0;
            // Rows that are touched as a whole follow each other without a gap.
            if is_whole {
                row *= length;
                is_whole = self.access.extents.get(dim).copied().flatten().is_some_and(|e| length >= e);
            } else {
                rows *= length;
            }
        }
        (rows * lines(row, line)).min(self.points * line)
    }

    fn hull(&self, other: &Self) -> Self {
        let ranges =
            self.ranges.iter().zip(&other.ranges).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).collect();
        Self {
            access: self.access,
            ranges,
            points: self.points + other.points,
            presence: self.presence.max(other.presence),
            is_written: self.is_written || other.is_written,
            is_read: self.is_read || other.is_read,
        }
    }

    /// Whether the box around both is no larger than the two.
    fn absorbs(&self, other: &Self, line: f64) -> bool {
        self.hull(other).bytes(line) <= self.bytes(line) + other.bytes(line)
    }

    fn absorb(&mut self, other: Self) {
        // Two sides of a guard make one whole.
        let presence = match self.ranges == other.ranges {
            true => (self.presence + other.presence).min(1.0),
            false => self.presence.max(other.presence),
        };
        *self = Self { presence, ..self.hull(&other) };
    }
}

impl AccessNode<'_> {
    /// Bytes of the array.
    fn whole(&self) -> Option<f64> {
        let elements: Option<f64> = self.extents.iter().copied().product();
        elements.map(|elements| elements * self.element_bytes)
    }
}

/// Rounded up to whole lines.
fn lines(bytes: f64, line: f64) -> f64 {
    (bytes / line).ceil() * line
}
