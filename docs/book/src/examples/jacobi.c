/* Heat in a square plate, with the plate in rows that the threads share: the example of the chapter profile.md. */
#include <stdio.h>

#define N 1000
#define STEPS 200

static double now[N][N], next[N][N];

static void init(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            now[i][j] = next[i][j] = i == 0 || j == 0 ? 1.0 : 0.0;
}

static void step(double to[N][N], const double from[N][N])
{
#pragma omp parallel for
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++)
            to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
}

int main(void)
{
    init();
    for (int t = 0; t < STEPS; t += 2) {
        step(next, now);
        step(now, next);
    }
    printf("%.9f\n", now[N / 2][N / 2]);
    return 0;
}
