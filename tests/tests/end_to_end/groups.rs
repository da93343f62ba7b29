//! Groups: neighbouring loops that are one nest.

use oxeye_tests::{Playground, recipe_file};
use serde_json::{Value, json};

/// Three sweeps, each of which reads what the one before has stored, with a scalar between them, in a function that also has other
/// loops, one of them around such a group.
const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>
#ifndef N
#define N 300
#endif
static double u[N][N], rows[N][N], out[N][N];
static double sweep(int n, int m, double weight)
{
    double sum = 0;
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < n; i++)
            for (int j = 1; j < m - 1; j++)
                rows[i][j] = u[i][j - 1] + weight * u[i][j] + u[i][j + 1];
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++)
                out[i][j] = rows[i - 1][j] + weight * rows[i][j] + rows[i + 1][j];
        sum *= 0.5;
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++)
                sum += out[i][j] * t;
    }
    for (int i = 0; i < n; i++)
        u[i][0] = out[i][1];
    for (int i = 0; i < n; i++)
        u[i][0] += rows[i][1];
    return sum;
}
int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            u[i][j] = (i * 7 + j * 5) % 13 / 16.0;
    double sum = 0;
    for (int k = 0; k < 40; k++)
        sum += sweep(N - k % 3, N, 0.25);
    double all = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            all += out[i][j] * (1 + (i + j) % 3) + u[i][j];
    printf("%.12g %.12g\n", sum, all);
    return 0;
}
"#;

fn replayed(playground: &Playground, nests: &[Value]) -> Result<String, String> {
    let mut recipes: Value = serde_json::from_str(&recipe_file(&[])).expect("JSON");
    recipes["nests"] = json!(nests);
    playground.write("r.json", &recipes.to_string());
    let ran = playground.run("replay r.json prog.c -o out.c");
    if ran.code == Some(0) { Ok(playground.read("out.c")) } else { Err(ran.stderr) }
}

fn nest(ordinal: usize, within: &[usize], joined: usize, recipe: &Value) -> Value {
    json!({ "function": "sweep", "ordinal": ordinal, "within": within, "joined": joined, "line": 1, "name": "by hand",
        "recipe": recipe })
}

/// The file does what the original does, with and without OpenMP, also under the sanitizers.
fn agrees(playground: &Playground, file: &str) {
    let script = format!(
        "for n in 300 5 6 7 31; do f=\"-O1 -w -DN=$n -fsanitize=address,undefined -fno-sanitize-recover=all\"
         gcc $f prog.c -o prog.exe && gcc $f {file} -o one.exe && gcc $f -fopenmp {file} -o out.exe || exit 1
         ./prog.exe > a && ./one.exe > b && OMP_NUM_THREADS=3 ./out.exe > c && cmp a b && cmp a c || exit 1; done"
    );
    let ran = playground.shell(&script);
    assert_eq!(ran.code, Some(0), "{}{}\n{}", ran.stdout, ran.stderr, playground.read(file));
}

#[test]
fn recipes_of_groups_are_replayed() {
    let playground = Playground::with("prog.c", PROGRAM);
    // The second sweep one row behind the first.
    let shifted = json!([{ "step": "fuse", "first": 0, "second": 2, "shift": 1 }]);
    let last = json!([{ "step": "fuse", "first": 0, "second": 1, "shift": 0 }]);
    let tuned = replayed(&playground, &[nest(0, &[0], 2, &shifted), nest(1, &[], 1, &last)]);
    let tuned = tuned.unwrap_or_else(|why| panic!("{why}"));
    assert!(tuned.matches("sum *= 0.5").count() == 2, "{tuned}");
    agrees(&playground, "out.c");
    let tiles = json!([
        { "step": "overlap", "last": 2, "loops": [0, 1], "sizes": [16, 24] },
        { "step": "parallelize", "at": 6, "distribution": "Static" },
    ]);
    let tuned = replayed(&playground, &[nest(0, &[0], 2, &tiles)]).unwrap_or_else(|why| panic!("{why}"));
    assert!(tuned.contains("rows_tile[") && tuned.contains("#pragma omp parallel for"), "{tuned}");
    agrees(&playground, "out.c");
    // Not shifted, it would read rows that do not exist yet.
    let unshifted = json!([{ "step": "fuse", "first": 0, "second": 2, "shift": 0 }]);
    let refused = replayed(&playground, &[nest(0, &[0], 2, &unshifted)]).expect_err("illegal");
    assert!(refused.contains("rows"), "{refused}");
    // There are only so many.
    let refused = replayed(&playground, &[nest(1, &[], 2, &last)]).expect_err("no group");
    assert!(refused.contains("3 loop nests"), "{refused}");
}

