/* jacobi-1d: three-point averaging of a line, two steps per iteration. */
#include <stdlib.h>
#include "bench.h"

#ifndef T
#define T 500
#endif
#ifndef N
#define N 2000
#endif

static void init_array(int n, double *A, double *B)
{
    for (int i = 0; i < n; i++) {
        A[i] = 2.0 + (double)((i * 37) % n) / n;
        B[i] = 3.0 + (double)((i * 53) % n) / n;
    }
}

static void kernel_jacobi_1d(int steps, int n, double *A, double *B)
{
    int t, i;
    for (t = 0; t < steps; t++) {
        for (i = 1; i < n - 1; i++)
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
        for (i = 1; i < n - 1; i++)
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
    }
}

int main(void)
{
    double *A = malloc(N * sizeof(double));
    double *B = malloc(N * sizeof(double));
    if (!A || !B)
        return 1;
    init_array(N, A, B);
    bench_start();
    kernel_jacobi_1d(T, N, A, B);
    bench_stop();
    checksum("A", A, N);
    free(A);
    free(B);
    return 0;
}
