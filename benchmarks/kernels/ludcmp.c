/* ludcmp: solves A x = b by LU decomposition, then forward and backward substitution. */
#include <stdlib.h>
#include "bench.h"

#ifndef N
#define N 2000
#endif

static void init_system(int n, double A[n][n], double b[n], double x[n], double y[n])
{
    for (int i = 0; i < n; i++) {
        b[i] = 4.0 + (double)(i % 50) / 50.0;
        x[i] = 0.0;
        y[i] = 0.0;
        for (int j = 0; j < n; j++) {
            int distance = i > j ? i - j : j - i;
            A[i][j] = 1.0 / (double)(distance + 1);
            if (i == j)
                A[i][j] += 22.0;
        }
    }
}

static void kernel_ludcmp(int n, double A[n][n], double b[n], double x[n], double y[n])
{
    int i, j, k;
    double w;

#pragma scop
    for (i = 0; i < n; i++) {
        for (j = 0; j < i; j++) {
            w = A[i][j];
            for (k = 0; k < j; k++)
                w -= A[i][k] * A[k][j];
            A[i][j] = w / A[j][j];
        }
        for (j = i; j < n; j++) {
            w = A[i][j];
            for (k = 0; k < i; k++)
                w -= A[i][k] * A[k][j];
            A[i][j] = w;
        }
    }

    for (i = 0; i < n; i++) {
        w = b[i];
        for (j = 0; j < i; j++)
            w -= A[i][j] * y[j];
        y[i] = w;
    }

    for (i = n - 1; i >= 0; i--) {
        w = y[i];
        for (j = i + 1; j < n; j++)
            w -= A[i][j] * x[j];
        x[i] = w / A[i][i];
    }
#pragma endscop
}

int main(void)
{
    double(*A)[N] = malloc(sizeof(double[N][N]));
    double *b = malloc(sizeof(double[N]));
    double *x = malloc(sizeof(double[N]));
    double *y = malloc(sizeof(double[N]));
    if (!A || !b || !x || !y)
        return 1;
    init_system(N, A, b, x, y);
    bench_start();
    kernel_ludcmp(N, A, b, x, y);
    bench_stop();
    checksum("x", x, N);
    free(A);
    free(b);
    free(x);
    free(y);
    return 0;
}
