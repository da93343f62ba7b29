"""Scales the rows of a matrix to length one, with reductions in NumPy's words."""

import dace
import numpy as np

N, M = (dace.symbol(s, dtype=dace.int64) for s in ("N", "M"))

SIZES = {"N": 5, "M": 6}
LARGE = {"N": 2000, "M": 2000}


@dace.program
def normalize(A: dace.float64[N, M], length: dace.float64[N]):
    length[:] = np.sqrt(np.sum(A * A, axis=1))
    for i in range(N):
        if length[i] > 0.0:
            A[i, :] = A[i, :] / length[i]


def arguments(rng, N, M):
    a = rng.random((N, M))
    a[1] = 0
    return {"A": a, "length": np.zeros(N)}


def reference(A, length):
    length[:] = np.sqrt(np.sum(A * A, axis=1))
    A[length > 0] /= length[length > 0, np.newaxis]
