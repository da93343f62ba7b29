// compiler: gcc -O2 -fno-strict-aliasing
#include <stdio.h>
#include <string.h>
static void bytes(int n, unsigned char *raw, double *values)
{
    for (int i = 0; i < n; i++) {
        values[i] = i;
        raw[8 * i + 7] ^= 0x80;
    }
}
static void bounds(int *a, long *n)
{
    for (int i = 0; i < (int)*n; i++)
        a[i] = a[i] + 1 < 30 ? a[i] + 1 : 30;
}
union both { float f[256]; unsigned u[256]; };
static void bits(union both *x, int n)
{
    for (int i = 0; i < n; i++) {
        x->f[i] = (float)i * 0.5f;
        x->u[i] += 1u << 20;
    }
}
int main(void)
{
    static double a[500];
    static union both x;
    static int c[100];
    for (int t = 0; t < 50; t++) {
        bytes(500, (unsigned char *)a, a);
        bits(&x, 256);
    }
    for (int i = 0; i < 100; i++)
        c[i] = i;
    memcpy(c, &(long){20}, sizeof(long));
    bounds(c, (long *)(void *)c);
    double s = 0;
    for (int i = 0; i < 500; i++)
        s += a[i] * i;
    for (int i = 0; i < 256; i++)
        s += x.f[i];
    for (int i = 0; i < 100; i++)
        s += c[i] * i;
    printf("%.9e\n", s);
    return 0;
}
