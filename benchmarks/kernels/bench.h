/* What the programs of this folder share: a clock around the kernel and checksums of its results.
 *
 * With -DOXEYE_TIME, the time between bench_start() and bench_stop() is written to standard error as
 * "kernel_seconds: ...". Without it, both do nothing. Checksums go to standard output, one line per array:
 * the plain sum, the sum of absolute values, and a sum weighted by position. */
#ifndef BENCH_H
#define BENCH_H

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#ifndef BENCH_FORMAT
#define BENCH_FORMAT "%.6e"
#endif

#ifdef OXEYE_TIME
static double bench_begin;

static inline double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline void bench_start(void)
{
    bench_begin = bench_now();
}

static inline void bench_stop(void)
{
    double seconds = bench_now() - bench_begin;
    fprintf(stderr, "kernel_seconds: %.9f\n", seconds);
}
#else
static inline void bench_start(void)
{
}

static inline void bench_stop(void)
{
}
#endif

static inline void bench_print(const char *name, double sum, double size, double weighted)
{
    printf("%s: " BENCH_FORMAT " " BENCH_FORMAT " " BENCH_FORMAT "\n", name, sum, size, weighted);
}

/* The weights repeat with a prime period, so that exchanged rows, columns or neighbours change the result. */
static inline double bench_weight(size_t i)
{
    return (double)(i % 1021 + 1) / 1021.0;
}

static inline void checksum(const char *name, const double *x, size_t n)
{
    double sum = 0.0, size = 0.0, weighted = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
        size += fabs(x[i]);
        weighted += bench_weight(i) * x[i];
    }
    bench_print(name, sum, size, weighted);
}

static inline void checksum_float(const char *name, const float *x, size_t n)
{
    double sum = 0.0, size = 0.0, weighted = 0.0;
    for (size_t i = 0; i < n; i++) {
        double value = (double)x[i];
        sum += value;
        size += fabs(value);
        weighted += bench_weight(i) * value;
    }
    bench_print(name, sum, size, weighted);
}

static inline void checksum_int(const char *name, const int *x, size_t n)
{
    double sum = 0.0, size = 0.0, weighted = 0.0;
    for (size_t i = 0; i < n; i++) {
        double value = (double)x[i];
        sum += value;
        size += fabs(value);
        weighted += bench_weight(i) * value;
    }
    bench_print(name, sum, size, weighted);
}

#endif
