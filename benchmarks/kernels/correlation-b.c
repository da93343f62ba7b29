/* correlation with row-wise sweeps over the observations and the coefficients accumulated observation by
 * observation. */
#include <math.h>
#include <stdlib.h>
#include "bench.h"

#ifndef M
#define M 1200
#endif
#ifndef N
#define N 1400
#endif

static void correlate(int m, int n, double data[n][m], double corr[m][m], double mean[m], double stddev[m])
{
    double float_n = (double)n;

    for (int j = 0; j < m; j++) {
        mean[j] = 0.0;
        stddev[j] = 0.0;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            mean[j] += data[i][j];
    for (int j = 0; j < m; j++)
        mean[j] /= float_n;

    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    for (int j = 0; j < m; j++) {
        stddev[j] = sqrt(stddev[j] / float_n);
        if (stddev[j] <= 0.1)
            stddev[j] = 1.0;
    }

    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            data[i][j] = (data[i][j] - mean[j]) / (sqrt(float_n) * stddev[j]);

    for (int i = 0; i < m; i++) {
        for (int j = i + 1; j < m; j++)
            corr[i][j] = 0.0;
        corr[i][i] = 1.0;
    }
    for (int k = 0; k < n; k++)
        for (int i = 0; i < m - 1; i++)
            for (int j = i + 1; j < m; j++)
                corr[i][j] += data[k][i] * data[k][j];
    for (int i = 0; i < m - 1; i++)
        for (int j = i + 1; j < m; j++)
            corr[j][i] = corr[i][j];
}

int main(void)
{
    double(*data)[M] = malloc(N * sizeof *data);
    double(*corr)[M] = malloc(M * sizeof *corr);
    double *mean = malloc(M * sizeof *mean);
    double *stddev = malloc(M * sizeof *stddev);
    if (!data || !corr || !mean || !stddev)
        return 1;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            data[i][j] = (double)((i * (j + 3) + 7 * j) % N) / N + (double)i / N;
    bench_start();
    correlate(M, N, data, corr, mean, stddev);
    bench_stop();
    checksum("corr", &corr[0][0], (size_t)M * M);
    checksum("mean", mean, M);
    checksum("stddev", stddev, M);
    free(data);
    free(corr);
    free(mean);
    free(stddev);
    return 0;
}
