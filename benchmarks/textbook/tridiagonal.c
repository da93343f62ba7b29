/* tridiagonal: many tridiagonal systems by Thomas' algorithm, with each system in a row and with each in a column. */
#include "textbook.h"

#ifndef SYSTEMS
#define SYSTEMS 1500
#endif
#ifndef N
#define N 1000
#endif

static double lower[SYSTEMS][N], diagonal[SYSTEMS][N], upper[SYSTEMS][N], x[SYSTEMS][N];
static double below[N][SYSTEMS], on[N][SYSTEMS], above[N][SYSTEMS], y[N][SYSTEMS];

static void in_rows(int systems, int n, double lower[systems][n], double diagonal[systems][n],
                    double upper[systems][n], double x[systems][n])
{
    for (int s = 0; s < systems; s++) {
        for (int i = 1; i < n; i++) {
            double factor = lower[s][i] / diagonal[s][i - 1];
            diagonal[s][i] -= factor * upper[s][i - 1];
            x[s][i] -= factor * x[s][i - 1];
        }
        x[s][n - 1] /= diagonal[s][n - 1];
        for (int i = n - 2; i >= 0; i--)
            x[s][i] = (x[s][i] - upper[s][i] * x[s][i + 1]) / diagonal[s][i];
    }
}

static void in_columns(int systems, int n, double below[n][systems], double on[n][systems],
                       double above[n][systems], double y[n][systems])
{
    for (int s = 0; s < systems; s++) {
        for (int i = 1; i < n; i++) {
            on[i][s] -= below[i][s] / on[i - 1][s] * above[i - 1][s];
            y[i][s] -= below[i][s] / on[i - 1][s] * y[i - 1][s];
        }
        y[n - 1][s] /= on[n - 1][s];
        for (int i = n - 2; i >= 0; i--)
            y[i][s] = (y[i][s] - above[i][s] * y[i + 1][s]) / on[i][s];
    }
}

int main(void)
{
    size_t n = (size_t)SYSTEMS * N;
    fill(&lower[0][0], n, 1);
    fill(&diagonal[0][0], n, 2);
    fill(&upper[0][0], n, 3);
    fill(&x[0][0], n, 4);
    fill(&below[0][0], n, 5);
    fill(&on[0][0], n, 6);
    fill(&above[0][0], n, 7);
    fill(&y[0][0], n, 8);
    for (size_t i = 0; i < n; i++) {
        (&diagonal[0][0])[i] += 3.0;
        (&on[0][0])[i] += 3.0;
    }
    bench_start();
    in_rows(SYSTEMS, N, lower, diagonal, upper, x);
    in_columns(SYSTEMS, N, below, on, above, y);
    bench_stop();
    checksum("x", &x[0][0], n);
    checksum("y", &y[0][0], n);
    return 0;
}
