//! The loops that are timed, chosen at run time for the processor; nothing here reads a clock.

mod kernel;
#[cfg(not(target_arch = "x86_64"))]
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;
#[cfg(target_arch = "x86_64")]
mod x86_arithmetic;

#[cfg(target_arch = "x86_64")]
mod libmvec;

use crate::profile::{FloatType, Operation, StreamKernel};
use kernel::exp_arguments;
pub(crate) use kernel::{ArithmeticFn, StreamFn};

/// Widths of vectors to measure, scalars first; the functions below know whether this processor has them.
pub(crate) const WIDTHS: [u32; 4] = [0, 128, 256, 512];

/// A kernel with the widest vectors there are, with ordinary or non-temporal stores. `None` where there are no such
/// stores or the kernel stores nothing.
pub(crate) fn stream(kernel: StreamKernel, non_temporal: bool) -> Option<StreamFn> {
    if kernel == StreamKernel::Load && non_temporal {
        return None;
    }
    #[cfg(target_arch = "x86_64")]
    return Some(x86::stream(kernel, non_temporal));
    #[cfg(not(target_arch = "x86_64"))]
    return (!non_temporal).then(|| portable::stream(kernel));
}

/// Independent multiply-adds, fused where the processor can.
pub(crate) fn multiply_add(ty: FloatType, vector_bits: u32) -> Option<ArithmeticFn> {
    #[cfg(target_arch = "x86_64")]
    return x86_arithmetic::multiply_add(ty, vector_bits);
    #[cfg(not(target_arch = "x86_64"))]
    return (vector_bits == 0).then(|| portable::multiply_add(ty));
}

/// Independent expensive operations.
pub(crate) fn operation(operation: Operation, ty: FloatType, vector_bits: u32) -> Option<ArithmeticFn> {
    if operation == Operation::Exp && vector_bits == 0 {
        return Some(scalar_exp(ty));
    }
    #[cfg(target_arch = "x86_64")]
    return match operation {
        Operation::Exp => libmvec::exp(ty, vector_bits),
        _ => x86_arithmetic::operation(operation, ty, vector_bits),
    };
    #[cfg(not(target_arch = "x86_64"))]
    return (vector_bits == 0).then(|| portable::operation(operation, ty));
}

/// A chain of dependent integer additions of registers: one cycle each on every processor supported here, `None`
/// elsewhere.
pub(crate) fn addition_chain() -> Option<ArithmeticFn> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    return Some(ArithmeticFn { run: chain, per_round: 16.0 });
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    return None;
}

/// [`addition_chain`] while multiply-adds of this many bits are in flight, for processors whose clock rate depends on
/// them.
pub(crate) fn addition_chain_beside(vector_bits: u32) -> Option<ArithmeticFn> {
    #[cfg(target_arch = "x86_64")]
    return x86_arithmetic::addition_chain_beside(vector_bits);
    #[cfg(not(target_arch = "x86_64"))]
    return addition_chain().filter(|_| vector_bits == 0);
}

/// Adds registers, not constants: some processors add small constants for free while renaming.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn chain(rounds: u64) {
    let mut x: u64 = 1;
    let y: u64 = std::hint::black_box(3);
    macro_rules! sixteen {
        ($line:literal) => {
            // SAFETY: adds registers, nothing else.
            unsafe {
                std::arch::asm!(
                    $line, $line, $line, $line, $line, $line, $line, $line,
                    $line, $line, $line, $line, $line, $line, $line, $line,
                    x = inout(reg) x, y = in(reg) y, options(nomem, nostack)
                )
            }
        };
    }
    for _ in 0..rounds {
        #[cfg(target_arch = "x86_64")]
        sixteen!("add {x}, {y}");
        #[cfg(target_arch = "aarch64")]
        sixteen!("add {x}, {x}, {y}");
    }
    std::hint::black_box(x);
}

fn scalar_exp(ty: FloatType) -> ArithmeticFn {
    macro_rules! exps {
        ($name:ident, $t:ty) => {
            fn $name(rounds: u64) {
                let arguments = exp_arguments::<$t>();
                for _ in 0..rounds {
                    let mut sum: $t = 0.0;
                    for x in std::hint::black_box(&arguments) {
                        sum += x.exp();
                    }
                    std::hint::black_box(sum);
                }
            }
        };
    }
    exps!(exp_f32, f32);
    exps!(exp_f64, f64);
    let run = match ty {
        FloatType::F32 => exp_f32,
        FloatType::F64 => exp_f64,
    };
    ArithmeticFn { run, per_round: 64.0 }
}

#[cfg(test)]
mod tests;
