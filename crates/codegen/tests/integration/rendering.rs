//! The C text of nests, and that it computes what the nest says.

use crate::common::{rendered, same_results};
use oxeye_binding::{Binding, Bound};
use oxeye_codegen::RenderOptions;

pub(crate) fn text(program: &str, threads: u32) -> String {
    rendered(
        program,
        &RenderOptions {
            reassociate: true,
            threads,
            comment: vec!["Oxeye".into()],
            ..RenderOptions::default()
        },
    )
}

const STENCIL: &str = r#"
program stencil {
  symbol P0 n: i32
  symbol P1 steps: i32
  array A0 A: f64[n][n] param
  array A1 B: f64[n][n] param
  dataflow { N0 N1 }
  nest N0 in stencil {
    for L0 t: i32 in 0 .. steps {
      for L1 i: i32 in 1 .. n - 1 {
        for L2 j: i32 in 1 .. n - 1 {
          S0: B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j])
        }
      }
      for L3 i: i32 in 1 .. n - 1 {
        for L4 j: i32 in 1 .. n - 1 {
          S1: A[i][j] = B[i][j]
        }
      }
    }
  }
  nest N1 in stencil {
    for L0 t: i32 in 0 .. steps {
      for L5 it: i32 in 1 .. n - 1 step 16 parallel dynamic {
        for L1 i: i32 in it .. min(it + 16, n - 1) {
          for L2 j: i32 in 1 .. n - 1 vector {
            S0: B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j])
          }
        }
      }
      for L3 i: i32 in 1 .. n - 1 parallel {
        for L4 j: i32 in 1 .. n - 1 vector 8 {
          S1: A[i][j] = B[i][j]
        }
      }
    }
  }
}
"#;

#[test]
fn stencil() {
    insta::assert_snapshot!(text(STENCIL, 2));
    same_results(
        STENCIL,
        &[&[("n", 40), ("steps", 3)], &[("n", 2), ("steps", 1)], &[("n", 19), ("steps", 2)]],
    );
}

/// Three stages, in tiles of rows whose temporaries are on the heap.
const ROWS_HANDED_ON: &str = r#"
program stages {
  symbol P0 n: i32
  symbol P1 m: i32
  array A0 a: f64[n][m] param
  array A1 x: f64[48][96] temp
  array A2 y: f64[n][m] param
  array A3 c: f64[n][m] param
  array A6 x_tile: f64[12][max(m - 2, 1)] temp(L6) align 64
  array A7 y_tile: f64[10][max(m - 2, 1)] temp(L6) align 64
  dataflow { N0 N1 }
  nest N0 in stages {
    for L0 i: i32 in 0 .. n {
      for L1 j: i32 in 1 .. m - 1 {
        S0: x[i][j] = a[i][j - 1] + a[i][j + 1]
      }
    }
    for L2 i: i32 in 1 .. n - 1 {
      for L3 j: i32 in 1 .. m - 1 {
        S1: y[i][j] = x[i - 1][j] + x[i + 1][j]
      }
    }
    for L4 i: i32 in 2 .. n - 2 {
      for L5 j: i32 in 1 .. m - 1 {
        if y[i - 1][j] > 0.0 {
          S2: c[i][j] = y[i - 1][j] * y[i + 1][j] - x[i][j]
        }
      }
    }
  }
  nest N1 in stages {
    for L6 it: i32 in 0 .. ceil((n - 2) / 8) parallel {
      for L0 i: i32 in max(0, 8*it - 1) .. min(n, 8*it + 11) {
        for L1 j: i32 in 1 .. m - 1 vector {
          S0: x_tile[i - 8*it + 1][j - 1] = a[i][j - 1] + a[i][j + 1]
        }
      }
      for L2 i: i32 in max(1, 8*it) .. min(n - 1, 8*it + 10) {
        for L3 j: i32 in 1 .. m - 1 {
          S1: y_tile[i - 8*it][j - 1] = x_tile[i - 8*it][j - 1] + x_tile[i - 8*it + 2][j - 1]
        }
      }
      for L7 i: i32 in 8*it + 1 .. min(n - 1, 8*it + 9) {
        for L8 j: i32 in 1 .. m - 1 {
          S3: y[i][j] = y_tile[i - 8*it][j - 1]
        }
      }
      for L4 i: i32 in max(2, 8*it + 1) .. min(n - 2, 8*it + 9) {
        for L5 j: i32 in 1 .. m - 1 {
          if y_tile[i - 8*it - 1][j - 1] > 0.0 {
            S2: c[i][j] = y_tile[i - 8*it - 1][j - 1] * y_tile[i - 8*it + 1][j - 1] - x_tile[i - 8*it + 1][j - 1]
          }
        }
      }
    }
  }
}
"#;

