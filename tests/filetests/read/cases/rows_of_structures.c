// run: read -O3
// Rows of structures behind pointers, each from its own allocation, as a member.
#include <stdio.h>
#include <stdlib.h>
typedef struct { double d, m1, e; } cell;
typedef struct { cell **u; double dt; int n, m; } grid;
static void sweep(grid *g)
{
    for (int i = 1; i < g->n - 1; i++)
        for (int j = 1; j < g->m - 1; j++) {
            g->u[i][j].m1 = g->u[i][j].d * g->dt;
            g->u[i][j].e = 0.25 * (g->u[i - 1][j].d + g->u[i + 1][j].d + g->u[i][j - 1].d + g->u[i][j + 1].d);
        }
}
int main(void)
{
    grid g = {malloc(300 * sizeof(cell *)), 0.5, 300, 200};
    for (int i = 0; i < g.n; i++) {
        g.u[i] = malloc(g.m * sizeof(cell));
        for (int j = 0; j < g.m; j++)
            g.u[i][j].d = i % 7 + j % 5, g.u[i][j].m1 = g.u[i][j].e = 0;
    }
    for (int t = 0; t < 200; t++)
        sweep(&g);
    double sum = 0;
    for (int i = 0; i < g.n; i++)
        for (int j = 0; j < g.m; j++)
            sum += g.u[i][j].d + 2 * g.u[i][j].m1 - g.u[i][j].e;
    printf("%.17g\n", sum);
    return 0;
}
// ----
// program sweep {
//   symbol P0 "g->n": i32
//   symbol P1 "g->m": i32
//   symbol P2 "(&g->u[1][0] - &g->u[0][0])": i64
//   array A0 "g->u": f64[?][P2][3] global linear
//   array A1 "g->dt": f64 global
//   may_alias A0 A1
//   view P0 "g*.n" "grid *g"
//   view P1 "g*.m" "grid *g"
//   view A0 "g*.u" "grid *g" loaded record 24 (0 3)
//   view A1 "g*.dt" "grid *g"
//   entry N0 reached(1 < P0 - 1 && 1 < P1 - 1) rows A0 (0 .. P0 - 1)(0 .. P1 - 1)
//   dataflow { N0 }
//   nest N0 in sweep span 269 .. 519 line 9 {
//     for L0 i: i32 in 1 .. P0 - 1 {
//       for L1 j: i32 in 1 .. P1 - 1 {
//         S0@11: A0[i][j][1] = A0[i][j][0] * A1
//         S1@12: A0[i][j][2] = 0.25 * (A0[i - 1][j][0] + A0[i + 1][j][0] + A0[i][j - 1][0] + A0[i][j + 1][0])
//       }
//     }
//   }
// }
// program main {
//   symbol P0 "g.m": i32
//   symbol P1 i: i32
//   symbol P2 "(&g.u[1][0] - &g.u[0][0])": i64
//   symbol P3 "g.n": i32
//   array A0 "g.u": f64[?][P2][3] global linear
//   array A1 "g.dt": f64 local
//   array A2 sum: f64 local
//   may_alias A0 A1
//   view P0 "g.m" "grid g"
//   view P3 "g.n" "grid g"
//   view A0 "g.u" "grid g" loaded record 24 (0 3)
//   view A1 "g.dt" "grid g"
//   entry N0 reached(0 < P0) rows A0 (i .. i)(0 .. P0 - 1)
//   entry N1 reached(1 < P3 - 1 && 1 < P0 - 1) rows A0 (0 .. P3 - 1)(0 .. P0 - 1)
//   entry N2 reached(0 < P3 && 0 < P0) rows A0 (0 .. P3 - 1)(0 .. P0 - 1)
//   sequence {
//     opaque "not a loop" reads(A0, A1) writes(A0, A1)
//     loop i {
//       sequence {
//         opaque "not a loop" reads(A0) writes(A0)
//         dataflow { N0 }
//       }
//     }
//     dataflow { N1 }
//     opaque "not a loop" reads() writes(sum)
//     dataflow { N2 }
//     opaque "not a loop" reads(*) writes(*)
//   }
//   nest N0 in main span 688 .. 790 line 20 {
//     for L0 j: i32 in 0 .. P0 {
//       S0@21: A0[i][j][0] = i % 7 + j % 5
//       S1@21: A0[i][j][2] = 0
//       S2@21: A0[i][j][1] = A0[i][j][2]
//     }
//   }
//   nest N1 in main span 801 .. 849 line 23 {
//     for L0 t: i32 in 0 .. 200 {
//       for L1 i: i32 in 1 .. P3 - 1 {
//         for L2 j: i32 in 1 .. P0 - 1 {
//           S0@11: A0[i.L1][j][1] = A0[i.L1][j][0] * A1
//           S1@12: A0[i.L1][j][2] = 0.25 * (A0[i.L1 - 1][j][0] + A0[i.L1 + 1][j][0] + A0[i.L1][j - 1][0] + A0[i.L1][j + 1][0])
//         }
//       }
//     }
//   }
//   nest N2 in main span 874 .. 1006 line 26 live_out(sum) {
//     for L0 i: i32 in 0 .. P3 {
//       for L1 j: i32 in 0 .. P0 {
//         S0@28: sum += A0[i.L0][j][0] + 2 * A0[i.L0][j][1] - A0[i.L0][j][2]
//       }
//     }
//   }
// }
// note: `g.u` is an array of pointers: its rows may be anywhere, or the same
//   --> t.c:19:9
//    |
// 19 |         g.u[i] = malloc(g.m * sizeof(cell));
//    |         ^^^^^^ the loop at line 18 stays as it is
//    |
//    = help: keep the elements in one block, and store where each part of it starts
