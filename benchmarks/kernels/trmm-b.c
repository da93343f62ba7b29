/* trmm on linearised arrays, one column of B after the other, the scaling in a nest of its own. */
#include <stdlib.h>
#include "bench.h"

#ifndef M
#define M 1000
#endif
#ifndef N
#define N 1200
#endif

static void trmm(int m, int n, double alpha, const double *A, double *B)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            for (int k = i + 1; k < m; k++)
                B[i * n + j] += A[k * m + i] * B[k * n + j];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            B[i * n + j] *= alpha;
}

int main(void)
{
    double *A = malloc((size_t)M * M * sizeof *A);
    double *B = malloc((size_t)M * N * sizeof *B);
    if (!A || !B)
        return 1;
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < i; j++)
            A[i * M + j] = (double)((i + 3 * j) % M) / M;
        for (int j = i; j < M; j++)
            A[i * M + j] = i == j ? 1.0 : 0.0;
        for (int j = 0; j < N; j++)
            B[i * N + j] = (double)((N + 5 * i - j) % N) / N;
    }
    bench_start();
    trmm(M, N, 1.5, A, B);
    bench_stop();
    checksum("B", B, (size_t)M * N);
    free(A);
    free(B);
    return 0;
}
