//! A packed matrix product with a register tile.

use crate::common::{rendered, same_results};
use oxeye_codegen::RenderOptions;

const GEMM: &str = r#"
program gemm {
  symbol P0 m: i32
  symbol P1 n: i32
  symbol P2 p: i32
  array A0 C: f64[m][n] param
  array A1 A: f64[m][p] param
  array A2 B: f64[p][n] param
  array A3 acc: f64[6][32] temp(L12) align 64
  array A4 A_pack: f64[16][256][6] temp(L2) align 64
  array A5 B_pack: f64[ceil_n][256][32] temp(L1) align 64
  dataflow { N0 N1 }
  nest N0 in gemm {
    for L0 i: i32 in 0 .. m {
      for L1 j: i32 in 0 .. n {
        for L2 k: i32 in 0 .. p {
          S0: C[i][j] += A[i][k] * B[k][j]
        }
      }
    }
  }
  nest N1 in gemm {
    for L1 kb: i32 in 0 .. ceil(p / 256) {
      for L20 jt: i32 in 0 .. ceil(n / 32) parallel {
        for L21 k: i32 in 0 .. min(256, p - 256 * kb) {
          for L22 j: i32 in 0 .. 32 {
            if (32 * jt + j < n) {
              S10: B_pack[jt][k][j] = B[256 * kb + k][32 * jt + j]
            } else {
              S11: B_pack[jt][k][j] = 0.0
            }
          }
        }
      }
      for L2 ib: i32 in 0 .. ceil(m / 96) parallel {
        for L30 it: i32 in 0 .. min(16, ceil((m - 96 * ib) / 6)) {
          for L31 k: i32 in 0 .. min(256, p - 256 * kb) {
            for L32 i: i32 in 0 .. 6 unrolled {
              if (96 * ib + 6 * it + i < m) {
                S20: A_pack[it][k][i] = A[96 * ib + 6 * it + i][256 * kb + k]
              } else {
                S21: A_pack[it][k][i] = 0.0
              }
            }
          }
        }
        for L11 jt: i32 in 0 .. ceil(n / 32) {
          for L12 it: i32 in 0 .. min(16, ceil((m - 96 * ib) / 6)) {
            for L40 i: i32 in 0 .. 6 unrolled {
              for L41 j: i32 in 0 .. 32 vector 8 {
                S30: acc[i][j] = 0.0
              }
            }
            for L42 k: i32 in 0 .. min(256, p - 256 * kb) {
              for L43 i: i32 in 0 .. 6 unrolled {
                for L44 j: i32 in 0 .. 32 vector 8 {
                  S31: acc[i][j] += A_pack[it][k][i] * B_pack[jt][k][j]
                }
              }
            }
            if (96 * ib + 6 * it + 6 <= m && 32 * jt + 32 <= n) {
              for L45 i: i32 in 0 .. 6 unrolled {
                for L46 j: i32 in 0 .. 32 vector 8 {
                  S32: C[96 * ib + 6 * it + i][32 * jt + j] += acc[i][j]
                }
              }
            } else {
              for L47 i: i32 in 0 .. min(6, m - 96 * ib - 6 * it) {
                for L48 j: i32 in 0 .. min(32, n - 32 * jt) {
                  S33: C[96 * ib + 6 * it + i][32 * jt + j] += acc[i][j]
                }
              }
            }
          }
        }
      }
    }
  }
}
"#;

fn gemm() -> String {
    // The number of column panels is not affine; the tests have at most eight.
    GEMM.replace("ceil_n", "8")
}

#[test]
fn packed_gemm_text() {
    let options = RenderOptions {
        reassociate: true,
        threads: 2,
        comment: vec!["Oxeye: contraction".into()],
        ..RenderOptions::default()
    };
    insta::assert_snapshot!(rendered(&gemm(), &options));
}

#[test]
fn packed_gemm_runs() {
    same_results(
        &gemm(),
        &[
            &[("m", 96), ("n", 64), ("p", 256)],
            &[("m", 101), ("n", 75), ("p", 300)],
            &[("m", 3), ("n", 5), ("p", 1)],
        ],
    );
}
