/* durbin: Levinson-Durbin recursion for the Yule-Walker equations T y = -r, T symmetric Toeplitz with unit
 * diagonal and off-diagonals r. */
#include <stdlib.h>
#include "bench.h"

#ifndef N
#define N 2000
#endif

/* A convex decreasing autocorrelation: T is positive definite (Polya). */
static void init_array(int n, double r[n])
{
    for (int i = 0; i < n; i++)
        r[i] = 1.0 / (double)(i + 2);
}

static void kernel_durbin(int n, double r[n], double y[n])
{
    double z[N];
    double alpha, beta, sum;
    int i, k;

    y[0] = -r[0];
    beta = 1.0;
    alpha = -r[0];

    for (k = 1; k < n; k++) {
        beta = (1 - alpha * alpha) * beta;
        sum = 0.0;
        for (i = 0; i < k; i++)
            sum += r[k - i - 1] * y[i];
        alpha = -(r[k] + sum) / beta;
        for (i = 0; i < k; i++)
            z[i] = y[i] + alpha * y[k - i - 1];
        for (i = 0; i < k; i++)
            y[i] = z[i];
        y[k] = alpha;
    }
}

int main(void)
{
    double *r = malloc(sizeof(double[N]));
    double *y = malloc(sizeof(double[N]));
    if (!r || !y)
        return 1;
    init_array(N, r);
    bench_start();
    kernel_durbin(N, r, y);
    bench_stop();
    checksum("y", y, N);
    free(r);
    free(y);
    return 0;
}
