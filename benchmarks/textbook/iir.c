/* iir: recursive filters: along the rows of an image, along its columns, and two-pole filters of many channels. */
#include "textbook.h"

#ifndef H
#define H 1800
#endif
#ifndef W
#define W 2000
#endif
#ifndef CHANNELS
#define CHANNELS 256
#endif
#ifndef LENGTH
#define LENGTH 12000
#endif

static float a[H][W], b[H][W];
static float in[LENGTH][CHANNELS], out[LENGTH][CHANNELS];

static void along_rows(int h, int w, float k, float a[h][w])
{
    for (int i = 0; i < h; i++)
        for (int j = 1; j < w; j++)
            a[i][j] = (1.0f - k) * a[i][j] + k * a[i][j - 1];
}

static void along_columns(int h, int w, float k, float b[h][w])
{
    for (int j = 0; j < w; j++)
        for (int i = 1; i < h; i++)
            b[i][j] = (1.0f - k) * b[i][j] + k * b[i - 1][j];
}

static void two_poles(int n, float in[n][CHANNELS], float out[n][CHANNELS])
{
    for (int c = 0; c < CHANNELS; c++)
        for (int i = 2; i < n; i++)
            out[i][c] = 0.2f * in[i][c] + 0.1f * in[i - 1][c] + 0.05f * in[i - 2][c] + 0.4f * out[i - 1][c]
                        - 0.1f * out[i - 2][c];
}

int main(void)
{
    fill_float(&a[0][0], (size_t)H * W, 1);
    fill_float(&b[0][0], (size_t)H * W, 2);
    fill_float(&in[0][0], (size_t)LENGTH * CHANNELS, 3);
    bench_start();
    along_rows(H, W, 0.6f, a);
    along_columns(H, W, 0.6f, b);
    two_poles(LENGTH, in, out);
    bench_stop();
    checksum_float("a", &a[0][0], (size_t)H * W);
    checksum_float("b", &b[0][0], (size_t)H * W);
    checksum_float("out", &out[0][0], (size_t)LENGTH * CHANNELS);
    return 0;
}
