/* axpy-dot: vectors longer than the caches. y = a x + y, their dot product, the sum of absolute values, the norm. */
#include "textbook.h"

#ifndef N
#define N 6000000
#endif

static double x[N], y[N];

static void axpy(int n, double a, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}

static double dot(int n, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static double absolute_sum(int n, const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += fabs(x[i]);
    return sum;
}

static double norm(int n, const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

int main(void)
{
    double results[3];
    fill(x, N, 1);
    fill(y, N, 2);
    bench_start();
    axpy(N, -0.75, x, y);
    results[0] = dot(N, x, y);
    results[1] = absolute_sum(N, y);
    results[2] = norm(N, y);
    bench_stop();
    checksum("y", y, N);
    checksum("results", results, 3);
    return 0;
}
