// run: read -O3
// Loops that count with types narrower than `int`.
#include <stdint.h>
void window(int n, int m, const float *a, float *b)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) {
            float s = 0;
            for (int8_t y = -1; y <= 1; y++)
                for (short x = 1; x >= -1; x--)
                    s += a[(i + y) * m + j + x];
            b[i * m + j] = s;
        }
}
void up_to(uint8_t n, int m, double *a)
{
    for (uint8_t i = 0; i < n; i++)
        a[i] = i / 2 - 1;
    for (uint16_t i = 0; i < m; i += 2)
        a[i] += 1;
}
void endless(int8_t n, double *a)
{
    for (uint8_t i = 0; i <= 255; i++)
        a[i] = 0;
    for (uint8_t i = 9; i >= 0; i--)
        a[i] = 1;
    for (uint8_t i = -1; i < 10; i++)
        a[i] = 2;
    for (int8_t i = 0; i < n; i += 3)
        a[i] = 3;
}
// ----
// program window {
//   symbol P0 n: i32
//   symbol P1 m: i32
//   array A0 s: f32 body(L1)
//   array A1 a: f32[?][m] param linear
//   array A2 b: f32[?][m] param linear
//   may_alias a b
//   dataflow { N0 }
//   nest N0 in window span 147 .. 427 line 6 {
//     for L0 i: i32 in 1 .. n - 1 {
//       for L1 j: i32 in 1 .. m - 1 {
//         S0@8: s = 0
//         for L2 y: i32 in -1 .. 2 {
//           for L3 x: i32 in -1 .. 2 step -1 {
//             S1@11: s += a[i + y][j + x]
//           }
//         }
//         S2@12: b[i][j] = s
//       }
//     }
//   }
// }
// program up_to {
//   symbol P0 n: u8
//   symbol P1 m: i32
//   assume n >= 0
//   array A0 a: f64[?] param
//   entry N0 test(-n >= -255)
//   entry N1 test(-m - 1 >= -65535)
//   dataflow { N0 N1 }
//   nest N0 in up_to span 476 .. 533 line 17 mentions(n) {
//     for L0 i: i32 in 0 .. n {
//       S0@18: a[i] = i / 2 - 1
//     }
//   }
//   nest N1 in up_to span 538 .. 592 line 19 mentions(m) {
//     for L0 i: i32 in 0 .. m step 2 {
//       S0@20: a[i] += 1
//     }
//   }
// }
// program endless {
//   symbol P0 n: i8
//   array A0 a: f64[?] param
//   entry N0 test(-n - 2 >= -127)
//   sequence {
//     opaque "a loop that stays as it is" reads(a) writes(a)
//     dataflow { N0 }
//   }
//   nest N0 in endless span 803 .. 854 line 30 mentions(n) {
//     for L0 i: i32 in 0 .. n step 3 {
//       S0@31: a[i] = 3
//     }
//   }
// }
// warning: the loop's variable `i` may not hold all numbers that it counts to
//   --> t.c:24:5
//    |
// 24 |     for (uint8_t i = 0; i <= 255; i++)
//    |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the loop at line 24 stays as it is
//    |
//    = help: count with `int`, `long` or `size_t`
// warning: the loop's variable `i` may not hold all numbers that it counts to
//   --> t.c:26:5
//    |
// 26 |     for (uint8_t i = 9; i >= 0; i--)
//    |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the loop at line 26 stays as it is
//    |
//    = help: count with `int`, `long` or `size_t`
// warning: the loop's variable `i` may not hold all numbers that it counts to
//   --> t.c:28:5
//    |
// 28 |     for (uint8_t i = -1; i < 10; i++)
//    |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the loop at line 28 stays as it is
//    |
//    = help: count with `int`, `long` or `size_t`
