"""Are the results of a program those of pyrocko? `python oracle.py PROGRAM FOLDER...`, see ../application.py.

Stacks are asked of both of the package's implementations, which have to agree.
"""

import sys

import numpy as np
from application import distance, oracle, tolerance
from pyrocko import parstack


def stacked(inputs, method, impl):
    arrays = [row[:length].copy() for row, length in zip(inputs["block"], inputs["lengths"])]
    dtype = inputs["block"].dtype.type
    return parstack.parstack(arrays, inputs["offsets"], inputs["shifts"], inputs["weights"], method, nparallel=2,
                             dtype=dtype, impl=impl)


def stack(inputs, method=0):
    # A number is not an array of one element here.
    inputs = {name: np.atleast_1d(np.asarray(value)) for name, value in inputs.items()}
    inputs = {name: value if value.dtype.kind == "f" else value.astype(np.int32) for name, value in inputs.items()}
    (result, first), (other, same) = (stacked(inputs, method, impl) for impl in ("openmp", "numpy"))
    rows = len(inputs["shifts"])
    # The package starts the largest at zero in C, and at the first sample in Python.
    other = np.maximum(other, 0) if method == 1 else other
    if first != same or distance(other, result)[0] > tolerance(result):
        sys.exit("the implementations of the package do not agree")
    return {"result": result.reshape(rows, -1), "begin": np.array([first], np.int32)}


def stack_max(inputs):
    return stack(inputs, 1)


def minmax(inputs):
    a = np.atleast_2d(np.asarray(inputs["a"], float))
    return {
        "largest": np.maximum(a.max(axis=0), np.finfo(float).tiny),
        "smallest": a.min(axis=0),
        "row_of_largest": parstack.argmax(a, 2).astype(np.int32),
        "row_of_smallest": a.argmin(axis=0).astype(np.int32),
    }


PROGRAMS = {
    "stack": stack,
    "stack_double": stack,
    "stack_ragged": stack,
    "stack_max": stack_max,
    "minmax": minmax,
}

if __name__ == "__main__":
    oracle(PROGRAMS)
