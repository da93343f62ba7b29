// tuned: v4d
#include <stdio.h>
#include <complex.h>
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define i0 7
#define t 3
#define acc +
#define ii error(
#define restrict_ restrict
#define oxeye_t int
#define omp 5
#define v8d struct
#define packed 12
#define lb 2
#define ub 1000
#define L1 3
#define A_ 4
typedef double v4d_t;
static v4d_t oxeye[60][60], oxeye_0[60][60], oxeye_t0[60][60], N[60], p1;
static void v4d(int oxeye_n)
{
    int j, oxeye_replay = 1;
    for (int new = 0; new < oxeye_n; new++)
        for (j = 0; j < oxeye_n; j++)
            for (int class = 0; class < oxeye_n; class++)
                oxeye[new][j] += oxeye_0[new][class] * oxeye_t0[class][j] * oxeye_replay;
    p1 += j;
}
static void shadows(int i)
{
    double N = 2;
    for (int j = 0; j < i; j++) {
        int i = j + 1;
        for (int j = 0; j < i; j++) {
            double N = j;
            oxeye[i % 60][j] += N;
        }
        oxeye[j][j] *= N;
    }
}
int main(void)
{
    for (int a = 0; a < 60; a++)
        for (int b = 0; b < 60; b++) {
            oxeye_0[a][b] = a - b;
            oxeye_t0[a][b] = min(a, b) + cimag(a + b * I);
        }
    for (int k = 0; k < 5; k++) {
        v4d(60);
        shadows(59);
    }
    printf("%g %g %g %d\n", oxeye[3][5], oxeye[59][58], p1, max(t, i0));
    return 0;
}
