/* doitgen: multiresolution analysis kernel, A[r][q][p] = sum over s of A[r][q][s] C4[s][p]. */
#include <stdlib.h>
#include "bench.h"

#ifndef NQ
#define NQ 140
#endif
#ifndef NR
#define NR 150
#endif
#ifndef NP
#define NP 160
#endif

static void init_array(int nr, int nq, int np, double A[nr][nq][np], double C4[np][np])
{
    for (int i = 0; i < nr; i++)
        for (int j = 0; j < nq; j++)
            for (int k = 0; k < np; k++)
                A[i][j][k] = (double)((i * j + 3 * k + 1) % np) / np;
    for (int i = 0; i < np; i++)
        for (int j = 0; j < np; j++)
            C4[i][j] = (double)((i * j + i + 2) % np) / np;
}

static void kernel_doitgen(int nr, int nq, int np, double A[nr][nq][np], double C4[np][np], double sum[np])
{
    int r, q, p, s;
    for (r = 0; r < nr; r++)
        for (q = 0; q < nq; q++) {
            for (p = 0; p < np; p++) {
                sum[p] = 0.0;
                for (s = 0; s < np; s++)
                    sum[p] += A[r][q][s] * C4[s][p];
            }
            for (p = 0; p < np; p++)
                A[r][q][p] = sum[p];
        }
}

int main(void)
{
    double(*A)[NQ][NP] = malloc(sizeof(double[NR][NQ][NP]));
    double(*C4)[NP] = malloc(sizeof(double[NP][NP]));
    double *sum = malloc(sizeof(double[NP]));
    if (!A || !C4 || !sum)
        return 1;
    init_array(NR, NQ, NP, A, C4);
    bench_start();
    kernel_doitgen(NR, NQ, NP, A, C4, sum);
    bench_stop();
    checksum("A", &A[0][0][0], (size_t)NR * NQ * NP);
    free(A);
    free(C4);
    free(sum);
    return 0;
}
