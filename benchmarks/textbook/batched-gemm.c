/* batched-gemm: many products of small matrices, and many small matrices times vectors. */
#include "textbook.h"

#ifndef BATCH
#define BATCH 3000
#endif
#ifndef S
#define S 20
#endif

static double A[BATCH][S][S], B[BATCH][S][S], C[BATCH][S][S];
static double x[BATCH][S], y[BATCH][S];

static void products(double A[BATCH][S][S], double B[BATCH][S][S], double C[BATCH][S][S])
{
    for (int b = 0; b < BATCH; b++)
        for (int i = 0; i < S; i++)
            for (int j = 0; j < S; j++) {
                C[b][i][j] = 0.0;
                for (int k = 0; k < S; k++)
                    C[b][i][j] += A[b][i][k] * B[b][k][j];
            }
}

static void images(double C[BATCH][S][S], double x[BATCH][S], double y[BATCH][S])
{
    for (int i = 0; i < S; i++)
        for (int b = 0; b < BATCH; b++)
            for (int k = 0; k < S; k++)
                y[b][i] += C[b][k][i] * x[b][k];
}

int main(void)
{
    fill(&A[0][0][0], (size_t)BATCH * S * S, 1);
    fill(&B[0][0][0], (size_t)BATCH * S * S, 2);
    fill(&x[0][0], (size_t)BATCH * S, 3);
    bench_start();
    products(A, B, C);
    images(C, x, y);
    bench_stop();
    checksum("C", &C[0][0][0], (size_t)BATCH * S * S);
    checksum("y", &y[0][0], (size_t)BATCH * S);
    return 0;
}
