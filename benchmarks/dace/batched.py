"""A batch of matrix products."""

import dace
import numpy as np

B, N, M, K = (dace.symbol(s, dtype=dace.int64) for s in ("B", "N", "M", "K"))

SIZES = {"B": 3, "N": 4, "M": 5, "K": 6}
LARGE = {"B": 32, "N": 160, "M": 160, "K": 160}


@dace.program
def batched(X: dace.float64[B, N, K], Y: dace.float64[B, K, M], Z: dace.float64[B, N, M]):
    Z[:] = X @ Y


def arguments(rng, B, N, M, K):
    return {"X": rng.random((B, N, K)), "Y": rng.random((B, K, M)), "Z": np.zeros((B, N, M))}


def reference(X, Y, Z):
    Z[:] = X @ Y
