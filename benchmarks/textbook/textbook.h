/* What the programs of this folder share: the clock and the checksums of ../kernels/bench.h, and data that are the same
 * on every machine. */
#ifndef TEXTBOOK_H
#define TEXTBOOK_H

#include <stdlib.h>
#include "../kernels/bench.h"

static inline unsigned fill_next(unsigned state)
{
    return state * 1664525u + 1013904223u;
}

/* Numbers from 0.1 to 1.1. */
static inline void fill(double *x, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = fill_next(seed);
        x[i] = 0.1 + (double)(seed >> 8) / 16777216.0;
    }
}

static inline void fill_float(float *x, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = fill_next(seed);
        x[i] = 0.1f + (float)(seed >> 8) / 16777216.0f;
    }
}

/* Integers from 0 to bound - 1. */
static inline void fill_int(int *x, size_t n, int bound, unsigned seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = fill_next(seed);
        x[i] = (int)((seed >> 8) % (unsigned)bound);
    }
}

/* The numbers from 0 to n - 1 in another order. */
static inline void fill_permutation(int *x, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (int)i;
    for (size_t i = n - 1; i > 0; i--) {
        seed = fill_next(seed);
        size_t j = (size_t)(seed >> 4) % (i + 1);
        int other = x[i];
        x[i] = x[j];
        x[j] = other;
    }
}

#endif
