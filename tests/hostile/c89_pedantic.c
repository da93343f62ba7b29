// compiler: gcc -O2 -std=c89 -pedantic-errors -Wall -Wextra -Werror
// quiet: unused-variable unused-but-set-variable
// tuned: multiply
#include <stdio.h>
static double a[60][60], b[60][60], c[60][60];
static void multiply(void)
{
    int i, j, k;
    for (i = 0; i < 60; i++)
        for (j = 0; j < 60; j++)
            for (k = 0; k < 60; k++)
                c[i][j] += a[i][k] * b[k][j];
}
int main(void)
{
    int i, j;
    for (i = 0; i < 60; i++)
        for (j = 0; j < 60; j++) {
            a[i][j] = i - j;
            b[i][j] = i + j;
        }
    for (i = 0; i < 10; i++)
        multiply();
    printf("%g %g\n", c[2][3], c[59][58]);
    return 0;
}
