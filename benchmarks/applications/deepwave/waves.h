/* What the wave propagators of this folder share: differences of fourth order, the source's wavelet, the model. */
#ifndef WAVES_H
#define WAVES_H

#include "../application.h"

/* First differences, over the spacing; second differences, over its square. */
#define A1 (8.0f / 12.0f)
#define A2 (-1.0f / 12.0f)
#define C0 (-5.0f / 2.0f)
#define C1 (4.0f / 3.0f)
#define C2 (-1.0f / 12.0f)

/* Metres, metres per second. */
#define DX 5.0f
#define V_MAX 2500.0f

/* Ricker wavelets of FREQUENCY, one in every PERIOD seconds, so that no field has died away when it is compared. */
#define FREQUENCY 25.0
#define PERIOD 0.1

static inline float ricker(double time)
{
    double x = 3.14159265358979323846 * FREQUENCY * (fmod(time, PERIOD) - PERIOD / 2.0);
    return (float)((1.0 - 2.0 * x * x) * exp(-x * x));
}

/* Layers that become faster downwards, a little different everywhere. */
static inline void make_velocity(float *v, long nz, long n_row, unsigned seed)
{
    for (long z = 0; z < nz; z++)
        for (long i = 0; i < n_row; i++)
            v[z * n_row + i] = 1500.0f + 150.0f * (float)(z * 6 / nz) + 200.0f * (float)random_number(&seed);
}

/* The damping of absorbing layers WIDTH cells wide inside a frame of two. */
static inline void make_sigma(float *sigma, long n, long width)
{
    for (long i = 0; i < n; i++) {
        long depth = i < 2 + width ? 2 + width - i : i > n - 3 - width ? i - (n - 3 - width) : 0;
        if (depth > width)
            depth = width;
        float share = (float)depth / (float)width;
        sigma[i] = share * share * 3.0f * V_MAX * logf(1000.0f) / (2.0f * DX * (float)width);
    }
}

#endif
