//! Structures: how they are lowered, and that programs give the same results with their nests rendered.

use crate::common::{SIZES, same_output, shown};
use insta::assert_snapshot;

#[test]
fn members_as_bounds_scalars_and_arrays() {
    assert_snapshot!(shown(
        "typedef struct { int nx, ny; double dt, *u, *v, sum; } Grid;
struct world { Grid *grid; float w[64]; enum { COLD, HOT } kind; };
static struct world earth;
void bounds(Grid *g, const struct world *s)
{
    for (int i = 1; i < g->nx - 1; i++)
        for (int j = 1; j < g->ny; j++)
            g->v[i * g->ny + j] = g->dt * g->u[(i - 1) * g->ny + j] + s->w[j];
}
void total(Grid *g)
{
    for (int i = 0; i < 9; i++)
        g->sum += g->v[i];
}
void by_value(Grid g, double *x)
{
    for (int i = 0; i < g.nx; i++)
        x[i] = g.dt * g.u[i];
}
void global(void)
{
    for (int i = 0; i < earth.grid->nx; i++)
        earth.w[i] = earth.kind == HOT ? 1.0f : 0.0f;
}
"
    ));
}

#[test]
fn what_stores_may_change_is_tested() {
    assert_snapshot!(shown(
        "struct image { int w, h; unsigned char *data; };
void invert(struct image *m)
{
    for (int i = 0; i < m->w * m->h; i++)
        m->data[i] = 255 - m->data[i];
}
struct histogram { int n, *count; };
void clear(struct histogram *h)
{
    for (int i = 0; i < h->n; i++)
        h->count[i] = 0;
}
"
    ));
}

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

#[test]
fn what_may_not_be_read_beforehand_stays() {
    assert_snapshot!(shown(
        "struct layer { int n; double *w, *bias; };
struct node { double x; struct node *next; };
void guarded(int n, int has, double *x, struct layer *l)
{
    for (int i = 0; i < n; i++)
        if (has)
            x[i] += l->bias[i];
}
void triangle(int n, double *x, struct layer *l)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            x[i] += l->w[j];
}
void list(struct node *p, double *x)
{
    for (int i = 0; i < 9; i++) {
        x[i] = p->x;
        p = p->next;
    }
}
void lists(int n, struct layer *l, double *x)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 8; j++)
            x[i] += l[i].w[j];
}
"
    ));
}

