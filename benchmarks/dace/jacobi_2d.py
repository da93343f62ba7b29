"""Five-point stencil between two arrays, in a time loop."""

import dace

N, STEPS = (dace.symbol(s, dtype=dace.int64) for s in ("N", "STEPS"))

SIZES = {"N": 7, "STEPS": 4}
LARGE = {"N": 1000, "STEPS": 100}


@dace.program
def jacobi_2d(A: dace.float64[N, N], B: dace.float64[N, N]):
    for t in range(1, STEPS):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


def arguments(rng, N, STEPS):
    return {"A": rng.random((N, N)), "B": rng.random((N, N))}


def reference(A, B, STEPS):
    for _ in range(1, STEPS):
        for new, old in ((B, A), (A, B)):
            around = old[1:-1, :-2] + old[1:-1, 2:] + old[2:, 1:-1] + old[:-2, 1:-1]
            new[1:-1, 1:-1] = 0.2 * (old[1:-1, 1:-1] + around)
