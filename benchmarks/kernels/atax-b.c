/* atax in two separate passes over linearised storage, the second one column by column: y = A^T (A x). */
#include <stdlib.h>
#include "bench.h"

#ifndef M
#define M 1900
#endif
#ifndef N
#define N 2100
#endif

static void atax(int m, int n, const double *A, const double *x, double *y, double *tmp)
{
    int i, j;
    for (i = 0; i < m; i++) {
        double dot = 0.0;
        for (j = 0; j < n; j++)
            dot += A[i * n + j] * x[j];
        tmp[i] = dot;
    }
    for (j = 0; j < n; j++) {
        y[j] = 0.0;
        for (i = 0; i < m; i++)
            y[j] += A[i * n + j] * tmp[i];
    }
}

int main(void)
{
    int i, j;
    double *A = malloc((size_t)M * N * sizeof(double));
    double *x = malloc(N * sizeof(double));
    double *y = malloc(N * sizeof(double));
    double *tmp = malloc(M * sizeof(double));
    if (!A || !x || !y || !tmp)
        return 1;
    for (j = 0; j < N; j++)
        x[j] = 1.0 + (double)j / N;
    for (i = 0; i < M; i++)
        for (j = 0; j < N; j++)
            A[i * N + j] = (double)((i + 3 * j) % N) / (5.0 * M);
    bench_start();
    atax(M, N, A, x, y, tmp);
    bench_stop();
    checksum("y", y, N);
    free(A);
    free(x);
    free(y);
    free(tmp);
    return 0;
}
