//! Footprints of parts of a nest, by boxes around the accesses.
//!
//! Unlike [`oxeye_analysis::footprints`] this is an estimate, but a fast one for every loop and access, and in cache
//! lines: an array walked by columns occupies a line for each element.

use super::facts::{AccessFacts, Facts, LINE_BYTES, StmtFacts};
use indexmap::IndexMap;
use oxeye_ir::{Access, Affine, ArrayId, Expr};

/// Modelled footprints in bytes; `None` where sizes are unknown.
pub(super) struct Reach {
    /// For each loop, what all its iterations touch.
    pub(super) loops: Vec<Option<f64>>,
    /// For each loop, what one iteration touches.
    pub(super) bodies: Vec<Option<f64>>,
    /// For each array, what the whole nest touches.
    pub(super) arrays: IndexMap<ArrayId, Option<f64>>,
}

impl Reach {
    pub(super) fn new(facts: &Facts<'_>) -> Self {
        let of_loop = |loop_idx: usize, from: usize| {
            let inside = facts.loops[loop_idx].path.len();
            let stmts = facts.stmts_below(loop_idx);
            let accesses = stmts.flat_map(|stmt| stmt.accesses.iter().map(move |access| (stmt, access)));
            total(
                by_array(facts, accesses.filter(|(_, access)| access.steps.len() > inside), from)
                    .into_values(),
            )
        };
        let depth = |loop_idx: usize| facts.loops[loop_idx].path.len();
        let all = facts.stmts.iter().flat_map(|stmt| stmt.accesses.iter().map(move |access| (stmt, access)));
        Self {
            loops: (0..facts.loops.len()).map(|idx| of_loop(idx, depth(idx))).collect(),
            bodies: (0..facts.loops.len()).map(|idx| of_loop(idx, depth(idx) + 1)).collect(),
            arrays: by_array(facts, all, 0),
        }
    }

    /// What one access touches during the nest.
    pub(super) fn of_access(facts: &Facts<'_>, stmt: &StmtFacts<'_>, access: &AccessFacts) -> Option<f64> {
        by_array(facts, std::iter::once((stmt, access)), 0).into_values().next()?
    }
}

/// The sum, in an order that does not depend on the order of the terms.
fn total(terms: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let mut terms: Vec<f64> = terms.collect::<Option<_>>()?;
    terms.sort_unstable_by(f64::total_cmp);
    Some(terms.iter().sum())
}

/// Accesses of one array whose indices differ by constants.
struct Group {
    boxes: Vec<Option<IndexBox>>,
    /// Least and greatest constant of each index.
    offsets: Vec<(i64, i64)>,
}

/// What the accesses touch of each array during one run of the loops from depth `from` inward.
fn by_array<'f>(
    facts: &Facts<'_>,
    accesses: impl Iterator<Item = (&'f StmtFacts<'f>, &'f AccessFacts)>,
    from: usize,
) -> IndexMap<ArrayId, Option<f64>> {
    let mut groups: IndexMap<(ArrayId, Vec<Expr>), Group> = IndexMap::new();
    for (stmt, access) in accesses {
        let (indices, offsets) = without_offsets(&access.source);
        let new = || Group { boxes: Vec::new(), offsets: offsets.iter().map(|&c| (c, c)).collect() };
        let group = groups.entry((access.source.array, indices)).or_insert_with(new);
        for (range, &offset) in group.offsets.iter_mut().zip(&offsets) {
            *range = (range.0.min(offset), range.1.max(offset));
        }
        group.boxes.push(IndexBox::new(facts, stmt, access, from));
    }
    let mut arrays: IndexMap<ArrayId, Vec<Option<f64>>> = IndexMap::new();
    for ((array, _), group) in groups {
        let bytes = group.boxes.into_iter().collect::<Option<Vec<_>>>();
        let bytes = bytes.map(|boxes| hull(facts, array, &boxes, &group.offsets));
        arrays.entry(array).or_default().push(bytes);
    }
    let capped = |(array, terms): (ArrayId, Vec<Option<f64>>)| {
        let whole = facts.array_bytes(array).map(lines);
        let sum = total(terms.into_iter());
        (array, [sum, whole].into_iter().flatten().reduce(f64::min))
    };
    arrays.into_iter().map(capped).collect()
}

