//! Rows behind pointers, `double **u`, that do not lie evenly in memory.

use oxeye_tests::{Playground, recipe_file};
use serde_json::{Value, json};

/// Rows in blocks, swapped, each from its own allocation, shared, and overlapping.
const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>
#ifndef N
#define N 40
#endif

static void smooth(int n, int m, double **u, double **v, const double *w)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            v[i][j] = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] + v[i][j] * w[j];
}

static void multiply(int n, double **a, double **b, double **c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i][j] += a[i][k] * b[k][j];
}

static void spread(int n, float ***x, double **u)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 9; j++)
            for (int k = 0; k < n; k++)
                x[i][j][k] = u[i][k] * j + k;
}

int main(void)
{
    int n = N, m = N + 3;
    for (int kind = 0; kind < 6; kind++) {
        double *memory[3], **rows[3];
        for (int t = 0; t < 3; t++) {
            memory[t] = calloc((n + 1) * (2 * m + 5), sizeof(double));
            rows[t] = calloc(n + 1, sizeof *rows[t]);
            for (int i = 0; i < n; i++) {
                int at = kind == 0 ? i : (i * 7 + t) % n;
                rows[t][i] = memory[t] + at * m + (kind == 2 ? at % 3 * n / 7 : 0);
            }
            if (kind == 2)
                for (int i = 0; i < n; i++)
                    rows[t][i] = memory[t] + (i * (2 * m) + i % 5);
            if (kind == 3 && n > 4)
                rows[t][2] = rows[t][1];
            if (kind == 4 && n > 4)
                rows[t][3] = rows[t][1] + 1;
            if (kind == 5 && t > 0)
                rows[t] = (free(rows[t]), rows[0]);
        }
        for (int t = 0; t < 3; t++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++)
                    rows[t][i][j] = (i * 7 + j * 3 + t) % 11;
        float ***x = calloc(n + 1, sizeof *x);
        for (int i = 0; i < n; i++) {
            x[i] = calloc(9, sizeof **x);
            for (int j = 0; j < 9; j++)
                x[i][j] = calloc(n + (i * j) % 4, sizeof ***x);
        }
        smooth(n, m, rows[0], rows[1], memory[2]);
        multiply(n, rows[0], rows[1], rows[2]);
        spread(n, x, rows[2]);
        double sum = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                sum += rows[1][i][j] * (i + 2 * j) + rows[2][i][j] * (j - i) + x[i][j % 9][j];
        printf("%d %.17g\n", kind, sum);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < 9; j++)
                free(x[i][j]);
            free(x[i]);
        }
        free(x);
        for (int t = 0; t < 3; t++) {
            free(memory[t]);
            if (t == 0 || kind != 5)
                free(rows[t]);
        }
    }
    return 0;
}
"#;

