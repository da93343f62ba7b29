/* mvt: x1 = x1 + A y_1 and x2 = x2 + A^T y_2, written straight into main. */
#include "bench.h"

#ifndef N
#define N 2000
#endif

static double A[N][N];
static double x1[N], x2[N], y_1[N], y_2[N];

int main(void)
{
    int i, j;

    for (i = 0; i < N; i++) {
        x1[i] = (double)(i % 13) / 13.0;
        x2[i] = (double)((i + 1) % 19) / 19.0;
        y_1[i] = 0.3 + (double)((i + 3) % 41) / 41.0;
        y_2[i] = 0.2 + (double)((i + 4) % 43) / 43.0;
        for (j = 0; j < N; j++)
            A[i][j] = (double)((i * j + j + 1) % N) / N;
    }

    bench_start();
    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++)
            x1[i] = x1[i] + A[i][j] * y_1[j];
    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++)
            x2[i] = x2[i] + A[j][i] * y_2[j];
    bench_stop();

    checksum("x1", x1, N);
    checksum("x2", x2, N);
    return 0;
}
