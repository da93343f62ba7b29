/* gemver: A = A + u1 v1^T + u2 v2^T, x = x + beta A^T y + z, w = w + alpha A x. */
#include <stdlib.h>
#include "bench.h"

#ifndef N
#define N 2000
#endif

static void init_array(int n, double A[n][n], double u1[n], double v1[n], double u2[n], double v2[n], double w[n],
                       double x[n], double y[n], double z[n])
{
    double fn = (double)n;
    for (int i = 0; i < n; i++) {
        u1[i] = (double)(i % 11) / 11.0;
        u2[i] = ((i + 1) / fn) / 2.0;
        v1[i] = ((i + 1) / fn) / 4.0;
        v2[i] = (double)(i % 7) / 7.0;
        y[i] = ((i + 3) / fn) / 8.0;
        z[i] = ((i + 5) / fn) / 9.0;
        x[i] = 0.0;
        w[i] = 0.0;
        for (int j = 0; j < n; j++)
            A[i][j] = (double)((i * j + i + 3) % n) / n;
    }
}

static void kernel_gemver(int n, double alpha, double beta, double A[n][n], double u1[n], double v1[n], double u2[n],
                          double v2[n], double w[n], double x[n], double y[n], double z[n])
{
    int i, j;

    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];

    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            x[i] = x[i] + beta * A[j][i] * y[j];

    for (i = 0; i < n; i++)
        x[i] = x[i] + z[i];

    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            w[i] = w[i] + alpha * A[i][j] * x[j];
}

int main(void)
{
    double(*A)[N] = malloc(sizeof(double[N][N]));
    double *u1 = malloc(sizeof(double[N]));
    double *v1 = malloc(sizeof(double[N]));
    double *u2 = malloc(sizeof(double[N]));
    double *v2 = malloc(sizeof(double[N]));
    double *w = malloc(sizeof(double[N]));
    double *x = malloc(sizeof(double[N]));
    double *y = malloc(sizeof(double[N]));
    double *z = malloc(sizeof(double[N]));
    if (!A || !u1 || !v1 || !u2 || !v2 || !w || !x || !y || !z)
        return 1;
    init_array(N, A, u1, v1, u2, v2, w, x, y, z);
    bench_start();
    kernel_gemver(N, 1.5, 1.2, A, u1, v1, u2, v2, w, x, y, z);
    bench_stop();
    checksum("w", w, N);
    checksum("x", x, N);
    checksum("A", &A[0][0], (size_t)N * N);
    free(A);
    free(u1);
    free(v1);
    free(u2);
    free(v2);
    free(w);
    free(x);
    free(y);
    free(z);
    return 0;
}
