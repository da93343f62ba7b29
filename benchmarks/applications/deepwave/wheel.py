"""Deepwave's own compiled code, called without PyTorch."""

import ctypes
import importlib.util
import time
from pathlib import Path

import numpy as np


def library():
    """The library of the package. It has no dependencies of its own, and the package is not imported."""
    folder = Path(next(iter(importlib.util.find_spec("deepwave").submodule_search_locations)))
    return ctypes.CDLL(str(folder / "libdeepwave_C.so"))


class Forward:
    """The forward propagator in two dimensions, accuracy 4, f32; parallel over shots."""

    def __init__(self, inputs, threads):
        self.function = library().scalar_iso_2d_4_float_forward_cpu
        self.inputs = {n: np.ascontiguousarray(a) if isinstance(a, np.ndarray) else a for n, a in inputs.items()}
        self.threads = threads

    def run(self):
        """Computes all steps from fields of zeros; the seconds that takes."""
        i = self.inputs
        steps, shots, n_sources = i["wavelet"].shape
        n_receivers = i["receivers"].shape[1]
        shape = (shots, *i["v"].shape)
        names = ["u", "prev", "psi_z", "psi_y", "psi_z_next", "psi_y_next", "zeta_z", "zeta_y"]
        self.fields = {name: np.zeros(shape, np.float32) for name in names}
        recorded = self.fields["recorded"] = np.zeros((steps, shots, n_receivers), np.float32)
        pointer = lambda a: ctypes.c_void_p(a.ctypes.data)
        long, real, none = ctypes.c_int64, ctypes.c_float, ctypes.c_void_p(None)
        nz, ny = i["v"].shape
        arguments = [pointer(i["v"]), pointer(i["wavelet"]), *(pointer(self.fields[n]) for n in names)]
        arguments += [none] * 3 + [pointer(recorded)]
        arguments += [pointer(i[n]) for n in ["a_z", "b_z", "db_z", "a_y", "b_y", "db_y", "sources", "receivers"]]
        arguments += [none]
        arguments += [real(1 / i["DX"])] * 2 + [real(1 / i["DX"] ** 2)] * 2 + [real(i["DT"] ** 2)]
        arguments += [long(n) for n in [steps, shots, nz, ny, n_sources, n_receivers, 1, 3]]
        arguments += [ctypes.c_size_t(0)] * 2 + [ctypes.c_bool(False)] * 3 + [long(0)]
        arguments += [long(i["LAYER"])] * 2 + [long(nz - i["LAYER"]), long(ny - i["LAYER"])]
        arguments += [long(self.threads)]
        start = time.perf_counter()
        if self.function(*arguments) != 0:
            raise RuntimeError("the propagator failed")
        return time.perf_counter() - start

    def results(self):
        """The fields of the latest run under the program's names."""
        steps = self.inputs["wavelet"].shape[0]
        if steps % 2:
            raise RuntimeError("buffers change places: the number of steps has to be even")
        names = ["u", "prev", "psi_z", "psi_y", "zeta_z", "zeta_y", "recorded"]
        return {name: self.fields[name] for name in names}
