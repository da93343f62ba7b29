/* histogram: how often values occur, the sum of weights for each value, and a histogram of every row of a matrix. */
#include "textbook.h"

#ifndef N
#define N 5000000
#endif
#ifndef BINS
#define BINS 512
#endif
#ifndef ROWS
#define ROWS 400
#endif
#ifndef LENGTH
#define LENGTH 8000
#endif

static int keys[N], counts[BINS], table[ROWS][LENGTH], per_row[ROWS][BINS];
static double weights[N], sums[BINS];

static void count(int n, const int *restrict keys, int *restrict counts)
{
    for (int i = 0; i < n; i++)
        counts[keys[i]]++;
}

static void sum_up(int n, const int *restrict keys, const double *restrict weights, double *restrict sums)
{
    for (int i = 0; i < n; i++)
        sums[keys[i]] += weights[i] * weights[i];
}

static void count_rows(int rows, int length, int table[restrict rows][length], int per_row[restrict rows][BINS])
{
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < length; i++)
            per_row[r][table[r][i]] += 1;
}

int main(void)
{
    fill_int(keys, N, BINS, 1);
    fill_int(&table[0][0], (size_t)ROWS * LENGTH, BINS, 2);
    fill(weights, N, 3);
    bench_start();
    count(N, keys, counts);
    sum_up(N, keys, weights, sums);
    count_rows(ROWS, LENGTH, table, per_row);
    bench_stop();
    checksum_int("counts", counts, BINS);
    checksum("sums", sums, BINS);
    checksum_int("per_row", &per_row[0][0], (size_t)ROWS * BINS);
    return 0;
}
