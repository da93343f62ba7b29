/* mvt with both products fused into one nest over a linearised matrix, columns outermost. */
#include <stdlib.h>
#include "bench.h"

#ifndef N
#define N 2000
#endif

static void mvt(int n, double *x1, double *x2, const double *y1, const double *y2, const double *A)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            x1[i] += A[i * n + j] * y1[j];
            x2[j] += A[i * n + j] * y2[i];
        }
}

int main(void)
{
    double *A = malloc((size_t)N * N * sizeof(double));
    double *x1 = malloc(N * sizeof(double));
    double *x2 = malloc(N * sizeof(double));
    double *y1 = malloc(N * sizeof(double));
    double *y2 = malloc(N * sizeof(double));
    if (!A || !x1 || !x2 || !y1 || !y2)
        return 1;
    for (int i = 0; i < N; i++) {
        x1[i] = (double)(i % 13) / 13.0;
        x2[i] = (double)((i + 1) % 19) / 19.0;
        y1[i] = 0.3 + (double)((i + 3) % 41) / 41.0;
        y2[i] = 0.2 + (double)((i + 4) % 43) / 43.0;
        for (int j = 0; j < N; j++)
            A[i * N + j] = (double)((i * j + j + 1) % N) / N;
    }
    bench_start();
    mvt(N, x1, x2, y1, y2, A);
    bench_stop();
    checksum("x1", x1, N);
    checksum("x2", x2, N);
    free(A);
    free(x1);
    free(x2);
    free(y1);
    free(y2);
    return 0;
}
