"""Electric and magnetic fields on a staggered grid."""

import dace

NX, NY, STEPS = (dace.symbol(s, dtype=dace.int64) for s in ("NX", "NY", "STEPS"))

SIZES = {"NX": 5, "NY": 6, "STEPS": 3}
LARGE = {"NX": 700, "NY": 800, "STEPS": 60}


@dace.program
def fdtd_2d(
    ex: dace.float64[NX, NY], ey: dace.float64[NX, NY], hz: dace.float64[NX, NY], source: dace.float64[STEPS]
):
    for t in range(STEPS):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def arguments(rng, NX, NY, STEPS):
    fields = {name: rng.random((NX, NY)) for name in ("ex", "ey", "hz")}
    return {**fields, "source": rng.random(STEPS)}


def reference(ex, ey, hz, source):
    for value in source:
        ey[0, :] = value
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
