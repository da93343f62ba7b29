/* nussinov: the largest number of nested base pairs an RNA sequence can form, for every subsequence i..j. */
#include <stdlib.h>
#include "bench.h"

#ifndef N
#define N 2500
#endif

typedef char base;

static int max_score(int a, int b)
{
    return a >= b ? a : b;
}

/* The bases are numbered so that the two of a pair add up to three. */
static int match(base a, base b)
{
    return a + b == 3 ? 1 : 0;
}

static void init_array(int n, base seq[n], int table[n][n])
{
    unsigned state = 20240u;
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        seq[i] = (base)((state >> 24) % 4);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            table[i][j] = 0;
}

static void kernel_nussinov(int n, base seq[n], int table[n][n])
{
    int i, j, k;

    for (i = n - 1; i >= 0; i--)
        for (j = i + 1; j < n; j++) {
            if (j - 1 >= 0)
                table[i][j] = max_score(table[i][j], table[i][j - 1]);
            if (i + 1 < n)
                table[i][j] = max_score(table[i][j], table[i + 1][j]);
            if (j - 1 >= 0 && i + 1 < n) {
                /* Neighbours cannot bend back on each other. */
                if (i < j - 1)
                    table[i][j] = max_score(table[i][j], table[i + 1][j - 1] + match(seq[i], seq[j]));
                else
                    table[i][j] = max_score(table[i][j], table[i + 1][j - 1]);
            }
            for (k = i + 1; k < j; k++)
                table[i][j] = max_score(table[i][j], table[i][k] + table[k + 1][j]);
        }
}

int main(void)
{
    int(*table)[N] = malloc(sizeof(int[N][N]));
    base *seq = malloc(N);
    if (!table || !seq)
        return 1;
    init_array(N, seq, table);
    bench_start();
    kernel_nussinov(N, seq, table);
    bench_stop();
    checksum_int("table", &table[0][0], (size_t)N * N);
    free(table);
    free(seq);
    return 0;
}
