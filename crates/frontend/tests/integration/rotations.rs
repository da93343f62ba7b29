//! Time loops at whose end three pointers or more take turns: what they become, and that programs do the same with their nests
//! written anew.

use crate::common::{SIZES, same_output, shown};
use insta::assert_snapshot;

const WAVES: &str = "
static void waves(int n, int steps, double *old, double *now, double *next)
{
    double *saved;
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            next[i] = 2 * now[i] - old[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
        next[0] = t;
        saved = old;
        old = now;
        now = next;
        next = saved;
    }
    for (int i = 0; i < n; i++)
        printf(\"%.17g %.17g %.17g\\n\", old[i], now[i], next[i]);
}
static void levels(int n, int first, int last, double **all)
{
    double *a = all[0], *b = all[1], *c = all[2], *d = all[3];
    double *x = all[4], *y = all[5];
    for (int t = first; t <= last; ++t) {
        for (int i = 0; i < n; i++)
            d[i] = a[i] + 0.5 * b[i] - 0.25 * c[i] + x[i];
        for (int i = 0; i < n; i++)
            y[i] = d[i] + t;
        double *kept = d;
        d = c;
        c = b;
        b = a;
        a = kept;
        kept = x;
        x = y;
        y = kept;
    }
    for (int i = 0; i < n; i++)
        printf(\"%.17g %.17g %.17g %.17g %.17g %.17g\\n\", a[i], b[i], c[i], d[i], x[i], y[i]);
}
static void seven(int n, double *a, double *b, double *c)
{
    double *saved;
    for (int t = 0; t < 7; t++) {
        for (int i = 0; i < n; i++)
            a[i] = 0.5 * b[i] + c[i];
        saved = c;
        c = a;
        a = b;
        b = saved;
    }
    for (int i = 0; i < n; i++)
        printf(\"%.17g %.17g %.17g\\n\", a[i], b[i], c[i]);
}
";

const MAIN: &str = "
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i, k;
    double *x = calloc(6 * n + 6, sizeof *x), *all[6];
    for (k = 0; k < 6; k++)
        all[k] = x + k * (n + 1);
    for (k = 0; k < 8; k++) {
        for (i = 0; i < 6 * n + 6; i++)
            x[i] = i % 7 - 0.5 * (i % 5);
        waves(n, k, x, x + n, x + 2 * n);
        levels(n, k / 2 - 2, 2 * k - 5, all);
        seven(n, x, x + n, x + 2 * n);
        seven(n / 2, x, x + n / 4, x + 2 * n);
        waves(n / 2, k, x, x + n, x + n / 4);
    }
    printf(\"%d %d\\n\", n, argc);
    free(x);
    return 0;
}
";

#[test]
fn pointers_that_take_turns() {
    same_output(&format!("{WAVES}{MAIN}"), 3, SIZES);
}

#[test]
fn time_loops_become_rounds() {
    let start = WAVES.find("static void levels").expect("is there");
    assert_snapshot!(shown(&format!("int printf(const char *, ...);\n{}", &WAVES[..start])));
}

#[test]
fn turns_that_stay() {
    assert_snapshot!(shown(
        "double *later(int n, int steps, double *a, double *b, double *c)
{
    double *saved = a;
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            c[i] = a[i] + b[i];
        saved = a;
        a = b;
        b = c;
        c = saved;
    }
    return saved;
}
void inside(int n, int m, double *a, double *b, double *c)
{
    for (int k = 0; k < m; k++)
        for (int t = 0; t < n; t++) {
            c[t] = a[t] + b[t];
            double *saved = a;
            a = b;
            b = c;
            c = saved;
        }
}
void too_many(int n, int steps, double *a, double *b, double *c, double *x, double *y)
{
    double *saved;
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            c[i] = a[i] + b[i] + x[i], y[i] = x[i];
        saved = a;
        a = b;
        b = c;
        c = saved;
        saved = x;
        x = y;
        y = saved;
    }
}
void twice(int n, int steps, double *a, double *b, double *c)
{
    double *saved;
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            c[i] = a[i] + b[i];
        saved = a;
        a = b;
        b = a;
        c = saved;
    }
}
"
    ));
}

/// What held a pointer meanwhile is a further name for its memory.
#[test]
fn the_pointer_that_saves_another_leads_to_the_same_memory() {
    let unit = crate::common::read(
        "void *malloc(unsigned long);
double f(int n)
{
    double *a = malloc(800), *b = malloc(800), *saved;
    for (int i = 0; i < n; i++)
        a[i] = b[i] = i;
    saved = a;
    a = b;
    b = saved;
    for (int i = 1; i < n; i++)
        saved[i] = b[i - 1] + 1;
    return b[n - 1];
}
",
    );
    let program = &unit.functions[0].program;
    let array = |name: &str| program.arrays.values().find(|a| a.name == name).expect("is there").id;
    let (one, other) = (array("b"), array("saved"));
    assert!(program.may_alias.contains(&(one.min(other), one.max(other))), "{program}");
}
