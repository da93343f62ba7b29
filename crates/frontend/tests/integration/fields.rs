//! Members of structures that lead to blocks of their own.

use crate::common::read;
use insta::assert_snapshot;

const PROGRAM: &str = "
#include <stdlib.h>
#include <string.h>
struct grid { int n; float *val, *wgt; };
static float *vector(int n) { float *v = calloc(n, sizeof *v); if (!v) exit(1); return v; }
static struct grid grid_new(int n)
{
    struct grid g;
    g.n = n;
    g.val = (float *)calloc(n, sizeof(float));
    g.wgt = vector(n);
    return g;
}
EXTRA
static void slice(const struct grid *g, const float *in, float *out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = g->val[(int)in[i]] + g->wgt[(int)in[i]];
}
int main(void)
{
    struct grid a = grid_new(100), b = grid_new(200);
    float *in = malloc(400), *out = malloc(400);
    for (int t = 0; t < 10; t++) {
        slice(t % 2 ? &a : &b, in, out, 100);
        float *hold = in; in = out; out = hold;
    }
    MORE
    free(a.val);
    return 0;
}
";

/// What may overlap in `slice`.
fn overlaps(extra: &str, more: &str) -> String {
    let unit = read(&PROGRAM.replace("EXTRA", extra).replace("MORE", more));
    let slice = unit.functions.iter().find(|f| f.program.name == "slice").expect("is read");
    let name = |id| slice.program.array(id).name.clone();
    slice.program.may_alias.iter().map(|(a, b)| format!(" {}/{}", name(*a), name(*b))).collect()
}

#[test]
fn members_that_hold_allocations_only() {
    let apart = [
        ("", "b = a; b.val = a.val; a.wgt = NULL;"),
        (
            "static void *get(int n) { void *p = malloc(n); return p; }",
            "a.val = get(8); memset(&a, 0, sizeof a);",
        ),
        ("static void clear(struct grid *g) { for (int i = 0; i < g->n; i++) g->val[i] = 0; }", "clear(&a);"),
        (
            "",
            "struct grid *many = malloc(3 * sizeof *many); many[0].val = vector(3); many = realloc(many, 99);",
        ),
    ];
    let kept = [
        ("", "a.val = in;"),
        ("", "a.val += 3;"),
        ("", "a.val++;"),
        ("", "a.val = b.wgt;"),
        ("", "float **p = &a.val; *p = in;"),
        ("", "struct grid c = { 3, in, out }; b = c;"),
        ("", "struct grid c = { .val = in }; b = c;"),
        ("", "fill(&a);"),
        ("", "memcpy(&a, &b, sizeof a);"),
        ("", "char *p = (char *)&a; p[8] = 1;"),
        ("", "*(float **)((char *)&a + 8) = in;"),
        (
            "static float *shared; static float *again(void) { if (!shared) shared = vector(3); return shared; }",
            "a.val = again();",
        ),
        ("static void set(void *p, float *x) { *(float **)p = x; }", "set(&a, in);"),
        ("void from_elsewhere(struct grid *g) { g->n = 3; }", ""),
        ("struct grid shared;", ""),
        ("union both { struct grid g; float *p[3]; };", "union both u; u.p[1] = in; a = u.g;"),
        (
            "struct two { union { struct grid g; float *p[3]; } u; };",
            "struct two u; u.u.p[1] = in; a = u.u.g;",
        ),
        ("static float *other(struct grid *g) { g->val = malloc(9); return g->val; }", "in = other(&a);"),
        (
            "static float *other(struct grid *g) { float *p = malloc(9); g->val = p; return p; }",
            "in = other(&a);",
        ),
    ];
    let mut text = String::new();
    for (extra, more) in apart {
        text += &format!("{extra} {more}\n ->{}\n", overlaps(extra, more));
    }
    text += "\n";
    for (extra, more) in kept {
        let found = overlaps(extra, more);
        assert!(found.contains("val/out") || found.contains("out/g->val"), "{extra} {more}: {found}");
        text += &format!("{extra} {more}\n ->{found}\n");
    }
    assert_snapshot!(text);
}
