//! Nests in an existing team of threads.

use crate::common::{rendered, same_results};
use oxeye_binding::Bound;
use oxeye_codegen::{RenderOptions, render_nest};

fn options() -> RenderOptions {
    RenderOptions { threads: 2, original: Some("original();".into()), ..RenderOptions::default() }
}

/// Temporaries of every size and a thread-private variable, used by several threads.
const SHARED: &str = r#"
program shared {
  symbol P0 n: i32
  symbol P1 steps: i32
  array A0 a: f64[n][n] param
  array A1 b: f64[n] param
  array A2 s: f64 local
  array A3 w: f64[n] temp
  array A4 c: f64[16] temp
  array A5 q: f64 temp(L0)
  array A6 most: f64 temp(L4)
  team N0 own(A2) names("s")
  dataflow { N0 N1 }
  nest N0 in shared {
    for L0 t: i32 in 0 .. steps {
      S0: q = b[0] * 0.5
      S1: s = q + t
      S3: c[3] = s
      for L1 i: i32 in 0 .. n {
        S2: w[i] = a[i][0] + q
      }
      for L2 i: i32 in 0 .. n {
        for L4 k: i32 in 0 .. 1 {
          S4: most = w[i] + s
          for L3 j: i32 in 0 .. n {
            S5: a[i][j] += most * w[j] + c[3]
          }
        }
      }
      S6: b[0] += s
    }
  }
  nest N1 in shared {
    for L0 t: i32 in 0 .. steps {
      S0: q = b[0] * 0.5
      S1: s = q + t
      S3: c[3] = s
      for L1 i: i32 in 0 .. n parallel {
        S2: w[i] = a[i][0] + q
      }
      for L2 i: i32 in 0 .. n parallel dynamic {
        for L4 k: i32 in 0 .. 1 {
          S4: most = w[i] + s
          for L3 j: i32 in 0 .. n {
            S5: a[i][j] += most * w[j] + c[3]
          }
        }
      }
      S6: b[0] += s
    }
  }
}
"#;

#[test]
fn threads_share_what_several_of_them_use() {
    insta::assert_snapshot!(rendered(SHARED, &options()));
    same_results(
        SHARED,
        &[&[("n", 40), ("steps", 3)], &[("n", 1), ("steps", 2)], &[("n", 37), ("steps", 0)]],
    );
}

/// All threads decide together which text runs, before any of them writes.
const TESTED: &str = r#"
program tested {
  symbol P0 n: i32
  array A0 a: f64[n][n] param
  array A1 b: f64[n] param
  array A2 sum: i64 global
  may_alias A0 A1
  team N0 own() names("i")
  dataflow { N0 N1 }
  nest N0 in tested {
    for L0 i: i32 in 0 .. n {
      S0: b[i] += a[i][i]
      S1: sum += i
    }
  }
  nest N1 in tested {
    for L0 i: i32 in 0 .. n parallel reduce(+ sum) {
      S0: b[i] += a[i][i]
      S1: sum += i
    }
  }
}
"#;

#[test]
fn tests_come_between_barriers() {
    insta::assert_snapshot!(rendered(TESTED, &options()));
}

#[test]
fn what_a_team_cannot_run() {
    let why = |text: &str, options: &RenderOptions| {
        let Bound { program, binding } = Bound::parse(text).expect("parses");
        let nest = oxeye_ir::Nest { id: program.nests[0].id, ..program.nests[1].clone() };
        render_nest(&program, &binding, &nest, options).expect_err("refused").to_string()
    };
    let alone = TESTED.replace(" parallel reduce(+ sum)", "");
    assert!(why(&alone, &options()).ends_with("all the work would be left to one thread of the team"));
    let of_element =
        TESTED.replace("sum: i64 global", "sum: i64[4] param").replace("sum += i", "sum[2] += i");
    assert!(why(&of_element, &options()).contains("it accumulates into `sum`"));
    let one = RenderOptions { threads: 1, ..options() };
    assert!(why(TESTED, &one).ends_with("only one thread was asked for"));
    let bound =
        SHARED.replace("in 0 .. n parallel dynamic", "in 0 .. data(b[0] < 1.0 ? n : n) parallel dynamic");
    assert!(
        why(&bound, &options()).contains("all threads would test `b` while some of them write it"),
        "{}",
        why(&bound, &options())
    );
}
