//! Values and iterators stay in the ranges of their types in the C text of nests.

use crate::common::same_results;
use crate::rendering::text;
use oxeye_binding::Binding;
use oxeye_codegen::RenderOptions;

#[test]
fn indices_do_not_leave_the_range_of_int() {
    let program = oxeye_ir::Program::parse(
        r#"
program skewed {
  symbol P0 first: i32
  symbol P1 n: i32
  symbol P2 m: i32
  array A0 a: f64[n][m] param
  dataflow { N0 N1 }
  nest N0 in skewed {
    for L0 i: i32 in first .. first + n {
      for L1 j: i32 in 0 .. m {
        S0: a[i - first][j] += 2 * i
      }
    }
  }
  nest N1 in skewed {
    for L0 i: i32 in first .. first + n {
      for L1 j: i32 in 2 * i .. 2 * i + m {
        S0: a[i - first][j - 2 * i] += 2 * i
      }
    }
  }
}
"#,
    )
    .expect("parses");
    // `2 * i` may be more than an `int` holds where it is not in the source: `first` may be near its end.
    let mut nest = program.nests[1].clone();
    nest.id = program.nests[0].id;
    let text = oxeye_codegen::render_nest(&program, Binding::none(), &nest, &RenderOptions::default())
        .expect("renders");
    assert!(text.contains("a[i - first][j - 2 * (long)i] += 2 * i;"), "{text}");
}

/// A nest over `first .. first + n`, and the same in tiles.
const TILED: &str = r#"
program tiled {
  symbol P0 first: TYPE
  symbol P1 n: i32
  array A0 a: f64[n] param
  dataflow { N0 N1 }
  nest N0 in tiled {
    for L0 i: TYPE in first .. first + n {
      S0: a[i - first] += 1.0
    }
  }
  nest N1 in tiled {
    for L1 it: TYPE in ceil((first - 3) / 4) .. ceil((first + n) / 4) {
      for L0 i: TYPE in max(first, 4*it) .. min(first + n, 4*it + 4) {
        S0: a[i - first] += 1.0
      }
    }
  }
}
"#;

/// The text of its tiles, where loops begin with a value of this type.
fn tiled(ty: &str) -> String {
    let program = oxeye_ir::Program::parse(&TILED.replace("TYPE", ty)).expect("parses");
    let nest = oxeye_ir::Nest { id: program.nests[0].id, ..program.nests[1].clone() };
    let options = RenderOptions { original: Some("original();".to_owned()), ..RenderOptions::default() };
    oxeye_codegen::render_nest(&program, Binding::none(), &nest, &options).expect("renders")
}

/// Where a loop begins may be as far below zero as an `int` goes.
#[test]
fn tiles_do_not_begin_below_the_range_of_int() {
    let text = tiled("i32");
    assert!(text.contains("CEILDIV((long)first - 3, 4)") && !text.contains("original"), "{text}");
}

/// A multiple of what counts tiles may then be further below.
#[test]
fn multiples_do_not_fall_below_the_range_of_int() {
    let program = oxeye_ir::Program::parse(
        r#"
program written_out {
  symbol P0 first: i32
  array A0 a: f64[?] param
  dataflow { N0 N1 }
  nest N0 in written_out {
    for L0 i: i32 in first .. first + 3 {
      S0: a[i - first] += 1.0
    }
  }
  nest N1 in written_out {
    for L0 it: i32 in ceil((first - 2) / 3) .. ceil((first + 3) / 3) {
      if 3 * it >= first && first + 3 >= 3 * it + 3 {
        S0: a[3 * it - first] += 1.0
      }
    }
  }
}
"#,
    )
    .expect("parses");
    let nest = oxeye_ir::Nest { id: program.nests[0].id, ..program.nests[1].clone() };
    let text = oxeye_codegen::render_nest(&program, Binding::none(), &nest, &RenderOptions::default());
    let text = text.expect("renders");
    assert!(text.contains("for (long it = ") && text.contains("if (3 * it >= first && "), "{text}");
}

/// A loop to the greatest `int`, and places counted from where it begins: the constant comes last.
#[test]
fn sums_with_large_constants_are_long() {
    let program = oxeye_ir::Program::parse(
        r#"
program near {
  symbol P0 n: i32
  array A0 a: f64[n] param
  dataflow { N0 }
  nest N0 in near {
    for L0 i: i32 in 2147483646 - n .. 2147483646 {
      S0: a[i + n - 2147483646] += 1.0
    }
  }
}
"#,
    )
    .expect("parses");
    let text =
        oxeye_codegen::render_nest(&program, Binding::none(), &program.nests[0], &RenderOptions::default());
    let text = text.expect("renders");
    assert!(text.contains("(long)"), "{text}");
}

