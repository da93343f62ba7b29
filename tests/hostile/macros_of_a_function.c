// tuned: first main
#include <stdio.h>
#define SCALE 2
static double sums[40];
static void first(void)
{
# define N 40
    static double a[N][N];
    int i, j;
    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++)
            a[i][j] = SCALE * i + j;
    for (j = 0; j < N; j++)
        for (i = 0; i < N; i++)
            sums[j] += a[i][j];
    return;
# undef N
}
int main(void)
{
#define N 30
    double b[N][N + 1], all = 0;
    int i, j;
    first();
    for (j = 0; j <= N; j++)
        for (i = 0; i < N; i++)
            b[i][j] = SCALE * sums[i] - j;
    for (i = 0; i < N; i++)
        for (j = 0; j <= N; j++)
            all += (i + 2 * j) * b[i][j];
#undef SCALE
#define SCALE 1e-3
    printf("%.6e\n", SCALE * all);
    return 0;
#undef N
}
