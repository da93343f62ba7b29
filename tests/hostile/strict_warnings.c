// compiler: gcc -O2 -std=c11 -pedantic-errors -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wunknown-pragmas -Wcast-align -Wfloat-conversion -Wvla -Werror
// tuned: multiply
#include <stdio.h>
static float a[60][60], b[60][60], c[60][60];
static void multiply(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++)
            for (unsigned k = 0; k < n; k++)
                c[i][j] += a[i][k] * b[k][j];
}
int main(void)
{
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 60; j++) {
            a[i][j] = (float)(i - j);
            b[i][j] = (float)(i + j);
        }
    for (int t = 0; t < 10; t++)
        multiply(60);
    printf("%g %g\n", (double)c[2][3], (double)c[59][58]);
    return 0;
}
