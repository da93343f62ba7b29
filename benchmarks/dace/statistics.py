"""Least, greatest, sum and weighted sum of a table, to scalars."""

import dace
import numpy as np

N, M = (dace.symbol(s, dtype=dace.int64) for s in ("N", "M"))

SIZES = {"N": 5, "M": 6}
LARGE = {"N": 3000, "M": 2000}


@dace.program
def statistics(table: dace.float64[N, M], weights: dace.float64[N], out: dace.float64[4]):
    out[0] = np.min(table)
    out[1] = np.max(table)
    out[2] = np.sum(table)
    out[3] = np.dot(weights, np.sum(table, axis=1))


def arguments(rng, N, M):
    return {"table": rng.random((N, M)), "weights": rng.random(N), "out": np.zeros(4)}


def reference(table, weights, out):
    out[:] = table.min(), table.max(), table.sum(), weights @ table.sum(axis=1)
