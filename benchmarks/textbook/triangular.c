/* triangular: matrix-vector products that read only a triangle, the sum of all products of pairs, and sums along diagonals. */
#include "textbook.h"

#ifndef N
#define N 2600
#endif

static float A[N][N], x[N], y[N], z[N], diagonal[2 * N];
static float pairs[N];

static void lower_times(int n, float A[n][n], const float *restrict x, float *restrict y)
{
    for (int i = 0; i < n; i++) {
        y[i] = 0.0f;
        for (int j = 0; j <= i; j++)
            y[i] += A[i][j] * x[j];
    }
}

static void transposed_times(int n, float A[n][n], const float *restrict x, float *restrict z)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= n - 1 - i; j++)
            z[i] += A[i + j][i] * x[i + j];
}

static void pair_products(int n, const float *restrict x, float *restrict pairs)
{
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = i + 1; j < n; j++)
            sum += x[i] * x[j] / (1.0f + fabsf(x[i] - x[j]));
        pairs[i] = sum;
    }
}

static void diagonal_sums(int n, float A[n][n], float *restrict diagonal)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            diagonal[i - j + n] += A[i][j];
}

int main(void)
{
    fill_float(&A[0][0], (size_t)N * N, 1);
    fill_float(x, N, 2);
    bench_start();
    lower_times(N, A, x, y);
    transposed_times(N, A, x, z);
    pair_products(N, x, pairs);
    diagonal_sums(N, A, diagonal);
    bench_stop();
    checksum_float("y", y, N);
    checksum_float("z", z, N);
    checksum_float("pairs", pairs, N);
    checksum_float("diagonal", diagonal, 2 * N);
    return 0;
}
