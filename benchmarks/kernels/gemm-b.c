/* gemm on hand-linearised arrays, as three dot-product loops: C = alpha A B + beta C. */
#include <stdlib.h>
#include "bench.h"

#ifndef NI
#define NI 1000
#endif
#ifndef NJ
#define NJ 1100
#endif
#ifndef NK
#define NK 1200
#endif

static void scale(int ni, int nj, double beta, double *C)
{
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++)
            C[i * nj + j] = beta * C[i * nj + j];
}

static void gemm(int ni, int nj, int nk, double alpha, const double *A, const double *B, double *C)
{
    for (int j = 0; j < nj; j++)
        for (int i = 0; i < ni; i++)
            for (int k = 0; k < nk; k++)
                C[i * nj + j] += alpha * A[i * nk + k] * B[k * nj + j];
}

int main(void)
{
    int ni = NI, nj = NJ, nk = NK;
    double *C = malloc((size_t)ni * nj * sizeof(double));
    double *A = malloc((size_t)ni * nk * sizeof(double));
    double *B = malloc((size_t)nk * nj * sizeof(double));
    if (!C || !A || !B)
        return 1;

    for (int i = 0; i < ni; i++) {
        for (int j = 0; j < nj; j++)
            C[i * nj + j] = (double)((3 * i + 5 * j) % 31) / 31.0;
        for (int k = 0; k < nk; k++)
            A[i * nk + k] = (double)((i * (k + 2) + 1) % ni) / ni;
    }
    for (int k = 0; k < nk; k++)
        for (int j = 0; j < nj; j++)
            B[k * nj + j] = (double)(((k + 1) * (j + 3)) % nj) / nj;

    bench_start();
    scale(ni, nj, 1.2, C);
    gemm(ni, nj, nk, 1.5, A, B, C);
    bench_stop();

    checksum("C", C, (size_t)ni * nj);
    free(C);
    free(A);
    free(B);
    return 0;
}
