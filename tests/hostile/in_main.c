// tuned: main
#include <stdio.h>
int main(int argc, char *argv[])
{
    static double a[70][70], b[70][70], c[70][70];
    double local[70], s = 0, t = 1;
    int i, j, k, n = argc > 5 ? 10 : 70;
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            a[i][j] = i - j;
            b[i][j] = i + j;
        }
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            t = 0;
            for (k = 0; k < n; k++)
                t += a[i][k] * b[k][j];
            c[i][j] = t;
        }
    printf("%d %d %d %g %s\n", i, j, k, t, argv[0] ? "x" : "y");
    for (int i = 0; i < n; i++)
        local[i] = c[i][n - 1 - i];
    for (i = n - 1; i >= 0; i -= 3)
        s += local[i];
    printf("%d %g\n", i, s);
    for (i = 0; i < n; ++i) {
        for (j = 0; j < i; ++j)
            s = s * 0.5 + (k = i * j);
        t = s;
    }
    printf("%d %d %d %g %g\n", i, j, k, s, t);
    return 0;
}
