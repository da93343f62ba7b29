/* ldlt: A = L D L^T without square roots in double, and A = U^T U in float, both in place. */
#include "textbook.h"

#ifndef N
#define N 700
#endif

static double A[N][N], d[N];
static float F[N][N];

static void ldlt(int n, double A[n][n], double d[n])
{
    for (int j = 0; j < n; j++) {
        d[j] = A[j][j];
        for (int i = j + 1; i < n; i++)
            for (int k = j + 1; k <= i; k++)
                A[i][k] -= A[i][j] * A[k][j] / d[j];
        for (int i = j + 1; i < n; i++)
            A[i][j] /= d[j];
    }
}

static void cholesky_upper(int n, float F[n][n])
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            for (int j = i; j < n; j++)
                F[i][j] -= F[k][i] * F[k][j];
        float pivot = sqrtf(F[i][i]);
        for (int j = i; j < n; j++)
            F[i][j] /= pivot;
    }
}

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = 1.0 / (1.0 + abs(i - j)) + (i == j ? 4.0 : 0.0);
            F[i][j] = (float)A[i][j];
        }
    bench_start();
    ldlt(N, A, d);
    cholesky_upper(N, F);
    bench_stop();
    checksum("A", &A[0][0], (size_t)N * N);
    checksum("d", d, N);
    checksum_float("F", &F[0][0], (size_t)N * N);
    return 0;
}
