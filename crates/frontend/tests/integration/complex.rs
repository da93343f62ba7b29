//! Complex numbers: read as pairs of real ones, with the products and quotients that C asks for.

use crate::common::{SIZES, replays_agree, replays_agree_with, same_output, same_output_by, show, shown};
use insta::assert_snapshot;
use oxeye_frontend::ReadOptions;
use std::process::Command;

/// The same with flags for the preprocessor.
fn shown_with(source: &str, flags: &[&str]) -> String {
    let args = flags.iter().map(|flag| (*flag).to_owned()).collect();
    show(&crate::common::read_with(source, &ReadOptions { args, ..ReadOptions::default() }))
}

/// A `main` that fills arrays with numbers, infinities and NaN among them, runs `body`, and prints the bits.
fn with_main(program: &str, arrays: &str, body: &str) -> String {
    format!(
        "#include <complex.h>\n#include <math.h>\n#include <string.h>\n\
#ifndef CMPLX\n#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))\n#endif\n{program}\n\
static double number(int k)\n{{\n    if (k % 11 == 3) return 1.0 / 0.0;\n    if (k % 13 == 5) return 0.0 / 0.0;\n\
    if (k % 7 == 2) return -0.0;\n    return (k * 37 % 19 - 9) * 0.375;\n}}\n\
static void print(const double complex *z, int n)\n{{\n    for (int i = 0; i < n; i++) {{\n\
        double parts[2] = {{creal(z[i]), cimag(z[i])}};\n        unsigned long bits[2];\n\
        if (parts[0] != parts[0]) parts[0] = 12345;\n        if (parts[1] != parts[1]) parts[1] = 12345;\n\
        memcpy(bits, parts, sizeof bits);\n        printf(\"%lx %lx\\n\", bits[0], bits[1]);\n    }}\n}}\n\
int main(int argc, char **argv)\n{{\n    int n = argc > 1 ? atoi(argv[1]) : 7;\n{arrays}{body}\n    puts(\"end\");\n    return 0;\n}}\n"
    )
}

/// Arrays of `n + 1` complex numbers `x`, `y` and `z`, and `n + 1` real ones `r`.
const ARRAYS: &str = "    double complex *x = malloc(sizeof *x * (n + 1)), *y = malloc(sizeof *y * (n + 1)), *z = malloc(sizeof *z * (n + 1));\n\
    double *r = malloc(sizeof *r * (n + 1));\n    for (int i = 0; i <= n; i++) {\n\
        x[i] = CMPLX(number(i), number(i + 4));\n        y[i] = CMPLX(number(2 * i + 1), number(3 * i));\n\
        z[i] = CMPLX(number(5 * i), number(i + 9));\n        r[i] = number(4 * i + 1);\n    }\n";

const PRINT: &str = "    print(x, n);\n    print(y, n);\n    print(z, n);\n    for (int i = 0; i < n; i++) if (r[i] == r[i]) printf(\"%.17g\\n\", r[i]); else puts(\"nan\");\n    free(x); free(y); free(z); free(r);\n";

/// The same bits under the sanitizers, and by either compiler at every level.
fn same_bits(program: &str, n_nests: usize) {
    same_output(program, n_nests, SIZES);
    let compilers =
        ["gcc", "clang-19"].into_iter().filter(|c| Command::new(c).arg("--version").output().is_ok());
    for compiler in compilers {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            same_output_by(program, n_nests, &["2", "64"], (compiler, &[level, "-w"]));
        }
    }
}

#[test]
fn numbers_are_pairs() {
    assert_snapshot!(shown(
        "#include <complex.h>
void f(int n, double complex *restrict y, const double complex *restrict x, double complex a, double *restrict r)
{
    for (int i = 0; i < n; i++) {
        double complex t = cexp(I * r[i]) / x[i];
        y[i] += a * x[i] + conj(t) * 2;
        r[i] = cabs(x[i]) - cimag(t);
        __real__ y[i] = __imag__ t;
        y[i] = y[i] * y[i];
    }
}
"
    ));
}

