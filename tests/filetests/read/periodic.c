// run: read -O3
// Subscripts with parts that are no sums get dimensions: what is left of the row length stays in the row.
void life(int n, const unsigned char *a, unsigned char *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int up = (i - 1 + n) % n, left = (j - 1 + n) % n, right = (j + 1) % n;
            b[i * n + j] = a[up * n + left] + a[i * n + right];
        }
}
void laplace(int nx, int ny, const double *u, double *v, double h)
{
    for (int i = 0; i < nx; i++) {
        int ip = i == nx - 1 ? 0 : i + 1;
        for (int j = 0; j < ny; j++) {
            int jm = j - 1, jp = j + 1;
            if (jm < 0) jm = ny - 1;
            if (jp == ny) jp = 0;
            int before = j == 0 ? j + ny - 1 : j - 1;
            v[i * ny + j] = (u[ip * ny + j] + u[i * ny + jm] + u[i * ny + jp] + u[i * ny + before]) / (h * h);
        }
    }
}
static int around(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }
void masked(int nx, int ny, const float *u, float *v, int *s)
{
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++)
            v[j * nx + i] = u[around(j, ny) * nx + around(i - 1, nx)] + u[around(j + 1, ny) * nx + around(i + 1, nx)];
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++)
            s[((i + 1) & 63) * 64 + ((j - 1) & 63)] = s[i * 64 + j];
}
// Which row it is may be anything; which element of the row may not.
void rows(int n, int m, const int *row, const int *col, const double *a, const double *x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        for (int k = row[i]; k < row[i + 1]; k++)
            for (int j = 0; j < m; j++)
                y[i * m + j] += a[k] * x[col[k] * m + j];
}
void elements(int n, int m, const int *col, const double *x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i * m + j] = x[i * m + col[j]];
}
// Products of unsigned numbers may wrap around.
void wrapped(int n, int m, const unsigned *row, const double *x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i * m + j] = x[row[i] * m + j];
}
// A remainder of what may be negative may be negative, too.
void left(int n, int m, const double *x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i * m + j] = x[i * m + (j - 1) % m];
}
// ----
// program life {
//   symbol P0 n: i32
//   array A0 b: u8[?][n] param linear
//   array A1 a: u8[?][n] param linear
//   may_alias b a
//   dataflow { N0 }
//   nest N0 in life span 189 .. 411 line 5 {
//     for L0 i: i32 in 0 .. n {
//       for L1 j: i32 in 0 .. n {
//         S0@8: b[i][j] = a[(i + n - 1) % n][(j + n - 1) % n] + a[i][(j + 1) % n]
//       }
//     }
//   }
// }
// program laplace {
//   symbol P0 nx: i32
//   symbol P1 ny: i32
//   array A0 jm: i32 body(L1)
//   array A1 jp: i32 body(L1)
//   array A2 v: f64[?][ny] param linear
//   array A3 u: f64[?][ny] param linear
//   array A4 h: f64 param
//   may_alias v u
//   dataflow { N0 }
//   nest N0 in laplace span 487 .. 890 line 13 {
//     for L0 i: i32 in 0 .. nx {
//       for L1 j: i32 in 0 .. ny {
//         S4@20: v[i][j] = (u[i == nx - 1 ? 0 : i + 1][j] + u[i][j - 1 < 0 ? ny - 1 : j - 1] + u[i][j + 1 == ny ? 0 : j + 1] + u[i][j == 0 ? j + ny - 1 : j - 1]) / (h * h)
//       }
//     }
//   }
// }
// program masked {
//   symbol P0 ny: i32
//   symbol P1 nx: i32
//   array A0 v: f32[?][nx] param linear
//   array A1 u: f32[?][nx] param linear
//   array A2 s: i32[?][64] param linear
//   may_alias v u
//   dataflow { N0 N1 }
//   nest N0 in masked span 1040 .. 1224 line 27 {
//     for L0 j: i32 in 0 .. ny {
//       for L1 i: i32 in 0 .. nx {
//         S0@29: v[j][i] = u[j < 0 ? j + ny : j >= ny ? j - ny : j][i - 1 < 0 ? i + nx - 1 : i - 1 >= nx ? i - nx - 1 : i - 1] + u[j + 1 < 0 ? j + ny + 1 : j + 1 >= ny ? j - ny + 1 : j + 1][i + 1 < 0 ? i + nx + 1 : i + 1 >= nx ? i - nx + 1 : i + 1]
//       }
//     }
//   }
//   nest N1 in masked span 1229 .. 1363 line 30 {
//     for L0 i: i32 in 0 .. 64 {
//       for L1 j: i32 in 0 .. 64 {
//         S0@32: s[i + 1 & 63][j - 1 & 63] = s[i][j]
//       }
//     }
//   }
// }
// program rows {
//   symbol P0 n: i32
//   symbol P1 m: i32
//   array A0 row: i32[?] param
//   array A1 y: f64[?][m] param linear
//   array A2 a: f64[?] param
//   array A3 col: i32[?] param
//   array A4 x: f64[?][m] param linear
//   dataflow { N0 }
//   nest N0 in rows span 1552 .. 1727 line 37 {
//     for L0 i: i32 in 0 .. n {
//       for L1 k: i32 in data(row[i]) .. data(row[i + 1]) {
//         for L2 j: i32 in 0 .. m {
//           S0@40: y[i][j] += a[k] * x[col[k]][j]
//         }
//       }
//     }
//   }
// }
// program elements {
//   symbol P0 n: i32
//   symbol P1 m: i32
//   array A0 y: f64[?][m] param linear
//   array A1 col: i32[?] param
//   array A2 x: f64[?] param
//   dataflow { N0 }
//   nest N0 in elements span 1817 .. 1926 line 44 {
//     for L0 i: i32 in 0 .. n {
//       for L1 j: i32 in 0 .. m {
//         S0@46: y[i][j] = x[i * m + col[j]]
//       }
//     }
//   }
// }
// program wrapped {
//   symbol P0 n: i32
//   symbol P1 m: i32
//   array A0 y: f64[?][m] param linear
//   array A1 row: u32[?] param
//   array A2 x: f64[?] param
//   dataflow { N0 }
//   nest N0 in wrapped span 2069 .. 2178 line 51 {
//     for L0 i: i32 in 0 .. n {
//       for L1 j: i32 in 0 .. m {
//         S0@53: y[i][j] = x[row[i] * m + j]
//       }
//     }
//   }
// }
// program left {
//   symbol P0 n: i32
//   symbol P1 m: i32
//   array A0 y: f64[?][m] param linear
//   array A1 x: f64[?] param
//   dataflow { N0 }
//   nest N0 in left span 2309 .. 2423 line 58 {
//     for L0 i: i32 in 0 .. n {
//       for L1 j: i32 in 0 .. m {
//         S0@60: y[i][j] = x[i * m + (j - 1) % m]
//       }
//     }
//   }
// }
