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
// warning: the loop's first value depends on what its header sets before it
//  --> t.c:6:15
//   |
// 6 |     for (i++; i < m; i++)
//   |               ^^^^^ the loop at line 6 stays as it is
//   |
//   = help: set that before the loop
// warning: the loop's first value depends on what its header sets before it
//   --> t.c:12:25
//    |
// 12 |     for (k = n + 1, i = k; i < m; i++)
//    |                         ^ the loop at line 12 stays as it is
//    |
//    = help: set that before the loop
