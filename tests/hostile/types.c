// compiler: gcc -O2 -lm
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <tgmath.h>
static long double big[40][40];
static double complex z[40][40];
static _Bool flags[40][40];
static unsigned char bytes[40][40];
static short shorts[40][40];
static __int128 huge_[40];
static const float third = 1.0f / 3;
typedef double vec __attribute__((vector_size(32)));
static vec lanes[40];
static float f[40][40];
static unsigned u[40][40];
static int64_t wide[40][40];
static void all(void)
{
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++) {
            big[j][i] += (long double)i / (j + 1);
            z[j][i] = z[j][i] * I + i - j;
            flags[j][i] = bytes[i][j] & 6;
            huge_[i] += (__int128)i << 70;
            lanes[i] += lanes[j] * 0.01 + 1;
        }
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++)
            bytes[j][i] += i * 7 + flags[j][i];
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++)
            shorts[j][i] = shorts[j][i] * 3 + bytes[j][i] / 7 - i % 3 + (-i) % 5 + (-j) / 4;
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++)
            f[j][i] = f[j][i] * third + shorts[j][i] / 3 + i / 3.0f + 0.1 + 1 / 2;
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++)
            u[j][i] = (u[j][i] + (unsigned)shorts[i][j]) / 3u + (u[j][i] >> 3) + (unsigned)f[j][i] % 7;
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++)
            wide[j][i] += (int64_t)u[j][i] * -3 + (int)u[j][i] / -7 + (u[j][i] > -1) + (shorts[j][i] < 5u) + !u[j][i] + ~i;
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++)
            f[j][i] += sqrt(f[i][j] * f[i][j]) + fabs((double)f[j][i]) + (float)wide[j][i] * 1e-9f + 'a' * 1e-3;
}
int main(void)
{
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++)
            bytes[i][j] = (unsigned char)(i * 40 + j);
    for (int t = 0; t < 8; t++)
        all();
    long double s = 0;
    double x = 0;
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++) {
            s += big[i][j] + flags[i][j] * 3 + bytes[i][j] * (i + 1) + shorts[i][j] * j + wide[i][j] % 1000003;
            x = x * 0.9 + creal(z[i][j]) + cimag(z[i][j]) + f[i][j] + u[i][j] % 1009 + lanes[j][2];
        }
    printf("%.12Le %.9e %lld\n", s, x, (long long)(huge_[7] >> 70));
    return 0;
}
