// tuned: main
#include <limits.h>
#include <stdio.h>
static int a[100][100];
static unsigned char small[100][100];
int main(void)
{
    int sum = 0, product = 1, least = INT_MAX, most = INT_MIN, bits = 0, at = -1;
    unsigned hash = 2166136261u, wrapped = 0;
    unsigned char narrow = 0;
    short brief = 0;
    long long wide = 0;
    for (int i = 0; i < 100; i++)
        for (int j = 0; j < 100; j++) {
            a[i][j] = (i * 37 + j * 101) % 1009 - 500;
            small[i][j] = (unsigned char)(i * j);
        }
    for (int j = 0; j < 100; j++)
        for (int i = 0; i < 100; i++)
            sum += a[i][j];
    for (int j = 0; j < 100; j++)
        for (int i = 0; i < 100; i++)
            product = (int)((unsigned)product * (unsigned)(a[i][j] | 1));
    for (int j = 0; j < 100; j++)
        for (int i = 0; i < 100; i++)
            if (a[i][j] < least)
                least = a[i][j];
    for (int j = 0; j < 100; j++)
        for (int i = 0; i < 100; i++)
            if (a[i][j] > most) {
                most = a[i][j];
                at = i * 100 + j;
            }
    for (int j = 0; j < 100; j++)
        for (int i = 0; i < 100; i++)
            bits ^= a[i][j] * (i % 5 + 1);
    for (int j = 0; j < 100; j++)
        for (int i = 0; i < 100; i++)
            hash = (hash ^ (unsigned)a[i][j]) * 16777619u;
    for (int j = 0; j < 100; j++)
        for (int i = 0; i < 100; i++)
            wrapped += (unsigned)a[i][j] * 4000000000u;
    for (int j = 0; j < 100; j++)
        for (int i = 0; i < 100; i++)
            narrow += small[i][j];
    for (int j = 0; j < 100; j++)
        for (int i = 0; i < 100; i++)
            brief -= small[i][j];
    for (int j = 0; j < 100; j++)
        for (int i = 0; i < 100; i++)
            wide += (long long)a[i][j] * INT_MAX;
    printf("%d %d %d %d %d %d %u %u %d %d %lld\n", sum, product, least, most, at, bits, hash, wrapped, narrow, brief,
           wide);
    return 0;
}
