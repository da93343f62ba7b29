//! Functions of other files of the program.

use oxeye_codegen::{RenderOptions, guarded, render_nest, tuned_file};
use oxeye_frontend::{OtherSource, ReadOptions, Unit, read_c};
use std::path::Path;
use std::process::Command;

/// The flags of files, `*` being all of them.
type Flags<'a> = &'a [(&'a str, &'a [&'a str])];

/// Reads the first of these files, as part of a program of all of them.
fn read(folder: &Path, files: &[(&str, &str)], flags: Flags<'_>) -> Unit {
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    let args = |name: &str| -> Vec<String> {
        let own = flags.iter().filter(|(of, _)| *of == name || *of == "*");
        own.flat_map(|(_, flags)| flags.iter().map(|f| (*f).to_owned())).collect()
    };
    let others = files[1..].iter().filter(|(name, _)| name.ends_with(".c"));
    let others = others.map(|(name, _)| OtherSource { path: folder.join(name), args: args(name) }).collect();
    let options =
        ReadOptions { compiler: "gcc".into(), args: args(files[0].0), others, ..ReadOptions::default() };
    read_c(&folder.join(files[0].0), &options).expect("can be read")
}

const COMMON_H: &str = "#ifndef COMMON_H
#define COMMON_H
typedef double real;
typedef struct { real x, y; int kind; } point;
enum { LEFT, RIGHT = 5 };
extern real scale[4];
#ifndef SHIFT
#define SHIFT 3
#endif
real kernel(real a, real b);
void step(int n, const real *in, real *out);
real far(const point *p, int k);
#endif
";
const MAIN_C: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include "common.h"
static real square(real x) { return x * x; }
static void first(int n, const real *u, real *v)
{
    for (int i = 0; i < n; i++)
        v[i] = kernel(u[i], square(u[i + 1]));
}
static void steps(int n, real *u, real *v)
{
    for (int t = 0; t < 10; t++) {
        step(n, u, v);
        step(n, v, u);
    }
}
static real all(int n, const point *p)
{
    real s = 0;
    for (int i = 0; i < n; i++)
        s += far(p, i);
    return s;
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100;
    real *u = calloc(n + 2, sizeof *u), *v = calloc(n + 2, sizeof *v);
    point *p = calloc(n + 1, sizeof *p);
    for (int i = 0; i < n; i++)
        u[i + 1] = i % 13 * 0.5, p[i].x = i, p[i].y = 0.5 * i, p[i].kind = i % 5;
    first(n, u, v);
    steps(n, u, v);
    printf("%.17g %.17g\n", all(n, p), v[n / 2] + u[n]);
    free(u), free(v), free(p);
    return 0;
}
"#;
const PARTS_C: &str = r#"#include <math.h>
#include "common.h"
#define HALF 0.5
#define TWICE(x) ((x) + (x))
real scale[4] = {1, 2, 3, 4};
static real helper(real x) { return x * HALF + SHIFT; }
real kernel(real a, real b)
{
    real r = helper(a);
    if (r > b)
        return r - b;
#ifdef ROUGH
    return TWICE(b);
#else
    return fabs(b - r) * TWICE(2);
#endif
}
void step(int n, const real *in, real *out)
{
    for (int i = 1; i <= n; i++)
        out[i] = HALF * in[i] + 0.25 * (in[i - 1] + in[i + 1]);
}
real far(const point *p, int k) { return p[k].x * p[k].y * scale[p[k].kind % 3] + RIGHT; }
"#;

#[test]
fn functions_of_other_files_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [("main.c", MAIN_C), ("parts.c", PARTS_C), ("common.h", COMMON_H)];
    let unit = read(folder.path(), &files, &[]);
    let part: Vec<_> = unit.functions.iter().filter(|f| f.name != "main").cloned().collect();
    insta::assert_snapshot!(crate::common::show(&Unit { functions: part, ..unit.clone() }));
    let conditions: Vec<_> = unit.functions.iter().map(|f| &f.conditions).collect();
    let of_first = conditions[0].values().next().expect("conditions");
    assert_eq!(of_first.preprocessor, ["!(defined(ROUGH))", "(SHIFT) == 3"]);
}

#[test]
fn tuned_files_serve_other_builds_of_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [("main.c", MAIN_C), ("parts.c", PARTS_C), ("common.h", COMMON_H)];
    let unit = read(folder.path(), &files, &[]);
    let mut replacements = Vec::new();
    for function in unit.functions.iter().filter(|f| f.name != "main") {
        for nest in function.program.nests.values() {
            let span = nest.span.expect("from a file");
            let original = unit.source[span.start..span.end].to_owned();
            let options = RenderOptions { original: Some(original), ..RenderOptions::default() };
            let text =
                render_nest(&function.program, &function.binding, nest, &options).expect("can be written");
            let conditions = function.conditions.get(&nest.id).cloned().unwrap_or_default();
            let text = guarded(&unit.source, span, &text, &conditions.preprocessor, &conditions.constant);
            replacements.push((span, text));
        }
    }
    assert_eq!(replacements.len(), 3);
    let tuned = tuned_file(&unit.source, &replacements, &[]);
    // It does not include <math.h>.
    assert!(tuned.starts_with("double fabs(double);\n"), "{tuned}");
    std::fs::write(folder.path().join("tuned.c"), &tuned).expect("a file");
    for define in ["-DSHIFT=3", "-DSHIFT=5", "-DROUGH"] {
        let built = |source: &str, output: &str| {
            let mut gcc = Command::new("gcc");
            gcc.args([
                "-O1",
                "-g",
                "-fsanitize=address,undefined",
                "-fno-sanitize-recover=all",
                define,
                "-o",
            ]);
            let done = gcc
                .args([output, source, "parts.c", "-lm"])
                .current_dir(folder.path())
                .output()
                .expect("gcc");
            assert!(done.status.success(), "{}\n{tuned}", String::from_utf8_lossy(&done.stderr));
        };
        built("main.c", "original");
        built("tuned.c", "tuned");
        for size in ["0", "1", "17", "300"] {
            let ran = |name: &str| {
                let done = Command::new(folder.path().join(name)).arg(size).output().expect("runs");
                assert!(done.status.success(), "{name} {size}: {}", String::from_utf8_lossy(&done.stderr));
                String::from_utf8_lossy(&done.stdout).into_owned()
            };
            assert_eq!(ran("original"), ran("tuned"), "{define} {size}\n{tuned}");
        }
    }
}

/// What is said of a call of `f`, which `other` defines.
fn refused(own: &str, other: &str, flags: Flags<'_>) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let own = format!(
        "{own}\nvoid g(int n, double *x)\n{{\n    for (int i = 0; i < n; i++)\n        x[i] = f(x[i]);\n}}\n"
    );
    let unit = read(folder.path(), &[("own.c", &own), ("other.c", other)], flags);
    match unit.diagnostics.as_slice() {
        [] => "read".to_owned(),
        [one, ..] => one.message.clone(),
    }
}

