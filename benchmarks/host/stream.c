/* The algorithm of McCalpin's STREAM: four kernels on three arrays, again and again; each kernel's best and median
   bandwidth in MB/s (10^6 bytes per second, bytes as the kernel's text reads and writes them).

     cc -O3 -march=native -fopenmp -DN=33554432 -DROUNDS=10 stream.c -o stream */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef N
#define N 33554432
#endif
#ifndef ROUNDS
#define ROUNDS 10
#endif

enum { COPY, SCALE, ADD, TRIAD, KERNELS };

static const char *const names[KERNELS] = {"copy", "scale", "add", "triad"};
static const double words[KERNELS] = {2, 2, 3, 3};

static double a[N], b[N], c[N];
static double seconds[KERNELS][ROUNDS];

static int ascending(const void *x, const void *y)
{
    double p = *(const double *)x, q = *(const double *)y;
    return (p > q) - (p < q);
}

static void run(int kernel, double s)
{
    switch (kernel) {
    case COPY:
#pragma omp parallel for schedule(static)
        for (long i = 0; i < N; i++)
            c[i] = a[i];
        break;
    case SCALE:
#pragma omp parallel for schedule(static)
        for (long i = 0; i < N; i++)
            b[i] = s * c[i];
        break;
    case ADD:
#pragma omp parallel for schedule(static)
        for (long i = 0; i < N; i++)
            c[i] = a[i] + b[i];
        break;
    default:
#pragma omp parallel for schedule(static)
        for (long i = 0; i < N; i++)
            a[i] = b[i] + s * c[i];
    }
}

int main(void)
{
    /* The square root of two less one: the arrays neither grow nor vanish. */
    const double s = 0.41421356237309503;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < N; i++) {
        a[i] = 1.0;
        b[i] = 2.0;
        c[i] = 0.0;
    }
    for (int round = -1; round < ROUNDS; round++)
        for (int kernel = 0; kernel < KERNELS; kernel++) {
            double start = omp_get_wtime();
            run(kernel, s);
            if (round >= 0)
                seconds[kernel][round] = omp_get_wtime() - start;
        }
    if (!(a[N / 2] > 0.0 && a[N / 2] < 10.0))
        return 1;
    for (int kernel = 0; kernel < KERNELS; kernel++) {
        double megabytes = words[kernel] * sizeof(double) * N * 1e-6;
        qsort(seconds[kernel], ROUNDS, sizeof(double), ascending);
        printf("%s %.9g %.9g\n", names[kernel], megabytes / seconds[kernel][0], megabytes / seconds[kernel][ROUNDS / 2]);
    }
    return 0;
}
