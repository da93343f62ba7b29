/* bicg with the two products in loops of their own, s = A^T r by columns and q = A p by rows. */
#include <stdlib.h>
#include "bench.h"

#ifndef M
#define M 1900
#endif
#ifndef N
#define N 2100
#endif

typedef double real;

static void transposed_product(int m, int n, real A[n][m], real *s, real *r)
{
    for (int j = 0; j < m; j++)
        s[j] = 0.0;
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            s[j] += A[i][j] * r[i];
}

static void product(int m, int n, real A[n][m], real *q, real *p)
{
    for (int i = 0; i < n; i++)
        q[i] = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            q[i] += A[i][j] * p[j];
}

int main(void)
{
    real(*A)[M] = malloc(N * sizeof *A);
    real *s = malloc(M * sizeof(real)), *p = malloc(M * sizeof(real));
    real *q = malloc(N * sizeof(real)), *r = malloc(N * sizeof(real));
    if (!A || !s || !p || !q || !r)
        return 1;
    for (int j = 0; j < M; j++)
        p[j] = 0.5 + (real)(j % 17) / 17.0;
    for (int i = 0; i < N; i++)
        r[i] = 0.25 + (real)(i % 23) / 23.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            A[i][j] = (real)((i * (j + 1)) % N) / N;
    bench_start();
    transposed_product(M, N, A, s, r);
    product(M, N, A, q, p);
    bench_stop();
    checksum("s", s, M);
    checksum("q", q, N);
    free(A);
    free(s);
    free(p);
    free(q);
    free(r);
    return 0;
}
