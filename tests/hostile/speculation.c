// tuned: guarded
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
/* What a guard keeps from being read is not there, and what it keeps from being divided is zero. */
static void guarded(int n, double *restrict a, const double *restrict edge, const int *restrict d)
{
    for (int t = 0; t < 20; t++)
        for (int i = 0; i < n; i++) {
            a[i] = a[i] * 0.5 + (i + 1 < n ? edge[i + 1] : 0) + (i > 0 ? edge[i - 1] : 0);
            if (d[i] != 0)
                a[i] += 100 / d[i] + 100 % d[i];
        }
}
static int gather(int n, const int *restrict where, const int *restrict from, int *restrict to)
{
    for (int j = 0; j < 20; j++)
        for (int i = 0; i < n; i++)
            if (where[i] >= 0)
                to[where[i]] += from[where[i]] + j;
    return to[3];
}
int main(void)
{
    int n = 4096 / sizeof(double);
    char *pages = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_READ | PROT_WRITE))
        return 1;
    double *edge = (double *)(pages + 4096), *a = calloc(n, sizeof *a), s = 0;
    int d[512], where[512], from[64] = {3, 1, 4, 1, 5}, to[64] = {0};
    for (int i = 0; i < n; i++) {
        edge[i] = i;
        d[i] = i % 5;
        where[i] = i % 3 ? i % 64 : -1000000 * i - 1;
    }
    guarded(n, a, edge, d);
    s = gather(n, where, from, to);
    for (int i = 0; i < n; i++)
        s = s * 0.99 + a[i];
    printf("%.9e\n", s);
    return 0;
}
