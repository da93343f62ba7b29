#include <stdio.h>
static double a[60][60];
static double search(double wanted)
{
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 60; j++) {
            a[i][j] += 1;
            if (a[i][j] == wanted)
                return i * 60 + j;
        }
    return -1;
}
static void partly(int stop)
{
    for (int i = 0; i < 60; i++) {
        if (i == stop)
            break;
        for (int j = 0; j < 60; j++) {
            if ((i + j) % 4 == 0)
                continue;
            if (j > 50)
                break;
            a[j][i] += i;
        }
    }
    for (int i = 0; i < 60; i++) {
        for (int j = 0; j < 60; j++)
            a[i][j] *= 0.5;
        if (i > stop)
            return;
    }
}
static int first(void)
{
    int i;
    for (i = 0; i < 60; i++)
        if (a[i][i] > 20)
            break;
    return i;
}
int main(void)
{
    double s = 0;
    for (int t = 0; t < 20; t++) {
        s += search(t * 3);
        partly(t * 4);
        s += first();
    }
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 60; j++)
            s += a[i][j] * (i - j);
    printf("%.9e\n", s);
    return 0;
}
