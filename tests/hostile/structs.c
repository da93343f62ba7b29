#include <stdio.h>
struct particle { double x[3], v[3]; float mass; int id; unsigned flags : 3, kind : 5; };
struct grid { int n, m; double *data, cells[40][40]; struct { double w[40]; } edge; };
typedef union { double d[40]; long l[40]; } words;
static struct particle p[100], q[100];
static struct grid g, h;
static words u;
static void move(struct particle *a, int n, double dt)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            a[i].x[k] += dt * a[i].v[k] / a[i].mass;
    for (int i = 0; i < n; i++) {
        a[i].flags = a[i].flags + 1;
        a[i].kind += a[i].flags;
        a[i].id = a[n - 1 - i].id + 1;
    }
}
static void relax(struct grid *s, struct grid *t)
{
    for (int j = 1; j < s->m - 1; j++)
        for (int i = 1; i < s->n - 1; i++)
            t->cells[i][j] = 0.25 * (s->cells[i - 1][j] + s->cells[i + 1][j] + s->cells[i][j - 1] + s->cells[i][j + 1]);
    for (int j = 0; j < s->m; j++)
        for (int i = 0; i < s->n; i++)
            s->data[i] = s->data[i] * 0.01 + s->edge.w[j] * 0.01 + t->cells[j][i];
    for (int i = 0; i < 10; i++)
        *t = *s;
}
int main(void)
{
    g.n = g.m = h.n = h.m = 40;
    g.data = h.edge.w;
    h.data = g.cells[3];
    for (int i = 0; i < 100; i++) {
        p[i] = (struct particle){.x = {i, 1, 2}, .v = {1, i, 3}, .mass = 1.5f + i, .id = i};
        q[i] = p[i];
        q[i].id = 99 - i;
    }
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++)
            g.cells[i][j] = i * j % 7;
    for (int t = 0; t < 7; t++) {
        move(p, 100, 0.5);
        move(&q[3], 90, 0.25);
        relax(&g, &h);
        relax(&h, &g);
        relax(&g, &g);
        g.edge.w[t] = t;
        g.data = h.edge.w;
        for (int i = 0; i < 40; i++)
            u.l[i] += 1L << 40;
        for (int i = 0; i < 40; i++)
            u.d[i] += 1;
    }
    double s = 0;
    for (int i = 0; i < 100; i++)
        s += p[i].x[i % 3] + q[i].x[2] + p[i].id + q[i].kind * 3;
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 40; j++)
            s = s * 0.999 + g.cells[i][j] + h.edge.w[j] + u.d[i];
    printf("%.9e\n", s);
    return 0;
}
