/* syrk with the sum outermost and the triangle walked by columns. */
#include "bench.h"

#ifndef M
#define M 1000
#endif
#ifndef N
#define N 1200
#endif

static double C[N][N], A[N][M];

static void syrk(double alpha, double beta)
{
    for (int j = 0; j < N; j++)
        for (int i = j; i < N; i++)
            C[i][j] = beta * C[i][j];
    for (int k = 0; k < M; k++)
        for (int j = 0; j < N; j++)
            for (int i = j; i < N; i++)
                C[i][j] += alpha * A[i][k] * A[j][k];
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < M; j++)
            A[i][j] = (double)((i * j + 3 * j + 1) % N) / N;
        for (int j = 0; j < N; j++)
            C[i][j] = (double)((i * j + 2) % M) / M;
    }
    bench_start();
    syrk(1.5, 1.2);
    bench_stop();
    checksum("C", &C[0][0], (size_t)N * N);
    return 0;
}
