//! Arrays of structures, and extents that memory or types have: how they are lowered, and that programs give the same results.

use crate::common::{SIZES, same_output, shown};
use insta::assert_snapshot;

#[test]
fn arrays_of_structures() {
    assert_snapshot!(shown(
        "typedef struct { double re, im; } cplx;
struct near { int x, number; };
struct box { short z; int n; struct near near[4]; };
cplx table[8][9];
void scale(int n, cplx (*a)[9], struct box *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 4; j++) {
            a[i][j].re = table[j][i].im - a[i][j].im;
            b[i].near[j].number += b[i].n;
        }
}
"
    ));
}

/// One subscript that becomes two is one subscript again where the member is written, and the memory that the rows take is
/// known: in the second call the sums lie in the middle of them.
#[test]
fn programs_with_rows_of_structures_do_the_same() {
    same_output(
        "struct item { struct { double x; float w; } at; char tag; };
static void sum(int n, int m, int ld, struct item *q, struct item *y)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            q[i].at.x += y[i * ld + j].at.x;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), ld = n + 3;
    struct item *y = calloc((n + 1) * ld, sizeof *y), *q = calloc(n + 1, sizeof *q);
    for (int i = 0; i < n * ld; i++)
        y[i].at.x = i % 11;
    sum(n, n, ld, q, y);
    sum(n, n, ld, y + n / 2 * ld, y);
    double all = 0;
    for (int i = 0; i < n * ld; i++)
        all = all * 0.5 + y[i].at.x + q[i % (n + 1)].at.x;
    printf(\"%.17g\\n\", all);
    free(y);
    free(q);
    return 0;
}
",
        1,
        SIZES,
    );
}

#[test]
fn programs_with_arrays_of_structures_do_the_same() {
    same_output(
        "typedef struct { double re, im; } cplx;
typedef struct { float m, x[3]; int cell; } body;
struct near { int x, number; };
struct box { short z; int n; struct near near[4]; };
static cplx table[8][64];
static void multiply(int n, cplx (*a)[64])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 64; j++) {
            double r = a[i][j].re * table[j % 8][i % 64].re - a[i][j].im * table[j % 8][i % 64].im;
            a[i][j].im = a[i][j].re * 0.5 + a[i][j].im;
            a[i][j].re = r;
        }
}
static void move(int n, body *p, float dt)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            p[i].x[k] += dt * p[i].m;
}
static void neighbours(int n, struct box *b, body *p)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 4; k++)
            p[i].cell += b[b[i].near[k].number].n + (p + i)->m;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    cplx (*a)[64] = calloc(n + 1, sizeof *a);
    body *p = calloc(n + 1, sizeof *p);
    struct box *b = calloc(n + 1, sizeof *b);
    for (int i = 0; i < n * 64; i++) { a[i / 64][i % 64].re = i % 5; a[i / 64][i % 64].im = 1; }
    for (int i = 0; i < 8 * 64; i++) { table[i / 64][i % 64].re = i % 3 - 1; table[i / 64][i % 64].im = -1; }
    for (int i = 0; i < n; i++) { p[i].m = i; p[i].cell = i; b[i].n = i; b[i].near[1].number = (i + 7) % n; }
    multiply(n, a);
    move(n, p, 0.5f);
    neighbours(n, b, p);
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i][i % 64].re * 3 + a[i][1].im + p[i].x[1] + p[i].cell;
    printf(\"%.17g\\n\", sum);
    free(a);
    free(p);
    free(b);
    return 0;
}
",
        3,
        SIZES,
    );
}

#[test]
fn extents_that_only_types_know() {
    assert_snapshot!(shown(
        "struct dataobj { void *restrict data; int *size; };
void step(struct dataobj *restrict u_vec, struct dataobj *restrict m_vec, int t0, int t1, int x_M, int y_M)
{
    float (*restrict u)[u_vec->size[1]][u_vec->size[2]] __attribute__ ((aligned (64))) =
        (float (*)[u_vec->size[1]][u_vec->size[2]]) u_vec->data;
    float (*restrict m)[m_vec->size[1]] __attribute__ ((aligned (64))) = (float (*)[m_vec->size[1]]) m_vec->data;
    for (int x = 0; x <= x_M; x++)
        for (int y = 0; y <= y_M; y++)
            u[t1][x + 1][y + 1] = m[x][y] * (u[t0][x][y + 1] + u[t0][x + 2][y + 1]);
}
"
    ));
}

