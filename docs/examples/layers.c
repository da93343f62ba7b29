/* Waves in a long basin with absorbing layers at both ends of each row: the example of docs/values.md, "Asking for a recipe". */
#include <stdio.h>
#include <stdlib.h>

#define NX 1200
#define NZ 1500
#define STEPS 60

static float before[NX][NZ], now[NX][NZ], after[NX][NZ];
static float density[NX][NZ]; /* one, unless an argument says otherwise */
static float damping[NZ];     /* only in the absorbing layers */
static float source[NX];      /* in a few rows */

static void model(float rock, int layer)
{
    for (int i = 0; i < NX; i++) {
        source[i] = i % 50 == 7 ? 0.001f * i : 0.0f;
        for (int j = 0; j < NZ; j++) {
            density[i][j] = rock;
            now[i][j] = before[i][j] = ((i * 31 + j * 17) % 101) / 101.0f;
        }
    }
    for (int j = 0; j < NZ; j++) {
        int depth = j < layer ? layer - j : j >= NZ - layer ? j - (NZ - layer - 1) : 0;
        damping[j] = 0.0002f * depth * depth;
    }
}

static void step(void)
{
    for (int i = 1; i < NX - 1; i++)
        for (int j = 1; j < NZ - 1; j++) {
            float laplacian = now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1] - 4.0f * now[i][j];
            after[i][j] = (2.0f - damping[j]) * now[i][j] - (1.0f - damping[j]) * before[i][j]
                          + 0.1f / density[i][j] * laplacian;
        }
    for (int i = 1; i < NX - 1; i++)
        for (int j = 1; j < NZ - 1; j++)
            after[i][j] += source[i] * now[i][j];
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NZ; j++) {
            before[i][j] = now[i][j];
            now[i][j] = after[i][j];
        }
}

int main(int argc, char **argv)
{
    model(argc > 1 ? atof(argv[1]) : 0.75f, argc > 2 ? atoi(argv[2]) : 30);
    for (int t = 0; t < STEPS; t++)
        step();
    double sum = 0.0;
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NZ; j++)
            sum += now[i][j] * (1 + i % 3);
    printf("%.6e\n", sum);
    return 0;
}
