//! Loops shared by an existing team of threads: `omp for` inside `omp parallel`, and in functions that the team calls.

use oxeye_tests::{Playground, recipe_file};
use serde_json::{Value, json};

/// Functions called by a team and by one thread, thread-private variables, and code that one thread runs in between.
const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>
#ifndef N
#define N 40
#endif
static double a[N + 1][N + 1], b[N + 1][N + 1], x[N + 1];
static long total;

static void smooth(int n, double (*from)[N + 1], double (*to)[N + 1], double w)
{
    int i, j;
    double t;
#pragma omp for nowait
    for (i = 1; i < n - 1; i++) {
        for (j = 1; j < n - 1; j++) {
            t = from[i - 1][j] + from[i + 1][j];
            to[i][j] = w * (t + from[i][j - 1] + from[i][j + 1]);
        }
    }
#pragma omp barrier
}

static void inside(int n, int steps)
{
    int i, j, step;
#pragma omp parallel private(i, j, step)
    {
        double w = 0.25;
        for (step = 0; step < steps; step++) {
            smooth(n, a, b, w);
            smooth(n, b, a, w * 2);
        }
#pragma omp for nowait
        for (i = 0; i < n; i++)
            x[i] = 0.5 * i;
#pragma omp for
        for (i = 0; i < n; i++)
            x[i] += a[i][n - 1 - i];
#pragma omp single
        x[0] = n;
    }
}

static void many(int n)
{
    int i, j;
#pragma omp parallel
    {
        int k;
        for (k = 0; k < 3; k++) {
#pragma omp single
            x[0] += k;
#pragma omp for reduction(+ : total) schedule(static)
            for (i = 0; i < n; i++)
                for (int m = 0; m < n; m++)
                    total += i * m % 7;
#pragma omp for private(j)
            for (i = 0; i < n; i++)
                for (j = 0; j < n; j++)
                    a[j][i] += k + b[i][j];
        }
    }
}

int main(void)
{
    static const int sizes[] = { N, 0, 1, 2, N / 2, N - 1 };
    for (int s = 0; s < 6; s++) {
        int n = sizes[s] < 0 ? 0 : sizes[s] > N ? N : sizes[s];
        for (int i = 0; i <= N; i++)
            for (int j = 0; j <= N; j++)
                a[i][j] = b[i][j] = (i * 7 + j * 3) % 11;
        inside(n, 3);
        smooth(n, b, a, 0.125);
        many(n);
        double sum = 0;
        for (int i = 0; i <= N; i++) {
            sum += x[i] * i;
            for (int j = 0; j <= N; j++)
                sum += a[i][j] * (i - j) + b[i][j] * j;
        }
        printf("%d %.17g %ld\n", n, sum, total);
    }
    return 0;
}
"#;

fn nest(function: &str, ordinal: usize, recipe: Value) -> Value {
    json!({ "function": function, "ordinal": ordinal, "line": 1, "name": "by hand", "recipe": recipe })
}

fn parallel(at: u32) -> Value {
    json!({ "step": "parallelize", "at": at, "distribution": "Static" })
}

/// Replays recipes for a file that is built with OpenMP.
fn replayed(playground: &Playground, nests: &[Value]) -> Result<String, String> {
    let mut recipes: Value = serde_json::from_str(&recipe_file(&[])).expect("JSON");
    recipes["compiler"]["args"] = json!(["-O2", "-fopenmp"]);
    recipes["nests"] = json!(nests);
    playground.write("r.json", &recipes.to_string());
    let ran = playground.run("replay r.json prog.c -o out.c");
    match ran.code {
        Some(0) => Ok(playground.read("out.c")),
        _ => Err(ran.stderr),
    }
}

/// Builds both files under the sanitizers and compares their outputs, for several sizes and teams. The tuned file is
/// the same program without OpenMP, too.
fn agree(playground: &Playground) {
    let script = "
        for n in 40 0 1 2 7 31; do
            flags=\"-O1 -w -DN=$n -fsanitize=address,undefined -fno-sanitize-recover=all\"
            gcc $flags -fopenmp prog.c -o prog.exe && gcc $flags -fopenmp out.c -o out.exe && gcc $flags out.c -o one.exe || exit 1
            for t in 1 2 3; do
                export OMP_NUM_THREADS=$t
                ./prog.exe > prog.txt && ./out.exe > out.txt && ./one.exe > one.txt || exit 1
                cmp prog.txt out.txt && cmp prog.txt one.txt || exit 1
            done
        done";
    let ran = playground.shell(script);
    assert_eq!(ran.code, Some(0), "{}{}\n{}", ran.stdout, ran.stderr, playground.read("out.c"));
}

