#include <stdio.h>
static double a[200], m[50][50];
static int calls;
static int limit(void) { return ++calls % 7 + 40; }
static void counters(int n)
{
    for (float x = 0; x < 1; x += 0.125f)
        a[(int)(x * 8)] += x;
    for (double x = 10; x > 0.1; x /= 2)
        a[(int)x] += 1;
    for (int i = 0; i != n; i += 2)
        a[i] += 2;
    for (int i = 1; i < n; i *= 2)
        for (int j = i; j > 0; j /= 2)
            a[j] += i;
    for (int i = n; i; i >>= 1)
        a[i] += 1;
    for (int i = 0, j = n - 1; i < j; i++, j--) {
        double swap = a[i];
        a[i] = a[j];
        a[j] = swap;
    }
    for (int i = 0; i < limit(); i++)
        a[i] += 1;
    for (int i = 0; i < n; i++) {
        a[i] += i;
        if (i % 5 == 0)
            i++;
    }
    for (int i = 0; i < n; i++)
        if (a[i] > 1e6)
            n--;
    int k = 0;
    for (; k < n;)
        a[k++] *= 0.5;
    for (;;) {
        if (k-- <= 0)
            break;
        a[k] += 0.25;
    }
    for (char c = 'a'; c <= 'z'; c++)
        a[c] += 1;
    for (_Bool b = 0; !b; b = 1)
        a[0] += 1;
    enum { RED, GREEN, BLUE } colour;
    for (colour = RED; colour <= BLUE; colour++)
        a[colour] += 1;
    for (int i = 0; i < n; ++i, calls += 2)
        a[i] += calls;
    for (int i = n - 1; i >= 0; --i)
        for (int j = i; j >= 0; j -= 3)
            m[j % 50][i % 50] += a[i];
    for (int i = 0; 50 > i; i = i + 1)
        for (int j = 49; -1 < j; j = j - 1)
            m[j][i] += 1;
    for (int i = 0; (i < 50) & (a[i] < 1e30); i++)
        m[i][3] += 1;
    for (int i = 0; i < 50 && m[i][0] < 1e30; i++)
        m[0][i] -= 1;
    for (int *p = &calls; calls > 0; calls -= 1000)
        *p -= 1;
    for (long i = 0; i < 3000000000L; i += 100000000L)
        a[i / 100000000L] += 1;
}
int main(void)
{
    for (int t = 0; t < 20; t++)
        counters(100 - 2 * t);
    double s = 0;
    for (int i = 0; i < 200; i++)
        s = s * 0.99 + a[i];
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 50; j++)
            s += m[i][j] * (i - 2 * j);
    printf("%.9e %d\n", s, calls);
    return 0;
}
