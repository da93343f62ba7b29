/* tensors: sums of products over arrays of rank three and four: a matrix along the first and along the middle axis, and a
 * pair of axes contracted with a pair. */
#include "textbook.h"

#ifndef A
#define A 72
#endif
#ifndef B
#define B 76
#endif
#ifndef C
#define C 80
#endif
#ifndef R
#define R 64
#endif
#ifndef S
#define S 26
#endif

static double t[A][B][C], first[A][R], along_first[R][B][C], middle[R][B], along_middle[A][R][C];
static float p[S][S][S][S], q[S][S][S][S], r[S][S][S][S];

static void mode_one(double t[A][B][C], double m[A][R], double out[R][B][C])
{
    for (int k = 0; k < R; k++)
        for (int j = 0; j < B; j++)
            for (int l = 0; l < C; l++)
                for (int i = 0; i < A; i++)
                    out[k][j][l] += m[i][k] * t[i][j][l];
}

static void mode_two(double t[A][B][C], double m[R][B], double out[A][R][C])
{
    for (int i = 0; i < A; i++)
        for (int l = 0; l < C; l++)
            for (int k = 0; k < R; k++) {
                double sum = 0.0;
                for (int j = 0; j < B; j++)
                    sum += m[k][j] * t[i][j][l];
                out[i][k][l] = sum;
            }
}

static void pairs(float p[S][S][S][S], float q[S][S][S][S], float r[S][S][S][S])
{
    for (int a = 0; a < S; a++)
        for (int b = 0; b < S; b++)
            for (int c = 0; c < S; c++)
                for (int d = 0; d < S; d++)
                    for (int e = 0; e < S / 2; e++)
                        for (int f = 0; f < S / 2; f++)
                            r[a][b][c][d] += p[a][e][b][f] * q[f][c][e][d];
}

int main(void)
{
    fill(&t[0][0][0], (size_t)A * B * C, 1);
    fill(&first[0][0], (size_t)A * R, 2);
    fill(&middle[0][0], (size_t)R * B, 3);
    fill_float(&p[0][0][0][0], (size_t)S * S * S * S, 4);
    fill_float(&q[0][0][0][0], (size_t)S * S * S * S, 5);
    bench_start();
    mode_one(t, first, along_first);
    mode_two(t, middle, along_middle);
    pairs(p, q, r);
    bench_stop();
    checksum("along_first", &along_first[0][0][0], (size_t)R * B * C);
    checksum("along_middle", &along_middle[0][0][0], (size_t)A * R * C);
    checksum_float("r", &r[0][0][0][0], (size_t)S * S * S * S);
    return 0;
}
