// run: read -O3
// Arrays of single structures: by the number of a loop around, by an order, and by a pointer that is set in that loop.
#include <stdio.h>
#include <stdlib.h>
typedef struct { int nx; double **array, *flat; double scale; } block;
static block *blocks;
static int n_blocks, *order;
static void own(int n)
{
    for (int b = 0; b < n_blocks; b++)
        for (int i = 1; i < n; i++)
            for (int j = 1; j < n; j++)
                blocks[b].array[i][j] *= 0.5 * blocks[b].scale;
}
static void ordered(void)
{
    for (int b = 1; b < n_blocks; b++)
        for (int i = 0; i < blocks[order[b]].nx; i++)
            blocks[order[b]].flat[i] += blocks[order[b - 1]].array[i][1];
}
static void pointed(int n)
{
    for (int b = 0; b < n_blocks; b++) {
        block *bp = &blocks[b];
        for (int i = 1; i < n; i++)
            for (int j = 1; j < n; j++)
                bp->array[i][j] += bp->flat[j] * i;
    }
}
int main(void)
{
    int n = 200;
    n_blocks = 5;
    blocks = calloc(n_blocks, sizeof *blocks);
    order = calloc(n_blocks, sizeof *order);
    for (int b = 0; b < n_blocks; b++) {
        blocks[b].nx = n - b, blocks[b].scale = 1.5, order[b] = n_blocks - 1 - b;
        blocks[b].flat = calloc(n, sizeof(double)), blocks[b].array = calloc(n, sizeof(double *));
        for (int i = 0; i < n; i++) {
            blocks[b].array[i] = calloc(n, sizeof(double));
            for (int j = 0; j < n; j++)
                blocks[b].array[i][j] = i % 7 + j % 5;
        }
    }
    for (int t = 0; t < 50; t++)
        own(n), ordered(), pointed(n);
    double sum = 0;
    for (int b = 0; b < n_blocks; b++)
        for (int i = 0; i < n; i++)
            sum += blocks[b].flat[i] + blocks[b].array[i][n / 2];
    printf("%.17g\n", sum);
    return 0;
}
// ----
// program own {
//   symbol P0 n: i32
//   symbol P1 b: i32
//   symbol P2 "(&blocks[b].array[1][0] - &blocks[b].array[0][0])": i64
//   array A0 "blocks[b].array": f64[?][P2] global linear
//   array A1 "blocks[b].scale": f64 global
//   may_alias A0 A1
//   view A0 "blocks*[b].array" "block *blocks" loaded
//   view A1 "blocks*[b].scale" "block *blocks"
//   entry N0 reached(1 < n && 1 < n) rows A0 (1 .. n - 1)(1 .. n - 1)
//   loop b {
//     dataflow { N0 }
//   }
//   nest N0 in own span 370 .. 501 line 11 mentions(b) {
//     for L0 i: i32 in 1 .. n {
//       for L1 j: i32 in 1 .. n {
//         S0@13: A0[i][j] *= 0.5 * A1
//       }
//     }
//   }
// }
// program ordered {
//   symbol P0 b: i32
//   symbol P1 "order[b]": i32
//   symbol P2 "blocks[order[b]].nx": i32
//   symbol P3 "order[b-1]": i32
//   symbol P4 "(&blocks[order[(b - 1)]].array[1][0] - &blocks[order[(b - 1)]].array[0][0])": i64
//   array A0 order: i32[?] global
//   array A1 "blocks[order[b]].flat": f64[?] global
//   array A2 "blocks[order[(b - 1)]].array": f64[?][P4] global linear
//   may_alias A1 A2
//   view P2 "blocks*[order[b]].nx" "block *blocks"
//   view A1 "blocks*[order[b]].flat" "block *blocks" loaded
//   view A2 "blocks*[order[(b - 1)]].array" "block *blocks" loaded
//   load P1 order[b]
//   load P3 order[b - 1]
//   entry N0 reached(0 < P2 && 0 < P2) rows A2 (0 .. P2 - 1)(1 .. 1)
//   loop b {
//     dataflow { N0 }
//   }
//   nest N0 in ordered span 579 .. 698 line 18 mentions(P1, P3) {
//     for L0 i: i32 in 0 .. P2 {
//       S0@19: A1[i] += A2[i][1]
//     }
//   }
// }
// program pointed {
//   symbol P0 n: i32
//   symbol P1 "(&bp->array[1][0] - &bp->array[0][0])": i64
//   array A0 "bp->array": f64[?][P1] global linear
//   array A1 "bp->flat": f64[?] global
//   may_alias A0 A1
//   view A0 "bp*.array" "block *bp" loaded
//   view A1 "bp*.flat" "block *bp" loaded
//   entry N0 reached(1 < n && 1 < n) rows A0 (1 .. n - 1)(1 .. n - 1)
//   loop {
//     dataflow { N0 }
//   }
//   nest N0 in pointed span 811 .. 930 line 25 {
//     for L0 i: i32 in 1 .. n {
//       for L1 j: i32 in 1 .. n {
//         S0@27: A0[i][j] += A1[j] * i
//       }
//     }
//   }
// }
// program main {
//   symbol P0 i: i32
//   symbol P1 b: i32
//   symbol P2 "(&blocks[b].array[1][0] - &blocks[b].array[0][0])": i64
//   symbol P3 b: i32
//   symbol P4 "(&blocks[b].array[1][0] - &blocks[b].array[0][0])": i64
//   array A0 "blocks[b].array": f64[?][P2] global linear
//   array A1 sum: f64 local
//   array A2 "blocks[b].flat": f64[?] global
//   array A3 "blocks[b].array": f64[?][P4] global linear
//   view A0 "blocks*[b].array" "block *blocks" loaded
//   view A2 "blocks*[b].flat" "block *blocks" loaded
//   view A3 "blocks*[b].array" "block *blocks" loaded
//   entry N0 rows A0 (i .. i)(0 .. 199)
//   entry N1 rows A3 (0 .. 199)(100 .. 100)
//   sequence {
//     opaque "not a loop" reads(*) writes(*)
//     loop b.P1 {
//       sequence {
//         opaque "not a loop" reads(*) writes(*)
//         loop i in 0 .. 200 {
//           sequence {
//             opaque "not a loop" reads(*) writes(*)
//             dataflow { N0 }
//           }
//         }
//       }
//     }
//     opaque "a loop that stays as it is" reads(*) writes(*)
//     loop b.P3 {
//       dataflow { N1 }
//     }
//     opaque "not a loop" reads(*) writes(*)
//   }
//   nest N0 in main span 1415 .. 1497 line 41 mentions(b.P1) {
//     for L0 j: i32 in 0 .. 200 {
//       S0@42: A0[i][j] = i % 7 + j % 5
//     }
//   }
//   nest N1 in main span 1653 .. 1746 line 49 live_out(sum) mentions(b.P3) {
//     for L0 i: i32 in 0 .. 200 {
//       S0@50: sum += A2[i.L0] + A3[i.L0][100]
//     }
//   }
// }
// note: `blocks[].array` is an array of pointers: its rows may be anywhere, or the same
//   --> t.c:13:17
//    |
// 13 |                 blocks[b].array[i][j] *= 0.5 * blocks[b].scale;
//    |                 ^^^^^^^^^^^^^^^ the loop at line 10 stays as it is
//    |
//    = help: keep the elements in one block, and store where each part of it starts
// note: `blocks[].flat` is an array of pointers: its rows may be anywhere, or the same
//   --> t.c:19:13
//    |
// 19 |             blocks[order[b]].flat[i] += blocks[order[b - 1]].array[i][1];
//    |             ^^^^^^^^^^^^^^^^^^^^^ the loop at line 17 stays as it is
//    |
//    = help: keep the elements in one block, and store where each part of it starts
// note: each structure has its own pointer `bp->array`
//   --> t.c:27:17
//    |
// 27 |                 bp->array[i][j] += bp->flat[j] * i;
//    |                 ^^^^^^^^^ the loop at line 23 stays as it is
//    |
//    = help: keep their elements in one block
// warning: `blocks[].flat` is an array of pointers: its rows may be anywhere, or the same
//   --> t.c:38:9
//    |
// 38 |         blocks[b].flat = calloc(n, sizeof(double)), blocks[b].array = calloc(n, sizeof(double *));
//    |         ^^^^^^^^^^^^^^ the loop at line 36 stays as it is
//    |
//    = help: keep the elements in one block, and store where each part of it starts
// note: `blocks[b].array` is an array of pointers: its rows may be anywhere, or the same
//   --> t.c:40:13
//    |
// 40 |             blocks[b].array[i] = calloc(n, sizeof(double));
//    |             ^^^^^^^^^^^^^^^^^^ the loop at line 39 stays as it is
//    |
//    = help: keep the elements in one block, and store where each part of it starts
// warning: `own` is called, in which the file-scope variable `blocks[].array` is used, which the program changes
//   --> t.c:46:9
//    |
// 46 |         own(n), ordered(), pointed(n);
//    |         ^^^^^^ the loop at line 45 stays as it is
//    |
//    = help: pass the values that the function needs as arguments
// note: `blocks[].flat` is an array of pointers: its rows may be anywhere, or the same
//   --> t.c:50:20
//    |
// 50 |             sum += blocks[b].flat[i] + blocks[b].array[i][n / 2];
//    |                    ^^^^^^^^^^^^^^ the loop at line 48 stays as it is
//    |
//    = help: keep the elements in one block, and store where each part of it starts
