/* doitgen with a whole intermediate array instead of one row: three separate nests, columns of C4 outermost. */
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

static double A[NR][NQ][NP];
static double sum[NR][NQ][NP];
static double C4[NP][NP];

static void doitgen(void)
{
    for (int r = 0; r < NR; r++)
        for (int q = 0; q < NQ; q++)
            for (int p = 0; p < NP; p++)
                sum[r][q][p] = 0.0;
    for (int p = 0; p < NP; p++)
        for (int r = 0; r < NR; r++)
            for (int q = 0; q < NQ; q++)
                for (int s = 0; s < NP; s++)
                    sum[r][q][p] += A[r][q][s] * C4[s][p];
    for (int r = 0; r < NR; r++)
        for (int q = 0; q < NQ; q++)
            for (int p = 0; p < NP; p++)
                A[r][q][p] = sum[r][q][p];
}

int main(void)
{
    for (int i = 0; i < NR; i++)
        for (int j = 0; j < NQ; j++)
            for (int k = 0; k < NP; k++)
                A[i][j][k] = (double)((i * j + 3 * k + 1) % NP) / NP;
    for (int i = 0; i < NP; i++)
        for (int j = 0; j < NP; j++)
            C4[i][j] = (double)((i * j + i + 2) % NP) / NP;
    bench_start();
    doitgen();
    bench_stop();
    checksum("A", &A[0][0][0], (size_t)NR * NQ * NP);
    return 0;
}
