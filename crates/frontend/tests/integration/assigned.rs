//! Variables and pointers assigned inside nests, counters used after their loops, buffers chosen by the step: how they
//! are lowered, and that programs give the same results with their nests rendered.

use crate::common::{SIZES, replays_agree, same_output, shown};
use insta::assert_snapshot;

const POINTERS: &str = "
typedef struct { int offset, n, near[4]; } box;
typedef struct { double v, x; } point;
static void interact(int n, const box *b, const point *p, double *f)
{
    int l, k, i, j, first, other, at;
    const point *home, *rows;
    double *sum;
    for (l = 0; l < n; l++) {
        first = b[l].offset;
        home = &p[first];
        sum = &f[first];
        for (k = 0; k < 1 + b[l].n; k++) {
            if (k == 0)
                at = l;
            else
                at = b[l].near[k - 1];
            other = b[at].offset;
            rows = &p[other];
            for (i = 0; i < 3; i++)
                for (j = 0; j < 3; j++)
                    sum[i] += home[i].v * rows[j].x - rows[j].v;
        }
    }
}
static void rows(int n, double *a, const double *s)
{
    double *row;
    const double *from = s;
    int i, j, k;
    for (i = 0; i < n; i++) {
        row = a + i * n;
        k = 2 * i;
        for (j = 0; j < n; j++)
            row[j] += from[k] + from[k + 1];
        row = a;
        row[i] += 1;
    }
}
static void counters(int n, double *a, int *last)
{
    int i, j, k = 0;
    for (i = 0; i < n; i++) {
        for (j = 0; j < i; j++)
            a[i * n + j] += 1;
        a[i * n + j] = -1;
        j = i / 2;
        a[i * n + j] += 3;
        for (k = n - 1; k > i; k--)
            a[i * n + k] *= 2;
        last[i] = k;
    }
    last[n] = i + k;
}
static void square(double x, double *twice, double *squared)
{
    *twice = 2 * x;
    *squared = x * x;
}
static void pairs(int n, const double *x, double *y)
{
    const int WIDTH = 4;
    int i, j;
    for (i = 0; i + WIDTH <= n; i += WIDTH) {
        double sum[WIDTH + 1], zeros[8] = { 0 }, some[3] = { 1.5, x[i] };
        double twice, squared;
        square(x[i], &twice, &squared);
        for (j = 0; j < WIDTH; j++)
            sum[j] = zeros[j] + some[j % 3] + (j > 2 ? twice : squared);
        for (j = 0; j < WIDTH; j++)
            y[i + j] = sum[j];
    }
}
static void biased(int n, const double *x, const double *bias, double *y)
{
    int i, j;
    for (i = 0; i < n; i++) {
        double sum = bias != NULL ? bias[i] : 0.0;
        for (j = 0; j < n; j++)
            sum += x[j];
        if (bias && x[i] > 2)
            sum *= bias[i];
        y[i] = sum;
    }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i, *last = calloc(n + 1, sizeof *last);
    box *b = calloc(n + 1, sizeof *b);
    point *p = calloc(3 * n + 3, sizeof *p);
    double *f = calloc(3 * n + 3, sizeof *f), *a = calloc(n * n + 1, sizeof *a), *y = calloc(n + 1, sizeof *y);
    for (i = 0; i < n; i++) {
        b[i].offset = 3 * i;
        b[i].n = i % 5;
        b[i].near[0] = 0, b[i].near[1] = n / 2, b[i].near[2] = n - 1, b[i].near[3] = i;
    }
    for (i = 0; i < 3 * n + 3; i++)
        p[i].v = i % 4, p[i].x = 0.5 * (i % 3), f[i] = i % 5;
    interact(n, b, p, f);
    rows(n, a, f);
    counters(n, a, last);
    pairs(n, f, y);
    for (i = 0; i < n; i++)
        printf(\"%g %g %g %d\\n\", f[3 * i + 1], a[i * n + n / 2], y[i], last[i]);
    biased(n, f, argc > 1 ? NULL : f, y);
    for (i = 0; i < n; i++)
        printf(\"%g\\n\", y[i]);
    biased(n, f, y, a);
    printf(\"%d %g\\n\", last[n], n ? a[n - 1] : 0.0);
    free(b), free(p), free(f), free(a), free(y), free(last);
    return 0;
}
";

#[test]
fn pointers_and_scalars_assigned_on_the_way() {
    same_output(POINTERS, 5, SIZES);
}

#[test]
fn replays_have_the_constants_that_the_text_names() {
    replays_agree(POINTERS, &["rows", "pairs", "biased"]);
}

#[test]
fn what_assigned_variables_stand_for() {
    let (start, end) =
        (POINTERS.find("static void rows").expect("is there"), POINTERS.find("int main").expect("is there"));
    assert_snapshot!(shown(&POINTERS[start..end].replace("NULL", "((void *)0)")));
}

#[test]
fn what_assigned_variables_may_stand_for_elsewhere() {
    assert_snapshot!(shown(
        "void carried(int n, double *a, double *b)
{
    double *p = a;
    for (int i = 0; i < n; i++) {
        p[i] = 1;
        p = b;
    }
}
void merged(int n, double *a, double *b)
{
    double *p;
    for (int i = 0; i < n; i++) {
        if (a[i] > 0)
            p = a;
        else
            p = b;
        p[i] = 1;
    }
}
double *kept(int n, double *a)
{
    double *p = a;
    for (int i = 0; i < n; i++) {
        p = a + i;
        p[0] = 1;
    }
    return p;
}
void compared(int n, double *a, double *b, int *y)
{
    for (int i = 0; i < n; i++)
        y[i] = a == b;
}
"
    ));
}

/// Buffers chosen by the step, as in wave equations.
const TURNS: &str = "
static void waves(int n, int steps, double *one, double *other)
{
    int t, i;
    for (t = 0; t < steps; t++) {
        const double *from = t & 1 ? other : one;
        double *to = t & 1 ? one : other;
        for (i = 1; i < n - 1; i++)
            to[i] = 0.5 * from[i] + 0.25 * (from[i - 1] + from[i + 1]);
    }
}
static void later(int n, int first, int steps, double *one, double *other, double *third)
{
    int t, i;
    double *a, *b;
    for (t = first; t < first + steps; ++t) {
        if ((t - first) % 3 == 0) {
            a = one, b = other;
        } else if ((t - first) % 3 == 1) {
            a = other, b = third;
        } else {
            a = third, b = one;
        }
        for (i = 0; i < n; i++)
            b[i] = a[i] + t;
    }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i, k;
    double *x = calloc(3 * n + 3, sizeof *x);
    for (k = 0; k < 6; k++) {
        for (i = 0; i < n; i++)
            x[i] = i % 7, x[n + i] = i % 3, x[2 * n + i] = 1;
        waves(n, k, x, x + n);
        later(n, k - 2, k + 1, x, x + n, x + 2 * n);
        for (i = 0; i < n; i++)
            printf(\"%.17g %.17g %.17g %d\\n\", x[i], x[n + i], x[2 * n + i], argc);
    }
    printf(\"%d\\n\", n);
    free(x);
    return 0;
}
";

#[test]
fn buffers_chosen_by_the_step() {
    same_output(TURNS, 2, SIZES);
}

#[test]
fn steps_that_choose_buffers_are_told_apart() {
    let end = TURNS.find("int main").expect("is there");
    assert_snapshot!(shown(&TURNS[..end]));
}

#[test]
fn arrays_of_rows_are_declared_with_values() {
    assert_snapshot!(shown(
        "void f(int n, const double *restrict in, double *restrict out)
{
    for (int i = 1; i < n - 1; i++) {
        double rows[2][3] = { { in[i - 1], in[i], in[i + 1] }, { in[i] } };
        double flat[2][2] = { in[i], in[i + 1], 1.0, 2.0 };
        double zeros[2][2] = { { 0.0 } };
        out[i] = rows[0][0] * rows[1][0] + rows[1][2] + flat[1][1] * flat[0][1] + zeros[1][0];
    }
}
"
    ));
    same_output(
        "#pragma GCC diagnostic ignored \"-Wmissing-braces\"
static double weigh(int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double rows[2][3] = { { i, i + 1, i * 0.5 }, { i - 1 } };
        double flat[2][3] = { i, i + 1, 1.0, 2.0 };
        float row[5] = { i, 2 };
        for (int j = 0; j < 3; j++)
            sum += rows[0][j] * flat[1][j] + rows[1][j] + flat[0][2 - j] + row[j] - row[j + 2] * 3;
    }
    return sum;
}
int main(int argc, char **argv)
{
    printf(\"%.17g\\n\", weigh(atoi(argv[1])));
    return 0;
}
",
        1,
        SIZES,
    );
}