#[test]
fn programs_with_extents_in_memory_do_the_same() {
    same_output(
        "struct dataobj { void *data; int *size; };
static void step(struct dataobj *u_vec, struct dataobj *m_vec, int t0, int t1, int n)
{
    float (*restrict u)[u_vec->size[1]][u_vec->size[2]] = (float (*)[u_vec->size[1]][u_vec->size[2]]) u_vec->data;
    float (*m)[m_vec->size[1]] = (float (*)[m_vec->size[1]]) m_vec->data;
    u_vec->size[1] = -1;
    for (int x = 0; x < n; x++)
        for (int y = 0; y < n; y++)
            u[t1][x + 1][y + 1] = m[x][y] * (u[t0][x][y + 1] + u[t0][x + 2][y + 1]);
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), size[] = { 2, n + 2, n + 3 }, flat[] = { n + 1, n + 5 };
    struct dataobj u = { calloc(2 * (n + 2) * (n + 3), 4), size }, m = { calloc((n + 1) * (n + 5), 4), flat };
    float *all = u.data;
    for (int i = 0; i < 2 * (n + 2) * (n + 3); i++) all[i] = i % 7;
    all = m.data;
    for (int i = 0; i < (n + 1) * (n + 5); i++) all[i] = i % 3;
    step(&u, &m, 0, 1, n);
    double sum = 0;
    all = u.data;
    for (int i = 0; i < 2 * (n + 2) * (n + 3); i++) sum += all[i] * (i % 5);
    printf(\"%.17g\\n\", sum);
    free(u.data);
    free(m.data);
    return 0;
}
",
        1,
        SIZES,
    );
}

/// Cells on a grid, with neighbours across its edges.
const CELLS: &str = "typedef struct { float speed[4]; int kind; } cell;
typedef struct { int nx, ny; float w; } size;
static void stream(const size p, cell *from, cell *to)
{
    for (int i = 0; i < p.ny; i++)
        for (int j = 0; j < p.nx; j++) {
            int above = (i + 1) % p.ny, left = j == 0 ? j + p.nx - 1 : j - 1;
            to[j + i * p.nx].speed[0] = from[left + i * p.nx].speed[0];
            to[j + i * p.nx].speed[1] = from[j + above * p.nx].speed[1];
            to[j + i * p.nx].speed[2] = from[j + i * p.nx].speed[3];
        }
}
static void relax(const size p, cell *a, cell *b)
{
    for (int i = 0; i < p.ny; i++)
        for (int j = 0; j < p.nx; j++)
            if (a[i * p.nx + j].kind == 0)
                for (int k = 0; k < 4; k++)
                    b[j + i * p.nx].speed[k] += p.w * a[i * p.nx + j].speed[k];
}
typedef struct { double re, im; } cplx;
static void turn(int n, cplx *x)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double t = x[i * n + j].re;
            x[i * n + j].re = -x[i * n + j].im;
            x[i * n + j].im = t;
        }
}
";

#[test]
fn arrays_of_structures_with_linearised_subscripts() {
    assert_snapshot!(shown(CELLS));
}

#[test]
fn programs_with_linearised_arrays_of_structures_do_the_same() {
    let main = "int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    size p = { n, n + 1, 0.5f };
    cell *a = calloc(n * (n + 1) + 1, sizeof *a), *b = calloc(n * (n + 1) + 1, sizeof *b);
    cplx *x = calloc(n * n + 1, sizeof *x);
    for (int i = 0; i < n * (n + 1); i++) {
        a[i].kind = i % 3;
        for (int k = 0; k < 4; k++) a[i].speed[k] = i % 7 + k;
    }
    for (int i = 0; i < n * n; i++) { x[i].re = i; x[i].im = -2 * i; }
    stream(p, a, b);
    relax(p, a, b);
    relax(p, b, b);
    turn(n, x);
    double sum = 0;
    for (int i = 0; i < n * (n + 1); i++) sum += b[i].speed[i % 4] * (i % 11);
    for (int i = 0; i < n * n; i++) sum += x[i].re - i * x[i].im;
    printf(\"%.17g\\n\", sum);
    free(a);
    free(b);
    free(x);
    return 0;
}
";
    same_output(&format!("{CELLS}{main}"), 3, SIZES);
}

