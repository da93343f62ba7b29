// tuned: product scaled partly shifted twice blocks squares
// Results of a tile in a small array, in the ways that programs with tiles by hand store them, and tiles that rows hold a whole
// number of times or not.
#include <stdio.h>
enum { N = 24, M = 17 };
static float x[N * M + 64], w[M * M], y[N * M + 128];
static void product(float *out, const float *in, const float *weight, int n, int m)
{
    const int tile = 8;
    for (int b = 0; b < n; b += tile)
        for (int o = 0; o < m; o++) {
            float result[8];
            for (int j = 0; j < tile; j++)
                result[j] = o * 0.5f;
            for (int k = 0; k < m; k++) {
                float f = weight[k + o * m];
                for (int j = 0; j < tile; j++)
                    result[j] += in[(b + j) * m + k] * f;
            }
            for (int j = 0; j < tile; j++)
                out[(b + j) * m + o] = result[j];
        }
}
static void scaled(float *out, const float *in, int n, int m)
{
    for (int o = 0; o < n; o++) {
        float sum[4] = {0, 0, 0, 0};
        for (int k = 0; k < m; k++)
            for (int j = 0; j < 4; j++)
                sum[j] += in[o * 4 + j] * (k + 1);
        for (int j = 0; j < 4; j++)
            out[o * 4 + j] = sum[j] > 3 ? sum[j] * 0.5f : -sum[j];
    }
}
static void partly(float *out, const float *in, int n, int m)
{
    for (int o = 0; o < n; o++) {
        float sum[4];
        for (int j = 0; j < 4; j++)
            sum[j] = in[j];
        for (int k = 0; k < m; k++)
            for (int j = 0; j < 4; j++)
                sum[j] += in[o + k] * (j + 1);
        for (int j = 0; j < 3; j++)
            out[o * 4 + j] = sum[j];
    }
}
static void shifted(float *out, const float *in, int n, int m)
{
    for (int o = 0; o < n; o++) {
        float sum[5];
        for (int j = 0; j < 5; j++)
            sum[j] = 0;
        for (int k = 0; k < m; k++)
            for (int j = 0; j < 4; j++)
                sum[j + 1] = sum[j] + in[o * 5 + j] * (k + 1);
        for (int j = 0; j < 5; j++)
            out[o * 5 + j] = sum[j];
    }
}
static void twice(float *out, const float *in, int n, int m)
{
    for (int o = 0; o < n; o++) {
        float sum[4];
        for (int j = 0; j < 4; j++)
            sum[j] = out[o * 4 + j];
        for (int k = 0; k < m; k++)
            for (int j = 0; j < 4; j++)
                sum[j] += in[o * 4 + (j + k) % 4] * (k + 1);
        for (int j = 0; j < 4; j++)
            out[o * 4 + j] = sum[j];
        for (int j = 0; j < 4; j++)
            out[o * 4 + 3 - j] += sum[j];
    }
}
static void blocks(float *out, const float *in, int n, int m)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j += 4)
            for (int k = 0; k < 4; k++)
                out[i * m + j + k] += out[i * m + j + k + m] * 0.5f + in[i * m + j + k];
}
static void squares(float *out, const float *in, int n, int m)
{
    for (int i = 0; i < n; i += 4)
        for (int j = 0; j < m; j += 2) {
            float acc[4][2];
            for (int a = 0; a < 4; a++)
                for (int b = 0; b < 2; b++)
                    acc[a][b] = out[(i + a) * m + j + b];
            for (int k = 0; k < n; k++)
                for (int a = 0; a < 4; a++)
                    for (int b = 0; b < 2; b++)
                        acc[a][b] += in[(i + a) * 3 + k] * w[k * 3 + j + b];
            for (int a = 0; a < 4; a++)
                for (int b = 0; b < 2; b++)
                    out[(i + a) * m + j + b] = acc[a][b];
        }
}
int main(void)
{
    for (int i = 0; i < N * M + 64; i++)
        x[i] = (i * 7) % 11 - 4;
    for (int i = 0; i < M * M; i++)
        w[i] = (i * 5) % 13 - 6;
    int sizes[][2] = {{24, 17}, {8, 1}, {0, 17}, {24, 0}, {16, 5}, {20, 16}, {24, 12}, {24, -16}};
    for (int k = 0; k < 8; k++) {
        int n = sizes[k][0], m = sizes[k][1];
        product(y, x, w, n, m);
        scaled(y, x, n, m);
        // What is written is read, too.
        scaled(y + 2, y, n, m);
        partly(y, x, n, m);
        partly(y, y + 3, n, m);
        shifted(y, x, n, m);
        shifted(y, y + 7, n, m);
        twice(y, x, n, m);
        blocks(y, x, n > 2 ? n - 2 : 0, m);
        squares(y, x, n > 8 ? 8 : n, m);
        squares(y, x, n > 8 ? 8 : n, 16);
        float sum = 0;
        for (int i = 0; i < N * M; i++) {
            sum += y[i] * (i % 5 + 1);
            if (y[i] > 1e6f || y[i] < -1e6f)
                y[i] = 0;
        }
        printf("%d %d %.9g\n", n, m, sum);
    }
}
