"""C = alpha A B + beta C, with maps and a write-conflict resolution."""

import dace

NI, NJ, NK = (dace.symbol(s, dtype=dace.int64) for s in ("NI", "NJ", "NK"))

SIZES = {"NI": 5, "NJ": 6, "NK": 7}
LARGE = {"NI": 500, "NJ": 550, "NK": 600}


@dace.program
def gemm(
    alpha: dace.float64,
    beta: dace.float64,
    C: dace.float64[NI, NJ],
    A: dace.float64[NI, NK],
    B: dace.float64[NK, NJ],
):
    @dace.map
    def scale(i: _[0:NI], j: _[0:NJ]):
        c << C[i, j]
        o >> C[i, j]
        o = c * beta

    @dace.map
    def product(i: _[0:NI], j: _[0:NJ], k: _[0:NK]):
        a << A[i, k]
        b << B[k, j]
        o >> C(1, lambda x, y: x + y)[i, j]
        o = alpha * a * b


def arguments(rng, NI, NJ, NK):
    return {
        "alpha": 1.5,
        "beta": 0.5,
        "C": rng.random((NI, NJ)),
        "A": rng.random((NI, NK)),
        "B": rng.random((NK, NJ)),
    }


def reference(alpha, beta, C, A, B):
    C[:] = alpha * A @ B + beta * C
