//! Calls of many sizes: which of them a nest is tuned for, and what runs for the others.

use oxeye_tests::{Playground, recipe_file};
use serde_json::{Value, json};

/// Three nests whose sizes stand in the call: a triangle over rows one after the other, a member of a structure that bounds
/// a loop with steps of time around it, and a sum whose pointers may overlap.
const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>

struct grid { int n; double *u, *v; };

static void factor(int n, double *a)
{
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            a[i * n + k] /= a[k * n + k];
            for (int j = k + 1; j < n; j++)
                a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
}

static void relax(struct grid *g, int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < g->n - 1; i++)
            g->v[i] = 0.5 * (g->u[i - 1] + g->u[i + 1]);
        for (int i = 1; i < g->n - 1; i++)
            g->u[i] = g->v[i];
    }
}

static void scale(long first, long last, const double *from, double *to)
{
    for (long i = first; i < last; i++)
        to[i] = 0.5 * from[i] + i;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 50;
    double *a = malloc(((size_t)n * n + 1) * sizeof *a), *u = malloc((n + 1) * sizeof *u), *v = malloc((n + 1) * sizeof *v);
    struct grid g = {n, u, v};
    for (int i = 0; i < n * n; i++)
        a[i] = i % 7 + (i / n == i % n ? 40 : 0);
    for (int i = 0; i < n; i++)
        u[i] = v[i] = i % 11;
    factor(n, a);
    relax(&g, 3);
    scale(0, n, u, v);
    scale(0, n - 1, v, v + 1);
    for (int i = 0; i < n; i++)
        printf("%.17g %.17g %.17g\n", a[i * n + i], u[i], v[i]);
    free(a);
    free(u);
    free(v);
    return 0;
}
"#;

