/* fdtd-2d on linearised arrays, electric updates fused into one nest, loops column first. */
#include <stdlib.h>
#include "bench.h"

#ifndef T
#define T 500
#endif
#ifndef NX
#define NX 1000
#endif
#ifndef NY
#define NY 1200
#endif

static void electric(int nx, int ny, double drive, double *restrict ex, double *restrict ey, const double *restrict hz)
{
    for (int j = 0; j < ny; j++)
        ey[j] = drive;
    for (int j = 1; j < ny; j++)
        ex[j] -= 0.5 * (hz[j] - hz[j - 1]);
    for (int i = 1; i < nx; i++) {
        ey[i * ny] -= 0.5 * (hz[i * ny] - hz[(i - 1) * ny]);
        for (int j = 1; j < ny; j++) {
            ey[i * ny + j] -= 0.5 * (hz[i * ny + j] - hz[(i - 1) * ny + j]);
            ex[i * ny + j] -= 0.5 * (hz[i * ny + j] - hz[i * ny + j - 1]);
        }
    }
}

static void magnetic(int nx, int ny, const double *restrict ex, const double *restrict ey, double *restrict hz)
{
    for (int j = 0; j < ny - 1; j++)
        for (int i = 0; i < nx - 1; i++)
            hz[i * ny + j] -=
                0.7 * (ex[i * ny + j + 1] - ex[i * ny + j] + ey[(i + 1) * ny + j] - ey[i * ny + j]);
}

int main(void)
{
    size_t cells = (size_t)NX * NY;
    double *ex = malloc(cells * sizeof *ex);
    double *ey = malloc(cells * sizeof *ey);
    double *hz = malloc(cells * sizeof *hz);
    if (!ex || !ey || !hz)
        return 1;
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NY; j++) {
            ex[i * NY + j] = 0.5 + (double)(i + 2 * j) / (NX + 2 * NY);
            ey[i * NY + j] = 0.75 + (double)(3 * i + j) / (3 * NX + NY);
            hz[i * NY + j] = 1.0 + (double)(i + j) / (NX + NY);
        }
    bench_start();
    for (int t = 0; t < T; t++) {
        electric(NX, NY, 1.0 + (double)(t % 40) / 40.0, ex, ey, hz);
        magnetic(NX, NY, ex, ey, hz);
    }
    bench_stop();
    checksum("ex", ex, cells);
    checksum("ey", ey, cells);
    checksum("hz", hz, cells);
    free(ex);
    free(ey);
    free(hz);
    return 0;
}
