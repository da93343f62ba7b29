/* red-black: Gauss-Seidel for Poisson's equation, the cells of one colour before those of the other; overrelaxation cell
 * after cell. */
#include "textbook.h"

#ifndef N
#define N 1601
#endif
#ifndef SWEEPS
#define SWEEPS 4
#endif
#ifndef SOR_SWEEPS
#define SOR_SWEEPS 3
#endif

static double u[N][N], f[N][N], s[N][N];

static void sweep(int n, double u[n][n], double f[n][n])
{
    for (int i = 1; i < n - 1; i += 2)
        for (int j = 1; j < n - 1; j += 2)
            u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] + f[i][j]);
    for (int i = 2; i < n - 1; i += 2)
        for (int j = 2; j < n - 1; j += 2)
            u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] + f[i][j]);
    for (int i = 1; i < n - 1; i += 2)
        for (int j = 2; j < n - 1; j += 2)
            u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] + f[i][j]);
    for (int i = 2; i < n - 1; i += 2)
        for (int j = 1; j < n - 1; j += 2)
            u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] + f[i][j]);
}

static void overrelax(int sweeps, int n, double omega, double s[n][n], double f[n][n])
{
    for (int t = 0; t < sweeps; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                s[i][j] += omega * (0.25 * (s[i - 1][j] + s[i + 1][j] + s[i][j - 1] + s[i][j + 1] + f[i][j]) - s[i][j]);
}

int main(void)
{
    fill(&u[0][0], (size_t)N * N, 1);
    fill(&f[0][0], (size_t)N * N, 2);
    fill(&s[0][0], (size_t)N * N, 3);
    bench_start();
    for (int t = 0; t < SWEEPS; t++)
        sweep(N, u, f);
    overrelax(SOR_SWEEPS, N, 1.2, s, f);
    bench_stop();
    checksum("u", &u[0][0], (size_t)N * N);
    checksum("s", &s[0][0], (size_t)N * N);
    return 0;
}
