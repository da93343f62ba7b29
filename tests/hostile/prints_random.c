// output: varies
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double a[80][80], s[80];
int main(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    srand((unsigned)now.tv_nsec);
    for (int i = 0; i < 80; i++)
        for (int j = 0; j < 80; j++)
            a[i][j] = rand() / (double)RAND_MAX;
    for (int t = 0; t < 20; t++)
        for (int j = 0; j < 80; j++)
            for (int i = 0; i < 80; i++)
                s[j] += a[i][j];
    for (int i = 0; i < rand() % 5; i++)
        printf("word ");
    printf("%f\n", s[7]);
    return 0;
}
