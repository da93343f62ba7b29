/* Waves in a long basin with absorbing layers at both ends of each row: the example of the chapter values.md, "Asking for a recipe". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NX 400
#define NZ 600
#define STEPS 600

static double before[NX][NZ], now[NX][NZ], after[NX][NZ];
static double density[NX][NZ]; /* one, unless an argument says otherwise */
static double damping[NZ];     /* only in the absorbing layers */
static double source[NX];      /* in a few rows */

static void model(double rock, int layer)
{
    for (int i = 0; i < NX; i++) {
        source[i] = i % 50 == 7 ? 1e-6 * i : 0.0;
        for (int j = 0; j < NZ; j++) {
            density[i][j] = rock;
            now[i][j] = before[i][j] = ((i * 31 + j * 17) % 101) / 101.0;
        }
    }
    for (int j = 0; j < NZ; j++) {
        int depth = j < layer ? layer - j : j >= NZ - layer ? j - (NZ - layer - 1) : 0;
        damping[j] = 0.0002 * depth * depth;
    }
}

static void step(void)
{
    for (int i = 1; i < NX - 1; i++)
        for (int j = 1; j < NZ - 1; j++) {
            double laplacian = now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1] - 4.0 * now[i][j];
            after[i][j] = exp(-damping[j]) * (2.0 * now[i][j] - before[i][j]
                                               + 0.1 / sqrt(density[i][j]) * laplacian);
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
    model(argc > 1 ? atof(argv[1]) : 0.75, argc > 2 ? atoi(argv[2]) : 30);
    for (int t = 0; t < STEPS; t++)
        step();
    double sum = 0.0;
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NZ; j++)
            sum += now[i][j] * (1 + i % 3);
    printf("%.6e\n", sum);
    return 0;
}
