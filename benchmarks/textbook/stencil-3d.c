/* stencil-3d: seven points with coefficients that vary in space, all 27 neighbours by loops over the offsets, and a cross
 * of 13 points in single precision. */
#include "textbook.h"

#ifndef N
#define N 120
#endif

static double u[N][N][N], v[N][N][N], c[4][N][N][N], w[3][3][3], all[N][N][N];
static float p[N][N][N], q[N][N][N];

static void seven_points(int n, double u[n][n][n], double v[n][n][n], double c[4][n][n][n])
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++)
                v[i][j][k] = c[0][i][j][k] * u[i][j][k] + c[1][i][j][k] * (u[i - 1][j][k] + u[i + 1][j][k])
                             + c[2][i][j][k] * (u[i][j - 1][k] + u[i][j + 1][k])
                             + c[3][i][j][k] * (u[i][j][k - 1] + u[i][j][k + 1]);
}

static void all_neighbours(int n, double w[3][3][3], double u[n][n][n], double all[n][n][n])
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++)
                for (int di = 0; di < 3; di++)
                    for (int dj = 0; dj < 3; dj++)
                        for (int dk = 0; dk < 3; dk++)
                            all[i][j][k] += w[di][dj][dk] * u[i + di - 1][j + dj - 1][k + dk - 1];
}

static void cross(int n, float p[n][n][n], float q[n][n][n])
{
    for (int k = 2; k < n - 2; k++)
        for (int j = 2; j < n - 2; j++)
            for (int i = 2; i < n - 2; i++)
                q[i][j][k] = 0.4f * p[i][j][k]
                             + 0.07f * (p[i - 1][j][k] + p[i + 1][j][k] + p[i][j - 1][k] + p[i][j + 1][k]
                                        + p[i][j][k - 1] + p[i][j][k + 1])
                             + 0.03f * (p[i - 2][j][k] + p[i + 2][j][k] + p[i][j - 2][k] + p[i][j + 2][k]
                                        + p[i][j][k - 2] + p[i][j][k + 2]);
}

int main(void)
{
    fill(&u[0][0][0], (size_t)N * N * N, 1);
    fill(&c[0][0][0][0], (size_t)4 * N * N * N, 2);
    fill(&w[0][0][0], 27, 3);
    fill_float(&p[0][0][0], (size_t)N * N * N, 4);
    bench_start();
    seven_points(N, u, v, c);
    all_neighbours(N, w, u, all);
    cross(N, p, q);
    bench_stop();
    checksum("v", &v[0][0][0], (size_t)N * N * N);
    checksum("all", &all[0][0][0], (size_t)N * N * N);
    checksum_float("q", &q[0][0][0], (size_t)N * N * N);
    return 0;
}
