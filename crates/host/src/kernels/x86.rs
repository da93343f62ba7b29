//! STREAM's kernels with vectors of 128, 256 and 512 bits.

use super::kernel::{SCALAR, StreamFn};
use crate::arrays::Triple;
use crate::profile::StreamKernel;
use std::arch::x86_64::*;

const STORE: u8 = 1;
const COPY: u8 = 2;
const SCALE: u8 = 3;
const ADD: u8 = 4;
const TRIAD: u8 = 5;

/// A kernel with the widest vectors this processor has.
pub(super) fn stream(kernel: StreamKernel, non_temporal: bool) -> StreamFn {
    let widest = [512, 256].into_iter().find_map(|bits| stream_of_width(kernel, non_temporal, bits));
    widest.unwrap_or_else(|| bits_128::stream(kernel, non_temporal))
}

/// A kernel with vectors of one width, if this processor has them.
pub(super) fn stream_of_width(kernel: StreamKernel, non_temporal: bool, bits: u32) -> Option<StreamFn> {
    match bits {
        128 => Some(bits_128::stream(kernel, non_temporal)),
        256 if is_x86_feature_detected!("avx") && is_x86_feature_detected!("fma") => {
            Some(bits_256::stream(kernel, non_temporal))
        }
        512 if is_x86_feature_detected!("avx512f") => Some(bits_512::stream(kernel, non_temporal)),
        _ => None,
    }
}

/// Tells the compiler that any memory may have changed, so that it keeps every pass over the arrays.
#[inline(always)]
fn forget_memory() {
    // SAFETY: no instruction at all.
    unsafe { std::arch::asm!("", options(nostack, preserves_flags)) }
}

/// The kernels with one vector type. The arrays' length is a multiple of every step taken here.
macro_rules! kernels {
    (
        $module:ident, $feature:literal, $lanes:literal, $load:ident, $store:ident, $stream:ident, $splat:ident,
        $add:ident, $mul:ident, |$s:ident, $x:ident, $y:ident| $multiply_add:expr
    ) => {
        mod $module {
            use super::*;

            pub(super) fn stream(kernel: StreamKernel, non_temporal: bool) -> StreamFn {
                match (kernel, non_temporal) {
                    (StreamKernel::Load, _) => load,
                    (StreamKernel::Store, false) => write::<STORE, false>,
                    (StreamKernel::Copy, false) => write::<COPY, false>,
                    (StreamKernel::Scale, false) => write::<SCALE, false>,
                    (StreamKernel::Add, false) => write::<ADD, false>,
                    (StreamKernel::Triad, false) => write::<TRIAD, false>,
                    (StreamKernel::Store, true) => write::<STORE, true>,
                    (StreamKernel::Copy, true) => write::<COPY, true>,
                    (StreamKernel::Scale, true) => write::<SCALE, true>,
                    (StreamKernel::Add, true) => write::<ADD, true>,
                    (StreamKernel::Triad, true) => write::<TRIAD, true>,
                }
            }

            /// Sums `a` in eight accumulators, enough to hide the latency of the additions.
            #[target_feature(enable = $feature)]
            unsafe fn load(t: Triple, passes: usize) {
                let mut sums = [$splat(0.0); 8];
                for _ in 0..passes {
                    let mut at = 0;
                    while at < t.n {
                        for (k, sum) in sums.iter_mut().enumerate() {
                            // SAFETY: `at` advances by a divisor of the length.
                            *sum = $add(*sum, unsafe { $load(t.a.add(at + k * $lanes)) });
                        }
                        at += 8 * $lanes;
                    }
                    forget_memory();
                }
                std::hint::black_box(sums);
            }

            #[target_feature(enable = $feature)]
            unsafe fn write<const KERNEL: u8, const NON_TEMPORAL: bool>(t: Triple, passes: usize) {
                let $s = $splat(SCALAR);
                for _ in 0..passes {
                    let mut at = 0;
                    while at < t.n {
                        for k in 0..4 {
                            let i = at + k * $lanes;
                            // SAFETY: `at` advances by a divisor of the length, and lines are aligned.
                            unsafe {
                                let (to, value) = match KERNEL {
                                    STORE => (t.a, $s),
                                    COPY => (t.c, $load(t.a.add(i))),
                                    SCALE => (t.b, $mul($s, $load(t.c.add(i)))),
                                    ADD => (t.c, $add($load(t.a.add(i)), $load(t.b.add(i)))),
                                    _ => {
                                        let ($x, $y) = ($load(t.b.add(i)), $load(t.c.add(i)));
                                        (t.a, $multiply_add)
                                    }
                                };
                                if NON_TEMPORAL {
                                    $stream(to.add(i), value)
                                } else {
                                    $store(to.add(i), value)
                                }
                            }
                        }
                        at += 4 * $lanes;
                    }
                    forget_memory();
                }
                if NON_TEMPORAL {
                    // Stores that go around the caches are done only after this.
                    _mm_sfence();
                }
            }
        }
    };
}

kernels!(
    bits_128,
    "sse2",
    2,
    _mm_load_pd,
    _mm_store_pd,
    _mm_stream_pd,
    _mm_set1_pd,
    _mm_add_pd,
    _mm_mul_pd,
    |s, x, y| _mm_add_pd(x, _mm_mul_pd(s, y))
);
kernels!(
    bits_256,
    "avx,fma",
    4,
    _mm256_load_pd,
    _mm256_store_pd,
    _mm256_stream_pd,
    _mm256_set1_pd,
    _mm256_add_pd,
    _mm256_mul_pd,
    |s, x, y| _mm256_fmadd_pd(s, y, x)
);
kernels!(
    bits_512,
    "avx512f",
    8,
    _mm512_load_pd,
    _mm512_store_pd,
    _mm512_stream_pd,
    _mm512_set1_pd,
    _mm512_add_pd,
    _mm512_mul_pd,
    |s, x, y| _mm512_fmadd_pd(s, y, x)
);