#[test]
fn what_means_something_else_here_is_not_taken() {
    let f = "double f(double x);";
    let cases: &[(&str, &str, Flags<'_>)] = &[
        (f, "double f(double x) { return x + 1; }", &[]),
        (f, "static double f(double x) { return x + 1; }", &[]),
        (f, "static double k = 2;\ndouble f(double x) { return x + k; }", &[]),
        (f, "double k = 2;\ndouble f(double x) { return x + k; }", &[]),
        ("double f(double x);\nextern float k;", "double k = 2;\ndouble f(double x) { return x + k; }", &[]),
        ("double f(double x);\nextern double k;", "double k = 2;\ndouble f(double x) { return x + k; }", &[]),
        (
            "typedef float real;\ndouble f(double x);",
            "typedef double real;\ndouble f(double x) { real y = x; return y; }",
            &[],
        ),
        (
            "double f(double x);\nstruct p { int a, b; };",
            "struct p { int b, a; };\ndouble f(double x) { struct p q = {1, 2}; return x + q.a; }",
            &[],
        ),
        (
            "double f(double x);\nenum { A = 1 };",
            "enum { A = 2 };\ndouble f(double x) { return x * A; }",
            &[],
        ),
        (
            "double f(double x);\nstatic double h(double x) { return x; }",
            "static double h(double x) { return x + 1; }\ndouble f(double x) { return h(x); }",
            &[],
        ),
        (
            "double f(double x);\nstatic double h(double x) { return x; }",
            "double h(double x);\ndouble f(double x) { return h(x); }",
            &[],
        ),
        (
            "double f(double x);\nstatic double h(double x) { return x; }",
            "static double h(double x) { return x; }\ndouble f(double x) { return h(x); }",
            &[],
        ),
        (f, "__attribute__((weak)) double f(double x) { return x; }", &[]),
        (f, "double f(double x) { return x * K; }", &[("*", &["-DK=2"])]),
        (f, "double f(double x) { return x * K; }", &[("own.c", &["-DK=2"]), ("other.c", &["-DK=3"])]),
        (f, "#define K 2\ndouble f(double x) { return x * K; }", &[]),
        (f, "#ifndef K\n#define K 2\n#endif\ndouble f(double x) { return x * K; }", &[]),
        (
            f,
            "double f(double x)\n{\n#ifdef FAST\n    return x;\n#else\n    return x + 1;\n#endif\n}",
            &[("other.c", &["-DFAST"])],
        ),
        (f, "double f(double x) { return x + 1; }", &[("other.c", &["-ffast-math"])]),
        (f, "#define HEAD double f(double x)\nHEAD { return x + 1; }", &[]),
        (f, "double f(double x) { static double k; return x + k++; }", &[]),
        (f, "double f(double x) { return x + 1; /* a } */ }\nint y = sizeof(\"}\");", &[]),
    ];
    let mut lines = String::new();
    for (own, other, flags) in cases {
        lines += &format!("{}\n  {other}\n  {flags:?}\n= {}\n", own, refused(own, other, flags));
    }
    insta::assert_snapshot!(lines);
}

#[test]
fn a_name_that_two_files_define_is_not_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = "double f(double x);\nvoid g(int n, double *x)\n{\n    for (int i = 0; i < n; i++)\n        x[i] = f(x[i]);\n}\n";
    let one = "double f(double x) { return x + 1; }\n";
    let unit = read(folder.path(), &[("own.c", own), ("one.c", one), ("two.c", one)], &[]);
    assert_eq!(unit.diagnostics[0].message, "`f` is called, and what it does is not known");
}

