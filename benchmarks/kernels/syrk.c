/* syrk: C = alpha A A^T + beta C, lower triangle of the symmetric C only. */
#include <stdlib.h>
#include "bench.h"

#ifndef M
#define M 1000
#endif
#ifndef N
#define N 1200
#endif

static void init_array(double (*C)[N], double (*A)[M])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            A[i][j] = (double)((i * j + 3 * j + 1) % N) / N;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            C[i][j] = (double)((i * j + 2) % M) / M;
}

static void kernel_syrk(double alpha, double beta, double (*C)[N], double (*A)[M])
{
    int i, j, k;
    for (i = 0; i < N; i++) {
        for (j = 0; j <= i; j++)
            C[i][j] *= beta;
        for (k = 0; k < M; k++)
            for (j = 0; j <= i; j++)
                C[i][j] += alpha * A[i][k] * A[j][k];
    }
}

int main(void)
{
    double(*C)[N] = malloc(N * sizeof *C);
    double(*A)[M] = malloc(N * sizeof *A);
    if (!C || !A)
        return 1;
    init_array(C, A);
    bench_start();
    kernel_syrk(1.5, 1.2, C, A);
    bench_stop();
    checksum("C", &C[0][0], (size_t)N * N);
    free(C);
    free(A);
    return 0;
}
