// run: read -O3
// What a header sets before the first value of its variable counts in it.
void by_one(int m, int n, double *y)
{
    int i = n;
    for (i++; i < m; i++)
        y[i] = 3;
}
void by_another(int m, int n, double *y)
{
    int i, k = 7;
    for (k = n + 1, i = k; i < m; i++)
        y[i] = k;
}
void behind(int m, int n, double *y)
{
    int i, k;
    for (i = 0, k = i + n; i < m; i++, k++)
        y[i] += 3 * k;
}
// ----
// program by_one {
//   symbol P0 "(i)": i32
//   symbol P1 m: i32
//   array A0 i: i32 local
//   array A1 y: f64[?] param
//   load P0 i
//   sequence {
//     opaque "not a loop" reads() writes(i)
//     dataflow { N0 }
//   }
//   nest N0 in by_one span 150 .. 189 line 6 {
//     S0@6: i += 1
//     for L0 i: i32 in P0 .. m {
//       S1@7: y[i.L0] = 3
//     }
//   }
// }
// program by_another {
//   symbol P0 "(k)": i32
//   symbol P1 n: i32
//   symbol P2 m: i32
//   array A0 k: i32 local
//   array A1 y: f64[?] param
//   load P0 k
//   entry N0 test(P0 == 7)
//   sequence {
//     opaque "not a loop" reads() writes(k)
//     dataflow { N0 }
//   }
//   nest N0 in by_another span 257 .. 309 line 12 mentions(P0) {
//     for L0 i: i32 in 7 .. m {
//       S1@13: y[i] = n + 1
//     }
//   }
// }
// program behind {
//   symbol P0 n: i32
//   symbol P1 m: i32
//   array A0 y: f64[?] param
//   dataflow { N0 }
//   nest N0 in behind span 369 .. 431 line 18 {
//     for L0 i: i32 in 0 .. m {
//       S0@19: y[i] += 3*i + 3*n
//     }
//   }
// }
