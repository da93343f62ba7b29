//! Integers in memory that shape a nest: what they become, and that programs do the same with their nests written anew.

use crate::common::{SIZES, replays_agree, same_output, shown};
use insta::assert_snapshot;

#[test]
fn elements_as_bounds_and_offsets() {
    assert_snapshot!(shown(
        "static int points[3];
static double u[20][20], rhs[20][20];
void declared(void)
{
    for (int i = 1; i < points[0] - 1; i++)
        for (int j = 1; j <= points[1] - 2; j++)
            rhs[i][j] = u[i - 1][j] + u[i + 1][j];
}
void fortran(const int *n, int *lda, double *a, double *x)
{
    for (int j = 0; j < *n; j++)
        for (int i = 0; i < *n; i++)
            a[j * *lda + i] += x[i];
}
void level(int k, const long *first, const long *end, double *x)
{
    for (long i = first[k]; i < end[k]; i++)
        if (i != first[k + 1])
            x[i - first[k]] = 0.0;
}
struct grid { int size[2]; double *u; };
void member(struct grid *g)
{
    for (int i = 0; i < g->size[0]; i++)
        for (int j = 0; j < g->size[1]; j++)
            g->u[i * g->size[1] + j] = 1.0;
}
"
    ));
}

#[test]
fn what_changes_or_may_not_be_there_is_read_in_its_place() {
    assert_snapshot!(shown(
        "void grows(int *n, double *x)
{
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < n[0]; j++)
            x[j] = 0.0;
        n[0] += 1;
    }
}
void perhaps(int k, const int *n, int m, double *x)
{
    for (int i = 0; i < m; i++)
        if (x[i] > 0.0)
            for (int j = 0; j < n[k]; j++)
                x[j] = 0.0;
}
"
    ));
}

#[test]
fn programs_do_the_same() {
    same_output(
        "static int points[3];
static double u[70][70], rhs[70][70];
struct grid { int size[2]; double *u; };
static void declared(void)
{
    for (int i = 1; i < points[0] - 1; i++)
        for (int j = 1; j <= points[1] - 2; j++)
            rhs[i][j] = u[i - 1][j] + u[i + 1][j] * points[2];
}
static void overlapping(int *n, int *x)
{
    for (int i = 0; i < n[0]; i++)
        x[i] = i + n[1];
}
static void pieces(int n_pieces, const int *first, double *x)
{
    for (int k = 0; k < n_pieces; k++)
        for (int i = first[k]; i < first[k + 1]; i++)
            x[i] += k;
}
static void piece(int k, const int *first, double *x)
{
    for (int i = first[k]; i < first[k + 1]; i++)
        x[i - first[k]] += k;
}
static void member(struct grid *g)
{
    for (int i = 0; i < g->size[0]; i++)
        for (int j = 0; j < g->size[1]; j++)
            g->u[i * g->size[1] + j] += i - j;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    points[0] = n; points[1] = n + 1; points[2] = 3;
    for (int i = 0; i < 70; i++)
        for (int j = 0; j < 70; j++)
            u[i][j] = i * 0.5 + j;
    declared();
    int shared[80];
    for (int at = 0; at < 4; at++) {
        for (int i = 0; i < 80; i++)
            shared[i] = 7;
        shared[0] = n;
        overlapping(shared, shared + at);
        for (int i = 0; i < 80; i++)
            printf(\"%d \", shared[i]);
    }
    int first[] = { 0, n / 2, n / 2, n, n };
    double *x = calloc(n + 1, sizeof *x);
    pieces(4, first, x);
    for (int k = 0; k < 4; k++)
        piece(k, first, x);
    struct grid g = { { n, 3 }, calloc(3 * n + 1, sizeof(double)) };
    member(&g);
    double sum = 0;
    for (int i = 0; i < 70; i++)
        for (int j = 0; j < 70; j++)
            sum += rhs[i][j] * (i + 2 * j);
    for (int i = 0; i < n; i++)
        sum += x[i] * i + g.u[3 * i + 1];
    printf(\"%.17g\\n\", sum);
    free(x);
    free(g.u);
    return 0;
}
",
        5,
        SIZES,
    );
}

#[test]
fn replays_have_what_is_read_before_the_nest() {
    replays_agree(
        "static int points[3];
void declared(double *a)
{
    for (int i = 0; i < points[1]; i++)
        for (int j = 0; j < points[2]; j++)
            a[i * 16 + j] += i - j;
}
void pointed(const int *n, double *a)
{
    for (int i = 0; i < n[4]; i++)
        a[i] += i + n[3];
}
",
        &["declared", "pointed"],
    );
}
