//! Texts that are for large sizes only: the original runs on the others.

use crate::common::{COMPILERS, driver, has, links, rendered, run_with};
use oxeye_binding::Binding;
use oxeye_codegen::{CodegenError, RenderOptions, SizeGuard, render_nest};
use oxeye_ir::Program;

/// A product with a transposed copy on the heap; arrays may overlap.
const COPIED: &str = r#"
program copied {
  symbol P0 n: i32
  symbol P1 m: i64
  symbol P2 first: i32
  array A0 a: f64[n][m] param
  array A1 b: f64[m][n] param
  array A2 t: f64[n][m] temp
  dataflow { N0 N1 }
  nest N0 in copied {
    for L0 i: i32 in first .. n {
      for L1 j: i64 in 0 .. m {
        S0: a[i][j] += b[j][i] * 2.0
      }
    }
  }
  nest N1 in copied {
    for L2 i: i32 in first .. n {
      for L3 j: i64 in 0 .. m {
        S1: t[i][j] = b[j][i]
      }
    }
    for L0 i: i32 in first .. n parallel {
      for L1 j: i64 in 0 .. m vector {
        S0: a[i][j] += t[i][j] * 2.0
      }
    }
  }
}
"#;

/// One extent, and nothing else to test.
const PLAIN: &str = r#"
program plain {
  symbol P0 n: i32
  symbol P1 steps: i32
  array A0 x: f64[n] param
  dataflow { N0 N1 }
  nest N0 in plain {
    for L0 t: i32 in 0 .. steps { for L1 i: i32 in 0 .. n { S0: x[i] = 0.5 * x[i] + 1.0 } }
  }
  nest N1 in plain {
    for L0 t: i32 in 0 .. steps { for L1 i: i32 in 0 .. n parallel { S0: x[i] = 0.5 * x[i] + 1.0 } }
  }
}
"#;

fn guarded(least: Option<f64>, threads_from: Option<f64>, original: Option<&str>) -> RenderOptions {
    RenderOptions {
        threads: 2,
        indent: 4,
        guard: SizeGuard { least, threads: threads_from, ..SizeGuard::default() },
        original: original.map(str::to_owned),
        ..RenderOptions::default()
    }
}

#[test]
fn the_test_is_in_the_users_variables() {
    insta::assert_snapshot!(
        "copied",
        rendered(COPIED, &guarded(Some(1200.0), Some(2.5e6), Some("original();")))
    );
    insta::assert_snapshot!("plain", rendered(PLAIN, &guarded(Some(200.0), Some(3e6), Some("original();"))));
    let overlapping = COPIED.replace("  dataflow", "  may_alias a b\n  dataflow");
    insta::assert_snapshot!(
        "overlapping",
        rendered(&overlapping, &guarded(Some(1e6), None, Some("original();")))
    );
}

#[test]
fn extents_have_least_lengths() {
    let mut options = guarded(Some(1200.0), None, Some("original();"));
    options.guard.extents[1] = 17;
    insta::assert_snapshot!("long", rendered(COPIED, &options));
    let mut copied = guarded(None, None, None);
    copied.guard.extents[..2].copy_from_slice(&[9, 17]);
    let sizes: [&[i64]; 5] = [&[30, 40, 0], &[30, 16, 0], &[9, 17, 0], &[9, 17, 1], &[1, 1, 0]];
    let worst = run_at(COPIED, &copied, &sizes).unwrap_or_else(|e| panic!("{e}"));
    assert!(worst.iter().all(|worst| *worst == 0.0));
    copied.original = Some("exit(7);".into());
    assert!(run_at(COPIED, &copied, &[&[9, 17, 0], &[10, 17, 1]]).is_ok());
    for short in [&[8, 17, 0], &[9, 16, 0], &[9, 17, 1]] {
        assert!(run_at(COPIED, &copied, &[short]).is_err());
    }
    let mut absent = guarded(None, None, None);
    absent.guard.extents[3] = 2;
    let (program, options) = (Program::parse(COPIED).expect("the test's program"), absent);
    assert!(matches!(
        render_nest(&program, Binding::none(), &program.nests[0], &options),
        Err(CodegenError::NoSize)
    ));
}

