"""Every row of a three-dimensional array times a matrix."""

import dace
import numpy as np

NR, NQ, NP = (dace.symbol(s, dtype=dace.int64) for s in ("NR", "NQ", "NP"))

SIZES = {"NR": 3, "NQ": 4, "NP": 5}
LARGE = {"NR": 60, "NQ": 60, "NP": 128}


@dace.program
def doitgen(A: dace.float64[NR, NQ, NP], C4: dace.float64[NP, NP]):
    for r in range(NR):
        A[r, :, :] = np.reshape(np.reshape(A[r], (NQ, 1, NP)) @ C4, (NQ, NP))


def arguments(rng, NR, NQ, NP):
    return {"A": rng.random((NR, NQ, NP)), "C4": rng.random((NP, NP))}


def reference(A, C4):
    A[:] = A @ C4
