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
// program dot {
//   symbol P0 n: i32
//   array A0 "(*(float (*)[4])&s)": f32[4] local
//   array A1 x: f32[?] param
//   array A2 y: f32[?] param
//   view A0 "s.(lanes float (*)[4])" "__m128 s"
//   sequence {
//     opaque "not a loop" reads(A0) writes(A0)
//     dataflow { N0 }
//     opaque "not a loop" reads(A0) writes()
//   }
//   nest N0 in dot span 369 .. 477 line 10 live_out(A0) {
//     for L0 i: i32 in 0 .. n - 3 step 4 {
//       for L1 lane_at: i32 in 0 .. 4 {
//         S0@10: A0[lane_at] += x[i + lane_at] * y[i + lane_at]
//       }
//     }
//   }
// }
// program main {
//   array A0 a: f32[512][512] global
//   array A1 b: f32[512][512] global
//   array A2 c: f32[512][512] global
//   array A3 dot: f32 body(L2)
//   array A4 s: f32[4] body(L2)
//   array A5 t: f32[4] body(L2)
//   array A6 s: f64 local
//   sequence {
//     dataflow { N0 N1 }
//     opaque "not a loop" reads() writes(s.A6)
//     dataflow { N2 }
//     opaque "not a loop" reads(*) writes(*)
//   }
//   nest N0 in main span 576 .. 697 line 15 {
//     for L0 i: i32 in 0 .. 512 {
//       for L1 j: i32 in 0 .. 512 {
//         S0@16: a[i][j] = (i + j) % 9 * .1f
//         S1@16: b[i][j] = i * j % 7 * .1f
//       }
//     }
//   }
//   nest N1 in main span 702 .. 836 line 17 {
//     for L0 r: i32 in 0 .. 8 {
//       for L1 i: i32 in 0 .. 512 {
//         for L2 j: i32 in 0 .. 512 {
//           S0@9: s.A4[0] = 0.0f
//           S1@9: s.A4[1] = 0.0f
//           S2@9: s.A4[2] = 0.0f
//           S3@9: s.A4[3] = 0.0f
//           for L3 i: i32 in 0 .. 509 step 4 {
//             for L4 lane_at: i32 in 0 .. 4 {
//               S4@10: s.A4[lane_at] += a[i.L1][i.L3 + lane_at] * b[j][i.L3 + lane_at]
//             }
//           }
//           S5@11: t[0] = s.A4[0]
//           S6@11: t[1] = s.A4[1]
//           S7@11: t[2] = s.A4[2]
//           S8@11: t[3] = s.A4[3]
//           S9@12: dot = t[0] + t[1] + t[2] + t[3]
//           S10@19: c[i][j] += dot
//         }
//       }
//     }
//   }
//   nest N2 in main span 859 .. 908 line 21 live_out(s.A6) {
//     for L0 i: i32 in 0 .. 512 {
//       S0@21: s.A6 += c[i][5*i % 512]
//     }
//   }
// }
