"""Are the results of a program right? `python oracle.py PROGRAM FOLDER...`, see ../application.py.

cpml is asked of Deepwave's own code; the others, whose kernels the package no longer has, of NumPy.
"""

import numpy as np

from application import oracle
from wheel import Forward


def cpml(inputs):
    forward = Forward(inputs, threads=1)
    forward.run()
    return forward.results()


class Grid:
    """Differences of fourth order along the last axes of a field, zero in a frame of two cells."""

    def __init__(self, spacing, dims):
        self.spacing, self.dims = spacing, dims
        self.inside = (..., *[slice(2, -2)] * dims)

    def shifted(self, field, axis, by):
        window = [slice(2, -2)] * self.dims
        end = field.shape[axis - self.dims] - 2 + by
        window[axis] = slice(2 + by, end)
        return field[(..., *window)]

    def first(self, field, axis):
        at = lambda by: self.shifted(field, axis, by)
        return (8 / 12 * (at(1) - at(-1)) - 1 / 12 * (at(2) - at(-2))) / self.spacing

    def laplacian(self, field):
        total = -2.5 * self.dims * field[self.inside]
        for axis in range(self.dims):
            at = lambda by: self.shifted(field, axis, by)
            total = total + 4 / 3 * (at(1) + at(-1)) - 1 / 12 * (at(2) + at(-2))
        return total / self.spacing**2


class Damped2:
    """Waves in two dimensions with damped layers."""

    def __init__(self, inputs, shots):
        self.model = inputs["model"]
        self.dt, self.grid = inputs["DT"], Grid(inputs["DX"], 2)
        self.sz = inputs["sigma_z"][:, None]
        self.sy = inputs["sigma_y"][None, :]
        shape = (shots, *self.model.shape)
        self.w, self.prev, self.phi_z, self.phi_y = (np.zeros(shape, np.float32) for _ in range(4))

    def step(self):
        """Sets `next`; the fields move on with `rotate`."""
        grid, dt, w, prev, inside = self.grid, self.dt, self.w, self.prev, self.grid.inside
        sz, sy = self.sz[2:-2], self.sy[:, 2:-2]
        self.next = np.zeros_like(w)
        waves = grid.laplacian(w) + grid.first(self.phi_z, 0) + grid.first(self.phi_y, 1)
        known = dt * (sz + sy) * prev[inside] / 2 + 2 * w[inside] - prev[inside] - dt**2 * sz * sy * w[inside]
        self.next[inside] = (self.model[2:-2, 2:-2] * waves + known) / (1 + dt * (sz + sy) / 2)
        phi_z, phi_y = np.zeros_like(w), np.zeros_like(w)
        phi_z[inside] = self.phi_z[inside] - dt * (sz * self.phi_z[inside] + (sz - sy) * grid.first(w, 0))
        phi_y[inside] = self.phi_y[inside] - dt * (sy * self.phi_y[inside] + (sy - sz) * grid.first(w, 1))
        self.phi_z, self.phi_y = phi_z, phi_y

    def rotate(self):
        self.prev, self.w = self.w, self.next


def scalar2d(inputs):
    steps, shots, _ = inputs["wavelet"].shape
    waves = Damped2(inputs, shots)
    recorded = np.zeros((steps, shots, inputs["receivers"].shape[1]), np.float32)
    model = waves.model.ravel()
    for t in range(steps):
        waves.step()
        for s in range(shots):
            at = inputs["sources"][s]
            np.add.at(waves.next[s].ravel(), at, inputs["wavelet"][t, s] * model[at])
            recorded[t, s] = waves.w[s].ravel()[inputs["receivers"][s]]
        waves.rotate()
    return {"w": waves.w, "prev": waves.prev, "phi_z": waves.phi_z, "phi_y": waves.phi_y, "recorded": recorded}


