// output: varies
#include <stdio.h>
#include <time.h>
static double a[80][80], b[80][80], c[80][80];
int main(void)
{
    for (int i = 0; i < 80; i++)
        for (int j = 0; j < 80; j++)
            for (int k = 0; k < 80; k++)
                c[i][j] += (a[i][k] + 1) * (b[k][j] + 2);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    printf("c = %g, now %ld ns\n", c[3][4], now.tv_nsec);
    return 0;
}
