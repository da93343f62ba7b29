#include <stdint.h>
#include <stdio.h>
static int a[300];
static double m[64][64];
static void loops(unsigned n)
{
    for (unsigned i = n - 1; i < n; i--)
        a[i] += (int)i;
    for (unsigned i = n; i-- > 0;)
        a[i] ^= (int)i;
    for (unsigned char i = 0; i < 200; i++)
        a[i] += 3;
    for (unsigned char i = 200; i != 10; i += 3)
        a[i] += 5;
    for (uint8_t i = 0; i < 64; i++)
        for (uint8_t j = 0; j < 64; j++)
            m[(uint8_t)(i + j * 5) % 64][(uint8_t)(i * 9 + j) & 63] += 1;
    for (unsigned i = 0; i < n; i++)
        a[(i - 1) % 256] += 2;
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < i - 1 && j < 20; j++)
            a[j] += 1;
    for (size_t i = 5; i - 3 < (n > 9 ? n - 3 : 7); i++)
        a[i] -= 1;
    for (unsigned i = 4294967290u; i != 20; i++)
        a[i + 10] += 1;
    for (int i = 0; i < (int)n; i++)
        a[(signed char)(i * 3) + 128] += 4;
    for (unsigned short i = 65500; i > 100; i++)
        a[i - 65500] += 7;
}
static void compare(int n, unsigned m_)
{
    for (int i = -3; i < m_; i++)
        a[i + 3] += 100;
    for (unsigned i = 0; i < n; i++)
        a[i] += 1;
    for (long i = 0; i < m_ - 50; i++) {
        a[5] += 1;
        if (i > 60)
            break;
    }
}
int main(void)
{
    for (int t = 0; t < 30; t++) {
        loops(250);
        loops(1);
        compare(7, 20);
    }
    long s = 0;
    for (int i = 0; i < 300; i++)
        s = (s * 31 + a[i]) % 1000000007;
    double x = 0;
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++)
            x += m[i][j] * (i - 2 * j);
    printf("%ld %g\n", s, x);
    return 0;
}
