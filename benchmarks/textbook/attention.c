/* attention: scores of all queries with the keys before them, softmax, and the weighted sum of the values, for each head. */
#include "textbook.h"

#ifndef HEADS
#define HEADS 6
#endif
#ifndef N
#define N 320
#endif
#ifndef D
#define D 64
#endif

static float q[HEADS][N][D], k[HEADS][N][D], v[HEADS][N][D], out[HEADS][N][D], scores[HEADS][N][N];

static void score(float q[HEADS][N][D], float k[HEADS][N][D], float scores[HEADS][N][N])
{
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j <= i; j++) {
                float sum = 0.0f;
                for (int d = 0; d < D; d++)
                    sum += q[h][i][d] * k[h][j][d];
                scores[h][i][j] = 0.125f * sum;
            }
}

static void soften(float scores[HEADS][N][N])
{
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < N; i++) {
            float most = scores[h][i][0], sum = 0.0f;
            for (int j = 1; j <= i; j++)
                most = scores[h][i][j] > most ? scores[h][i][j] : most;
            for (int j = 0; j <= i; j++) {
                scores[h][i][j] = expf(scores[h][i][j] - most);
                sum += scores[h][i][j];
            }
            for (int j = 0; j <= i; j++)
                scores[h][i][j] = scores[h][i][j] / sum;
        }
}

static void mix(float scores[HEADS][N][N], float v[HEADS][N][D], float out[HEADS][N][D])
{
    for (int h = 0; h < HEADS; h++)
        for (int d = 0; d < D; d++)
            for (int i = 0; i < N; i++)
                for (int j = 0; j <= i; j++)
                    out[h][i][d] += scores[h][i][j] * v[h][j][d];
}

int main(void)
{
    fill_float(&q[0][0][0], (size_t)HEADS * N * D, 1);
    fill_float(&k[0][0][0], (size_t)HEADS * N * D, 2);
    fill_float(&v[0][0][0], (size_t)HEADS * N * D, 3);
    bench_start();
    score(q, k, scores);
    soften(scores);
    mix(scores, v, out);
    bench_stop();
    checksum_float("out", &out[0][0][0], (size_t)HEADS * N * D);
    return 0;
}
