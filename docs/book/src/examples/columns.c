/* Sums of the columns of a matrix: the example of the chapters verify.md and apply.md. */
#include <stdio.h>

#define N 700

static double a[N][N], s[N];

static void columns(double scale)
{
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            s[j] += scale * a[i][j];
}

int main(void)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = (i * 7 + j) % 13;
    for (int t = 0; t < 200; t++)
        columns(0.5 + t);
    for (int j = 0; j < N; j++)
        sum += s[j] * (j % 3);
    printf("%.9g\n", sum);
    return 0;
}
