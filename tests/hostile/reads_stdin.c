#include <stdio.h>
static double a[64][64];
int main(void)
{
    int n = 40, c;
    while ((c = getchar()) != EOF)
        n++;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[j][i] = i * j;
    printf("%d %g\n", n, a[n - 1][n - 2]);
    return 0;
}
