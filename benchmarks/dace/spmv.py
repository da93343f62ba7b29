"""A sparse matrix in compressed rows times a vector: loop bounds and indices from memory."""

import dace
import numpy as np

M, N, NNZ = (dace.symbol(s, dtype=dace.int64) for s in ("M", "N", "NNZ"))

SIZES = {"M": 6, "N": 7, "NNZ": 15}
LARGE = {"M": 200000, "N": 200000, "NNZ": 4000000}


@dace.program
def spmv(
    rows: dace.uint32[M + 1],
    columns: dace.uint32[NNZ],
    values: dace.float64[NNZ],
    x: dace.float64[N],
    y: dace.float64[M],
):
    for i in range(M):
        first = dace.define_local_scalar(dace.uint32)
        last = dace.define_local_scalar(dace.uint32)
        first = rows[i]
        last = rows[i + 1]
        y[i] = 0.0
        for k in range(first, last):
            y[i] += values[k] * x[columns[k]]


def arguments(rng, M, N, NNZ):
    inner = np.sort(rng.integers(0, NNZ + 1, M - 1))
    return {
        "rows": np.concatenate([[0], inner, [NNZ]]).astype(np.uint32),
        "columns": rng.integers(0, N, NNZ).astype(np.uint32),
        "values": rng.random(NNZ),
        "x": rng.random(N),
        "y": np.zeros(M),
    }


def reference(rows, columns, values, x, y):
    for i in range(y.shape[0]):
        part = slice(rows[i], rows[i + 1])
        y[i] = values[part] @ x[columns[part]]
