#include "grid.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 500;
    grid g = { n, n, calloc((size_t)n * n, sizeof(double)), calloc((size_t)n * n, sizeof(double)) };
    for (int i = 0; i < n; i++)
        g.u[i * n] = g.v[i * n] = i % 10;
    for (int t = 0; t < 200; t++)
        step(&g);
    printf("%.10e\n", total(&g));
    return 0;
}
