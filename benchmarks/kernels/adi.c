/* adi: the heat equation in two dimensions by alternating-direction implicit (Peaceman-Rachford) steps.
 * Each half step solves one tridiagonal system per column, then per row, by forward elimination into p and q
 * and back substitution. The boundary is held at 1. */
#include <stdlib.h>
#include "bench.h"

#ifndef T
#define T 500
#endif
#ifndef N
#define N 1000
#endif

static void init_array(int n, double u[n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            u[i][j] = 0.5 + (double)((i + 2 * n - j) % n) / n;
}

static void kernel_adi(int steps, int n, double u[n][n], double v[n][n], double p[n][n], double q[n][n])
{
    double dx = 1.0 / (double)n;
    double dy = 1.0 / (double)n;
    double dt = 1.0 / (double)steps;
    double mul1 = 2.0 * dt / (dx * dx);
    double mul2 = 1.0 * dt / (dy * dy);
    double a = -mul1 / 2.0;
    double b = 1.0 + mul1;
    double c = a;
    double d = -mul2 / 2.0;
    double e = 1.0 + mul2;
    double f = d;

    for (int t = 1; t <= steps; t++) {
        /* columns */
        for (int i = 1; i < n - 1; i++) {
            v[0][i] = 1.0;
            p[i][0] = 0.0;
            q[i][0] = v[0][i];
            for (int j = 1; j < n - 1; j++) {
                p[i][j] = -c / (a * p[i][j - 1] + b);
                q[i][j] = (-d * u[j][i - 1] + (1.0 + 2.0 * d) * u[j][i] - f * u[j][i + 1] - a * q[i][j - 1]) /
                          (a * p[i][j - 1] + b);
            }
            v[n - 1][i] = 1.0;
            for (int j = n - 2; j >= 1; j--)
                v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
        }
        /* rows */
        for (int i = 1; i < n - 1; i++) {
            u[i][0] = 1.0;
            p[i][0] = 0.0;
            q[i][0] = u[i][0];
            for (int j = 1; j < n - 1; j++) {
                p[i][j] = -f / (d * p[i][j - 1] + e);
                q[i][j] = (-a * v[i - 1][j] + (1.0 + 2.0 * a) * v[i][j] - c * v[i + 1][j] - d * q[i][j - 1]) /
                          (d * p[i][j - 1] + e);
            }
            u[i][n - 1] = 1.0;
            for (int j = n - 2; j >= 1; j--)
                u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
        }
    }
}

int main(void)
{
    double(*u)[N] = malloc(sizeof(double[N][N]));
    double(*v)[N] = malloc(sizeof(double[N][N]));
    double(*p)[N] = malloc(sizeof(double[N][N]));
    double(*q)[N] = malloc(sizeof(double[N][N]));
    if (!u || !v || !p || !q)
        return 1;
    init_array(N, u);
    bench_start();
    kernel_adi(T, N, u, v, p, q);
    bench_stop();
    checksum("u", &u[0][0], (size_t)N * N);
    free(u);
    free(v);
    free(p);
    free(q);
    return 0;
}
