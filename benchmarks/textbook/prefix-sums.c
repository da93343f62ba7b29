/* prefix-sums: of one long vector, along the rows and along the columns of a matrix, and of both (an integral image). */
#include "textbook.h"

#ifndef LONG
#define LONG 6000000
#endif
#ifndef N
#define N 1600
#endif
#ifndef M
#define M 1700
#endif

static double vector[LONG];
static double rows[N][M], columns[N][M], image[N][M], integral[N][M];

static void scan(int n, double *x)
{
    for (int i = 1; i < n; i++)
        x[i] += x[i - 1];
}

static void scan_rows(int n, int m, double a[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++)
            a[i][j] = a[i][j] + a[i][j - 1];
}

static void scan_columns(int n, int m, double a[n][m])
{
    for (int j = 0; j < m; j++)
        for (int i = 1; i < n; i++)
            a[i][j] += a[i - 1][j];
}

static void integrate(int n, int m, double image[n][m], double sum[n][m])
{
    for (int i = 1; i < n; i++)
        for (int j = 1; j < m; j++)
            sum[i][j] = image[i][j] + sum[i - 1][j] + sum[i][j - 1] - sum[i - 1][j - 1];
}

int main(void)
{
    fill(vector, LONG, 1);
    fill(&rows[0][0], (size_t)N * M, 2);
    fill(&columns[0][0], (size_t)N * M, 3);
    fill(&image[0][0], (size_t)N * M, 4);
    bench_start();
    scan(LONG, vector);
    scan_rows(N, M, rows);
    scan_columns(N, M, columns);
    integrate(N, M, image, integral);
    bench_stop();
    checksum("vector", vector, LONG);
    checksum("rows", &rows[0][0], (size_t)N * M);
    checksum("columns", &columns[0][0], (size_t)N * M);
    checksum("integral", &integral[0][0], (size_t)N * M);
    return 0;
}
