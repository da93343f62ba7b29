"""Cholesky factorization: triangular Python loops with square roots on the diagonal."""

import dace
import numpy as np

N = dace.symbol("N", dtype=dace.int64)

SIZES = {"N": 6}
LARGE = {"N": 600}


@dace.program
def cholesky(A: dace.float64[N, N]):
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, N):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])


def arguments(rng, N):
    a = rng.random((N, N))
    return {"A": a @ a.T + N * np.eye(N)}


def reference(A):
    factor = np.linalg.cholesky(A)
    lower = np.tril_indices(A.shape[0])
    A[lower] = factor[lower]