/// The same in tiles of rows and columns, on the stack.
const TILES_HANDED_ON: &str = r#"
program stages {
  symbol P0 n: i32
  symbol P1 m: i32
  array A0 a: f64[n][m] param
  array A1 x: f64[48][96] temp
  array A2 y: f64[n][m] param
  array A3 c: f64[n][m] param
  array A6 x_tile: f64[12][16] temp(L7) align 64
  array A7 y_tile: f64[10][16] temp(L7) align 64
  dataflow { N0 N1 }
  nest N0 in stages {
    for L0 i: i32 in 0 .. n {
      for L1 j: i32 in 1 .. m - 1 {
        S0: x[i][j] = a[i][j - 1] + a[i][j + 1]
      }
    }
    for L2 i: i32 in 1 .. n - 1 {
      for L3 j: i32 in 1 .. m - 1 {
        S1: y[i][j] = x[i - 1][j] + x[i + 1][j]
      }
    }
    for L4 i: i32 in 2 .. n - 2 {
      for L5 j: i32 in 1 .. m - 1 {
        if y[i - 1][j] > 0.0 {
          S2: c[i][j] = y[i - 1][j] * y[i + 1][j] - x[i][j]
        }
      }
    }
  }
  nest N1 in stages {
    for L6 it: i32 in 0 .. ceil((n - 2) / 8) parallel {
      for L7 jt: i32 in 0 .. ceil((m - 2) / 16) {
        for L0 i: i32 in max(0, 8*it - 1) .. min(n, 8*it + 11) {
          for L1 j: i32 in 16*jt + 1 .. min(m - 1, 16*jt + 17) vector {
            S0: x_tile[i - 8*it + 1][j - 16*jt - 1] = a[i][j - 1] + a[i][j + 1]
          }
        }
        for L2 i: i32 in max(1, 8*it) .. min(n - 1, 8*it + 10) {
          for L3 j: i32 in 16*jt + 1 .. min(m - 1, 16*jt + 17) {
            S1: y_tile[i - 8*it][j - 16*jt - 1] = x_tile[i - 8*it][j - 16*jt - 1] + x_tile[i - 8*it + 2][j - 16*jt - 1]
          }
        }
        for L8 i: i32 in 8*it + 1 .. min(n - 1, 8*it + 9) {
          for L9 j: i32 in 16*jt + 1 .. min(m - 1, 16*jt + 17) {
            S3: y[i][j] = y_tile[i - 8*it][j - 16*jt - 1]
          }
        }
        for L4 i: i32 in max(2, 8*it + 1) .. min(n - 2, 8*it + 9) {
          for L5 j: i32 in 16*jt + 1 .. min(m - 1, 16*jt + 17) {
            if y_tile[i - 8*it - 1][j - 16*jt - 1] > 0.0 {
              S2: c[i][j] = y_tile[i - 8*it - 1][j - 16*jt - 1] * y_tile[i - 8*it + 1][j - 16*jt - 1] - x_tile[i - 8*it + 1][j - 16*jt - 1]
            }
          }
        }
      }
    }
  }
}
"#;

#[test]
fn overlapped_tiles() {
    insta::assert_snapshot!(text(ROWS_HANDED_ON, 2));
    for program in [ROWS_HANDED_ON, TILES_HANDED_ON] {
        let sizes: [&[(&str, i64)]; 5] = [
            &[("n", 40), ("m", 33)],
            &[("n", 3), ("m", 3)],
            &[("n", 1), ("m", 90)],
            &[("n", 19), ("m", 2)],
            &[("n", 9), ("m", 18)],
        ];
        same_results(program, &sizes);
    }
}

