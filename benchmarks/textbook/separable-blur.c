/* separable-blur: a Gaussian blur as a pass along the rows and a pass along the columns, arrays linearised by hand. */
#include "textbook.h"

#ifndef H
#define H 2000
#endif
#ifndef W
#define W 2400
#endif

static void blur_rows(int h, int w, const float *restrict in, float *restrict out)
{
    for (int y = 0; y < h; y++)
        for (int x = 2; x < w - 2; x++)
            out[y * w + x] = 0.0625f * in[y * w + x - 2] + 0.25f * in[y * w + x - 1] + 0.375f * in[y * w + x]
                             + 0.25f * in[y * w + x + 1] + 0.0625f * in[y * w + x + 2];
}

static void blur_columns(int h, int w, const float *restrict in, float *restrict out)
{
    for (int x = 0; x < w; x++)
        for (int y = 2; y < h - 2; y++)
            out[y * w + x] = 0.0625f * in[(y - 2) * w + x] + 0.25f * in[(y - 1) * w + x] + 0.375f * in[y * w + x]
                             + 0.25f * in[(y + 1) * w + x] + 0.0625f * in[(y + 2) * w + x];
}

int main(void)
{
    float *image = malloc((size_t)H * W * sizeof *image);
    float *middle = calloc((size_t)H * W, sizeof *middle);
    float *result = calloc((size_t)H * W, sizeof *result);
    if (!image || !middle || !result)
        return 1;
    fill_float(image, (size_t)H * W, 1);
    bench_start();
    blur_rows(H, W, image, middle);
    blur_columns(H, W, middle, result);
    bench_stop();
    checksum_float("result", result, (size_t)H * W);
    free(image);
    free(middle);
    free(result);
    return 0;
}
