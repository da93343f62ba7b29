/* advection: upwind transport through a volume in float, layers summed downwards, and gradients of a field as one array
 * with three components. */
#include "textbook.h"

#ifndef X
#define X 128
#endif
#ifndef Y
#define Y 132
#endif
#ifndef Z
#define Z 136
#endif

static float c[X][Y][Z], moved[X][Y][Z], column[Y][Z], gradient[X][Y][Z][3];

static void transport(int nx, int ny, int nz, float a, float b, float d, float *restrict c, float *restrict moved)
{
    for (int i = 1; i < nx; i++)
        for (int j = 1; j < ny; j++)
            for (int k = 1; k < nz; k++)
                moved[(i * ny + j) * nz + k] =
                    c[(i * ny + j) * nz + k] - a * (c[(i * ny + j) * nz + k] - c[((i - 1) * ny + j) * nz + k])
                    - b * (c[(i * ny + j) * nz + k] - c[(i * ny + j - 1) * nz + k])
                    - d * (c[(i * ny + j) * nz + k] - c[(i * ny + j) * nz + k - 1]);
}

static void load(float c[X][Y][Z], float column[Y][Z])
{
    for (int j = 0; j < Y; j++)
        for (int k = 0; k < Z; k++)
            for (int i = 0; i < X; i++)
                column[j][k] += c[i][j][k];
}

static void differentiate(float c[X][Y][Z], float gradient[X][Y][Z][3])
{
    for (int i = 1; i < X - 1; i++)
        for (int j = 1; j < Y - 1; j++)
            for (int k = 1; k < Z - 1; k++) {
                gradient[i][j][k][0] = 0.5f * (c[i + 1][j][k] - c[i - 1][j][k]);
                gradient[i][j][k][1] = 0.5f * (c[i][j + 1][k] - c[i][j - 1][k]);
                gradient[i][j][k][2] = 0.5f * (c[i][j][k + 1] - c[i][j][k - 1]);
            }
}

int main(void)
{
    fill_float(&c[0][0][0], (size_t)X * Y * Z, 1);
    bench_start();
    transport(X, Y, Z, 0.2f, 0.3f, 0.1f, &c[0][0][0], &moved[0][0][0]);
    load(moved, column);
    differentiate(moved, gradient);
    bench_stop();
    checksum_float("moved", &moved[0][0][0], (size_t)X * Y * Z);
    checksum_float("column", &column[0][0], (size_t)Y * Z);
    checksum_float("gradient", &gradient[0][0][0][0], (size_t)X * Y * Z * 3);
    return 0;
}
