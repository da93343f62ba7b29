"""C = alpha A A^T + beta C in the lower triangle: a map in a map."""

import dace

N, M = (dace.symbol(s, dtype=dace.int64) for s in ("N", "M"))

SIZES = {"N": 6, "M": 5}
LARGE = {"N": 500, "M": 500}


@dace.program
def syrk(alpha: dace.float64, beta: dace.float64, C: dace.float64[N, N], A: dace.float64[N, M]):
    for i in dace.map[0:N]:
        for j in dace.map[0 : i + 1]:
            C[i, j] = C[i, j] * beta
            for k in range(M):
                C[i, j] += alpha * A[i, k] * A[j, k]


def arguments(rng, N, M):
    return {"alpha": 1.5, "beta": 1.2, "C": rng.random((N, N)), "A": rng.random((N, M))}


def reference(alpha, beta, C, A):
    full = alpha * A @ A.T + beta * C
    for i in range(C.shape[0]):
        C[i, : i + 1] = full[i, : i + 1]
