/* trisolv: L x = b by forward substitution. */
#include <stdlib.h>
#include "bench.h"

#ifndef N
#define N 2000
#endif

static void init_array(int n, double *L, double *b)
{
    for (int i = 0; i < n; i++) {
        b[i] = 3.0 + (double)(i % 31) / 31.0;
        for (int j = 0; j < n; j++)
            L[i * n + j] = j > i ? 0.0 : (double)((i + j) % 7 + 1) / (7.0 * n);
        L[i * n + i] += 2.0;
    }
}

static void kernel_trisolv(int n, const double *restrict L, double *restrict x, const double *restrict b)
{
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int j = 0; j < i; j++)
            x[i] -= L[i * n + j] * x[j];
        x[i] = x[i] / L[i * n + i];
    }
}

int main(void)
{
    double *L = malloc((size_t)N * N * sizeof *L);
    double *x = malloc(N * sizeof *x);
    double *b = malloc(N * sizeof *b);
    if (!L || !x || !b)
        return 1;
    init_array(N, L, b);
    bench_start();
    kernel_trisolv(N, L, x, b);
    bench_stop();
    checksum("x", x, N);
    free(L);
    free(x);
    free(b);
    return 0;
}
