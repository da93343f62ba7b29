// run: group
// Loops that hand arrays on, with scalars between them: one nest of several roots.
void blur(int n, int m, const float *restrict in, float *restrict out)
{
    static float tmp[512][512];
    float s = 0.0f;
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m - 1; j++)
            tmp[i][j] = in[i * m + j - 1] + in[i * m + j] + in[i * m + j + 1];
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m - 1; j++)
            s += tmp[i][j];
    s = s / 9.0f;
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            out[i * m + j] = tmp[i - 1][j] + tmp[i][j] + tmp[i + 1][j] - s;
}
// ----
// program blur {
//   symbol P0 n: i32
//   symbol P1 m: i32
//   array A0 tmp: f32[512][512] local
//   array A1 in: f32[?][m] param linear
//   array A2 s: f32 local
//   array A3 out: f32[?][m] param linear
//   sequence {
//     opaque "not a loop" reads() writes(s)
//     dataflow { N0 }
//   }
//   nest N0 in blur span 227 .. 643 line 7 {
//     for L0 i: i32 in 0 .. n {
//       for L1 j: i32 in 1 .. m - 1 {
//         S0@9: tmp[i][j] = in.A1[i][j - 1] + in.A1[i][j] + in.A1[i][j + 1]
//       }
//     }
//     for L2 i: i32 in 0 .. n {
//       for L3 j: i32 in 1 .. m - 1 {
//         S1@12: s += tmp[i][j]
//       }
//     }
//     S2@13: s /= 9.0f
//     for L4 i: i32 in 1 .. n - 1 {
//       for L5 j: i32 in 1 .. m - 1 {
//         S3@16: out[i][j] = tmp[i - 1][j] + tmp[i][j] + tmp[i + 1][j] - s
//       }
//     }
//   }
// }
