/* fir: finite impulse response filters of one long signal: every sample, every fourth sample, and a bank of filters. */
#include "textbook.h"

#ifndef N
#define N 1200000
#endif
#ifndef TAPS
#define TAPS 48
#endif
#ifndef BANK
#define BANK 12
#endif
#define SHORT (N / 16)

static void filter(int n, int taps, const float *restrict in, const float *restrict h, float *restrict out)
{
    for (int i = 0; i < n - taps; i++) {
        float sum = 0.0f;
        for (int k = 0; k < taps; k++)
            sum += h[k] * in[i + taps - 1 - k];
        out[i] = sum;
    }
}

static void decimate(int n, int taps, const float *restrict in, const float *restrict h, float *restrict out)
{
    for (int i = 0; i < (n - taps) / 4; i++) {
        out[i] = 0.0f;
        for (int k = 0; k < taps; k++)
            out[i] += h[k] * in[4 * i + k];
    }
}

static void filter_bank(int n, int taps, const float *in, float h[BANK][taps], float out[BANK][n])
{
    for (int i = 0; i < n; i++)
        for (int b = 0; b < BANK; b++)
            for (int k = 0; k < taps; k++)
                out[b][i] += h[b][k] * in[i + k];
}

int main(void)
{
    float *in = malloc(N * sizeof *in), *out = malloc(N * sizeof *out), *low = malloc(N / 4 * sizeof *low);
    float(*h)[TAPS] = malloc(sizeof(float[BANK][TAPS]));
    float(*bands)[SHORT] = calloc(BANK, sizeof *bands);
    if (!in || !out || !low || !h || !bands)
        return 1;
    fill_float(in, N, 1);
    fill_float(&h[0][0], (size_t)BANK * TAPS, 2);
    bench_start();
    filter(N, TAPS, in, h[0], out);
    decimate(N, TAPS, in, h[1], low);
    filter_bank(SHORT, TAPS, in, h, bands);
    bench_stop();
    checksum_float("out", out, N - TAPS);
    checksum_float("low", low, (N - TAPS) / 4);
    checksum_float("bands", &bands[0][0], (size_t)BANK * SHORT);
    free(in);
    free(out);
    free(low);
    free(h);
    free(bands);
    return 0;
}
