//! Definitions that are edited in a tuned file: nests hold copies of them.

use oxeye_tests::{Playground, recipe_file};
use serde_json::{Value, json};

/// Sizes and coefficients as people keep them: constants of a function, an enumeration, a structure, the name of a type.
const PROGRAM: &str = "\
#include <stdio.h>
#include <stdlib.h>
enum { DEPTH = 6 };
typedef double real;
static const struct { int edge; real weight; } rules = { 1, 0.25 };
static real half(real x)
{
    return x * 0.5;
}
static double sweep(void)
{
    const int w = 40, h = 30;
    static const int steps = 4;
    real *a = calloc(w * h, sizeof *a), *b = calloc(w * h, sizeof *b);
    for (int i = 0; i < w * h; i++)
        a[i] = b[i] = i % 7;
    for (int t = 0; t < steps; t++)
        for (int i = rules.edge; i < h - rules.edge; i++)
            for (int j = 1; j < w - 1; j++)
                b[i * w + j] += rules.weight * (a[i * w + j - 1] + a[(i - 1) * w + j]);
    double sum = 0;
    for (int i = 0; i < w * h; i++)
        sum += b[i] * (i % 5);
    free(a);
    free(b);
    return sum;
}
static double layers(void)
{
    real (*x)[20] = calloc(DEPTH, sizeof *x);
    for (int k = 0; k < DEPTH; k++)
        for (int i = 0; i < 20; i++)
            x[k][i] = half(k + i);
    double sum = 0;
    for (int k = 0; k < DEPTH; k++)
        sum += x[k][k];
    free(x);
    return sum;
}
int main(void)
{
    printf(\"%.9e %.9e\\n\", sweep(), layers());
    return 0;
}
";

const EDITS: [(&str, &str); 7] = [
    ("w = 40, h = 30", "w = 20, h = 15"),
    ("w = 40, h = 30", "w = 57, h = 41"),
    ("steps = 4", "steps = 7"),
    ("rules = { 1, 0.25 }", "rules = { 3, 0.125 }"),
    ("DEPTH = 6", "DEPTH = 4"),
    ("DEPTH = 6", "DEPTH = 11"),
    ("typedef double real", "typedef float real"),
];

fn tuned(playground: &Playground, recipes: &Value) -> String {
    playground.write("r.json", &recipes.to_string());
    let ran = playground.run("replay r.json prog.c -o out.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    playground.read("out.c")
}

/// Builds and runs both files with the same edit, under the sanitizers.
fn agree_after_edits(playground: &Playground, tuned: &str) {
    for (from, to) in EDITS {
        for (name, text) in [("prog.edited.c", PROGRAM), ("out.edited.c", tuned)] {
            playground.write(name, &text.replacen(from, to, 1));
        }
        for flags in ["-O1", "-O2 -fopenmp"] {
            let script = format!(
                "for f in prog out; do gcc -w -fsanitize=address,undefined -fno-sanitize-recover=all {flags} \
                 $f.edited.c -o $f.exe && ./$f.exe > $f.txt || exit 1; done; cmp prog.txt out.txt"
            );
            let ran = playground.shell(&script);
            assert_eq!(ran.code, Some(0), "{to}, {flags}: {}{}", ran.stdout, ran.stderr);
        }
    }
}

/// A rendered nest is for the values that it was read with; with others, the user's own text runs.
#[test]
fn schedules_are_for_what_was_read() {
    let playground = Playground::with("prog.c", PROGRAM);
    let nest = |function: &str, ordinal: u32| {
        json!({ "function": function, "ordinal": ordinal, "line": 1, "name": "by hand",
                "recipe": [{ "step": "parallelize", "at": 0, "distribution": "Static" }] })
    };
    let mut recipes: Value = serde_json::from_str(&recipe_file(&[])).expect("JSON");
    let mut stencil = nest("sweep", 1);
    stencil["recipe"] = json!(["parallelize i"]);
    recipes["nests"] = json!([nest("sweep", 0), stencil, nest("layers", 0)]);
    let tuned = tuned(&playground, &recipes);
    for condition in [
        "h == 30",
        "w == 40",
        "steps == (__typeof__(steps))(4)",
        "rules.edge == (__typeof__(rules.edge))(1)",
        "DEPTH == 6",
        "__builtin_types_compatible_p(real, double)",
        "contains half(): to be tuned again when that changes",
    ] {
        assert!(tuned.contains(condition), "{condition}: {tuned}");
    }
    agree_after_edits(&playground, &tuned);
}

/// A nest's own text in a function of its own takes constants as arguments: it is as right for others.
#[test]
fn own_text_takes_constants_as_arguments() {
    let playground = Playground::with("prog.c", PROGRAM);
    let mut recipes: Value = serde_json::from_str(&recipe_file(&[("sweep", json!([]))])).expect("JSON");
    let nest = &mut recipes["nests"][0];
    (nest["isa"], nest["own_text"], nest["ordinal"]) = (json!("avx2"), json!(true), json!(1));
    let tuned = tuned(&playground, &recipes);
    let (_, function) = tuned.split_once("\nOXEYE_AVX2 static int oxeye_sweep_").expect("a function");
    let (head, _) = function.split_once('{').expect("its body");
    for parameter in ["int w", "int h", "int steps"] {
        assert!(head.contains(parameter), "{function}");
    }
    assert!(!tuned.contains("w == 40"), "{tuned}");
    agree_after_edits(&playground, &tuned);
}
