"""One level of the haar wavelet along the second dimension: averages, then differences."""

import dace
import numpy as np

N, M = (dace.symbol(s, dtype=dace.int64) for s in ("N", "M"))

SIZES = {"N": 6, "M": 4}
LARGE = {"N": 3000, "M": 1500}


@dace.program
def haar_x(image: dace.float64[N, 2 * M], out: dace.float64[N, 2 * M]):
    for i, j in dace.map[0:N, 0:M]:
        out[i, j] = (image[i, 2 * j] + image[i, 2 * j + 1]) / 2
        out[i, M + j] = (image[i, 2 * j] - image[i, 2 * j + 1]) / 2


def arguments(rng, N, M):
    return {"image": rng.random((N, 2 * M)), "out": np.zeros((N, 2 * M))}


def reference(image, out):
    half = image.shape[1] // 2
    out[:, :half] = (image[:, 0::2] + image[:, 1::2]) / 2
    out[:, half:] = (image[:, 0::2] - image[:, 1::2]) / 2
