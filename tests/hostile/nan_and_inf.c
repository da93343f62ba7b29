// tuned: blend
#include <math.h>
#include <stdio.h>
static double a[70][70], b[70][70], c[70][70], least[70], most[70];
static void blend(void)
{
    for (int i = 0; i < 70; i++)
        for (int j = 0; j < 70; j++)
            for (int k = 0; k < 70; k++)
                c[i][j] += a[i][k] * b[k][j];
}
static void extremes(void)
{
    for (int j = 0; j < 70; j++)
        for (int i = 0; i < 70; i++) {
            least[j] = a[i][j] < least[j] ? a[i][j] : least[j];
            most[j] = !(a[i][j] <= most[j]) ? a[i][j] : most[j];
        }
    for (int j = 0; j < 70; j++)
        for (int i = 0; i < 70; i++)
            if (a[i][j] != a[i][j])
                b[i][j] = 0 * -1.0;
            else if (1 / b[i][j] < 0)
                b[i][j] = 1;
}
int main(void)
{
    for (int i = 0; i < 70; i++)
        for (int j = 0; j < 70; j++) {
            a[i][j] = i == 5 && j == 9 ? NAN : i == 7 ? INFINITY : i == 8 ? 1e308 * j : -0.0;
            b[i][j] = j == 3 ? -INFINITY : j == 4 ? -1e308 : (i + j) % 3 - 1.0;
            c[i][j] = -0.0;
        }
    for (int t = 0; t < 3; t++) {
        blend();
        extremes();
    }
    int nans = 0, infs = 0, negatives = 0;
    for (int i = 0; i < 70; i++)
        for (int j = 0; j < 70; j++) {
            nans += isnan(c[i][j]) + 3 * isnan(least[j]) + 5 * isnan(most[j]);
            infs += !!isinf(c[i][j]);
            negatives += !!signbit(isnan(c[i][j]) ? 0.0 : c[i][j]) + 100 * !!signbit(b[i][j]);
        }
    printf("%d %d %d %g\n", nans, infs, negatives, c[0][0]);
    return 0;
}
