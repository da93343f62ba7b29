#include <stdio.h>
static double a[32][32];
static void split(int low, int high)
{
    if (high - low <= 8) {
        for (int j = 0; j < 32; j++)
            for (int i = low; i < high; i++)
                a[i][j] = a[i][j] * 0.5 + i - j;
        return;
    }
    int middle = (low + high) / 2;
    split(low, middle);
    split(middle, high);
}
static double deep(int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) {
        a[n][i] += 1;
        s += i % 3 == 0 ? deep(n / 3) : a[i][n];
    }
    return s;
}
static int even(int n);
static int odd(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += even(i);
    return n > 0 ? s + even(n - 1) : 0;
}
static int even(int n) { return n > 0 ? odd(n - 1) : 1; }
int main(void)
{
    for (int t = 0; t < 20; t++)
        split(0, 32);
    printf("%g %d", deep(27), odd(9));
    for (int i = 0; i < 32; i += 5)
        printf(" %g", a[i][31 - i]);
    printf("\n");
    return 0;
}
