#include <stdio.h>
static double a[64][64];
int main(void)
{
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++)
            a[j][i] = i * j;
    FILE *f = fopen("/dev/null", "w");
    for (int i = 0; i < 64; i++)
        fprintf(f, "%g\n", a[i][i]);
    fclose(f);
    printf("%g\n", a[5][6]);
    return 0;
}