const REDUCTIONS: &str = r#"
program reductions {
  symbol P0 n: i32
  symbol P1 m: i32
  array A0 A: f64[n][m] param
  array A1 x: f64[m] param
  array A2 y: f64[n] param
  array A3 s: f64 local
  array A4 low: f64 local
  array A5 f: f32[m] param
  array A6 total: f32 local
  array A7 z: f64[m] param
  array A8 h: f64[8] param
  array A9 peak: f64[m] param
  dataflow { N0 N1 }
  nest N0 in reductions live_out(s, low, total) {
    for L0 i: i32 in 0 .. n {
      for L1 j: i32 in 0 .. m {
        S0: y[i] += A[i][j] * x[j]
      }
    }
    for L2 i: i32 in 0 .. n {
      for L3 j: i32 in 0 .. m {
        S1: s -= A[i][j]
      }
    }
    for L4 j: i32 in 0 .. m {
      S2: low min= x[j]
    }
    for L5 j: i32 in 0 .. m {
      S3: total += f[j] * f[j]
    }
    for L6 i: i32 in 0 .. n {
      for L7 j: i32 in 0 .. m {
        S4: z[j] += A[i][j]
      }
    }
    for L8 i: i32 in 0 .. n {
      for L9 j: i32 in 0 .. min(m, 8) {
        S5: h[j] += A[i][j]
      }
      for L10 j: i32 in 0 .. m {
        S6: peak[j] max= A[i][j]
      }
    }
  }
  nest N1 in reductions live_out(s, low, total) {
    for L0 i: i32 in 0 .. n {
      for L1 j: i32 in 0 .. m vector reduce(+ y) {
        S0: y[i] += A[i][j] * x[j]
      }
    }
    for L2 i: i32 in 0 .. n parallel reduce(- s) {
      for L3 j: i32 in 0 .. m vector 8 reduce(- s) {
        S1: s -= A[i][j]
      }
    }
    for L4 j: i32 in 0 .. m vector 4 reduce(min low) {
      S2: low min= x[j]
    }
    for L5 j: i32 in 0 .. m vector 16 reduce(+ total) {
      S3: total += f[j] * f[j]
    }
    for L6 i: i32 in 0 .. n parallel reduce(+ z) {
      for L7 j: i32 in 0 .. m vector 8 {
        S4: z[j] += A[i][j]
      }
    }
    for L8 i: i32 in 0 .. n parallel reduce(+ h, max peak) {
      for L9 j: i32 in 0 .. min(m, 8) {
        S5: h[j] += A[i][j]
      }
      for L10 j: i32 in 0 .. m {
        S6: peak[j] max= A[i][j]
      }
    }
  }
}
"#;

#[test]
fn reductions() {
    insta::assert_snapshot!(text(REDUCTIONS, 2));
    same_results(REDUCTIONS, &[&[("n", 13), ("m", 61)], &[("n", 1), ("m", 3)], &[("n", 8), ("m", 64)]]);
}

/// Sections of arrays of the file in `reduction` clauses lose sums with clang 19.
#[test]
fn threads_have_parts_of_their_own_of_arrays_of_the_file() {
    let counts = r#"
program counts {
  symbol P0 n: i32
  array A0 bin: i32[n] param
  array A1 h: i32[7] global
  dataflow { N0 N1 }
  nest N0 in counts {
    for L0 i: i32 in 0 .. n {
      S0: h[bin[i]] += 1
    }
  }
  nest N1 in counts {
    for L0 i: i32 in 0 .. n parallel reduce(+ h) {
      S0: h[bin[i]] += 1
    }
  }
}
"#;
    let text = text(counts, 2);
    assert!(text.contains("h_part[bin[i]] += 1;") && !text.contains("reduction("), "{text}");
}

