"""Solves a system with two diagonals from the last row up, and a branch on an argument."""

import dace
import numpy as np

N = dace.symbol("N", dtype=dace.int64)

SIZES = {"N": 9}
LARGE = {"N": 4000000}


@dace.program
def backward(
    mode: dace.int64, d: dace.float64[N], e: dace.float64[N], b: dace.float64[N], x: dace.float64[N]
):
    x[N - 1] = b[N - 1] / d[N - 1]
    for i in range(N - 2, -1, -1):
        x[i] = (b[i] - e[i] * x[i + 1]) / d[i]
    if mode > 0:
        x[:] = x * 2.0
    else:
        x[:] = x - 1.0
    for i in dace.map[0:N:2]:
        x[i] = x[i] + 1.0


def arguments(rng, N):
    return {"mode": 1, "d": 1 + rng.random(N), "e": rng.random(N), "b": rng.random(N), "x": np.zeros(N)}


def reference(mode, d, e, b, x):
    n = x.shape[0]
    x[n - 1] = b[n - 1] / d[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = (b[i] - e[i] * x[i + 1]) / d[i]
    x[:] = x * 2 if mode > 0 else x - 1
    x[::2] += 1
