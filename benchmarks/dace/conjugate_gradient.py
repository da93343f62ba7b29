"""Conjugate gradients: a loop that ends when the residual is small."""

import dace
import numpy as np

N = dace.symbol("N", dtype=dace.int64)

SIZES = {"N": 6}
LARGE = {"N": 1500}


@dace.program
def conjugate_gradient(A: dace.float64[N, N], b: dace.float64[N], x: dace.float64[N]):
    r = b - A @ x
    p = np.copy(r)
    rr = np.sum(r * r)
    while rr > 1e-18:
        q = A @ p
        alpha = rr / np.sum(p * q)
        x[:] = x + alpha * p
        r[:] = r - alpha * q
        squares = np.sum(r * r)
        p[:] = r + (squares / rr) * p
        rr = squares


def arguments(rng, N):
    a = rng.random((N, N))
    return {"A": a @ a.T + N * np.eye(N), "b": rng.random(N), "x": np.zeros(N)}


def reference(A, b, x):
    x[:] = np.linalg.solve(A, b)
