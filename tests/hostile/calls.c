// compiler: gcc -O2 -lm
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static double a[50][50];
static int state = 1, n_calls;
static int next(void) { return state = (int)((state * 1103515245u + 12345u) & 0x7fffffff); }
static double impure(double x) { n_calls++; return x + n_calls; }
static double pure(double x) { return x * x + 1; }
static double peeks(int i) { return a[i][i]; }
static void store(double *p, double x) { *p = x; }
static double (*chosen)(double) = pure;
static void work(double (*f)(double), int (*index)(void))
{
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 50; j++)
            a[i][j] = impure(a[i][j]);
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 50; j++)
            a[j][i] += pure(i) - pure(pure(j));
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 50; j++)
            a[i][j] += f(j) + chosen(i);
    for (int i = 0; i < 50; i++)
        a[index() % 50][next() % 50] += i;
    for (int i = 0; i < 49; i++)
        for (int j = 0; j < 50; j++)
            a[i][j] = a[i][j] * 0.5 + peeks(i + 1);
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 50; j++)
            store(&a[j][i], i + j + impure(pure(impure(a[j][i]))) * 1e-3);
    int k = 0;
    for (int i = 0; i < 50; i++)
        a[i][(k++, 3)] += (a[i][0] = i) * (i > 20 ? impure(1) : 2);
    for (int i = 0; i < 50; i++)
        a[i][i] += (n_calls += 2) + abs(i - 20) + fmod(i, 3) + (i > 10 && impure(1) > 0);
    for (int i = 0; i < 50 && next() % 97; i++)
        a[i][1] += 1;
    for (int i = 0; i < 3; i++)
        printf("%.6g ", a[i][i]);
}
int main(void)
{
    for (int t = 0; t < 6; t++)
        work(t % 2 ? sqrt : pure, t % 3 ? rand : next);
    double s = 0;
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 50; j++)
            s += a[i][j] * (i - 2 * j);
    printf("%.9e %d\n", s, n_calls);
    return 0;
}