#[test]
fn candidates_share_the_team() {
    let playground = Playground::with("prog.c", PROGRAM);
    let interchanged = json!([{ "step": "interchange", "outer": 0, "inner": 1 }, parallel(0)]);
    let nests = [
        nest("smooth", 0, json!([parallel(0)])),
        nest("inside", 0, json!([parallel(0)])),
        nest("inside", 1, json!([parallel(0)])),
        nest("many", 1, interchanged),
    ];
    let tuned = replayed(&playground, &nests).expect("replays");
    assert!(!tuned.contains("parallel for"), "{tuned}");
    // Before each nest, and the program's own.
    assert_eq!(tuned.matches("#pragma omp barrier").count(), 5, "{tuned}");
    assert_eq!(tuned.matches("#pragma omp for schedule(static)").count(), 4, "{tuned}");
    agree(&playground);
}

/// Loops that a team runs together around loops that it divides: in a function that it calls, in a region, and as one.
const TOGETHER: &str = r#"#include <stdio.h>
#ifndef N
#define N 40
#endif
static double a[N + 1][N + 1], b[N + 1][N + 1], line[N + 1], x[N + 2];
static void columns(int n)
{
    int i, j, half;
    double t;
    for (j = 0; j < n; j++) {
        half = j / 2;
#pragma omp for nowait
        for (i = 0; i < n; i++)
            line[i] = a[i][j] + a[half][i];
#pragma omp barrier
#pragma omp for
        for (i = 1; i < n - 1; i++) {
            t = line[i - 1] + line[i + 1];
            b[i][j] = 0.25 * t + line[i];
        }
    }
}
static void eliminate(int n)
{
    int i, j, k;
#pragma omp parallel private(i, j, k)
    for (k = 0; k < n; k++) {
#pragma omp for
        for (i = k + 1; i < n; i++)
            for (j = k + 1; j < n; j++)
                b[i][j] -= 0.001 * b[i][k] * b[k][j];
    }
}
static void steps(int n, int count)
{
#pragma omp parallel
    {
        double w = 0.5;
        columns(n);
        for (int step = 0; step < count; step++) {
            int next = step + 1;
#pragma omp for
            for (int i = 0; i < n; i++)
                x[i] = w * x[i] + next;
            if (step > 1) {
#pragma omp for
                for (int i = 0; i < n; i++)
                    a[i][step % 2] += x[i];
            }
        }
    }
}
int main(void)
{
    static const int sizes[] = { N, 0, 1, 2, N / 2, N - 1 };
    for (int s = 0; s < 6; s++) {
        int n = sizes[s] < 0 ? 0 : sizes[s] > N ? N : sizes[s];
        for (int i = 0; i <= N; i++)
            for (int j = 0; j <= N; j++)
                a[i][j] = b[i][j] = (i * 7 + j * 3) % 11;
        steps(n, 5);
        columns(n / 2);
        eliminate(n);
        double sum = 0;
        for (int i = 0; i <= N; i++) {
            sum += x[i] * i;
            for (int j = 0; j <= N; j++)
                sum += a[i][j] * (i - j) + b[i][j] * j;
        }
        printf("%d %.17g\n", n, sum);
    }
    return 0;
}
"#;

#[test]
fn what_a_team_runs_together_is_one_nest() {
    let playground = Playground::with("prog.c", TOGETHER);
    let nests = [
        nest("columns", 0, json!([parallel(1), parallel(2)])),
        nest("steps", 0, json!([parallel(1), parallel(2)])),
        nest("eliminate", 0, json!([parallel(1)])),
    ];
    let tuned = replayed(&playground, &nests).expect("replays");
    assert_eq!(tuned.matches("#pragma omp for schedule(static)").count(), 4, "{tuned}");
    agree(&playground);
}

