/* 3mm: G = (A B) (C D). */
#include "bench.h"

#ifndef NI
#define NI 800
#endif
#ifndef NJ
#define NJ 900
#endif
#ifndef NK
#define NK 1000
#endif
#ifndef NL
#define NL 1100
#endif
#ifndef NM
#define NM 1200
#endif

static double A[NI][NK], B[NK][NJ], C[NJ][NM], D[NM][NL];
static double E[NI][NJ], F[NJ][NL], G[NI][NL];

static void init(void)
{
    int i, j;
    for (i = 0; i < NI; i++)
        for (j = 0; j < NK; j++)
            A[i][j] = (double)((i * j + 7) % NI) / (5 * NI);
    for (i = 0; i < NK; i++)
        for (j = 0; j < NJ; j++)
            B[i][j] = (double)((i * (j + 1) + 3) % NJ) / (5 * NJ);
    for (i = 0; i < NJ; i++)
        for (j = 0; j < NM; j++)
            C[i][j] = (double)((i + 2) * (j + 5) % NL) / (5 * NL);
    for (i = 0; i < NM; i++)
        for (j = 0; j < NL; j++)
            D[i][j] = (double)((i * (j + 2) + 1) % NK) / (5 * NK);
}

static void kernel_3mm(void)
{
    int i, j, k;

    /* E = A B */
    for (i = 0; i < NI; i++)
        for (j = 0; j < NJ; j++) {
            E[i][j] = 0.0;
            for (k = 0; k < NK; k++)
                E[i][j] += A[i][k] * B[k][j];
        }
    /* F = C D */
    for (i = 0; i < NJ; i++)
        for (j = 0; j < NL; j++) {
            F[i][j] = 0.0;
            for (k = 0; k < NM; k++)
                F[i][j] += C[i][k] * D[k][j];
        }
    /* G = E F */
    for (i = 0; i < NI; i++)
        for (j = 0; j < NL; j++) {
            G[i][j] = 0.0;
            for (k = 0; k < NJ; k++)
                G[i][j] += E[i][k] * F[k][j];
        }
}

int main(void)
{
    init();
    bench_start();
    kernel_3mm();
    bench_stop();
    checksum("G", &G[0][0], (size_t)NI * NL);
    return 0;
}
