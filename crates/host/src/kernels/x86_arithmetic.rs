//! Arithmetic on registers. Written in assembly, so that scalars stay scalars and nothing is taken for redundant.

use super::kernel::ArithmeticFn;
use crate::profile::{FloatType, Operation};
use std::arch::x86_64::*;

/// Independent accumulators: more than latency × throughput of any multiply-add so far (5 × 2 on Haswell), and few
/// enough for sixteen registers.
const CHAINS: u32 = 12;

/// One multiply-add of every accumulator: `r = r x + y`, which tends to 2 for x = 1/2 and y = 1.
macro_rules! fused {
    ($name:ident, $feature:literal, $reg:ident, $line:literal, $half:expr, $one:expr) => {
        #[target_feature(enable = $feature)]
        unsafe fn $name(rounds: u64) {
            let (x, y) = ($half, $one);
            let [mut r0, mut r1, mut r2, mut r3, mut r4, mut r5] = [y; 6];
            let [mut r6, mut r7, mut r8, mut r9, mut r10, mut r11] = [y; 6];
            for _ in 0..rounds {
                // SAFETY: arithmetic on the named registers, which the processor has.
                unsafe {
                    std::arch::asm!(
                        concat!($line, " {0}, {12}, {13}"), concat!($line, " {1}, {12}, {13}"),
                        concat!($line, " {2}, {12}, {13}"), concat!($line, " {3}, {12}, {13}"),
                        concat!($line, " {4}, {12}, {13}"), concat!($line, " {5}, {12}, {13}"),
                        concat!($line, " {6}, {12}, {13}"), concat!($line, " {7}, {12}, {13}"),
                        concat!($line, " {8}, {12}, {13}"), concat!($line, " {9}, {12}, {13}"),
                        concat!($line, " {10}, {12}, {13}"), concat!($line, " {11}, {12}, {13}"),
                        inout($reg) r0, inout($reg) r1, inout($reg) r2, inout($reg) r3, inout($reg) r4, inout($reg) r5,
                        inout($reg) r6, inout($reg) r7, inout($reg) r8, inout($reg) r9, inout($reg) r10, inout($reg) r11,
                        in($reg) x, in($reg) y, options(nomem, nostack, preserves_flags)
                    );
                }
            }
            std::hint::black_box([r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11]);
        }
    };
}

fused!(fused_f64, "fma", xmm_reg, "vfmadd213sd", 0.5f64, 1.0f64);
fused!(fused_f32, "fma", xmm_reg, "vfmadd213ss", 0.5f32, 1.0f32);
fused!(fused_f64x2, "fma", xmm_reg, "vfmadd213pd", _mm_set1_pd(0.5), _mm_set1_pd(1.0));
fused!(fused_f32x4, "fma", xmm_reg, "vfmadd213ps", _mm_set1_ps(0.5), _mm_set1_ps(1.0));
fused!(fused_f64x4, "fma", ymm_reg, "vfmadd213pd", _mm256_set1_pd(0.5), _mm256_set1_pd(1.0));
fused!(fused_f32x8, "fma", ymm_reg, "vfmadd213ps", _mm256_set1_ps(0.5), _mm256_set1_ps(1.0));
fused!(fused_f64x8, "avx512f", zmm_reg, "vfmadd213pd", _mm512_set1_pd(0.5), _mm512_set1_pd(1.0));
fused!(fused_f32x16, "avx512f", zmm_reg, "vfmadd213ps", _mm512_set1_ps(0.5), _mm512_set1_ps(1.0));

