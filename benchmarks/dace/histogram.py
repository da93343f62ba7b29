"""Counts how often values fall into bins: a scatter with write conflicts."""

import dace
import numpy as np

N, BINS = (dace.symbol(s, dtype=dace.int64) for s in ("N", "BINS"))

SIZES = {"N": 40, "BINS": 6}
LARGE = {"N": 4000000, "BINS": 512}


@dace.program
def histogram(keys: dace.int32[N], weights: dace.float64[N], sums: dace.float64[BINS]):
    for i in dace.map[0:N]:
        sums[keys[i]] += weights[i]


def arguments(rng, N, BINS):
    return {
        "keys": rng.integers(0, BINS, N).astype(np.int32),
        "weights": rng.random(N),
        "sums": np.zeros(BINS),
    }


def reference(keys, weights, sums):
    np.add.at(sums, keys, weights)
