// run: read -O3
// Numbers that are brought back into a range, step by step: one step where a test shows that it is enough.
void periodic(int n, int h, const double *restrict in, const double *restrict w, double *restrict out)
{
    for (int x = 0; x < n; x++) {
        double sum = 0;
        for (int i = -h; i <= h; i++) {
            int j = x + i;
            while (j < 0)
                j += n;
            while (j >= n) {
                j -= n;
            }
            sum += in[j] * w[i + h];
        }
        out[x] = sum;
    }
}
void hours(int n, const double *restrict a, double *restrict b)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 24; k++) {
            int t = k + 30;
            while (t >= 24)
                t -= 24;
            b[i * 24 + k] = a[t];
        }
}
void by_memory(int n, const int *restrict step, const double *restrict a, double *restrict b)
{
    for (int i = 0; i < n; i++) {
        int j = i + step[i];
        while (j >= n)
            j -= n;
        b[i] = a[j];
    }
}
void not_alone(int n, int m, const double *restrict a, double *restrict b)
{
    for (int i = 0; i < n; i++) {
        int j = i, turns = 0;
        while (j >= m) {
            j -= m;
            turns++;
        }
        b[i] = a[j] * turns;
    }
}
// ----
// program periodic {
//   symbol P0 n: i32
//   symbol P1 h: i32
//   array A0 sum: f64 body(L0)
//   array A1 j: i32 body(L1)
//   array A2 in: f64[?] param
//   array A3 w: f64[?] param
//   array A4 out: f64[?] param
//   entry N0 test(n - h >= 0)
//   dataflow { N0 }
//   nest N0 in periodic span 234 .. 546 line 5 mentions(n, h) {
//     for L0 x: i32 in 0 .. n {
//       S0@6: sum = 0
//       for L1 i: i32 in -h .. h + 1 {
//         S4@14: sum += in.A2[(x + i < 0 ? x + i + n : x + i) >= n ? (x + i < 0 ? x + i + n : x + i) - n : x + i < 0 ? x + i + n : x + i] * w[i + h]
//       }
//       S5@16: out[x] = sum
//     }
//   }
// }
// program hours {
//   symbol P0 n: i32
//   array A0 t: i32 body(L1)
//   array A1 b: f64[?][24] param linear
//   array A2 a: f64[?] param
//   dataflow { N0 }
//   nest N0 in hours span 619 .. 810 line 21 {
//     for L0 i: i32 in 0 .. n {
//       for L1 k: i32 in 0 .. 24 {
//         S2@26: b[i][k] = a[k + 30 + (k + 30) / 24 * -24]
//       }
//     }
//   }
// }
// program by_memory {
//   symbol P0 n: i32
//   symbol P1 i: i32
//   symbol P2 "step[i]": i32
//   symbol P3 "((long)n > 0 && (-(long)n + (long)i + (long)step[i] + 1L) > 0 ? ((-(long)n + (long)i + (long)step[i] + 1L) - 1) / (long)n + 1 : 0)": i64
//   symbol P4 "((long)((long)n > 0 && (-(long)n + (long)i + (long)step[i] + 1L) > 0 ? ((-(long)n + (long)i + (long)step[i] + 1L) - 1) / (long)n + 1 : 0) > 0L ? ((-(long)n + (long)i + (long)step[i]) - ((long)n * ((long)((long)n > 0 && (-(long)n + (long)i + (long)step[i] + 1L) > 0 ? ((-(long)n + (long)i + (long)step[i] + 1L) - 1) / (long)n + 1 : 0) - 1L))) : 0L)": i64
//   assume P3 >= 0
//   assume P4 >= 0
//   array A0 step: i32[?] param
//   array A1 j: i32 local
//   load P2 step.A0[i]
//   loop i in 0 .. n {
//     sequence {
//       opaque "not a loop" reads(step.A0) writes(j)
//       dataflow { N0 }
//       opaque "not a loop" reads(j) writes()
//     }
//   }
//   nest N0 in by_memory span 980 .. 1014 line 33 live_out(j) mentions(n, i, P2, P3) {
//     for L1 j: i32 in 0 .. P3 {
//     }
//     S0@33: j = -n * P3 + (i + P2)
//   }
// }
// program not_alone {
//   symbol P0 n: i32
//   symbol P1 i: i32
//   symbol P2 "(j)": i32
//   symbol P3 m: i32
//   symbol P4 "((long)m > 0 && ((long)(j) - (long)m + 1L) > 0 ? (((long)(j) - (long)m + 1L) - 1) / (long)m + 1 : 0)": i64
//   symbol P5 "((long)((long)m > 0 && ((long)(j) - (long)m + 1L) > 0 ? (((long)(j) - (long)m + 1L) - 1) / (long)m + 1 : 0) > 0L ? (((long)(j) - (long)m) - ((long)m * ((long)((long)m > 0 && ((long)(j) - (long)m + 1L) > 0 ? (((long)(j) - (long)m + 1L) - 1) / (long)m + 1 : 0) - 1L))) : 0L)": i64
//   assume P4 >= 0
//   assume P5 >= 0
//   array A0 j: i32 local
//   array A1 turns: i32 local
//   load P2 j
//   entry N0 test(m >= 1)
//   loop i in 0 .. n {
//     sequence {
//       opaque "not a loop" reads() writes(j, turns)
//       dataflow { N0 }
//       opaque "not a loop" reads(j, turns) writes()
//     }
//   }
//   nest N0 in not_alone span 1193 .. 1260 line 42 live_out(j, turns) mentions(P2, m, P4) {
//     for L1 j: i32 in 0 .. P4 {
//       S0@44: turns += 1
//     }
//     S1@42: j = -m * P4 + P2
//   }
// }
// note: the first value of `j`, which does not step by a constant, may change in the nest
//   --> t.c:32:17
//    |
// 32 |         int j = i + step[i];
//    |                 ^^^^^^^^^^^ the loop at line 31 stays as it is
//    |
//    = help: copy it into a variable before the nest
// note: the value of `j` after the loop may be used later
//   --> t.c:42:9
//    |
// 42 |         while (j >= m) {
//    |         ^^^ the loop at line 40 stays as it is
//    |
//    = help: declare it in the loop, `for (int j = ...`, or use another variable afterwards
