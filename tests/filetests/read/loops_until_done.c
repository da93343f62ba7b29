// run: read -O3
// Loops that nobody can count, inside of others: a binary search, a convergence, a walk with a jump out of it.
int below(const double *grid, int n, double q)
{
    int lo = 0, hi = n - 1;
    while (hi - lo > 1) {
        int mid = lo + (hi - lo) / 2;
        if (grid[mid] > q)
            hi = mid;
        else
            lo = mid;
    }
    return lo;
}
void look_up(int n, int m, const double *restrict grid, const double *restrict x, int *restrict at)
{
    for (int i = 0; i < n; i++)
        at[i] = below(grid, m, x[i]);
}
void roots(int n, const double *restrict a, double *restrict r)
{
    for (int i = 0; i < n; i++) {
        double x = a[i], next;
        int times = 0;
        do {
            next = 0.5 * (x + a[i] / x);
            if (next == x)
                break;
            x = next;
        } while (++times < 50);
        r[i] = x;
    }
}
void wrapped(int n, double box, double *x)
{
    for (int i = 0; i < n; i++) {
        while (x[i] > 0.5 * box)
            x[i] -= box;
        for (; x[i] < -0.5 * box; x[i] += box)
            ;
    }
}
// ----
// program look_up {
//   symbol P0 n: i32
//   symbol P1 m: i32
//   array A0 at: i32[?] param
//   array A1 x: f64[?] param
//   array A2 below: i32 body(L0)
//   array A3 lo: i32 body(L0)
//   array A4 hi: i32 body(L0)
//   array A5 left: i32 body(L0)
//   array A6 mid: i32 body(L1)
//   array A7 grid: f64[?] param
//   dataflow { N0 }
//   nest N0 in look_up span 483 .. 548 line 17 {
//     for L0 i: i32 in 0 .. n {
//       S0@5: lo = 0
//       S1@5: hi = m - 1
//       S2@6: left = 0
//       for L1 turn: i64 in 0 .. open() {
//         if !left {
//           if hi - lo > 1 {
//             S3@7: mid = lo + (hi - lo) / 2
//             if grid[mid] > x[i] {
//               S4@9: hi = mid
//             } else {
//               S5@11: lo = mid
//             }
//           } else {
//             S6@6: left = 1
//           }
//         }
//       }
//       S7@13: below = lo
//       S8@18: at[i] = below
//     }
//   }
// }
// program roots {
//   symbol P0 n: i32
//   array A0 a: f64[?] param
//   array A1 x: f64 body(L0)
//   array A2 next: f64 body(L0)
//   array A3 times: i32 body(L0)
//   array A4 left: i32 body(L0)
//   array A5 r: f64[?] param
//   dataflow { N0 }
//   nest N0 in roots span 621 .. 886 line 22 {
//     for L0 i: i32 in 0 .. n {
//       S0@23: x = a[i]
//       S2@25: left = 0
//       for L1 times: i32 in 0 .. 50 {
//         if !left {
//           S3@26: next = 0.5 * (x + a[i] / x)
//           if next == x {
//             S4@27: left = 1
//           } else {
//             S5@29: x = next
//           }
//         }
//       }
//       S6@31: r[i] = x
//     }
//   }
// }
// program wrapped {
//   symbol P0 n: i32
//   array A0 left: i32 body(L0)
//   array A1 x: f64[?] param
//   array A2 box: f64 param
//   array A3 left: i32 body(L0)
//   dataflow { N0 }
//   nest N0 in wrapped span 938 .. 1092 line 36 {
//     for L0 i: i32 in 0 .. n {
//       S0@37: left.A0 = 0
//       for L1 turn: i64 in 0 .. open() {
//         if !left.A0 {
//           if x[i] > 0.5 * box {
//             S1@38: x[i] -= box
//           } else {
//             S2@37: left.A0 = 1
//           }
//         }
//       }
//       S3@39: left.A3 = 0
//       for L2 turn: i64 in 0 .. open() {
//         if !left.A3 {
//           if x[i] < -0.5 * box {
//             S4@39: x[i] += box
//           } else {
//             S5@39: left.A3 = 1
//           }
//         }
//       }
//     }
//   }
// }
// warning: a `while` loop: how often it runs is not known beforehand
//  --> t.c:6:5
//   |
// 6 |     while (hi - lo > 1) {
//   |     ^^^^^ the loop at line 6 stays as it is
//   |
//   = help: write it as a `for` loop if it counts
