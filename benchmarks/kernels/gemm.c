/* gemm: C = alpha A B + beta C. */
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

static void init_matrices(int ni, int nj, int nk, double C[ni][nj], double A[ni][nk], double B[nk][nj])
{
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++)
            C[i][j] = (double)((3 * i + 5 * j) % 31) / 31.0;
    for (int i = 0; i < ni; i++)
        for (int k = 0; k < nk; k++)
            A[i][k] = (double)((i * (k + 2) + 1) % ni) / ni;
    for (int k = 0; k < nk; k++)
        for (int j = 0; j < nj; j++)
            B[k][j] = (double)(((k + 1) * (j + 3)) % nj) / nj;
}

static void kernel_gemm(int ni, int nj, int nk, double alpha, double beta, double C[ni][nj], double A[ni][nk],
                        double B[nk][nj])
{
    for (int i = 0; i < ni; i++) {
        for (int j = 0; j < nj; j++)
            C[i][j] *= beta;
        for (int k = 0; k < nk; k++)
            for (int j = 0; j < nj; j++)
                C[i][j] += alpha * A[i][k] * B[k][j];
    }
}

int main(void)
{
    double(*C)[NJ] = malloc(sizeof(double[NI][NJ]));
    double(*A)[NK] = malloc(sizeof(double[NI][NK]));
    double(*B)[NJ] = malloc(sizeof(double[NK][NJ]));
    if (!C || !A || !B)
        return 1;
    init_matrices(NI, NJ, NK, C, A, B);
    bench_start();
    kernel_gemm(NI, NJ, NK, 1.5, 1.2, C, A, B);
    bench_stop();
    checksum("C", &C[0][0], (size_t)NI * NJ);
    free(C);
    free(A);
    free(B);
    return 0;
}
