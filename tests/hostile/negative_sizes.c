#include <stdio.h>
static double a[100];
static double work(int n, int step, long far)
{
    double s = 0;
    for (int i = n; i > 0; i -= step)
        a[i] += step;
    for (int i = -n; i <= n; i++)
        s += a[i < 0 ? -i : i] * i * i;
    for (long i = far; i < far + 50; i++)
        a[i - far] += 1;
    for (long i = 0x7fffffffffffffff - 40; i < 0x7fffffffffffffff; i++)
        a[0x7fffffffffffffff - i] += 2;
    for (int i = -2147483647 - 1; i < -2147483600; i++)
        a[i + 2147483647 + 1] += 3;
    return s;
}
int main(void)
{
    double s = 0;
    for (int t = 0; t < 20; t++)
        s = s * 0.5 + work(90, 7, -4000000000000000000) + work(-5, 1, 4000000000000000000) + work(0, 3, 0);
    printf("%g %g\n", s, a[13]);
    return 0;
}
