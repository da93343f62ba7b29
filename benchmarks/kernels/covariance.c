/* covariance: the covariance matrix of the M columns of N observations. */
#include <stdlib.h>
#include "bench.h"

#ifndef M
#define M 1200
#endif
#ifndef N
#define N 1400
#endif

typedef double observations_t[N][M];
typedef double square_t[M][M];

static void init_array(observations_t data)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            data[i][j] = (double)((2 * i + i * j + 5 * j) % M) / M + (double)(i % 97) / 40.0;
}

static void kernel_covariance(int m, int n, double float_n, observations_t data, square_t cov, double mean[M])
{
    int i, j, k;

    for (j = 0; j < m; j++) {
        mean[j] = 0.0;
        for (i = 0; i < n; i++)
            mean[j] += data[i][j];
        mean[j] /= float_n;
    }

    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            data[i][j] -= mean[j];

    for (i = 0; i < m; i++)
        for (j = i; j < m; j++) {
            cov[i][j] = 0.0;
            for (k = 0; k < n; k++)
                cov[i][j] += data[k][i] * data[k][j];
            cov[i][j] /= (float_n - 1.0);
            cov[j][i] = cov[i][j];
        }
}

static observations_t data;
static square_t cov;
static double mean[M];

int main(void)
{
    init_array(data);
    bench_start();
    kernel_covariance(M, N, (double)N, data, cov, mean);
    bench_stop();
    checksum("cov", &cov[0][0], (size_t)M * M);
    checksum("mean", mean, M);
    return 0;
}