/// Runs on sizes below and above a threshold, with sanitizers; `Err` where a run fails.
fn run_at(text: &str, options: &RenderOptions, sizes: &[&[i64]]) -> Result<Vec<f64>, String> {
    let program = Program::parse(text).expect("the test's program");
    // The driver keeps its arrays to the end.
    let quiet = "const char *__asan_default_options(void) { return \"detect_leaks=0\"; }\n";
    let source = format!("{}{quiet}", driver(&program, options));
    let arguments: Vec<Vec<String>> =
        sizes.iter().map(|sizes| sizes.iter().map(i64::to_string).collect()).collect();
    let flags = ["-O1", "-g", "-fopenmp", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut worst = Vec::new();
    for compiler in COMPILERS.iter().filter(|c| has(c) && links(c, &flags)) {
        let outputs = run_with(compiler, &flags, &source, &arguments)?;
        worst.extend(outputs.iter().map(|output| output.trim().parse::<f64>().expect("a number")));
    }
    Ok(worst)
}

#[test]
fn results_are_the_same_on_both_sides_of_the_threshold() {
    let copied = guarded(Some(1200.0), Some(2500.0), None);
    let sizes: [&[i64]; 7] =
        [&[30, 40, 0], &[30, 39, 0], &[30, 40, 1], &[60, 50, 2], &[1, 1, 0], &[1, 7, 0], &[30, 100, 29]];
    assert!(
        run_at(COPIED, &copied, &sizes).unwrap_or_else(|e| panic!("{e}")).iter().all(|worst| *worst == 0.0)
    );
    let sizes: [&[i64]; 4] = [&[199, 3], &[200, 3], &[900, 2], &[1, 1]];
    let plain = guarded(Some(200.0), Some(500.0), None);
    assert!(
        run_at(PLAIN, &plain, &sizes).unwrap_or_else(|e| panic!("{e}")).iter().all(|worst| *worst == 0.0)
    );
}

#[test]
fn what_is_for_one_value_of_a_size_runs_for_that_only() {
    let text = Program::parse(PLAIN).expect("the test's program");
    let (n, steps) = (*text.symbols.keys().next().expect("n"), *text.symbols.keys().last().expect("steps"));
    let known = |original: Option<&str>| RenderOptions {
        known: vec![(n, 200), (steps, 3)],
        ..guarded(Some(150.0), None, original)
    };
    insta::assert_snapshot!("known", rendered(PLAIN, &known(Some("original();"))));
    let sizes: [&[i64]; 4] = [&[200, 3], &[199, 3], &[200, 2], &[0, 0]];
    let worst = run_at(PLAIN, &known(None), &sizes).unwrap_or_else(|e| panic!("{e}"));
    assert!(worst.iter().all(|worst| *worst == 0.0));
    let ends = known(Some("exit(7);"));
    assert!(run_at(PLAIN, &ends, &[&[200, 3]]).is_ok());
    for other in [&[199, 3], &[200, 2], &[201, 3]] {
        assert!(run_at(PLAIN, &ends, &[other]).is_err());
    }
}

#[test]
fn the_original_runs_below_the_threshold_only() {
    let options = guarded(Some(1200.0), None, Some("exit(7);"));
    assert!(run_at(COPIED, &options, &[&[30, 40, 0], &[31, 40, 1]]).is_ok());
    // The extent is from `first` on.
    for small in [&[30, 39, 0], &[30, 40, 1], &[1, 1, 0]] {
        let failed = run_at(COPIED, &options, &[small]).expect_err("the original's text ends the program");
        assert!(failed.contains('7'), "{failed}");
    }
}

#[test]
fn sizes_whose_difference_or_product_is_beyond_their_type_are_compared() {
    let text = r#"
program far {
  symbol P0 n: i32
  symbol P1 m: i64
  symbol P2 first: i32
  array A0 a: f64[9] param
  dataflow { N0 N1 }
  nest N0 in far {
    for L0 i: i32 in first .. n { for L1 j: i64 in 0 .. m { S0: a[0] += 1.0 } }
  }
  nest N1 in far {
    for L1 j: i64 in 0 .. m { for L0 i: i32 in first .. n { S0: a[0] += 1.0 } }
  }
}
"#;
    // The loops are empty; 32 bits do not hold the difference, nor 64 the product.
    let options = guarded(Some(1e18), None, None);
    let sizes: [&[i64]; 3] =
        [&[i64::from(i32::MIN), 4_000_000_000_000, i64::from(i32::MAX)], &[2, -4_000_000_000, 0], &[5, 6, 1]];
    let worst = run_at(text, &options, &sizes).unwrap_or_else(|e| panic!("{e}"));
    assert!(worst.iter().all(|worst| *worst == 0.0));
}

#[test]
fn a_size_that_is_always_the_same_cannot_be_tested() {
    let program =
        Program::parse(&PLAIN.replace("0 .. n", "0 .. 9").replace("0 .. steps", "0 .. 3")).expect("parses");
    let failed = render_nest(
        &program,
        Binding::none(),
        &program.nests[0],
        &guarded(Some(1e3), None, Some("original();")),
    );
    assert!(matches!(failed, Err(CodegenError::NoSize)), "{failed:?}");
}

#[test]
fn overlap_is_tested_as_far_as_indices_go_that_the_nest_sets() {
    let upwind = "program p {
          symbol P0 n: i32
          symbol P1 m: i32
          array A0 flux: f64[?][m] param linear
          array A1 mass: f64[?][m] param linear
          array A2 out: f64[?][m] param linear
          array A3 up: i32 local
          array A4 donor: i32 body(L1)
          may_alias flux out
          may_alias mass out
          dataflow { N0 }
          nest N0 in p {
            for L0 i: i32 in 1 .. n - 2 parallel {
              for L1 j: i32 in 0 .. m {
                if flux[i][j] < 0.0 {
                  S0: up = i + 2
                  S1: donor = i + 1
                } else {
                  S2: up = i - 1
                  S3: donor = i
                }
                S4: out[i][j] = (mass[donor][j] - mass[up][j]) * flux[i][j]
              }
            }
          }
        }";
    let program = Program::parse(upwind).expect("parses");
    let options = guarded(None, None, Some("original();"));
    let made = render_nest(&program, Binding::none(), &program.nests[0], &options).expect("rendered");
    insta::assert_snapshot!("upwind", made);
}
