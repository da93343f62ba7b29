/* upsample: an image enlarged twice by linear interpolation, sampled along a slanted grid, and reduced to a quarter. */
#include "textbook.h"

#ifndef H
#define H 1800
#endif
#ifndef W
#define W 2000
#endif

static float image[H][W], large[2 * H][2 * W], small[H / 4][W / 4], slanted[H][W];

static void enlarge(float in[H][W], float out[2 * H][2 * W])
{
    for (int i = 0; i < H - 1; i++)
        for (int j = 0; j < W - 1; j++) {
            out[2 * i][2 * j] = in[i][j];
            out[2 * i][2 * j + 1] = 0.5f * (in[i][j] + in[i][j + 1]);
            out[2 * i + 1][2 * j] = 0.5f * (in[i][j] + in[i + 1][j]);
            out[2 * i + 1][2 * j + 1] = 0.25f * (in[i][j] + in[i][j + 1] + in[i + 1][j] + in[i + 1][j + 1]);
        }
}

static void reduce(float in[2 * H][2 * W], float out[H / 4][W / 4])
{
    for (int j = 0; j < W / 4; j++)
        for (int i = 0; i < H / 4; i++) {
            out[i][j] = 0.0f;
            for (int y = 0; y < 8; y++)
                for (int x = 0; x < 8; x++)
                    out[i][j] += in[8 * i + y][8 * j + x] / 64.0f;
        }
}

static void slant(float in[H][W], float out[H][W])
{
    for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++) {
            int column = j + i < W ? j + i : W - 1;
            out[i][j] = 0.75f * in[i][column] + 0.25f * in[H - 1 - i][j];
        }
}

int main(void)
{
    fill_float(&image[0][0], (size_t)H * W, 1);
    bench_start();
    enlarge(image, large);
    reduce(large, small);
    slant(image, slanted);
    bench_stop();
    checksum_float("large", &large[0][0], (size_t)4 * H * W);
    checksum_float("small", &small[0][0], (size_t)(H / 4) * (W / 4));
    checksum_float("slanted", &slanted[0][0], (size_t)H * W);
    return 0;
}
