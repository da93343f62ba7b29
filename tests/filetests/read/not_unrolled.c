// run: read -O3
// What is no loop that was unrolled stays as it is written: steps that leave something out, statements of different kinds, lanes
// that know their number, a rest that begins elsewhere or is another one, an end that is no whole step.
void gaps(int m, int n, double (*y)[100], const double *x)
{
    for (int j = 0; j < m; j++)
        for (int i = 0; i < 4 * n; i += 4) {
            y[j][i] = x[i];
            y[j][i + 1] = x[i + 1];
        }
}
void others(int m, int n, double (*y)[100], const double *x)
{
    for (int j = 0; j < m; j++)
        for (int i = 0; i < 2 * n; i += 2) {
            y[j][i] = x[i];
            y[j][i + 1] = -x[i + 1];
        }
}
void numbered(int m, int n, double (*y)[100], const double *x)
{
    for (int j = 0; j < m; j++)
        for (int i = 0; i < 4 * n; i += 4)
            for (int k = 0; k < 4; k++)
                y[j][i + k] = x[i + k] * k;
}
void elsewhere(int m, int n, double (*y)[100], const double *x)
{
    for (int j = 0; j < m; j++) {
        int i;
        for (i = 0; i < (n & ~1); i += 2) {
            y[j][i] = x[i];
            y[j][i + 1] = x[i + 1];
        }
        i++;
        for (; i < n; i++)
            y[j][i] = x[i];
    }
}
void another(int m, int n, double (*y)[100], const double *x)
{
    for (int j = 0; j < m; j++) {
        int i;
        for (i = 0; i < (n & ~1); i += 2) {
            y[j][i] = x[i];
            y[j][i + 1] = x[i + 1];
        }
        for (; i < n; i++)
            y[j][i] = 0;
    }
}
void beyond(int m, int n, double (*y)[100], const double *x)
{
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i += 2) {
            y[j][i] = x[i];
            y[j][i + 1] = x[i + 1];
        }
}
// ----
// program gaps {
//   symbol P0 m: i32
//   symbol P1 n: i32
//   array A0 y: f64[?][100] param
//   array A1 x: f64[?] param
//   may_alias y x
//   dataflow { N0 }
//   nest N0 in gaps span 317 .. 463 line 6 {
//     for L0 j: i32 in 0 .. m {
//       for L1 i: i32 in 0 .. 4*n step 4 {
//         S0@8: y[j][i] = x[i]
//         S1@9: y[j][i + 1] = x[i + 1]
//       }
//     }
//   }
// }
// program others {
//   symbol P0 m: i32
//   symbol P1 n: i32
//   array A0 y: f64[?][100] param
//   array A1 x: f64[?] param
//   may_alias y x
//   dataflow { N0 }
//   nest N0 in others span 533 .. 680 line 14 {
//     for L0 j: i32 in 0 .. m {
//       for L1 i: i32 in 0 .. 2*n step 2 {
//         S0@16: y[j][i] = x[i]
//         S1@17: y[j][i + 1] = -x[i + 1]
//       }
//     }
//   }
// }
// program numbered {
//   symbol P0 m: i32
//   symbol P1 n: i32
//   array A0 y: f64[?][100] param
//   array A1 x: f64[?] param
//   may_alias y x
//   dataflow { N0 }
//   nest N0 in numbered span 752 .. 906 line 22 {
//     for L0 j: i32 in 0 .. m {
//       for L1 i: i32 in 0 .. 4*n step 4 {
//         for L2 k: i32 in 0 .. 4 {
//           S0@25: y[j][i + k] = x[i + k] * k
//         }
//       }
//     }
//   }
// }
// program elsewhere {
//   symbol P0 m: i32
//   symbol P1 n: i32
//   symbol P2 "((long)n >> 1L)": i64
//   symbol P3 "(0L > (2 * (long)((long)n >> 1L)) ? 0L : (2 * (long)((long)n >> 1L)))": i64
//   assume n >= 2*P2
//   assume 2*P2 + 1 >= n
//   array A0 i: i32 body(L0)
//   array A1 y: f64[?][100] param
//   array A2 x: f64[?] param
//   may_alias y x
//   dataflow { N0 }
//   nest N0 in elsewhere span 979 .. 1215 line 29 mentions(n, P2) {
//     for L0 j: i32 in 0 .. m {
//       for L1 i: i32 in 0 .. 2*P2 {
//         S0@32: y[j][i.L1] = x[i.L1]
//       }
//       for L2 i: i32 in P3 + 1 .. n {
//         S4@37: y[j][i.L2] = x[i.L2]
//       }
//     }
//   }
// }
// program another {
//   symbol P0 m: i32
//   symbol P1 n: i32
//   symbol P2 "((long)n >> 1L)": i64
//   assume n >= 2*P2
//   assume 2*P2 + 1 >= n
//   array A0 i: i32 body(L0)
//   array A1 y: f64[?][100] param
//   array A2 x: f64[?] param
//   may_alias y x
//   dataflow { N0 }
//   nest N0 in another span 1286 .. 1506 line 42 mentions(n) {
//     for L0 j: i32 in 0 .. m {
//       for L1 i: i32 in 0 .. 2*P2 {
//         S0@45: y[j][i.L1] = x[i.L1]
//       }
//       for L2 i: i32 in max(0, 2*P2) .. n {
//         S3@49: y[j][i.L2] = 0
//       }
//     }
//   }
// }
// program beyond {
//   symbol P0 m: i32
//   symbol P1 n: i32
//   array A0 y: f64[?][100] param
//   array A1 x: f64[?] param
//   may_alias y x
//   dataflow { N0 }
//   nest N0 in beyond span 1576 .. 1718 line 54 {
//     for L0 j: i32 in 0 .. m {
//       for L1 i: i32 in 0 .. n step 2 {
//         S0@56: y[j][i] = x[i]
//         S1@57: y[j][i + 1] = x[i + 1]
//       }
//     }
//   }
// }