/// Recipes that change the order of everything.
fn recipes() -> [(&'static str, Value); 3] {
    let interchange =
        |outer: u32, inner: u32| json!({ "step": "interchange", "outer": outer, "inner": inner });
    let parallel = |at: u32| json!({ "step": "parallelize", "at": at, "distribution": "Static" });
    [
        ("smooth", json!([interchange(0, 1), parallel(0)])),
        ("multiply", json!([interchange(1, 2), json!({ "step": "vectorize", "at": 1 })])),
        ("spread", json!([interchange(0, 1), parallel(0)])),
    ]
}

/// Replays these recipes, with these arrays reached through their pointers.
fn replayed(playground: &Playground, uneven: &[(&str, &[&str])]) -> Result<String, String> {
    let mut file: Value = serde_json::from_str(&recipe_file(&recipes())).expect("JSON");
    for nest in file["nests"].as_array_mut().expect("nests") {
        if let Some((_, names)) = uneven.iter().find(|(function, _)| nest["function"] == *function) {
            nest["uneven"] = json!(names);
        }
    }
    playground.write("r.json", &file.to_string());
    let ran = playground.run("replay r.json prog.c -o out.c");
    match ran.code {
        Some(0) => Ok(playground.read("out.c")),
        _ => Err(ran.stderr),
    }
}

#[test]
fn both_forms_do_the_same_wherever_rows_lie() {
    let playground = Playground::with("prog.c", PROGRAM);
    let script = "
        for n in 40 0 1 2 7 31; do
            flags=\"-O1 -Wall -Werror -DN=$n -fsanitize=address,undefined -fno-sanitize-recover=all\"
            gcc $flags prog.c -o prog.exe && gcc $flags -fopenmp out.c -o out.exe || exit 1
            ./prog.exe > prog.txt && OMP_NUM_THREADS=2 ./out.exe > out.txt && cmp prog.txt out.txt || exit 1
        done";
    let forms: [&[(&str, &[&str])]; 3] = [
        &[],
        &[("smooth", &["u", "v"]), ("multiply", &["a", "b", "c"]), ("spread", &["x", "u"])],
        &[("smooth", &["v"]), ("multiply", &["c", "b"]), ("spread", &["x"])],
    ];
    for uneven in forms {
        let tuned = replayed(&playground, uneven).expect("replays");
        assert_eq!(tuned.contains("oxeye_rows_apart"), !uneven.is_empty());
        // In the original text, and in the tuned one.
        let n_written = if uneven.iter().any(|(_, names)| names.contains(&"u")) { 2 } else { 1 };
        assert_eq!(tuned.matches("u[i - 1][j] + u[i + 1][j]").count(), n_written, "{tuned}");
        let ran = playground.shell(script);
        assert_eq!(ran.code, Some(0), "{}{}\n{tuned}", ran.stdout, ran.stderr);
    }
    let error = replayed(&playground, &[("smooth", &["w"])]).expect_err("`w` has no rows");
    assert!(error.contains("rows behind pointers in `w`"), "{error}");
}

/// Captured row by row, compared, timed and written back.
#[test]
fn nests_with_uneven_rows_are_tuned() {
    let source = PROGRAM
        .replace("#define N 40", "#define N 260")
        .replace("kind = 0; kind < 6", "kind = 1; kind < 2")
        // The rows of one array are even.
        .replace("int at = kind == 0 ? i", "int at = kind == 0 || t == 1 ? i");
    let playground = Playground::with("prog.c", &source);
    let ran = playground.run(
        "optimize prog.c --quick -f multiply -o out.c --json r.json --save-recipe s.json --budget 10s --threads 1 -- gcc -O1",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&playground.read("r.json")).expect("JSON");
    let nest = &report["nests"][0];
    let note = nest["note"].as_str().unwrap_or_default();
    assert!(note.contains("not evenly spaced, so those of `c`, `a`, `b` are"), "{nest:#}");
    assert!(nest["recipe"].is_string(), "{nest:#}");
    let bad = ["wrong_result", "crashed", "does_not_compile"];
    let trials = nest["trials"].as_array().expect("trials");
    assert_eq!(trials.iter().find(|t| bad.iter().any(|bad| t["verdict"] == *bad)), None, "{nest:#}");
    assert_eq!(report["recipes"]["nests"][0]["uneven"], json!(["c", "a", "b"]));
    assert!(playground.read("out.c").contains("oxeye_rows_apart(3, "));
    let ran = playground.run("replay s.json prog.c -o again.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(playground.read("again.c"), playground.read("out.c"));
    let script = "gcc -O1 prog.c -o a.exe && gcc -O1 out.c -o b.exe && ./a.exe > a.txt && ./b.exe > b.txt && cmp a.txt b.txt";
    let ran = playground.shell(script);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

/// Captured, compared, timed and written back, whether the rows lie evenly or not.
#[test]
fn rows_of_structures_are_tuned() {
    let source = include_str!("../../filetests/read/cases/rows_of_structures.c");
    let source = source.split("// ----").next().expect("the program");
    let even = source
        .replace("malloc(g.m * sizeof(cell))", "i ? g.u[0] + i * g.m : malloc(300 * g.m * sizeof(cell))");
    for (name, source) in [("uneven", source), ("even", &even)] {
        let playground = Playground::with("prog.c", source);
        let ran = playground.run(
            "optimize prog.c --quick -f sweep -o out.c --json r.json --budget 10s --threads 1 -- gcc -O1",
        );
        assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.stderr);
        let report: Value = serde_json::from_str(&playground.read("r.json")).expect("JSON");
        let nest = &report["nests"][0];
        let bad = ["wrong_result", "crashed", "does_not_compile"];
        let trials = nest["trials"].as_array().expect("trials");
        assert!(trials.iter().any(|t| t["verdict"] != "not_tried"), "{name}: {nest:#}");
        assert_eq!(
            trials.iter().find(|t| bad.iter().any(|bad| t["verdict"] == *bad)),
            None,
            "{name}: {nest:#}"
        );
        let script = "gcc -O1 prog.c -o a.exe && gcc -O1 -fopenmp out.c -o b.exe && ./a.exe > a.txt && ./b.exe > b.txt && cmp a.txt b.txt";
        let ran = playground.shell(script);
        assert_eq!(ran.code, Some(0), "{name}: {}{}", ran.stdout, ran.stderr);
    }
}

/// Tables with only those rows that a condition allows.
const CHOSEN: &str = r#"#include <stdio.h>
#include <stdlib.h>

static void multiply(const int *use, int n, double **a, double **b, double **c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                if (use[i])
                    c[i][j] += a[i][k] * b[k][j];
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 260, *use = calloc(n + 1, sizeof *use);
    double **t[3];
    for (int k = 0; k < 3; k++) {
        /* Of two of them, the rows before the third are not even in the table. */
        int first = k == 1 || n < 4 ? 0 : 3;
        t[k] = (double **)calloc(n - first + 1, sizeof(double *)) - first;
        for (int i = first; i < n; i++) {
            t[k][i] = calloc(n + 1 + i % 3 * 8, sizeof(double));
            for (int j = 0; j < n; j++)
                t[k][i][j] = (i * 7 + j * 3 + k) % 11;
            use[i] = first == 3 && i % 4 != 1;
        }
    }
    multiply(use, n, t[0], t[1], t[2]);
    double s = 0;
    for (int i = n < 4 ? 0 : 3; i < n; i++)
        for (int j = 0; j < n; j++)
            s += t[2][i][j] * ((i + j) % 7);
    printf("%.17g\n", s);
    return 0;
}
"#;

#[test]
fn rows_that_a_condition_decides_on_are_tuned() {
    let playground = Playground::with("prog.c", CHOSEN);
    let ran = playground.run(
        "optimize prog.c --quick -f multiply -o out.c --json r.json --budget 10s --threads 1 -- gcc -O1",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&playground.read("r.json")).expect("JSON");
    let nest = &report["nests"][0];
    assert!(nest["recipe"].is_string(), "{nest:#}");
    let bad = ["wrong_result", "crashed", "does_not_compile"];
    let trials = nest["trials"].as_array().expect("trials");
    assert_eq!(trials.iter().find(|t| bad.iter().any(|bad| t["verdict"] == *bad)), None, "{nest:#}");
    let script = "
        export ASAN_OPTIONS=detect_leaks=0
        flags=\"-O1 -Wall -Werror -fsanitize=address,undefined -fno-sanitize-recover=all\"
        gcc $flags prog.c -o a.exe && gcc $flags out.c -o b.exe || exit 1
        for n in 260 0 1 3 4 5 33; do
            ./a.exe $n > a.txt && ./b.exe $n > b.txt && cmp a.txt b.txt || exit 1
        done";
    let ran = playground.shell(script);
    assert_eq!(ran.code, Some(0), "{}{}\n{}", ran.stdout, ran.stderr, playground.read("out.c"));
}

/// Blocks of a mesh that are used by their numbers, in an order, with arrays from separate allocations.
const BLOCKS: &str = r#"#include <stdio.h>
#include <stdlib.h>
typedef struct { int level, nx; double ***array; double *flat; } block;
static block *blocks;
static int n_blocks, *order;

static void average(int b, int n)
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            for (int k = 1; k <= n; k++)
                blocks[b].array[i][j][k] = 0.5 * blocks[b].array[i][j][k] + 0.125 * blocks[b].flat[k];
}

static void exchange(int n)
{
    for (int at = 0; at + 1 < n_blocks; at++)
        for (int i = 0; i < blocks[order[at]].nx; i++)
            for (int j = 0; j < n; j++)
                blocks[order[at]].flat[i] += blocks[order[at + 1]].array[i][j][1] * (j - i);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 60, times = argc > 2 ? atoi(argv[2]) : 12;
    n_blocks = n > 7 ? 6 : 3;
    blocks = calloc(n_blocks, sizeof *blocks);
    order = calloc(n_blocks, sizeof *order);
    for (int b = 0; b < n_blocks; b++) {
        blocks[b].nx = n + b % 2;
        order[b] = n % 5 == 4 ? b / 2 : n_blocks - 1 - b;
        blocks[b].flat = calloc(n + 3, sizeof(double));
        blocks[b].array = malloc((n + 2) * sizeof(double **));
        for (int i = 0; i < n + 2; i++) {
            blocks[b].array[i] = malloc((n + 2) * sizeof(double *));
            for (int j = 0; j < n + 2; j++) {
                blocks[b].array[i][j] = calloc(n + 2 + j % 2, sizeof(double));
                for (int k = 0; k < n + 2; k++)
                    blocks[b].array[i][j][k] = (i * 7 + j * 3 + k + b) % 11;
            }
        }
    }
    if (n == 33)
        blocks[4].flat = blocks[1].array[3][2];
    for (int t = 0; t < times; t++) {
        for (int b = 0; b < n_blocks; b++)
            average(b, n);
        exchange(n);
    }
    double s = 0;
    for (int b = 0; b < n_blocks; b++)
        for (int i = 0; i < n; i++)
            s += blocks[b].flat[i] * (i % 3) + blocks[b].array[i][n / 2][n / 3];
    printf("%.17g\n", s);
    return 0;
}
"#;

#[test]
fn arrays_of_single_structures_are_tuned() {
    let playground = Playground::with("prog.c", BLOCKS);
    let ran =
        playground.run("optimize prog.c --quick -o out.c --json r.json --budget 10s --threads 1 -- gcc -O1");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&playground.read("r.json")).expect("JSON");
    let nests = report["nests"].as_array().expect("nests");
    let bad = ["wrong_result", "crashed", "does_not_compile"];
    for nest in nests {
        let trials = nest["trials"].as_array().expect("trials");
        assert_eq!(trials.iter().find(|t| bad.iter().any(|bad| t["verdict"] == *bad)), None, "{nest:#}");
    }
    let average = nests.iter().find(|nest| nest["function"] == "average").expect("is read");
    assert!(average["trials"].as_array().is_some_and(|trials| trials.len() > 1), "{average:#}");
    assert!(nests.iter().any(|nest| nest["function"] == "exchange"), "{report:#}");
    let script = "
        export ASAN_OPTIONS=detect_leaks=0
        flags=\"-O1 -Wall -Werror -fsanitize=address,undefined -fno-sanitize-recover=all\"
        gcc $flags prog.c -o a.exe && gcc $flags out.c -o b.exe || exit 1
        for n in 60 0 1 2 3 4 9 33; do
            ./a.exe $n 2 > a.txt && ./b.exe $n 2 > b.txt && cmp a.txt b.txt || exit 1
        done";
    let ran = playground.shell(script);
    assert_eq!(ran.code, Some(0), "{}{}\n{}", ran.stdout, ran.stderr, playground.read("out.c"));
}