const EXPRESSIONS: &str = r#"
program expressions {
  symbol P0 n: i32
  symbol P1 size: u64
  array A0 a: f64[n] param
  array A1 b: f64[n] param
  array A2 f: f32[n] param
  array A3 g: f32[n] param
  array A4 k: i32[n] param
  array A5 t: f64 body(L0)
  array A6 alpha: f64 local
  dataflow { N0 N1 }
  nest N0 in expressions {
    for L0 i: i32 in 0 .. n {
      S0: t = a[i] - (b[i] - alpha) / (2.0 * 3)
      S1: b[i] = -t * -t + max(t, min(a[i], 0.25))
    }
    for L1 i: i32 in 0 .. n {
      S2: f[i] = (f[i] + g[i]) / 2
      S3: g[i] = fabsf(g[i]) * 0.5f
    }
    for L2 i: i32 in 0 .. n {
      S4: k[i] = k[i] * 3 + 7 % (k[i] + 1) - (i << 2 & 5)
      S5: k[i] = (k[i] > 4 && i < 3 || k[i] == 2) ? -k[i] : k[i]
    }
    for L3 i: i32 in 0 .. n {
      S6: a[i] = a[i] < b[i] ? b[i] * 2 : a[i]
      S7: b[i] = (f64) i / (i + 1)
      S8: a[i] += (f64) ((f32) 1.0 / 3) * 1.5
    }
    for L4 q: u64 in 0 .. size {
      S9: a[q] *= 0.5
    }
    for L5 i: i32 in 0 .. n step -3 {
      if (i > 2 && i < n - 1) {
        S10: a[i] = a[i - 1] + a[i + 1]
      } else {
        S11: a[i] max= 2.0 * (b[i] + f[i] + g[i] + a[i]) - alpha * b[i]
      }
    }
  }
  nest N1 in expressions {
    for L0 i: i32 in 0 .. n vector 8 {
      S0: t = a[i] - (b[i] - alpha) / (2.0 * 3)
      S1: b[i] = -t * -t + max(t, min(a[i], 0.25))
    }
    for L1 i: i32 in 0 .. n vector 16 {
      S2: f[i] = (f[i] + g[i]) / 2
      S3: g[i] = fabsf(g[i]) * 0.5f
    }
    for L2 i: i32 in 0 .. n vector 8 {
      S4: k[i] = k[i] * 3 + 7 % (k[i] + 1) - (i << 2 & 5)
      S5: k[i] = (k[i] > 4 && i < 3 || k[i] == 2) ? -k[i] : k[i]
    }
    for L30 i: i32 in 0 .. n vector 8 {
      S6: a[i] = a[i] < b[i] ? b[i] * 2 : a[i]
    }
    for L31 i: i32 in 0 .. n vector {
      S7: b[i] = (f64) i / (i + 1)
    }
    for L32 i: i32 in 0 .. n vector 8 {
      S8: a[i] += (f64) ((f32) 1.0 / 3) * 1.5
    }
    for L4 q: u64 in 0 .. size vector 8 {
      S9: a[q] *= 0.5
    }
    for L5 i: i32 in 0 .. n step -3 {
      if (i > 2 && i < n - 1) {
        S10: a[i] = a[i - 1] + a[i + 1]
      } else {
        S11: a[i] max= 2.0 * (b[i] + f[i] + g[i] + a[i]) - alpha * b[i]
      }
    }
  }
}
"#;

#[test]
fn expressions() {
    insta::assert_snapshot!(text(EXPRESSIONS, 1));
    same_results(EXPRESSIONS, &[&[("n", 50), ("size", 40)], &[("n", 3), ("size", 0)]]);
}

const BOUNDS: &str = r#"
program bounds {
  symbol P0 n: i32
  array A0 A: f64[n][n] param
  array A1 row: i32[n] param
  array A2 B: f64[n][16] param linear
  dataflow { N0 N1 }
  nest N0 in bounds {
    for L0 i: i32 in 0 .. n {
      for L1 j: i32 in max(0, i - 5) .. min(i + 1, n, 40) {
        S0: A[i][j] += 1.0
      }
    }
    for L2 i: i32 in 0 .. n {
      for L3 j: i32 in ceil((2*i - 7) / 3) .. ceil((i + 1) / 2) {
        if (j >= 0) {
          S1: A[i][j] *= 2.0
        }
      }
    }
    for L4 i: i32 in 0 .. n {
      for L5 j: i32 in 0 .. data(row[i]) {
        S2: B[i][j] = A[i][0] + j
      }
    }
    for L6 i: i32 in 0 .. n {
      for L7 j: i32 in 0 .. 16 {
        S3: B[i][15 - j] += B[i][j]
      }
    }
  }
  nest N1 in bounds {
    for L0 i: i32 in 0 .. n parallel {
      for L1 j: i32 in max(0, i - 5) .. min(i + 1, n, 40) vector 4 {
        S0: A[i][j] += 1.0
      }
    }
    for L2 i: i32 in 0 .. n {
      for L3 j: i32 in ceil((2*i - 7) / 3) .. ceil((i + 1) / 2) {
        if (j >= 0) {
          S1: A[i][j] *= 2.0
        }
      }
    }
    for L4 i: i32 in 0 .. n {
      for L5 j: i32 in 0 .. data(row[i]) {
        S2: B[i][j] = A[i][0] + j
      }
    }
    for L6 i: i32 in 0 .. n {
      for L7 j: i32 in 0 .. 16 unrolled {
        S3: B[i][15 - j] += B[i][j]
      }
    }
  }
}
"#;

