//! Checks in loops that end the program: what remains of them, and that programs do the same with their nests written anew.

use crate::common::{SIZES, read, same_output, shown};
use insta::assert_snapshot;

#[test]
fn checks_that_are_tested_before_the_nest() {
    assert_snapshot!(shown(
        "#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
void f(int n, int m, int size, double *x)
{
    for (int i = 0; i < n; i++) {
        if (i >= size) {
            fprintf(stderr, \"%d is too much\\n\", i);
            exit(1);
        }
        x[i] = 2;
    }
    for (int i = 1; i < n; i++)
        for (int j = i; j < m; j++) {
            assert(i * 10 + j < size && i > 0);
            x[i * 10 + j] += 1;
        }
    for (int i = 0; i < n; i++) {
        if (i < n)
            x[i] *= 3;
        else
            abort();
    }
}
"
    ));
}

#[test]
fn checks_of_what_the_loop_computes_stay() {
    assert_snapshot!(shown(
        "#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
void f(int n, const int *at, double *x)
{
    for (int i = 0; i < n; i++) {
        if (x[i] < 0) {
            fprintf(stderr, \"negative\\n\");
            exit(1);
        }
        x[i] = 2;
    }
    for (int i = 0; i < n; i++) {
        assert(at[i] < n);
        x[at[i]] += 1;
    }
    for (int i = 0; i < n; i++) {
        if (i * i > n)
            abort();
        x[i] = 1;
    }
}
"
    ));
}

/// Numbers that are chosen are bounded by their choices.
#[test]
fn checks_of_what_is_chosen() {
    let n_nests = |check: &str| {
        let before = "#include <assert.h>\n#define MIN(a, b) ((a) < (b) ? (a) : (b))\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n";
        let body = format!("for (int i = 0; i < n; i++) {{ assert({check}); x[i] = 1; }}");
        let unit = read(&format!("{before}void f(int n, int m, int lo, int hi, double *x) {{ {body} }}\n"));
        unit.functions.iter().map(|f| f.program.nests.len()).sum::<usize>()
    };
    let hold = [
        "MAX(lo, hi) + 1 - MIN(lo, hi) != 0",
        "MIN(i + 1, n - 1) < n",
        "MAX(i - 1, 0) >= 0",
        "(i + 1 < n ? i + 1 : 0) <= n",
        "(x[i] > 0 ? i : 0) < n",
        "MIN(i, m) < hi",
    ];
    for check in hold {
        assert_eq!(n_nests(check), 1, "{check}");
    }
    for check in ["MAX(i, i * i) < n", "(int)x[i] < n", "MAX(i, (int)x[i]) < n", "MIN(i, n) == i"] {
        assert_eq!(n_nests(check), 0, "{check}");
    }
}

#[test]
fn programs_with_checks_of_choices_do_the_same() {
    same_output(
        "#include <assert.h>
static void f(int n, int size, int lo, double *x)
{
    for (int i = 0; i < n; i++) {
        int k = i < lo ? lo : i, next = i + 1 < n ? i + 1 : n - 1;
        if ((i < size ? i : size) >= lo + 9 || next > n) {
            printf(\"%d: %g\\n\", i, x[0]);
            exit(0);
        }
        assert((k > i ? k : i) + 1 - (k < i ? k : i) > 0);
        x[i] += 2 + k;
    }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    double *x = calloc(n + 1, sizeof *x), s = 0;
    f(n, n, n, x);
    f(n, 3, 0, x);
    for (int i = 0; i < n; i++)
        s += x[i] * i;
    printf(\"%.17g\\n\", s);
    fflush(stdout);
    f(n, n, -2, x);
    f(n, n, -10, x);
    printf(\"end\\n\");
    free(x);
    return 0;
}
",
        1,
        SIZES,
    );
}

#[test]
fn programs_with_checks_do_the_same() {
    same_output(
        "#include <assert.h>
static int n_checked;
static void f(int n, int m, int size, double *x)
{
    for (int i = 0; i < n; i++) {
        if (i >= size) {
            printf(\"%d is too much: %g\\n\", i, x[0]);
            exit(0);
        }
        x[i] += 2;
    }
    for (int i = 1; i < n; i++)
        for (int j = i; j < m; j++) {
            assert(i + j < 200);
            if (i + 2 * j > size + 3 || j < 0) {
                printf(\"%d %d: %g\\n\", i, j, x[i]);
                exit(0);
            }
            x[i] += j;
        }
}
static void g(int n, double *x)
{
    for (int i = n - 1; i >= 0; i--) {
        assert(i < 100);
        x[i] *= 3;
    }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    double *x = calloc(n + 1, sizeof *x), s = 0;
    g(n, x);
    f(n, n / 4, n, x);
    for (int i = 0; i < n; i++)
        s += x[i] * i;
    printf(\"%.17g\\n\", s);
    fflush(stdout);
    f(n, n, 2 * n, x);
    f(n, n, n, x);
    f(n, n, n - 1, x);
    printf(\"end\\n\");
    free(x);
    return 0;
}
",
        3,
        SIZES,
    );
}

/// Checks of numbers in memory that the nest leaves alone, in loops whose other elements change.
#[test]
fn checks_of_values_come_before_the_nest() {
    same_output(
        "#include <math.h>
static void fail(int i)
{
    printf(\"fails at %d\\n\", i);
}
static void eliminate(double **a, int n)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (i > j) {
                if (fabs(a[j][j]) < 1e-12) { printf(\"singular at %d\\n\", j); exit(0); }
                double c = a[i][j] / a[j][j];
                for (int k = 0; k <= n; k++)
                    a[i][k] -= c * a[j][k];
            }
}
static void divide(int n, double *x, const double *d)
{
    for (int i = 0; i < n; i++) {
        if (!(d[i] != 0)) {
            fail(i);
            exit(0);
        }
        x[i] = x[i] / d[i] + 1;
    }
}
static double kept[70][70];
static void clear_below(int j, int n)
{
    for (int i = j + 1; i < n; i++) {
        if (kept[j][j] == 0 || n > 65)
            abort();
        else
            for (int k = 0; k < j; k++)
                kept[i][k] /= kept[j][j];
    }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    double x[70], d[70];
    static double **a;
    a = malloc((n + 1) * sizeof *a);
    for (int i = 0; i < 70; i++) {
        x[i] = i;
        d[i] = n == 2 && i == 1 ? 0 : i + 1;
        for (int k = 0; k < 70; k++)
            kept[i][k] = i * k + 1;
    }
    for (int i = 0; i < n; i++) {
        a[i] = malloc((n + 1) * sizeof **a);
        for (int k = 0; k <= n; k++)
            a[i][k] = n == 13 && i == 3 ? 0 : (i == k ? n : 0) + (i * 7 + k * 3) % 11 * 0.1;
    }
    for (int j = 1; j < n; j += 5)
        clear_below(j, n);
    for (int i = 0; i < n; i++)
        printf(\"%.17g\\n\", kept[i][i / 2]);
    divide(n, x, d);
    eliminate(a, n);
    for (int i = 0; i < n; i++)
        printf(\"%.17g %.17g\\n\", a[i][i], x[i]);
    printf(\"end\\n\");
    return 0;
}
",
        3,
        SIZES,
    );
}

/// What a nest may change, or what is there only if something else was, cannot be checked before it.
#[test]
fn checks_of_values_that_change_stay() {
    let shown = shown(
        "#include <stdlib.h>
void f(int n, double *x, double *y, const int *at)
{
    for (int i = 0; i < n; i++) {
        if (x[i] > 1e9)
            exit(1);
        x[i + 1] = x[i] * y[i];
    }
    for (int i = 0; i < n; i++) {
        double t = y[i] * 2;
        if (t < 0)
            exit(1);
        x[i] = t;
    }
    for (int i = 0; i < n; i++) {
        if (x[0] == 0)
            exit(1);
        x[at[i]] += y[i];
    }
}
",
    );
    assert!(!shown.contains("nest N0"), "{shown}");
    assert_eq!(shown.matches("a check in the loop may end the program").count(), 3, "{shown}");
}
