//! Cache levels in a curve of bandwidth over array size.

use crate::profile::CurvePoint;

/// A stretch of array sizes with the same bandwidth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Plateau {
    /// Smallest array on it.
    pub(crate) from_bytes: u64,
    /// Largest array that still reaches nine tenths of the bandwidth at its end.
    pub(crate) to_bytes: u64,
    /// The bandwidth in its middle.
    pub(crate) gb_per_s: f64,
}

/// A curve is flat where it falls by less than this factor over an octave.
const FLAT: f64 = 0.90;
/// Plateaus that differ by less than this factor are one.
const SAME: f64 = 0.85;
/// Share of the bandwidth at a plateau's end that an array must reach to count as held by that level.
const HELD: f64 = 0.90;

/// The plateaus of a curve, in order of size. Between two of them the bandwidth falls; where it falls all the way,
/// there is none.
///
/// Disturbances only slow a measurement down, and without them (and without fixed costs, which weigh on the smallest
/// arrays) a larger array is never faster than a smaller one. So the curve is first raised to the best of all arrays at
/// least as large; then flat stretches at least an octave long are collected, and those of about the same height
/// joined.
pub(crate) fn plateaus(curve: &[CurvePoint]) -> Vec<Plateau> {
    let mut points: Vec<(u64, f64)> = curve.iter().map(|p| (p.bytes, p.gb_per_s)).collect();
    points.sort_by_key(|(bytes, _)| *bytes);
    let mut best: f64 = 0.0;
    for (_, rate) in points.iter_mut().rev() {
        best = best.max(*rate);
        *rate = best;
    }
    let mut plateaus: Vec<Plateau> = Vec::new();
    for stretch in flat_stretches(&points) {
        // The middle of a stretch, since its ends belong half to the slopes.
        let level = stretch[stretch.len() / 2].1;
        let end = stretch[stretch.len() - 1].1.min(level);
        let held = |(_, rate): &&(u64, f64)| *rate >= HELD * end;
        let to_bytes = points.iter().filter(held).map(|p| p.0).max().unwrap_or(stretch[0].0);
        match plateaus.last_mut().filter(|last| level >= SAME * last.gb_per_s) {
            Some(last) => last.to_bytes = to_bytes,
            None => plateaus.push(Plateau { from_bytes: stretch[0].0, to_bytes, gb_per_s: level }),
        }
    }
    plateaus
}

/// Maximal runs of overlapping octaves over each of which the curve is flat.
fn flat_stretches(points: &[(u64, f64)]) -> Vec<&[(u64, f64)]> {
    let octave_from = |first: usize| {
        let end = points[first..].iter().position(|p| p.0 >= 2 * points[first].0)?;
        Some(first + end)
    };
    let mut stretches = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    for first in 0..points.len() {
        let Some(last) = octave_from(first) else { break };
        if points[last].1 < FLAT * points[first].1 {
            continue;
        }
        open = match open {
            Some((from, to)) if first <= to => Some((from, last)),
            Some((from, to)) => {
                stretches.push(&points[from..=to]);
                Some((first, last))
            }
            None => Some((first, last)),
        };
    }
    stretches.extend(open.map(|(from, to)| &points[from..=to]));
    stretches
}

#[cfg(test)]
mod tests;
