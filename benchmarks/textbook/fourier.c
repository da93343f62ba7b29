/* fourier: a discrete Fourier transform by its definition, a cosine transform of 8 x 8 blocks, and a complex product of
 * vectors. */
#include "textbook.h"

#ifndef N
#define N 2500
#endif
#ifndef BLOCKS
#define BLOCKS 10000
#endif
#ifndef LONG
#define LONG 3000000
#endif

static double signal[N], cosine[N], sine[N], re[N], im[N];
static float pixel[BLOCKS][8][8], basis[8][8], half[BLOCKS][8][8], coefficient[BLOCKS][8][8];
static float ar[LONG], ai[LONG], br[LONG], bi[LONG];

static void transform(int n, const double *restrict x, const int *restrict phase, const double *restrict c,
                      const double *restrict s, double *restrict re, double *restrict im)
{
    for (int k = 0; k < n; k++) {
        re[k] = 0.0;
        im[k] = 0.0;
        for (int i = 0; i < n; i++) {
            re[k] += x[i] * c[phase[k] * i % n];
            im[k] -= x[i] * s[phase[k] * i % n];
        }
    }
}

static void cosine_blocks(float pixel[BLOCKS][8][8], float basis[8][8], float half[BLOCKS][8][8],
                          float coefficient[BLOCKS][8][8])
{
    for (int b = 0; b < BLOCKS; b++) {
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) {
                half[b][i][j] = 0.0f;
                for (int k = 0; k < 8; k++)
                    half[b][i][j] += pixel[b][i][k] * basis[j][k];
            }
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) {
                coefficient[b][i][j] = 0.0f;
                for (int k = 0; k < 8; k++)
                    coefficient[b][i][j] += basis[i][k] * half[b][k][j];
            }
    }
}

static void complex_product(int n, const float *restrict ar, const float *restrict ai, float *restrict br,
                            float *restrict bi)
{
    for (int i = 0; i < n; i++) {
        float r = ar[i] * br[i] - ai[i] * bi[i];
        bi[i] = ar[i] * bi[i] + ai[i] * br[i];
        br[i] = r;
    }
}

int main(void)
{
    static int phase[N];
    for (int i = 0; i < N; i++) {
        phase[i] = i;
        cosine[i] = cos(6.283185307179586 * i / N);
        sine[i] = sin(6.283185307179586 * i / N);
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            basis[i][j] = (i ? 0.5f : 0.35355339f) * cosf(0.19634954f * (float)(i * (2 * j + 1)));
    fill(signal, N, 1);
    fill_float(&pixel[0][0][0], (size_t)BLOCKS * 64, 2);
    fill_float(ar, LONG, 3);
    fill_float(ai, LONG, 4);
    fill_float(br, LONG, 5);
    fill_float(bi, LONG, 6);
    bench_start();
    transform(N, signal, phase, cosine, sine, re, im);
    cosine_blocks(pixel, basis, half, coefficient);
    complex_product(LONG, ar, ai, br, bi);
    bench_stop();
    checksum("re", re, N);
    checksum("im", im, N / 2);
    checksum_float("coefficient", &coefficient[0][0][0], (size_t)BLOCKS * 64);
    checksum_float("br", br, LONG);
    checksum_float("bi", bi, LONG);
    return 0;
}