#[test]
fn programs_with_members_do_the_same() {
    same_output(
        "typedef struct { int nx, ny; double dt; double *u, *v; double sum; double w[64]; } Grid;
typedef struct { Grid *grid; float scale; } World;
static void step(const Grid *g, World *s)
{
    for (int i = 1; i < g->nx - 1; i++)
        for (int j = 1; j < g->ny - 1; j++)
            g->v[i * g->ny + j] = g->u[i * g->ny + j] + g->dt * (g->u[(i - 1) * g->ny + j] + s->grid->w[j % 64]);
}
static void total(Grid *g, int n)
{
    for (int i = 0; i < n; i++)
        g->sum += g->v[i];
}
static void inside(World *s, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 4; j++)
            s->grid->w[j] += s->scale * i;
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 7;
    Grid g = { n, n + 3, 0.1, calloc(n * (n + 3) + 1, 8), calloc(n * (n + 3) + 1, 8), 0, {1, 2, 3} };
    Grid *p = &g;
    World s = { p, 2 };
    for (int i = 0; i < n * (n + 3); i++) g.u[i] = i % 17;
    step(p, &s);
    total(n > 0 ? p : 0, n);
    inside(n > 0 ? &s : 0, n);
    printf(\"%.17g %.17g\\n\", g.sum, g.w[1]);
    free(g.u);
    free(g.v);
    return 0;
}
",
        3,
        SIZES,
    );
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
fn programs_in_which_members_are_overwritten_do_the_same() {
    same_output(
        "struct image { int w, h; unsigned char *data; };
static void blank(struct image *m)
{
    for (int i = 0; i < m->w * m->h; i++)
        m->data[i] = 0;
}
struct histogram { int *count, n, more[90]; };
static void count(struct histogram *h)
{
    for (int i = 0; i < h->n; i++)
        h->count[i] = i == 3 ? 5 : 9;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    struct image *m = calloc(1, sizeof *m + n * n);
    m->w = m->h = n;
    m->data = (unsigned char *)(m + 1);
    blank(m);
    /* The picture overwrites its own size. */
    m->h = 4;
    m->w = 2;
    m->data = (unsigned char *)m;
    blank(m);
    printf(\"%d %d\\n\", m->w, m->h);
    int own[90] = { 0 };
    struct histogram h = { own, n, { 0 } };
    count(&h);
    printf(\"%d %d\\n\", own[2], own[3]);
    /* The counts overwrite their own number. */
    h.count = &h.n;
    count(&h);
    printf(\"%d %d\\n\", h.n, h.more[5]);
    free(m);
    return 0;
}
",
        2,
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

#[test]
fn pointers_to_members_lead_into_their_structures() {
    same_output(
        "struct self { int n; double scale, w[8], v[2]; };
static struct self own = {6, 3.0, {1, 2}, {0.5}};
static void by_factor(struct self *s, double *q)
{
    for (int i = 0; i < 8; i++) {
        s->w[i] += s->scale;
        q[0] -= 0.5;
    }
}
static void by_bound(struct self *s, int *p)
{
    for (int i = 0; i < s->n; i++) {
        s->w[i] *= 2;
        p[0] -= 1;
    }
}
static void by_element(struct self *s, double *q)
{
    for (int i = 0; i < 8; i++)
        s->w[i] += s->v[0] + (*q += 1);
}
static void by_expression(void)
{
    double *q = ({ &own.scale; });
    for (int i = 0; i < 8; i++) {
        own.w[i] += own.scale;
        q[0] -= 0.5;
    }
}
static void show(struct self *s)
{
    printf(\"%d %g %g %g %g %g\\n\", s->n, s->scale, s->v[0], s->w[0], s->w[3], s->w[7]);
}
int main(void)
{
    struct self s = {7, 4.0, {1, 2, 3}, {0.25}};
    by_factor(&s, &s.scale);
    by_bound(&s, &s.n);
    by_element(&s, &s.v[0]);
    show(&s);
    by_expression();
    show(&own);
}
",
        4,
        &["1"],
    );
}

/// A structure that a function takes by value may change when the function has ended, but not before; if the function
/// changes its copy, it is one.
#[test]
fn structures_by_value_are_copies() {
    let source = |body: &str, call: &str| {
        format!(
            "typedef struct {{ double x, y; }} point;
static double norm(point p, double *out, point *all)
{{
    {body}
    return p.x + p.y;
}}
void f(int n, point *restrict points, double *restrict out)
{{
    point *same = points;
    for (int i = 0; i < n; i++) {{
        double r = norm({call});
        points[i].x = 0.5 * r;
    }}
}}
"
        )
    };
    let calls = ["points[i], &out[i], points", "points[i], &out[i], same", "same[i], &out[i], points"];
    let n_nests = |body: &str, call: &str| {
        let unit = crate::common::read(&source(body, call));
        unit.functions.iter().find(|f| f.name == "f").map_or(0, |f| f.program.nests.len())
    };
    for call in calls {
        assert_eq!(n_nests("*out = p.x;", call), 1, "{call}");
        assert_eq!(n_nests("p.y = 3;", call), 1, "{call}");
    }
    // Structures that lead to the same memory by other names are told apart by a test.
    for call in &calls[..2] {
        assert_eq!(n_nests("all[0].x = 3;", call), 0, "{call}");
        assert_eq!(n_nests("all->y = 3;", call), 0, "{call}");
    }
}

/// A pointer that is followed in both branches of a condition is followed.
#[test]
fn members_followed_in_both_branches() {
    assert_snapshot!(shown(
        "struct grid { int n, m; int *mask; double *data; };
void relax(const struct grid *a, struct grid *b)
{
    for (int i = 1; i < a->n - 1; i++)
        for (int j = 1; j < a->m - 1; j++) {
            int c = i * a->m + j;
            if (a->mask[c]) {
                b->data[c] = a->data[c];
                continue;
            }
            b->data[c] = 0.5 * (a->data[c - 1] + a->data[c + 1]);
        }
}
void one_branch(const struct grid *a, struct grid *b)
{
    for (int i = 0; i < a->n; i++)
        if (a->mask[i])
            b->data[i] = a->data[i];
        else
            a->data[i] = 0;
}
"
    ));
}

/// A value that is read in every iteration is read, wherever it is used: the pointer to it is good for the whole nest.
#[test]
fn members_read_before_conditions() {
    assert_snapshot!(shown(
        "struct atoms { int *id; double *u; };
struct cell { int n, own; struct atoms *atoms; };
void pairs(struct cell *s, int ni, int nj)
{
    for (int i = 0; i < ni; i++) {
        int id = s->atoms->id[i];
        for (int j = 0; j < nj; j++) {
            int other = s->atoms->id[j];
            if (i < s->own && other <= id)
                continue;
            s->atoms->u[i] += 0.5 * j;
        }
    }
}
void inside(struct cell *s, int n, const double *x)
{
    for (int i = 0; i < n; i++)
        if (x[i] > 0) {
            int id = s->atoms->id[i];
            if (x[i] > 1 && id > 2)
                s->atoms->u[i] = 0;
        }
}
"
    ));
}

/// Where there is nothing to read, the pointer may lead nowhere.
#[test]
fn programs_that_read_members_before_conditions_do_the_same() {
    same_output(
        "struct atoms { int *id; double *u; };
struct cell { int n, own; struct atoms *atoms; };
static void pairs(struct cell *s, int ni, int nj)
{
    for (int i = 0; i < ni; i++) {
        int id = s->atoms->id[i];
        for (int j = 0; j < nj; j++) {
            int other = s->atoms->id[j];
            if (i < s->own && other <= id)
                continue;
            s->atoms->u[i] += 0.5 * j;
        }
    }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    struct atoms atoms = { calloc(n + 1, sizeof(int)), calloc(n + 1, sizeof(double)) };
    struct cell cell = { n, n / 2, n ? &atoms : NULL };
    for (int i = 0; i < n; i++) atoms.id[i] = i * 7 % 13;
    pairs(&cell, n, n);
    cell.atoms = NULL;
    pairs(&cell, 0, n);
    double sum = 0;
    for (int i = 0; i < n; i++) sum += atoms.u[i] * (i % 3 + 1);
    printf(\"%.17g\\n\", sum);
    free(atoms.id);
    free(atoms.u);
    return 0;
}
",
        1,
        SIZES,
    );
}

/// Structures by value: lists, literals, copies, arguments and results of functions, in any order.
#[test]
fn programs_with_structures_by_value_do_the_same() {
    same_output(
        "#include <math.h>
typedef struct { double re, im; } number;
typedef struct { float x, y, z; } vec3;
typedef struct { vec3 place; vec3 speed; int kind; float w[2]; } body;
typedef struct { number e[2][2]; } matrix;
static body all[12];
static number add(number a, number b) { number r; r.re = a.re + b.re; r.im = a.im + b.im; return r; }
static number times(number a, number b) { return (number){a.re * b.re - a.im * b.im, .im = a.re * b.im + a.im * b.re}; }
static vec3 minus(vec3 a, vec3 b)
{
    vec3 r = {a.x - b.x, a.y - b.y, a.z - b.z};
    return r;
}
static vec3 scaled(double s, vec3 a)
{
    if (s < 0.125)
        return (vec3){0};
    a.x *= s;
    a.y *= s;
    a.z *= s;
    return a;
}
static float dot(const vec3 a, const vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static matrix product(matrix a, matrix b)
{
    matrix c;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            number sum = {0.0, 0.0};
            for (int k = 0; k < 2; k++)
                sum = add(sum, times(a.e[i][k], b.e[k][j]));
            c.e[i][j] = sum;
        }
    return c;
}
static void axpy(int n, number s, const number *x, number *y)
{
    for (int i = 0; i < n; i++)
        y[i] = add(y[i], times(s, x[n - 1 - i]));
}
static void in_place(int n, number *x)
{
    for (int i = 1; i < n; i++) {
        number old = x[i];
        x[i] = times(x[i - 1], x[i]);
        x[i - 1] = add(old, (number){.im = i});
    }
}
static void forces(int n)
{
    for (int i = 0; i < n; i++) {
        vec3 sum = {0, 0};
        for (int j = 0; j < n; j++) {
            vec3 d = minus(all[j].place, all[i].place);
            float r = dot(d, d) + 1;
            vec3 f = scaled(all[j].kind / (r * sqrtf(r)), d);
            sum.x += f.x; sum.y += f.y; sum.z += f.z;
        }
        all[i].speed = sum;
        all[i].w[1] = dot(scaled(0.5, sum), minus(sum, all[i].place));
    }
}
static void turned(int n, body *b)
{
    for (int i = 0; i < n; i++) {
        vec3 t = b[i].place;
        b[i].place = (vec3){t.y, t.z, t.x};
    }
}
static number moved(double s, number a, number b) { b.re += s * a.re; b.im += s * a.im; return b; }
static void step(int n, number *x, const number *v)
{
    for (int i = 0; i < n; i++)
        x[i] = moved(0.125, v[i], x[i]);
}
static void cleared(int n, matrix *m)
{
    for (int i = 1; i < n; i += 3) {
        matrix r = {0};
        r.e[1][0].im = i;
        m[i] = r;
    }
}
static vec3 later(vec3 a, float s);
static void nearest(int n, body *b)
{
    for (int j = 0; j < n; j++) {
        float best = 1e20f;
        vec3 found = {0, 0, 0};
        for (int i = 0; i < n; i++)
            if (b[i].place.x + j < best) {
                best = b[i].place.x + j;
                found = b[i].place;
            }
        b[j].speed = best < 0 ? (vec3){1, 2, 3} : later(found, 3);
    }
}
static void waiting(int n, body *b)
{
    for (int i = 0; i < n; i++)
        b[i].place = later(b[i].place, b[i].w[1]);
}
static vec3 later(vec3 a, float s) { return (vec3){a.z * s, a.y, a.x}; }
static number greater(number a, number b) { return a.re > b.re ? times(a, b) : (number){b.im, b.re}; }
static void chosen(int n, number *x, const number *y)
{
    for (int i = 1; i < n; i++)
        x[i] = y[i].re > 1 ? x[i].im > y[i].im ? times(x[i], y[i]) : (number){x[i].im, x[i].re}
                           : add(x[i - 1], i % 2 ? (number){1} : greater(x[i], y[i]));
}
static void chain(int n, matrix *m)
{
    for (int i = 1; i < n; i++)
        m[i] = product(m[i - 1], m[i]);
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]) % 12;
    static number x[12], y[12];
    static matrix m[12];
    for (int i = 0; i < 12; i++) {
        x[i].re = i % 3; x[i].im = i % 5 * 0.25; y[i].re = 1; y[i].im = i;
        all[i].place.x = i % 5; all[i].place.y = i % 3; all[i].place.z = i; all[i].kind = i % 4;
        for (int k = 0; k < 4; k++) { m[i].e[k / 2][k % 2].re = (i + k) % 3 * 0.5; m[i].e[k / 2][k % 2].im = k % 2; }
    }
    number s = {0.5, 0.25};
    axpy(n, s, x, y);
    in_place(n, y);
    forces(n);
    turned(n, all);
    nearest(n, all);
    waiting(n, all);
    chain(n, m);
    step(n, x, y);
    step(n, y, x);
    step(n, x, x);
    cleared(n, m);
    chosen(n, x, y);
    for (int i = 0; i < 12; i++)
        printf(\"%.17g %.17g %.9g %.9g %.9g %.9g %.17g\\n\", y[i].re, y[i].im, all[i].place.x, all[i].speed.y, all[i].speed.z,
            all[i].w[1], m[i].e[1][0].re + m[i].e[0][1].im + x[i].re - x[i].im);
    return 0;
}
",
        11,
        &["0", "1", "2", "7", "11"],
    );
}
