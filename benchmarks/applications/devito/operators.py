"""The operators of this folder in Devito, on the inputs of the C programs."""

import os
import time

os.environ.setdefault("DEVITO_LOGGING", "ERROR")
os.environ.setdefault("DEVITO_LANGUAGE", "openmp")

import numpy as np
from devito import Eq, Function, Grid, Operator, TimeFunction, cos, sin, sqrt

HALO = 8
PARAMETERS = ["v", "b", "f", "eps", "eta", "theta", "phi", "wq"]


def inside(array):
    return array[..., HALO:-HALO, HALO:-HALO, HALO:-HALO]


class Propagator:
    """An operator with its fields; `levels` names what the C program calls the time levels of each field."""

    def __init__(self, inputs):
        self.inputs, self.steps = inputs, inputs["STEPS"]

    def grid(self, shape):
        shape = tuple(n - 2 * HALO for n in shape)
        extent = tuple((n - 1) * self.inputs["SPACING"] for n in shape)
        return Grid(shape=shape, extent=extent, dtype=np.float32)

    def function(self, name, grid):
        made = Function(name=name, grid=grid, space_order=8)
        made.data[:] = inside(self.inputs[name])
        return made

    def operator(self, equations, autotune):
        self.op = Operator(equations)
        self.autotune = autotune
        if autotune:
            self.reset()
            self.apply(autotune="aggressive")

    def apply(self, **options):
        self.op.apply(time_m=1, time_M=self.steps, dt=np.float32(self.inputs["DT"]), **options)

    def run(self):
        """Computes all steps from the first fields; the seconds that takes."""
        self.reset()
        start = time.perf_counter()
        self.apply(**({"autotune": False} if self.autotune else {}))
        return time.perf_counter() - start

    def whole(self, data):
        return np.asarray(data._local if hasattr(data, "_local") else data)


class SelfAdjoint(Propagator):
    """T0 to T2; with numbers in place of functions for a medium that is the same everywhere."""

    def __init__(self, inputs, autotune=False):
        super().__init__(inputs)
        grid = self.grid(inputs["p"].shape)
        x, y, z = grid.dimensions
        if "theta" in inputs:
            v, b, f, eps, eta, theta, phi, wq = (self.function(name, grid) for name in PARAMETERS)
            trig = [sin(theta), cos(theta), sin(phi), cos(phi), sqrt(1 - eta**2)]
        else:
            v, b, f, eps, eta, theta, phi, wq = (inputs[name.upper()] for name in PARAMETERS)
            trig = [np.sin(theta), np.cos(theta), np.sin(phi), np.cos(phi), np.sqrt(1 - eta**2)]
        p, m = (TimeFunction(name=name, grid=grid, time_order=2, space_order=8) for name in ("p", "m"))
        self.p, self.m = p, m
        sin_t, cos_t, sin_p, cos_p, q = trig
        n = [sin_t * cos_p, sin_t * sin_p, cos_t]
        plus = lambda u: [getattr(u, f"d{d.name}")(x0=d + d.spacing / 2) for d in (x, y, z)]
        minus = lambda u, d: getattr(u, f"d{d.name}")(x0=d - d.spacing / 2)
        g, h = plus(p), plus(m)
        along_p = sum(a * c for a, c in zip(n, g))
        along_m = sum(a * c for a, c in zip(n, h))
        tp = -b * (2 * eps + f * eta**2) * along_p + b * f * eta * q * along_m
        tm = b * f * eta * q * along_p + b * f * eta**2 * along_m
        flux_p = [b * (1 + 2 * eps) * g[k] + n[k] * tp for k in range(3)]
        flux_m = [b * (1 - f) * h[k] + n[k] * tm for k in range(3)]
        dt = grid.stepping_dim.spacing
        equations = []
        for u, flux in ((p, flux_p), (m, flux_m)):
            total = sum(minus(flux[k], d) for k, d in enumerate((x, y, z)))
            equations.append(Eq(u.forward, (2 - dt * wq) * u + (dt * wq - 1) * u.backward + dt**2 * v**2 / b * total))
        self.operator(equations, autotune)

    def reset(self):
        for u, name in ((self.p, "p"), (self.m, "m")):
            u.data_with_halo[:] = 0
            u.data[0] = inside(self.inputs[f"{name}_prev"])
            u.data[1] = inside(self.inputs[name])

    def results(self):
        last = self.steps + 1
        found = {}
        for u, name in ((self.p, "p"), (self.m, "m")):
            found[name] = np.array(u.data_with_halo[last % 3])
            found[f"{name}_prev"] = np.array(u.data_with_halo[(last - 1) % 3])
        return found


class Centred(Propagator):
    """The rotated, centred scheme."""

    def __init__(self, inputs, autotune=False):
        super().__init__(inputs)
        grid = self.grid(inputs["slowness"].shape)
        x, y, z = grid.dimensions
        names = ["slowness", "eps", "delta", "theta", "phi", "damp"]
        slowness, eps, delta, theta, phi, damp = (self.function(name, grid) for name in names)
        u, w = (TimeFunction(name=name, grid=grid, time_order=2, space_order=8) for name in ("u", "w"))
        self.u, self.w = u, w
        n = [sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta)]
        first = lambda a, d: getattr(a, f"d{d.name}")(fd_order=4)
        along = lambda a: sum(n[k] * first(a, d) for k, d in enumerate((x, y, z)))
        twice = lambda a: sum(first(n[k] * along(a), d) for k, d in enumerate((x, y, z)))
        across, axis = u.laplace - twice(u), twice(w)
        stretch, couple = 1 + 2 * eps, sqrt(1 + 2 * delta)
        dt = grid.stepping_dim.spacing
        factor, loss = dt**2 / slowness, dt * damp / (2 * slowness)
        equations = []
        for a, waves in ((u, stretch * across + couple * axis), (w, couple * across + axis)):
            equations.append(Eq(a.forward, a + ((1 - loss) * (a - a.backward) + factor * waves) / (1 + loss)))
        self.operator(equations, autotune)

    def reset(self):
        for a, name in ((self.u, "u"), (self.w, "w")):
            a.data_with_halo[:] = self.inputs[name]

    def results(self):
        return {"u": np.array(self.u.data_with_halo), "w": np.array(self.w.data_with_halo)}
