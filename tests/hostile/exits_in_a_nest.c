#include <stdio.h>
#include <stdlib.h>
static double a[64][64];
static void fill(int stop)
{
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) {
            a[i][j] = i + j;
            if (i == stop && j == 9) {
                printf("stopped, %g\n", a[i][j]);
                exit(0);
            }
        }
}
int main(void)
{
    fill(100);
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++)
            a[j][i] += 1;
    fill(33);
    return 5;
}
