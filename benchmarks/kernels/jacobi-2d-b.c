/* jacobi-2d with one step per iteration and the two buffers exchanged by swapping pointers. */
#include <stdlib.h>
#include "bench.h"

#ifndef T
#define T 500
#endif
#ifndef N
#define N 1300
#endif

static double *jacobi_2d(int steps, int n, double *now, double *next)
{
    for (int t = 0; t < steps; t++) {
        for (int j = 1; j < n - 1; j++)
            for (int i = 1; i < n - 1; i++)
                next[i * n + j] = 0.2 * (now[i * n + j] + now[i * n + j - 1] + now[i * n + j + 1] +
                                         now[(i + 1) * n + j] + now[(i - 1) * n + j]);
        double *swap = now;
        now = next;
        next = swap;
    }
    return now;
}

int main(void)
{
    double *first = malloc((size_t)N * N * sizeof *first);
    double *second = malloc((size_t)N * N * sizeof *second);
    if (!first || !second)
        return 1;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            first[i * N + j] = 1.0 + (double)((i * (j + 2) + 2) % N) / N;
            second[i * N + j] = first[i * N + j];
        }
    bench_start();
    double *result = jacobi_2d(2 * T, N, first, second);
    bench_stop();
    checksum("A", result, (size_t)N * N);
    free(first);
    free(second);
    return 0;
}
