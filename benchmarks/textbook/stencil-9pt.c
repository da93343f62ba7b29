/* stencil-9pt: a weighted average of all eight neighbours, time step after time step between two arrays; a wider cross of
 * nine points along both axes. */
#include "textbook.h"

#ifndef N
#define N 600
#endif
#ifndef M
#define M 640
#endif
#ifndef STEPS
#define STEPS 60
#endif
#ifndef WIDE
#define WIDE 1500
#endif

static double u[N][M], v[N][M];
static double in[WIDE][WIDE], out[WIDE][WIDE];

static void smooth(int steps, int n, int m, double u[n][m], double v[n][m])
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++)
                v[i][j] = 0.25 * u[i][j] + 0.125 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1])
                          + 0.0625 * (u[i - 1][j - 1] + u[i - 1][j + 1] + u[i + 1][j - 1] + u[i + 1][j + 1]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++)
                u[i][j] = v[i][j];
    }
}

static void laplacian(int n, double in[n][n], double out[n][n])
{
    for (int i = 2; i < n - 2; i++)
        for (int j = 2; j < n - 2; j++)
            out[i][j] = (16.0 * (in[i - 1][j] + in[i + 1][j] + in[i][j - 1] + in[i][j + 1])
                         - (in[i - 2][j] + in[i + 2][j] + in[i][j - 2] + in[i][j + 2]) - 60.0 * in[i][j])
                        / 12.0;
}

int main(void)
{
    fill(&u[0][0], (size_t)N * M, 1);
    fill(&in[0][0], (size_t)WIDE * WIDE, 2);
    bench_start();
    smooth(STEPS, N, M, u, v);
    laplacian(WIDE, in, out);
    bench_stop();
    checksum("u", &u[0][0], (size_t)N * M);
    checksum("out", &out[0][0], (size_t)WIDE * WIDE);
    return 0;
}