#[test]
fn products_are_plain_where_the_flags_say_so() {
    let source = "#include <complex.h>
double complex dot(int n, const double complex *x, const double complex *y)
{
    double complex s = 0;
    for (int i = 0; i < n; i++)
        s += x[i] * conj(y[i]);
    return s;
}
";
    assert_snapshot!(shown_with(source, &["-ffast-math"]));
    for flags in [&["-ffinite-math-only"][..], &["-fcx-limited-range"], &["-fcx-fortran-rules"]] {
        assert!(!shown_with(source, flags).contains("product"), "{flags:?}");
    }
    for flags in [
        &["-O3"][..],
        &["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"],
        &["-ffast-math", "-fno-finite-math-only"],
        &["-fcx-limited-range", "-fno-cx-limited-range"],
    ] {
        assert!(shown_with(source, flags).contains("re_product("), "{flags:?}");
    }
}

#[test]
fn numbers_with_infinities_and_nan() {
    let program = "
static void f(int n, double complex *x, double complex *restrict y, double complex *restrict z, double *restrict r,
              double complex w)
{
    for (int i = 0; i < n; i++) {
        double complex t = x[i] * y[i], u;
        u = t / z[i] - r[i];
        z[i] = z[i] * w;
        y[i] -= t * r[i];
        x[i] /= 2.0 - w * r[i];
        y[i] *= u;
        if (creal(u) > cimag(t) && u != t)
            z[i] = 1.0 / z[i] + I;
        else
            z[i] += r[i] / u * -w;
        r[i] = t;
        __imag__ x[i] += 2;
        x[i] = r[i] - ~x[i];
    }
}
";
    let body = "    f(n, x, y, z, r, CMPLX(0.75, -1.5));\n";
    same_bits(&with_main(program, ARRAYS, &format!("{body}{PRINT}")), 1);
}

#[test]
fn functions_of_complex_numbers() {
    let program = "
static void f(int n, double complex *x, double complex *restrict y, double *restrict r, float complex *restrict f)
{
    for (int i = 0; i < n; i++) {
        x[i] = cexp(x[i]) + csqrt(y[i]) * clog(x[i] * y[i]);
        r[i] = cabs(x[i]) + carg(y[i]) + cabsf(f[i]);
        y[i] = cpow(y[i], 2) + csin(x[i]) - ccosh(I * r[i]);
        f[i] = cexpf(f[i]) * x[i] + conjf(f[i]) * f[i];
        f[i] *= f[i];
        f[i] /= r[i];
    }
}
";
    let body = "    float complex *g = malloc(sizeof *g * (n + 1));\n    for (int i = 0; i <= n; i++) g[i] = x[i] + 0.1f;\n\
                    f(n, x, y, r, g);\n    for (int i = 0; i < n; i++) z[i] = g[i];\n    free(g);\n";
    let whole = with_main(program, ARRAYS, &format!("{body}{PRINT}"));
    same_bits(&whole, 1);
}

#[test]
fn sums_products_and_transforms() {
    let program = "
struct cell { int k; double complex z[2]; };
static double complex g[70];
static double complex times(double complex a, double complex b) { return a * b; }
static double complex root(double complex z)
{
    double complex w = z;
    if (creal(z) < 0)
        return I * w;
    w *= 2;
    return w + 1;
}
static double norm(double complex z) { return creal(z) * creal(z) + cimag(z) * cimag(z); }

static double complex dot(int n, const double complex *x, const double complex *y)
{
    double complex s = 0;
    for (int i = 0; i < n; i++)
        s += x[i] * conj(y[i]);
    return s;
}

static void product(int n, int m, double complex a[n][m], const double complex *x, double complex *y)
{
    for (int i = 0; i < n; i++) {
        double complex s = 0;
        for (int j = 0; j < m; j++)
            s += a[i][j] * x[j];
        y[i] = s;
    }
}

static void butterflies(int n, double complex *x, double complex w)
{
    for (int i = 0; i < n / 2; i++) {
        double complex t = w * x[i + n / 2];
        x[i + n / 2] = x[i] - t;
        x[i] = x[i] + t;
    }
}

static double cells(int n, struct cell *restrict c, const double complex *restrict x)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        c[i].z[1] = c[i].z[0] * x[i];
        g[i] = times(c[i].z[1], x[i] + 1) + root(x[i]) * c[i].k;
        double size = norm(g[i] + x[i]);
        if (size > most)
            most = size;
    }
    return most;
}

