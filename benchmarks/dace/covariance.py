"""Covariance of the columns of a table of measurements."""

import dace
import numpy as np

N, M = (dace.symbol(s, dtype=dace.int64) for s in ("N", "M"))

SIZES = {"N": 8, "M": 5}
LARGE = {"N": 1000, "M": 600}


@dace.program
def covariance(data: dace.float64[N, M], cov: dace.float64[M, M]):
    mean = np.mean(data, axis=0)
    centred = data - mean
    for i in range(M):
        cov[i, i:M] = centred[:, i] @ centred[:, i:M] / (N - 1.0)
        cov[i:M, i] = cov[i, i:M]


def arguments(rng, N, M):
    return {"data": rng.random((N, M)), "cov": np.zeros((M, M))}


def reference(data, cov):
    cov[:] = np.cov(data, rowvar=False)
