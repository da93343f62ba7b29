#include <stdio.h>
#include <stdlib.h>
static double none[0], empty[0][7], one[1];
static void fill(int n, int m, double a[n][m], double *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = a[i][j] * 0.5 + b[j];
}
static double total(int n, int m, double *a)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s += a[i * m + j];
    return s;
}
int main(void)
{
    double *a = calloc(40 * 30, sizeof *a), b[40];
    for (int i = 0; i < 40; i++)
        b[i] = i;
    for (int i = 0; i < 0; i++)
        none[i] = empty[i][3] = one[i];
    for (int t = 0; t < 9; t++) {
        fill(0, 30, (void *)a, b);
        fill(40, 1, (void *)a, NULL ? b : b);
        fill(40, 30, (void *)a, b);
        fill(1, 1, (void *)one, b);
    }
    double *z = malloc(0);
    double s = total(0, 0, z) + total(0, 5, NULL) + total(5, 0, z) + total(40, 30, a);
    printf("%g %g %zu\n", s, one[0], sizeof none);
    free(z);
    free(a);
    return 0;
}
