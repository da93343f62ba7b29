// run: read -O3 -ffast-math
// Small mask behind row pointers around a stencil.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* a volume of planes of rows, made by three allocations in main; the mask has the same shape on two levels */
int main(void) {
    int nz = 40, ny = 120, nx = 150; double s = 0;
    double ***u = malloc(nz * sizeof *u), ***v = malloc(nz * sizeof *v), **mask = malloc(3 * sizeof *mask);
    for (int k = 0; k < nz; k++) {
        u[k] = malloc(ny * sizeof **u); v[k] = malloc(ny * sizeof **v);
        for (int j = 0; j < ny; j++) { u[k][j] = calloc(nx, 8); v[k][j] = calloc(nx, 8); for (int i = 0; i < nx; i++) u[k][j][i] = (i + j * k) % 7; }
    }
    for (int j = 0; j < 3; j++) mask[j] = calloc(3, 8);
    for (int j = 0; j < 3; j++) { mask[j][1] = 0.2; mask[1][j] = 0.2; }
    for (int t = 0; t < 30; t++) {
        for (int k = 0; k < nz; k++)
            for (int j = 1; j < ny - 1; j++)
                for (int i = 1; i < nx - 1; i++) {
                    double a = 0;
                    for (int q = -1; q < 2; q++)
                        for (int p = -1; p < 2; p++) a += mask[q + 1][p + 1] * u[k][j + q][i + p];
                    v[k][j][i] = a;
                }
        for (int k = 0; k < nz; k++) for (int j = 1; j < ny - 1; j++) memcpy(u[k][j], v[k][j], nx * 8);
    }
    for (int k = 0; k < nz; k++) s += u[k][k + 5][k + 9];
    printf("%.10g\n", s);
}
// ----
// program main {
//   symbol P0 k: i32
//   symbol P1 j: i32
//   symbol P2 "(&u[1][0][0] - &u[0][0][0]) / (&u[0][1][0] - &u[0][0][0])": i64
//   symbol P3 "(&u[0][1][0] - &u[0][0][0])": i64
//   symbol P4 "(&mask[1][0] - &mask[0][0])": i64
//   symbol P5 "(&v[1][0][0] - &v[0][0][0]) / (&v[0][1][0] - &v[0][0][0])": i64
//   symbol P6 "(&v[0][1][0] - &v[0][0][0])": i64
//   array A0 u: f64[?][P2][P3] local linear
//   array A1 mask: f64[?][P4] local linear
//   array A2 a: f64 body(L3)
//   array A3 v: f64[?][P5][P6] local linear
//   may_alias u mask
//   may_alias u v
//   may_alias mask v
//   entry N0 rows A0 (k .. k)(j .. j)(0 .. 149)
//   entry N1 rows A1 (0 .. 2)(0 .. 2)
//   entry N2 rows A0 (0 .. 39)(0 .. 119)(0 .. 149) rows A1 (0 .. 2)(0 .. 2) rows A3 (0 .. 39)(1 .. 118)(0 .. 149)
//   sequence {
//     opaque "not a loop" reads(u, mask, v) writes(u, mask, v)
//     loop k in 0 .. 40 {
//       sequence {
//         opaque "not a loop" reads(u, v) writes(u, v)
//         loop j in 0 .. 120 {
//           sequence {
//             opaque "not a loop" reads(*) writes(*)
//             dataflow { N0 }
//           }
//         }
//       }
//     }
//     opaque "a loop that stays as it is" reads(*) writes(*)
//     dataflow { N1 N2 }
//     opaque "a loop that stays as it is" reads(*) writes(*)
//   }
//   nest N0 in main span 623 .. 681 line 12 live_out(u) {
//     for L0 i: i32 in 0 .. 150 {
//       S0@12: u[k][j][i] = (i + j * k) % 7
//     }
//   }
//   nest N1 in main span 750 .. 817 line 15 live_out(mask) {
//     for L0 j: i32 in 0 .. 3 {
//       S0@15: mask[j.L0][1] = 0.2
//       S1@15: mask[1][j.L0] = 0.2
//     }
//   }
//   nest N2 in main span 822 .. 1331 line 16 live_out(u, v) {
//     for L0 t: i32 in 0 .. 30 {
//       for L1 k: i32 in 0 .. 40 {
//         for L2 j: i32 in 1 .. 119 {
//           for L3 i: i32 in 1 .. 149 {
//             S0@20: a = 0
//             for L4 q: i32 in -1 .. 2 {
//               for L5 p: i32 in -1 .. 2 {
//                 S1@22: a += mask[q + 1][p + 1] * u[k.L1][j.L2 + q][i + p]
//               }
//             }
//             S2@23: v[k.L1][j.L2][i] = a
//           }
//         }
//       }
//       for L6 k: i32 in 0 .. 40 {
//         for L7 j: i32 in 1 .. 119 {
//           for L8 k: i64 in 0 .. 150 {
//             S3@25: u[k.L6][j.L7][k.L8] = v[k.L6][j.L7][k.L8]
//           }
//         }
//       }
//     }
//   }
// }
// warning: `u` is an array of pointers: its rows may be anywhere, or the same
//   --> t.c:11:9
//    |
// 11 |         u[k] = malloc(ny * sizeof **u); v[k] = malloc(ny * sizeof **v);
//    |         ^^^^ the loop at line 10 stays as it is
//    |
//    = help: make `u` one block: `double (*u)[m]`, or `double *u` with `u[i * m + j]`
// note: `u` is an array of pointers: its rows may be anywhere, or the same
//   --> t.c:12:40
//    |
// 12 | ...   for (int j = 0; j < ny; j++) { u[k][j] = calloc(nx, 8); v[k][j] = calloc(nx, 8); for (int i = 0; i < nx; i++) u[k][j][i] = (i ...
//    |                                      ^^^^^^^ the loop at line 12 stays as it is
//    |
//    = help: make `u` one block: `double (*u)[m]`, or `double *u` with `u[i * m + j]`
// warning: `mask` is an array of pointers: its rows may be anywhere, or the same
//   --> t.c:14:33
//    |
// 14 |     for (int j = 0; j < 3; j++) mask[j] = calloc(3, 8);
//    |                                 ^^^^^^^ the loop at line 14 stays as it is
//    |
//    = help: make `mask` one block: `double (*mask)[m]`, or `double *mask` with `mask[i * m + j]`
// warning: not all rows of `u` between the first and the last are sure to be there
//   --> t.c:27:5
//    |
// 27 |     for (int k = 0; k < nz; k++) s += u[k][k + 5][k + 9];
//    |     ^^^ the loop at line 27 stays as it is
//    |
//    = help: make `u` one block, `double (*u)[m][n]`
