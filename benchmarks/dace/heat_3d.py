"""Seven-point stencil in three dimensions with maps and tasklets, in a time loop."""

import dace

N, STEPS = (dace.symbol(s, dtype=dace.int64) for s in ("N", "STEPS"))

SIZES = {"N": 5, "STEPS": 3}
LARGE = {"N": 120, "STEPS": 30}


@dace.program
def heat_3d(A: dace.float64[N, N, N], B: dace.float64[N, N, N]):
    for t in range(STEPS):
        for i, j, k in dace.map[1 : N - 1, 1 : N - 1, 1 : N - 1]:
            with dace.tasklet:
                c << A[i, j, k]
                w << A[i - 1, j, k]
                e << A[i + 1, j, k]
                s << A[i, j - 1, k]
                n << A[i, j + 1, k]
                d << A[i, j, k - 1]
                u << A[i, j, k + 1]
                o >> B[i, j, k]
                o = c + 0.125 * (w + e + s + n + d + u - 6 * c)
        for i, j, k in dace.map[1 : N - 1, 1 : N - 1, 1 : N - 1]:
            A[i, j, k] = B[i, j, k]


def arguments(rng, N, STEPS):
    start = rng.random((N, N, N))
    return {"A": start, "B": start.copy()}


def reference(A, B, STEPS):
    for _ in range(STEPS):
        c = A[1:-1, 1:-1, 1:-1]
        around = A[:-2, 1:-1, 1:-1] + A[2:, 1:-1, 1:-1] + A[1:-1, :-2, 1:-1]
        around = around + A[1:-1, 2:, 1:-1] + A[1:-1, 1:-1, :-2] + A[1:-1, 1:-1, 2:]
        B[1:-1, 1:-1, 1:-1] = c + 0.125 * (around - 6 * c)
        A[1:-1, 1:-1, 1:-1] = B[1:-1, 1:-1, 1:-1]
