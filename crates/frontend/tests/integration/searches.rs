//! Loops that are left early inside of nests: what they become, and that programs do the same with their nests written anew.

use crate::common::{SIZES, same_output, shown};
use insta::assert_snapshot;

#[test]
fn searches_inside_of_nests() {
    assert_snapshot!(shown(
        "static int find(const double *cdf, int n, double value)
{
    int index = -1;
    int x;
    for (x = 0; x < n; x++) {
        if (cdf[x] >= value) {
            index = x;
            break;
        }
    }
    if (index == -1)
        return n - 1;
    return index;
}
void resample(int n, const double *cdf, const double *u, const double *x, double *restrict y)
{
    int i, j;
    for (j = 0; j < n; j++) {
        i = find(cdf, n, u[j]);
        y[j] = x[i];
    }
}
void counters(int n, int m, const int *a, int *restrict at)
{
    int i, k;
    for (i = 0; i < n; i++) {
        for (k = 0; k < m; k++)
            if (a[k] == i)
                break;
        at[i] = k;
    }
}
static int first(int n, const double *a, double value)
{
    for (int i = 0; i < n; i++)
        if (a[i] >= value)
            return i;
    return -1;
}
void places(int n, const double *a, const double *x, int *restrict at)
{
    for (int i = 0; i < n; i++)
        at[i] = first(n, a, x[i]);
}
"
    ));
}

#[test]
fn searches_that_stay() {
    assert_snapshot!(shown(
        "void alone(int n, const int *a, int *at)
{
    for (int i = 0; i < n; i++) {
        if (a[i] == 3)
            break;
        at[0] = i;
    }
}
void deep(int n, const int *a, int *at)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            if (a[k] > 0) {
                if (a[k] == i)
                    break;
                at[i] = k;
            }
}
"
    ));
}

#[test]
fn programs_with_searches_do_the_same() {
    same_output(
        "static int find(const double *cdf, int n, double value)
{
    int index = -1, x;
    for (x = 0; x < n; x++)
        if (cdf[x] >= value) { index = x; break; }
    if (index == -1)
        return n - 1;
    return index;
}
static void resample(int n, const double *cdf, const double *u, double *y)
{
    for (int j = 0; j < n; j++) {
        int i = find(cdf, n, u[j]);
        y[j] = cdf[i] + i;
    }
}
static void counters(int n, int m, const int *a, int *at)
{
    int i, k;
    for (i = 0; i < n; i++) {
        for (k = 0; k < m; k++) {
            at[n + k] += 1;
            if (a[k] == i)
                break;
            at[2 * n] += k;
        }
        at[i] = k;
    }
}
static int first(int n, const double *a, double value)
{
    for (int i = 0; i < n; i++) {
        if (a[i] < value)
            continue;
        return 2 * i;
    }
    return -1;
}
static void mark(int n, int k, int *at)
{
    for (int i = k; i < n; i++) {
        at[i] += 100;
        if (i % 3 == 2)
            return;
        at[i] += 1;
    }
    at[k] += 1000;
}
static void places(int n, const double *a, const double *x, int *at)
{
    for (int i = 0; i < n; i++) {
        at[i] += first(n, a, x[i]);
        mark(n, i, at);
    }
}
static void always(int n, double *x)
{
    for (int i = 0; i < n; i++)
        for (int k = i; k < n; k++) {
            x[i] += k;
            break;
        }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    double *cdf = malloc((n + 1) * sizeof *cdf), *u = malloc((n + 1) * sizeof *u), *y = calloc(n + 1, sizeof *y);
    int *a = malloc((n + 1) * sizeof *a), *at = calloc(2 * n + 1, sizeof *at);
    for (int i = 0; i < n; i++) {
        cdf[i] = i * i / (double)n;
        u[i] = (i * 7 % 5) * n / 3.0;
        a[i] = i * 11 % 7;
    }
    resample(n, cdf, u, y);
    counters(n, n, a, at);
    always(n, y);
    places(n, cdf, u, at);
    for (int i = 0; i < n; i++)
        printf(\"%.17g %d %d\\n\", y[i], at[i], at[n + i]);
    printf(\"%d\\n\", at[2 * n]);
    free(cdf); free(u); free(y); free(a); free(at);
    return 0;
}
",
        4,
        SIZES,
    );
}
