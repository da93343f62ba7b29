"""y = (A x) A: a matrix and its transpose times a vector."""

import dace
import numpy as np

M, N = (dace.symbol(s, dtype=dace.int64) for s in ("M", "N"))

SIZES = {"M": 5, "N": 7}
LARGE = {"M": 4000, "N": 4000}


@dace.program
def atax(A: dace.float64[M, N], x: dace.float64[N], y: dace.float64[N]):
    y[:] = (A @ x) @ A


def arguments(rng, M, N):
    return {"A": rng.random((M, N)), "x": rng.random(N), "y": np.zeros(N)}


def reference(A, x, y):
    y[:] = (A @ x) @ A
