// run: read -O3
// Tiles of a fixed size lie within rows where these hold a whole number of them, which is tested before the nest: those of a loop
// over each step end with it, and else the last step begins in time.
void over_steps(int n, double *c, const double *a, const double *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j += 40)
            for (int l = j; l < j + 40; l++)
                c[i * n + l] += a[i * n + l] * b[l];
}
void by_offset(int n, int m, double *c, const double *a)
{
    for (int i = 0; i < n; i += 2)
        for (int j = 0; j < m; j += 4)
            for (int k = 0; k < 4; k++)
                c[(i + 1) * m + j + k] = a[i * m + j + k];
}
void both(int n, double *c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j += 8)
            for (int l = j; l < j + 8; l++)
                c[i * n + l] *= c[j];
}
void far(int n, double *c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j += 4)
            for (int k = 0; k < 5; k++)
                c[i * n + j + k] *= 2;
}
// ----
// program over_steps {
//   symbol P0 n: i32
//   array A0 c: f64[?][n] param linear
//   array A1 a: f64[?][n] param linear
//   array A2 b: f64[?] param
//   may_alias c a
//   may_alias c b
//   entry N0 test(n >= 0) test(n % 40 == 0)
//   dataflow { N0 }
//   nest N0 in over_steps span 292 .. 457 line 6 {
//     for L0 i: i32 in 0 .. n {
//       for L1 j: i32 in 0 .. n step 40 {
//         for L2 l: i32 in j .. min(j + 40, n) {
//           S0@9: c[i][l] += a[i][l] * b[l]
//         }
//       }
//     }
//   }
// }
// program by_offset {
//   symbol P0 n: i32
//   symbol P1 m: i32
//   array A0 c: f64[?][m] param linear
//   array A1 a: f64[?][m] param linear
//   may_alias c a
//   entry N0 test(n >= 0) test(n % 2 == 0) test(m >= 0) test(m % 4 == 0)
//   dataflow { N0 }
//   nest N0 in by_offset span 523 .. 691 line 13 {
//     for L0 i: i32 in 0 .. n - 1 step 2 {
//       for L1 j: i32 in 0 .. m - 3 step 4 {
//         for L2 k: i32 in 0 .. 4 {
//           S0@16: c[i + 1][j + k] = a[i][j + k]
//         }
//       }
//     }
//   }
// }
// program both {
//   symbol P0 n: i32
//   array A0 c: f64[?][n] param linear
//   entry N0 test(n >= 0) test(n % 8 == 0)
//   dataflow { N0 }
//   nest N0 in both span 728 .. 876 line 20 {
//     for L0 i: i32 in 0 .. n {
//       for L1 j: i32 in 0 .. n - 7 step 8 {
//         for L2 l: i32 in j .. j + 8 {
//           S0@23: c[i][l] *= c[0][j]
//         }
//       }
//     }
//   }
// }
// program far {
//   symbol P0 n: i32
//   array A0 c: f64[?] param
//   dataflow { N0 }
//   nest N0 in far span 912 .. 1057 line 27 {
//     for L0 i: i32 in 0 .. n {
//       for L1 j: i32 in 0 .. n step 4 {
//         for L2 k: i32 in 0 .. 5 {
//           S0@30: c[i * n + j + k] *= 2
//         }
//       }
//     }
//   }
// }
