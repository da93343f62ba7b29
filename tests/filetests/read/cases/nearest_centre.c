// run: read -O3 -ffast-math
// Arg-min of sums, then scatter into the chosen row.
#include <stdio.h>
#include <stdlib.h>
/* each point is given to the nearest of k centres; the sums of the centres are gathered on the way */
int main(void) {
    int n = 60000, d = 16, k = 32, *size = calloc(k, 4); double *p = malloc(n * d * 8), *c = malloc(k * d * 8), *sum = calloc(k * d, 8), s = 0;
    for (int i = 0; i < n * d; i++) p[i] = (i * 7919LL % 10007) * 1e-3;
    for (int i = 0; i < k * d; i++) c[i] = p[i * 11];
    for (int r = 0; r < 6; r++) {
        for (int i = 0; i < k * d; i++) sum[i] = 0;
        for (int i = 0; i < k; i++) size[i] = 0;
        for (int i = 0; i < n; i++) {
            int best = 0; double least = 1e30;
            for (int q = 0; q < k; q++) {
                double t = 0;
                for (int j = 0; j < d; j++) t += (p[i * d + j] - c[q * d + j]) * (p[i * d + j] - c[q * d + j]);
                if (t < least) { least = t; best = q; }
            }
            size[best]++;
            for (int j = 0; j < d; j++) sum[best * d + j] += p[i * d + j];
        }
        for (int q = 0; q < k; q++)
            for (int j = 0; j < d; j++) if (size[q]) c[q * d + j] = sum[q * d + j] / size[q];
    }
    for (int i = 0; i < k * d; i++) s += c[i] * (i % 5);
    printf("%.7g\n", s);
}
// ----
// program main {
//   array A0 p: f64[?] local
//   array A1 c: f64[?] local
//   array A2 sum: f64[?] local
//   array A3 size: i32[?] local
//   array A4 best: i32 body(L3)
//   array A5 least: f64 body(L3)
//   array A6 t: f64 body(L4)
//   array A7 s: f64 local
//   array A8 p: f64[?][11] local linear
//   array A9 p: f64[?][16] local linear
//   array A10 c: f64[?][16] local linear
//   reshape A8 A0
//   reshape A9 A0
//   reshape A10 A1
//   sequence {
//     opaque "not a loop" reads(*) writes(*)
//     dataflow { N0 N1 N2 N3 }
//     opaque "not a loop" reads(*) writes(*)
//   }
//   nest N0 in main span 390 .. 457 line 8 live_out(p.A0) {
//     for L0 i: i32 in 0 .. 960000 {
//       S0@8: p.A0[i] = i * (i64) 7919 % 10007 * 1e-3
//     }
//   }
//   nest N1 in main span 462 .. 511 line 9 live_out(c.A1) {
//     for L0 i: i32 in 0 .. 512 {
//       S0@9: c.A1[i] = p.A8[i][0]
//     }
//   }
//   nest N2 in main span 516 .. 1232 line 10 live_out(c.A10) {
//     for L0 r: i32 in 0 .. 6 {
//       for L1 i: i32 in 0 .. 512 {
//         S0@11: sum[i] = 0
//       }
//       for L2 i: i32 in 0 .. 32 {
//         S1@12: size[i] = 0
//       }
//       for L3 i: i32 in 0 .. 60000 {
//         S2@14: best = 0
//         S3@14: least = 1e30
//         for L4 q: i32 in 0 .. 32 {
//           S4@16: t = 0
//           for L5 j: i32 in 0 .. 16 {
//             S5@17: t += (p.A9[i][j] - c.A10[q][j]) * (p.A9[i][j] - c.A10[q][j])
//           }
//           if t < least {
//             S6@18: least = t
//             S7@18: best = q
//           }
//         }
//         S8@20: size[best] += 1
//         for L6 j: i32 in 0 .. 16 {
//           S9@21: sum[best * 16 + j] += p.A9[i][j]
//         }
//       }
//       for L7 q: i32 in 0 .. 32 {
//         for L8 j: i32 in 0 .. 16 {
//           if size[q] {
//             S10@24: c.A10[q][j] = sum[16*q + j] / size[q]
//           }
//         }
//       }
//     }
//   }
//   nest N3 in main span 1237 .. 1289 line 26 live_out(s) {
//     for L0 i: i32 in 0 .. 512 {
//       S0@26: s += c.A1[i] * (i % 5)
//     }
//   }
// }
