/* lu: A = L U without pivoting, L with unit diagonal, both in place of A. */
#include <stdlib.h>
#include "bench.h"

#ifndef N
#define N 2000
#endif

static void init_matrix(int n, double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int distance = i > j ? i - j : j - i;
            A[i * n + j] = 1.0 / (double)(distance + 1);
            if (i == j)
                A[i * n + j] += 18.0 + (double)(i % 7);
        }
}

static void kernel_lu(int n, double *A)
{
    int i, j, k;
    for (i = 0; i < n; i++) {
        for (j = 0; j < i; j++) {
            for (k = 0; k < j; k++)
                A[i * n + j] -= A[i * n + k] * A[k * n + j];
            A[i * n + j] /= A[j * n + j];
        }
        for (j = i; j < n; j++)
            for (k = 0; k < i; k++)
                A[i * n + j] -= A[i * n + k] * A[k * n + j];
    }
}

int main(void)
{
    double *A = malloc((size_t)N * N * sizeof *A);
    if (!A)
        return 1;
    init_matrix(N, A);
    bench_start();
    kernel_lu(N, A);
    bench_stop();
    checksum("A", A, (size_t)N * N);
    free(A);
    return 0;
}