/// The indices, their constants apart.
fn without_offsets(access: &Access) -> (Vec<Expr>, Vec<i64>) {
    let split = |index: &Expr| match index.as_affine() {
        Some(affine) => {
            let offset = affine.constant_part();
            (Expr::Affine(affine.clone() - Affine::constant(offset)), offset)
        }
        None => (index.clone(), 0),
    };
    access.indices.iter().map(split).unzip()
}

/// The box around the elements that an access touches.
#[derive(Clone)]
struct IndexBox {
    /// Elements in each dimension.
    extents: Vec<f64>,
    /// No more elements than this.
    points: f64,
}

impl IndexBox {
    fn new(facts: &Facts<'_>, stmt: &StmtFacts<'_>, access: &AccessFacts, from: usize) -> Option<Self> {
        let moving = || {
            let path = stmt.path.iter().take(access.steps.len()).skip(from);
            path.map(|&loop_idx| &facts.loops[loop_idx])
        };
        let trip_of = |trip: Option<oxeye_analysis::Count>| trip.map(|count| count.value);
        if moving().any(|outer| trip_of(outer.trip) == Some(0.0)) {
            return Some(Self { extents: vec![0.0; access.source.indices.len()], points: 0.0 });
        }
        let mut extents = Vec::new();
        for (dim, index) in access.source.indices.iter().enumerate() {
            let declared = facts.extent(access.source.array, dim);
            let mut extent = Some(1.0);
            for outer in moving().filter(|outer| index.uses(outer.l.id)) {
                let step = index
                    .as_affine()
                    .map(|affine| affine.coefficient(outer.l.id) as f64 * outer.l.step as f64);
                let grown =
                    step.zip(trip_of(outer.trip)).map(|(step, trip)| step.abs() * (trip - 1.0).max(0.0));
                extent = extent.zip(grown).map(|(extent, grown)| extent + grown);
            }
            extents.push([extent, declared].into_iter().flatten().reduce(f64::min));
        }
        let used = moving().filter(|outer| access.source.indices.iter().any(|index| index.uses(outer.l.id)));
        let points: Option<f64> = used.map(|outer| trip_of(outer.trip)).product();
        let extents: Option<Vec<f64>> = match points {
            // No index takes more values than there are points.
            Some(points) => Some(extents.iter().map(|extent| extent.unwrap_or(points)).collect()),
            None => extents.into_iter().collect(),
        };
        Some(Self { extents: extents?, points: points.unwrap_or(f64::INFINITY) })
    }
}

/// Bytes in whole lines of accesses whose indices differ by constants.
fn hull(facts: &Facts<'_>, array: ArrayId, boxes: &[IndexBox], offsets: &[(i64, i64)]) -> f64 {
    let mut alone: Vec<f64> = boxes.iter().map(|b| bytes(facts, array, &b.extents, b.points)).collect();
    alone.sort_unstable_by(f64::total_cmp);
    let largest = |dim: usize| boxes.iter().map(|b| b.extents[dim]).fold(0.0, f64::max);
    let extents: Vec<f64> = offsets
        .iter()
        .enumerate()
        .map(|(dim, (first, last))| {
            let grown = largest(dim) + (*last as f64 - *first as f64);
            facts.extent(array, dim).map_or(grown, |declared| grown.min(declared))
        })
        .collect();
    let points: f64 = {
        let mut points: Vec<f64> = boxes.iter().map(|b| b.points).collect();
        points.sort_unstable_by(f64::total_cmp);
        points.iter().sum()
    };
    bytes(facts, array, &extents, points).min(alone.iter().sum())
}

/// Bytes in whole lines of a box of at most `points` elements in a row-major array.
fn bytes(facts: &Facts<'_>, array: ArrayId, extents: &[f64], points: f64) -> f64 {
    let element_bytes = facts.element_bytes(array);
    if points == 0.0 {
        return 0.0;
    }
    let mut row = 1.0;
    let mut rows = 1.0;
    let mut is_whole = true;
    for (dim, &extent) in extents.iter().enumerate().rev() {
        // Rows that are touched as a whole follow each other without a gap.
        if is_whole {
            row *= extent;
            is_whole = facts.extent(array, dim) == Some(extent);
        } else {
            rows *= extent;
        }
    }
    (rows * lines(row * element_bytes)).min(points * LINE_BYTES)
}

/// Rounded up to whole lines.
fn lines(bytes: f64) -> f64 {
    (bytes / LINE_BYTES).ceil() * LINE_BYTES
}
