/* wave: the wave equation by leapfrog, in two dimensions with three time levels in one array and in one dimension with
 * pointers that change places. */
#include "textbook.h"

#ifndef N
#define N 500
#endif
#ifndef STEPS
#define STEPS 60
#endif
#ifndef LONG
#define LONG 100000
#endif
#ifndef LINE_STEPS
#define LINE_STEPS 300
#endif

static double u[3][N][N];
static float line[2][LONG];

static void wave_2d(int steps, int n, double speed, double u[3][n][n])
{
    for (int t = 1; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                u[(t + 1) % 3][i][j] = 2.0 * u[t % 3][i][j] - u[(t + 2) % 3][i][j]
                                       + speed * (u[t % 3][i - 1][j] + u[t % 3][i + 1][j] + u[t % 3][i][j - 1]
                                                  + u[t % 3][i][j + 1] - 4.0 * u[t % 3][i][j]);
}

/* What comes after takes the place of what was before. */
static void wave_1d(int steps, int n, float speed, float *now, float *other)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            other[i] = 2.0f * now[i] - other[i] + speed * (now[i - 1] - 2.0f * now[i] + now[i + 1]);
        float *last = now;
        now = other;
        other = last;
    }
}

int main(void)
{
    fill(&u[0][0][0], (size_t)N * N, 1);
    fill(&u[1][0][0], (size_t)N * N, 1);
    fill_float(line[0], LONG, 2);
    fill_float(line[1], LONG, 2);
    bench_start();
    wave_2d(STEPS, N, 0.2, u);
    wave_1d(LINE_STEPS, LONG, 0.3f, line[0], line[1]);
    bench_stop();
    checksum("u", &u[0][0][0], (size_t)3 * N * N);
    checksum_float("line", &line[0][0], (size_t)2 * LONG);
    return 0;
}
