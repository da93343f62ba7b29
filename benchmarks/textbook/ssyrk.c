/* ssyrk: the lower triangle of C = A^T A in float, and a rank-one update of a whole matrix. */
#include "textbook.h"

#ifndef N
#define N 500
#endif
#ifndef K
#define K 480
#endif
#ifndef M
#define M 2200
#endif

static float A[K][N], C[N][N];
static float G[M][M], x[M], y[M];

static void rank_k(int n, int k, float A[k][n], float C[n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            for (int l = 0; l < k; l++)
                C[i][j] += A[l][i] * A[l][j];
}

static void rank_one(int m, float alpha, float G[restrict m][m], const float *restrict x, const float *restrict y)
{
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++)
            G[i][j] += alpha * x[i] * y[j];
}

int main(void)
{
    fill_float(&A[0][0], (size_t)K * N, 1);
    fill_float(x, M, 2);
    fill_float(y, M, 3);
    bench_start();
    rank_k(N, K, A, C);
    rank_one(M, 0.5f, G, x, y);
    bench_stop();
    checksum_float("C", &C[0][0], (size_t)N * N);
    checksum_float("G", &G[0][0], (size_t)M * M);
    return 0;
}
