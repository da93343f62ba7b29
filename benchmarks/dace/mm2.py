"""Two matrix products after each other, in NumPy's words."""

import dace

N = dace.symbol("N", dtype=dace.int64)
M = dace.symbol("M", dtype=dace.int64)
K = dace.symbol("K", dtype=dace.int64)

SIZES = {"N": 5, "M": 6, "K": 4}
LARGE = {"N": 500, "M": 600, "K": 400}


@dace.program
def mm2(
    alpha: dace.float64,
    beta: dace.float64,
    A: dace.float64[N, K],
    B: dace.float64[K, M],
    C: dace.float64[M, K],
    D: dace.float64[N, K],
):
    D[:] = alpha * A @ B @ C + beta * D


def arguments(rng, N, M, K):
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "A": rng.random((N, K)),
        "B": rng.random((K, M)),
        "C": rng.random((M, K)),
        "D": rng.random((N, K)),
    }


def reference(alpha, beta, A, B, C, D):
    D[:] = alpha * A @ B @ C + beta * D
