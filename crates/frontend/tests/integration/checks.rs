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
