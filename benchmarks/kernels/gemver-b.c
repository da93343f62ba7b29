/* gemver on linearised arrays: two rank-one updates one after the other, x accumulated row by row. */
#include <stdlib.h>
#include "bench.h"

#ifndef N
#define N 2000
#endif

static void rank_one(int n, double *A, const double *u, const double *v)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            A[i * n + j] += u[i] * v[j];
}

static void gemver(int n, double alpha, double beta, double *A, const double *u1, const double *v1, const double *u2,
                   const double *v2, double *w, double *x, const double *y, const double *z)
{
    rank_one(n, A, u1, v1);
    rank_one(n, A, u2, v2);

    for (int i = 0; i < n; i++)
        x[i] += z[i];
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            x[i] += beta * A[j * n + i] * y[j];

    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            w[i] += alpha * A[i * n + j] * x[j];
}

static double *vector(int n)
{
    double *v = malloc((size_t)n * sizeof *v);
    if (!v)
        exit(1);
    return v;
}

int main(void)
{
    int n = N;
    double fn = (double)n;
    double *A = malloc((size_t)n * n * sizeof *A);
    double *u1 = vector(n), *v1 = vector(n), *u2 = vector(n), *v2 = vector(n);
    double *w = vector(n), *x = vector(n), *y = vector(n), *z = vector(n);
    if (!A)
        return 1;
    for (int i = 0; i < n; i++) {
        u1[i] = (double)(i % 11) / 11.0;
        u2[i] = ((i + 1) / fn) / 2.0;
        v1[i] = ((i + 1) / fn) / 4.0;
        v2[i] = (double)(i % 7) / 7.0;
        y[i] = ((i + 3) / fn) / 8.0;
        z[i] = ((i + 5) / fn) / 9.0;
        x[i] = 0.0;
        w[i] = 0.0;
        for (int j = 0; j < n; j++)
            A[i * n + j] = (double)((i * j + i + 3) % n) / n;
    }
    bench_start();
    gemver(n, 1.5, 1.2, A, u1, v1, u2, v2, w, x, y, z);
    bench_stop();
    checksum("w", w, n);
    checksum("x", x, n);
    checksum("A", A, (size_t)n * n);
    free(A);
    free(u1);
    free(v1);
    free(u2);
    free(v2);
    free(w);
    free(x);
    free(y);
    free(z);
    return 0;
}
