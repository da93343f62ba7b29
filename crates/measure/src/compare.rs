//! Comparing the outputs of a candidate with the original's.

use serde::{Deserialize, Serialize};

use crate::argument::{Argument, ElementType, Fields};
use crate::error::{MeasureError, Mismatch};
use crate::outputs::{OutputReader, Outputs};
use crate::sample::chunks;
use crate::swings::{SAFETY, SwingReader, Swings};

/// How far floating-point outputs may be apart. Integers must be equal in any case.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// Elements outside the tolerance that are right as they are, since the original's own move as far.
    pub doubt: Option<Doubt>,
}

/// Results that are ill-conditioned.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Doubt {
    /// How many elements they are.
    pub elements: u64,
    /// The argument with the worst of them.
    pub name: String,
    /// How many decimal digits of that one roundings change: the logarithm of how many units in the last place it moves.
    pub digits_lost: f64,
    /// How many it has.
    pub digits: f64,
}

impl Doubt {
    /// Both together.
    pub fn and(self, other: Doubt) -> Doubt {
        let elements = self.elements + other.elements;
        let is_worse = |a: &Doubt, b: &Doubt| a.digits - a.digits_lost < b.digits - b.digits_lost;
        let worse = if is_worse(&other, &self) { other } else { self };
        Doubt { elements, ..worse }
    }
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
    verify_within(baseline, candidate, args, tolerance, None)
}

/// The same where floating-point elements outside the tolerance may be as far off as [`SAFETY`] times what the original's own
/// move.
///
/// # Errors
/// As [`verify`].
pub fn verify_within(
    baseline: &Outputs,
    candidate: &Outputs,
    args: &[Argument],
    tolerance: Tolerance,
    swings: Option<&Swings>,
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
    let mut result = Comparison { max_rel_error: 0.0, bit_exact: true, mismatch: None, doubt: None };
    let swings = swings.map(Swings::reader).transpose()?;
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
        let (left, right) = (baseline.reader(position)?, candidate.reader(position)?);
        let swings = swings.as_ref().filter(|_| baseline.changed(position));
        let pair = Pair { left, right, swings, bytes, argument: position, name: &arg.name, tolerance };
        match &arg.fields {
            None => pair.array(arg.element(), &mut result)?,
            Some(fields) => pair.structures(fields, &mut result)?,
        }
    }
    Ok(result)
}

/// Structures read at once.
const BATCH: usize = 4096;

/// One argument after two calls.
struct Pair<'a> {
    left: OutputReader<'a>,
    right: OutputReader<'a>,
    swings: Option<&'a SwingReader<'a>>,
    bytes: u64,
    argument: usize,
    name: &'a str,
    tolerance: Tolerance,
}

