#include <stdio.h>
#include <stdlib.h>
static void fill(long n, double *restrict a)
{
    for (long i = 0; i < n; i++)
        a[i] = i;
}
int main(void)
{
    long n = 1L << 58;
    double *a = malloc((size_t)n * sizeof *a);
    if (!a) {
        printf("no memory\n");
        n = 100;
        a = malloc((size_t)n * sizeof *a);
    }
    fill(n, a);
    printf("%g\n", a[n - 1]);
    free(a);
    return 0;
}
