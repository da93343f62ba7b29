/* deriche: the recursive smoothing filter of Deriche's edge detector: a causal and an anticausal pass along each
 * row, then along each column. */
#include <math.h>
#include "bench.h"

#ifndef W
#define W 4096
#endif
#ifndef H
#define H 2160
#endif

static double img_in[W][H];
static double img_out[W][H];
static double causal[W][H];
static double anticausal[W][H];

static void init_array(void)
{
    for (int i = 0; i < W; i++)
        for (int j = 0; j < H; j++) {
            img_in[i][j] = 0.05 + (double)((313 * i + 991 * j) % 1021) / 1021.0;
            img_out[i][j] = 0.0;
            causal[i][j] = 0.0;
            anticausal[i][j] = 0.0;
        }
}

static void kernel_deriche(int w, int h, double alpha)
{
    int i, j;
    double xm1, tm1, ym1, ym2;
    double xp1, xp2, tp1, tp2, yp1, yp2;
    double k, a1, a2, a3, a4, a5, a6, a7, a8, b1, b2, c1, c2;

    k = (1.0 - exp(-alpha)) * (1.0 - exp(-alpha)) / (1.0 + 2.0 * alpha * exp(-alpha) - exp(-2.0 * alpha));
    a1 = a5 = k;
    a2 = a6 = k * exp(-alpha) * (alpha - 1.0);
    a3 = a7 = k * exp(-alpha) * (alpha + 1.0);
    a4 = a8 = -k * exp(-2.0 * alpha);
    b1 = 2.0 * exp(-alpha);
    b2 = -exp(-2.0 * alpha);
    c1 = c2 = 1.0;

    for (i = 0; i < w; i++) {
        ym1 = 0.0;
        ym2 = 0.0;
        xm1 = 0.0;
        for (j = 0; j < h; j++) {
            causal[i][j] = a1 * img_in[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
            xm1 = img_in[i][j];
            ym2 = ym1;
            ym1 = causal[i][j];
        }
    }

    for (i = 0; i < w; i++) {
        yp1 = 0.0;
        yp2 = 0.0;
        xp1 = 0.0;
        xp2 = 0.0;
        for (j = h - 1; j >= 0; j--) {
            anticausal[i][j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2;
            xp2 = xp1;
            xp1 = img_in[i][j];
            yp2 = yp1;
            yp1 = anticausal[i][j];
        }
    }

    for (i = 0; i < w; i++)
        for (j = 0; j < h; j++)
            img_out[i][j] = c1 * (causal[i][j] + anticausal[i][j]);

    for (j = 0; j < h; j++) {
        tm1 = 0.0;
        ym1 = 0.0;
        ym2 = 0.0;
        for (i = 0; i < w; i++) {
            causal[i][j] = a5 * img_out[i][j] + a6 * tm1 + b1 * ym1 + b2 * ym2;
            tm1 = img_out[i][j];
            ym2 = ym1;
            ym1 = causal[i][j];
        }
    }

    for (j = 0; j < h; j++) {
        tp1 = 0.0;
        tp2 = 0.0;
        yp1 = 0.0;
        yp2 = 0.0;
        for (i = w - 1; i >= 0; i--) {
            anticausal[i][j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2;
            tp2 = tp1;
            tp1 = img_out[i][j];
            yp2 = yp1;
            yp1 = anticausal[i][j];
        }
    }

    for (i = 0; i < w; i++)
        for (j = 0; j < h; j++)
            img_out[i][j] = c2 * (causal[i][j] + anticausal[i][j]);
}

int main(void)
{
    init_array();
    bench_start();
    kernel_deriche(W, H, 0.25);
    bench_stop();
    checksum("img_out", &img_out[0][0], (size_t)W * H);
    return 0;
}
