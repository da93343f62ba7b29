//! Pointers that are followed before a nest: what they lead to is there for it, even if it may not follow them.

use crate::common::{SIZES, read, same_output};

/// How many nests `f` has, in which `x[i] > 0` decides whether `s` is followed, with these statements before and around it.
fn n_nests(before: &str, around: &str, after: &str) -> usize {
    let unit = read(
        &format!(
            "#include <stdlib.h>
#include <stdio.h>
#include <math.h>
typedef struct inner {{ double *v; int n; }} inner;
typedef struct {{ double *u, scale; int n, w[4]; inner *in; char *text; }} grid;
void unknown(void);
static void frees(grid *g) {{ free(g); }}
static double reads(const grid *g) {{ return sqrt(g->scale); }}
static void moves(grid *g, inner *to) {{ g->in = to; }}
void f(grid *s, grid *other, int n, const double *restrict x, double *restrict y, inner *at)
{{
    {before}
    {around} {{
        for (int i = 0; i < n; i++)
            if (x[i] > 0)
                y[i] = USED;
        {after}
    }}
}}
"
        )
        .replace("USED", if before.contains("->in->") { "s->in->v[i]" } else { "s->u[i]" }),
    );
    let f = unit.functions.iter().find(|f| f.name == "f");
    f.map_or(0, |f| f.program.nests.values().filter(|nest| nest.stmts().len() == 1).count())
}

#[test]
fn what_is_followed_before_a_nest_is_there() {
    for (before, around) in [
        ("double a = s->scale;", ""),
        ("s->scale = 1;", ""),
        ("if (s->n > 3) y[0] = 1;", ""),
        ("", "if (s->n > 0)"),
        ("", "for (int t = 0; t < s->n; t++)"),
        ("double *u = s->u; double b = reads(s);", ""),
        ("printf(\"%d\\n\", s->n);", ""),
        ("int m = s->n; other = NULL;", ""),
        ("if (!s || s->n < 2) return;", ""),
        ("if (s == NULL || s->n < 2) { y[0] = 1; return; }", ""),
        ("", "if (s && s->n > 2)"),
        ("", "for (int t = 0; t < n && t < s->n; t++)"),
        ("int m = s->in->n;", ""),
        ("int m = s->in->n; y[0] = 0;", ""),
    ] {
        assert!(n_nests(before, around, "") > 0, "{before} {around}");
    }
    // A call behind the nest does not matter where the condition is evaluated again.
    assert!(n_nests("", "for (int t = 0; t < s->n; t++)", "unknown();") > 0);
}

#[test]
fn what_may_be_gone_is_not() {
    for (before, around, after) in [
        ("", "", ""),
        // Only perhaps.
        ("if (n > 3) y[0] = s->scale;", "", ""),
        ("y[0] = n > 3 && s->n;", "", ""),
        ("y[0] = n > 3 ? s->scale : 1;", "", ""),
        ("for (int k = 0; k < n; k++) { y[k] = s->scale; y[k + n] = 1; }", "", ""),
        ("if (n > 3 || s->n > 3) y[0] = 1;", "", ""),
        ("if (n > 3 && s->n > 3) return;", "", ""),
        ("", "if (n > 3 || s->n > 3)", ""),
        // Not followed.
        ("int *w = s->w;", "", ""),
        ("double **u = &s->u;", "", ""),
        ("long m = sizeof s->n;", "", ""),
        // Changed, or freed.
        ("int m = s->n; s = other;", "", ""),
        ("int m = s->n; unknown();", "", ""),
        ("int m = s->n; free(other);", "", ""),
        ("int m = s->n; frees(other);", "", ""),
        ("int m = s->n;", "for (int t = 0; t < 3; t++)", "s = other;"),
        ("int m = s->n;", "for (int t = 0; t < 3; t++)", "unknown();"),
        ("grid **p = &s; int m = s->n; *p = other;", "", ""),
        ("int m = s->n; if (m) goto end; end:;", "", ""),
        // What is behind it may be another one.
        ("int m = s->in->n; s->in = at;", "", ""),
        ("int m = s->in->n; other->in = at;", "", ""),
        ("int m = s->in->n; moves(other, at);", "", ""),
        ("int m = s->in->n; other->text[3] = 0;", "", ""),
    ] {
        assert_eq!(n_nests(before, around, after), 0, "{before} {around} {after}");
    }
}

/// Where the condition never holds, nothing is read through what leads nowhere.
#[test]
fn programs_that_follow_pointers_before_do_the_same() {
    same_output(
        "typedef struct { int n; double scale, *u; } grid;
static void add(const grid *g, int n, const double *x, double *y)
{
    for (int t = 0; t < g->n; t++)
        for (int i = 0; i < n; i++)
            if (x[i] > 0)
                y[i] += g->scale * g->u[i];
}
static void once(const grid *g, int n, const double *x, double *y)
{
    if (g == NULL || g->n < 2)
        return;
    for (int i = 0; i < n; i++)
        if (x[i] > 1)
            y[i] -= g->u[i];
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    double *x = calloc(n + 1, sizeof *x), *y = calloc(n + 1, sizeof *y), sum = 0;
    double *u = calloc(n + 1, sizeof *u);
    for (int i = 0; i < n; i++) { x[i] = i % 4 - 1; u[i] = i; }
    grid g = { 3, 0.5, u }, none = { 0, 1, NULL };
    add(&g, n, x, y);
    add(&none, n, x, y);
    once(NULL, n, x, y);
    once(&none, n, x, y);
    once(&g, n, x, y);
    for (int i = 0; i < n; i++) sum += y[i] * (i % 3 + 1);
    printf(\"%.17g\\n\", sum);
    free(x), free(y), free(u);
    return 0;
}
",
        2,
        SIZES,
    );
}
