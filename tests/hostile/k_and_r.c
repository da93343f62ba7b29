// compiler: gcc -O2 -std=gnu89 -w
#include <stdio.h>
double sums[50];
fill(a, n, scale)
double *a;
int n;
float scale;
{
    int i, j;
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            a[i] = a[i] + scale * j;
    return 0;
}
main()
{
    int i;
    for (i = 0; i < 20; i++)
        fill(sums, 50, 0.5);
    printf("%g %g\n", sums[0], sums[49]);
    return 0;
}
