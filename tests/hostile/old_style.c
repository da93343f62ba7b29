// compiler: gcc -O2 -std=gnu89 -Wall -Wextra -Werror=declaration-after-statement -fno-common
// quiet: unused-variable unused-but-set-variable
// tuned: smooth count norms
#include <stdio.h>
#include <stdlib.h>
struct grid { int n; double **u, **v; double largest; };
static int counts[16];
char letters[4000];
static void smooth(g, rounds)
struct grid *g;
int rounds;
{
    int i, j, t;
    for (t = 0; t < rounds; t++) {
        for (i = 1; i < g->n - 1; i++)
            for (j = 1; j < g->n - 1; j++)
                g->v[i][j] = 0.25 * (g->u[i - 1][j] + g->u[i + 1][j] + g->u[i][j - 1] + g->u[i][j + 1]);
        for (i = 1; i < g->n - 1; i++)
            for (j = 1; j < g->n - 1; j++)
                g->u[i][j] = g->v[i][j];
    }
}
static void count(int n)
{
    int k;
    for (k = 0; k < n; k++)
        counts[letters[k] & 15] += letters[k] < 0 ? 2 : 1;
}
static double norms(double *x, double *y, int n, double *sum)
{
    int i, j;
    double most = 0;
    for (i = 0; i < n; i++) {
        double s = 0;
        for (j = 0; j < n; j++)
            s += x[i * n + j] * y[j];
        sum[i] = s;
        if (s > most)
            most = s;
    }
    return most;
}
int main()
{
    struct grid g;
    double *x, *y, *sum, most;
    int i, j;
    g.n = 60;
    g.u = (double **) malloc(g.n * sizeof *g.u);
    g.v = (double **) malloc(g.n * sizeof *g.v);
    for (i = 0; i < g.n; i++) {
        g.u[i] = (double *) calloc(g.n, sizeof **g.u);
        g.v[i] = (double *) calloc(g.n, sizeof **g.v);
        for (j = 0; j < g.n; j++)
            g.u[i][j] = (i * 7 + j * 3) % 11;
    }
    for (i = 0; i < 4000; i++)
        letters[i] = (char) (i * 37);
    x = (double *) malloc(50 * 50 * sizeof *x);
    y = (double *) malloc(50 * sizeof *y);
    sum = (double *) malloc(50 * sizeof *sum);
    for (i = 0; i < 2500; i++)
        x[i] = i % 13 - 6;
    for (i = 0; i < 50; i++)
        y[i] = i % 5;
    smooth(&g, 8);
    count(4000);
    most = norms(x, y, 50, sum);
    printf("%.10g %d %d %.10g %.10g\n", g.u[20][30], counts[3], counts[12], most, sum[7]);
    return 0;
}
