/* sobel: box blur, gradient magnitude, and a threshold that depends on the data, image after image. */
#include "textbook.h"

#ifndef H
#define H 1300
#endif
#ifndef W
#define W 1400
#endif

static float image[H][W], smooth[H][W], edges[H][W];
static int mask[H][W];

static void box_blur(int h, int w, float in[h][w], float out[h][w])
{
    for (int i = 1; i < h - 1; i++)
        for (int j = 1; j < w - 1; j++)
            out[i][j] = (in[i - 1][j - 1] + in[i - 1][j] + in[i - 1][j + 1] + in[i][j - 1] + in[i][j] + in[i][j + 1]
                         + in[i + 1][j - 1] + in[i + 1][j] + in[i + 1][j + 1])
                        / 9.0f;
}

static void gradient(int h, int w, float in[h][w], float out[h][w])
{
    for (int j = 2; j < w - 2; j++)
        for (int i = 2; i < h - 2; i++) {
            float gx = in[i - 1][j + 1] + 2.0f * in[i][j + 1] + in[i + 1][j + 1] - in[i - 1][j - 1]
                       - 2.0f * in[i][j - 1] - in[i + 1][j - 1];
            float gy = in[i + 1][j - 1] + 2.0f * in[i + 1][j] + in[i + 1][j + 1] - in[i - 1][j - 1]
                       - 2.0f * in[i - 1][j] - in[i - 1][j + 1];
            out[i][j] = sqrtf(gx * gx + gy * gy);
        }
}

static void threshold(int h, int w, float limit, float in[h][w], int mask[h][w])
{
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) {
            if (in[i][j] > limit)
                mask[i][j] = 1;
            else
                mask[i][j] = 0;
        }
}

int main(void)
{
    fill_float(&image[0][0], (size_t)H * W, 1);
    bench_start();
    box_blur(H, W, image, smooth);
    gradient(H, W, smooth, edges);
    threshold(H, W, 0.5f, edges, mask);
    bench_stop();
    checksum_float("edges", &edges[0][0], (size_t)H * W);
    checksum_int("mask", &mask[0][0], (size_t)H * W);
    return 0;
}
