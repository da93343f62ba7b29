"""What Python has for the same: `python peer.py PROGRAM FOLDER`, see ../application.py.

dotall is a loop compiled by numba (with the environment variable DENSE a product of dense matrices instead), spots and patch
are the reference in NumPy; libraries use the threads that OMP_NUM_THREADS names.
"""

import os
import time

import numpy as np
import reference
from application import peer


def compiled():
    import numba

    @numba.njit(fastmath=True)
    def dotall(A, pixels, weights):
        npix, n = A.shape
        icov, right, fw = np.zeros((n, n)), np.zeros(n), np.zeros(n)
        for p in range(npix):
            for i in range(n):
                aw = weights[p] * A[p, i]
                if aw != 0:
                    for j in range(i, n):
                        icov[i, j] += aw * A[p, j]
                    right[i] += aw * pixels[p]
                    fw[i] += aw
        for i in range(n):
            for j in range(i):
                icov[i, j] = icov[j, i]
        return icov, right, fw

    def named(*arguments):
        return dict(zip(("icov", "right", "fw"), dotall(*arguments)))

    return named


def timed(call):
    latest = []

    def run():
        begin = time.perf_counter()
        latest[:] = [call()]
        return time.perf_counter() - begin

    return run, lambda: latest[0]


def dotall(inputs):
    function = reference.dotall if os.environ.get("DENSE") else compiled()
    return timed(lambda: function(inputs["A"], inputs["pixels"], inputs["weights"]))


if __name__ == "__main__":
    peer({
        "spots": lambda inputs: timed(lambda: reference.spots(inputs)),
        "dotall": dotall,
        "patch": lambda inputs: timed(lambda: reference.patch(inputs)),
    })
