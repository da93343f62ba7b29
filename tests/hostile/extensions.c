// compiler: gcc -O2 -std=gnu2x
#include <alloca.h>
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double a[48][48] __attribute__((aligned(64))), b[48][48];
#define SQUARE(x) ({ __typeof__(x) x_ = (x); x_ * x_; })
#define KIND(x) _Generic((x), float: 1, double: 2, default: 3)
[[maybe_unused]] static inline __attribute__((always_inline)) double twice(double x) { return 2 * x; }
static void release(double **p) { free(*p); }
static __attribute__((noinline, hot)) void gnu(int n)
{
    double local[n][n];
    double *heap = alloca(n * sizeof *heap);
    double twist(double x) { return x + n; }
    memset(local, 0, sizeof local);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            local[j][i] = SQUARE(a[i][j]) * 1e-3 + KIND(a[i][j]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = twice(local[j][i]) - twist(j) + (i ?: 3);
    for (int i = 0; i < n; i++)
        heap[i] = __builtin_expect(i > 3, 1) ? i : __builtin_fabs(-1.0);
    for (int i = 0; i < n; i++) {
        __asm__ volatile("" ::: "memory");
        b[i][i] += heap[i];
    }
    for (int i = 0; i < n; i += 4)
        _mm_storeu_pd(&b[0][i], _mm_add_pd(_mm_loadu_pd(&b[1][i]), _mm_set1_pd(1)));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            __label__ skip;
            if (i == j)
                goto skip;
            b[j][i] += (double[]){1, 2, 3}[i % 3] + (struct { double q; }){.q = j}.q;
        skip:;
        }
    for (int i = 0; i < n; i++) {
        static int persistent;
        extern double unused_elsewhere;
        b[i][0] += ++persistent % 10;
    }
    for (__auto_type i = 0; i < n; i++)
        for (typeof(i) j = 0; j < n; j++)
            b[j][i] += 1'000 + 0b101 + sizeof(double[i + 1]) + __LINE__ * 0 + _Alignof(double);
    for (register int i = 0; i < n; i++)
        for (register int j = 0; j < n; j++)
            b[j][i] += strlen(__func__) + (i, j) + __COUNTER__ * 0;
    for (int i = 0; i < n; i++) {
        double *row __attribute__((cleanup(release))) = malloc(n * sizeof *row);
        for (int j = 0; j < n; j++)
            row[j] = j;
        b[i][1] += row[i];
    }
}
int main(void)
{
    for (int t = 0; t < 10; t++)
        gnu(48);
    double s = 0;
    for (int i = 0; i < 48; i++)
        for (int j = 0; j < 48; j++)
            s = s * 0.999 + a[i][j] - b[j][i];
    printf("%.9e\n", s);
    return 0;
}
