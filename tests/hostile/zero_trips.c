// tuned: add
#include <stdio.h>
static double a[60][60];
static int i, last;
static void add(int n, int m)
{
    int j;
    for (i = 0; i < n; i++)
        for (j = i; j < m; j++)
            a[i][j] += i + 2 * j;
    last = i;
}
static int triangle(int n)
{
    int x = -1;
    for (int k = 5; k <= n; k++)
        for (x = k; x < 5; x++)
            a[k][x] = 0;
    return x;
}
int main(void)
{
    int lasts = 0;
    int sizes[][2] = {{0, 0}, {-5, 10}, {10, -5}, {60, 60}, {1, 60}, {60, 1}, {-2147483647 - 1, 2147483647}, {3, 3}};
    for (int t = 0; t < 8; t++) {
        add(sizes[t][0], sizes[t][1]);
        lasts = lasts * 7 + last + triangle(sizes[t][0] % 60);
    }
    for (int t = 0; t < 20; t++)
        add(60, 60);
    double s = 0;
    for (int y = 0; y < 60; y++)
        for (int x = 0; x < 60; x++)
            s += a[y][x] * (x - y);
    printf("%d %d %g\n", last, lasts, s);
    return 0;
}
