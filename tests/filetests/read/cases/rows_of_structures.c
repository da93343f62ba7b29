// run: read -O3
// Rows of structures behind pointers, each from its own allocation, as a member.
#include <stdio.h>
#include <stdlib.h>
typedef struct { double d, m1, e; } cell;
typedef struct { cell **u; double dt; int n, m; } grid;
static void sweep(grid *g)
{
    for (int i = 1; i < g->n - 1; i++)
        for (int j = 1; j < g->m - 1; j++) {
            g->u[i][j].m1 = g->u[i][j].d * g->dt;
            g->u[i][j].e = 0.25 * (g->u[i - 1][j].d + g->u[i + 1][j].d + g->u[i][j - 1].d + g->u[i][j + 1].d);
        }
}
int main(void)
{
    grid g = {malloc(300 * sizeof(cell *)), 0.5, 300, 200};
    for (int i = 0; i < g.n; i++) {
        g.u[i] = malloc(g.m * sizeof(cell));
        for (int j = 0; j < g.m; j++)
            g.u[i][j].d = i % 7 + j % 5, g.u[i][j].m1 = g.u[i][j].e = 0;
    }
    for (int t = 0; t < 200; t++)
        sweep(&g);
    double sum = 0;
    for (int i = 0; i < g.n; i++)
        for (int j = 0; j < g.m; j++)
            sum += g.u[i][j].d + 2 * g.u[i][j].m1 - g.u[i][j].e;
    printf("%.17g\n", sum);
    return 0;
}
// ----
