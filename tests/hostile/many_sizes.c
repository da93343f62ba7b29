// tuned: multiply
#include <stdio.h>
#include <stdlib.h>
static void multiply(int n, int m, int k, double (*restrict c)[m], double (*restrict a)[k], double (*restrict b)[m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < k; l++)
                c[i][j] += a[i][l] * b[l][j];
}
int main(void)
{
    double *a = malloc(sizeof(double) * 70 * 70), *b = malloc(sizeof(double) * 70 * 70), s = 0;
    for (int n = 1; n <= 70; n += 3) {
        int m = (n * 7) % 61 + 1, k = (n * 5) % 67 + 1;
        double *c = calloc((size_t)n * m, sizeof(double));
        for (int i = 0; i < 70 * 70; i++) {
            a[i] = (i * n) % 11;
            b[i] = (i + n) % 7;
        }
        multiply(n, m, k, (double(*)[m])c, (double(*)[k])a, (double(*)[m])b);
        for (int i = 0; i < n * m; i++)
            s = s * 0.875 + c[i];
        free(c);
    }
    printf("%.9e\n", s);
    return 0;
}
