"""A slope limiter: conditions on data inside a map, with a tasklet that has an `if`."""

import dace
import numpy as np

N = dace.symbol("N", dtype=dace.int64)

SIZES = {"N": 20}
LARGE = {"N": 8000000}


@dace.program
def limiter(u: dace.float64[N], slope: dace.float64[N]):
    for i in dace.map[1 : N - 1]:
        with dace.tasklet:
            l << u[i - 1]
            c << u[i]
            r << u[i + 1]
            o >> slope[i]
            if (c - l) * (r - c) <= 0:
                o = 0.0
            else:
                o = min(abs(c - l), abs(r - c)) if c > l else -min(abs(c - l), abs(r - c))
    for i in dace.map[0:N]:
        if slope[i] > 0.5:
            slope[i] = 0.5


def arguments(rng, N):
    return {"u": rng.random(N), "slope": np.zeros(N)}


def reference(u, slope):
    left, right = u[1:-1] - u[:-2], u[2:] - u[1:-1]
    size = np.minimum(abs(left), abs(right))
    slope[1:-1] = np.where(left * right <= 0, 0.0, np.where(left > 0, size, -size))
    slope[:] = np.minimum(slope, 0.5)