/// Loops that are not divided are run by all threads, code in between by one; what they need of each other is shared.
#[test]
fn one_thread_does_what_is_not_divided() {
    let playground = Playground::with("prog.c", PROGRAM);
    let inner = nest("many", 1, json!([parallel(1)]));
    let tuned = replayed(&playground, &[inner]).expect("replays");
    assert!(tuned.contains("for (int i = 0; i < n; i++) {\n        #pragma omp for"), "{tuned}");
    agree(&playground);
    let error = replayed(&playground, &[nest("many", 1, json!([]))]).expect_err("one thread's work");
    assert!(error.contains("all the work would be left to one thread of the team"), "{error}");
}

/// Captured by one thread while the others wait, replayed in a team, compared, timed and written back.
#[test]
fn they_are_tuned() {
    // Long enough for samples in every nest, also where threads wait for each other most of the time.
    let source = PROGRAM
        .replace("#define N 40", "#define N 900")
        .replace("inside(n, 3)", "inside(n, 200)")
        .replace("k < 3", "k < 30");
    let playground = Playground::with("prog.c", &source);
    let ran = playground
        .run("optimize prog.c --quick -o out.c --json r.json --budget 20s --threads 2 -- gcc -O1 -fopenmp");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&playground.read("r.json")).expect("JSON");
    let nests = report["nests"].as_array().expect("nests");
    let trials = |function: &str| -> Vec<&Value> {
        let of = |nest: &&Value| nest["function"] == function;
        nests.iter().filter(of).filter_map(|nest| nest["trials"].as_array()).flatten().collect()
    };
    for function in ["smooth", "many"] {
        let trials = trials(function);
        let bad = |t: &&&Value| {
            t["verdict"] == "wrong_result" || t["verdict"] == "crashed" || t["verdict"] == "does_not_compile"
        };
        assert_eq!(trials.iter().find(bad), None, "{report:#}");
        assert!(trials.iter().any(|t| t["screened_ms"].is_number()), "{report:#}");
    }
    let script = "gcc -O1 -fopenmp prog.c -o a.exe && gcc -O1 -fopenmp out.c -o b.exe && ./a.exe > a.txt && ./b.exe > b.txt \
                  && cmp a.txt b.txt";
    let ran = playground.shell(script);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

/// Threads that race for a variable which nobody reads leave in it what the slowest of them had; a candidate leaves what one
/// thread would.
const RACE: &str = "
#include <stdio.h>
#define N 1500
static double a[N][N], sums[N], last;
static void work(int n)
{
    int i, j;
#pragma omp for private(j) schedule(static)
    for (i = 0; i < n; i++) {
        last = 0.5 * a[i][0];
        sums[i] = last * last;
        for (j = 0; j < n - i; j++)
            sums[i] += a[i][j];
    }
}
int main(void)
{
    double s = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = (i * 3 + j) % 8;
    for (int t = 0; t < 20; t++) {
#pragma omp parallel
        work(N - t % 2);
    }
    for (int i = 0; i < N; i++)
        s += sums[i];
    printf(\"%g\\n\", s);
    return 0;
}
";

#[test]
fn a_race_for_what_nobody_reads_makes_no_candidate_wrong() {
    let playground = Playground::with("prog.c", RACE);
    let ran = playground
        .run("optimize prog.c --quick -o out.c --json r.json --budget 10s --threads 2 -- gcc -O1 -fopenmp");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&playground.read("r.json")).expect("JSON");
    let nests = report["nests"].as_array().expect("nests");
    let trials =
        nests.iter().filter(|nest| nest["function"] == "work").flat_map(|nest| nest["trials"].as_array());
    let trials: Vec<&Value> = trials.flatten().collect();
    assert!(trials.iter().any(|t| t["screened_ms"].is_number()), "{report:#}");
    assert_eq!(trials.iter().find(|t| t["verdict"] == "wrong_result"), None, "{report:#}");
}

