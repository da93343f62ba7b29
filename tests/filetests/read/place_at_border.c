// run: read -O3
// Rows and columns clamped to the image are functions of iterators, where they stand as indices.
void mean(long nx, long ny, float u[nx + 2][ny + 2], float u1[nx + 2][ny + 2])
{
    int k, k2, l, l2;
    long i, j;
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
                    sum += u1[k2][l2];
                }
            u[i][j] = sum;
        }
}

// Clamped one after the other.
void clamped(int n, int d, double a[restrict n], double b[restrict n])
{
    for (int i = 0; i < n; i++) {
        int left = i - d;
        if (left < 0)
            left = 0;
        if (left >= n)
            left = n - 1;
        b[i] = a[left];
    }
}

// A mirrored border, around which a condition decides.
void mirrored(int n, double a[restrict n], double b[restrict n])
{
    for (int i = 0; i < n; i++) {
        int left = i - 1;
        if (left < 0)
            left = -left;
        int right = i + 1 < n ? i + 1 : n - 2;
        b[i] = a[left] + a[right];
    }
}

// A ring.
void ring(int n, double a[restrict n], double b[restrict n])
{
    for (int i = 0; i < n; i++) {
        int right = i + 1;
        right %= n;
        int left = (i + n - 1) % n;
        b[i] = a[left] - a[right];
    }
}
// ----
// program mean {
//   symbol P0 nx: i64
//   symbol P1 ny: i64
//   assume ny + 1 >= 0
//   array A0 sum: f32 local
//   array A1 k2: i32 local
//   array A2 l2: i32 local
//   array A3 u1: f32[nx + 2][ny + 2] param
//   array A4 u: f32[nx + 2][ny + 2] param
//   may_alias u1 u
//   dataflow { N0 }
//   nest N0 in mean span 252 .. 692 line 8 {
//     for L0 i: i64 in 1 .. nx + 1 {
//       for L1 j: i64 in 1 .. ny + 1 {
//         S0@10: sum = 0
//         for L2 k: i32 in i - 1 .. i + 2 {
//           for L3 l: i32 in j - 1 .. j + 2 {
//             S5@17: sum += u1[min(nx, max(1, k))][min(ny, max(1, l))]
//           }
//         }
//         S6@19: u[i][j] = sum
//       }
//     }
//   }
// }
// program clamped {
//   symbol P0 n: i32
//   symbol P1 d: i32
//   array A0 left: i32 body(L0)
//   array A1 b: f64[n] param
//   array A2 a: f64[n] param
//   dataflow { N0 }
//   nest N0 in clamped span 805 .. 983 line 26 {
//     for L0 i: i32 in 0 .. n {
//       S0@27: left = i - d
//       if i - d < 0 {
//         S1@29: left = 0
//       }
//       if left >= n {
//         S2@31: left = n - 1
//       }
//       S3@32: b[i] = a[min(max(i - d, 0), n - 1)]
//     }
//   }
// }
// program mirrored {
//   symbol P0 n: i32
//   array A0 left: i32 body(L0)
//   array A1 b: f64[n] param
//   array A2 a: f64[n] param
//   dataflow { N0 }
//   nest N0 in mirrored span 1114 .. 1305 line 39 {
//     for L0 i: i32 in 0 .. n {
//       S2@44: b[i] = a[i - 1 < 0 ? 1 - i : i - 1] + a[i + 1 < n ? i + 1 : n - 2]
//     }
//   }
// }
// program ring {
//   symbol P0 n: i32
//   array A0 right: i32 body(L0)
//   array A1 b: f64[n] param
//   array A2 a: f64[n] param
//   dataflow { N0 }
//   nest N0 in ring span 1387 .. 1540 line 51 {
//     for L0 i: i32 in 0 .. n {
//       S2@55: b[i] = a[(i + n - 1) % n] - a[(i + 1) % n]
//     }
//   }
// }
