// run: read -O3
// Of unsigned and wide numbers in memory nothing is assumed: they stay of their types.
void hashes(int n, const unsigned long *h, const double *x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] = x[h[i] % 10] + x[h[i] >> 60];
}
void narrowed(int n, const unsigned *col, const long *at, const double *x, double *restrict y)
{
    for (int i = 0; i < n; i++) {
        int c = (int)col[i];
        y[i] = x[c < 0 ? 0 : c] + x[(int)at[i] % 10];
    }
}
void sums(int n, const unsigned *col, const double *x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] = x[col[i] + 4u] + x[(col[i] + 4u) % 10u];
}
void size(int n, unsigned long s, const double *x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] = x[s % 10] + x[i];
}
int names(int n, const int *col, const double *x, double *y, double *z, int *rp)
{
    for (int i = 0; i < n; i++) {
        rp[i + 1] = rp[i] + 1;
        z[i] = x[col[rp[i]]];
    }
    return 0;
}
// ----
// program hashes {
//   symbol P0 n: i32
//   array A0 y: f64[?] param
//   array A1 h: u64[?] param
//   array A2 x: f64[?] param
//   dataflow { N0 }
//   nest N0 in hashes span 191 .. 263 line 5 {
//     for L0 i: i32 in 0 .. n {
//       S0@6: y[i] = x[h[i] % 10] + x[h[i] >> 60]
//     }
//   }
// }
// program narrowed {
//   symbol P0 n: i32
//   array A0 col: u32[?] param
//   array A1 y: f64[?] param
//   array A2 x: f64[?] param
//   array A3 at: i64[?] param
//   dataflow { N0 }
//   nest N0 in narrowed span 367 .. 485 line 10 {
//     for L0 i: i32 in 0 .. n {
//       S0@12: y[i] = x[max(0, (i32) col[i])] + x[(i32) at[i] % 10]
//     }
//   }
// }
// program sums {
//   symbol P0 n: i32
//   array A0 y: f64[?] param
//   array A1 col: u32[?] param
//   array A2 x: f64[?] param
//   dataflow { N0 }
//   nest N0 in sums span 569 .. 652 line 17 {
//     for L0 i: i32 in 0 .. n {
//       S0@18: y[i] = x[col[i] + (u32) 4] + x[(col[i] + (u32) 4) % (u32) 10]
//     }
//   }
// }
// program size {
//   symbol P0 n: i32
//   symbol P1 s: u64
//   assume s >= 0
//   array A0 y: f64[?] param
//   array A1 x: f64[?] param
//   entry N0 test(s >= 0)
//   dataflow { N0 }
//   nest N0 in size span 732 .. 792 line 22 {
//     for L0 i: i32 in 0 .. n {
//       S0@23: y[i] = x[s % 10] + x[i]
//     }
//   }
// }
// program names {
//   symbol P0 n: i32
//   array A0 rp: i32[?] param
//   array A1 z: f64[?] param
//   array A2 col: i32[?] param
//   array A3 x: f64[?] param
//   may_alias rp col
//   may_alias z x
//   dataflow { N0 }
//   nest N0 in names span 882 .. 978 line 27 {
//     for L0 i: i32 in 0 .. n {
//       S0@28: rp[i + 1] = rp[i] + 1
//       S1@29: z[i] = x[col[rp[i]]]
//     }
//   }
// }
