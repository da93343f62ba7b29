"""Convolution of a batch of images with several filters, as loops over pixels and slices inside."""

import dace
import numpy as np

B, H, W, CI, CO, K = (dace.symbol(s, dtype=dace.int64) for s in ("B", "H", "W", "CI", "CO", "K"))

SIZES = {"B": 2, "H": 6, "W": 5, "CI": 2, "CO": 3, "K": 3}
LARGE = {"B": 4, "H": 60, "W": 60, "CI": 16, "CO": 16, "K": 5}


@dace.program
def conv_2d(
    image: dace.float32[B, H, W, CI],
    weights: dace.float32[K, K, CI, CO],
    out: dace.float32[B, H - K + 1, W - K + 1, CO],
):
    for i in range(H - K + 1):
        for j in range(W - K + 1):
            out[:, i, j, :] = np.sum(
                image[:, i : i + K, j : j + K, :, np.newaxis] * weights[np.newaxis, :, :, :], axis=(1, 2, 3)
            )


def arguments(rng, B, H, W, CI, CO, K):
    return {
        "image": rng.random((B, H, W, CI), dtype=np.float32),
        "weights": rng.random((K, K, CI, CO), dtype=np.float32),
        "out": np.zeros((B, H - K + 1, W - K + 1, CO), dtype=np.float32),
    }


def reference(image, weights, out):
    k = weights.shape[0]
    for i in range(out.shape[1]):
        for j in range(out.shape[2]):
            out[:, i, j, :] = np.einsum("bxyc,xyco->bo", image[:, i : i + k, j : j + k], weights)
