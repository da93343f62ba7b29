/* 2mm with row-wise products and separate initialisation: D = alpha A B C + beta D. */
#include <stdlib.h>
#include "bench.h"

#ifndef NI
#define NI 800
#endif
#ifndef NJ
#define NJ 900
#endif
#ifndef NK
#define NK 1100
#endif
#ifndef NL
#define NL 1200
#endif

static void init(int ni, int nj, int nk, int nl, double *A, double *B, double *C, double *D)
{
    int i, j, k, l;
    for (i = 0; i < ni; i++)
        for (k = 0; k < nk; k++)
            A[i * nk + k] = (double)((i * k + 2 * k + 1) % ni) / ni;
    for (k = 0; k < nk; k++)
        for (j = 0; j < nj; j++)
            B[k * nj + j] = (double)((k * (j + 1) + 4) % nj) / nj;
    for (j = 0; j < nj; j++)
        for (l = 0; l < nl; l++)
            C[j * nl + l] = (double)(((j + 2) * (l + 3) + 1) % nl) / nl;
    for (i = 0; i < ni; i++)
        for (l = 0; l < nl; l++)
            D[i * nl + l] = (double)(i * (l + 2) % nk) / nk;
}

static void two_products(int ni, int nj, int nk, int nl, double alpha, double beta, double *restrict tmp,
                         const double *restrict A, const double *restrict B, const double *restrict C,
                         double *restrict D)
{
    int i, j, k;

    for (i = 0; i < ni; i++)
        for (j = 0; j < nj; j++)
            tmp[i * nj + j] = 0.0;
    for (k = 0; k < nk; k++)
        for (i = 0; i < ni; i++)
            for (j = 0; j < nj; j++)
                tmp[i * nj + j] += A[i * nk + k] * B[k * nj + j];

    for (i = 0; i < ni; i++)
        for (j = 0; j < nl; j++)
            D[i * nl + j] *= beta;
    for (j = 0; j < nl; j++)
        for (k = 0; k < nj; k++)
            for (i = 0; i < ni; i++)
                D[i * nl + j] += alpha * tmp[i * nj + k] * C[k * nl + j];
}

int main(void)
{
    double *tmp = malloc((size_t)NI * NJ * sizeof *tmp);
    double *A = malloc((size_t)NI * NK * sizeof *A);
    double *B = malloc((size_t)NK * NJ * sizeof *B);
    double *C = malloc((size_t)NJ * NL * sizeof *C);
    double *D = malloc((size_t)NI * NL * sizeof *D);
    if (!tmp || !A || !B || !C || !D)
        return 1;
    init(NI, NJ, NK, NL, A, B, C, D);
    bench_start();
    two_products(NI, NJ, NK, NL, 1.5, 1.2, tmp, A, B, C, D);
    bench_stop();
    checksum("D", D, (size_t)NI * NL);
    free(tmp);
    free(A);
    free(B);
    free(C);
    free(D);
    return 0;
}
