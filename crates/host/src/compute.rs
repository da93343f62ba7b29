//! Peak rates of arithmetic, rates of expensive operations, and the clock rate.

use crate::kernels::{self, ArithmeticFn, WIDTHS};
use crate::pool::Pool;
use crate::profile::{FloatType, Operation, OperationRate, PeakRate};
use crate::quantity::Quantity;
use crate::sampling::{Patience, laps};
use crate::timed::Timed;

const TYPES: [FloatType; 2] = [FloatType::F32, FloatType::F64];

/// Approximate time of one sample of a rate, seconds: longer than processors need to change their clock rate for wide
/// vectors.
const SAMPLE_S: f64 = 5e-3;

/// Arithmetic on a number of threads; its rates are in 10⁹ operations per second.
fn timed<'a>(pool: &'a Pool, threads: u32, kernel: ArithmeticFn) -> Timed<'a> {
    // Longer than the cost of starting, short enough to be repeated.
    const ROUNDS: u64 = 64;
    let work = move |_: usize, repeats: usize| {
        // SAFETY: the kernel was offered for this processor.
        unsafe { (kernel.run)(ROUNDS * repeats as u64) }
    };
    Timed::new(pool, threads as usize, SAMPLE_S, kernel.per_round * ROUNDS as f64 * 1e-9, work)
}

/// Peak multiply-add rates for the given thread counts and vector widths, if the processor has them, and the clock rate
/// of one core in GHz, sampled in turn with them.
pub(crate) fn peaks(
    pool: &Pool,
    threads: &[u32],
    widths: &[u32],
    patience: Patience,
) -> (Vec<PeakRate>, Option<Quantity>) {
    let mut configurations = Vec::new();
    for ty in TYPES {
        for &vector_bits in widths {
            let Some(kernel) = kernels::multiply_add(ty, vector_bits) else { continue };
            configurations.extend(threads.iter().map(|&n| (ty, vector_bits, n, timed(pool, n, kernel))));
        }
    }
    let chain = kernels::addition_chain().map(|kernel| timed(pool, 1, kernel));
    let series = sample(configurations.iter().map(|c| &c.3).chain(&chain), patience);
    let rate = |((ty, vector_bits, threads, _), samples): (&(FloatType, u32, u32, Timed<'_>), &Vec<f64>)| {
        Some(PeakRate {
            ty: *ty,
            vector_bits: *vector_bits,
            threads: *threads,
            gflops: Quantity::best_of(samples)?,
            median_gflops: Quantity::median_of(samples)?.value,
        })
    };
    let clock_ghz = series.get(configurations.len()).and_then(|samples| Quantity::best_of(samples));
    (configurations.iter().zip(&series).filter_map(rate).collect(), clock_ghz)
}

/// A peak rate in GFLOP/s, and the clock rate in GHz of the slowest of the cores with such vectors in flight, both the
/// best of a number of rounds taken in turn.
pub(crate) fn peak_with_clock(
    pool: &Pool,
    ty: FloatType,
    vector_bits: u32,
    threads: u32,
    patience: Patience,
) -> Option<(Quantity, Quantity)> {
    let peak = timed(pool, threads, kernels::multiply_add(ty, vector_bits)?);
    let chain = timed(pool, threads, kernels::addition_chain_beside(vector_bits)?);
    let series = sample([&peak, &chain].into_iter(), patience);
    let clock_ghz = Quantity::best_of(&series[1])?;
    Some((Quantity::best_of(&series[0])?, clock_ghz.scaled(1.0 / f64::from(threads), clock_ghz.provenance)))
}

/// Vector widths for which the processor has multiply-add, scalars first.
pub(crate) fn widths() -> Vec<u32> {
    WIDTHS.into_iter().filter(|bits| kernels::multiply_add(FloatType::F64, *bits).is_some()).collect()
}

/// Rates of division, square root and exponential, one core.
pub(crate) fn operations(pool: &Pool, patience: Patience) -> Vec<OperationRate> {
    let mut configurations = Vec::new();
    for operation in [Operation::Div, Operation::Sqrt, Operation::Exp] {
        for ty in TYPES {
            for vector_bits in WIDTHS {
                if let Some(kernel) = kernels::operation(operation, ty, vector_bits) {
                    configurations.push((operation, ty, vector_bits, timed(pool, 1, kernel)));
                }
            }
        }
    }
    let series = sample(configurations.iter().map(|c| &c.3), patience);
    let rate =
        |((operation, ty, vector_bits, _), samples): (&(Operation, FloatType, u32, Timed<'_>), &Vec<f64>)| {
            let gop_per_s = Quantity::best_of(samples)?;
            Some(OperationRate { operation: *operation, ty: *ty, vector_bits: *vector_bits, gop_per_s })
        };
    configurations.iter().zip(&series).filter_map(rate).collect()
}

fn sample<'a, 'b: 'a>(
    timed: impl Iterator<Item = &'a Timed<'b>> + Clone,
    patience: Patience,
) -> Vec<Vec<f64>> {
    laps(patience, timed.clone().count(), |series| {
        for (timed, samples) in timed.clone().zip(series) {
            samples.extend(timed.rates(1));
        }
    })
}
