/* heat-3d: the heat equation on a cube, explicit steps with the seven-point stencil, two steps per iteration. */
#include <stdlib.h>
#include "bench.h"

#ifndef T
#define T 500
#endif
#ifndef N
#define N 120
#endif

static void init_array(int n, double A[n][n][n], double B[n][n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                A[i][j][k] = B[i][j][k] = 1.0 + (double)(i + 2 * j + 3 * (n - k)) * 5.0 / n + (double)((i * j + k) % 5);
}

static void kernel_heat_3d(int steps, int n, double A[n][n][n], double B[n][n][n])
{
    int t, i, j, k;

    for (t = 1; t <= steps; t++) {
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < n - 1; j++)
                for (k = 1; k < n - 1; k++)
                    B[i][j][k] = 0.125 * (A[i + 1][j][k] - 2.0 * A[i][j][k] + A[i - 1][j][k]) +
                                 0.125 * (A[i][j + 1][k] - 2.0 * A[i][j][k] + A[i][j - 1][k]) +
                                 0.125 * (A[i][j][k + 1] - 2.0 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k];
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < n - 1; j++)
                for (k = 1; k < n - 1; k++)
                    A[i][j][k] = 0.125 * (B[i + 1][j][k] - 2.0 * B[i][j][k] + B[i - 1][j][k]) +
                                 0.125 * (B[i][j + 1][k] - 2.0 * B[i][j][k] + B[i][j - 1][k]) +
                                 0.125 * (B[i][j][k + 1] - 2.0 * B[i][j][k] + B[i][j][k - 1]) + B[i][j][k];
    }
}

int main(void)
{
    double(*A)[N][N] = malloc(sizeof(double[N][N][N]));
    double(*B)[N][N] = malloc(sizeof(double[N][N][N]));
    if (!A || !B)
        return 1;
    init_array(N, A, B);
    bench_start();
    kernel_heat_3d(T, N, A, B);
    bench_stop();
    checksum("A", &A[0][0][0], (size_t)N * N * N);
    free(A);
    free(B);
    return 0;
}
