/* spmv: a sparse matrix times a vector, in compressed rows, in rows of equal length, and in diagonals. */
#include "textbook.h"

#ifndef N
#define N 150000
#endif
#ifndef WIDTH
#define WIDTH 24
#endif
#ifndef DIAGONALS
#define DIAGONALS 17
#endif

static int start[N + 1], column[(size_t)N * WIDTH], slot[WIDTH][N];
static double value[(size_t)N * WIDTH], padded[WIDTH][N], band[DIAGONALS][N];
static double x[N + DIAGONALS], y[N], z[N], w[N];

static void rows_compressed(int n, const int *restrict start, const int *restrict column,
                            const double *restrict value, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int k = start[i]; k < start[i + 1]; k++)
            sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}

static void rows_padded(int n, int slot[restrict WIDTH][n], double padded[restrict WIDTH][n],
                        const double *restrict x, double *restrict z)
{
    for (int i = 0; i < n; i++) {
        z[i] = 0.0;
        for (int k = 0; k < WIDTH; k++)
            z[i] += padded[k][i] * x[slot[k][i]];
    }
}

static void diagonals(int n, double band[restrict DIAGONALS][n], const double *restrict x, double *restrict w)
{
    for (int i = 0; i < n; i++)
        for (int d = 0; d < DIAGONALS; d++)
            w[i] += band[d][i] * x[i + d];
}

int main(void)
{
    for (int i = 0; i < N; i++)
        start[i + 1] = start[i] + 8 + (i * 7) % (WIDTH - 8);
    fill_int(column, (size_t)N * WIDTH, N, 1);
    fill_int(&slot[0][0], (size_t)N * WIDTH, N, 2);
    fill(value, (size_t)N * WIDTH, 3);
    fill(&padded[0][0], (size_t)N * WIDTH, 4);
    fill(&band[0][0], (size_t)N * DIAGONALS, 5);
    fill(x, N + DIAGONALS, 6);
    bench_start();
    rows_compressed(N, start, column, value, x, y);
    rows_padded(N, slot, padded, x, z);
    diagonals(N, band, x, w);
    bench_stop();
    checksum("y", y, N);
    checksum("z", z, N);
    checksum("w", w, N);
    return 0;
}
