/* distances: squared distances of all pairs of points, with the coordinates of a point together and apart; the largest
 * difference of any coordinate. */
#include "textbook.h"

#ifndef N
#define N 1800
#endif
#ifndef M
#define M 1700
#endif
#ifndef D
#define D 24
#endif

static float p[N][D], q[M][D], together[N][M];
static float ps[D][N], qs[D][M], apart[N][M], chebyshev[N][M];

static void points_together(float p[N][D], float q[M][D], float out[N][M])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            float sum = 0.0f;
            for (int d = 0; d < D; d++) {
                float difference = p[i][d] - q[j][d];
                sum += difference * difference;
            }
            out[i][j] = sqrtf(sum);
        }
}

static void points_apart(float ps[D][N], float qs[D][M], float out[N][M])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            for (int d = 0; d < D; d++)
                out[i][j] += (ps[d][i] - qs[d][j]) * (ps[d][i] - qs[d][j]);
}

static void largest_difference(float ps[D][N], float qs[D][M], float out[N][M])
{
    for (int j = 0; j < M; j++)
        for (int i = 0; i < N; i++) {
            float most = 0.0f;
            for (int d = 0; d < D; d++)
                most = fmaxf(most, fabsf(ps[d][i] - qs[d][j]));
            out[i][j] = most;
        }
}

int main(void)
{
    fill_float(&p[0][0], (size_t)N * D, 1);
    fill_float(&q[0][0], (size_t)M * D, 2);
    fill_float(&ps[0][0], (size_t)N * D, 3);
    fill_float(&qs[0][0], (size_t)M * D, 4);
    bench_start();
    points_together(p, q, together);
    points_apart(ps, qs, apart);
    largest_difference(ps, qs, chebyshev);
    bench_stop();
    checksum_float("together", &together[0][0], (size_t)N * M);
    checksum_float("apart", &apart[0][0], (size_t)N * M);
    checksum_float("chebyshev", &chebyshev[0][0], (size_t)N * M);
    return 0;
}