/// Arrays of arrays that are read as one row of all their elements.
#[test]
fn rows_of_rows_as_one_row() {
    let program = "typedef struct { double in[3][6][6], out[4][4][4], w[3][4][3][3], b[4]; } net;
#define LEN(a) (sizeof(a) / sizeof(*(a)))
#define COUNT(a) (sizeof(a) / sizeof(double))
static double relu(double x) { return x * (x > 0); }
static void forward(net *n)
{
    for (int x = 0; x < LEN(n->w); ++x)
        for (int y = 0; y < LEN(*n->w); ++y)
            for (int i = 0; i < LEN(n->out[y]); ++i)
                for (int j = 0; j < LEN(*(n->out[y])); ++j)
                    for (int k = 0; k < LEN(n->w[x][y]); ++k)
                        for (int l = 0; l < LEN(*(n->w[x][y])); ++l)
                            n->out[y][i][j] += n->in[x][i + k][j + l] * n->w[x][y][k][l];
    for (int j = 0; j < LEN(n->out); ++j)
        for (int i = 0; i < COUNT(n->out[j]); ++i)
            ((double *)n->out[j])[i] = relu(((double *)n->out[j])[i] + n->b[j]);
}
static void scale(net *n, double by)
{
    for (int i = 0; i < COUNT(n->w); ++i)
        ((double *)n->w)[i] *= by + i % 3;
    for (int i = 0; i < COUNT(n->in); ++i)
        (&n->in[0][0][0])[i] += by;
}
int main(int argc, char **argv)
{
    static net n;
    double s = 0;
    for (int k = 0; k < sizeof n / sizeof(double); k++)
        ((double *)&n)[k] = k % 7 - 2;
    for (int t = 0; t < atoi(argv[1]) % 9; t++) {
        scale(&n, 0.5);
        forward(&n);
    }
    for (int k = 0; k < sizeof n / sizeof(double); k++)
        s += ((double *)&n)[k] * (k % 11);
    printf(\"%.17g\\n\", s);
    return 0;
}
";
    crate::common::same_output(program, 4, crate::common::SIZES);
    // Beyond the last element, or negative: not of the same array.
    let unit = crate::common::read(
        "double a[3][4][5];
void f(int n) { for (int i = 0; i < 21; i++) ((double *)a[1])[i] = 0; }
void g(int n) { for (int i = 0; i < n; i++) ((double *)a[1])[i] = 0; }
void h(int n) { for (int i = 0; i < 20; i++) ((float *)a[1])[i] = 0; }
",
    );
    assert_eq!(
        unit.functions.iter().map(|f| f.program.nests.len()).sum::<usize>(),
        0,
        "{}",
        crate::common::show(&unit)
    );
}

/// Where the text takes the size of an array, its replay has an array, too.
#[test]
fn sizes_of_arrays_are_those_of_the_program() {
    crate::common::replays_agree(
        "#define LEN(a) (sizeof(a) / sizeof(*(a)))
static double table[40], grid[12][9];
typedef double real;
void whole(double by)
{
    for (unsigned i = 0; i < LEN(table); i++)
        table[i] += by;
}
void rows(void)
{
    real own[LEN(table)];
    for (unsigned i = 0; i < LEN(own); i++)
        for (unsigned k = 0; k < LEN(grid); k++)
            for (unsigned l = 0; l < sizeof grid[0] / sizeof **grid; l++)
                grid[k][l] += own[i] * l;
}
int main(void) { return 0; }
",
        &["whole", "rows"],
    );
}
