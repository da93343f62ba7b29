/* gather-scatter: values fetched and put through an index, contributions of edges to nodes, rows of a table by index. */
#include "textbook.h"

#ifndef N
#define N 1000000
#endif
#ifndef NODES
#define NODES 400000
#endif
#ifndef ROWS
#define ROWS 40000
#endif
#ifndef D
#define D 64
#endif

static int order[N], from[N], to[N], chosen[ROWS];
static double x[N], y[N], z[N], weight[N], node[NODES], sum[NODES];
static float table[ROWS][D], rows[ROWS][D];

static void gather(int n, const int *restrict order, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] = 2.0 * x[order[i]] + y[i];
}

static void scatter(int n, const int *restrict order, const double *restrict x, double *restrict z)
{
    for (int i = 0; i < n; i++)
        z[order[i]] = x[i];
}

static void edges(int n, const int *restrict from, const int *restrict to, const double *restrict weight,
                  const double *restrict node, double *restrict sum)
{
    for (int e = 0; e < n; e++)
        sum[to[e]] += weight[e] * node[from[e]];
}

static void lookup(int n, const int *restrict chosen, float table[restrict ROWS][D], float rows[restrict ROWS][D])
{
    for (int d = 0; d < D; d++)
        for (int r = 0; r < n; r++)
            rows[r][d] = table[chosen[r]][d];
}

int main(void)
{
    fill_permutation(order, N, 1);
    fill_int(from, N, NODES, 2);
    fill_int(to, N, NODES, 3);
    fill_int(chosen, ROWS, ROWS, 4);
    fill(x, N, 5);
    fill(weight, N, 6);
    fill(node, NODES, 7);
    fill_float(&table[0][0], (size_t)ROWS * D, 8);
    bench_start();
    gather(N, order, x, y);
    scatter(N, order, x, z);
    edges(N, from, to, weight, node, sum);
    lookup(ROWS, chosen, table, rows);
    bench_stop();
    checksum("y", y, N);
    checksum("z", z, N);
    checksum("sum", sum, NODES);
    checksum_float("rows", &rows[0][0], (size_t)ROWS * D);
    return 0;
}
