// run: read -O3 -ffast-math
// Check of a computed value inside of an elimination.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
/* elimination with a check that ends the program at a zero pivot */
void eliminate(double **a, int n) {
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (i > j) {
                if (fabs(a[j][j]) < 1e-12) { printf("singular\n"); exit(1); }
                double c = a[i][j] / a[j][j];
                for (int k = 0; k <= n; k++) a[i][k] -= c * a[j][k];
            }
}
int main(void) {
    int n = 900; double **a = malloc(n * sizeof *a), s = 0;
    for (int i = 0; i < n; i++) {
        a[i] = malloc((n + 1) * sizeof **a);
        for (int k = 0; k <= n; k++) a[i][k] = (i == k ? n : 0) + (i * 7 + k * 3) % 11 * 0.1;
    }
    eliminate(a, n);
    for (int i = 0; i < n; i++) s += a[i][i];
    printf("%.10g\n", s);
}
// ----
// program eliminate {
//   symbol P0 n: i32
//   symbol P1 j: i32
//   symbol P2 "(&a[1][0] - &a[0][0])": i64
//   symbol P3 oxeye_first_row_0: i64
//   symbol P4 oxeye_last_row_0: i64
//   symbol P5 oxeye_first_check_1: i64
//   symbol P6 oxeye_last_check_1: i64
//   array A0 a: f64[?][P2] param linear
//   array A2 c: f64 body(L0)
//   entry N0 test(oxeye_last_check_1 < 0) rows A0 used(oxeye_first_row_0 <= oxeye_last_row_0)(oxeye_first_row_0 .. oxeye_last_row_0)(min(j, 0) .. max(j, n)) scan(any if 0 < n && j + 1 < n : P3 min= j, P4 max= j) scan(for L0 i: i32 in max(0, j + 1) .. n : P3 min= i, P4 max= i) scan(any if 0 < n && j + 1 < n && fabs(a[j][j]) < 1e-12 : P5 min= 1, P6 max= 1)
//   loop j in 0 .. n {
//     dataflow { N0 }
//   }
//   nest N0 in eliminate span 286 .. 545 line 9 {
//     for L0 i: i32 in 0 .. n {
//       if i > j {
//         S1@12: c = a[i][j] / a[j][j]
//         for L1 k: i32 in 0 .. n + 1 {
//           S2@13: a[i][k] -= c * a[j][k]
//         }
//       }
//     }
//   }
// }
// program main {
//   symbol P0 i: i32
//   symbol P1 "(&a[1][0] - &a[0][0])": i64
//   array A0 a: f64[?][P1] local linear
//   array A1 s: f64 local
//   entry N0 rows A0 (i .. i)(0 .. 900)
//   entry N1 rows A0 (0 .. 899)(0 .. 899)
//   sequence {
//     opaque "not a loop" reads(a) writes(a, s)
//     loop i in 0 .. 900 {
//       sequence {
//         opaque "not a loop" reads(a) writes(a)
//         dataflow { N0 }
//       }
//     }
//     opaque "not a loop" reads(*) writes(*)
//     dataflow { N1 }
//     opaque "not a loop" reads(*) writes(*)
//   }
//   nest N0 in main span 712 .. 797 line 20 live_out(a) {
//     for L0 k: i32 in 0 .. 901 {
//       S0@20: a[i][k] = (i == k ? 900 : 0) + (3*k + 7*i) % 11 * 0.1
//     }
//   }
//   nest N1 in main span 829 .. 870 line 23 live_out(s) {
//     for L0 i: i32 in 0 .. 900 {
//       S0@23: s += a[i.L0][i.L0]
//     }
//   }
// }
// note: a check in the loop may end the program
//   --> t.c:11:20
//    |
// 11 |                 if (fabs(a[j][j]) < 1e-12) { printf("singular\n"); exit(1); }
//    |                    ^^^^^^^^^^^^^^^^^^^^^^^ the loop at line 8 stays as it is
//    |
//    = help: check before the loop what can be known there, or compile with -DNDEBUG if it is an `assert`
// note: `a` is an array of pointers: its rows may be anywhere, or the same
//   --> t.c:19:9
//    |
// 19 |         a[i] = malloc((n + 1) * sizeof **a);
//    |         ^^^^ the loop at line 18 stays as it is
//    |
//    = help: make `a` one block: `double (*a)[m]`, or `double *a` with `a[i * m + j]`
