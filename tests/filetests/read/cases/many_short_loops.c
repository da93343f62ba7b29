// run: read -O3 -ffast-math
// Many short loops within a time loop.
#include <stdio.h>
#include <string.h>
#define N 160
#define REP(f) for (int r = 0; r < 1500; r++) f
static float a[12][N], w[N + 8], m[40][40], e[12];
/* many short loops, each called very often, as in a speech coder */
static void window(float *x) { for (int i = 0; i < N; i++) x[i] *= w[i]; }
static void offset(float *x) { float s = 0; for (int i = 0; i < N; i++) s += x[i]; for (int i = 0; i < N; i++) x[i] -= s / N; }
static void correlate(const float *x, float *c) { for (int l = 0; l < 12; l++) { c[l] = 0; for (int i = 0; i < N - l; i++) c[l] += x[i] * x[i + l]; } }
static void emphasis(float *x) { for (int i = N - 1; i > 0; i--) x[i] -= 0.9f * x[i - 1]; }
static float energy(const float *x) { float s = 1e-9f; for (int i = 0; i < N; i++) s += x[i] * x[i]; return s; }
static void scale(float *x, float f) { for (int i = 0; i < N; i++) x[i] *= f; }
static void outer(const float *c) { for (int i = 0; i < 40; i++) for (int j = 0; j < 40; j++) m[i][j] = 0.9f * m[i][j] + c[i % 12] * c[j % 12]; }
static void fir(const float *x, float *y) { for (int i = 0; i < N; i++) { float s = 0; for (int k = 0; k < 8; k++) s += x[i] * w[i + k]; y[i] = s; } }
int main(void) {
    double s = 0;
    for (int i = 0; i < N + 8; i++) w[i] = 0.5f + (i % 9) * 0.05f;
    for (int t = 0; t < 12; t++) for (int i = 0; i < N; i++) a[t][i] = (i * 7 + t) % 23 - 11;
    REP(for (int t = 0; t < 11; t++) { window(a[t]); offset(a[t]); correlate(a[t], e); emphasis(a[t]); outer(e); fir(a[t], a[t + 1]); scale(a[t + 1], 10 / energy(a[t + 1])); scale(a[t], 10 / energy(a[t])); })
    for (int i = 0; i < N; i++) s += a[3][i];
    printf("%.4g %.4g\n", s, m[3][5]);
}
// ----
// program window {
//   array A0 x: f32[?] param
//   array A1 w: f32[168] global
//   dataflow { N0 }
//   nest N0 in window span 321 .. 362 line 9 {
//     for L0 i: i32 in 0 .. 160 {
//       S0@9: x[i] *= w[i]
//     }
//   }
// }
// program offset {
//   array A0 s: f32 local
//   array A1 x: f32[?] param
//   sequence {
//     opaque "not a loop" reads() writes(s)
//     dataflow { N0 N1 }
//   }
//   nest N0 in offset span 409 .. 447 line 10 live_out(s) {
//     for L0 i: i32 in 0 .. 160 {
//       S0@10: s += x[i]
//     }
//   }
//   nest N1 in offset span 448 .. 490 line 10 {
//     for L0 i: i32 in 0 .. 160 {
//       S0@10: x[i] -= s / 160
//     }
//   }
// }
// program correlate {
//   array A0 c: f32[?] param
//   array A1 x: f32[?] param
//   dataflow { N0 }
//   nest N0 in correlate span 543 .. 642 line 11 {
//     for L0 l: i32 in 0 .. 12 {
//       S0@11: c[l] = 0
//       for L1 i: i32 in 0 .. 160 - l {
//         S1@11: c[l] += x[i] * x[l + i]
//       }
//     }
//   }
// }
// program emphasis {
//   array A0 x: f32[?] param
//   dataflow { N0 }
//   nest N0 in emphasis span 678 .. 734 line 12 {
//     for L0 i: i32 in 1 .. 160 step -1 {
//       S0@12: x[i] -= 0.9f * x[i - 1]
//     }
//   }
// }
// program energy {
//   array A0 s: f32 local
//   array A1 x: f32[?] param
//   sequence {
//     opaque "not a loop" reads() writes(s)
//     dataflow { N0 }
//     opaque "not a loop" reads(s) writes()
//   }
//   nest N0 in energy span 792 .. 837 line 13 live_out(s) {
//     for L0 i: i32 in 0 .. 160 {
//       S0@13: s += x[i] * x[i]
//     }
//   }
// }
// program scale {
//   array A0 x: f32[?] param
//   array A1 f: f32 param
//   dataflow { N0 }
//   nest N0 in scale span 889 .. 927 line 14 {
//     for L0 i: i32 in 0 .. 160 {
//       S0@14: x[i] *= f
//     }
//   }
// }
// program outer {
//   array A0 m: f32[40][40] global
//   array A1 c: f32[?] param
//   dataflow { N0 }
//   nest N0 in outer span 966 .. 1073 line 15 {
//     for L0 i: i32 in 0 .. 40 {
//       for L1 j: i32 in 0 .. 40 {
//         S0@15: m[i][j] = 0.9f * m[i][j] + c[i % 12] * c[j % 12]
//       }
//     }
//   }
// }
// program fir {
//   array A0 s: f32 body(L0)
//   array A1 x: f32[?] param
//   array A2 w: f32[168] global
//   array A3 y: f32[?] param
//   may_alias x y
//   dataflow { N0 }
//   nest N0 in fir span 1120 .. 1224 line 16 {
//     for L0 i: i32 in 0 .. 160 {
//       S0@16: s = 0
//       for L1 k: i32 in 0 .. 8 {
//         S1@16: s += x[i] * w[i + k]
//       }
//       S2@16: y[i] = s
//     }
//   }
// }
// program main {
//   array A0 w: f32[168] global
//   array A1 a: f32[12][160] global
//   array A2 s: f32 body(L1)
//   array A3 e: f32[12] global
//   array A4 m: f32[40][40] global
//   array A5 s: f32 body(L10)
//   array A6 energy: f32 body(L1)
//   array A7 s: f32 body(L1)
//   array A8 f: f32 body(L1)
//   array A9 energy: f32 body(L1)
//   array A10 s: f32 body(L1)
//   array A11 f: f32 body(L1)
//   array A12 s: f64 local
//   sequence {
//     opaque "not a loop" reads() writes(s.A12)
//     dataflow { N0 N1 N2 N3 }
//     opaque "not a loop" reads(*) writes(*)
//   }
//   nest N0 in main span 1266 .. 1328 line 19 {
//     for L0 i: i32 in 0 .. 168 {
//       S0@19: w[i] = 0.5f + i % 9 * 0.05f
//     }
//   }
//   nest N1 in main span 1333 .. 1422 line 20 {
//     for L0 t: i32 in 0 .. 12 {
//       for L1 i: i32 in 0 .. 160 {
//         S0@20: a[t][i] = (t + 7*i) % 23 - 11
//       }
//     }
//   }
//   nest N2 in main span 1427 .. 1631 line 21 {
//     for L0 r: i32 in 0 .. 1500 {
//       for L1 t: i32 in 0 .. 11 {
//         for L2 i: i32 in 0 .. 160 {
//           S0@9: a[t][i] *= w[i]
//         }
//         S1@10: s.A2 = 0
//         for L3 i: i32 in 0 .. 160 {
//           S2@10: s.A2 += a[t][i]
//         }
//         for L4 i: i32 in 0 .. 160 {
//           S3@10: a[t][i] -= s.A2 / 160
//         }
//         for L5 l: i32 in 0 .. 12 {
//           S4@11: e[l] = 0
//           for L6 i: i32 in 0 .. 160 - l {
//             S5@11: e[l] += a[t][i] * a[t][l + i]
//           }
//         }
//         for L7 i: i32 in 1 .. 160 step -1 {
//           S6@12: a[t][i] -= 0.9f * a[t][i - 1]
//         }
//         for L8 i: i32 in 0 .. 40 {
//           for L9 j: i32 in 0 .. 40 {
//             S7@15: m[i][j] = 0.9f * m[i][j] + e[i % 12] * e[j % 12]
//           }
//         }
//         for L10 i: i32 in 0 .. 160 {
//           S8@16: s.A5 = 0
//           for L11 k: i32 in 0 .. 8 {
//             S9@16: s.A5 += a[t][i] * w[i + k]
//           }
//           S10@16: a[t + 1][i] = s.A5
//         }
//         S11@13: s.A7 = 1e-9f
//         for L12 i: i32 in 0 .. 160 {
//           S12@13: s.A7 += a[t + 1][i] * a[t + 1][i]
//         }
//         S13@13: energy.A6 = s.A7
//         S14@21: f.A8 = 10 / energy.A6
//         for L13 i: i32 in 0 .. 160 {
//           S15@14: a[t + 1][i] *= f.A8
//         }
//         S16@13: s.A10 = 1e-9f
//         for L14 i: i32 in 0 .. 160 {
//           S17@13: s.A10 += a[t][i] * a[t][i]
//         }
//         S18@13: energy.A9 = s.A10
//         S19@21: f.A11 = 10 / energy.A9
//         for L15 i: i32 in 0 .. 160 {
//           S20@14: a[t][i] *= f.A11
//         }
//       }
//     }
//   }
//   nest N3 in main span 1636 .. 1677 line 22 live_out(s.A12) {
//     for L0 i: i32 in 0 .. 160 {
//       S0@22: s.A12 += a[3][i]
//     }
//   }
// }
