// compiler: gcc -O2 -fopenmp
#include <omp.h>
#include <stdio.h>
static double a[90][90], b[90][90], s;
static void already(void)
{
#pragma omp parallel for
    for (int i = 0; i < 90; i++)
        for (int j = 0; j < 90; j++)
            a[i][j] += b[j][i];
#pragma omp parallel for collapse(2) schedule(static, 3)
    for (int i = 0; i < 90; i++)
        for (int j = 0; j < 90; j++)
            b[i][j] += 1;
#pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < 90; i++)
        for (int j = 0; j < 90; j++)
            s += (int)a[i][j];
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < 90; i++)
            for (int j = 0; j < 90; j++)
                a[j][i] += i;
#pragma omp single
        for (int i = 0; i < 90; i++)
            b[i][i] += 1;
#pragma omp barrier
#pragma omp master
        for (int i = 0; i < 90; i++)
            for (int j = 0; j < 90; j++)
                b[j][i] += 1;
    }
#pragma GCC ivdep
    for (int i = 0; i < 90; i++)
        a[i][0] += 1;
#pragma GCC unroll 4
    for (int i = 0; i < 90; i++)
        for (int j = 0; j < 90; j++)
            a[j][i] += 2;
    _Pragma("omp parallel for") for (int i = 0; i < 90; i++) for (int j = 0; j < 90; j++) a[i][j] -= 1;
    for (int i = 0; i < 90; i++)
#pragma omp simd
        for (int j = 0; j < 90; j++)
            a[i][j] += 0.5;
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 5; i++)
#pragma omp atomic
        s += 1;
}
int main(void)
{
    for (int t = 0; t < 5; t++)
        already();
    double sum = 0;
    for (int i = 0; i < 90; i++)
        for (int j = 0; j < 90; j++)
            sum += a[i][j] * (i - j) + b[i][j] * j;
    printf("%.9e %.9e\n", sum, s);
    return 0;
}
