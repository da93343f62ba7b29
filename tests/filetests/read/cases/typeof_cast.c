// run: read -O3 -ffast-math
// `typeof` in a cast before the loops.
#include <stdio.h>
#include <stdlib.h>
/* the function holds a cast that names its type by `typeof` */
void smooth(double *a, int n, int rounds) {
    double *w;
    w = (typeof(w)) calloc(n * n, sizeof(*w));
    for (int r = 0; r < rounds; r++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                w[i * n + j] = (a[i * n + j - 1] + a[i * n + j + 1] + a[i * n - n + j] + a[i * n + n + j]) / 4;
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i * n + j] = w[i * n + j];
    }
    free(w);
}
int main(void) {
    int n = 1200; double *a = malloc(n * n * sizeof *a), s = 0;
    for (int i = 0; i < n * n; i++) a[i] = i % 1013;
    smooth(a, n, 50);
    for (int i = 0; i < n * n; i += 11) s += a[i];
    printf("%.10g\n", s);
}
// ----
// program smooth {
//   symbol P0 rounds: i32
//   symbol P1 n: i32
//   array A0 w: f64[?][n] local linear
//   array A1 a: f64[?][n] param linear
//   sequence {
//     opaque "not a loop" reads(*) writes(*)
//     dataflow { N0 }
//     opaque "not a loop" reads(w) writes()
//   }
//   nest N0 in smooth span 282 .. 647 line 9 {
//     for L0 r: i32 in 0 .. rounds {
//       for L1 i: i32 in 1 .. n - 1 {
//         for L2 j: i32 in 1 .. n - 1 {
//           S0@12: w[i][j] = (a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j]) / 4
//         }
//       }
//       for L3 i: i32 in 1 .. n - 1 {
//         for L4 j: i32 in 1 .. n - 1 {
//           S1@15: a[i][j] = w[i][j]
//         }
//       }
//     }
//   }
// }
// program main {
//   array A0 a: f64[?] local
//   array A1 s: f64 local
//   sequence {
//     opaque "not a loop" reads(a) writes(a, s)
//     dataflow { N0 }
//     opaque "not a loop" reads(*) writes(*)
//     dataflow { N1 }
//     opaque "not a loop" reads(*) writes(*)
//   }
//   nest N0 in main span 748 .. 796 line 21 live_out(a) {
//     for L0 i: i32 in 0 .. 1440000 {
//       S0@21: a[i] = i % 1013
//     }
//   }
//   nest N1 in main span 823 .. 869 line 23 live_out(s) {
//     for L0 i: i32 in 0 .. 1440000 step 11 {
//       S0@23: s += a[i]
//     }
//   }
// }
