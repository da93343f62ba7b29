//! Types of kernels.

use crate::arrays::Triple;

/// Goes over arrays a number of times. Unsafe because the pointers must be as [`Triple`] says and because the processor
/// must have what the function was compiled for.
pub(crate) type StreamFn = unsafe fn(Triple, usize);

/// Arithmetic on registers, a number of rounds. Unsafe because the processor must have what it was compiled for.
#[derive(Clone, Copy)]
pub(crate) struct ArithmeticFn {
    /// Does a number of rounds.
    pub(crate) run: unsafe fn(u64),
    /// Operations of a round, over all vector elements.
    pub(crate) per_round: f64,
}

/// STREAM's scalar, √2 − 1: with it repeated rounds of all kernels neither grow nor vanish.
pub(crate) const SCALAR: f64 = std::f64::consts::SQRT_2 - 1.0;

/// Arguments of exponentials, between −2 and 2.
pub(super) fn exp_arguments<T: Copy + From<f32>>() -> [T; 64] {
    std::array::from_fn(|i| T::from((i as f32 - 31.5) / 16.0))
}
