// run: read -O3
// What is stored in a `_Bool` is whether it is not zero: in arrays, of callers, in tables, in values of functions.
static int clamped(int x, int n, _Bool *out)
{
    if (x < 0) {
        x = 0;
        *out = 7;
    } else if (x >= n) {
        x = n - 1;
        *out = 1;
    }
    return x;
}
static _Bool is_large(double v) { return v > 2 ? 2 : 0; }
void warp(int n, const double *from, const int *by, double *to, _Bool *seen)
{
    for (int i = 0; i < n; i++) {
        _Bool out = 0, both[2] = { by[i], 0 };
        int at = clamped(i + by[i], n, &out);
        to[i] = out ? 0 : from[at] + both[0];
        seen[i] |= 4 * is_large(from[i]);
        seen[i] = seen[i] - by[i];
    }
}
// ----
// program warp {
//   symbol P0 n: i32
//   array A0 out: u8 body(L0) ctype "_Bool"
//   array A1 both: u8[2] body(L0) ctype "_Bool"
//   array A2 by: i32[?] param
//   array A3 clamped: i32 body(L0)
//   array A4 x: i32 body(L0)
//   array A5 at: i32 body(L0)
//   array A6 to: f64[?] param
//   array A7 from: f64[?] param
//   array A8 seen: u8[?] param ctype "_Bool"
//   may_alias to from
//   dataflow { N0 }
//   nest N0 in warp span 455 .. 706 line 17 {
//     for L0 i: i32 in 0 .. n {
//       S0@18: out = 0 != 0
//       S1@18: both[0] = by[i] != 0
//       S2@18: both[1] = 0 != 0
//       S3@19: x = i + by[i]
//       if x < 0 {
//         S4@6: x = 0
//         S5@7: out = 7 != 0
//       } else {
//         if x >= n {
//           S6@9: x = n - 1
//           S7@10: out = 1 != 0
//         }
//       }
//       S8@12: clamped = x
//       S9@19: at = clamped
//       S10@20: to[i] = out ? 0 : from[at] + both[0]
//       S11@21: seen[i] = (seen[i] | 4 * ((from[i] > 2 ? 2 : 0) != 0)) != 0
//       S12@22: seen[i] = seen[i] - by[i] != 0
//     }
//   }
// }
