// run: read -O3 -ffast-math
// Local constants, which users edit afterwards.
#include <stdio.h>
#include <stdlib.h>
/* sizes are constants of main, as users change them there */
int main(void) {
    const int w = 300;
    const int h = 300;
    float *a = calloc(w * h, 4), *b = calloc(w * h, 4), *s;
    for (int i = 0; i < w; i++) a[i] = b[i] = 100;
    for (int t = 0; t < 4000; t++) {
        for (int i = 1; i < h - 1; i++)
            for (int j = 1; j < w - 1; j++)
                b[i * w + j] = 0.25f * (a[(i - 1) * w + j] + a[(i + 1) * w + j] + a[i * w + j - 1] + a[i * w + j + 1]);
        if (t % 1000 == 999) printf("%d %g\n", t, b[w + w / 2]);
        s = a; a = b; b = s;
    }
    double c = 0;
    for (int i = 0; i < w * h; i++) c += a[i];
    printf("%.7g\n", c);
}
// ----
// program main {
//   symbol P0 t: i32
//   array A0 b: f32[?][300] local linear
//   array A1 a: f32[?] local
//   array A2 c: f64 local
//   array A3 a: f32[?][300] local linear
//   reshape A3 A1
//   sequence {
//     opaque "not a loop" reads(*) writes(*)
//     dataflow { N0 }
//     loop t in 0 .. 4000 {
//       sequence {
//         dataflow { N1 }
//         opaque "not a loop" reads(*) writes(*)
//         swap a.A1 b
//       }
//     }
//     opaque "not a loop" reads() writes(c)
//     dataflow { N2 }
//     opaque "not a loop" reads(*) writes(*)
//   }
//   nest N0 in main span 306 .. 352 line 10 live_out(b, a.A1) {
//     for L0 i: i32 in 0 .. 300 {
//       S0@10: b[0][i] = 100
//       S1@10: a.A1[i] = b[0][i]
//     }
//   }
//   nest N1 in main span 398 .. 593 line 12 live_out(b) {
//     for L0 i: i32 in 1 .. 299 {
//       for L1 j: i32 in 1 .. 299 {
//         S0@14: b[i][j] = 0.25f * (a.A3[i - 1][j] + a.A3[i + 1][j] + a.A3[i][j - 1] + a.A3[i][j + 1])
//       }
//     }
//   }
//   nest N2 in main span 716 .. 758 line 19 live_out(c) {
//     for L0 i: i32 in 0 .. 90000 {
//       S0@19: c += a.A1[i]
//     }
//   }
// }
// note: `printf` is called, and what it does is not known
//   --> t.c:15:30
//    |
// 15 |         if (t % 1000 == 999) printf("%d %g\n", t, b[w + w / 2]);
//    |                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the loop at line 11 stays as it is
//    |
//    = help: give the call a loop of its own, if it can stand before or behind the rest