/// Nothing is wider than `long`, so there are no tiles at its ends.
#[test]
fn tiles_do_not_begin_at_the_ends_of_long() {
    let text = tiled("i64");
    let condition = text.find("if (first >= -1e18 && first <= 1e18) {").expect(&text);
    assert!(text[condition..].contains("original();"), "{text}");
}

/// How the source comes by a value is not known, so nothing larger is computed in `int` on the way to it.
#[test]
fn values_do_not_leave_the_range_of_int_on_the_way() {
    let program = oxeye_ir::Program::parse(
        r#"
program far {
  symbol P0 first: i32
  symbol P1 n: i32
  symbol P2 m: i32
  symbol P3 w: i64
  array A0 a: i32[?] param
  array A1 b: i64[?] param
  dataflow { N0 }
  nest N0 in far {
    for L0 i: i32 in first .. first + n {
      for L1 j: i32 in 0 .. m {
        S0: a[7 * i + j - 7 * first] += 7 * i - 7 * first + 14
        S1: a[i + j - first] += 256 * i + 256
        S2: a[i - first] += i + n - first - m
        S3: a[2 * i - first - j] += 2 * i - first - j
        S4: b[2 * i + 2] += 8 * i + 8 * w + m
        S5: a[n - j - 1] += 5 - 5 * i
      }
    }
  }
}
"#,
    )
    .expect("parses");
    let options = RenderOptions::default();
    let text = oxeye_codegen::render_nest(&program, Binding::none(), &program.nests[0], &options);
    insta::assert_snapshot!(text.expect("renders"));
}

#[test]
fn threads_do_not_add_up_types_narrower_than_int() {
    let sum = |element: &str, update: &str| {
        let text = format!(
            "program sum {{\n  symbol P0 n: i32\n  array A0 s: {element} global\n  array A1 x: i32[n] param\n  \
             dataflow {{ N0 }}\n  nest N0 in sum {{\n    for L0 i: i32 in 0 .. n parallel reduce({} A0) {{\n      \
             S0: A0 {update} A1[i]\n    }}\n  }}\n}}\n",
            update.trim_end_matches('=')
        );
        let program = oxeye_ir::Program::parse(&text).expect("parses");
        let options = RenderOptions { threads: 2, ..RenderOptions::default() };
        oxeye_codegen::render_nest(&program, Binding::none(), &program.nests[0], &options)
            .map_err(|error| error.to_string())
    };
    insta::assert_snapshot!(sum("i16", "+=").expect_err("is refused"), @"threads cannot accumulate into `s`: its type is narrower than int, and their sums might not fit");
    assert!(sum("u16", "+=").is_ok_and(|text| text.contains("reduction(+:s)")));
    assert!(sum("i32", "+=").is_ok_and(|text| text.contains("reduction(+:s)")));
}

const AT_THE_END: &str = r#"
program at_the_end {
  symbol P0 n: i32
  array A0 x: f64[16] param
  dataflow { N0 N1 }
  nest N0 in at_the_end {
    for L0 i: i32 in n - 10 .. n {
      S0: x[i - n + 10] += 1.0
    }
    for L1 i: i32 in n - 10 .. n {
      S1: x[i - n + 10] *= 2.0
    }
    for L2 i: i32 in n - 12 .. n {
      S2: x[i - n + 12] += 3.0
    }
  }
  nest N1 in at_the_end {
    for L3 it: i32 in n - 10 .. n step 4 {
      for L0 i: i32 in it .. min(it + 4, n) {
        S0: x[i - n + 10] += 1.0
      }
    }
    for L1 i: i32 in n + 2999999990 .. n + 3000000000 {
      S1: x[i - n - 2999999990] *= 2.0
    }
    for L4 it: i32 in ceil((n - 15) / 4) .. ceil(n / 4) {
      for L2 i: i32 in max(4 * it, n - 12) .. min(4 * it + 4, n) {
        S2: x[i - n + 12] += 3.0
      }
    }
  }
}
"#;

#[test]
fn iterators_stay_in_the_range_of_their_types() {
    insta::assert_snapshot!(text(AT_THE_END, 1));
    same_results(AT_THE_END, &[&[("n", 2_147_483_647)], &[("n", 2_147_483_640)], &[("n", 1000)]]);
}
