//! One tuned file works in every build in which its source does.

use oxeye_tests::{Playground, recipe_file};
use serde_json::{Value, json};

fn parallel() -> Value {
    json!([{ "step": "parallelize", "at": 0, "distribution": "Static" }])
}

/// Replays steps for the first nest of each of these functions, read with `args`.
fn replayed(playground: &Playground, functions: &[&str], args: &[&str], threads: u32) -> String {
    let nests: Vec<(&str, Value)> = functions.iter().map(|f| (*f, parallel())).collect();
    let mut recipes: Value = serde_json::from_str(&recipe_file(&nests)).expect("JSON");
    recipes["compiler"]["args"] = json!(args);
    recipes["threads"] = json!(threads);
    playground.write("r.json", &recipes.to_string());
    let ran = playground.run("replay r.json prog.c -o out.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    playground.read("out.c")
}

/// Builds and runs both files with these flags, under the sanitizers.
fn agree(playground: &Playground, flags: &str) {
    let script = format!(
        "for f in prog out; do gcc -O1 -w -fsanitize=address,undefined -fno-sanitize-recover=all {flags} $f.c -o $f.exe \
         && ./$f.exe > $f.txt || exit 1; done; cmp prog.txt out.txt"
    );
    let ran = playground.shell(&script);
    assert_eq!(ran.code, Some(0), "{flags}: {}{}", ran.stdout, ran.stderr);
}

#[test]
fn sizes_from_macros_are_not_taken_for_granted() {
    let source = "#include <stdio.h>
#ifndef N
#define N 20
#endif
#ifdef SINGLE
typedef float real;
#else
typedef double real;
#endif
#ifndef SCALE
#define SCALE 0.5
#endif
static real A[N + 1][N + 1];
static int k = N;
static void fill(real *x)
{
    int i;
    if (k >= 0) for (i = 0; i <= N; i++)
        for (int j = 0; j <= N; j++)
            A[i][j] = x[j] * SCALE + i; else k = 0;
}
int main(void)
{
    static real x[N + 1];
    for (int i = 0; i <= N; i++)
        x[i] = i * 0.25;
    fill(x);
    double sum = 0;
    for (int i = 0; i <= N; i++)
        sum += A[i][N - i] * (i + 1);
    printf(\"%.9e %d\\n\", sum, (int)sizeof(real));
    return 0;
}
";
    let playground = Playground::with("prog.c", source);
    let tuned = replayed(&playground, &["fill"], &["-O2", "-DN=40"], 2);
    assert!(tuned.contains("#if !(defined(SINGLE)) && (N) == 40"), "{tuned}");
    assert!(tuned.contains("if ((SCALE) == (0.5) && __builtin_types_compatible_p(real, double))"), "{tuned}");
    for flags in [
        "-DN=40",
        "-DN=40 -fopenmp",
        "",
        "-DN=0 -fopenmp",
        "-DN=1",
        "-DN=41",
        "-DN=40 -DSINGLE",
        "-DN=40 -DSCALE=2",
    ] {
        agree(&playground, flags);
    }
}

#[test]
fn directives_go_with_their_loops() {
    let source = "#include <stdio.h>
static double A[60][60];
static double sum(int n)
{
    double s = 0, t;
    int i, j;
#ifdef _OPENMP
#pragma omp parallel for private(j, t) schedule(static, 2)
#endif
    for (i = 0; i < n; i++)
#pragma omp simd
        for (j = 0; j < n; j++) {
            t = i * 0.5 + j;
            A[i][j] += t * t;
        }
#pragma omp parallel
    {
#pragma omp for nowait
        for (i = 0; i < n; i++)
            for (int m = 0; m < n; m++)
                A[m][i] *= 2;
    }
    for (i = 0; i < n; i++)
        s += A[i][n - 1 - i];
    return s;
}
int main(void)
{
    static const int sizes[] = { 0, 1, 7, 31, 60 };
    for (int k = 0; k < 5; k++)
        printf(\"%.9e\\n\", sum(sizes[k]));
    return 0;
}
";
    let playground = Playground::with("prog.c", source);
    let tuned = replayed(&playground, &["sum"], &["-O2", "-fopenmp"], 2);
    assert!(
        tuned.contains("#if defined(_OPENMP)\n") && tuned.contains("omp parallel for schedule(static)"),
        "{tuned}"
    );
    agree(&playground, "-fopenmp");
    agree(&playground, "");
    // The nest was read without threads, so it is guarded by `!defined(_OPENMP)`.
    let tuned = replayed(&playground, &["sum"], &["-O2"], 1);
    assert!(tuned.contains("#if !defined(_OPENMP)"), "{tuned}");
    assert!(tuned.contains("for builds without -fopenmp"), "{tuned}");
    assert!(tuned.contains("schedule(static, 2)"), "{tuned}");
    agree(&playground, "-fopenmp");
    agree(&playground, "");
}

/// A member that the loop does not store to is not written after it, which is impossible here. A member that it does
/// store to is written, whatever its old value.
#[test]
fn members_are_stored_only_if_the_loop_stores_them() {
    let source = "#include <math.h>
#include <stdio.h>
struct limits { double most, last; int n; };
static const struct limits fixed = { 1e9, 0.0, 3 };
static void scan(struct limits *l, int n, double *restrict x)
{
    for (int i = 0; i < n; i++) {
        if (x[i] > l->most) {
            l->last = x[i];
            l->n = l->n + 1;
        }
        x[i] *= 2;
    }
}
int main(void)
{
    double x[5] = { 3, 2, 1, 0, -0.0 };
    struct limits own = { -1, 0.0, 7 };
    scan((struct limits *)&fixed, 5, x);
    scan(&own, 5, x);
    printf(\"%d %d %g %d\\n\", (int)signbit(own.last), own.n, x[0], fixed.n);
    return 0;
}
";
    let playground = Playground::with("prog.c", source);
    playground.write("r.json", &recipe_file(&[("scan", json!([]))]));
    let ran = playground.run("replay r.json prog.c -o out.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let tuned = playground.read("out.c");
    assert_eq!(tuned.matches("__builtin_memcmp").count(), 2, "{tuned}");
    agree(&playground, "-lm");
    assert_eq!(playground.read("out.txt"), "1 12 12 3\n");
}

/// A function for wider vectors stands before the one with the nest, in builds where the nest is the same.
#[test]
fn wider_vectors_have_functions_of_their_own() {
    let source = "#include <stdio.h>
#ifndef N
#define N 37
#endif
struct grid {
    int n;
    double *u;
};
/* Sums up. */
static double sum(const struct grid *g, const double *w)
{
    double s = 0;
    for (int i = 0; i < g->n; i++)
        s += g->u[i] * w[i];
    return s;
}
static void fill(double *w)
{
    for (int i = 0; i < N; i++)
        w[i] = i % 3 + 0.5;
}
int main(void)
{
    static double u[N], w[N];
    struct grid g = {N, u};
    fill(u);
    fill(w);
    printf(\"%.17g\\n\", sum(&g, w));
    return 0;
}
";
    let playground = Playground::with("prog.c", source);
    let mut recipes: Value =
        serde_json::from_str(&recipe_file(&[("sum", json!([])), ("fill", json!([]))])).expect("JSON");
    recipes["compiler"]["args"] = json!(["-O2"]);
    for nest in recipes["nests"].as_array_mut().expect("nests") {
        nest["isa"] = json!("avx2");
    }
    playground.write("r.json", &recipes.to_string());
    let ran = playground.run("replay r.json prog.c -o out.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let tuned = playground.read("out.c");
    assert!(tuned.contains("\nOXEYE_AVX2 static int oxeye_sum_13("), "{tuned}");
    assert!(tuned.contains("#if (N) == 37\nOXEYE_AVX2 static int oxeye_fill_19("), "{tuned}");
    agree(&playground, "");
    agree(&playground, "-DN=5");
    agree(&playground, "-Wall -Wextra -Werror -std=c99");

    recipes["nests"][0]["isa"] = json!("mmx");
    playground.write("r.json", &recipes.to_string());
    let ran = playground.run("replay r.json prog.c -o out.c");
    assert_ne!(ran.code, Some(0));
    assert!(ran.stderr.contains("`mmx`") && ran.stderr.contains("avx2"), "{}", ran.stderr);
}

/// A nest's own text in a function for wider vectors keeps its directives, its iterators, and what it leaves in variables.
#[test]
fn own_text_in_a_function() {
    let source = "\
#include <stdio.h>
#define B 8
#define AT(i, j) a[(i) * n + (j)]
static float blocks(float *a, int n)
{
    int i, j, k;
    float total = 0, last = 0;
    for (k = 0; k < n / B; k++) {
        float row[B] = {0.f};
#pragma omp simd
        for (j = 0; j < B; j++)
            row[j] = AT(k, j) * 0.5f;
        for (i = 0; i < n; i++)
            for (j = 0; j < B; j++)
                AT(i, j) += row[j];
        last = row[B - 1];
        total += last;
    }
    return total + last;
}
static void out(float *a, int n)
{
    for (int i = 0; i < n; i++) {
        if (a[i] > 1e30f)
            return;
        a[i] *= 2;
    }
}
static void down(float *a, int n)
{
    long i = n / 2 + 1;
    while (i-- > 0)
        a[i] = a[i] * 3 + 1;
}
static void limited(int *limit, int *counts)
{
    for (int i = 0; i < *limit; i++)
        counts[i] = i / 2;
}
int main(void)
{
    static float a[40 * 40];
    for (int i = 0; i < 1600; i++)
        a[i] = (float)(i % 7) / 4;
    float total = blocks(a, 40);
    out(a, 1600);
    down(a, 100);
    int counts[90] = {0};
    counts[7] = 80;
    limited(&counts[7], counts);
    for (int i = 0; i < 90; i++)
        total += (float)counts[i];
    printf(\"%.9g %.9g %.9g\\n\", total, a[41], a[1599]);
    return 0;
}
";
    let playground = Playground::with("prog.c", source);
    let mut recipes: Value = serde_json::from_str(&recipe_file(&[("blocks", json!([]))])).expect("JSON");
    recipes["compiler"]["args"] = json!(["-O2"]);
    let nest = &mut recipes["nests"][0];
    (nest["isa"], nest["own_text"]) = (json!("avx2"), json!(true));
    playground.write("r.json", &recipes.to_string());
    let ran = playground.run("replay r.json prog.c -o out.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let tuned = playground.read("out.c");
    let (_, function) = tuned.split_once("\nOXEYE_AVX2 static int oxeye_blocks_8(").expect("a function");
    let (function, _) = function.split_once("\n}\n").expect("its end");
    assert!(function.contains("#pragma omp simd\n        for (j = 0; j < B; j++)"), "{function}");
    agree(&playground, "");
    agree(&playground, "-fopenmp");
    agree(&playground, "-Wall -Wextra -Werror -Wno-unknown-pragmas -std=c99");

    // A counter begins where it did; what a loop counts to may be among what it writes.
    for (function, text) in [("down", "long i = n / 2 + 1;"), ("limited", "(int *limit, int *counts)")] {
        recipes["nests"][0]["function"] = json!(function);
        playground.write("r.json", &recipes.to_string());
        let ran = playground.run("replay r.json prog.c -o out.c");
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let tuned = playground.read("out.c");
        let (_, own) = tuned.split_once("\nOXEYE_AVX2 static int oxeye_").expect("a function");
        assert!(own.split_once("\n}\n").expect("its end").0.contains(text), "{own}");
        agree(&playground, "");
        agree(&playground, "-O3");
    }

    // What leaves the function cannot leave another one, and what stays as it is has no steps.
    recipes["nests"][0]["function"] = json!("out");
    playground.write("r.json", &recipes.to_string());
    let ran = playground.run("replay r.json prog.c -o out.c");
    assert_ne!(ran.code, Some(0));
    recipes["nests"][0]["function"] = json!("blocks");
    recipes["nests"][0]["recipe"] = json!(["tile i:4"]);
    playground.write("r.json", &recipes.to_string());
    let ran = playground.run("replay r.json prog.c -o out.c");
    assert_ne!(ran.code, Some(0));
    assert!(ran.stderr.contains("has no steps"), "{}", ran.stderr);
}
