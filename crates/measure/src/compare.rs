//! Comparing the outputs of a candidate with the original's.

use serde::Serialize;

use crate::argument::{Argument, ElementType};
use crate::error::{MeasureError, Mismatch};
use crate::outputs::{OutputReader, Outputs};
use crate::sample::chunks;

/// How far floating-point outputs may be apart. Integers must be equal in any case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Every bit is the same; only a NaN equals any other NaN.
    Strict,
    /// `|a - b| <= relative * max(|a|, |b|, root mean square of the original's array)`.
    Relative {
        /// For `f64`.
        f64: f64,
        /// For `f32`.
        f32: f64,
    },
}

impl Tolerance {
    /// For results whose sums may be reordered: 1e-9 for `f64`, 1e-4 for `f32`.
    pub fn reassociate() -> Tolerance {
        Tolerance::Relative { f64: 1e-9, f32: 1e-4 }
    }
}

/// The result of comparing outputs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Largest `|a - b| / max(|a|, |b|, root mean square)` over all floating-point elements that are finite.
    pub max_rel_error: f64,
    /// Whether all elements have the same bits (NaNs aside).
    pub bit_exact: bool,
    /// The first element outside the tolerance, if there is one.
    pub mismatch: Option<Mismatch>,
}

/// Compares all arguments element by element. A NaN equals a NaN, an infinity only the same infinity.
///
/// # Errors
/// When the outputs cannot be read or are not of the same sample.
pub fn verify(
    baseline: &Outputs,
    candidate: &Outputs,
    args: &[Argument],
    tolerance: Tolerance,
) -> Result<Comparison, MeasureError> {
    if baseline.n_args() != args.len() || candidate.n_args() != args.len() {
        let text = format!(
            "comparing outputs of {} and {} arguments as {}",
            baseline.n_args(),
            candidate.n_args(),
            args.len()
        );
        return Err(MeasureError::Runner { text });
    }
    let mut result = Comparison { max_rel_error: 0.0, bit_exact: true, mismatch: None };
    for (position, arg) in args.iter().enumerate() {
        if arg.is_scratch || !baseline.changed(position) && !candidate.changed(position) {
            continue;
        }
        let bytes = baseline.bytes(position);
        if bytes != candidate.bytes(position) {
            let text =
                format!("outputs for `{}` have {bytes} and {} bytes", arg.name, candidate.bytes(position));
            return Err(MeasureError::Runner { text });
        }
        let element = arg.element();
        let size = element.size() as u64;
        let (left, right) = (baseline.reader(position)?, candidate.reader(position)?);
        let mut scale = None;
        // Trailing bytes of less than an element belong to the allocator, not to the program.
        for part in chunks(bytes / size * size) {
            let mut a = vec![0; (part.end - part.start) as usize];
            let mut b = a.clone();
            left.read(part.start, &mut a)?;
            right.read(part.start, &mut b)?;
            if a == b {
                continue;
            }
            let scale = match scale {
                Some(scale) => scale,
                None => *scale.insert(root_mean_square(element, &left, bytes / size * size)?),
            };
            let pairs = a.chunks_exact(size as usize).zip(b.chunks_exact(size as usize));
            for (i, (a, b)) in pairs.enumerate() {
                if a == b {
                    continue;
                }
                let (expected, actual) =
                    (element.read_f64(a).unwrap_or(0.0), element.read_f64(b).unwrap_or(0.0));
                if element.is_float() && expected.is_nan() && actual.is_nan() {
                    continue;
                }
                result.bit_exact = false;
                let error = (expected - actual).abs() / expected.abs().max(actual.abs()).max(scale);
                // Zeros of different sign.
                let error = if expected == actual { 0.0 } else { error };
                let close = match tolerance {
                    Tolerance::Relative { f64, .. } if element == ElementType::F64 => error <= f64,
                    Tolerance::Relative { f32, .. } if element == ElementType::F32 => error <= f32,
                    _ => false,
                };
                if element.is_float() && error.is_finite() {
                    result.max_rel_error = result.max_rel_error.max(error);
                }
                if !close && result.mismatch.is_none() {
                    let index = part.start / size + i as u64;
                    let name = arg.name.clone();
                    result.mismatch = Some(Mismatch { argument: position, name, index, expected, actual });
                }
            }
        }
    }
    Ok(result)
}

/// Of the finite elements; 0 for integers.
fn root_mean_square(
    element: ElementType,
    reader: &OutputReader<'_>,
    bytes: u64,
) -> Result<f64, MeasureError> {
    if !element.is_float() {
        return Ok(0.0);
    }
    let (mut largest, mut n) = (0.0f64, 0u64);
    let mut sum = 0.0f64;
    for part in chunks(bytes) {
        let mut buffer = vec![0; (part.end - part.start) as usize];
        reader.read(part.start, &mut buffer)?;
        for value in buffer.chunks_exact(element.size()).filter_map(|b| element.read_f64(b)) {
            if value.is_finite() {
                // Scaled by the largest magnitude so far, as squares overflow before their root does.
                let magnitude = value.abs();
                if magnitude > largest {
                    sum *= (largest / magnitude).powi(2);
                    largest = magnitude;
                }
                if largest > 0.0 {
                    sum += (magnitude / largest).powi(2);
                }
                n += 1;
            }
        }
    }
    Ok(if n == 0 { 0.0 } else { largest * (sum / n as f64).sqrt() })
}
