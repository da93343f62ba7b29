"""A triangular matrix times a matrix: the inner map depends on the outer one."""

import dace

N, M = (dace.symbol(s, dtype=dace.int64) for s in ("N", "M"))

SIZES = {"N": 6, "M": 5}
LARGE = {"N": 500, "M": 500}


@dace.program
def trmm(alpha: dace.float64, A: dace.float64[N, N], B: dace.float64[N, M]):
    for j in dace.map[0:M]:
        for i in range(N):
            for k in range(i + 1, N):
                B[i, j] += A[k, i] * B[k, j]
            B[i, j] = alpha * B[i, j]


def arguments(rng, N, M):
    return {"alpha": 1.5, "A": rng.random((N, N)), "B": rng.random((N, M))}


def reference(alpha, A, B):
    for i in range(B.shape[0]):
        B[i] += A[i + 1 :, i] @ B[i + 1 :]
        B[i] *= alpha
