//! Arrays of structures that live inside a nest, and members that a nest may not read.

use oxeye_tests::{Playground, recipe_file};
use serde_json::json;

const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>
#ifndef N
#define N 40
#endif
typedef struct { double low, high; int at; } piece;
typedef struct { int n; double limit, *u; } cells;

static int split(piece *own, double x, int at)
{
    own->low = 0.25 * x;
    own->high = x;
    own->at = at;
    if (at % 3 == 0)
        return 1;
    own[1] = own[0];
    own[1].high = x - 1;
    return 2;
}

static void pieces(int n, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        piece own[2];
        int count = split(own, x[i], i);
        for (int k = 0; k < count; k++)
            y[i] += own[k].high - own[k].low;
    }
}

static void limited(const cells *c, int n, double *y)
{
    if (c == NULL || c->n < 2)
        return;
    for (int i = 0; i < n; i++)
        if (y[i] > 1)
            y[i] = c->u[i];
}

int main(void)
{
    int n = N;
    double *x = calloc(n + 1, sizeof *x), *y = calloc(n + 1, sizeof *y), *u = calloc(n + 1, sizeof *u), sum = 0;
    for (int i = 0; i < n; i++) {
        x[i] = i % 7 - 2;
        y[i] = i % 5;
        u[i] = i % 11;
    }
    cells c = { 3, 0.5, u }, none = { 1, 0.5, NULL };
    pieces(n, x, y);
    limited(NULL, n, y);
    limited(&none, n, y);
    limited(&c, n, y);
    for (int i = 0; i < n; i++)
        sum += y[i] * (i % 3 + 1);
    printf("%.17g\n", sum);
    free(x);
    free(y);
    free(u);
    return 0;
}
"#;

#[test]
fn threads_have_pieces_of_their_own() {
    let playground = Playground::with("prog.c", PROGRAM);
    let parallel = json!([{ "step": "parallelize", "at": 0, "distribution": "Static" }]);
    let recipes = recipe_file(&[("pieces", parallel.clone()), ("limited", parallel)]);
    playground.write("r.json", &recipes);
    let ran = playground.run("replay r.json prog.c -o out.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let tuned = playground.read("out.c");
    assert_eq!(tuned.matches("#pragma omp parallel for").count(), 2, "{tuned}");
    let ran = playground.shell(
        "for n in 40 0 1 2 7 31; do
            flags=\"-O1 -Wall -Werror -Wno-unused-but-set-variable -DN=$n -fsanitize=address,undefined -fno-sanitize-recover=all\"
            gcc $flags prog.c -o prog.exe && gcc $flags -fopenmp out.c -o out.exe || exit 1
            ./prog.exe > prog.txt && OMP_NUM_THREADS=2 ./out.exe > out.txt && cmp prog.txt out.txt || exit 1
        done",
    );
    assert_eq!(ran.code, Some(0), "{}{}\n{tuned}", ran.stdout, ran.stderr);
}
