// run: read -O3
// `continue` in branches at the end of the body: what stands behind it there is in an `if`.
static float s[50000][100], n[100];
static int sen[1000];
void sum(int len, int rep)
{
    for (int r = 0; r < rep; r++)
        for (int a = 0; a < len; a++) if (a != 5) {
            int last = sen[a];
            if (last == -1) continue;
            for (int c = 0; c < 100; c++) n[c] += s[last][c];
        }
}
// What comes behind the branch is done unless the turn was skipped in it.
void behind(int m, const int *x, int *y, int *z)
{
    for (int i = 0; i < m; i++) {
        {
            if (x[i] < 0) continue;
            y[i] = 1;
            if (x[i] == 3) continue;
            y[i] = 2;
        }
        z[i] = y[i];
    }
}
// ----
// program sum {
//   symbol P0 rep: i32
//   symbol P1 len: i32
//   array A0 sen: i32[1000] global
//   array A1 n: f32[100] global
//   array A2 s: f32[50000][100] global
//   dataflow { N0 }
//   nest N0 in sum span 201 .. 423 line 7 {
//     for L0 r: i32 in 0 .. rep {
//       for L1 a: i32 in 0 .. len {
//         if a != 5 {
//           if sen[a] != -1 {
//             for L2 c: i32 in 0 .. 100 {
//               S0@11: n[c] += s[sen[a]][c]
//             }
//           }
//         }
//       }
//     }
//   }
// }
// program behind {
//   symbol P0 m: i32
//   array A0 x: i32[?] param
//   array A1 y: i32[?] param
//   array A2 z: i32[?] param
//   may_alias x y
//   may_alias x z
//   may_alias y z
//   dataflow { N0 }
//   nest N0 in behind span 556 .. 749 line 17 {
//     for L0 i: i32 in 0 .. m {
//       if x[i] >= 0 {
//         S0@20: y[i] = 1
//         if x[i] != 3 {
//           S1@22: y[i] = 2
//           S2@24: z[i] = y[i]
//         }
//       }
//     }
//   }
// }
