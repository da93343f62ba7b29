/* trmm: B = alpha A^T B with A lower triangular, unit diagonal. */
#include "bench.h"

#ifndef M
#define M 1000
#endif
#ifndef N
#define N 1200
#endif

typedef double matrix_a[M][M];
typedef double matrix_b[M][N];

static matrix_a A;
static matrix_b B;

static void init_array(void)
{
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < i; j++)
            A[i][j] = (double)((i + 3 * j) % M) / M;
        A[i][i] = 1.0;
        for (int j = 0; j < N; j++)
            B[i][j] = (double)((N + 5 * i - j) % N) / N;
    }
}

static void kernel_trmm(int m, int n, double alpha, matrix_a A, matrix_b B)
{
    int i, j, k;
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++) {
            for (k = i + 1; k < m; k++)
                B[i][j] += A[k][i] * B[k][j];
            B[i][j] = alpha * B[i][j];
        }
}

int main(void)
{
    init_array();
    bench_start();
    kernel_trmm(M, N, 1.5, A, B);
    bench_stop();
    checksum("B", &B[0][0], (size_t)M * N);
    return 0;
}
