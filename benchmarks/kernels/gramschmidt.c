/* gramschmidt: A = Q R by modified Gram-Schmidt, for N linearly independent columns of length M. */
#include <math.h>
#include "bench.h"

#ifndef M
#define M 1200
#endif
#ifndef N
#define N 1000
#endif

static double A[M][N];
static double R[N][N];
static double Q[M][N];

static void init_array(int m, int n)
{
    int i, j;
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++) {
            int distance = i > j ? i - j : j - i;
            A[i][j] = 1.0 / (double)(distance + 1);
            if (i == j)
                A[i][j] += 4.0;
            Q[i][j] = 0.0;
        }
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            R[i][j] = 0.0;
}

static void kernel_gramschmidt(int m, int n, double A[M][N], double R[N][N], double Q[M][N])
{
    int i, j, k;
    double nrm;

    for (k = 0; k < n; k++) {
        nrm = 0.0;
        for (i = 0; i < m; i++)
            nrm += A[i][k] * A[i][k];
        R[k][k] = sqrt(nrm);
        for (i = 0; i < m; i++)
            Q[i][k] = A[i][k] / R[k][k];
        for (j = k + 1; j < n; j++) {
            R[k][j] = 0.0;
            for (i = 0; i < m; i++)
                R[k][j] += Q[i][k] * A[i][j];
            for (i = 0; i < m; i++)
                A[i][j] = A[i][j] - Q[i][k] * R[k][j];
        }
    }
}

int main(void)
{
    init_array(M, N);
    bench_start();
    kernel_gramschmidt(M, N, A, R, Q);
    bench_stop();
    checksum("R", &R[0][0], (size_t)N * N);
    checksum("Q", &Q[0][0], (size_t)M * N);
    return 0;
}
