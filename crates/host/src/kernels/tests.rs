use super::kernel::SCALAR;
use super::*;
use crate::arrays::{Arrays, STEP, Triple};

fn values(t: Triple) -> [Vec<f64>; 3] {
    [t.a, t.b, t.c].map(|p| unsafe { std::slice::from_raw_parts(p, t.n) }.to_vec())
}

/// Runs a kernel on small arrays of distinct elements and compares with STREAM's definition.
fn check(kernel: StreamKernel, run: StreamFn, what: &str) {
    let arrays = Arrays::reserve(1, 3 * STEP).expect("little memory");
    arrays.with(0, |t| {
        for (array, p) in [t.a, t.b, t.c].into_iter().enumerate() {
            let slice = unsafe { std::slice::from_raw_parts_mut(p, t.n) };
            slice.iter_mut().enumerate().for_each(|(i, x)| *x = (1000 * array + i) as f64);
        }
        let before = values(t);
        unsafe { run(t, 2) };
        let after = values(t);
        let [a, b, c] = &before;
        let expected = |i: usize| match kernel {
            StreamKernel::Load => [a[i], b[i], c[i]],
            StreamKernel::Store => [SCALAR, b[i], c[i]],
            StreamKernel::Copy => [a[i], b[i], a[i]],
            StreamKernel::Scale => [a[i], SCALAR * c[i], c[i]],
            StreamKernel::Add => [a[i], b[i], a[i] + b[i]],
            StreamKernel::Triad => [b[i] + SCALAR * c[i], b[i], c[i]],
        };
        for (i, want) in (0..t.n).map(|i| (i, expected(i))) {
            for (array, (want, got)) in
                want.into_iter().zip(after.each_ref().map(|array| array[i])).enumerate()
            {
                assert!((got - want).abs() < 1e-9, "{what} {kernel:?}: [{array}][{i}] is {got}, not {want}");
            }
        }
    });
}

#[test]
fn stream_kernels_do_what_stream_says() {
    for kernel in StreamKernel::ALL {
        for non_temporal in [false, true] {
            if let Some(run) = stream(kernel, non_temporal) {
                check(kernel, run, "widest");
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn every_vector_width_does_what_stream_says() {
    for (kernel, bits) in StreamKernel::ALL.into_iter().flat_map(|k| [128, 256, 512].map(|bits| (k, bits))) {
        for non_temporal in [false, true] {
            if let Some(run) = x86::stream_of_width(kernel, non_temporal, bits) {
                check(kernel, run, &format!("{bits} bits, non-temporal {non_temporal}:"));
            }
        }
    }
}

#[test]
fn every_arithmetic_kernel_that_is_offered_runs() {
    let types = [FloatType::F32, FloatType::F64];
    let mut n_run = 0;
    for (ty, bits) in types.into_iter().flat_map(|ty| WIDTHS.map(|bits| (ty, bits))) {
        let operations = [Operation::Div, Operation::Sqrt, Operation::Exp];
        let kernels =
            operations.into_iter().map(|op| operation(op, ty, bits)).chain([multiply_add(ty, bits)]);
        for kernel in kernels.flatten() {
            assert!(kernel.per_round >= 8.0);
            unsafe { (kernel.run)(100) };
            n_run += 1;
        }
    }
    assert!(n_run >= 8, "scalars are offered everywhere");
    let beside = WIDTHS.map(addition_chain_beside);
    for kernel in beside.into_iter().chain([addition_chain()]).flatten() {
        unsafe { (kernel.run)(100) };
    }
}

#[test]
fn what_there_is_not_is_not_offered() {
    assert!(stream(StreamKernel::Load, true).is_none());
    assert!(multiply_add(FloatType::F64, 1024).is_none());
    assert!(operation(Operation::Exp, FloatType::F64, 64).is_none());
}