#[test]
fn groups_are_tuned_and_reported() {
    // A neighbour of next to no time is no reason to try a group.
    let column = "u[i][0] = out[i][1];";
    let area = "for (int j = 1; j < m - 1; j++) u[i][j] += 0.01 * out[i][j];";
    let playground = Playground::with("prog.c", &PROGRAM.replace(column, area));
    let ran =
        playground.run("optimize prog.c -o out.c --json report.json --budget 20s --threads 2 -- gcc -O2");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&playground.read("report.json")).expect("JSON");
    let nests = report["nests"].as_array().expect("nests");
    let groups: Vec<&Value> = nests.iter().filter(|nest| nest["last_line"].is_u64()).collect();
    let outer = groups.iter().find(|group| group["line"] == 10 && group["last_line"] == 25);
    let trials = outer.and_then(|group| group["trials"].as_array());
    assert!(trials.is_some_and(|trials| !trials.is_empty()), "{nests:#?}");
    agrees(&playground, "out.c");
}

/// Stages in functions of their own, one of them over all elements of what the others take row by row.
const STAGES: &str = r#"#include <stdio.h>
#include <stdlib.h>
#ifndef N
#define N 300
#endif
static double in[N * N], out[N * N];
static void across(int w, int h, const double *from, double *to)
{
    double half = 0.5;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            to[y * w + x] = half * from[y * w + x] + 0.25 * from[y * w + w - 1 - x];
}
static void down(int w, int h, const double *from, double *to)
{
    for (int y = 1; y < h - 1; y++)
        for (int x = 0; x < w; x++)
            to[y * w + x] = 0.25 * (from[(y - 1) * w + x] + 2 * from[y * w + x] + from[(y + 1) * w + x]);
}
static void sharpen(int n, const double *from, const double *blurred, double *to, double amount)
{
    for (int i = 0; i < n; i++)
        to[i] = (1 + amount) * from[i] - amount * blurred[i];
}
static void unsharp(int w, int h, double amount)
{
    double *mirrored = malloc((w * h + 1) * sizeof *mirrored);
    double *rows = malloc((w * h + 1) * sizeof *rows), *both = calloc(w * h + 1, sizeof *both);
    across(w, h, in, mirrored);
    across(w, h, mirrored, rows);
    down(w, h, rows, both);
    sharpen(w * h, in, both, out, amount);
    free(mirrored);
    free(rows);
    free(both);
}
int main(void)
{
    for (int i = 0; i < N * N; i++)
        in[i] = i % 613 / 16.0;
    for (int k = 0; k < 60; k++) {
        unsharp(N - k % 3, N / 2 + 1, 0.5 + k % 2);
        in[k % N] += 0.5;
    }
    double all = 0;
    for (int i = 0; i < N * N; i++)
        all += out[i] * (1 + i % 3);
    printf("%.12g\n", all);
    return 0;
}
"#;

#[test]
fn calls_of_stages_are_one_nest() {
    let playground = Playground::with("prog.c", STAGES);
    let nest = |ordinal: usize, joined: usize, recipe: &Value| {
        json!({ "function": "unsharp", "ordinal": ordinal, "joined": joined, "line": 1, "name": "by hand",
            "recipe": recipe })
    };
    let tiles = json!([
        { "step": "overlap", "last": 4, "loops": [0], "sizes": [8] },
        { "step": "parallelize", "at": 6, "distribution": "Static" },
    ]);
    let tuned = replayed(&playground, &[nest(1, 2, &tiles)]).unwrap_or_else(|why| panic!("{why}"));
    assert!(tuned.contains("rows_tile[") && tuned.contains("across(w, h, in, mirrored);"), "{tuned}");
    agrees(&playground, "out.c");
    let refused = replayed(&playground, &[nest(1, 3, &tiles)]).expect_err("no group");
    assert!(refused.contains("4 loop nests"), "{refused}");

    let ran =
        playground.run("optimize prog.c -o out.c --json report.json --budget 20s --threads 2 -- gcc -O2");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&playground.read("report.json")).expect("JSON");
    let mut nests = report["nests"].as_array().expect("nests").iter();
    let group = nests.find(|nest| nest["function"] == "unsharp" && nest["last_line"].is_u64());
    let trials = group.and_then(|group| group["trials"].as_array());
    assert!(trials.is_some_and(|trials| !trials.is_empty()), "{report:#}");
    agrees(&playground, "out.c");
}
