/* 2mm: D = alpha A B C + beta D, through the intermediate tmp = alpha A B. */
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

#define DATA_TYPE double
#define LOOP_NI ni
#define LOOP_NJ nj
#define LOOP_NK nk
#define LOOP_NL nl

static DATA_TYPE tmp[NI][NJ];
static DATA_TYPE A[NI][NK];
static DATA_TYPE B[NK][NJ];
static DATA_TYPE C[NJ][NL];
static DATA_TYPE D[NI][NL];

static void init_array(int ni, int nj, int nk, int nl, DATA_TYPE *alpha, DATA_TYPE *beta)
{
    *alpha = 1.5;
    *beta = 1.2;
    for (int i = 0; i < ni; i++)
        for (int k = 0; k < nk; k++)
            A[i][k] = (DATA_TYPE)((i * k + 2 * k + 1) % ni) / ni;
    for (int k = 0; k < nk; k++)
        for (int j = 0; j < nj; j++)
            B[k][j] = (DATA_TYPE)((k * (j + 1) + 4) % nj) / nj;
    for (int j = 0; j < nj; j++)
        for (int l = 0; l < nl; l++)
            C[j][l] = (DATA_TYPE)(((j + 2) * (l + 3) + 1) % nl) / nl;
    for (int i = 0; i < ni; i++)
        for (int l = 0; l < nl; l++)
            D[i][l] = (DATA_TYPE)(i * (l + 2) % nk) / nk;
}

static void kernel_2mm(int ni, int nj, int nk, int nl, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE tmp[NI][NJ],
                       DATA_TYPE A[NI][NK], DATA_TYPE B[NK][NJ], DATA_TYPE C[NJ][NL], DATA_TYPE D[NI][NL])
{
    int i, j, k;

#pragma scop
    for (i = 0; i < LOOP_NI; i++)
        for (j = 0; j < LOOP_NJ; j++) {
            tmp[i][j] = 0.0;
            for (k = 0; k < LOOP_NK; ++k)
                tmp[i][j] += alpha * A[i][k] * B[k][j];
        }
    for (i = 0; i < LOOP_NI; i++)
        for (j = 0; j < LOOP_NL; j++) {
            D[i][j] *= beta;
            for (k = 0; k < LOOP_NJ; ++k)
                D[i][j] += tmp[i][k] * C[k][j];
        }
#pragma endscop
}

int main(void)
{
    DATA_TYPE alpha, beta;
    init_array(NI, NJ, NK, NL, &alpha, &beta);
    bench_start();
    kernel_2mm(NI, NJ, NK, NL, alpha, beta, tmp, A, B, C, D);
    bench_stop();
    checksum("D", &D[0][0], (size_t)NI * NL);
    return 0;
}
