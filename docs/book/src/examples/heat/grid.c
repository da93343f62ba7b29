#include "grid.h"

void step(grid *g)
{
    int nx = g->nx, ny = g->ny;
    for (int j = 1; j < ny - 1; j++)
        for (int i = 1; i < nx - 1; i++)
            g->v[i * ny + j] = 0.25 * (g->u[(i - 1) * ny + j] + g->u[(i + 1) * ny + j]
                                       + g->u[i * ny + j - 1] + g->u[i * ny + j + 1]);
    for (int i = 0; i < nx * ny; i++)
        g->u[i] = g->v[i];
}

double total(const grid *g)
{
    double s = 0;
    for (int i = 0; i < g->nx * g->ny; i++)
        s += g->u[i];
    return s;
}
