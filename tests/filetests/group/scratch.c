// run: group
// What only these loops use is dead behind them: a static array, a block that is freed.
#include <stdlib.h>
static double in[64][64], out[64][64], last;
void pipeline(int n, double weight)
{
    static double rows[64][64];
    double *columns = malloc(64 * 64 * sizeof *columns), sum = 0;
    if (!columns)
        return;
    for (int i = 0; i < n; i++)
        for (int j = 1; j < n - 1; j++)
            rows[i][j] = in[i][j - 1] + weight * in[i][j] + in[i][j + 1];
    int m = n;
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            columns[i * 64 + j] = rows[i - 1][j] + weight * rows[i][j] + rows[i + 1][j];
    for (int i = 1; i < m - 1; i++)
        for (int j = 1; j < n - 1; j++)
            sum += columns[i * 64 + j];
    if (sum > 0)
        sum = 1 / sum;
    for (int i = 1; i < n - 1; i++) {
        for (int j = 1; j < n - 1; j++)
            out[i][j] = columns[i * 64 + j] * sum;
        last = out[i][n / 2];
    }
    free(columns);
}
// ----
// program pipeline {
//   symbol P0 n: i32
//   symbol P1 "((long)n / 2L)": i64
//   assume n + 1 >= 2*P1
//   assume 2*P1 + 1 >= n
//   array A0 rows: f64[64][64] local
//   array A1 in: f64[64][64] global
//   array A2 weight: f64 param
//   array A3 columns: f64[?][64] local linear
//   array A4 sum: f64 local
//   array A5 out: f64[64][64] global
//   array A6 last: f64 global
//   origin A3 (0, 1)
//   entry N0 test(n - 3 < 64)
//   sequence {
//     opaque "not a loop" reads(columns) writes(columns, sum)
//     dataflow { N0 }
//     opaque "not a loop" reads(columns) writes()
//   }
//   nest N0 in pipeline span 342 .. 984 line 11 mentions(n) {
//     for L0 i: i32 in 0 .. n {
//       for L1 j: i32 in 1 .. n - 1 {
//         S0@13: rows[i][j] = in.A1[i][j - 1] + weight * in.A1[i][j] + in.A1[i][j + 1]
//       }
//     }
//     for L2 i: i32 in 1 .. n - 1 {
//       for L3 j: i32 in 1 .. n - 1 {
//         S1@17: columns[i][j - 1] = rows[i - 1][j] + weight * rows[i][j] + rows[i + 1][j]
//       }
//     }
//     for L4 i: i32 in 1 .. n - 1 {
//       for L5 j: i32 in 1 .. n - 1 {
//         S2@20: sum += columns[i][j - 1]
//       }
//     }
//     if sum > 0 {
//       S3@22: sum = 1 / sum
//     }
//     for L6 i: i32 in 1 .. n - 1 {
//       for L7 j: i32 in 1 .. n - 1 {
//         S4@25: out[i][j] = columns[i][j - 1] * sum
//       }
//       S5@26: last = out[i][P1]
//     }
//   }
// }