#[test]
fn bounds() {
    insta::assert_snapshot!(text(BOUNDS, 2));
    same_results(BOUNDS, &[&[("n", 50)], &[("n", 1)], &[("n", 13)]]);
}

const ALIAS: &str = r#"
program axpy {
  symbol P0 n: i32
  symbol P1 m: i32
  array A0 x: f64[n] param
  array A1 y: f64[n] param
  array A2 w: f64[n][m] param
  may_alias x y
  may_alias x w
  may_alias y w
  dataflow { N0 N1 }
  nest N0 in axpy {
    for L0 i: i32 in 0 .. n {
      for L1 j: i32 in 0 .. i + 1 {
        S0: y[i] += x[i - j] * w[i][0]
      }
    }
  }
  nest N1 in axpy {
    for L0 i: i32 in 0 .. n parallel {
      for L1 j: i32 in 0 .. i + 1 vector reduce(+ y) {
        S0: y[i] += x[i - j] * w[i][0]
      }
    }
  }
}
"#;

#[test]
fn pointers_that_may_overlap() {
    insta::assert_snapshot!("declared_extents", text(ALIAS, 2));
    insta::assert_snapshot!("unknown_extents", text(&ALIAS.replace("f64[n] param", "f64[?] param"), 2));
    same_results(ALIAS, &[&[("n", 50), ("m", 3)], &[("n", 1), ("m", 1)]]);
}

const HEAP: &str = r#"
program heap {
  symbol P0 n: i32
  array A0 A: f64[n][n] param
  array A1 B: f64[n][n] param
  array A2 row: f64[n] temp(L0) align 64
  array A3 all: f64[n][n] temp align 64
  array A4 pair: f64[2] temp(L2)
  may_alias A B
  dataflow { N0 N1 }
  nest N0 in heap {
    for L0 i: i32 in 0 .. n {
      for L1 j: i32 in 0 .. n {
        S0: B[i][j] += A[i][n - 1 - j] + A[i][j]
      }
    }
    for L4 i: i32 in 0 .. n {
      for L5 j: i32 in 0 .. n {
        S9: B[i][j] += 2.0 * A[i][j]
      }
    }
  }
  nest N1 in heap {
    for L0 i: i32 in 0 .. n parallel {
      for L1 j: i32 in 0 .. n {
        S0: row[j] = A[i][n - 1 - j]
      }
      for L2 j: i32 in 0 .. n {
        S1: pair[0] = row[j]
        S2: pair[1] = A[i][j]
        S3: B[i][j] += pair[0] + pair[1]
        S4: all[i][j] = 2.0 * A[i][j]
      }
    }
    for L4 i: i32 in 0 .. n {
      for L5 j: i32 in 0 .. n vector 8 {
        S9: B[i][j] += all[i][j]
      }
    }
  }
}
"#;

#[test]
fn temporaries_on_the_heap() {
    insta::assert_snapshot!(text(HEAP, 2));
    same_results(HEAP, &[&[("n", 50)], &[("n", 1)], &[("n", 600)]]);
}

#[test]
fn sums_keep_their_order_unless_reordering_is_allowed() {
    let program = oxeye_ir::Program::parse(REDUCTIONS).expect("parses");
    let mut nest = program.nests[1].clone();
    let strict = RenderOptions { threads: 2, ..RenderOptions::default() };
    // In the second loop, several threads add up `s`.
    let error =
        oxeye_codegen::render_nest(&program, Binding::none(), &nest, &strict).expect_err("is refused");
    insta::assert_snapshot!(error.to_string(), @"accumulating into `s` by several threads reorders floating-point operations; allow it with --fp reassociate");
    // Or the source leaves the order open.
    let mut open = program.clone();
    open.nests[1].unordered = nest.arrays();
    let text = oxeye_codegen::render_nest(&open, Binding::none(), &open.nests[1], &strict).expect("renders");
    assert!(text.contains("reduction(+:s)"), "{text}");
    nest.roots = vec![nest.roots[0].clone(), nest.roots[2].clone()];
    let text = oxeye_codegen::render_nest(&program, Binding::none(), &nest, &strict).expect("renders");
    insta::assert_snapshot!("in_order", text);
}

