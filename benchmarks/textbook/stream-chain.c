/* stream-chain: loops over long float vectors, one after another, each reading what the last one wrote. */
#include "textbook.h"

#ifndef N
#define N 8000000
#endif

static void chain(int n, float scale, float *restrict a, float *restrict b, float *restrict c, float *restrict d)
{
    for (int i = 0; i < n; i++)
        c[i] = a[i];
    for (int i = 0; i < n; i++)
        b[i] = scale * c[i];
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
    for (int i = 0; i < n; i++)
        d[i] = b[i] + scale * c[i] - a[i] * c[i];
}

static void clamp(int n, float low, float high, float *restrict d)
{
    for (int i = 0; i < n; i++)
        d[i] = fminf(fmaxf(d[i], low), high);
}

int main(void)
{
    float *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    float *c = malloc(N * sizeof *c), *d = malloc(N * sizeof *d);
    if (!a || !b || !c || !d)
        return 1;
    fill_float(a, N, 1);
    bench_start();
    chain(N, 1.5f, a, b, c, d);
    clamp(N, 0.5f, 2.5f, d);
    bench_stop();
    checksum_float("c", c, N);
    checksum_float("d", d, N);
    free(a);
    free(b);
    free(c);
    free(d);
    return 0;
}