impl Pair<'_> {
    fn array(&self, element: ElementType, result: &mut Comparison) -> Result<(), MeasureError> {
        let size = element.size() as u64;
        let mut scale = None;
        // Trailing bytes of less than an element belong to the allocator, not to the program.
        let bytes = self.bytes / size * size;
        for part in chunks(bytes) {
            let mut a = vec![0; (part.end - part.start) as usize];
            let mut b = a.clone();
            self.left.read(part.start, &mut a)?;
            self.right.read(part.start, &mut b)?;
            if a == b {
                continue;
            }
            let scale = match scale {
                Some(scale) => scale,
                None => *scale.insert(root_mean_square(element, &self.left, bytes)?),
            };
            let swings = self.swings(part.start, a.len())?;
            let pairs = a.chunks_exact(size as usize).zip(b.chunks_exact(size as usize));
            for (i, (a, b)) in pairs.enumerate() {
                let swing = swing_of(&swings, element, i);
                self.element((a, b), element, (scale, swing), part.start / size + i as u64, result);
            }
        }
        Ok(())
    }

    /// Members at the same offset are one array when it comes to what is a small difference.
    fn structures(&self, fields: &Fields, result: &mut Comparison) -> Result<(), MeasureError> {
        let Some(n) = self.bytes.checked_div(fields.bytes) else { return Ok(()) };
        for (offset, n_elements, element) in &fields.runs {
            let size = element.size();
            let n_bytes = usize::try_from(*n_elements).unwrap_or(0) * size;
            let mut mean = Mean::default();
            let mut different = Vec::new();
            for first in (0..n).step_by(BATCH) {
                let n_here = (n - first).min(BATCH as u64);
                let mut a = vec![0; (n_here * fields.bytes) as usize];
                let mut b = a.clone();
                self.left.read(first * fields.bytes, &mut a)?;
                self.right.read(first * fields.bytes, &mut b)?;
                let structures =
                    a.chunks_exact(fields.bytes as usize).zip(b.chunks_exact(fields.bytes as usize));
                for (k, (a, b)) in (first..).zip(structures) {
                    let run = *offset as usize..*offset as usize + n_bytes;
                    let (Some(a), Some(b)) = (a.get(run.clone()), b.get(run)) else { continue };
                    if element.is_float() {
                        a.chunks_exact(size).filter_map(|x| element.read_f64(x)).for_each(|x| mean.add(x));
                    }
                    if a != b {
                        different.push((k, a.to_vec(), b.to_vec()));
                    }
                }
            }
            let scale = mean.value();
            for (k, a, b) in different {
                let swings = self.swings(k * fields.bytes + offset, n_bytes)?;
                for (i, pair) in a.chunks_exact(size).zip(b.chunks_exact(size)).enumerate() {
                    self.element(pair, *element, (scale, swing_of(&swings, *element, i)), k, result);
                }
            }
        }
        Ok(())
    }

    /// How far the original's elements move that lie behind this byte of the argument; nothing if they are not known.
    fn swings(&self, from: u64, n_bytes: usize) -> Result<Vec<u8>, MeasureError> {
        let Some(reader) = self.swings else { return Ok(Vec::new()) };
        let mut bytes = vec![0; n_bytes];
        reader.read(self.left.offset() + from, &mut bytes)?;
        Ok(bytes)
    }

    /// Compares one element of `index`, in an array of this root mean square; `swing` is how far the original's moves.
    fn element(
        &self,
        (a, b): (&[u8], &[u8]),
        element: ElementType,
        (scale, swing): (f64, f64),
        index: u64,
        result: &mut Comparison,
    ) {
        if a == b {
            return;
        }
        let (expected, actual) = (element.read_f64(a).unwrap_or(0.0), element.read_f64(b).unwrap_or(0.0));
        if element.is_float() && expected.is_nan() && actual.is_nan() {
            return;
        }
        result.bit_exact = false;
        let error = (expected - actual).abs() / expected.abs().max(actual.abs()).max(scale);
        // Zeros of different sign.
        let error = if expected == actual { 0.0 } else { error };
        let close = match self.tolerance {
            Tolerance::Relative { f64, .. } if element == ElementType::F64 => error <= f64,
            Tolerance::Relative { f32, .. } if element == ElementType::F32 => error <= f32,
            _ => false,
        };
        if element.is_float() && error.is_finite() {
            result.max_rel_error = result.max_rel_error.max(error);
        }
        if !close && self.tolerance != Tolerance::Strict && is_within(expected, actual, swing) {
            let doubt = doubt(self.name, element, swing / expected.abs().max(actual.abs()).max(scale));
            result.doubt = Some(match result.doubt.take() {
                Some(known) => known.and(doubt),
                None => doubt,
            });
            return;
        }
        if !close && result.mismatch.is_none() {
            let (argument, name) = (self.argument, self.name.to_owned());
            result.mismatch = Some(Mismatch { argument, name, index, expected, actual });
        }
    }
}

/// How far the element at a position moves; zero where that is not known, as for integers.
fn swing_of(swings: &[u8], element: ElementType, position: usize) -> f64 {
    let bytes = swings.get(position * element.size()..).filter(|_| element.is_float());
    bytes.and_then(|bytes| element.read_f64(bytes)).unwrap_or(0.0)
}

/// Whether an element moves no farther than that of the original does.
fn is_within(expected: f64, actual: f64, swing: f64) -> bool {
    swing == f64::INFINITY || swing > 0.0 && (expected - actual).abs() <= SAFETY * swing
}

/// What is to be said of an element that moves so far, relative to its size.
fn doubt(name: &str, element: ElementType, swing: f64) -> Doubt {
    let unit = if element == ElementType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    let digits = -unit.log10();
    let lost = (swing / unit).log10();
    let digits_lost = if lost.is_nan() { digits } else { lost.clamp(0.0, digits) };
    Doubt { elements: 1, name: name.to_owned(), digits_lost, digits }
}

/// A running root mean square; numbers that are not finite are left out.
#[derive(Default)]
pub(crate) struct Mean {
    largest: f64,
    sum: f64,
    n: u64,
}

impl Mean {
    pub(crate) fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        // Scaled by the largest magnitude so far, as squares overflow before their root does.
        let magnitude = value.abs();
        if magnitude > self.largest {
            self.sum *= (self.largest / magnitude).powi(2);
            self.largest = magnitude;
        }
        if self.largest > 0.0 {
            self.sum += (magnitude / self.largest).powi(2);
        }
        self.n += 1;
    }

    pub(crate) fn value(&self) -> f64 {
        if self.n == 0 { 0.0 } else { self.largest * (self.sum / self.n as f64).sqrt() }
    }
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
    let mut mean = Mean::default();
    for part in chunks(bytes) {
        let mut buffer = vec![0; (part.end - part.start) as usize];
        reader.read(part.start, &mut buffer)?;
        buffer.chunks_exact(element.size()).filter_map(|b| element.read_f64(b)).for_each(|x| mean.add(x));
    }
    Ok(mean.value())
}