static double complex horner(int n, const double complex *x, double complex at)
{
    double complex p = 0, last = 1;
    for (int i = 0; i < n; i++) {
        last = p;
        p = p * at + x[i];
    }
    return p - last;
}
";
    let body = "    double complex *a = malloc(sizeof *a * (n * (n + 1) + 1));\n    struct cell *c = malloc(sizeof *c * (n + 1));\n\
    for (int i = 0; i < n * (n + 1); i++) a[i] = CMPLX(number(i), i % 5);\n\
    for (int i = 0; i <= n; i++) { c[i].k = i; c[i].z[0] = x[i]; c[i].z[1] = 1; }\n\
    z[0] = dot(n, x, y);\n    print(z, 1);\n\
    if (n > 0) product(n, n + 1, (double complex (*)[n + 1])a, x, y);\n    print(y, n);\n\
    butterflies(n, x, CMPLX(0.6, 0.8));\n    r[0] = cells(n, c, x);\n    for (int i = 0; i < n; i++) print(c[i].z, 2);\n\
    z[0] = horner(n, y, CMPLX(0.25, 0.125));\n    print(z, 1);\n    print(g, n);\n    free(a); free(c);\n";
    let whole = with_main(program, ARRAYS, &format!("{body}{PRINT}"));
    same_bits(&whole, 5);
}

#[test]
fn replays_make_the_numbers() {
    let program = "#include <complex.h>
double complex h[100];
double complex dot(int n, const double complex *x, const double complex *y)
{
    double complex s = 1;
    for (int i = 0; i < n; i++)
        s += x[i] * conj(y[i]);
    return s;
}
void f(int n, double complex *x, double complex w, const float complex *c, double *r)
{
    for (int i = 0; i < n; i++) {
        x[i] = x[i] * w / (c[i] + 1);
        h[i] += cexp(x[i]);
        r[i] = cimag(x[i]);
    }
}
";
    replays_agree(program, &["dot", "f"]);
    replays_agree_with(program, &["dot", "f"], &["-ffast-math"]);
}

#[test]
fn what_is_not_read() {
    assert_snapshot!(shown(
        "#include <complex.h>
double complex other(double complex);
void wide(int n, long double complex *x)
{
    for (int i = 0; i < n; i++)
        x[i] = x[i] * 2;
}
void unknown(int n, double complex *x)
{
    for (int i = 0; i < n; i++)
        x[i] = other(x[i] * x[i]);
}
void stepped(int n, double complex *x)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        x[k++] *= 2.0 * I;
}
void changing(int n, volatile double complex *x, double *y)
{
    for (int i = 0; i < n; i++)
        y[i] = x[i];
}
"
    ));
}

#[test]
fn numbers_that_are_set_in_every_iteration_are_private() {
    let program = "#include <complex.h>
void f(int n, double complex *restrict y, const double complex *restrict x)
{
    double complex t, last;
    for (int i = 0; i < n; i++) {
        t = conj(x[i]);
        last = t + 1;
        y[i] = t * 2;
    }
    y[0] = last;
}
";
    let text = shown(program);
    assert!(text.contains("\"(__real__ t)\": f64 local"), "{text}");
    assert!(text.contains("A4 \"(__real__ last)\"") && text.contains("A5 \"(__imag__ last)\""), "{text}");
    assert!(text.contains("live_out(A4, A5)"), "{text}");
}