#[test]
fn members_are_no_variables_of_clauses() {
    let Bound { program, binding } = Bound::parse(
        r#"
program counts {
  symbol P0 n: i32
  array A0 "box.bins": i32[7] global
  array A1 x: i32[n] param
  view A0 "box.bins" "struct box box"
  dataflow { N0 }
  nest N0 in counts {
    for L0 i: i32 in 0 .. n parallel reduce(+ A0) {
      S0: A0[x[i] % 7] += 1
    }
  }
}
"#,
    )
    .expect("parses");
    let options = RenderOptions { threads: 2, ..RenderOptions::default() };
    let error =
        oxeye_codegen::render_nest(&program, &binding, &program.nests[0], &options).expect_err("is refused");
    insta::assert_snapshot!(error.to_string(), @"the reduction into `box.bins` needs a variable of known size");
}

/// Several threads each compute a sum in a loop; the second loop also stores.
const SUMS: &str = r#"
program sums {
  symbol P0 n: i32
  array A0 A: f64[n][n] param
  array A1 x: f64[n] param
  array A2 y: f64[n] param
  array A3 z: f64[n] param
  dataflow { N0 N1 }
  nest N0 in sums {
    for L0 i: i32 in 0 .. n {
      for L1 j: i32 in 0 .. i + 1 {
        S0: y[i] += A[i][j] * x[j]
      }
      for L2 j: i32 in 0 .. i {
        S1: z[i] += A[i][j]
        S2: A[i][j] = 0.5 * A[i][j]
      }
    }
  }
  nest N1 in sums {
    for L0 i: i32 in 0 .. n parallel dynamic {
      for L1 j: i32 in 0 .. i + 1 vector reduce(+ y) {
        S0: y[i] += A[i][j] * x[j]
      }
      for L2 j: i32 in 0 .. i vector reduce(+ z) {
        S1: z[i] += A[i][j]
        S2: A[i][j] = 0.5 * A[i][j]
      }
    }
  }
}
"#;

#[test]
fn pointers_change_places_behind_the_loops() {
    let text = |turns: &str| {
        format!(
            "program p {{ symbol P0 n: i32 symbol P1 swapped: i32 array A0 x: f64[?] param array A1 y: f64[?] param
             array A2 z: f64[?] param dataflow {{ N0 }} nest N0 in p {turns} {{
               for L0 i: i32 in 0 .. swapped step 2 {{ S0: x[i] = y[i + 1] }} }} }}"
        )
    };
    let turned = |turns: &str| {
        let program = oxeye_ir::Program::parse(&text(turns)).expect("parses");
        let nest = oxeye_ir::Nest { rotations: Vec::new(), ..program.nests[0].clone() };
        let text = oxeye_codegen::render_nest(&program, Binding::none(), &nest, &RenderOptions::default())
            .expect("renders");
        let at = text.find("x[i]").expect("a statement");
        text[at..].lines().skip(1).map(str::trim).collect::<Vec<_>>().join(" ")
    };
    let tail = |times: &str| turned(&format!("swap(x, y, {times})"));
    let exchange = "void *swapped2 = x; x = y; y = swapped2; } }";
    assert_eq!(
        tail("swapped - n"),
        format!("if ((swapped - n) > 0 && (swapped - n) % 2 != 0) {{ {exchange}")
    );
    assert_eq!(tail("3"), format!("{{ {exchange}"));
    assert_eq!((tail("4"), tail("-3")), ("}".into(), "}".into()));
    let by_one = "void *swapped2 = x; x = y; y = z; z = swapped2; }";
    let by_two = "void *swapped3 = x; void *swapped4 = y; x = z; y = swapped3; z = swapped4; }";
    assert_eq!(
        turned("rotate(n - 2, x, y, z)"),
        format!(
            "if ((n - 2) > 0 && (n - 2) % 3 == 1) {{ {by_one} else if ((n - 2) > 0 && (n - 2) % 3 == 2) {{ {by_two} }}"
        )
    );
    assert_eq!(turned("rotate(7, x, y, z)"), format!("{{ {by_one} }}"));
    assert_eq!(turned("rotate(6, x, y, z)"), "}");
}

