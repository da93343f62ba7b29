/* syr2k on linearised arrays as dot products of rows, the two terms in separate nests. */
#include <stdlib.h>
#include "bench.h"

#ifndef M
#define M 1000
#endif
#ifndef N
#define N 1200
#endif

static void syr2k(int n, int m, double alpha, double beta, double *restrict C, const double *restrict A,
                  const double *restrict B)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            C[i * n + j] *= beta;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < m; k++)
                C[i * n + j] += alpha * A[j * m + k] * B[i * m + k];
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < m; k++)
                C[i * n + j] += alpha * B[j * m + k] * A[i * m + k];
}

int main(void)
{
    double *C = malloc((size_t)N * N * sizeof *C);
    double *A = malloc((size_t)N * M * sizeof *A);
    double *B = malloc((size_t)N * M * sizeof *B);
    if (!C || !A || !B)
        return 1;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < M; j++) {
            A[i * M + j] = (double)((i * j + 1) % N) / N;
            B[i * M + j] = (double)((i * j + 2 * i + 2) % M) / M;
        }
        for (int j = 0; j < N; j++)
            C[i * N + j] = (double)((i * j + 3) % N) / M;
    }
    bench_start();
    syr2k(N, M, 1.5, 1.2, C, A, B);
    bench_stop();
    checksum("C", C, (size_t)N * N);
    free(C);
    free(A);
    free(B);
    return 0;
}
