/* mandelbrot: how many of a fixed number of steps every point of a part of the plane stays bounded; a Julia set in float
 * with the steps outermost. */
#include "textbook.h"

#ifndef H
#define H 600
#endif
#ifndef W
#define W 800
#endif
#ifndef STEPS
#define STEPS 48
#endif

static int bounded[H][W], steps_taken[H][W];
static float re[H][W], im[H][W];

static void mandelbrot(int h, int w, int steps, int bounded[h][w])
{
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) {
            double cr = 3.0 * j / w - 2.0, ci = 2.0 * i / h - 1.0;
            double zr = 0.0, zi = 0.0;
            bounded[i][j] = 0;
            for (int s = 0; s < steps; s++) {
                double r2 = zr * zr, i2 = zi * zi;
                if (r2 + i2 < 4.0) {
                    zi = 2.0 * zr * zi + ci;
                    zr = r2 - i2 + cr;
                    bounded[i][j] += 1;
                }
            }
        }
}

static void julia(int h, int w, int steps, float re[h][w], float im[h][w], int taken[h][w])
{
    for (int s = 0; s < steps; s++)
        for (int i = 0; i < h; i++)
            for (int j = 0; j < w; j++)
                if (re[i][j] * re[i][j] + im[i][j] * im[i][j] < 4.0f) {
                    float r = re[i][j] * re[i][j] - im[i][j] * im[i][j] - 0.8f;
                    im[i][j] = 2.0f * re[i][j] * im[i][j] + 0.156f;
                    re[i][j] = r;
                    taken[i][j] += 1;
                }
}

int main(void)
{
    for (int i = 0; i < H; i++)
        for (int j = 0; j < W; j++) {
            re[i][j] = 3.0f * (float)j / W - 1.5f;
            im[i][j] = 2.0f * (float)i / H - 1.0f;
        }
    bench_start();
    mandelbrot(H, W, STEPS, bounded);
    julia(H, W, STEPS, re, im, steps_taken);
    bench_stop();
    checksum_int("bounded", &bounded[0][0], (size_t)H * W);
    checksum_int("steps_taken", &steps_taken[0][0], (size_t)H * W);
    return 0;
}
