/* correlation: the matrix of correlation coefficients between the M columns of N observations. */
#include <math.h>
#include "bench.h"

#ifndef M
#define M 1200
#endif
#ifndef N
#define N 1400
#endif

static double data[N][M];
static double corr[M][M];
static double mean[M];
static double stddev[M];

static void init_array(double data[N][M])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            data[i][j] = (double)((i * (j + 3) + 7 * j) % N) / N + (double)i / N;
}

static void kernel_correlation(int m, int n, double float_n, double data[N][M], double corr[M][M], double mean[M],
                               double stddev[M])
{
    int i, j, k;
    double eps = 0.1;

    for (j = 0; j < m; j++) {
        mean[j] = 0.0;
        for (i = 0; i < n; i++)
            mean[j] += data[i][j];
        mean[j] /= float_n;
    }

    for (j = 0; j < m; j++) {
        stddev[j] = 0.0;
        for (i = 0; i < n; i++)
            stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
        stddev[j] /= float_n;
        stddev[j] = sqrt(stddev[j]);
        /* A constant column must not be divided by its deviation of about zero. */
        stddev[j] = stddev[j] <= eps ? 1.0 : stddev[j];
    }

    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++) {
            data[i][j] -= mean[j];
            data[i][j] /= sqrt(float_n) * stddev[j];
        }

    for (i = 0; i < m - 1; i++) {
        corr[i][i] = 1.0;
        for (j = i + 1; j < m; j++) {
            corr[i][j] = 0.0;
            for (k = 0; k < n; k++)
                corr[i][j] += data[k][i] * data[k][j];
            corr[j][i] = corr[i][j];
        }
    }
    corr[m - 1][m - 1] = 1.0;
}

int main(void)
{
    init_array(data);
    bench_start();
    kernel_correlation(M, N, (double)N, data, corr, mean, stddev);
    bench_stop();
    checksum("corr", &corr[0][0], (size_t)M * M);
    checksum("mean", mean, M);
    checksum("stddev", stddev, M);
    return 0;
}
