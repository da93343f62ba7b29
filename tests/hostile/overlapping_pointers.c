// tuned: smooth stencil
#include <stdio.h>
/* Without restrict, and called both ways. */
static void smooth(int n, double *to, double *from)
{
    for (int t = 0; t < 6; t++)
        for (int i = 1; i < n - 1; i++)
            to[i] = to[i] * 0.5 + from[i - 1] * 0.25 + from[i + 1] * 0.125;
}
static void stencil(int n, int m, double *b, double *a, double *w)
{
    for (int j = 1; j < m - 1; j++)
        for (int i = 1; i < n - 1; i++)
            b[i * m + j] = w[0] * 0.01 * (a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1]);
}
static void bounded(int *n, int *a)
{
    for (int i = 0; i < *n; i++)
        a[i] = a[i] + 17;
}
static double x[6000], y[6000];
static int counts[200];
static void show(void)
{
    double s = 0;
    for (int i = 0; i < 6000; i++)
        s += (x[i] - 2 * y[i]) * (i % 31 - 11);
    printf("%.6e\n", s);
}
int main(void)
{
    for (int i = 0; i < 6000; i++) {
        x[i] = i % 17;
        y[i] = i % 5;
    }
    smooth(5000, x, y);
    show();
    smooth(5000, x + 1, x);
    show();
    smooth(5000, x, x + 3);
    show();
    smooth(5000, x, x);
    show();
    stencil(50, 60, x, y, x + 5999);
    show();
    stencil(50, 60, x, x + 7, x + 3);
    show();
    stencil(50, 60, x + 61, x, y);
    show();
    for (int i = 0; i < 200; i++)
        counts[i] = i;
    counts[3] = 60;
    bounded(&counts[3], counts);
    bounded(&counts[100], counts + 10);
    long s = 0;
    for (int i = 0; i < 200; i++)
        s = s * 3 % 1000003 + counts[i];
    printf("%ld\n", s);
    return 0;
}
