#include <stdio.h>
static int where[400], start[51], bins[16];
static double a[400], b[50][50], values[2000];
int main(void)
{
    for (int i = 0; i < 400; i++)
        where[i] = i * 7 % 50;
    for (int i = 0; i < 50; i++)
        start[i + 1] = start[i] + i % 9;
    for (int i = 0; i < 2000; i++)
        values[i] = i % 11;
    for (int t = 0; t < 20; t++) {
        for (int i = 0; i < 400; i++)
            a[where[i]] += values[i];
        for (int i = 0; i < 400; i++)
            a[where[where[i]]] = a[i] * 0.5 + a[where[i]];
        for (int i = 0; i < 50; i++)
            for (int k = start[i]; k < start[i + 1]; k++)
                b[i][where[k]] += values[k];
        for (int i = 0; i < 2000; i++)
            bins[(int)values[i] & 15]++;
        for (int i = 0; i < 400; i++)
            where[i] = (where[(i + 1) % 400] + 1) % 50;
        for (int i = 0; i < 50; i++)
            for (int j = 0; j < 50; j++)
                b[(i + t) % 50][(j * t) % 50] += i;
    }
    double s = 0;
    for (int i = 0; i < 400; i++)
        s = s * 0.9 + a[i] + where[i] + bins[i % 16];
    for (int i = 0; i < 2500; i++)
        s = s * 0.999 + b[i / 50][i % 50];
    printf("%.9e\n", s);
    return 0;
}
