//! Sums that are scattered over arrays whose length nothing tells: each thread has a part of its own.

use crate::pencils::{agree, parallel, replayed};
use oxeye_tests::Playground;
use serde_json::json;

const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>
#ifndef N
#define N 40
#endif
typedef struct { double x, y; int kind; } vec;
void histogram(int n, const int *bin, int *h)
{
    for (int i = 0; i < n; i++)
        h[bin[i]]++;
}
void deposit(int n, const double *at, const double *q, double *rho)
{
    for (int p = 0; p < n; p++) {
        int j = (int)at[p];
        double w = at[p] - j;
        rho[j] += q[p] * (1 - w);
        rho[j + 1] += q[p] * w;
    }
}
void transposed(int n, const int *start, const int *col, const double *a, const double *x, double *y)
{
    for (int i = 0; i < n; i++)
        for (int k = start[i]; k < start[i + 1]; k++)
            y[col[k]] += a[k] * x[i];
}
void pairs(int n, const int *start, const int *list, const double (*r)[2], vec *f)
{
    for (int i = 0; i < n; i++) {
        double own = 0;
        for (int k = start[i]; k < start[i + 1]; k++) {
            double dx = r[i][0] - r[list[k]][0], dy = r[i][1] - r[list[k]][1];
            if (dx * dx + dy * dy < 2) {
                own += dx;
                f[list[k]].x -= dx;
                f[list[k]].y -= dy;
            }
        }
        f[i].x += own;
    }
}
void rows(int n, const int *place, const double *w, double (*f)[3])
{
    for (int i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            f[place[i] - 2][c] += w[i] * (c + 1);
}
double weight(int n, const int *start, const double *a, const double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int k = start[i]; k < start[i + 1]; k++)
            sum += a[k] * x[i];
    return sum;
}
void most(int n, const int *bin, const double *w, double *top)
{
    for (int i = 0; i < n; i++)
        top[bin[i]] = top[bin[i]] > w[i] ? top[bin[i]] : w[i];
}
int main(void)
{
    int n = N, m = N / 2 + 3;
    int *bin = malloc(n * sizeof *bin), *start = malloc((n + 1) * sizeof *start), *list = malloc(5 * n * sizeof *list);
    int *h = calloc(m, sizeof *h);
    double *at = malloc(n * sizeof *at), *q = malloc(n * sizeof *q), *rho = calloc(m + 1, sizeof *rho);
    double *a = malloc(5 * n * sizeof *a), *y = calloc(n, sizeof *y), *top = calloc(m, sizeof *top), sum = 0;
    double (*r)[2] = malloc(n * sizeof *r), (*f)[3] = calloc(m, sizeof *f);
    vec *force = calloc(n, sizeof *force);
    start[0] = 0;
    for (int i = 0; i < n; i++) {
        bin[i] = (i * 7 + 3) % m, at[i] = (i * 11 % (4 * m)) / 4.0, q[i] = 1 + i % 5;
        r[i][0] = i * 3 % 8 / 4.0, r[i][1] = i * 5 % 8 / 4.0;
        start[i + 1] = start[i] + i * 3 % 5;
    }
    for (int k = 0; k < start[n]; k++)
        list[k] = (k * 13 + 1) % n, a[k] = k % 9 - 4;
    histogram(n, bin, h);
    deposit(n, at, q, rho);
    transposed(n, start, list, a, q, y);
    pairs(n, start, list, r, force);
    for (int i = 0; i < n; i++)
        bin[i] += 2;
    rows(n, bin, q, f);
    for (int i = 0; i < n; i++)
        bin[i] -= 2;
    most(n, bin, q, top);
    for (int i = 0; i < m; i++)
        sum += h[i] * (i % 7) + rho[i] * (i % 5) + f[i][0] + f[i][1] * (i % 3) + f[i][2] + top[i] * (i % 4);
    for (int i = 0; i < n; i++)
        sum += y[i] * (i % 4) + force[i].x * (i % 3) + force[i].y;
    /* What overlaps runs as it is. */
    int both[32];
    for (int i = 0; i < 32; i++)
        both[i] = (i * 5 + 1) % 8;
    histogram(24, both + 8, both);
    histogram(24, both, both + 4);
    for (int i = 0; i < 32; i++)
        sum += both[i] * (i % 6);
    printf("%.17g %.17g\n", sum, weight(n, start, a, q));
    free(bin), free(start), free(list), free(h), free(at), free(q), free(rho), free(a), free(y), free(top);
    free(r), free(f), free(force);
    return 0;
}
"#;

#[test]
fn threads_have_parts_of_what_sums_are_scattered_over() {
    let playground = Playground::with("prog.c", PROGRAM);
    let functions = ["histogram", "deposit", "transposed", "pairs", "rows", "weight", "most"];
    let nests = functions.map(|function| (function, json!([parallel(0)])));
    let tuned = replayed(&playground, &nests, &["-O2", "-ffast-math"]).expect("replays");
    let n_parts = tuned.matches("#pragma omp for schedule(static)\n").count();
    assert!(n_parts >= 2 * (functions.len() - 1), "{tuned}");
    assert!(tuned.contains("#pragma omp parallel for schedule(static) reduction(+:sum)"), "{tuned}");
    agree(&playground, "");
}