/// Sixteen dependent integer additions, with twelve multiply-adds in flight beside them: the additions decide how long
/// a round takes, at the clock rate the processor has for such vectors.
macro_rules! chain_beside {
    ($name:ident, $feature:literal, $reg:ident, $line:literal, $half:expr, $one:expr) => {
        #[target_feature(enable = $feature)]
        unsafe fn $name(rounds: u64) {
            let (x, y) = ($half, $one);
            let [mut r0, mut r1, mut r2, mut r3, mut r4, mut r5] = [y; 6];
            let (mut sum, step): (u64, u64) = (1, std::hint::black_box(3));
            for _ in 0..rounds {
                // SAFETY: arithmetic on the named registers, which the processor has.
                unsafe {
                    std::arch::asm!(
                        concat!($line, " {0}, {6}, {7}"), "add {8}, {9}", concat!($line, " {1}, {6}, {7}"), "add {8}, {9}",
                        concat!($line, " {2}, {6}, {7}"), "add {8}, {9}", concat!($line, " {3}, {6}, {7}"), "add {8}, {9}",
                        concat!($line, " {4}, {6}, {7}"), "add {8}, {9}", concat!($line, " {5}, {6}, {7}"), "add {8}, {9}",
                        "add {8}, {9}", "add {8}, {9}",
                        concat!($line, " {0}, {6}, {7}"), "add {8}, {9}", concat!($line, " {1}, {6}, {7}"), "add {8}, {9}",
                        concat!($line, " {2}, {6}, {7}"), "add {8}, {9}", concat!($line, " {3}, {6}, {7}"), "add {8}, {9}",
                        concat!($line, " {4}, {6}, {7}"), "add {8}, {9}", concat!($line, " {5}, {6}, {7}"), "add {8}, {9}",
                        "add {8}, {9}", "add {8}, {9}",
                        inout($reg) r0, inout($reg) r1, inout($reg) r2, inout($reg) r3, inout($reg) r4, inout($reg) r5,
                        in($reg) x, in($reg) y, inout(reg) sum, in(reg) step, options(nomem, nostack)
                    );
                }
            }
            std::hint::black_box(([r0, r1, r2, r3, r4, r5], sum));
        }
    };
}

chain_beside!(chain_beside_128, "fma", xmm_reg, "vfmadd213pd", _mm_set1_pd(0.5), _mm_set1_pd(1.0));
chain_beside!(chain_beside_256, "fma", ymm_reg, "vfmadd213pd", _mm256_set1_pd(0.5), _mm256_set1_pd(1.0));
chain_beside!(chain_beside_512, "avx512f", zmm_reg, "vfmadd213pd", _mm512_set1_pd(0.5), _mm512_set1_pd(1.0));

/// The chain of additions with multiply-adds of one width beside it, if this processor has them; scalars count as the
/// vectors whose registers they use.
pub(super) fn addition_chain_beside(bits: u32) -> Option<ArithmeticFn> {
    let run: unsafe fn(u64) = match bits {
        0 | 128 if is_x86_feature_detected!("fma") => chain_beside_128,
        256 if is_x86_feature_detected!("fma") => chain_beside_256,
        512 if is_x86_feature_detected!("avx512f") => chain_beside_512,
        _ => return None,
    };
    Some(ArithmeticFn { run, per_round: 16.0 })
}

/// For processors without fused multiply-add: six multiplications by 1 and six additions side by side.
macro_rules! separate {
    ($name:ident, $mul:literal, $add:literal, $one:expr) => {
        #[target_feature(enable = "sse2")]
        unsafe fn $name(rounds: u64) {
            let x = $one;
            let [mut r0, mut r1, mut r2, mut r3, mut r4, mut r5] = [x; 6];
            let [mut r6, mut r7, mut r8, mut r9, mut r10, mut r11] = [x; 6];
            for _ in 0..rounds {
                // SAFETY: arithmetic on the named registers, which every processor of this architecture has.
                unsafe {
                    std::arch::asm!(
                        concat!($mul, " {0}, {12}"), concat!($add, " {1}, {12}"),
                        concat!($mul, " {2}, {12}"), concat!($add, " {3}, {12}"),
                        concat!($mul, " {4}, {12}"), concat!($add, " {5}, {12}"),
                        concat!($mul, " {6}, {12}"), concat!($add, " {7}, {12}"),
                        concat!($mul, " {8}, {12}"), concat!($add, " {9}, {12}"),
                        concat!($mul, " {10}, {12}"), concat!($add, " {11}, {12}"),
                        inout(xmm_reg) r0, inout(xmm_reg) r1, inout(xmm_reg) r2, inout(xmm_reg) r3,
                        inout(xmm_reg) r4, inout(xmm_reg) r5, inout(xmm_reg) r6, inout(xmm_reg) r7,
                        inout(xmm_reg) r8, inout(xmm_reg) r9, inout(xmm_reg) r10, inout(xmm_reg) r11,
                        in(xmm_reg) x, options(nomem, nostack, preserves_flags)
                    );
                }
            }
            std::hint::black_box([r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11]);
        }
    };
}

