/* argmax: where rows have their maximum and columns their minimum, the range of a long vector, and how many pass a test. */
#include "textbook.h"

#ifndef ROWS
#define ROWS 2400
#endif
#ifndef N
#define N 2000
#endif
#ifndef LONG
#define LONG 8000000
#endif

static float a[ROWS][N], most[ROWS], least[N];
static int where[ROWS], row_of[N];
static double x[LONG], range[2];
static int passed[1];

static void along_rows(int rows, int n, float a[rows][n], float most[rows], int where[rows])
{
    for (int i = 0; i < rows; i++) {
        most[i] = a[i][0];
        where[i] = 0;
        for (int j = 1; j < n; j++)
            if (a[i][j] > most[i]) {
                most[i] = a[i][j];
                where[i] = j;
            }
    }
}

static void along_columns(int rows, int n, float a[rows][n], float least[n], int row_of[n])
{
    for (int j = 0; j < n; j++) {
        least[j] = 1e30f;
        for (int i = 0; i < rows; i++)
            if (a[i][j] < least[j]) {
                least[j] = a[i][j];
                row_of[j] = i;
            }
    }
}

static void extremes(int n, const double *restrict x, double *restrict range)
{
    double low = x[0], high = x[0];
    for (int i = 1; i < n; i++) {
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
    }
    range[0] = low;
    range[1] = high;
}

static void count(int n, double limit, const double *restrict x, int *restrict passed)
{
    int found = 0;
    for (int i = 0; i < n; i++)
        if (x[i] > limit)
            found++;
    passed[0] = found;
}

int main(void)
{
    fill_float(&a[0][0], (size_t)ROWS * N, 1);
    fill(x, LONG, 2);
    bench_start();
    along_rows(ROWS, N, a, most, where);
    along_columns(ROWS, N, a, least, row_of);
    extremes(LONG, x, range);
    count(LONG, 0.7, x, passed);
    bench_stop();
    checksum_float("most", most, ROWS);
    checksum_int("where", where, ROWS);
    checksum_float("least", least, N);
    checksum_int("row_of", row_of, N);
    checksum("range", range, 2);
    checksum_int("passed", passed, 1);
    return 0;
}
