//! Exponentials of the C library's vector library, which compilers call in loops under `-ffast-math`.

use super::kernel::{ArithmeticFn, exp_arguments};
use crate::profile::FloatType;
use std::arch::x86_64::*;
use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

/// Exponentials of one width, if the processor has such vectors and the system such a library.
pub(super) fn exp(ty: FloatType, bits: u32) -> Option<ArithmeticFn> {
    let there = match bits {
        128 => true,
        256 => is_x86_feature_detected!("avx2"),
        512 => is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq"),
        _ => false,
    };
    let run: unsafe fn(u64) = match (ty, bits) {
        (FloatType::F64, 128) => exp_f64x2,
        (FloatType::F32, 128) => exp_f32x4,
        (FloatType::F64, 256) => exp_f64x4,
        (FloatType::F32, 256) => exp_f32x8,
        (FloatType::F64, 512) => exp_f64x8,
        (FloatType::F32, 512) => exp_f32x16,
        _ => return None,
    };
    (there && symbol(name(ty, bits)?).is_some()).then_some(ArithmeticFn { run, per_round: 64.0 })
}

/// Names by the vector function ABI for x86-64: instruction set, lanes, one vector argument.
fn name(ty: FloatType, bits: u32) -> Option<&'static CStr> {
    Some(match (ty, bits) {
        (FloatType::F64, 128) => c"_ZGVbN2v_exp",
        (FloatType::F32, 128) => c"_ZGVbN4v_expf",
        (FloatType::F64, 256) => c"_ZGVdN4v_exp",
        (FloatType::F32, 256) => c"_ZGVdN8v_expf",
        (FloatType::F64, 512) => c"_ZGVeN8v_exp",
        (FloatType::F32, 512) => c"_ZGVeN16v_expf",
        _ => return None,
    })
}

/// The function of this name, or `None` where there is no such library; it stays loaded.
fn symbol(name: &CStr) -> Option<*mut c_void> {
    static LIBRARY: OnceLock<usize> = OnceLock::new();
    // SAFETY: this is a part of the C library; loading it runs no foreign code.
    let library = *LIBRARY.get_or_init(|| {
        unsafe { libc::dlopen(c"libmvec.so.1".as_ptr(), libc::RTLD_NOW) }.expose_provenance()
    });
    if library == 0 {
        return None;
    }
    // SAFETY: the library is loaded and the name ends in zero.
    let symbol = unsafe { libc::dlsym(std::ptr::with_exposed_provenance_mut(library), name.as_ptr()) };
    (!symbol.is_null()).then_some(symbol)
}

macro_rules! exps {
    ($name:ident, $feature:literal, $t:ty, $v:ty, $lanes:literal, $load:ident, $add:ident, $zero:ident, $ty:expr, $bits:literal) => {
        #[target_feature(enable = $feature)]
        unsafe fn $name(rounds: u64) {
            let Some(symbol) = name($ty, $bits).and_then(symbol) else { return };
            // SAFETY: the vector function ABI gives functions of this name this type.
            let exp: unsafe extern "C" fn($v) -> $v = unsafe { std::mem::transmute(symbol) };
            let arguments = exp_arguments::<$t>();
            for _ in 0..rounds {
                let from = std::hint::black_box(&arguments).as_ptr();
                let mut sum = $zero();
                for i in (0..64).step_by($lanes) {
                    // SAFETY: the lanes divide the number of arguments, and the processor has these vectors.
                    sum = unsafe { $add(sum, exp($load(from.add(i)))) };
                }
                std::hint::black_box(sum);
            }
        }
    };
}

exps!(exp_f64x2, "sse2", f64, __m128d, 2, _mm_loadu_pd, _mm_add_pd, _mm_setzero_pd, FloatType::F64, 128);
exps!(exp_f32x4, "sse2", f32, __m128, 4, _mm_loadu_ps, _mm_add_ps, _mm_setzero_ps, FloatType::F32, 128);
exps!(
    exp_f64x4,
    "avx2",
    f64,
    __m256d,
    4,
    _mm256_loadu_pd,
    _mm256_add_pd,
    _mm256_setzero_pd,
    FloatType::F64,
    256
);
exps!(
    exp_f32x8,
    "avx2",
    f32,
    __m256,
    8,
    _mm256_loadu_ps,
    _mm256_add_ps,
    _mm256_setzero_ps,
    FloatType::F32,
    256
);
exps!(
    exp_f64x8,
    "avx512f",
    f64,
    __m512d,
    8,
    _mm512_loadu_pd,
    _mm512_add_pd,
    _mm512_setzero_pd,
    FloatType::F64,
    512
);
exps!(
    exp_f32x16,
    "avx512f",
    f32,
    __m512,
    16,
    _mm512_loadu_ps,
    _mm512_add_ps,
    _mm512_setzero_ps,
    FloatType::F32,
    512
);
