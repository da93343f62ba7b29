/* moving-average: means over a window that slides along many series, by summing every window, by adding and subtracting,
 * and the maximum of every window. */
#include "textbook.h"

#ifndef SERIES
#define SERIES 200
#endif
#ifndef N
#define N 8000
#endif
#ifndef WINDOW
#define WINDOW 16
#endif

static double series[SERIES][N], mean[SERIES][N], running[SERIES][N], peak[SERIES][N];

static void windows(int s, int n, double series[s][n], double mean[s][n])
{
    for (int r = 0; r < s; r++)
        for (int i = 0; i <= n - WINDOW; i++) {
            double sum = 0.0;
            for (int k = 0; k < WINDOW; k++)
                sum += series[r][i + k];
            mean[r][i] = sum / WINDOW;
        }
}

static void slide(int s, int n, double series[s][n], double running[s][n])
{
    for (int i = WINDOW; i < n; i++)
        for (int r = 0; r < s; r++)
            running[r][i] = running[r][i - 1] + (series[r][i] - series[r][i - WINDOW]) / WINDOW;
}

static void peaks(int s, int n, double series[s][n], double peak[s][n])
{
    for (int k = 0; k < WINDOW; k++)
        for (int r = 0; r < s; r++)
            for (int i = 0; i <= n - WINDOW; i++)
                peak[r][i] = fmax(peak[r][i], series[r][i + k]);
}

int main(void)
{
    fill(&series[0][0], (size_t)SERIES * N, 1);
    bench_start();
    windows(SERIES, N, series, mean);
    slide(SERIES, N, series, running);
    peaks(SERIES, N, series, peak);
    bench_stop();
    checksum("mean", &mean[0][0], (size_t)SERIES * N);
    checksum("running", &running[0][0], (size_t)SERIES * N);
    checksum("peak", &peak[0][0], (size_t)SERIES * N);
    return 0;
}
