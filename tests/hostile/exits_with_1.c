// exit: 2
// says: exit code 1
// says: exits_with_1.c
// says: the input file is missing
#include <stdio.h>
#include <stdlib.h>
static double a[64][64];
int main(void)
{
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++)
            a[j][i] = i + j;
    fprintf(stderr, "the input file is missing\n");
    exit(a[3][4] > 0 ? 1 : 2);
}
