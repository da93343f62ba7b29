// tuned: periodic mirrored
// Numbers that are brought back into a range: one step is enough for some of the calls, not for others.
#include <stdio.h>
static double in[64], w[400], out[64];
static void periodic(int n, int h)
{
    for (int x = 0; x < n; x++) {
        double sum = 0;
        for (int i = -h; i <= h; i++) {
            int j = x + i;
            while (j < 0)
                j += n;
            while (j >= n)
                j -= n;
            sum += in[j] * w[i + h];
        }
        out[x] = sum;
    }
}
static void mirrored(int n, int h)
{
    for (int x = 0; x < n; x++) {
        double sum = 0;
        for (int i = 0; i < 2 * h + 1; i++) {
            int j = x - h + i;
            while (j < 0) j += 2 * n;
            while (j >= 2 * n) j -= 2 * n;
            if (j >= n) j = 2 * n - 1 - j;
            sum += in[j] * w[i];
        }
        out[x] += sum;
    }
}
static void down(int n, int m)
{
    for (int i = 0; i < n; i++) {
        int k = i + m;
        while (k > n)
            k--;
        out[i] += in[k - 1];
    }
}
int main(void)
{
    for (int i = 0; i < 64; i++)
        in[i] = (i * 7) % 11;
    for (int i = 0; i < 400; i++)
        w[i] = 1.0 / (1 + i % 16);
    int sizes[][2] = {{64, 3}, {64, 64}, {5, 7}, {1, 150}, {64, 0}, {0, 9}, {7, 13}, {7, 7}};
    for (int k = 0; k < 8; k++) {
        periodic(sizes[k][0], sizes[k][1]);
        mirrored(sizes[k][0], sizes[k][1]);
        down(sizes[k][0], 1 + sizes[k][1] % 3);
        double sum = 0;
        for (int i = 0; i < 64; i++)
            sum += out[i] * (i + 1);
        printf("%.17g\n", sum);
    }
    return 0;
}
