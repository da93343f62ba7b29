/* heat-3d with both time levels in one array, the level chosen by the parity of the step. */
#include "bench.h"

#ifndef T
#define T 500
#endif
#ifndef N
#define N 120
#endif

static double grid[2][N][N][N];

static void heat_3d(int steps)
{
    for (int t = 0; t < steps; t++)
        for (int k = 1; k < N - 1; k++)
            for (int j = 1; j < N - 1; j++)
                for (int i = 1; i < N - 1; i++)
                    grid[(t + 1) % 2][i][j][k] =
                        0.25 * grid[t % 2][i][j][k] + 0.125 * grid[t % 2][i - 1][j][k] +
                        0.125 * grid[t % 2][i + 1][j][k] + 0.125 * grid[t % 2][i][j - 1][k] +
                        0.125 * grid[t % 2][i][j + 1][k] + 0.125 * grid[t % 2][i][j][k - 1] +
                        0.125 * grid[t % 2][i][j][k + 1];
}

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++) {
                double value = 1.0 + (double)(i + 2 * j + 3 * (N - k)) * 5.0 / N + (double)((i * j + k) % 5);
                grid[0][i][j][k] = value;
                grid[1][i][j][k] = value;
            }
    bench_start();
    heat_3d(2 * T);
    bench_stop();
    checksum("A", &grid[0][0][0][0], (size_t)N * N * N);
    return 0;
}