#[test]
fn sums_of_several_threads_are_left_to_compilers_that_need_no_word() {
    let program = oxeye_ir::Program::parse(SUMS).expect("parses");
    let lines = |plain_sums| {
        let options = RenderOptions { threads: 2, reassociate: true, plain_sums, ..RenderOptions::default() };
        let text = oxeye_codegen::render_nest(&program, Binding::none(), &program.nests[1], &options)
            .expect("renders");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (asked, plain) = (lines(false), lines(true));
    let word = |line: &&String| line.contains("#pragma omp simd reduction(+:");
    assert_eq!((asked.iter().filter(word).count(), plain.iter().filter(word).count()), (2, 1), "{plain:?}");
    let without = |lines: &[String]| lines.iter().filter(|line| !word(line)).cloned().collect::<Vec<_>>();
    assert_eq!(without(&asked), without(&plain));
}

#[test]
fn roots_in_vector_loops_set_no_errno_where_that_keeps_them_out_of_vectors() {
    let program = oxeye_ir::Program::parse(
        "program roots {
           symbol P0 n: i32
           array A0 x: f64[n] param
           array A1 y: f32[n] param
           dataflow { N0 }
           nest N0 in roots {
             for L0 i: i32 in 0 .. n vector { S0: x[i] = sqrt(x[i]) S1: y[i] = sqrtf(y[i]) }
             for L1 j: i32 in 0 .. n { S2: x[j] = sqrt(x[j] + x[0]) }
           }
         }",
    )
    .expect("parses");
    let text = |roots_set_errno| {
        let options = RenderOptions { threads: 2, roots_set_errno, ..RenderOptions::default() };
        oxeye_codegen::render_nest(&program, Binding::none(), &program.nests[0], &options).expect("renders")
    };
    let (plain, silent) = (text(false), text(true));
    assert!(plain.contains("x[i] = sqrt(x[i]);") && !plain.contains("OXEYE_SQRT"), "{plain}");
    for line in ["x[i] = OXEYE_SQRT(x[i]);", "y[i] = OXEYE_SQRTF(y[i]);", "x[j] = sqrt(x[j] + x[0]);"] {
        assert!(silent.contains(line), "{line} is not in {silent}");
    }
    assert!(oxeye_codegen::prelude(&[&silent]).contains("__builtin_elementwise_sqrt((float)(x))"));
}

const ELEMENTS: &str = r#"
program elements {
  symbol P0 n: i32
  symbol P1 m: i32
  array A0 A: f64[n][m] param
  array A1 y: f64[n] param
  dataflow { N0 N1 }
  nest N0 in elements {
    for L0 i: i32 in 0 .. n {
      for L1 j: i32 in 0 .. m {
        S0: y[i] += A[i][j]
      }
    }
    for L2 k: i32 in 0 .. n {
      for L3 j: i32 in 0 .. m {
        for L4 i: i32 in 0 .. n {
          S1: y[k] += A[i][j]
        }
      }
    }
  }
  nest N1 in elements {
    for L0 i: i32 in 0 .. n {
      for L1 j: i32 in 0 .. m parallel reduce(+ y) {
        S0: y[i] += A[i][j]
      }
    }
    for L2 k: i32 in 0 .. n {
      for L3 j: i32 in 0 .. m parallel reduce(+ y) {
        for L4 i: i32 in 0 .. n {
          S1: y[k] += A[i][j]
        }
      }
    }
  }
}
"#;

#[test]
fn elements_are_touched_only_where_the_loop_runs() {
    insta::assert_snapshot!(text(ELEMENTS, 2));
    same_results(ELEMENTS, &[&[("n", 9), ("m", 7)], &[("n", 3), ("m", 0)], &[("n", 0), ("m", 3)]]);
}

#[test]
fn elements_that_may_not_be_touched_stay_in_memory() {
    let update = "S1: y[k] += A[i][j]";
    for conditional in [
        &format!("if A[i][j] > 0.25 {{\n {update}\n }}"),
        // Whether there is an iteration is another answer for each of the threads.
        &format!("for L5 b: i32 in 0 .. 1 {{\n for L6 l: i32 in j .. m - 1 {{\n {update}\n }}\n }}"),
    ] {
        let program = oxeye_ir::Program::parse(&ELEMENTS.replace(update, conditional)).expect("a program");
        let nest = oxeye_ir::Nest { id: program.nests[0].id, ..program.nests[1].clone() };
        let options = RenderOptions { reassociate: true, threads: 2, ..RenderOptions::default() };
        let refused = oxeye_codegen::render_nest(&program, Binding::none(), &nest, &options);
        assert!(matches!(refused, Err(oxeye_codegen::CodegenError::Conditional { .. })), "{refused:?}");
    }
}