#[test]
fn rows_of_variable_length() {
    let program = "
struct cell { double a, b; };
static void f(int n, int m, double complex x[n][m], struct cell c[n][m], double complex w)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            x[i][j] = x[i][j] * w + c[i][j].b;
            c[i][j].a = cimag(x[i][j]);
        }
}
";
    let body = "    int m = n + 3;\n    double complex (*a)[m] = malloc(sizeof(double complex[n + 1][m]));\n\
    struct cell (*c)[m] = malloc(sizeof(struct cell[n + 1][m]));\n\
    double complex *flat = (double complex *)a;\n    struct cell *cells = (struct cell *)c;\n\
    for (int k = 0; k < (n + 1) * m; k++) { flat[k] = CMPLX(number(k), k); cells[k] = (struct cell){0, k}; }\n\
    if (n > 0) f(n, m, a, c, CMPLX(0.5, 0.25));\n    print(flat, n * m);\n\
    for (int k = 0; k < n * m; k++) z[0] += cells[k].a;\n    free(a); free(c);\n";
    same_bits(&with_main(program, ARRAYS, &format!("{body}{PRINT}")), 1);
}

#[test]
fn a_function_that_writes_to_a_structure_is_no_value() {
    let program = "
struct s { double x; };
static double f(struct s *p, double v)
{
    p->x += v;
    return 1;
}
static void g(int n, double *y, struct s *q)
{
    for (int i = 0; i < n; i++)
        y[i] = f(q, i) + i;
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 7;
    double y[100] = {0};
    struct s q = {1};
    g(n, y, &q);
    printf(\"%g %g\\n\", q.x, y[0]);
    return 0;
}
";
    assert!(shown(program).contains("`f` is called within an expression, and writes to memory"));
}

#[test]
fn arrays_that_may_be_the_same() {
    let program = "
static void scaled(int n, double complex *y, const double complex *x, double complex w)
{
    for (int i = 0; i < n; i++)
        y[i] = x[i] * w;
}
static void swapped(int n, float complex *y, float complex *x)
{
    for (int i = 0; i < n; i++) {
        float complex t = y[i] * x[i];
        y[i] = t / x[i];
        x[i] *= y[i];
    }
}
";
    let body = "    float complex *g = malloc(sizeof *g * (n + 2));\n    for (int i = 0; i < n + 2; i++) g[i] = CMPLX(number(i), i);\n\
    scaled(n, x, x, CMPLX(0.5, 2));\n    scaled(n, y, z, CMPLX(0.5, 2));\n    scaled(n, z + 1, z, CMPLX(1.5, 2));\n\
    scaled(n, x, (double complex *)((double *)x + 1), CMPLX(1.5, 0.25));\n\
    swapped(n, g, g);\n    swapped(n, g, g + 1);\n    swapped(n, g + 1, g);\n\
    for (int i = 0; i < n; i++) y[i] += g[i];\n    free(g);\n";
    same_bits(&with_main(program, ARRAYS, &format!("{body}{PRINT}")), 2);
}

#[test]
fn functions_with_complex_results_that_are_calls() {
    let text = shown(
        "#include <complex.h>
static double complex later(double complex z);
static double complex counted(double complex z, int *k) { ++*k; return z * z; }
static double complex deep(double complex z, int n) { return n > 0 ? deep(z, n - 1) * z : z; }
void a(int n, double complex *x)
{
    for (int i = 0; i < n; i++)
        x[i] = later(x[i]);
}
void b(int n, double complex *x, int *k)
{
    for (int i = 0; i < n; i++)
        x[i] = counted(x[i], k);
}
void c(int n, double complex *x)
{
    for (int i = 0; i < n; i++)
        x[i] = deep(x[i], 3);
}
static double complex later(double complex z) { return z * z; }
",
    );
    assert_eq!(text.matches("  nest ").count(), 1, "that which is only defined later: {text}");
    assert_snapshot!(text);
}
