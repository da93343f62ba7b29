"""Gauss-Seidel sweeps: plain Python loops that carry dependences."""

import dace

N, STEPS = (dace.symbol(s, dtype=dace.int64) for s in ("N", "STEPS"))

SIZES = {"N": 6, "STEPS": 3}
LARGE = {"N": 700, "STEPS": 30}


@dace.program
def seidel_2d(A: dace.float64[N, N]):
    for t in range(STEPS):
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / 5.0


def arguments(rng, N, STEPS):
    return {"A": rng.random((N, N))}


def reference(A, STEPS):
    n = A.shape[0]
    for _ in range(STEPS):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / 5.0
