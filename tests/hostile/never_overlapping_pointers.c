// tuned: multiply
#include <stdio.h>
#include <stdlib.h>
void multiply(int n, const double *a, const double *b, double *c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}
int main(void)
{
    int n = 90;
    double *m = malloc(3 * n * n * sizeof *m);
    for (int i = 0; i < 3 * n * n; i++)
        m[i] = i % 13 - 6;
    for (int t = 0; t < 4; t++)
        multiply(n, m, m + n * n, m + 2 * n * n);
    for (int i = 0; i < 3 * n * n; i++)
        m[i] = (int)m[i] % 10;
    multiply(20, m + 5, m + 5, m + 500);
    double s = 0;
    for (int i = 0; i < 3 * n * n; i++)
        s = s * 0.999 + m[i];
    printf("%.9e\n", s);
    return 0;
}
