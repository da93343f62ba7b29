// tuned: damp
#include <float.h>
#include <stdio.h>
static double a[90][90];
static float f[90][90];
static void damp(void)
{
    for (int j = 0; j < 90; j++)
        for (int i = 0; i < 90; i++) {
            a[i][j] = a[i][j] * 0.25 + 4.9e-324 * i;
            f[i][j] = f[i][j] * 0.25f + FLT_TRUE_MIN * j;
        }
}
int main(void)
{
    for (int i = 0; i < 90; i++)
        for (int j = 0; j < 90; j++) {
            a[i][j] = DBL_MIN * (i + 1);
            f[i][j] = FLT_MIN * (j + 1);
        }
    for (int t = 0; t < 10; t++)
        damp();
    double s = 0, z = 0;
    for (int i = 0; i < 90; i++)
        for (int j = 0; j < 90; j++) {
            s += a[i][j];
            z += f[i][j];
        }
    printf("%.9e %.9e %g %g\n", s, z, a[80][3], (double)f[3][80]);
    return 0;
}
