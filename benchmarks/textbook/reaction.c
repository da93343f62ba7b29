/* reaction: two substances that diffuse and react (Gray and Scott), two arrays each, time loop and steps in one nest; a
 * cellular automaton of integers. */
#include "textbook.h"

#ifndef N
#define N 360
#endif
#ifndef STEPS
#define STEPS 100
#endif
#ifndef CELLS
#define CELLS 2000
#endif
#ifndef ROUNDS
#define ROUNDS 12
#endif

static float u[2][N][N], v[2][N][N];
static int life[2][CELLS][CELLS];

static void react(int steps, int n, float feed, float kill, float u[2][n][n], float v[2][n][n])
{
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                float a = u[t % 2][i][j], b = v[t % 2][i][j];
                float la = u[t % 2][i - 1][j] + u[t % 2][i + 1][j] + u[t % 2][i][j - 1] + u[t % 2][i][j + 1] - 4.0f * a;
                float lb = v[t % 2][i - 1][j] + v[t % 2][i + 1][j] + v[t % 2][i][j - 1] + v[t % 2][i][j + 1] - 4.0f * b;
                u[(t + 1) % 2][i][j] = a + 0.16f * la - a * b * b + feed * (1.0f - a);
                v[(t + 1) % 2][i][j] = b + 0.08f * lb + a * b * b - (feed + kill) * b;
            }
}

static void generation(int n, int now[n][n], int next[n][n])
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            int around = now[i - 1][j - 1] + now[i - 1][j] + now[i - 1][j + 1] + now[i][j - 1] + now[i][j + 1]
                         + now[i + 1][j - 1] + now[i + 1][j] + now[i + 1][j + 1];
            next[i][j] = around == 3 ? 1 : (around == 2 ? now[i][j] : 0);
        }
}

int main(void)
{
    fill_float(&u[0][0][0], (size_t)2 * N * N, 1);
    fill_float(&v[0][0][0], (size_t)2 * N * N, 2);
    for (int i = 0; i < N * N; i++)
        (&v[0][0][0])[i] *= 0.3f;
    fill_int(&life[0][0][0], (size_t)CELLS * CELLS, 2, 3);
    bench_start();
    react(STEPS, N, 0.035f, 0.065f, u, v);
    for (int t = 0; t < ROUNDS; t++)
        generation(CELLS, life[t % 2], life[(t + 1) % 2]);
    bench_stop();
    checksum_float("u", &u[0][0][0], (size_t)N * N);
    checksum_float("v", &v[0][0][0], (size_t)N * N);
    checksum_int("life", &life[0][0][0], (size_t)CELLS * CELLS);
    return 0;
}
