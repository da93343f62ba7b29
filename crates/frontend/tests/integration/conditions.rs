//! The macros that nests depend on.

use crate::common::read_with;
use oxeye_frontend::{Conditions, ReadOptions};

fn conditions(source: &str, args: &[&str]) -> Vec<Conditions> {
    let args = args.iter().map(|a| (*a).to_owned()).collect();
    let unit = read_with(source, &ReadOptions { args, ..ReadOptions::default() });
    let of = |f: &oxeye_frontend::Function| -> Vec<Conditions> {
        f.program.nests.keys().map(|id| f.conditions.get(id).cloned().unwrap_or_default()).collect()
    };
    unit.functions.iter().flat_map(of).collect()
}

#[test]
fn sizes_are_conditions() {
    let source = "#ifndef N
#define N 100
#endif
#define M (2 * N)
#define UNUSED 7
#define AT(i, j) (i) * ROW + (j)
#define ROW (N + 1)
#define DT 0.1f
#ifdef SINGLE
typedef float real;
#else
typedef double real;
#endif
#define KIND long
typedef real grid[M][4];
grid A;
static KIND
    B[ROW];
void f(double *x)
{
    for (int i = 0; i < 9; i++)
        A[i][0] = 1;
    for (int i = 0; i < 9; i++)
        x[AT(i, 3)] += DT;
    for (int i = 0; i < 9; i++)
        B[i] += (KIND)i;
    for (int i = 0; i < 9; i++)
        x[i] = 0;
    for (int i = 0; i < 9; i++)
#ifdef UP
        x[i] += 1;
#else
        x[i] -= 1;
#endif
}
";
    let found = conditions(source, &["-DN=40", "-DUP"]);
    let expected: &[(&[&str], &[&str])] = &[
        (&["!(defined(SINGLE))", "(M) == 80"], &[]),
        (&["(ROW) == 41"], &["(DT) == (0.1f)"]),
        (&["(ROW) == 41"], &["__builtin_types_compatible_p(KIND, long)"]),
        (&[], &[]),
        (&["defined(UP)"], &[]),
    ];
    let found: Vec<_> = found.iter().map(|c| (c.preprocessor.clone(), c.constant.clone())).collect();
    let expected: Vec<(Vec<String>, Vec<String>)> = expected
        .iter()
        .map(|(a, b)| (a.iter().map(|s| s.to_string()).collect(), b.iter().map(|s| s.to_string()).collect()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn directives_without_threads_are_a_condition() {
    let source = "void f(int n, double *x)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 0;
}
";
    assert_eq!(conditions(source, &[])[0].preprocessor, ["!defined(_OPENMP)"]);
    assert!(conditions(source, &["-fopenmp"])[0].is_empty());
}

#[test]
fn headers_and_places_count() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(
        folder.path().join("sizes.h"),
        "#ifndef SIZES_H\n#define SIZES_H\n#define N 12\nextern double G[N];\n#endif\n",
    )
    .expect("a header");
    let path = folder.path().join("t.c");
    let source = "#include \"sizes.h\"
#include <limits.h>
#define K 3
void f(double *x) { for (int i = 0; i < K; i++) x[i] = G[i]; }
#undef K
#define K 5
void g(double *x) { for (int i = 0; i < K; i++) x[i] = INT_MAX; }
";
    std::fs::write(&path, source).expect("a file");
    let unit = oxeye_frontend::read_c(&path, &ReadOptions::default()).expect("C");
    let of =
        |k: usize| unit.functions[k].conditions.values().next().cloned().unwrap_or_default().preprocessor;
    assert_eq!(of(0), ["(K) == 3", "(N) == 12"]);
    assert_eq!(of(1), ["(K) == 5"]);
}
