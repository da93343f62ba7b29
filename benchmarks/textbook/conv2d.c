/* conv2d: a convolution layer with 3 x 3 weights from CI to CO channels, then one filter for each channel alone. */
#include "textbook.h"

#ifndef CI
#define CI 24
#endif
#ifndef CO
#define CO 32
#endif
#ifndef H
#define H 96
#endif
#ifndef W
#define W 96
#endif

static float in[CI][H + 2][W + 2], weights[CO][CI][3][3], out[CO][H][W];
static float own[CO][3][3], depthwise[CO][H - 2][W - 2];

static void convolution(float in[CI][H + 2][W + 2], float weights[CO][CI][3][3], float out[CO][H][W])
{
    for (int o = 0; o < CO; o++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                for (int c = 0; c < CI; c++)
                    for (int ky = 0; ky < 3; ky++)
                        for (int kx = 0; kx < 3; kx++)
                            out[o][y][x] += weights[o][c][ky][kx] * in[c][y + ky][x + kx];
}

static void depthwise_convolution(float in[CO][H][W], float own[CO][3][3], float out[CO][H - 2][W - 2])
{
    for (int c = 0; c < CO; c++)
        for (int y = 0; y < H - 2; y++)
            for (int x = 0; x < W - 2; x++) {
                float sum = 0.0f;
                for (int ky = 0; ky < 3; ky++)
                    for (int kx = 0; kx < 3; kx++)
                        sum += own[c][ky][kx] * in[c][y + ky][x + kx];
                out[c][y][x] = sum;
            }
}

int main(void)
{
    fill_float(&in[0][0][0], (size_t)CI * (H + 2) * (W + 2), 1);
    fill_float(&weights[0][0][0][0], (size_t)CO * CI * 9, 2);
    fill_float(&own[0][0][0], (size_t)CO * 9, 3);
    bench_start();
    convolution(in, weights, out);
    for (int repeat = 0; repeat < 4; repeat++)
        depthwise_convolution(out, own, depthwise);
    bench_stop();
    checksum_float("out", &out[0][0][0], (size_t)CO * H * W);
    checksum_float("depthwise", &depthwise[0][0][0], (size_t)CO * (H - 2) * (W - 2));
    return 0;
}
