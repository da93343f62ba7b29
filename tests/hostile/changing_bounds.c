#include <stdio.h>
static int n = 40, i, data[64];
static double a[64][64];
static int *const alias = &n;
static void touch(void) { n = 40; }
static void work(int *m)
{
    for (i = 0; i < n; i++) {
        a[i][0] += i;
        if (i == 10)
            n = 30;
    }
    for (int j = 0; j < n; j++) {
        a[j][1] += j;
        *alias = 35;
    }
    for (int j = 0; j < *m; j++)
        for (int k = 0; k < data[j]; k++)
            a[j][k] += 1;
    for (int j = 0; j < data[3]; j++)
        data[j] = data[j] % 50 + 1;
    for (int j = 0; j < n; j++) {
        touch();
        a[j][2] += 1;
    }
    for (int j = 0; j < 40; j++) {
        int *p = &j;
        a[*p][3] += 1;
        *p += 1;
    }
    for (int j = 0, *p = &j; j < 40; j++) {
        a[j][4] += 1;
        ++*p;
    }
    for (i = 0; i < 20; i++)
        for (int k = 0; k < 20; k++)
            a[i][k] += i;
}
int main(void)
{
    int m = 64;
    for (int j = 0; j < 64; j++)
        data[j] = j;
    for (int t = 0; t < 10; t++)
        work(&m);
    double s = 0;
    for (int j = 0; j < 64; j++)
        for (int k = 0; k < 64; k++)
            s += a[j][k] * (j * 3 - k);
    printf("%g %d %d\n", s, i, n);
    return 0;
}
