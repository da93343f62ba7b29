// run: read -O3
// Loops that their authors unrolled, with a loop over the rest behind them or before them, are one loop.
static inline void add(int n, double a, const double *x, double *y)
{
    int i, whole = n >> 2 << 2;
    for (i = 0; i < whole; i += 4) {
        y[i] += a * x[i];
        y[i + 1] += a * x[i + 1];
        y[i + 2] += a * x[i + 2];
        y[i + 3] += a * x[i + 3];
    }
    for (; i < n; i++)
        y[i] += a * x[i];
}
void product(int m, int n, int l, const double *a, const double *b, double *c)
{
    for (int i = 0; i < m; i++)
        for (int k = 0; k < l; k++)
            add(n, a[i * l + k], &b[k * n], &c[i * n]);
}
void rest_first(int m, int n, double (*y)[100], const double *x)
{
    for (int j = 0; j < m; j++) {
        int i, rest = n % 5;
        for (i = 0; i < rest; i++)
            y[j][i] = x[i];
        for (; i < n; i += 5) {
            y[j][i] = x[i];
            y[j][i + 1] = x[i + 1];
            y[j][i + 2] = x[i + 2];
            y[j][i + 3] = x[i + 3];
            y[j][i + 4] = x[i + 4];
        }
    }
}
void in_blocks(int m, int n, double (*y)[100], const double *x)
{
    for (int j = 0; j < m; j++) {
        int i = 0;
        for (; i + 7 < n; i += 8)
            for (int k = 0; k < 8; k++)
                y[j][i + k] = x[i + k];
        while (i < n) {
            y[j][i] = x[i];
            i++;
        }
    }
}
void with_scalars(int m, int n, double (*y)[100], const double *x)
{
    for (int j = 0; j < m; j++)
        for (int i = 0; i < 4 * n; i += 4)
            for (int k = 0; k < 4; k++) {
                double t = x[i + k];
                y[j][i + k] = t * t + t;
            }
}
// ----
// program add {
//   symbol P0 whole: i32
//   symbol P1 "(((long)whole + 3L) >> 2L)": i64
//   symbol P2 "(i)": i32
//   symbol P3 n: i32
//   assume whole + 3 >= 4*P1
//   assume 4*P1 >= whole
//   array A0 y: f64[?] param
//   array A1 a: f64 param
//   array A2 x: f64[?] param
//   array A3 i: i32 local
//   may_alias y x
//   load P2 i
//   dataflow { N0 N1 }
//   nest N0 in add span 229 .. 395 line 6 live_out(i) mentions(whole) {
//     for L0 i: i32 in 0 .. 4*P1 {
//       S0@7: y[i.L0] += a * x[i.L0]
//     }
//     S4@6: i = max(0, 4*P1)
//   }
//   nest N1 in add span 400 .. 444 line 12 {
//     for L0 i: i32 in P2 .. n {
//       S0@13: y[i.L0] += a * x[i.L0]
//     }
//   }
// }
// program product {
//   symbol P0 m: i32
//   symbol P1 l: i32
//   symbol P2 n: i32
//   symbol P3 "((long)n >> 2L)": i64
//   assume n >= 4*P3
//   assume 4*P3 + 3 >= n
//   array A0 a: f64[?][l] param linear
//   array A1 a: f64 body(L1)
//   array A2 i: i32 body(L1)
//   array A3 c: f64[?][n] param linear
//   array A4 b: f64[?][n] param linear
//   may_alias a.A0 c
//   may_alias c b
//   dataflow { N0 }
//   nest N0 in product span 532 .. 651 line 17 mentions(n) {
//     for L0 i: i32 in 0 .. m {
//       for L1 k: i32 in 0 .. l {
//         S0@19: a.A1 = a.A0[i.L0][k]
//         for L2 i: i32 in 0 .. n {
//           S1@7: c[i.L0][i.L2] += a.A1 * b[k][i.L2]
//         }
//       }
//     }
//   }
// }
// program rest_first {
//   symbol P0 m: i32
//   symbol P1 n: i32
//   symbol P2 "((long)n / 5L)": i64
//   assume n + 4 >= 5*P2
//   assume 5*P2 + 4 >= n
//   array A0 i: i32 body(L0)
//   array A1 y: f64[?][100] param
//   array A2 x: f64[?] param
//   may_alias y x
//   entry N0 test(n - 5*P2 >= 0)
//   dataflow { N0 }
//   nest N0 in rest_first span 725 .. 1066 line 23 mentions(n, P2) {
//     for L0 j: i32 in 0 .. m {
//       for L1 i: i32 in 0 .. n {
//         S0@26: y[j][i.L1] = x[i.L1]
//       }
//     }
//   }
// }
// program in_blocks {
//   symbol P0 m: i32
//   symbol P1 n: i32
//   symbol P2 "((long)n >> 3L)": i64
//   assume n >= 8*P2
//   assume 8*P2 + 7 >= n
//   array A0 i: i32 body(L0)
//   array A1 y: f64[?][100] param
//   array A2 x: f64[?] param
//   may_alias y x
//   dataflow { N0 }
//   nest N0 in in_blocks span 1139 .. 1386 line 38 mentions(n) {
//     for L0 j: i32 in 0 .. m {
//       for L1 i: i32 in 0 .. n {
//         S1@42: y[j][i.L1] = x[i.L1]
//       }
//     }
//   }
// }
// program with_scalars {
//   symbol P0 m: i32
//   symbol P1 n: i32
//   array A0 x: f64[?] param
//   array A1 t: f64 body(L1)
//   array A2 y: f64[?][100] param
//   may_alias x y
//   dataflow { N0 }
//   nest N0 in with_scalars span 1462 .. 1666 line 51 {
//     for L0 j: i32 in 0 .. m {
//       for L1 i: i32 in 0 .. 4*n {
//         S0@54: t = x[i]
//         S1@55: y[j][i] = t * t + t
//       }
//     }
//   }
// }
