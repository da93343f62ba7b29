/* seidel-2d: nine-point averaging of a square in place (Gauss-Seidel order). */
#include "bench.h"

#ifndef T
#define T 500
#endif
#ifndef N
#define N 2000
#endif

static double A[N][N];

static void init_array(int n, double A[N][N])
{
    int i, j;
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            A[i][j] = 2.0 + (double)((i * (j + 2) + 2) % n) / n;
}

static void kernel_seidel_2d(int steps, int n, double A[N][N])
{
    int t, i, j;
    for (t = 0; t <= steps - 1; t++)
        for (i = 1; i <= n - 2; i++)
            for (j = 1; j <= n - 2; j++)
                A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] +
                           A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) /
                          9.0;
}

int main(void)
{
    init_array(N, A);
    bench_start();
    kernel_seidel_2d(T, N, A);
    bench_stop();
    checksum("A", &A[0][0], (size_t)N * N);
    return 0;
}
