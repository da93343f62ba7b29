/* kmeans: every point to its nearest centre, then every centre to the mean of its points. */
#include "textbook.h"

#ifndef N
#define N 40000
#endif
#ifndef K
#define K 32
#endif
#ifndef D
#define D 16
#endif
#ifndef ROUNDS
#define ROUNDS 3
#endif

static double point[N][D], centre[K][D], sum[K][D];
static int nearest[N], members[K];

static void assign(int n, double point[n][D], double centre[K][D], int nearest[n])
{
    for (int i = 0; i < n; i++) {
        double least = 1e30;
        for (int c = 0; c < K; c++) {
            double distance = 0.0;
            for (int d = 0; d < D; d++)
                distance += (point[i][d] - centre[c][d]) * (point[i][d] - centre[c][d]);
            if (distance < least) {
                least = distance;
                nearest[i] = c;
            }
        }
    }
}

static void collect(int n, double point[n][D], int nearest[n], double sum[K][D], int members[K])
{
    for (int c = 0; c < K; c++) {
        members[c] = 0;
        for (int d = 0; d < D; d++)
            sum[c][d] = 0.0;
    }
    for (int i = 0; i < n; i++) {
        members[nearest[i]] += 1;
        for (int d = 0; d < D; d++)
            sum[nearest[i]][d] += point[i][d];
    }
}

static void move(double sum[K][D], int members[K], double centre[K][D])
{
    for (int c = 0; c < K; c++)
        if (members[c] > 0)
            for (int d = 0; d < D; d++)
                centre[c][d] = sum[c][d] / members[c];
}

int main(void)
{
    fill(&point[0][0], (size_t)N * D, 1);
    fill(&centre[0][0], (size_t)K * D, 2);
    bench_start();
    for (int round = 0; round < ROUNDS; round++) {
        assign(N, point, centre, nearest);
        collect(N, point, nearest, sum, members);
        move(sum, members, centre);
    }
    bench_stop();
    checksum("centre", &centre[0][0], (size_t)K * D);
    checksum_int("members", members, K);
    return 0;
}
