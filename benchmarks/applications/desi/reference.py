"""What desi.c computes, with NumPy and SciPy in a straightforward way: sums as matrix products, linear algebra from LAPACK,
inverse roots from eigenvectors. Inputs and results are dictionaries of arrays."""

import numpy as np
import scipy.linalg
from scipy.special import erf, eval_legendre

DEGREE, NX, NY, HSIZEX, HSIZEY, NDIAG = 7, 17, 11, 8, 5, 11


def integrated(n, center, sigma):
    """Gauss-Hermite functions integrated over n pixels: [degree, fibre, wavelength, pixel]."""
    d = (center + 0.5) % 1 - 0.5
    edge = (np.arange(n + 1) - n // 2 - 0.5 - d[..., None]) / sigma
    density = np.exp(-0.5 * edge**2) / np.sqrt(2 * np.pi)
    hermite = [np.ones_like(edge), edge]
    for q in range(2, DEGREE):
        hermite.append(edge * hermite[q - 1] - (q - 1) * hermite[q - 2])
    first = 0.5 * np.diff(erf(edge / np.sqrt(2)), axis=-1)
    return np.stack([first] + [-np.diff(hermite[q] * density, axis=-1) for q in range(DEGREE - 1)])


def spots(inputs):
    legendre = np.stack([eval_legendre(k, inputs["wave"]) for k in range(4)])
    gh = inputs["coefficients"] @ legendre
    px = integrated(NX, inputs["x"], inputs["sigma_x"])
    py = integrated(NY, inputs["y"], inputs["sigma_y"])
    rows = np.einsum("ijsw,jswv->swvi", gh, py, optimize=True)
    spot = np.matmul(rows, px.transpose(1, 2, 0, 3))
    spot = np.clip(spot, 0, None)
    spot /= spot.sum(axis=(2, 3), keepdims=True)
    xcorner = np.floor(inputs["x"] - HSIZEX + 0.5).astype(np.int32)
    ycorner = np.floor(inputs["y"] - HSIZEY + 0.5).astype(np.int32)
    return {"gh": gh, "spot": spot, "xcorner": xcorner, "ycorner": ycorner}


def matrix(ny, nx, spot, xcorner, ycorner):
    nspec, nwave = xcorner.shape
    A = np.zeros((ny, nx, nspec, nwave))
    for s in range(nspec):
        for w in range(nwave):
            y, x = ycorner[s, w], xcorner[s, w]
            A[y : y + NY, x : x + NX, s, w] = spot[s, w]
    return A.reshape(ny * nx, -1)


def dotall(A, pixels, weights):
    weighted = A * weights[:, None]
    return {"icov": weighted.T @ A, "right": weighted.T @ pixels, "fw": weighted.sum(axis=0)}


def patch(inputs):
    """All fields by name."""
    fields = spots(inputs)
    nspec, nwave = inputs["x"].shape
    A = matrix(inputs["ny"], inputs["nx"], fields["spot"], fields["xcorner"], fields["ycorner"])
    sums = dotall(A, inputs["pixels"], inputs["weights"])
    icov, fw = sums["icov"], sums["fw"]
    least = 1e-4 * fw.max()
    alpha = np.where(fw < least, least - fw, inputs["regularization"])
    icov[np.diag_indices_from(icov)] += alpha**2 + 1e-15
    factor = scipy.linalg.cho_factor(icov)
    f = scipy.linalg.cho_solve(factor, sums["right"])
    cov = scipy.linalg.cho_solve(factor, np.eye(len(icov)))
    blocks = np.stack([cov.reshape(nspec, nwave, nspec, nwave)[s, :, s] for s in range(nspec)])
    values, vectors = np.linalg.eigh(blocks)
    Q = (vectors / np.sqrt(values)[:, None]) @ vectors.transpose(0, 2, 1)
    rows = Q.sum(axis=2)
    R = Q / rows[:, :, None]
    padded = np.pad(R, ((0, 0), (NDIAG // 2, NDIAG // 2), (0, 0)))
    w = np.arange(nwave)
    diagonals = np.stack([padded[:, w + d, w] for d in range(NDIAG)], axis=1)
    chi2 = inputs["weights"] * (inputs["pixels"] - A @ f) ** 2
    f = f.reshape(nspec, nwave)
    flux = np.einsum("sij,sj->si", R, f)
    return fields | {"icov": icov, "f": f, "flux": flux, "ivar": rows**2, "diagonals": diagonals, "chi2": chi2}
