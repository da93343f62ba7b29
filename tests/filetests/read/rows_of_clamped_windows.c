// run: read -O3
// Rows behind pointers by clamped indices, as at the borders of images.
void sums(int nx, int ny, float **u, float **s)
{
    int i, j, k, l, k2, l2;
    float sum;
    for (i = 1; i <= nx; i++)
        for (j = 1; j <= ny; j++) {
            sum = 0;
            for (k = i - 1; k <= i + 1; k++)
                for (l = j - 1; l <= j + 1; l++) {
                    k2 = k < 1 ? 1 : k;
                    k2 = k2 > nx ? nx : k2;
                    l2 = l < 1 ? 1 : l;
                    l2 = l2 > ny ? ny : l2;
                    sum += u[k2][l2];
                }
            s[i][j] = sum;
        }
}
void narrowed(long nx, long ny, float **u, float **s)
{
    long i, j;
    int k, l, k2, l2;
    float sum;
    for (i = 1; i <= nx; i++)
        for (j = 1; j <= ny; j++) {
            sum = 0;
            for (k = i - 1; k <= i + 1; k++)
                for (l = j - 1; l <= j + 1; l++) {
                    k2 = k < 1 ? 1 : k;
                    k2 = k2 > nx ? nx : k2;
                    l2 = l < 1 ? 1 : l;
                    l2 = l2 > ny ? ny : l2;
                    sum += u[k2][l2];
                }
            s[i][j] = sum;
        }
}
// ----
// program sums {
//   symbol P0 nx: i32
//   symbol P1 ny: i32
//   symbol P2 "(&u[1][0] - &u[0][0])": i64
//   symbol P3 "(&s[1][0] - &s[0][0])": i64
//   symbol P4 oxeye_first_row_3: i64
//   symbol P5 oxeye_last_row_3: i64
//   symbol P6 oxeye_first_element_3: i64
//   symbol P7 oxeye_last_element_3: i64
//   array A0 sum: f32 local
//   array A1 k2: i32 local
//   array A2 l2: i32 local
//   array A3 u: f32[?][P2] param linear
//   array A4 s: f32[?][P3] param linear
//   may_alias u s
//   entry N0 reached(1 < nx + 1 && 1 < ny + 1) rows A3 used(oxeye_first_row_3 <= oxeye_last_row_3)(oxeye_first_row_3 .. oxeye_last_row_3)(oxeye_first_element_3 .. oxeye_last_element_3) rows A4 (1 .. nx)(1 .. ny) scan(for L0 i: i32 in 1 .. nx + 1 for L2 k: i32 in i - 1 .. i + 2 any if 1 < ny + 1 : P4 min= min(nx, max(1, k)), P5 max= min(nx, max(1, k))) scan(for L1 j: i32 in 1 .. ny + 1 any if 1 < nx + 1 : P6 min= min(ny, max(1, j - 1)), P7 max= min(ny, max(1, j + 1)))
//   dataflow { N0 }
//   nest N0 in sums span 187 .. 626 line 7 {
//     for L0 i: i32 in 1 .. nx + 1 {
//       for L1 j: i32 in 1 .. ny + 1 {
//         S0@9: sum = 0
//         for L2 k: i32 in i - 1 .. i + 2 {
//           for L3 l: i32 in j - 1 .. j + 2 {
//             S5@16: sum += u[min(nx, max(1, k))][min(ny, max(1, l))]
//           }
//         }
//         S6@18: s[i][j] = sum
//       }
//     }
//   }
// }
// program narrowed {
//   symbol P0 nx: i64
//   symbol P1 ny: i64
//   symbol P2 "(&u[1][0] - &u[0][0])": i64
//   symbol P3 "(&s[1][0] - &s[0][0])": i64
//   symbol P4 oxeye_first_row_3: i64
//   symbol P5 oxeye_last_row_3: i64
//   symbol P6 oxeye_first_element_3: i64
//   symbol P7 oxeye_last_element_3: i64
//   array A0 sum: f32 local
//   array A1 k2: i32 local
//   array A2 l2: i32 local
//   array A3 u: f32[?][P2] param linear
//   array A4 s: f32[?][P3] param linear
//   may_alias u s
//   entry N0 reached(1 < nx + 1 && 1 < ny + 1) rows A3 used(oxeye_first_row_3 <= oxeye_last_row_3)(oxeye_first_row_3 .. oxeye_last_row_3)(oxeye_first_element_3 .. oxeye_last_element_3) rows A4 (1 .. nx)(1 .. ny) scan(for L0 i: i64 in 1 .. nx + 1 for L2 k: i32 in i - 1 .. i + 2 any if 1 < ny + 1 : P4 min= min(nx, max(1, k)), P5 max= min(nx, max(1, k))) scan(for L1 j: i64 in 1 .. ny + 1 any if 1 < nx + 1 : P6 min= min(ny, max(1, j - 1)), P7 max= min(ny, max(1, j + 1)))
//   dataflow { N0 }
//   nest N0 in narrowed span 741 .. 1180 line 26 {
//     for L0 i: i64 in 1 .. nx + 1 {
//       for L1 j: i64 in 1 .. ny + 1 {
//         S0@28: sum = 0
//         for L2 k: i32 in i - 1 .. i + 2 {
//           for L3 l: i32 in j - 1 .. j + 2 {
//             S5@35: sum += u[min(nx, max(1, k))][min(ny, max(1, l))]
//           }
//         }
//         S6@37: s[i][j] = sum
//       }
//     }
//   }
// }