separate!(separate_f64, "mulsd", "addsd", 1.0f64);
separate!(separate_f32, "mulss", "addss", 1.0f32);
separate!(separate_f64x2, "mulpd", "addpd", _mm_set1_pd(1.0));
separate!(separate_f32x4, "mulps", "addps", _mm_set1_ps(1.0));

/// The multiply-adds of one width, if this processor has them.
pub(super) fn multiply_add(ty: FloatType, bits: u32) -> Option<ArithmeticFn> {
    let fma = is_x86_feature_detected!("fma");
    let wide = is_x86_feature_detected!("avx512f");
    let run: unsafe fn(u64) = match (ty, bits) {
        (FloatType::F64, 0) if fma => fused_f64,
        (FloatType::F32, 0) if fma => fused_f32,
        (FloatType::F64, 128) if fma => fused_f64x2,
        (FloatType::F32, 128) if fma => fused_f32x4,
        (FloatType::F64, 256) if fma => fused_f64x4,
        (FloatType::F32, 256) if fma => fused_f32x8,
        (FloatType::F64, 512) if wide => fused_f64x8,
        (FloatType::F32, 512) if wide => fused_f32x16,
        _ => return separate(ty, bits).filter(|_| !fma),
    };
    Some(ArithmeticFn { run, per_round: 2.0 * f64::from(CHAINS * lanes(ty, bits)) })
}

/// Multiplications and additions of one width that are not fused.
fn separate(ty: FloatType, bits: u32) -> Option<ArithmeticFn> {
    let run: unsafe fn(u64) = match (ty, bits) {
        (FloatType::F64, 0) => separate_f64,
        (FloatType::F32, 0) => separate_f32,
        (FloatType::F64, 128) => separate_f64x2,
        (FloatType::F32, 128) => separate_f32x4,
        _ => return None,
    };
    Some(ArithmeticFn { run, per_round: f64::from(CHAINS * lanes(ty, bits)) })
}

fn lanes(ty: FloatType, bits: u32) -> u32 {
    (bits / ty.bits()).max(1)
}

/// Eight independent results a round.
macro_rules! expensive {
    ($name:ident, $feature:literal, $reg:ident, $line:literal, $from:literal, $x:expr, $y:expr) => {
        #[target_feature(enable = $feature)]
        unsafe fn $name(rounds: u64) {
            let (x, y) = ($x, $y);
            let [mut r0, mut r1, mut r2, mut r3, mut r4, mut r5, mut r6, mut r7] = [x; 8];
            for _ in 0..rounds {
                // SAFETY: arithmetic on the named registers, which the processor has.
                unsafe {
                    std::arch::asm!(
                        concat!($line, " {0}, ", $from), concat!($line, " {1}, ", $from),
                        concat!($line, " {2}, ", $from), concat!($line, " {3}, ", $from),
                        concat!($line, " {4}, ", $from), concat!($line, " {5}, ", $from),
                        concat!($line, " {6}, ", $from), concat!($line, " {7}, ", $from),
                        inout($reg) r0, inout($reg) r1, inout($reg) r2, inout($reg) r3,
                        inout($reg) r4, inout($reg) r5, inout($reg) r6, inout($reg) r7,
                        in($reg) x, in($reg) y, options(nomem, nostack, preserves_flags)
                    );
                }
            }
            std::hint::black_box([r0, r1, r2, r3, r4, r5, r6, r7]);
        }
    };
}

