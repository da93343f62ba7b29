/* colours: interleaved pixels to planes of luminance and colour difference, a gamma curve, and planes blended. */
#include "textbook.h"

#ifndef H
#define H 1400
#endif
#ifndef W
#define W 1600
#endif

static float rgb[H][W][3], luma[H][W], blue[H][W], red[H][W], alpha[H][W], blend[H][W];

static void split(int h, int w, float rgb[h][w][3], float luma[h][w], float blue[h][w], float red[h][w])
{
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) {
            float y = 0.299f * rgb[i][j][0] + 0.587f * rgb[i][j][1] + 0.114f * rgb[i][j][2];
            luma[i][j] = y;
            blue[i][j] = 0.564f * (rgb[i][j][2] - y);
            red[i][j] = 0.713f * (rgb[i][j][0] - y);
        }
}

static void gamma_curve(int h, int w, float luma[h][w])
{
    for (int j = 0; j < w; j++)
        for (int i = 0; i < h; i++) {
            if (luma[i][j] <= 0.0031308f)
                luma[i][j] = 12.92f * luma[i][j];
            else
                luma[i][j] = 1.055f * powf(luma[i][j], 1.0f / 2.4f) - 0.055f;
        }
}

static void mix(int h, int w, float a[h][w], float b[h][w], float alpha[h][w], float out[h][w])
{
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++)
            out[i][j] = alpha[i][j] * a[i][j] + (1.0f - alpha[i][j]) * b[i][j];
}

int main(void)
{
    fill_float(&rgb[0][0][0], (size_t)H * W * 3, 1);
    fill_float(&alpha[0][0], (size_t)H * W, 2);
    bench_start();
    split(H, W, rgb, luma, blue, red);
    gamma_curve(H, W, luma);
    mix(H, W, luma, red, alpha, blend);
    bench_stop();
    checksum_float("luma", &luma[0][0], (size_t)H * W);
    checksum_float("blue", &blue[0][0], (size_t)H * W);
    checksum_float("blend", &blend[0][0], (size_t)H * W);
    return 0;
}
