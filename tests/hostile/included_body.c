#include <stdio.h>
static double a[50][50], b[50][50];
#ifndef INNER
#define INNER
static void work(void);
#include __FILE__
int main(void)
{
    for (int t = 0; t < 20; t++)
        work();
    printf("%g %g\n", a[3][4], b[5][6]);
    return 0;
}
#else
static void work(void)
{
    for (int j = 0; j < 50; j++)
        for (int i = 0; i < 50; i++)
            a[i][j] += i - b[i][j] + 1;
}
#endif
