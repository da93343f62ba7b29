/* shallow-water: one field of height and two of flow on a grid, updated from each other in every time step. */
#include "textbook.h"

#ifndef N
#define N 900
#endif
#ifndef M
#define M 920
#endif
#ifndef STEPS
#define STEPS 8
#endif

static double h[N][M], u[N][M], v[N][M], next[N][M];

static void step_flow(int n, int m, double dt, double h[n][m], double u[n][m], double v[n][m])
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) {
            u[i][j] -= dt * (9.81 * (h[i][j + 1] - h[i][j - 1]) + 0.1 * u[i][j]);
            v[i][j] -= dt * (9.81 * (h[i + 1][j] - h[i - 1][j]) + 0.1 * v[i][j]);
        }
}

static void step_height(int n, int m, double dt, double h[n][m], double u[n][m], double v[n][m], double next[n][m])
{
    for (int j = 1; j < m - 1; j++)
        for (int i = 1; i < n - 1; i++)
            next[i][j] = h[i][j] - dt * (h[i][j + 1] * u[i][j + 1] - h[i][j - 1] * u[i][j - 1])
                         - dt * (h[i + 1][j] * v[i + 1][j] - h[i - 1][j] * v[i - 1][j]);
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            h[i][j] = next[i][j];
}

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            h[i][j] = 1.0 + 0.2 * exp(-0.001 * ((i - N / 2) * (i - N / 2) + (j - M / 3) * (j - M / 3)));
    fill(&u[0][0], (size_t)N * M, 1);
    fill(&v[0][0], (size_t)N * M, 2);
    bench_start();
    for (int t = 0; t < STEPS; t++) {
        step_flow(N, M, 0.01, h, u, v);
        step_height(N, M, 0.01, h, u, v, next);
    }
    bench_stop();
    checksum("h", &h[0][0], (size_t)N * M);
    checksum("u", &u[0][0], (size_t)N * M);
    checksum("v", &v[0][0], (size_t)N * M);
    return 0;
}
