"""A symmetric matrix from a product with a transpose, and a copy of a block of it."""

import dace
import numpy as np

N, M = (dace.symbol(s, dtype=dace.int64) for s in ("N", "M"))

SIZES = {"N": 6, "M": 4}
LARGE = {"N": 900, "M": 700}


@dace.program
def transpose(A: dace.float64[N, M], S: dace.float64[N, N], corner: dace.float64[M - 1, M - 1]):
    S[:] = A @ A.T
    corner[:] = S[1:M, 1:M]


def arguments(rng, N, M):
    return {"A": rng.random((N, M)), "S": np.zeros((N, N)), "corner": np.zeros((M - 1, M - 1))}


def reference(A, S, corner):
    S[:] = A @ A.T
    corner[:] = S[1 : corner.shape[0] + 1, 1 : corner.shape[0] + 1]
