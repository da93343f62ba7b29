/* edit-distance: dynamic programming: the distance of two words, the longest common subsequence row by row in place, and
 * the best choice of things that fit into a knapsack. */
#include "textbook.h"

#ifndef N
#define N 2400
#endif
#ifndef THINGS
#define THINGS 400
#endif
#ifndef CAPACITY
#define CAPACITY 60000
#endif

static int a[N], b[N], distance[N + 1][N + 1], common[N + 1][N + 1];
static int weight[THINGS], value[THINGS], best[THINGS + 1][CAPACITY + 1];

static void edit(int n, const int *a, const int *b, int distance[N + 1][N + 1])
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
            int change = distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            int insert = distance[i][j - 1] + 1;
            int erase = distance[i - 1][j] + 1;
            int least = insert < erase ? insert : erase;
            distance[i][j] = change < least ? change : least;
        }
}

static void subsequence(int n, const int *a, const int *b, int common[N + 1][N + 1])
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
            if (a[i - 1] == b[j - 1])
                common[i][j] = common[i - 1][j - 1] + 1;
            else
                common[i][j] = common[i - 1][j] > common[i][j - 1] ? common[i - 1][j] : common[i][j - 1];
        }
}

static void knapsack(int things, int capacity, const int *weight, const int *value,
                     int best[THINGS + 1][CAPACITY + 1])
{
    for (int i = 0; i < things; i++)
        for (int c = 0; c <= capacity; c++) {
            best[i + 1][c] = best[i][c];
            if (c >= weight[i] && best[i][c - weight[i]] + value[i] > best[i][c])
                best[i + 1][c] = best[i][c - weight[i]] + value[i];
        }
}

int main(void)
{
    fill_int(a, N, 4, 1);
    fill_int(b, N, 4, 2);
    fill_int(weight, THINGS, 500, 3);
    fill_int(value, THINGS, 1000, 4);
    for (int i = 0; i <= N; i++) {
        distance[i][0] = i;
        distance[0][i] = i;
    }
    bench_start();
    edit(N, a, b, distance);
    subsequence(N, a, b, common);
    knapsack(THINGS, CAPACITY, weight, value, best);
    bench_stop();
    checksum_int("distance", &distance[0][0], (size_t)(N + 1) * (N + 1));
    checksum_int("common", &common[0][0], (size_t)(N + 1) * (N + 1));
    checksum_int("best", best[THINGS], CAPACITY + 1);
    return 0;
}
