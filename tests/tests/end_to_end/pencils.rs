//! Loops over pencils: each iteration fills scratch of the file by calls, works on it, and stores its part of the result.

use oxeye_tests::{Playground, recipe_file};
use serde_json::{Value, json};

/// `SCRATCH` is where the scratch lies.
const PROGRAM: &str = r#"#include <stdio.h>
#include <math.h>
#ifndef N
#define N 40
#endif
#define NV 3
static double u[NV][N + 1][N + 1], next[NV][N + 1][N + 1];
static double q[NV][N + 1], slope[NV][N + 1], flux[NV][N + 1];
static double speed;
static void gather(int j, int n)
{
    for (int v = 0; v < NV; v++)
        for (int i = 0; i < n; i++)
            q[v][i] = u[v][j][i];
}
static void slopes(double from[NV][N + 1], double to[NV][N + 1], int n)
{
    for (int v = 0; v < NV; v++)
        for (int i = 1; i < n - 1; i++)
            to[v][i] = 0.5 * (from[v][i + 1] - from[v][i - 1]);
}
static void riemann(int n)
{
    for (int i = 1; i < n - 2; i++) {
        double c = sqrt(q[0][i] * q[0][i] + speed);
        for (int v = 0; v < NV; v++)
            flux[v][i] = c * (q[v][i] + 0.5 * slope[v][i] - q[v][i + 1] + 0.5 * slope[v][i + 1]);
    }
}
static void update(int j, int n, double dt)
{
    for (int v = 0; v < NV; v++)
        for (int i = 2; i < n - 2; i++)
            next[v][j][i] = u[v][j][i] - dt * (flux[v][i] - flux[v][i - 1]);
}
static void sweep(int n, double dt)
{
    for (int j = 0; j < n; j++) {
        gather(j, n);
        slopes(q, slope, n);
        speed = 0.25 * j;
        riemann(n);
        update(j, n, dt);
    }
}
static void sums(int n, double *out)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            out[0] += next[0][j][i];
            out[1] += next[1][j][i] * u[2][j][i];
        }
}
int main(void)
{
    for (int v = 0; v < NV; v++)
        for (int j = 0; j <= N; j++)
            for (int i = 0; i <= N; i++)
                u[v][j][i] = (v * 3 + i * 7 + j * 5) % 13 / 16.0;
    for (int n = N; n > 0; n /= 2)
        sweep(n, 0.125);
    double all = 0, out[2] = {0, 0};
    for (int v = 0; v < NV; v++)
        for (int j = 0; j <= N; j++)
            for (int i = 0; i <= N; i++)
                all += next[v][j][i] * (v + 1 + (i + j) % 3);
    sums(N, out);
    printf("%.12g %.9e %.9e\n", all, out[0], out[1]);
    return 0;
}
"#;

pub(crate) fn replayed(
    playground: &Playground,
    nests: &[(&str, Value)],
    flags: &[&str],
) -> Result<String, String> {
    let mut recipes: Value = serde_json::from_str(&recipe_file(nests)).expect("JSON");
    recipes["compiler"]["args"] = json!(flags);
    recipes["reassociate"] = json!(flags.contains(&"-ffast-math"));
    recipes["threads"] = json!(2);
    playground.write("r.json", &recipes.to_string());
    let ran = playground.run("replay r.json prog.c -o out.c");
    if ran.code == Some(0) { Ok(playground.read("out.c")) } else { Err(ran.stderr) }
}

pub(crate) fn parallel(at: u32) -> Value {
    json!({ "step": "parallelize", "at": at, "distribution": "Static" })
}

/// The tuned file does what the original does, with and without OpenMP, also under the sanitizers.
pub(crate) fn agree(playground: &Playground, flags: &str) {
    let script = format!(
        "for n in 40 1 2 3 31; do f=\"-O1 -w {flags} -DN=$n -fsanitize=address,undefined -fno-sanitize-recover=all\"
         gcc $f prog.c -o prog.exe -lm && gcc $f out.c -o one.exe -lm && gcc $f -fopenmp out.c -o out.exe -lm || exit 1
         ./prog.exe > a && ./one.exe > b && OMP_NUM_THREADS=3 ./out.exe > c && cmp a b && cmp a c || exit 1; done"
    );
    let ran = playground.shell(&script);
    assert_eq!(ran.code, Some(0), "{}{}\n{}", ran.stdout, ran.stderr, playground.read("out.c"));
}

#[test]
fn pencils_with_scratch_of_the_file_are_shared() {
    let playground = Playground::with("prog.c", PROGRAM);
    let recipe = json!([{ "step": "privatize", "at": 0 }, parallel(0)]);
    let tuned = replayed(&playground, &[("sweep", recipe)], &["-O2"]).expect("replays");
    assert!(tuned.contains("#pragma omp parallel for schedule(static)"), "{tuned}");
    agree(&playground, "");
}

/// What is left in it by one run of the loop, another loop, function or file may read.
#[test]
fn what_somebody_reads_later_is_no_scratch() {
    let recipe = json!([{ "step": "privatize", "at": 0 }, parallel(0)]);
    let kept = [
        ("printf(\"", "printf(\"%g \", q[0][0]);\n    printf(\""),
        ("static double q[NV]", "double *out = 0;\ndouble q[NV]"),
        ("        gather(j, n);\n", "        if (j % 2)\n            gather(j, n);\n"),
        ("double all = 0,", "double *p = q[1], all = p[0],"),
    ];
    for (from, to) in kept {
        assert!(PROGRAM.contains(from), "{from}");
        let playground = Playground::with("prog.c", &PROGRAM.replacen(from, to, 1));
        let refused = replayed(&playground, &[("sweep", recipe.clone())], &["-O2"]);
        assert!(refused.is_err(), "{to}: {refused:?}");
    }
}

#[test]
fn sums_behind_pointers_are_shared() {
    let playground = Playground::with("prog.c", PROGRAM);
    let tuned = replayed(&playground, &[("sums", json!([parallel(0)]))], &["-O2", "-ffast-math"]);
    let tuned = tuned.expect("replays");
    assert!(tuned.contains("reduction(+:out_sum, out_sum2)"), "{tuned}");
    agree(&playground, "");
}
