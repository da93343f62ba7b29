/* covariance on linearised arrays, the lower triangle computed and mirrored, products summed in a scalar. */
#include <stdlib.h>
#include "bench.h"

#ifndef M
#define M 1200
#endif
#ifndef N
#define N 1400
#endif

static void centre(double *data, double *mean, int m, int n)
{
    for (int j = 0; j < m; j++)
        mean[j] = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            mean[j] += data[i * m + j] / n;
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            data[i * m + j] -= mean[j];
}

static void covariance(double *restrict cov, const double *restrict data, int m, int n)
{
    for (int j = 0; j < m; j++)
        for (int i = 0; i <= j; i++) {
            double acc = 0.0;
            for (int k = 0; k < n; k++)
                acc += data[k * m + i] * data[k * m + j];
            cov[j * m + i] = acc / (double)(n - 1);
        }
    for (int i = 0; i < m; i++)
        for (int j = i + 1; j < m; j++)
            cov[i * m + j] = cov[j * m + i];
}

int main(void)
{
    double *data = malloc((size_t)N * M * sizeof *data);
    double *cov = malloc((size_t)M * M * sizeof *cov);
    double *mean = malloc(M * sizeof *mean);
    if (!data || !cov || !mean)
        return 1;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            data[i * M + j] = (double)((2 * i + i * j + 5 * j) % M) / M + (double)(i % 97) / 40.0;
    bench_start();
    centre(data, mean, M, N);
    covariance(cov, data, M, N);
    bench_stop();
    checksum("cov", cov, (size_t)M * M);
    checksum("mean", mean, M);
    free(data);
    free(cov);
    free(mean);
    return 0;
}
