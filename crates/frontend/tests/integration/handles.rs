//! Structures under other names: pointers to elements, parameters, copies.

use crate::common::{SIZES, same_output, shown};
use insta::assert_snapshot;

const BODIES: &str = "
typedef struct { double x, y; } vec;
typedef struct { vec at, v; double m; int kind; } body;
typedef struct { int n; double *w; double dt; } world;
static void move(body *b, double dt)
{
    b->at.x += dt * b->v.x;
    b->at.y += dt * b->v.y;
}
static void kick(body *bs, int i, int n)
{
    body *p = &bs[i];
    int j;
    for (j = 0; j < n; j++) {
        const body *q = bs + j;
        double dx = q->at.x - p->at.x, dy = q->at.y - p->at.y;
        double f = q->m / (dx * dx + dy * dy + 0.5);
        p->v.x += f * dx;
        p->v.y += f * dy;
    }
}
static double weight(const world *g, int i)
{
    return g->w[i] * g->dt;
}
static double energy(body b)
{
    return b.m * (b.v.x * b.v.x + b.v.y * b.v.y);
}
static void add(vec *to, const vec *one, const vec *other)
{
    to->x = one->x + other->x;
    to->y = one->y + other->y;
}
static void forces(body *bs, int n)
{
    int i;
    for (i = 0; i < n; i++)
        kick(bs, i, n);
}
static void moves(body *bs, const world *g)
{
    int i;
    for (i = 0; i < g->n; i++)
        move(&bs[i], weight(g, i));
}
static double energies(const body *bs, int n)
{
    double sum = 0;
    int i;
    for (i = 0; i < n; i++)
        sum += energy(bs[i]);
    return sum;
}
static void sums(const vec *a, const vec *b, vec *c, int n)
{
    int i;
    for (i = 0; i < n; i++) {
        vec t, u = a[i];
        add(&t, &u, &b[i]);
        u.x = 3;
        c[i] = t;
        c[i].y += u.x;
    }
}
static void copies(body *to, const body *from, int n)
{
    int i;
    for (i = 0; i < n; i++)
        to[i] = from[n - 1 - i];
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i;
    body *bs = malloc((n + 1) * sizeof *bs), *cs = malloc((n + 1) * sizeof *cs);
    vec *a = malloc((n + 1) * sizeof *a), *b = malloc((n + 1) * sizeof *b), *c = malloc((n + 1) * sizeof *c);
    world g = { n, malloc((n + 1) * sizeof(double)), 0.25 };
    for (i = 0; i < n; i++) {
        g.w[i] = 1 + i % 3;
        bs[i].at.x = i % 5, bs[i].at.y = i % 7, bs[i].v.x = 0.5 * i, bs[i].v.y = 1, bs[i].m = 1 + i % 2, bs[i].kind = i;
        a[i].x = i, a[i].y = 2 * i, b[i].x = -i, b[i].y = 1;
    }
    forces(bs, n);
    moves(bs, &g);
    sums(a, b, c, n);
    copies(cs, bs, n);
    printf(\"%.17g %d\\n\", energies(bs, n), argc);
    for (i = 0; i < n; i++)
        printf(\"%.17g %.17g %.17g %g %g %d\\n\", bs[i].at.x, bs[i].at.y, cs[i].v.x, c[i].x, c[i].y, cs[i].kind);
    free(bs), free(cs), free(a), free(b), free(c), free(g.w);
    return 0;
}
";

#[test]
fn structures_by_other_names() {
    same_output(BODIES, 6, SIZES);
}

#[test]
fn members_of_other_names() {
    let end = BODIES.find("static double energies").expect("is there");
    assert_snapshot!(shown(&BODIES[..end]));
}

#[test]
fn names_that_may_mean_another_structure_stay() {
    assert_snapshot!(shown(
        "typedef struct cell { double x; struct cell *next; } cell;
static double later(cell c, cell *all)
{
    all[0].x = 1;
    return c.x;
}
void by_value(cell *c, double *y)
{
    for (int i = 0; i < 9; i++)
        y[i] = later(c[i], c);
}
void list(cell *c, double *y)
{
    for (int i = 0; i < 9; i++) {
        cell *p = c[i].next;
        y[i] = p->x;
    }
}
void walk(cell *c, double *y)
{
    for (int i = 0; i < 9; i++) {
        cell *p = &c[i];
        if (y[i] > 0)
            p = p->next;
        y[i] = p->x;
    }
}
"
    ));
}