fn recipes() -> [(&'static str, Value); 3] {
    let parallel = |at: u32| json!({ "step": "parallelize", "at": at, "distribution": "Static" });
    [
        ("factor", json!([parallel(1)])),
        ("relax", json!([parallel(1), parallel(2)])),
        ("scale", json!([parallel(0)])),
    ]
}

/// The recipe file with a guard for each nest.
fn guarded(guards: &[Value; 3]) -> String {
    let mut file: Value = serde_json::from_str(&recipe_file(&recipes())).expect("JSON");
    for (nest, guard) in file["nests"].as_array_mut().expect("nests").iter_mut().zip(guards) {
        nest["guard"] = guard.clone();
    }
    file.to_string()
}

#[test]
fn both_sides_of_a_guard_do_the_same() {
    let playground = Playground::with("prog.c", PROGRAM);
    let guards = [json!({"least": 1e5}), json!({"least": 40, "threads": 60}), json!({"least": 45.0})];
    playground.write("r.json", &guarded(&guards));
    let ran = playground.run("replay r.json prog.c -o out.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let tuned = playground.read("out.c");
    for test in ["if ((double)n * n * n >= 1e5", ">= 40", " if(", ">= 60)", "if (last - first >= 45 &&"] {
        assert!(tuned.contains(test), "{test}\n{tuned}");
    }
    // The same file without guards has no such test.
    playground.write("plain.json", &recipe_file(&recipes()));
    assert_eq!(playground.run("replay plain.json prog.c -o plain.c").code, Some(0));
    assert!(!playground.read("plain.c").contains(">= 4"), "{}", playground.read("plain.c"));
    let script = "set -e
        flags='-O1 -g -Wall -Wextra -Werror -ffp-contract=off -fsanitize=address,undefined -fno-sanitize-recover=all'
        gcc $flags prog.c -o before.exe; gcc $flags -fopenmp out.c -o after.exe
        for n in 0 1 2 39 40 44 45 46 47 59 60 90; do
            ./before.exe $n > before.txt; ./after.exe $n > after.txt; cmp before.txt after.txt
        done";
    let ran = playground.shell(script);
    assert_eq!(ran.code, Some(0), "{}{}\n{tuned}", ran.stdout, ran.stderr);
}

/// Threads were worth it, the same code without them was not: a build without OpenMP is the user's own.
#[test]
fn without_openmp_the_original_runs() {
    let playground = Playground::with("prog.c", PROGRAM);
    let guards = [json!({"openmp": true}), Value::Null, json!({"openmp": true, "least": 45.0})];
    playground.write("r.json", &guarded(&guards));
    let ran = playground.run("replay r.json prog.c -o out.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let tuned = playground.read("out.c");
    assert_eq!(tuned.matches("#if defined(_OPENMP)").count(), 2, "{tuned}");
    let script = "set -e
        flags='-O1 -Wall -Wextra -Werror -Wno-unknown-pragmas -ffp-contract=off'
        gcc -E -P prog.c | sed -n '/ factor(/,/ relax(/p' | tr -d ' \\n' > a.txt
        gcc -E -P out.c | sed -n '/ factor(/,/ relax(/p' | tr -d ' \\n' > b.txt
        test -s a.txt; cmp a.txt b.txt
        gcc $flags prog.c -o a.exe; gcc $flags out.c -o b.exe; gcc $flags -fopenmp out.c -o c.exe
        for n in 0 2 44 46 90; do
            ./a.exe $n > a.txt; ./b.exe $n > b.txt; ./c.exe $n > c.txt; cmp a.txt b.txt; cmp a.txt c.txt
        done";
    let ran = playground.shell(script);
    assert_eq!(ran.code, Some(0), "{}{}\n{tuned}", ran.stdout, ran.stderr);
}

#[test]
fn code_for_one_value_of_a_size_leaves_others_to_the_original() {
    let playground = Playground::with("prog.c", PROGRAM);
    let with = |known: Value| {
        let mut file: Value = serde_json::from_str(&recipe_file(&recipes())).expect("JSON");
        file["nests"][0]["known"] = known;
        file["nests"][1]["known"] = json!({"steps": 3});
        file.to_string()
    };
    playground.write("r.json", &with(json!({"n": 40})));
    let ran = playground.run("replay r.json prog.c -o out.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let tuned = playground.read("out.c");
    for text in ["n == 40", "i < 40", "steps == 3", "t < 3"] {
        assert!(tuned.contains(text), "{text}\n{tuned}");
    }
    let script = "set -e
        flags='-O1 -g -Wall -Wextra -Werror -ffp-contract=off -fsanitize=address,undefined -fno-sanitize-recover=all'
        gcc $flags prog.c -o before.exe; gcc $flags -fopenmp out.c -o after.exe
        for n in 0 1 39 40 41; do ./before.exe $n > before.txt; ./after.exe $n > after.txt; cmp before.txt after.txt; done";
    let ran = playground.shell(script);
    assert_eq!(ran.code, Some(0), "{}{}\n{tuned}", ran.stdout, ran.stderr);
    playground.write("r.json", &with(json!({"q": 40})));
    let ran = playground.run("replay r.json prog.c -o out.c");
    assert!(
        ran.code == Some(2) && ran.stderr.contains("`q`, which is no size of the nest"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_guard_that_cannot_be_tested_is_refused() {
    let source = PROGRAM.replace("i < last", "i < 9").replace("i = first", "i = 3");
    let playground = Playground::with("prog.c", &source);
    playground.write("r.json", &guarded(&[Value::Null, Value::Null, json!({"least": 45.0})]));
    let ran = playground.run("replay r.json prog.c -o out.c");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("how large the nest is does not follow from variables"), "{}", ran.stderr);
}

/// A nest that is called a thousand times with little to do, and a few times with nearly all of its time.
const MIXED: &str = r#"#include <stdio.h>
#include <stdlib.h>
static void product(int n, int d, const float *restrict w, const float *restrict x, float *restrict y)
{
    for (int i = 0; i < d; i++) {
        float sum = 0.0f;
        for (int j = 0; j < n; j++)
            sum += w[i * n + j] * x[j];
        y[i] = sum;
    }
}
int main(void)
{
    float *w = malloc(2000 * 2000 * sizeof *w), *x = malloc(2000 * sizeof *x), *y = malloc(2000 * sizeof *y);
    for (int i = 0; i < 2000 * 2000; i++)
        w[i] = i % 13;
    for (int i = 0; i < 2000; i++)
        x[i] = i % 7;
    for (int t = 0; t < 1024; t++) {
        product(16, 16, w, x, y);
        if (t % 32 == 3)
            product(2000, 2000, w, x, y);
    }
    printf("%g\n", y[5]);
    return 0;
}
"#;

#[test]
fn a_nest_is_tuned_on_the_calls_that_take_its_time() {
    let playground = Playground::with("prog.c", MIXED);
    let ran = playground.run("optimize prog.c --quick -o out.c --json r.json --budget 8s -- gcc -O1");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&playground.read("r.json")).expect("JSON");
    let nest = report["nests"].as_array().expect("nests").iter().find(|nest| nest["function"] == "product");
    let nest = nest.unwrap_or_else(|| panic!("{report:#}"));
    let sizes = nest["sizes"].as_array().expect("sizes");
    let calls: Vec<(f64, u64)> =
        sizes.iter().filter_map(|s| Some((s["iterations"].as_f64()?, s["invocations"].as_u64()?))).collect();
    // 16 × 16 and 2000 × 2000; each long call does 15,000 times as much as a short one.
    assert_eq!(calls, [(f64::from(1 << 21), 32), (256.0, 1024)], "{nest:#}");
    let long = nest["baseline_ms"].as_f64().expect("a time");
    let work = 4e6 / 1e10;
    assert!(long > 1e3 * work, "timed on a short call: {long} ms");
}
