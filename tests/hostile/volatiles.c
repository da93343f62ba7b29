// kept: device poll
#include <stdio.h>
static volatile double port[64][64];
static double copy[64][64];
static volatile int ready = 60;
static void device(void)
{
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++)
            port[j][i] = i + j;
}
static void poll(void)
{
    for (int i = 0; i < ready; i++)
        for (int j = 0; j < ready; j++)
            copy[j][i] = copy[j][i] * 0.5 + i;
}
static void through(volatile double *p)
{
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++)
            copy[j][i] += *p;
}
int main(void)
{
    for (int t = 0; t < 10; t++) {
        device();
        poll();
        through(&port[1][2]);
    }
    printf("%g %g\n", port[3][4], copy[5][6]);
    return 0;
}
