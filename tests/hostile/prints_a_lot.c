#include <stdio.h>
static int a[300][300];
int main(void)
{
    for (int i = 0; i < 300; i++)
        for (int j = 0; j < 300; j++)
            a[j][i] = i * 1000 + j;
    for (int i = 0; i < 300; i++)
        for (int j = 0; j < 300; j++)
            printf("%d%c", a[i][j], j % 7 ? ' ' : '\0');
    for (int i = 0; i < 300; i++)
        fprintf(stderr, "%d\n", a[i][i]);
    return 0;
}
