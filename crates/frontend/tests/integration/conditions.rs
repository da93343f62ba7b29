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
        (&["!(defined(SINGLE))", "(M) == 80"], &["__builtin_types_compatible_p(real, double)"]),
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
void g(int n, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] = 1;
}
";
    assert_eq!(conditions(source, &[])[0].preprocessor, ["!defined(_OPENMP)"]);
    // No thread runs what has no directive.
    assert!(conditions(source, &[])[1].is_empty());
    assert!(conditions(source, &["-fopenmp"]).iter().all(Conditions::is_empty));
    let private = format!("static double mine;\n#pragma omp threadprivate(mine)\n{source}");
    assert_eq!(conditions(&private, &[])[1].preprocessor, ["!defined(_OPENMP)"]);
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

/// Nests have copies of constants that people edit. A name means what it does where the nest stands.
#[test]
fn values_are_conditions() {
    let source = "enum { DEPTH = 6, WIDTH };
typedef unsigned short cell;
static const struct { int edge; double weight; } rules = { 2, 0.25 };
static const int of_file = 9;
static int twice(int k) { const int two = 2; return k * two; }
void f(double *x, int n)
{
    const int w = 30;
    long far = -7;
    static const float half = 0.5f;
    for (int i = 0; i < w; i++)
        x[i - far] = half;
    for (int i = rules.edge; i < DEPTH; i++)
        x[i] = rules.weight * (cell)i;
    {
        int w = n, WIDTH = n;
        for (int i = 0; i < w; i++)
            x[i] += WIDTH;
    }
    for (int i = 0; i < of_file; i++)
        x[twice(i)] = n;
    for (int i = 0; i < n; i++) {
        const int two = 2;
        x[two * i] = 0;
    }
    w + far;
}
";
    let found = conditions(source, &[]);
    let value = |name: &str, condition: &str| (name.to_owned(), condition.to_owned());
    let expected = [
        vec![
            value("far", "far == -7"),
            value("half", "half == (__typeof__(half))(0.5f)"),
            value("w", "w == 30"),
        ],
        vec![value(
            "rules",
            "rules.edge == (__typeof__(rules.edge))(2) && rules.weight == (__typeof__(rules.weight))(0.25)",
        )],
        vec![],
        vec![],
        vec![],
    ];
    let values: Vec<_> = found.iter().map(|c| c.values.clone()).collect();
    assert_eq!(values, expected);
    let constants: Vec<_> = found.iter().map(|c| c.constant.clone()).collect();
    assert_eq!(constants[1], ["DEPTH == 6", "sizeof(cell) == 2"]);
    assert!(constants.iter().enumerate().all(|(k, c)| k == 1 || c.is_empty()), "{constants:?}");
}

/// A variable that only stands in the same declaration as one of the nest's does not matter to it; one that an extent names does.
#[test]
fn others_in_a_declaration_do_not_matter() {
    let values = |declaration: &str| -> Vec<String> {
        let source = format!(
            "void f(double *x)\n{{\n    {declaration}\n    for (i = 0; i < 9; i++) x[i] += a[i];\n    x[0] += left;\n}}\n"
        );
        let found = conditions(&source, &[]);
        found.into_iter().flat_map(|c| c.values).map(|(name, _)| name).collect()
    };
    assert_eq!(values("int i, left = 0; double a[9] = {0};"), [""; 0]);
    assert_eq!(values("const int left = 9; int i; double a[left];"), ["left"]);
}
