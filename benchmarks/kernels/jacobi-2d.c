/* jacobi-2d: five-point averaging of a square, two steps per iteration. */
#include "bench.h"

#ifndef T
#define T 500
#endif
#ifndef N
#define N 1300
#endif

static double A[N][N];
static double B[N][N];

static void init_array(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = 1.0 + (double)((i * (j + 2) + 2) % N) / N;
            B[i][j] = A[i][j];
        }
}

static void kernel_jacobi_2d(int steps, int n, double A[N][N], double B[N][N])
{
    int t, i, j;
    for (t = 0; t < steps; t++) {
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < n - 1; j++)
                B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < n - 1; j++)
                A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j]);
    }
}

int main(void)
{
    init_array();
    bench_start();
    kernel_jacobi_2d(T, N, A, B);
    bench_stop();
    checksum("A", &A[0][0], (size_t)N * N);
    return 0;
}
