//! Functions that are called through pointers.

use crate::common::{SIZES, read, replays_agree, same_output};

const PROGRAM: &str = "#include <math.h>
static double relu(double x) { return x > 0 ? x : 0; }
static double square(double x) { return x * x; }
static void apply(int n, double *restrict x, double (*f)(double))
{
    for (int i = 0; i < n; i++)
        x[i] = f(x[i]) + 1;
}
static double integrate(double (*f)(double), double a, double b, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += (*f)(a + (b - a) * i / n);
    return s;
}
int main(int argc, char **argv)
{
    static double x[500];
    int n = atoi(argv[1]);
    for (int i = 0; i < 500; i++)
        x[i] = i - 250;
    apply(n, x, relu);
    apply(n + 200, x, &relu);
    double s = integrate(square, 0, 1, n) + integrate(square, 1, 3, 7);
    for (int i = 0; i < 500; i++)
        s += x[i];
    printf(\"%.17g\\n\", s);
    return 0;
}
";

#[test]
fn pointers_that_always_lead_to_one_function() {
    same_output(PROGRAM, 2, SIZES);
    replays_agree(PROGRAM, &["apply"]);
}

#[test]
fn pointers_that_may_lead_elsewhere() {
    let unit = read(
        "static int count;
static double one(double x) { return x; }
static double two(double x) { return x * 2; }
static double counts(double x) { count++; return x; }
static void both(int n, double *x, double (*f)(double)) { for (int i = 0; i < n; i++) x[i] = f(x[i]); }
static void changed(int n, double *x, double (*f)(double)) { if (n > 3) f = two; for (int i = 0; i < n; i++) x[i] = f(x[i]); }
void open(int n, double *x, double (*f)(double)) { for (int i = 0; i < n; i++) x[i] = f(x[i]); }
static void named(int n, double *x, double (*f)(double)) { for (int i = 0; i < n; i++) x[i] = f(x[i]); }
static void writes(int n, double *x, double (*f)(double)) { for (int i = 0; i < n; i++) x[i] = f(x[i]); }
void (*handle)(int, double *, double (*)(double)) = named;
void g(double *x)
{
    both(3, x, one);
    both(4, x, two);
    changed(4, x, one);
    open(5, x, one);
    named(6, x, one);
    writes(7, x, counts);
}
",
    );
    assert_eq!(
        unit.functions.iter().map(|f| f.program.nests.len()).sum::<usize>(),
        0,
        "{}",
        crate::common::show(&unit)
    );
}
