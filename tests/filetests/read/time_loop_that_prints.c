// run: read -O3
// The steps between those that print are a nest, also where the condition is asked first, by a variable, and for several.
#include <stdio.h>
static double u[100], v[100];
static int every = 10;
void last(int n)
{
    for (int t = 0; t < n; t++) {
        for (int i = 1; i < 99; i++)
            v[i] = u[i - 1] + u[i + 1];
        for (int i = 1; i < 99; i++)
            u[i] = v[i];
        if (t % every == 0)
            printf("%d %g\n", t, u[50]);
    }
}
void first(long n)
{
    long t;
    for (t = 1; t <= n; t += 2) {
        if (t % 100 == 1 || t == n) {
            FILE *f = fopen("field", "w");
            for (int i = 0; i < 100; i++)
                fprintf(f, "%g\n", u[i]);
            fclose(f);
        }
        for (int i = 1; i < 99; i++)
            v[i] = u[i - 1] + u[i + 1];
        for (int i = 1; i < 99; i++)
            u[i] = v[i];
    }
}
/* What is asked depends on the field. */
void converges(int n)
{
    for (int t = 0; t < n; t++) {
        for (int i = 1; i < 99; i++)
            u[i] = v[i];
        if (u[t % 100] < 1e-3)
            printf("%d\n", t);
    }
}
// ----
// program last {
//   symbol P0 t_from: i32
//   symbol P1 t_to: i32
//   array A0 v: f64[100] global
//   array A1 u: f64[100] global
//   loop {
//     sequence {
//       dataflow { N0 }
//       opaque "not a loop" reads(*) writes(*)
//     }
//   }
//   nest N0 in last span 373 .. 546 line 9 {
//     for L0 t: i32 in t_from .. t_to {
//       for L1 i: i32 in 1 .. 99 {
//         S0@10: v[i] = u[i - 1] + u[i + 1]
//       }
//       for L2 i: i32 in 1 .. 99 {
//         S1@12: u[i] = v[i]
//       }
//     }
//   }
// }
// program first {
//   symbol P0 t: i64
//   symbol P1 n: i64
//   symbol P2 t_from: i64
//   symbol P3 t_to: i64
//   array A0 v: f64[100] global
//   array A1 u: f64[100] global
//   loop {
//     sequence {
//       branch t % 100 == 1 || t == n {
//         opaque "not a loop" reads(*) writes(*)
//       } else {
//         sequence {
//         }
//       }
//       dataflow { N0 }
//     }
//   }
//   nest N0 in first span 1013 .. 1185 line 27 {
//     for L0 t: i64 in t_from .. t_to step 2 {
//       for L1 i: i32 in 1 .. 99 {
//         S0@28: v[i] = u[i - 1] + u[i + 1]
//       }
//       for L2 i: i32 in 1 .. 99 {
//         S1@30: u[i] = v[i]
//       }
//     }
//   }
// }
// program converges {
//   symbol P0 n: i32
//   symbol P1 t: i32
//   array A0 u: f64[100] global
//   array A1 v: f64[100] global
//   loop t in 0 .. n {
//     sequence {
//       dataflow { N0 }
//       opaque "not a loop" reads(*) writes(*)
//     }
//   }
//   nest N0 in converges span 1314 .. 1367 line 37 {
//     for L0 i: i32 in 1 .. 99 {
//       S0@38: u[i] = v[i]
//     }
//   }
// }
// warning: `fprintf` is called, and what it does is not known
//   --> t.c:24:17
//    |
// 24 |                 fprintf(f, "%g\n", u[i]);
//    |                 ^^^^^^^^^^^^^^^^^^^^^^^^ the loop at line 23 stays as it is
// note: `printf` is called, and what it does is not known
//   --> t.c:40:13
//    |
// 40 |             printf("%d\n", t);
//    |             ^^^^^^^^^^^^^^^^^ the loop at line 36 stays as it is
//    |
//    = help: give the call a loop of its own, if it can stand before or behind the rest
