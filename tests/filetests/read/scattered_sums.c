// run: read -O3
// How far sums are scattered is found out before the nest, so that threads can have parts of their own. Where an index also leads to
// another array, the conditions behind that do not matter.
typedef struct { double x, y; } vec;
void pairs(int n, const int *start, const int *list, const double *r, double *f)
{
    for (int i = 0; i < n; i++)
        for (int k = start[i]; k < start[i + 1]; k++) {
            int j = list[k];
            double d = r[i] - r[j];
            if (d * d < 0.25) {
                f[j] -= d;
                f[i] += d;
            }
        }
}
void among_own(int n, int n_own, const int *list, const double *r, vec *f)
{
    for (int i = 0; i < n; i++)
        if (r[list[i]] > 0 && list[i] < n_own)
            f[list[i]].x += r[i];
}
void set_too(int n, const int *list, const double *r, double (*f)[3])
{
    for (int i = 0; i < n; i++) {
        f[list[i]][0] += r[i];
        f[list[i]][1] = 0;
    }
}
void most(int n, const int *list, const double *r, double *f)
{
    for (int i = 0; i < n; i++)
        if (r[list[i]] > 0)
            f[list[i]] = f[list[i]] > r[i] ? f[list[i]] : r[i];
}
// ----
// program pairs {
//   symbol P0 n: i32
//   symbol P1 oxeye_first_element_2: i64
//   symbol P2 oxeye_last_element_2: i64
//   symbol P3 oxeye_first_element_4: i64
//   symbol P4 oxeye_last_element_4: i64
//   array A0 start: i32[?] param
//   array A1 list: i32[?] param
//   array A2 r: f64[?] param
//   array A3 d: f64 body(L1)
//   array A4 f: f64[?] param
//   may_alias r f
//   entry N0 reach A2 (P1 .. P2) reach A4 (P3 .. P4) scan(for L0 i: i32 in 0 .. n any if (i64) start[i] < (i64) start[i + 1] : P1 min= i, P2 max= i, P3 min= i, P4 max= i) scan(for L0 i: i32 in 0 .. n for L1 k: i32 in data(start[i]) .. data(start[i + 1]) : P1 min= list[k], P2 max= list[k], P3 min= list[k], P4 max= list[k])
//   dataflow { N0 }
//   nest N0 in pairs span 335 .. 593 line 7 bounded(f) {
//     for L0 i: i32 in 0 .. n {
//       for L1 k: i32 in data(start[i]) .. data(start[i + 1]) {
//         S0@10: d = r[i] - r[list[k]]
//         if d * d < 0.25 {
//           S1@12: f[list[k]] -= d
//           S2@13: f[i] += d
//         }
//       }
//     }
//   }
// }
// program among_own {
//   symbol P0 n: i32
//   symbol P1 n_own: i32
//   symbol P2 oxeye_first_element_2: i64
//   symbol P3 oxeye_last_element_2: i64
//   array A0 list: i32[?] param
//   array A1 r: f64[?] param
//   array A2 "f[].x": f64[?] global
//   may_alias r A2
//   view A2 "f[].x" "vec *f" record 16 (0 1)
//   entry N0 reach A2 (P2 .. P3) scan(for L0 i: i32 in 0 .. n any if list[i] < n_own : P2 min= list[i], P3 max= list[i])
//   dataflow { N0 }
//   nest N0 in among_own span 677 .. 785 line 19 bounded(A2) {
//     for L0 i: i32 in 0 .. n {
//       if r[list[i]] > 0 && list[i] < n_own {
//         S0@21: A2[list[i]] += r[i]
//       }
//     }
//   }
// }
// program set_too {
//   symbol P0 n: i32
//   symbol P1 oxeye_first_element_1: i64
//   symbol P2 oxeye_last_element_1: i64
//   array A0 list: i32[?] param
//   array A1 f: f64[?][3] param
//   array A2 r: f64[?] param
//   may_alias f r
//   entry N0 reach A1 (P1 .. P2) scan(for L0 i: i32 in 0 .. n : P1 min= list[i], P2 max= list[i])
//   dataflow { N0 }
//   nest N0 in set_too span 864 .. 957 line 25 bounded(f) {
//     for L0 i: i32 in 0 .. n {
//       S0@26: f[list[i]][0] += r[i]
//       S1@27: f[list[i]][1] = 0
//     }
//   }
// }
// program most {
//   symbol P0 n: i32
//   array A0 list: i32[?] param
//   array A1 r: f64[?] param
//   array A2 f: f64[?] param
//   may_alias r f
//   dataflow { N0 }
//   nest N0 in most span 1028 .. 1147 line 32 {
//     for L0 i: i32 in 0 .. n {
//       if r[list[i]] > 0 {
//         S0@34: f[list[i]] max= r[i]
//       }
//     }
//   }
// }
