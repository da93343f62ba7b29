// exit: 2
// says: truncated.c
#include <stdio.h>
static double a[50][50], b[50][50];
int main(void)
{
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 50; j++)
            a[i][j] = b[i][j] * 2.0 +
