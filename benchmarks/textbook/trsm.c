/* trsm: triangular systems with many right-hand sides: forward with L, one side after another; backward with U. */
#include "textbook.h"

#ifndef N
#define N 360
#endif
#ifndef SIDES
#define SIDES 320
#endif

static double L[N][N], U[N][N], B[N][SIDES], X[SIDES][N];

static void forward(int n, int m, double L[n][n], double B[n][m])
{
    for (int s = 0; s < m; s++)
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < i; k++)
                B[i][s] -= L[i][k] * B[k][s];
            B[i][s] /= L[i][i];
        }
}

/* Here each right-hand side is a row. */
static void backward(int n, int m, double U[n][n], double X[m][n])
{
    for (int s = 0; s < m; s++)
        for (int i = n - 1; i >= 0; i--) {
            double sum = X[s][i];
            for (int k = i + 1; k < n; k++)
                sum -= U[i][k] * X[s][k];
            X[s][i] = sum / U[i][i];
        }
}

int main(void)
{
    fill(&L[0][0], (size_t)N * N, 1);
    fill(&U[0][0], (size_t)N * N, 2);
    for (int i = 0; i < N; i++) {
        L[i][i] += N;
        U[i][i] += N;
    }
    fill(&B[0][0], (size_t)N * SIDES, 3);
    fill(&X[0][0], (size_t)SIDES * N, 4);
    bench_start();
    forward(N, SIDES, L, B);
    backward(N, SIDES, U, X);
    bench_stop();
    checksum("B", &B[0][0], (size_t)N * SIDES);
    checksum("X", &X[0][0], (size_t)SIDES * N);
    return 0;
}
