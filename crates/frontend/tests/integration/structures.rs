//! Members of structures: how they are lowered, and that programs give the same results with their nests rendered.

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
