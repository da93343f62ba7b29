// run: read -O3 -ffast-math
// Type declared inside of the function.
#include <stdio.h>
#include <math.h>
#define N 400000
static double px[N], out[N];
/* the structure is declared inside of the function */
int main(void) {
    struct seg { double from, to, w; } s[2];
    for (int i = 0; i < N; i++) px[i] = i * 3e-6;
    for (int r = 0; r < 40; r++)
        for (int i = 0; i < N; i++) {
            s[0].from = px[i]; s[0].to = px[i] * px[i]; s[0].w = 0.5;
            s[1].from = s[0].to; s[1].to = s[0].to * 0.5; s[1].w = 0.25 + 0.001 * r;
            double t = 0;
            for (int k = 0; k < 2; k++) t += (s[k].to - s[k].from) * s[k].w;
            out[i] += sqrt(t * t + 1);
        }
    double c = 0;
    for (int i = 0; i < N; i++) c += out[i];
    printf("%.10g\n", c);
}
// ----
// program main {
//   array A0 px: f64[400000] global
//   array A1 "s[].from": f64[2] global
//   array A2 "s[].to": f64[2] global
//   array A3 "s[].w": f64[2] global
//   array A4 t: f64 body(L1)
//   array A5 out: f64[400000] global
//   array A6 c: f64 local
//   view A1 "s[].from" "struct { double from; double to; double w; } s[2]" record 24 (0 1)
//   view A2 "s[].to" "struct { double from; double to; double w; } s[2]" record 24 (8 1)
//   view A3 "s[].w" "struct { double from; double to; double w; } s[2]" record 24 (16 1)
//   sequence {
//     dataflow { N0 N1 }
//     opaque "not a loop" reads() writes(c)
//     dataflow { N2 }
//     opaque "not a loop" reads(*) writes(*)
//   }
//   nest N0 in main span 274 .. 319 line 10 {
//     for L0 i: i32 in 0 .. 400000 {
//       S0@10: px[i] = i * 3e-6
//     }
//   }
//   nest N1 in main span 324 .. 697 line 11 {
//     for L0 r: i32 in 0 .. 40 {
//       for L1 i: i32 in 0 .. 400000 {
//         S0@13: A1[0] = px[i]
//         S1@13: A2[0] = px[i] * px[i]
//         S2@13: A3[0] = 0.5
//         S3@14: A1[1] = A2[0]
//         S4@14: A2[1] = A2[0] * 0.5
//         S5@14: A3[1] = 0.25 + 0.001 * r
//         S6@15: t = 0
//         for L2 k: i32 in 0 .. 2 {
//           S7@16: t += (A2[k] - A1[k]) * A3[k]
//         }
//         S8@17: out[i] += sqrt(t * t + 1)
//       }
//     }
//   }
//   nest N2 in main span 720 .. 760 line 20 live_out(c) {
//     for L0 i: i32 in 0 .. 400000 {
//       S0@20: c += out[i]
//     }
//   }
// }
