"""Shortest paths between all pairs of nodes."""

import dace
import numpy as np

N = dace.symbol("N", dtype=dace.int64)

SIZES = {"N": 7}
LARGE = {"N": 500}


@dace.program
def floyd_warshall(path: dace.int32[N, N]):
    for k in range(N):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


def arguments(rng, N):
    return {"path": rng.integers(1, 50, (N, N)).astype(np.int32)}


def reference(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path, np.add.outer(path[:, k], path[k, :]))
