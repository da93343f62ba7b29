// run: read -O3 -ffast-math
// Output now and then inside of the time loop.
#include <stdio.h>
#define N 400000
static double u[N + 2], v[N + 2];
/* a string that swings; a line is printed every 50 steps */
int main(void) {
    for (int i = 0; i < N + 2; i++) u[i] = i < N / 2 ? i * 1e-6 : (N + 1 - i) * 1e-6;
    for (int t = 0; t < 300; t++) {
        for (int i = 1; i <= N; i++) v[i] += 0.25 * (u[i - 1] - 2 * u[i] + u[i + 1]);
        for (int i = 1; i <= N; i++) u[i] += v[i];
        if (t % 50 == 0) printf("%4d %.8g\n", t, u[N / 3]);
    }
    printf("end %.8g\n", u[N / 3]);
}
// ----
// program main {
//   symbol P0 t_from: i32
//   symbol P1 t_to: i32
//   array A0 u: f64[400002] global
//   array A1 v: f64[400002] global
//   sequence {
//     dataflow { N0 }
//     loop {
//       sequence {
//         dataflow { N1 }
//         opaque "not a loop" reads(*) writes(*)
//       }
//     }
//     opaque "not a loop" reads(*) writes(*)
//   }
//   nest N0 in main span 229 .. 310 line 8 {
//     for L0 i: i32 in 0 .. 400002 {
//       S0@8: u[i] = i < 200000 ? i * 1e-6 : (400001 - i) * 1e-6
//     }
//   }
//   nest N1 in main span 456 .. 627 line 10 {
//     for L0 t: i32 in t_from .. t_to {
//       for L1 i: i32 in 1 .. 400001 {
//         S0@10: v[i] += 0.25 * (u[i - 1] - 2 * u[i] + u[i + 1])
//       }
//       for L2 i: i32 in 1 .. 400001 {
//         S1@11: u[i] += v[i]
//       }
//     }
//   }
// }
