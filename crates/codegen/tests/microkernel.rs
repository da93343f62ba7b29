//! A packed matrix product with a register tile.

mod common;

use common::{rendered, same_results};
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

/// Prints GFLOP/s on one thread and on two; run with `--ignored --nocapture` on a quiet machine.
#[test]
#[ignore = "a measurement"]
fn packed_gemm_speed() {
    let text = gemm().replace("[8][256]", "[40][256]");
    for threads in [1, 2] {
        speed(&text, threads);
    }
}

fn speed(text: &str, threads: u32) {
    let options = RenderOptions { reassociate: true, threads, ..RenderOptions::default() };
    let body = rendered(text, &options);
    let source = format!(
        "{}#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n\
         __attribute__((noinline)) void kernel(int m, int n, int p, double (*restrict C)[n], double (*restrict A)[p], \
         double (*restrict B)[n])\n{body}\n\
         int main(void) {{\n    int m = 1200, n = 1000, p = 1100;\n    double *A = calloc(m * p, 8), *B = calloc(p * n, 8), \
         *C = calloc(m * n, 8);\n    for (int r = 0; r < 5; r++) {{\n        struct timespec a, b;\n        \
         clock_gettime(CLOCK_MONOTONIC, &a);\n        kernel(m, n, p, (void *)C, (void *)A, (void *)B);\n        \
         clock_gettime(CLOCK_MONOTONIC, &b);\n        double t = (b.tv_sec - a.tv_sec) + 1e-9 * (b.tv_nsec - a.tv_nsec);\n        \
         printf(\"%.1f \", 2e-9 * m * n * p / t);\n    }}\n    printf(\"GFLOP/s\\n\");\n    return 0;\n}}\n",
        oxeye_codegen::prelude(&[&body])
    );
    if let Ok(path) = std::env::var("OXEYE_KEEP_SOURCE") {
        std::fs::write(path, &source).expect("written");
    }
    for compiler in common::COMPILERS.iter().filter(|c| common::has(c)) {
        let output = common::run(compiler, &["-O3", "-march=native", "-ffast-math", "-fopenmp"], &source);
        println!("{compiler}, {threads} threads: {}", output.unwrap_or_else(|e| panic!("{e}")));
    }
}
