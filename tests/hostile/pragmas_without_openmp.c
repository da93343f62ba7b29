// threads: 1
// says: has OpenMP directives
#include <stdio.h>
static double a[90][90], b[90][90], s;
int main(void)
{
    for (int t = 0; t < 5; t++) {
#pragma omp parallel for
        for (int i = 0; i < 90; i++)
            for (int j = 0; j < 90; j++)
                a[i][j] += b[j][i] + i;
        /* Wrong as soon as someone adds -fopenmp, and then the user's own doing; without it, it must stay right. */
#pragma omp parallel for
        for (int i = 1; i < 90; i++)
            b[0][i] = b[0][i - 1] * 0.5 + a[i][i];
#pragma omp parallel for
        for (int i = 0; i < 90; i++)
            s += a[i][i];
#pragma omp parallel
        s += 1;
    }
    printf("%.9e %.9e\n", s, b[0][89]);
    return 0;
}
