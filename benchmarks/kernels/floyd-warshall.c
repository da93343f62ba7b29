/* floyd-warshall: lengths of the shortest paths between all pairs of nodes. */
#include <stdlib.h>
#include "bench.h"

#ifndef N
#define N 2800
#endif

static void init_graph(int n, double path[n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            path[i][j] = 1.0 + (double)((13 * i + 7 * j + i * j) % 101);
            if ((7 * i + 3 * j) % 13 > 3)
                path[i][j] = 9999.0;
            if (i == j)
                path[i][j] = 0.0;
        }
}

static void kernel_floyd_warshall(int n, double path[n][n])
{
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
}

int main(void)
{
    double(*path)[N] = malloc(sizeof(double[N][N]));
    if (!path)
        return 1;
    init_graph(N, path);
    bench_start();
    kernel_floyd_warshall(N, path);
    bench_stop();
    checksum("path", &path[0][0], (size_t)N * N);
    free(path);
    return 0;
}
