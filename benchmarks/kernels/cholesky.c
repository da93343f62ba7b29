/* cholesky: A = L L^T for a symmetric positive definite A; L overwrites the lower triangle. */
#include <math.h>
#include <stdlib.h>
#include "bench.h"

#ifndef N
#define N 2000
#endif

typedef double real;

static void init_spd(int n, real A[n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int distance = i > j ? i - j : j - i;
            A[i][j] = 1.0 / (real)(distance + 1);
            if (i == j)
                A[i][j] += 20.0 + (real)(i % 5);
        }
}

static void kernel_cholesky(int n, real A[n][n])
{
    int i, j, k;
    for (i = 0; i < n; i++) {
        for (j = 0; j < i; j++) {
            for (k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[j][k];
            A[i][j] /= A[j][j];
        }
        for (k = 0; k < i; k++)
            A[i][i] -= A[i][k] * A[i][k];
        A[i][i] = sqrt(A[i][i]);
    }
}

int main(void)
{
    real(*A)[N] = malloc(sizeof(real[N][N]));
    if (!A)
        return 1;
    init_spd(N, A);
    bench_start();
    kernel_cholesky(N, A);
    bench_stop();
    checksum("A", &A[0][0], (size_t)N * N);
    free(A);
    return 0;
}
