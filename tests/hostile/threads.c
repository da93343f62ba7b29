// compiler: gcc -O2 -pthread
#include <pthread.h>
#include <stdio.h>
static double a[4][80][80];
static void *work(void *which)
{
    double(*m)[80] = a[*(int *)which];
    for (int t = 0; t < 10; t++)
        for (int j = 0; j < 80; j++)
            for (int i = 0; i < 80; i++)
                m[i][j] += i + 2 * j + t;
    return NULL;
}
int main(void)
{
    pthread_t threads[4];
    int which[4] = {0, 1, 2, 3};
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, &which[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("%g %g\n", a[0][3][4], a[3][70][1]);
    return 0;
}