/// Nests that threads run each for itself, with memory of their own, and inside vector lanes.
const ALONE: &str = r#"
#include <stdio.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#ifndef N
#define N 40
#endif
static double a[N + 1][N + 1], b[N + 1][N + 1], row[N + 1];
#pragma omp threadprivate(row)
static volatile int seen;
static int me(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}
static int all(void)
{
#ifdef _OPENMP
    return omp_get_num_threads();
#else
    return 1;
#endif
}
static void work(int n)
{
#pragma omp parallel
    {
        int low = n * me() / all(), high = n * (me() + 1) / all();
        double mine[8] = { 0 };
        for (int i = low; i < high; i++)
            for (int j = 0; j < n; j++) {
                a[i][j] += 0.5 * b[j][i];
                mine[j % 8] += 1;
            }
        for (int i = low; i < high; i++)
            a[i][0] += mine[0] / (high - low);
    }
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        seen = i;
        for (int j = 0; j < n; j++)
            row[j] = a[i][n - 1 - j] + j;
        seen = i;
        for (int j = 0; j < n; j++)
            b[i][j] += row[j] * 0.25;
    }
#pragma omp simd
    for (int i = 0; i < n; i++) {
        seen = i;
        for (int j = 0; j < n; j++)
            a[i][j] += b[i][j];
    }
}
int main(void)
{
    double sum = 0;
    for (int i = 0; i <= N; i++)
        for (int j = 0; j <= N; j++)
            a[i][j] = b[i][j] = (i * 7 + j * 3) % 11;
    for (int n = N > 2 ? N - 2 : 0; n <= N; n++)
        work(n);
    for (int i = 0; i <= N; i++)
        for (int j = 0; j <= N; j++)
            sum += a[i][j] * (i - j) + b[i][j] * j;
    printf("%.17g\n", sum);
    return 0;
}
"#;

#[test]
fn what_one_thread_has_to_run_is_not_divided() {
    let playground = Playground::with("prog.c", ALONE);
    let at = |ordinal: usize, recipe: Value| nest("work", ordinal, recipe);
    for (ordinal, why) in [
        (0, "every thread of the `omp parallel` around it runs this loop"),
        (2, "each thread has its own `row` (`threadprivate`)"),
        (3, "each thread has its own `row` (`threadprivate`)"),
        (4, "a loop around it runs in vector lanes"),
    ] {
        let error = replayed(&playground, &[at(ordinal, json!([parallel(0)]))]).expect_err("threads");
        let said = error.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&format!("one thread has to run the nest as a whole: {why}")), "{error}");
    }
    let tiled = |loops: &[u32]| {
        let sizes: Vec<u32> = loops.iter().map(|_| 4).collect();
        json!([{ "step": "tile", "loops": loops, "sizes": sizes }])
    };
    let nests = [at(0, tiled(&[1])), at(2, tiled(&[0])), at(3, tiled(&[0])), at(4, tiled(&[0]))];
    replayed(&playground, &nests).expect("replays");
    agree(&playground);
}

#[test]
fn nests_of_one_thread_are_tuned() {
    let playground = Playground::with("prog.c", &ALONE.replace("#define N 40", "#define N 900"));
    let ran = playground
        .run("optimize prog.c --quick -o out.c --json r.json --budget 20s --threads 2 -- gcc -O1 -fopenmp");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&playground.read("r.json")).expect("JSON");
    let nests = report["nests"].as_array().expect("nests");
    let trials: Vec<&Value> = nests
        .iter()
        .filter(|nest| nest["function"] == "work")
        .filter_map(|nest| nest["trials"].as_array())
        .flatten()
        .collect();
    let bad = |t: &&&Value| {
        t["verdict"] == "wrong_result" || t["verdict"] == "crashed" || t["verdict"] == "does_not_compile"
    };
    assert_eq!(trials.iter().find(bad), None, "{report:#}");
    assert!(trials.iter().any(|t| t["screened_ms"].is_number()), "{report:#}");
    let tuned = playground.read("out.c");
    let added = tuned.matches("#pragma omp parallel").count() - ALONE.matches("#pragma omp parallel").count();
    let of_main = nests.iter().filter(|nest| nest["function"] == "main").count();
    assert!(added <= of_main, "{tuned}");
    let script = "gcc -O1 -fopenmp prog.c -o a.exe && gcc -O1 -fopenmp out.c -o b.exe && ./a.exe > a.txt && ./b.exe > b.txt \
                  && cmp a.txt b.txt";
    let ran = playground.shell(script);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}
