//! The same loops for processors without kernels of their own: plain Rust, in the vectors the compiler chooses.

use super::kernel::{ArithmeticFn, SCALAR, StreamFn};
use crate::arrays::Triple;
use crate::profile::{FloatType, Operation, StreamKernel};
use std::hint::black_box;

/// A kernel with ordinary stores.
pub(super) fn stream(kernel: StreamKernel) -> StreamFn {
    match kernel {
        StreamKernel::Load => |t, passes| {
            let mut sums = [0.0; 16];
            for _ in 0..passes {
                // SAFETY: arrays are as `Triple` says, here and below.
                let a = unsafe { std::slice::from_raw_parts(black_box(t.a), t.n) };
                for chunk in a.chunks_exact(sums.len()) {
                    for (sum, x) in sums.iter_mut().zip(chunk) {
                        *sum += x;
                    }
                }
            }
            black_box(sums);
        },
        StreamKernel::Store => |t, passes| write(t, passes, t.a, |_, _, _| SCALAR),
        StreamKernel::Copy => |t, passes| write(t, passes, t.c, |a, _, _| a),
        StreamKernel::Scale => |t, passes| write(t, passes, t.b, |_, _, c| SCALAR * c),
        StreamKernel::Add => |t, passes| write(t, passes, t.c, |a, b, _| a + b),
        StreamKernel::Triad => |t, passes| write(t, passes, t.a, |_, b, c| b + SCALAR * c),
    }
}

#[inline(always)]
fn write(t: Triple, passes: usize, to: *mut f64, value: impl Fn(f64, f64, f64) -> f64) {
    for _ in 0..passes {
        let to = black_box(to);
        for i in 0..t.n {
            // SAFETY: each array has so many elements; what `value` does not use is not read.
            unsafe { *to.add(i) = value(*t.a.add(i), *t.b.add(i), *t.c.add(i)) };
        }
    }
}

macro_rules! arithmetic {
    ($name:ident, $t:ty, $n:literal, |$r:ident, $x:ident, $y:ident| $value:expr) => {
        fn $name(rounds: u64) {
            let ($x, $y): ($t, $t) = (black_box(0.5), black_box(1.0));
            let mut all = [$y; $n];
            for _ in 0..rounds {
                for r in &mut all {
                    let $r = *r;
                    *r = $value;
                }
            }
            black_box(all);
        }
    };
}

arithmetic!(fma_f32, f32, 32, |r, x, y| r * x + y);
arithmetic!(fma_f64, f64, 32, |r, x, y| r * x + y);
arithmetic!(div_f32, f32, 16, |r, x, y| (x + y) / r);
arithmetic!(div_f64, f64, 16, |r, x, y| (x + y) / r);
arithmetic!(sqrt_f32, f32, 16, |r, x, y| (r + x * y).sqrt());
arithmetic!(sqrt_f64, f64, 16, |r, x, y| (r + x * y).sqrt());

/// Multiplications and additions; the compiler may vectorize them, but does not fuse them.
pub(super) fn multiply_add(ty: FloatType) -> ArithmeticFn {
    let run = match ty {
        FloatType::F32 => fma_f32,
        FloatType::F64 => fma_f64,
    };
    ArithmeticFn { run, per_round: 64.0 }
}

/// Divisions and square roots, not exponentials.
pub(super) fn operation(operation: Operation, ty: FloatType) -> ArithmeticFn {
    let run = match (operation, ty) {
        (Operation::Div, FloatType::F32) => div_f32,
        (Operation::Div, FloatType::F64) => div_f64,
        (_, FloatType::F32) => sqrt_f32,
        (_, FloatType::F64) => sqrt_f64,
    };
    ArithmeticFn { run, per_round: 16.0 }
}
