/* Waves in two layers of rock, with an absorbing layer along all sides: the example of the chapters values.md and flow.md. */
#include <stdio.h>
#include <stdlib.h>

#define NX 400
#define NZ 300
#define LAYER 20
#define STEPS 600
#define SHOTS 2

static double before[NX][NZ], now[NX][NZ], after[NX][NZ];
static double speed[NX][NZ];     /* of two kinds of rock */
static double damping[NX][NZ];   /* only in the absorbing layer */
static double laplacian[NX][NZ]; /* from one loop to the next */
static double energy[STEPS];
static long column[NX];

static double ramp(int i, int n)
{
    int depth = i < LAYER ? LAYER - i : i >= n - LAYER ? i - (n - LAYER - 1) : 0;
    return 0.002 * depth * depth;
}

static void build_model(void)
{
    for (int i = 0; i < NX; i++) {
        column[i] = rand() % 100 + 150;
        for (int j = 0; j < NZ; j++) {
            speed[i][j] = j < column[i] ? 0.31 : 0.47;
            damping[i][j] = ramp(i, NX) + ramp(j, NZ);
        }
    }
}

static void quiet(void)
{
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NZ; j++) {
            before[i][j] = 0.0;
            now[i][j] = 0.0;
            after[i][j] = 0.0;
        }
}

static void step(int t)
{
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NZ; j++)
            laplacian[i][j] = 0.0;
    for (int i = 1; i < NX - 1; i++)
        for (int j = 1; j < NZ - 1; j++)
            laplacian[i][j] = now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1] - 4.0 * now[i][j];
    for (int i = 1; i < NX - 1; i++)
        for (int j = 1; j < NZ - 1; j++) {
            double d = damping[i][j];
            after[i][j] = ((2.0 - d) * now[i][j] - (1.0 - d) * before[i][j]
                           + speed[i][j] * speed[i][j] * laplacian[i][j]);
        }
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NZ; j++) {
            before[i][j] = now[i][j];
            now[i][j] = after[i][j];
        }
    double sum = 0.0;
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NZ; j++)
            sum += now[i][j] * now[i][j];
    energy[t] = sum;
}

int main(void)
{
    build_model();
    for (int shot = 0; shot < SHOTS; shot++) {
        quiet();
        for (int t = 0; t < STEPS; t++) {
            if (t < 10)
                now[NX / 2 + 40 * shot][LAYER + 5] += (t - 5.0) * (t - 4.0);
            step(t);
        }
        printf("shot %d: %.6e at the end\n", shot, energy[STEPS - 1]);
    }
    return 0;
}
