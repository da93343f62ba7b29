/* symm: C = alpha A B + beta C with symmetric A, of which only the lower triangle is read. */
#include <stdlib.h>
#include "bench.h"

#ifndef M
#define M 1000
#endif
#ifndef N
#define N 1200
#endif

typedef double real;

/* The upper triangle of A holds a value that must not be used. */
static void init_array(int m, int n, real C[m][n], real A[m][m], real B[m][n])
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = (real)((i + j) % 100) / m;
            B[i][j] = (real)((n + i - j) % 100) / m;
        }
    for (int i = 0; i < m; i++) {
        for (int j = 0; j <= i; j++)
            A[i][j] = (real)((i + 2 * j) % 100) / m;
        for (int j = i + 1; j < m; j++)
            A[i][j] = -999.0;
    }
}

static void kernel_symm(int m, int n, real alpha, real beta, real C[m][n], real A[m][m], real B[m][n])
{
    int i, j, k;
    real temp2;

    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++) {
            temp2 = 0;
            for (k = 0; k < i; k++) {
                C[k][j] += alpha * B[i][j] * A[i][k];
                temp2 += B[k][j] * A[i][k];
            }
            C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * temp2;
        }
}

int main(void)
{
    real(*C)[N] = malloc(sizeof(real[M][N]));
    real(*A)[M] = malloc(sizeof(real[M][M]));
    real(*B)[N] = malloc(sizeof(real[M][N]));
    if (!C || !A || !B)
        return 1;
    init_array(M, N, C, A, B);
    bench_start();
    kernel_symm(M, N, 1.5, 1.2, C, A, B);
    bench_stop();
    checksum("C", &C[0][0], (size_t)M * N);
    free(C);
    free(A);
    free(B);
    return 0;
}
