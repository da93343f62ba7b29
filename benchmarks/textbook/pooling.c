/* pooling: maxima of 2 x 2 windows and means of overlapping 3 x 3 windows, channel by channel; mean of each channel. */
#include "textbook.h"

#ifndef C
#define C 128
#endif
#ifndef H
#define H 224
#endif
#ifndef W
#define W 224
#endif

static float in[C][H][W], maxima[C][H / 2][W / 2], means[C][H / 2 - 1][W / 2 - 1], global[C];

static void max_pool(float in[C][H][W], float out[C][H / 2][W / 2])
{
    for (int c = 0; c < C; c++)
        for (int y = 0; y < H / 2; y++)
            for (int x = 0; x < W / 2; x++) {
                float most = in[c][2 * y][2 * x];
                for (int ky = 0; ky < 2; ky++)
                    for (int kx = 0; kx < 2; kx++)
                        most = fmaxf(most, in[c][2 * y + ky][2 * x + kx]);
                out[c][y][x] = most;
            }
}

static void mean_pool(float in[C][H][W], float out[C][H / 2 - 1][W / 2 - 1])
{
    for (int y = 0; y < H / 2 - 1; y++)
        for (int x = 0; x < W / 2 - 1; x++)
            for (int c = 0; c < C; c++) {
                float sum = 0.0f;
                for (int ky = 0; ky < 3; ky++)
                    for (int kx = 0; kx < 3; kx++)
                        sum += in[c][2 * y + ky][2 * x + kx];
                out[c][y][x] = sum / 9.0f;
            }
}

static void global_mean(float in[C][H][W], float out[C])
{
    for (int c = 0; c < C; c++) {
        out[c] = 0.0f;
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                out[c] += in[c][y][x];
        out[c] /= (float)(H * W);
    }
}

int main(void)
{
    fill_float(&in[0][0][0], (size_t)C * H * W, 1);
    bench_start();
    max_pool(in, maxima);
    mean_pool(in, means);
    global_mean(in, global);
    bench_stop();
    checksum_float("maxima", &maxima[0][0][0], (size_t)C * (H / 2) * (W / 2));
    checksum_float("means", &means[0][0][0], (size_t)C * (H / 2 - 1) * (W / 2 - 1));
    checksum_float("global", global, C);
    return 0;
}
