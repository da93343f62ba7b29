//! Time loops as in real programs: functions called in every step, pointers to old and new fields that are swapped.

use oxeye_tests::{Playground, recipe_file};
use serde_json::{Value, json};

const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>

static double *relax(int steps, int n, double *now, double *next, double w)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            next[i] = w * (now[i - 1] + now[i] + now[i + 1]) + t;
        double *swap = now;
        now = next;
        next = swap;
    }
    return now;
}

static void half(int n, const double *from, double *to, double w)
{
    int i;
    for (i = 1; i < n - 1; i++)
        to[i] = from[i] + w * (from[i - 1] - from[i + 1]);
    w = w / 2;
    to[0] += w;
}

static double waves(int last, int n, double (*u)[n], double *a, double *b)
{
    double *keep = NULL;
    for (int t = 3; t <= last; t++) {
        half(n, a, b, 0.5 / t);
        half(n, b, u[1], t % 3);
        keep = b;
        b = a;
        a = keep;
    }
    keep = u[1];
    return a[n / 2] - b[n / 3] + keep[2];
}

int main(void)
{
    int n = 40;
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    double u[2][n];
    for (int steps = -1; steps < 8; steps++) {
        for (int i = 0; i < n; i++) {
            a[i] = i % 7;
            b[i] = i % 5;
            u[0][i] = u[1][i] = i;
        }
        double *result = relax(steps, n, a, b, 0.25);
        printf("%d %d %.17g %.17g", steps, result == a, a[7], b[9]);
        printf(" %.17g\n", waves(steps, n, u, a, b));
    }
    free(a);
    free(b);
    return 0;
}
"#;

/// For any number of steps, both pointers lead where they should, and every call has done its work.
#[test]
fn pointers_and_calls_keep_their_meaning() {
    let playground = Playground::with("prog.c", PROGRAM);
    let parallel = |loops: &[u32]| -> Value {
        let step = |at: &u32| json!({ "step": "parallelize", "at": at, "distribution": "Static" });
        loops.iter().map(step).collect()
    };
    // Both iterations of a pair: the loop of each, and those of the inlined functions.
    playground
        .write("r.json", &recipe_file(&[("relax", parallel(&[1, 2])), ("waves", parallel(&[1, 2, 3, 4]))]));
    let ran = playground.run("replay r.json prog.c -o out.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let tuned = playground.read("out.c");
    assert_eq!(tuned.matches("#pragma omp parallel for").count(), 6, "{tuned}");
    assert_eq!(tuned.matches("void *swapped").count(), 2, "{tuned}");
    let script = "gcc -O2 prog.c -o before.exe && gcc -O2 -Wall -Werror -Wno-unused-function -fopenmp out.c -o after.exe \
                  && ./before.exe > before.txt && ./after.exe > after.txt && cmp before.txt after.txt";
    let ran = playground.shell(script);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

/// From end to end: captured, verified against the program's own text, timed, and the program compared.
#[test]
fn they_are_tuned() {
    let source = PROGRAM
        .replace("int n = 40", "int n = 4000")
        .replace("u[20][3]", "u[2000][3]")
        .replace("steps < 8", "steps < 60");
    let playground = Playground::with("prog.c", &source);
    let ran = playground.run("optimize prog.c --quick -o out.c --json r.json --budget 10s -- gcc -O1");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&playground.read("r.json")).expect("JSON");
    let nests = report["nests"].as_array().expect("nests");
    let functions: Vec<&str> = nests.iter().filter_map(|nest| nest["function"].as_str()).collect();
    assert!(functions.contains(&"relax") && functions.contains(&"waves"), "{functions:?}");
    let bad = |trial: &&Value| trial["verdict"] == "wrong_result" || trial["verdict"] == "crashed";
    let trials = || nests.iter().filter_map(|nest| nest["trials"].as_array()).flatten();
    assert!(trials().count() > 0);
    assert_eq!(trials().find(bad), None, "{report:#}");
}