// Numbers whose quotient and root have no short expansion, lest the processor stop early. Packed roots have one
// operand; the other one stands in a comment, since every operand must be named.
expensive!(div_f64, "avx", xmm_reg, "vdivsd", "{8}, {9}", 1.7f64, 1.3f64);
expensive!(div_f32, "avx", xmm_reg, "vdivss", "{8}, {9}", 1.7f32, 1.3f32);
expensive!(div_f64x2, "avx", xmm_reg, "vdivpd", "{8}, {9}", _mm_set1_pd(1.7), _mm_set1_pd(1.3));
expensive!(div_f32x4, "avx", xmm_reg, "vdivps", "{8}, {9}", _mm_set1_ps(1.7), _mm_set1_ps(1.3));
expensive!(div_f64x4, "avx", ymm_reg, "vdivpd", "{8}, {9}", _mm256_set1_pd(1.7), _mm256_set1_pd(1.3));
expensive!(div_f32x8, "avx", ymm_reg, "vdivps", "{8}, {9}", _mm256_set1_ps(1.7), _mm256_set1_ps(1.3));
expensive!(div_f64x8, "avx512f", zmm_reg, "vdivpd", "{8}, {9}", _mm512_set1_pd(1.7), _mm512_set1_pd(1.3));
expensive!(div_f32x16, "avx512f", zmm_reg, "vdivps", "{8}, {9}", _mm512_set1_ps(1.7), _mm512_set1_ps(1.3));
expensive!(sqrt_f64, "avx", xmm_reg, "vsqrtsd", "{8}, {9}", 1.7f64, 1.3f64);
expensive!(sqrt_f32, "avx", xmm_reg, "vsqrtss", "{8}, {9}", 1.7f32, 1.3f32);
expensive!(sqrt_f64x2, "avx", xmm_reg, "vsqrtpd", "{8} # {9}", _mm_set1_pd(1.7), _mm_set1_pd(1.3));
expensive!(sqrt_f32x4, "avx", xmm_reg, "vsqrtps", "{8} # {9}", _mm_set1_ps(1.7), _mm_set1_ps(1.3));
expensive!(sqrt_f64x4, "avx", ymm_reg, "vsqrtpd", "{8} # {9}", _mm256_set1_pd(1.7), _mm256_set1_pd(1.3));
expensive!(sqrt_f32x8, "avx", ymm_reg, "vsqrtps", "{8} # {9}", _mm256_set1_ps(1.7), _mm256_set1_ps(1.3));
expensive!(sqrt_f64x8, "avx512f", zmm_reg, "vsqrtpd", "{8} # {9}", _mm512_set1_pd(1.7), _mm512_set1_pd(1.3));
expensive!(sqrt_f32x16, "avx512f", zmm_reg, "vsqrtps", "{8} # {9}", _mm512_set1_ps(1.7), _mm512_set1_ps(1.3));

/// Divisions and square roots of one width, if this processor has them.
pub(super) fn operation(operation: Operation, ty: FloatType, bits: u32) -> Option<ArithmeticFn> {
    let there = match bits {
        512 => is_x86_feature_detected!("avx512f"),
        _ => is_x86_feature_detected!("avx"),
    };
    let run: unsafe fn(u64) = match (operation, ty, bits) {
        (Operation::Div, FloatType::F64, 0) => div_f64,
        (Operation::Div, FloatType::F32, 0) => div_f32,
        (Operation::Div, FloatType::F64, 128) => div_f64x2,
        (Operation::Div, FloatType::F32, 128) => div_f32x4,
        (Operation::Div, FloatType::F64, 256) => div_f64x4,
        (Operation::Div, FloatType::F32, 256) => div_f32x8,
        (Operation::Div, FloatType::F64, 512) => div_f64x8,
        (Operation::Div, FloatType::F32, 512) => div_f32x16,
        (Operation::Sqrt, FloatType::F64, 0) => sqrt_f64,
        (Operation::Sqrt, FloatType::F32, 0) => sqrt_f32,
        (Operation::Sqrt, FloatType::F64, 128) => sqrt_f64x2,
        (Operation::Sqrt, FloatType::F32, 128) => sqrt_f32x4,
        (Operation::Sqrt, FloatType::F64, 256) => sqrt_f64x4,
        (Operation::Sqrt, FloatType::F32, 256) => sqrt_f32x8,
        (Operation::Sqrt, FloatType::F64, 512) => sqrt_f64x8,
        (Operation::Sqrt, FloatType::F32, 512) => sqrt_f32x16,
        _ => return None,
    };
    there.then(|| ArithmeticFn { run, per_round: f64::from(8 * lanes(ty, bits)) })
}
