//! Bandwidths: the size sweep, the caches it shows, and main memory.

use crate::arrays::{Arrays, Triple};
use crate::error::HostError;
use crate::kernels;
use crate::pool::{Pool, Work};
use crate::profile::{Bandwidth, CurvePoint, StreamKernel};
use crate::quantity::Quantity;
use crate::sampling::{Patience, laps};
use crate::timed::Timed;
use std::sync::Arc;

const WORD: usize = size_of::<f64>();
/// The smallest array of the sweep.
const SMALLEST: usize = 4 << 10;

/// The sizes and times of a sweep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SweepPlan {
    /// Largest array, bytes.
    pub(crate) largest: usize,
    /// Sizes per octave.
    pub(crate) per_octave: u32,
    /// Approximate time of one sample, seconds.
    pub(crate) sample_s: f64,
    /// When to stop.
    pub(crate) patience: Patience,
}

/// Read bandwidth of one core for arrays of growing size.
///
/// # Errors
/// When there is no memory for the largest array.
pub(crate) fn sweep(pool: &Pool, plan: SweepPlan) -> Result<Vec<CurvePoint>, HostError> {
    let Some(load) = kernels::stream(StreamKernel::Load, false) else { return Ok(Vec::new()) };
    let arrays = Arrays::reserve(1, plan.largest / WORD)?;
    let filled = arrays.clone();
    let fill: Arc<Work> = Arc::new(move |thread| {
        filled.with(thread, |t| {
            // SAFETY: the array has so many elements. Only this one is read.
            unsafe { std::slice::from_raw_parts_mut(t.a, t.n) }.fill(1.0);
        });
    });
    pool.run(1, 1, &fill);
    let sizes = sizes(arrays.len() * WORD, plan.per_octave);
    let timed: Vec<Timed<'_>> = sizes
        .iter()
        .map(|bytes| {
            let (arrays, n) = (arrays.clone(), bytes / WORD);
            let work = move |thread: usize, repeats: usize| {
                // SAFETY: the array is at least that long; the kernel was offered for this processor.
                arrays.with(thread, |t| unsafe { load(Triple { n, ..t }, repeats) });
            };
            Timed::new(pool, 1, plan.sample_s, *bytes as f64 * 1e-9, work)
        })
        .collect();
    let series = laps(plan.patience, sizes.len(), |series| {
        for (timed, samples) in timed.iter().zip(series) {
            samples.extend(timed.rates(1));
        }
    });
    let point = |(bytes, samples): (&usize, &Vec<f64>)| {
        let median_gb_per_s = Quantity::median_of(samples)?.value;
        let gb_per_s = Quantity::best_of(samples)?.value;
        Some(CurvePoint { bytes: *bytes as u64, gb_per_s, median_gb_per_s })
    };
    Ok(sizes.iter().zip(&series).filter_map(point).collect())
}

/// Sizes that grow by equal factors, multiples of what kernels do in one step.
fn sizes(largest: usize, per_octave: u32) -> Vec<usize> {
    let step = crate::arrays::STEP * WORD;
    let nth = |k: u32| SMALLEST as f64 * 2f64.powf(f64::from(k) / f64::from(per_octave.max(1)));
    let rounded = |bytes: f64| ((bytes / step as f64).round() as usize).max(1) * step;
    let mut sizes: Vec<usize> =
        (0..).map(|k| rounded(nth(k))).take_while(|bytes| *bytes <= largest).collect();
    sizes.dedup();
    sizes
}

/// What to measure at one level with one number of threads.
pub(crate) struct StreamPlan<'a> {
    /// Kernels, each with ordinary or non-temporal stores.
    pub(crate) kernels: &'a [(StreamKernel, bool)],
    /// Threads.
    pub(crate) threads: usize,
    /// Bytes that the arrays of one kernel take together, for each thread.
    pub(crate) bytes_per_thread: usize,
    /// About how long one sample takes, seconds.
    pub(crate) sample_s: f64,
    /// When to stop.
    pub(crate) patience: Patience,
}

/// Bandwidths of STREAM's kernels, where the arrays of a kernel together have the planned size, as they share a cache.
///
/// # Errors
/// When there is no memory for the arrays.
pub(crate) fn within_cache(pool: &Pool, plan: &StreamPlan<'_>) -> Result<Vec<Bandwidth>, HostError> {
    let arrays = touched(pool, plan.threads, plan.bytes_per_thread / WORD)?;
    let n_of = |kernel: StreamKernel| {
        let n = plan.bytes_per_thread / WORD / kernel.words();
        (n / crate::arrays::STEP).max(1) * crate::arrays::STEP
    };
    Ok(run(pool, plan, &arrays, n_of))
}

/// Bandwidths of STREAM's kernels on arrays of the same length for all of them, as McCalpin has it.
///
/// # Errors
/// When there is no memory for the arrays.
pub(crate) fn from_memory(pool: &Pool, plan: &StreamPlan<'_>) -> Result<Vec<Bandwidth>, HostError> {
    let arrays = touched(pool, plan.threads, plan.bytes_per_thread / WORD / 3)?;
    let n = arrays.len();
    Ok(run(pool, plan, &arrays, |_| n))
}

/// Arrays touched first by the threads that use them.
fn touched(pool: &Pool, threads: usize, n: usize) -> Result<Arrays, HostError> {
    let arrays = Arrays::reserve(threads, n)?;
    let touched = arrays.clone();
    let touch: Arc<Work> = Arc::new(move |thread| touched.touch(thread));
    pool.run(threads, 1, &touch);
    Ok(arrays)
}

fn run(
    pool: &Pool,
    plan: &StreamPlan<'_>,
    arrays: &Arrays,
    n_of: impl Fn(StreamKernel) -> usize,
) -> Vec<Bandwidth> {
    let mut timed = Vec::new();
    for &(kernel, non_temporal) in plan.kernels {
        let Some(run) = kernels::stream(kernel, non_temporal) else { continue };
        let (arrays, n) = (arrays.clone(), n_of(kernel));
        let work = move |thread: usize, repeats: usize| {
            // SAFETY: the arrays are at least that long; the kernel was offered for this processor.
            arrays.with(thread, |t| unsafe { run(Triple { n, ..t }, repeats) });
        };
        let gigabytes = (kernel.words() * n * WORD) as f64 * 1e-9;
        timed.push((kernel, non_temporal, Timed::new(pool, plan.threads, plan.sample_s, gigabytes, work)));
    }
    let series = laps(plan.patience, timed.len(), |series| {
        for ((_, _, timed), samples) in timed.iter().zip(series) {
            samples.extend(timed.rates(1));
        }
    });
    let bandwidth = |((kernel, non_temporal, _), samples): (&(StreamKernel, bool, Timed<'_>), &Vec<f64>)| {
        Some(Bandwidth {
            kernel: *kernel,
            non_temporal: *non_temporal,
            threads: plan.threads as u32,
            gb_per_s: Quantity::best_of(samples)?,
            median_gb_per_s: Quantity::median_of(samples)?.value,
        })
    };
    timed.iter().zip(&series).filter_map(bandwidth).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_grow_evenly_and_fit_the_kernels() {
        let sizes = sizes(1 << 20, 4);
        assert_eq!((sizes[0], sizes[sizes.len() - 1]), (4 << 10, 1 << 20));
        assert_eq!(sizes.len(), 4 * 8 + 1);
        assert!(sizes.iter().all(|bytes| bytes % (crate::arrays::STEP * WORD) == 0));
        assert!(sizes.is_sorted_by(|a, b| a < b));
    }
}
