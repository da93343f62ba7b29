// run: read -O3
// The steps between those that print are a nest, also where the condition is asked first, by a variable, and for several.
#include <stdio.h>
static double u[100], v[100];
static int every = 10;
void last(int n)
{
    for (int t = 0; t < n; t++) {
        for (int i = 1; i < 99; i++)
            v[i] = u[i - 1] + u[i + 1];
        for (int i = 1; i < 99; i++)
            u[i] = v[i];
        if (t % every == 0)
            printf("%d %g\n", t, u[50]);
    }
}
void first(long n)
{
    long t;
    for (t = 1; t <= n; t += 2) {
        if (t % 100 == 1 || t == n) {
            FILE *f = fopen("field", "w");
            for (int i = 0; i < 100; i++)
                fprintf(f, "%g\n", u[i]);
            fclose(f);
        }
        for (int i = 1; i < 99; i++)
            v[i] = u[i - 1] + u[i + 1];
        for (int i = 1; i < 99; i++)
            u[i] = v[i];
    }
}
/* What is asked depends on the field. */
void converges(int n)
{
    for (int t = 0; t < n; t++) {
        for (int i = 1; i < 99; i++)
            u[i] = v[i];
        if (u[t % 100] < 1e-3)
            printf("%d\n", t);
    }
}
