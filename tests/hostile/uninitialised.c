// output: varies
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    int n = 90, garbage;
    double *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b), s = 0, local[90];
    for (int t = 0; t < 5; t++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                b[i * n + j] = a[i * n + j] * 0.5 + local[i];
    for (int i = 0; i < (garbage & 7); i++)
        s += 1;
    for (int i = 0; i < n; i++)
        s += b[i] == b[i];
    printf("%g\n", s);
    free(a);
    free(b);
    return 0;
}