def imaging(inputs):
    steps, (shots,), dt = inputs["wavelet"].size, inputs["sources"].shape, inputs["DT"]
    receivers, sources = inputs["receivers"], inputs["sources"]
    waves, born, back = (Damped2(inputs, shots) for _ in range(3))
    sigma, product = waves.sz + waves.sy, waves.sz * waves.sy
    scattered, saved = np.zeros((steps, receivers.size), np.float32), []
    for t in range(steps):
        waves.step()
        waves.next.ravel()[sources] += inputs["wavelet"][t] * waves.model.ravel()[sources % waves.model.size]
        first = (waves.next - waves.prev) / (2 * dt)
        second = (waves.next - 2 * waves.w + waves.prev) / dt**2
        saved.append(second + sigma * first + product * waves.w)
        born.step()
        born.next += dt**2 * inputs["change"] * saved[-1]
        scattered[t] = born.w.ravel()[receivers]
        waves.rotate()
        born.rotate()
    gradient = np.zeros_like(waves.model)
    for t in reversed(range(steps)):
        back.step()
        np.add.at(back.next.ravel(), receivers, scattered[t])
        gradient += np.sum(back.w * saved[t], axis=0)
        back.rotate()
    return {"field": waves.w, "scattered_field": born.w, "scattered": scattered, "gradient": gradient}


def scalar3d(inputs):
    steps, dt, grid = inputs["wavelet"].shape[0], inputs["dt"], Grid(inputs["DX"], 3)
    model = inputs["model"]
    sigma = [inputs[f"sigma_{d}"][2:-2].reshape([-1 if i == k else 1 for i in range(3)])
             for k, d in enumerate("zyx")]
    sz, sy, sx = sigma
    total, pairs, product = sz + sy + sx, sz * sy + sy * sx + sx * sz, sz * sy * sx
    w, prev, psi = (np.zeros_like(model) for _ in range(3))
    phi = [np.zeros_like(model) for _ in range(3)]
    inside = grid.inside
    recorded = np.zeros((steps, inputs["receivers"].size), np.float32)
    for t in range(steps):
        next_w, next_psi = np.zeros_like(w), np.zeros_like(w)
        next_phi = [np.zeros_like(w) for _ in range(3)]
        waves = sum(grid.first(phi[k], k) for k in range(3)) - product * psi[inside]
        known = dt * total * prev[inside] / 2 + 2 * w[inside] - prev[inside] - dt**2 * pairs * w[inside]
        next_w[inside] = (model[inside] * grid.laplacian(w) + dt**2 * waves + known) / (1 + dt * total / 2)
        for k in range(3):
            one, other = sigma[(k + 1) % 3], sigma[(k + 2) % 3]
            next_phi[k][inside] = (phi[k][inside] - dt * sigma[k] * phi[k][inside]
                                   + model[inside] / dt * (one + other) * grid.first(w, k)
                                   + dt * one * other * grid.first(psi, k))
        next_psi[inside] = psi[inside] + dt * w[inside]
        at = inputs["sources"]
        np.add.at(next_w.ravel(), at, inputs["wavelet"][t] * model.ravel()[at])
        recorded[t] = w.ravel()[inputs["receivers"]]
        prev, w, phi, psi = w, next_w, next_phi, next_psi
    return {"w": w, "prev": prev, "phi_z": phi[0], "phi_y": phi[1], "phi_x": phi[2], "psi": psi, "recorded": recorded}


def padding(inputs):
    volume = inputs["volume"]
    n, pad = volume.shape[1], 3
    padded = np.pad(volume, [(0, 0)] + [(pad, pad)] * 3, mode="edge")
    gradient = padded
    for axis in (1, 2, 3):
        cells = np.moveaxis(gradient, axis, 0)
        inner = cells[pad : pad + n].copy()
        inner[0] += cells[:pad].sum(axis=0)
        inner[-1] += cells[pad + n :].sum(axis=0)
        gradient = np.moveaxis(inner, 0, axis)
    return {"padded": padded, "gradient": gradient}


if __name__ == "__main__":
    oracle({"cpml": cpml, "scalar2d": scalar2d, "scalar3d": scalar3d, "imaging": imaging, "padding": padding})
