#include <setjmp.h>
#include <stdio.h>
static double a[60][60];
static jmp_buf out;
static void inner_while(void)
{
    for (int i = 0; i < 60; i++) {
        int j = 0;
        while (j < 60) {
            a[i][j] += j;
            j += 1 + i % 3;
        }
        do
            a[i][--j % 60] += 1;
        while (j > 40);
    }
}
static void switched(void)
{
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 60; j++)
            switch ((i + j) % 4) {
            case 0: a[i][j] += 1; break;
            case 1: a[i][j] -= 2; /* falls through */
            case 2: a[i][j] *= 0.5; break;
            default: continue;
            }
}
static void duff(double *to, const double *from, int count)
{
    int n = (count + 3) / 4;
    switch (count % 4) {
    case 0: do { *to++ += *from++;
    case 3:      *to++ += *from++;
    case 2:      *to++ += *from++;
    case 1:      *to++ += *from++;
            } while (--n > 0);
    }
}
static void jumps(int where)
{
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 60; j++) {
            a[i][j] += 1;
            if (i == where && j == 30)
                longjmp(out, 1);
        }
}
int main(void)
{
    for (volatile int t = 0; t < 10; t++) {
        inner_while();
        switched();
        duff(a[1], a[7], 57);
        if (setjmp(out) == 0)
            jumps(t * 8);
    }
    double s = 0;
    for (int i = 0; i < 60; i++)
        for (int j = 0; j < 60; j++)
            s += a[i][j] * (i - j);
    printf("%.9e\n", s);
    return 0;
}
