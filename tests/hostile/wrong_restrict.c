// output: varies
// exit: any
#include <stdio.h>
/* The promise is broken, so any output of the original will do, but no crash of ours. */
static void shift(int n, double *restrict a, double *restrict b)
{
    for (int t = 0; t < 50; t++)
        for (int i = 1; i < n; i++)
            a[i] = b[i - 1] + t;
}
static double x[3000];
int main(void)
{
    shift(2990, x + 1, x);
    printf("%g\n", x[2000]);
    return 0;
}
