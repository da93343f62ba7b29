/* syr2k: C = alpha (A B^T + B A^T) + beta C, lower triangle of the symmetric C only. */
#include <stdlib.h>
#include "bench.h"

#ifndef M
#define M 1000
#endif
#ifndef N
#define N 1200
#endif

static void init_array(int n, int m, double C[n][n], double A[n][m], double B[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            A[i][j] = (double)((i * j + 1) % n) / n;
            B[i][j] = (double)((i * j + 2 * i + 2) % m) / m;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            C[i][j] = (double)((i * j + 3) % n) / m;
}

static void kernel_syr2k(int n, int m, double alpha, double beta, double C[restrict n][n], double A[restrict n][m],
                         double B[restrict n][m])
{
    int i, j, k;
    for (i = 0; i < n; i++) {
        for (j = 0; j <= i; j++)
            C[i][j] *= beta;
        for (k = 0; k < m; k++)
            for (j = 0; j <= i; j++)
                C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
    }
}

int main(void)
{
    double(*C)[N] = malloc(sizeof(double[N][N]));
    double(*A)[M] = malloc(sizeof(double[N][M]));
    double(*B)[M] = malloc(sizeof(double[N][M]));
    if (!C || !A || !B)
        return 1;
    init_array(N, M, C, A, B);
    bench_start();
    kernel_syr2k(N, M, 1.5, 1.2, C, A, B);
    bench_stop();
    checksum("C", &C[0][0], (size_t)N * N);
    free(C);
    free(A);
    free(B);
    return 0;
}
