//! Debug builds: what the accesses of a nest do wrong is found when the program runs.

use crate::common::{COMPILERS, driver, has, run_with};
use oxeye_binding::Binding;
use oxeye_codegen::{RenderOptions, prelude, render_nest};
use oxeye_ir::{Nest, Program};

/// A row-wise sum of `x`, flat or nested, with the nest to be checked in `tuned`.
fn program(arrays: &str, original: &str, tuned: &str) -> Program {
    let text = format!(
        "program p {{\n  symbol P0 n: i32\n{arrays}\n  dataflow {{ N0 N1 }}\n  nest N0 in p {{\n{original}\n  }}\n  \
         nest N1 in p {{\n{tuned}\n  }}\n}}\n"
    );
    Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What the checks write of N1, on one thread and on two, with each compiler; the same everywhere.
fn findings(program: &Program, n: i64) -> Vec<String> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for (threads, flags) in
        [(1, &["-O1", "-g"][..]), (2, &["-O2", "-march=native", "-ffast-math", "-fopenmp"])]
    {
        let checks = Some("p:7".to_owned());
        let options = RenderOptions { threads, reassociate: true, checks, ..RenderOptions::default() };
        let source = driver(program, &options);
        for compiler in COMPILERS.iter().filter(|c| has(c)) {
            let found = match run_with(compiler, flags, &source, &[vec![n.to_string()]]) {
                Ok(_) => String::new(),
                Err(found) => found,
            };
            let is_finding = |line: &&str| line.contains("|p:7|");
            let mut lines: Vec<String> = found.lines().take_while(is_finding).map(str::to_owned).collect();
            assert!(found.is_empty() || !lines.is_empty(), "{found}");
            lines.sort();
            all.push(lines);
        }
    }
    all.dedup();
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

const NESTED: &str = "  array A0 x: f64[n][n] param\n  array A1 y: f64[n][n] param";

fn copies(row: &str, rest: &str, shift: &str) -> String {
    format!(
        "    for L0 i: i32 in 0 .. n {row} {{\n      for L1 j: i32 in 0 .. n{rest} {{\n        \
         S0: y[i][j] = x[i][j{shift}]\n      }}\n    }}"
    )
}

#[test]
fn an_index_beyond_its_row_is_found_although_it_stays_in_the_array() {
    let original = copies("", "", "");
    assert!(findings(&program(NESTED, &original, &copies("parallel", " vector 4", "")), 21).is_empty());
    // Row 0 reads from row 1, and only the last row from behind the array.
    let found = findings(&program(NESTED, &original, &copies("", "", " + 1")), 21);
    assert_eq!(found, ["address|p:7|x|441|0|441", "index|p:7|x|21|0|21"]);
    let found = findings(&program(NESTED, &original, &copies("", "", " - 1")), 21);
    assert_eq!(found, ["address|p:7|x|-1|0|441", "index|p:7|x|-1|0|21"]);
}

#[test]
fn every_lane_of_a_vector_counts() {
    let original = copies("", "", "");
    let beyond = copies("", " vector 4", " + 1");
    // The first vector with a lane beyond its row is the one of elements 16 to 19, of which the last reads element 20.
    assert!(
        findings(&program(NESTED, &original, &beyond), 21).iter().any(|line| line == "index|p:7|x|21|0|21")
    );
    assert!(
        findings(&program(NESTED, &original, &beyond), 20).iter().any(|line| line == "index|p:7|x|20|0|20")
    );
}

#[test]
fn what_the_source_reaches_bounds_arrays_of_unknown_size() {
    let flat = "  array A0 x: f64[?] param\n  array A1 y: f64[?] param";
    let original = "    for L0 i: i32 in 2 .. n {\n      S0: y[i] = x[i - 2]\n    }";
    let good = "    for L0 i: i32 in 2 .. n vector 4 {\n      S0: y[i] = x[i - 2]\n    }";
    assert_eq!(of_40(&program(flat, original, good)), "");
    // What lies before the first element that the source writes belongs to something else.
    let early = "    for L0 i: i32 in 1 .. n {\n      S0: y[i] = x[i - 1]\n    }";
    assert_eq!(of_40(&program(flat, original, early)), "address|p:7|y|1|2|40\naddress|p:7|x|38|0|38\n");
    let late = "    for L0 i: i32 in 2 .. n + 1 {\n      S0: y[i] = x[i - 2]\n    }";
    assert_eq!(of_40(&program(flat, original, late)), "address|p:7|x|38|0|38\naddress|p:7|y|40|2|40\n");
}

/// What the checks write of N1 of a program with `n`, `x` and `y`, where `n` is 40 and both have room before and behind.
fn of_40(program: &Program) -> String {
    let tuned = Nest { id: program.nests[0].id, ..program.nests[1].clone() };
    let checks = Some("p:7".to_owned());
    let block =
        render_nest(program, Binding::none(), &tuned, &RenderOptions { checks, ..RenderOptions::default() });
    let block = block.expect("renders");
    let source = format!(
        "{}static double a[100], b[100];\nstatic void f(int n, double *x, double *y)\n{block}\n\
         int main(void) {{ f(40, a + 20, b + 20); return 0; }}\n",
        prelude(&[&block])
    );
    match run_with("gcc", &["-O1", "-g"], &source, &[vec![]]) {
        Ok(_) => String::new(),
        Err(found) => found.split_inclusive('\n').take_while(|line| line.contains("|p:7|")).collect(),
    }
}

#[test]
fn what_is_no_number_is_found_where_it_is_stored() {
    let original = copies("", "", "");
    let tuned = original.replace("= x[i][j]", "= (x[i][j] - x[i][j]) / (x[i][j] - x[i][j])");
    assert_eq!(findings(&program(NESTED, &original, &tuned), 5), ["nan|p:7|y|0|0|0"]);
}
