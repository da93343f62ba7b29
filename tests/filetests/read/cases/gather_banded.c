// run: read -O3 -ffast-math
// Gather through an index table.
#include <stdio.h>
#include <stdlib.h>
/* a banded matrix times a vector: entry k of row i belongs to column i + shift[k] */
void band(float **m, int *shift, float *x, float *y, int n) {
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int k = 0; k < 5; k++)
            if (i + shift[k] >= 0 && m[i][k] != 0) s += m[i][k] * x[i + shift[k]];
        y[i] = s;
    }
}
int main(void) {
    int n = 300000, *shift = calloc(5, 4);
    float **m = malloc(n * sizeof *m), *x = calloc(n, 4), *y = calloc(n, 4), c = 0;
    shift[0] = -600; shift[1] = -1; shift[3] = 1; shift[4] = 600;
    for (int i = 0; i < n; i++) {
        m[i] = calloc(5, 4); x[i] = 1 + i % 600 * 1e-3f;
        for (int k = 0; k < 5; k++) m[i][k] = i + shift[k] < 0 || i + shift[k] >= n ? 0 : k == 2 ? .6f : .1f;
    }
    for (int t = 0; t < 60; t++) { band(m, shift, x, y, n); band(m, shift, y, x, n); }
    for (int i = 0; i < n; i += 7) c += x[i];
    printf("%.5g\n", c);
}
// ----
// program band {
//   symbol P0 n: i32
//   symbol P1 "(&m[1][0] - &m[0][0])": i64
//   symbol P2 oxeye_first_row_2: i64
//   symbol P3 oxeye_last_row_2: i64
//   array A0 s: f32 body(L0)
//   array A1 shift: i32[?] param
//   array A2 m: f32[?][P1] param linear
//   array A3 x: f32[?] param
//   array A4 y: f32[?] param
//   may_alias m y
//   may_alias x y
//   entry N0 rows A2 used(oxeye_first_row_2 <= oxeye_last_row_2)(oxeye_first_row_2 .. oxeye_last_row_2)(0 .. 4) scan(for L0 i: i32 in 0 .. n any for L1 k: i32 in 0 .. 5 if i + shift[k] >= 0 : P2 min= i, P3 max= i)
//   dataflow { N0 }
//   nest N0 in band span 254 .. 447 line 7 {
//     for L0 i: i32 in 0 .. n {
//       S0@8: s = 0
//       for L1 k: i32 in 0 .. 5 {
//         if i + shift[k] >= 0 && m[i][k] != 0 {
//           S1@10: s += m[i][k] * x[i + shift[k]]
//         }
//       }
//       S2@11: y[i] = s
//     }
//   }
// }
// program main {
//   symbol P0 i: i32
//   symbol P1 "(&m[1][0] - &m[0][0])": i64
//   symbol P2 oxeye_first_row_0: i64
//   symbol P3 oxeye_last_row_0: i64
//   array A0 m: f32[?][P1] local linear
//   array A1 shift: i32[?] local
//   array A2 s: f32 body(L1)
//   array A3 x: f32[?] local
//   array A4 y: f32[?] local
//   array A5 s: f32 body(L3)
//   array A6 c: f32 local
//   may_alias m x
//   may_alias m y
//   entry N0 rows A0 (i .. i)(0 .. 4)
//   entry N1 rows A0 used(oxeye_first_row_0 <= oxeye_last_row_0)(oxeye_first_row_0 .. oxeye_last_row_0)(0 .. 4) scan(for L1 i: i32 in 0 .. 300000 any for L2 k: i32 in 0 .. 5 if i.L1 + shift[k] >= 0 : P2 min= i.L1, P3 max= i.L1) scan(for L3 i: i32 in 0 .. 300000 any for L4 k: i32 in 0 .. 5 if i.L3 + shift[k] >= 0 : P2 min= i.L3, P3 max= i.L3)
//   sequence {
//     opaque "not a loop" reads(*) writes(*)
//     loop i in 0 .. 300000 {
//       sequence {
//         opaque "not a loop" reads(*) writes(*)
//         dataflow { N0 }
//       }
//     }
//     dataflow { N1 N2 }
//     opaque "not a loop" reads(*) writes(*)
//   }
//   nest N0 in main span 759 .. 860 line 20 live_out(m) {
//     for L0 k: i32 in 0 .. 5 {
//       S0@20: m[i][k] = i + shift[k] < 0 || i + shift[k] >= 300000 ? 0 : k == 2 ? .6f : .1f
//     }
//   }
//   nest N1 in main span 871 .. 953 line 22 live_out(x) {
//     for L0 t: i32 in 0 .. 60 {
//       for L1 i: i32 in 0 .. 300000 {
//         S0@8: s.A2 = 0
//         for L2 k: i32 in 0 .. 5 {
//           if i.L1 + shift[k] >= 0 && m[i.L1][k] != 0 {
//             S1@10: s.A2 += m[i.L1][k] * x[i.L1 + shift[k]]
//           }
//         }
//         S2@11: y[i.L1] = s.A2
//       }
//       for L3 i: i32 in 0 .. 300000 {
//         S3@8: s.A5 = 0
//         for L4 k: i32 in 0 .. 5 {
//           if i.L3 + shift[k] >= 0 && m[i.L3][k] != 0 {
//             S4@10: s.A5 += m[i.L3][k] * y[i.L3 + shift[k]]
//           }
//         }
//         S5@11: x[i.L3] = s.A5
//       }
//     }
//   }
//   nest N2 in main span 958 .. 999 line 23 live_out(c) {
//     for L0 i: i32 in 0 .. 300000 step 7 {
//       S0@23: c += x[i.L0]
//     }
//   }
// }
// note: `m` is an array of pointers: its rows may be anywhere, or the same
//   --> t.c:19:9
//    |
// 19 |         m[i] = calloc(5, 4); x[i] = 1 + i % 600 * 1e-3f;
//    |         ^^^^ the loop at line 18 stays as it is
//    |
//    = help: make `m` one block: `double (*m)[m]`, or `double *m` with `m[i * m + j]`
