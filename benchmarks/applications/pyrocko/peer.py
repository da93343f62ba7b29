"""pyrocko's own parallel code on the inputs of a program: `python peer.py PROGRAM FOLDER`, see ../application.py."""

import os
import time

import numpy as np
from application import peer
from pyrocko import parstack

THREADS = int(os.environ.get("OMP_NUM_THREADS", "2"))


def timed(call):
    begin = time.perf_counter()
    done = call()
    return time.perf_counter() - begin, done


def stack(inputs, method=0):
    arrays = [row[:length].copy() for row, length in zip(inputs["block"], inputs["lengths"])]
    dtype, rows = inputs["block"].dtype.type, len(inputs["shifts"])
    arguments = [arrays, inputs["offsets"], inputs["shifts"], inputs["weights"], method]
    found = parstack.parstack(*arguments, nparallel=THREADS, dtype=dtype, impl="openmp")[0]
    # Used again and again, so that no run waits for memory.
    result = np.ravel(found)

    def run():
        result.fill(0)
        call = lambda: parstack.parstack(*arguments, result=result, nparallel=THREADS, dtype=dtype, impl="openmp")
        return timed(call)[0]

    return run, lambda: {"result": result.reshape(rows, -1)}


def minmax(inputs):
    rows = []

    def run():
        seconds, found = timed(lambda: parstack.argmax(inputs["a"], THREADS))
        rows[:] = [found]
        return seconds

    return run, lambda: {"row_of_largest": rows[0].astype(np.int32)}


if __name__ == "__main__":
    peer({
        "stack": stack,
        "stack_double": stack,
        "stack_ragged": stack,
        "stack_max": lambda inputs: stack(inputs, 1),
        "minmax": minmax,
    })
