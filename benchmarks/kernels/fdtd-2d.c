/* fdtd-2d: Maxwell's equations in two dimensions by finite differences in the time domain; electric field ex, ey
 * and magnetic field hz on a staggered grid, driven along the first row. */
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

static double ex[NX][NY];
static double ey[NX][NY];
static double hz[NX][NY];
static double fict[T];

static void init_array(int steps, int nx, int ny)
{
    int i, j;
    for (i = 0; i < steps; i++)
        fict[i] = 1.0 + (double)(i % 40) / 40.0;
    for (i = 0; i < nx; i++)
        for (j = 0; j < ny; j++) {
            ex[i][j] = 0.5 + (double)(i + 2 * j) / (nx + 2 * ny);
            ey[i][j] = 0.75 + (double)(3 * i + j) / (3 * nx + ny);
            hz[i][j] = 1.0 + (double)(i + j) / (nx + ny);
        }
}

static void kernel_fdtd_2d(int steps, int nx, int ny, double ex[NX][NY], double ey[NX][NY], double hz[NX][NY],
                           double fict[T])
{
    int t, i, j;

#pragma scop
    for (t = 0; t < steps; t++) {
        for (j = 0; j < ny; j++)
            ey[0][j] = fict[t];
        for (i = 1; i < nx; i++)
            for (j = 0; j < ny; j++)
                ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
        for (i = 0; i < nx; i++)
            for (j = 1; j < ny; j++)
                ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
        for (i = 0; i < nx - 1; i++)
            for (j = 0; j < ny - 1; j++)
                hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
#pragma endscop
}

int main(void)
{
    init_array(T, NX, NY);
    bench_start();
    kernel_fdtd_2d(T, NX, NY, ex, ey, hz, fict);
    bench_stop();
    checksum("ex", &ex[0][0], (size_t)NX * NY);
    checksum("ey", &ey[0][0], (size_t)NX * NY);
    checksum("hz", &hz[0][0], (size_t)NX * NY);
    return 0;
}
