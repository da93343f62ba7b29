// run: read -O3
// How far a nest reaches in arrays is found out before it where numbers from memory decide it: pointers may overlap.
#include <stdio.h>
#include <stdlib.h>
struct csr { int n; int *rowptr, *col; double *val; };
void spmv(const struct csr *A, const double *x, double *y)
{
    int i, k;
    for (i = 0; i < A->n; i++) {
        double sum = 0.0;
        for (k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            sum += A->val[k] * x[A->col[k]];
        y[i] = sum;
    }
}
void spmv2(int n, const int *rowptr, const int *col, const double *val, const double *x, double *y)
{
    int i, k;
    for (i = 0; i < n; i++) {
        double sum = 0.0;
        for (k = rowptr[i]; k < rowptr[i + 1]; k++)
            sum += val[k] * x[col[k]];
        y[i] = sum;
    }
}
// ----
// program spmv {
//   symbol P0 "A->n": i32
//   symbol P1 oxeye_first_element_2: i64
//   symbol P2 oxeye_last_element_2: i64
//   symbol P3 oxeye_first_element_4: i64
//   symbol P4 oxeye_last_element_4: i64
//   array A0 sum: f64 body(L0)
//   array A1 "A->rowptr": i32[?] global
//   array A2 "A->val": f64[?] global
//   array A3 "A->col": i32[?] global
//   array A4 x: f64[?] param
//   array A5 y: f64[?] param
//   may_alias A2 y
//   may_alias x y
//   view P0 "A*.n" "struct csr *A"
//   view A1 "A*.rowptr" "struct csr *A" loaded
//   view A2 "A*.val" "struct csr *A" loaded
//   view A3 "A*.col" "struct csr *A" loaded
//   entry N0 reach A2 (P1 .. P2) reach A4 (P3 .. P4) scan(for L0 i: i32 in 0 .. P0 any if (i64) A1[i] < (i64) A1[i + 1] : P1 min= (i64) A1[i], P2 max= (i64) A1[i + 1] + -1) scan(for L0 i: i32 in 0 .. P0 for L1 k: i32 in data(A1[i]) .. data(A1[i + 1]) : P3 min= A3[k], P4 max= A3[k])
//   dataflow { N0 }
//   nest N0 in spmv span 308 .. 491 line 9 {
//     for L0 i: i32 in 0 .. P0 {
//       S0@10: sum = 0.0
//       for L1 k: i32 in data(A1[i]) .. data(A1[i + 1]) {
//         S1@12: sum += A2[k] * x[A3[k]]
//       }
//       S2@13: y[i] = sum
//     }
//   }
// }
// program spmv2 {
//   symbol P0 n: i32
//   symbol P1 oxeye_first_element_2: i64
//   symbol P2 oxeye_last_element_2: i64
//   symbol P3 oxeye_first_element_4: i64
//   symbol P4 oxeye_last_element_4: i64
//   array A0 sum: f64 body(L0)
//   array A1 rowptr: i32[?] param
//   array A2 val: f64[?] param
//   array A3 col: i32[?] param
//   array A4 x: f64[?] param
//   array A5 y: f64[?] param
//   may_alias val y
//   may_alias x y
//   entry N0 reach A2 (P1 .. P2) reach A4 (P3 .. P4) scan(for L0 i: i32 in 0 .. n any if (i64) rowptr[i] < (i64) rowptr[i + 1] : P1 min= (i64) rowptr[i], P2 max= (i64) rowptr[i + 1] + -1) scan(for L0 i: i32 in 0 .. n for L1 k: i32 in data(rowptr[i]) .. data(rowptr[i + 1]) : P3 min= col[k], P4 max= col[k])
//   dataflow { N0 }
//   nest N0 in spmv2 span 614 .. 782 line 19 {
//     for L0 i: i32 in 0 .. n {
//       S0@20: sum = 0.0
//       for L1 k: i32 in data(rowptr[i]) .. data(rowptr[i + 1]) {
//         S1@22: sum += val[k] * x[col[k]]
//       }
//       S2@23: y[i] = sum
//     }
//   }
// }
