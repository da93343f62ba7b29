/* bicg: the two matrix-vector products of the biconjugate gradient method, s = A^T r and q = A p. */
#include "bench.h"

#ifndef M
#define M 1900
#endif
#ifndef N
#define N 2100
#endif

static double A[N][M];
static double s[M], q[N], p[M], r[N];

static void init_array(int m, int n, double A[N][M], double r[N], double p[M])
{
    int i, j;
    for (i = 0; i < m; i++)
        p[i] = 0.5 + (double)(i % 17) / 17.0;
    for (i = 0; i < n; i++) {
        r[i] = 0.25 + (double)(i % 23) / 23.0;
        for (j = 0; j < m; j++)
            A[i][j] = (double)((i * (j + 1)) % n) / n;
    }
}

static void kernel_bicg(int m, int n, double A[N][M], double s[M], double q[N], double p[M], double r[N])
{
    int i, j;
    for (i = 0; i < m; i++)
        s[i] = 0;
    for (i = 0; i < n; i++) {
        q[i] = 0.0;
        for (j = 0; j < m; j++) {
            s[j] = s[j] + r[i] * A[i][j];
            q[i] = q[i] + A[i][j] * p[j];
        }
    }
}

int main(void)
{
    init_array(M, N, A, r, p);
    bench_start();
    kernel_bicg(M, N, A, s, q, p, r);
    bench_stop();
    checksum("s", s, M);
    checksum("q", q, N);
    return 0;
}
