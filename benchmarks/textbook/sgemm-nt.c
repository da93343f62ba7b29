/* sgemm-nt: float products with a transposed operand, C = A B^T and D = A^T B, dot-product order. */
#include "textbook.h"

#ifndef M
#define M 420
#endif
#ifndef N
#define N 440
#endif
#ifndef K
#define K 460
#endif

static float A[M][K], B[N][K], C[M][N];
static float P[K][M], Q[K][N], D[M][N];

static void product_nt(int m, int n, int k, float A[m][k], float B[n][k], float C[m][n])
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int l = 0; l < k; l++)
                sum += A[i][l] * B[j][l];
            C[i][j] = sum;
        }
}

static void product_tn(int m, int n, int k, float P[k][m], float Q[k][n], float D[m][n])
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            for (int l = 0; l < k; l++)
                D[i][j] += P[l][i] * Q[l][j];
}

int main(void)
{
    fill_float(&A[0][0], (size_t)M * K, 1);
    fill_float(&B[0][0], (size_t)N * K, 2);
    fill_float(&P[0][0], (size_t)K * M, 3);
    fill_float(&Q[0][0], (size_t)K * N, 4);
    bench_start();
    product_nt(M, N, K, A, B, C);
    product_tn(M, N, K, P, Q, D);
    bench_stop();
    checksum_float("C", &C[0][0], (size_t)M * N);
    checksum_float("D", &D[0][0], (size_t)M * N);
    return 0;
}
