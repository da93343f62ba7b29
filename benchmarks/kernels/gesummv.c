/* gesummv: y = alpha A x + beta B x. */
#include <stdlib.h>
#include "bench.h"

#ifndef N
#define N 1300
#endif

static void init_array(int n, double A[n][n], double B[n][n], double x[n])
{
    for (int i = 0; i < n; i++) {
        x[i] = 0.1 + (double)(i % 29) / 29.0;
        for (int j = 0; j < n; j++) {
            A[i][j] = (double)((i * j + 5) % n) / n;
            B[i][j] = (double)((i * j + 2 * j + 1) % n) / n;
        }
    }
}

static void kernel_gesummv(int n, double alpha, double beta, double A[restrict n][n], double B[restrict n][n],
                           double tmp[restrict n], double x[restrict n], double y[restrict n])
{
    int i, j;
    for (i = 0; i < n; i++) {
        tmp[i] = 0.0;
        y[i] = 0.0;
        for (j = 0; j < n; j++) {
            tmp[i] = A[i][j] * x[j] + tmp[i];
            y[i] = B[i][j] * x[j] + y[i];
        }
        y[i] = alpha * tmp[i] + beta * y[i];
    }
}

int main(void)
{
    double(*A)[N] = malloc(sizeof(double[N][N]));
    double(*B)[N] = malloc(sizeof(double[N][N]));
    double *tmp = malloc(N * sizeof *tmp);
    double *x = malloc(N * sizeof *x);
    double *y = malloc(N * sizeof *y);
    if (!A || !B || !tmp || !x || !y)
        return 1;
    init_array(N, A, B, x);
    bench_start();
    kernel_gesummv(N, 1.5, 1.2, A, B, tmp, x, y);
    bench_stop();
    checksum("y", y, N);
    free(A);
    free(B);
    free(tmp);
    free(x);
    free(y);
    return 0;
}
