// tuned: smooth
#include <stdio.h>
#include <stdlib.h>
static void smooth(int n, const double *a, double *b, double *log, const double *weight, int keeps, int weighs)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            double s = a[i * n + j - 1] + a[i * n + j + 1] + a[(i - 1) * n + j] + a[(i + 1) * n + j];
            if (weighs)
                s *= weight[i * n + j];
            if (keeps)
                log[i * n + j] = s;
            b[i * n + j] = 0.25 * s;
        }
}
int main(void)
{
    int n = 700;
    double *a = malloc(n * n * sizeof *a), *b = calloc(n * n, sizeof *b), *nothing = 0, s = 0;
    for (int i = 0; i < n * n; i++)
        a[i] = i % 13;
    for (int t = 0; t < 20; t++) {
        smooth(n, a, b, nothing, nothing + n * t, 0, 0);
        smooth(n, b, a, nothing, b, 0, 1);
    }
    for (int i = 0; i < n * n; i++)
        s += a[i] * (i % 7);
    printf("%.17g\n", s);
    return 0;
}