#[test]
fn functions_of_several_files_call_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = "double f(double x);\nvoid g(int n, double *x)\n{\n    for (int i = 0; i < n; i++)\n        x[i] = f(x[i]);\n}\n";
    let one = "double h(double x);\nstatic double k(double x) { return x / 2; }\ndouble f(double x) { return h(x) + k(x); }\n";
    let two = "static double k(double x) { return x / 3; }\ndouble h(double x) { return x * 2; }\ndouble unused(double x) { return k(x); }\n";
    let unit = read(folder.path(), &[("own.c", own), ("one.c", one), ("two.c", two)], &[]);
    let text = unit.functions[0].binding.display(&unit.functions[0].program);
    assert!(
        text.contains("x[i] = x[i] * 2.0 + x[i] / 2.0") || text.contains("x[i] = x[i] * 2 + x[i] / 2"),
        "{text}"
    );
}

/// The names of functions are made by macros where they are defined.
#[test]
fn functions_whose_names_macros_make_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        (
            "main.c",
            "void lib_axpy(int n, double a, const double *x, double *y);\n\
             double lib_total(int n, const double *x);\ndouble lib_gone(int n, const double *x);\n\
             void all(int n, const double *x, double *y, double *r)\n{\n    for (int i = 0; i < n; i++)\n        \
             lib_axpy(n, 0.5, x, y + i);\n    for (int i = 0; i < n; i++)\n        r[i] = lib_total(n, x + i);\n    \
             for (int i = 0; i < n; i++)\n        r[i] += lib_gone(n, x + i);\n}\n",
        ),
        ("names.h", "#define NS(x) lib_##x\n#define total NS(total)\n"),
        (
            "kernels.c",
            "#include \"names.h\"\nvoid NS(axpy)(int n, double a, const double *x, double *y)\n{\n    \
             for (int i = 0; i < n; i++)\n        y[i] += a * x[i];\n}\n\
             double total(int n, const double *x)\n{\n    double s = 0;\n    for (int i = 0; i < n; i++)\n        \
             s += x[i];\n    return s;\n}\nstatic double NS(gone)(int n, const double *x) { return x[n]; }\n",
        ),
    ];
    let unit = read(folder.path(), &files, &[]);
    let [function] = unit.functions.as_slice() else { panic!("{:?}", unit.diagnostics) };
    let inlined: Vec<&str> = function.inlined.values().flatten().map(String::as_str).collect();
    assert_eq!(inlined, ["lib_axpy", "lib_total"], "{:?}", unit.diagnostics);
    assert_eq!(unit.diagnostics.len(), 1, "{:?}", unit.diagnostics);
}
