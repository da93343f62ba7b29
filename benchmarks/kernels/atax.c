/* atax: y = A^T (A x). */
#include <stdlib.h>
#include "bench.h"

#ifndef M
#define M 1900
#endif
#ifndef N
#define N 2100
#endif

static void init_array(int m, int n, double A[m][n], double x[n])
{
    for (int j = 0; j < n; j++)
        x[j] = 1.0 + (double)j / n;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = (double)((i + 3 * j) % n) / (5.0 * m);
}

static void kernel_atax(int m, int n, double A[m][n], double x[n], double y[n], double tmp[m])
{
    for (int i = 0; i < n; i++)
        y[i] = 0.0;
    for (int i = 0; i < m; i++) {
        tmp[i] = 0.0;
        for (int j = 0; j < n; j++)
            tmp[i] = tmp[i] + A[i][j] * x[j];
        for (int j = 0; j < n; j++)
            y[j] = y[j] + A[i][j] * tmp[i];
    }
}

int main(void)
{
    double(*A)[N] = malloc(sizeof(double[M][N]));
    double *x = malloc(sizeof(double[N]));
    double *y = malloc(sizeof(double[N]));
    double *tmp = malloc(sizeof(double[M]));
    if (!A || !x || !y || !tmp)
        return 1;
    init_array(M, N, A, x);
    bench_start();
    kernel_atax(M, N, A, x, y, tmp);
    bench_stop();
    checksum("y", y, N);
    free(A);
    free(x);
    free(y);
    free(tmp);
    return 0;
}
