/* haar: one level of the Haar wavelet transform along the rows of two images: for each horizontal pair (a, b) the
 * average (a + b) / 2 in the left half and the detail (a - b) / 2 in the right half. */
#include "bench.h"

#ifndef C
#define C 2
#endif
#ifndef H
#define H 2560
#endif
#ifndef W
#define W 1680
#endif

static float input[C][H][W];
static float output[C][H][W];

static void init_images(void)
{
    for (int c = 0; c < C; c++)
        for (int i = 0; i < H; i++)
            for (int j = 0; j < W; j++) {
                input[c][i][j] = (float)((c * 31 + i * 7 + j * j * 3) % 256) / 256.0f + (j % 2 ? 0.0f : 0.5f);
                output[c][i][j] = 0.0f;
            }
}

static void kernel_haar(float in[C][H][W], float out[C][H][W])
{
    for (int c = 0; c < C; c++)
        for (int i = 0; i < H; i++)
            for (int j = 0; j < W / 2; j++) {
                out[c][i][j] = (in[c][i][2 * j] + in[c][i][2 * j + 1]) / 2.0f;
                out[c][i][W / 2 + j] = (in[c][i][2 * j] - in[c][i][2 * j + 1]) / 2.0f;
            }
}

int main(void)
{
    init_images();
    bench_start();
    kernel_haar(input, output);
    bench_stop();
    checksum_float("output", &output[0][0][0], (size_t)C * H * W);
    return 0;
}
