// run: read -O3 -ffast-math
// SSE intrinsics: the vectors are read as their lanes.
#include <stdio.h>
#include <xmmintrin.h>
#define N 512
static float a[N][N], b[N][N], c[N][N];
/* a product of a matrix with a transposed one, whose inner sums stand in 4 lanes by hand */
static float dot(int n, const float *x, const float *y) {
    __m128 s = _mm_setzero_ps();
    for (int i = 0; i + 4 <= n; i += 4) s = _mm_add_ps(s, _mm_mul_ps(_mm_loadu_ps(x + i), _mm_loadu_ps(y + i)));
    float t[4]; _mm_storeu_ps(t, s);
    return t[0] + t[1] + t[2] + t[3];
}
int main(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) a[i][j] = (i + j) % 9 * .1f, b[i][j] = (i * j) % 7 * .1f;
    for (int r = 0; r < 8; r++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) c[i][j] += dot(N, a[i], b[j]);
    double s = 0;
    for (int i = 0; i < N; i++) s += c[i][i * 5 % N];
    printf("%.6g\n", s);
}
// ----
// program main {
//   symbol P0 r: i32
//   symbol P1 i: i32
//   array A0 a: f32[512][512] global
//   array A1 b: f32[512][512] global
//   array A2 s: f64 local
//   array A3 c: f32[512][512] global
//   sequence {
//     dataflow { N0 }
//     loop r in 0 .. 8 {
//       loop i in 0 .. 512 {
//         opaque "a loop that stays as it is" reads(*) writes(*)
//       }
//     }
//     opaque "not a loop" reads() writes(s)
//     dataflow { N1 }
//     opaque "not a loop" reads(*) writes(*)
//   }
//   nest N0 in main span 539 .. 660 line 15 {
//     for L0 i: i32 in 0 .. 512 {
//       for L1 j: i32 in 0 .. 512 {
//         S0@16: a[i.L0][j] = (i.L0 + j) % 9 * .1f
//         S1@16: b[i.L0][j] = i.L0 * j % 7 * .1f
//       }
//     }
//   }
//   nest N1 in main span 822 .. 871 line 21 live_out(s) {
//     for L0 i: i32 in 0 .. 512 {
//       S0@21: s += c[i.L0][5*i.L0 % 512]
//     }
//   }
// }
// warning: `s` holds `__m128`, which is not read
//   --> t.c:10:41
//    |
// 10 |     for (int i = 0; i + 4 <= n; i += 4) s = _mm_add_ps(s, _mm_mul_ps(_mm_loadu_ps(x + i), _mm_loadu_ps(y + i)));
//    |                                         ^ the loop at line 10 stays as it is
//    |
//    = help: use arrays of `int`, `float`, `double` or the like
// warning: `dot` is called, in which `_mm_setzero_ps` is called, and what it does is not known
//   --> t.c:19:52
//    |
// 19 |             for (int j = 0; j < N; j++) c[i][j] += dot(N, a[i], b[j]);
//    |                                                    ^^^ the loop at line 17 stays as it is
//    |
//    = help: give the call a loop of its own, if it can stand before or behind the rest
