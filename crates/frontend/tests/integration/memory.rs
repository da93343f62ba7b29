//! `memset`, `memcpy` and `memmove` of so many elements as a product says, and ends of loops that are products.

use crate::common::{same_output, shown};
use insta::assert_snapshot;

const READ: &str = "
struct grid { int nx, ny, nz; double *v; float *w; };
static void members(struct grid *g)
{
    for (int t = 0; t < 3; t++) {
        memset(g->v, 0, g->nx * g->ny * g->nz * sizeof *g->v);
        memset(g->w, 0, sizeof(float) * (size_t)g->nx * g->ny);
        g->v[t] = 1;
        g->w[t] = 2;
    }
}
static void products(int n, int m, double *v, double *u, short *s)
{
    for (int t = 0; t < 3; t++) {
        size_t all = (size_t)n * m;
        memset(v, 0, all * sizeof(double));
        memcpy(u, v, 4 * n * 2 * (size_t)m);
        memset(s, 0, 2 * (n + m));
        v[t] = 1;
    }
}
static void parts(int n, int m, double *v)
{
    for (int t = 0; t < n; t++)
        memset(v + t * m, 0, t * m / 9 * sizeof(double));
    for (int t = 0; t < 3; t++)
        memset(v, 0, t * m * sizeof(double));
}
static void loops(struct grid *g)
{
    for (int t = 0; t < 3; t++) {
        for (long k = 0; k < (long)g->nx * g->ny * g->nz; k++)
            g->v[k] += 3;
        g->v[t] = 1;
    }
}
";

#[test]
fn numbers_of_bytes_that_are_products() {
    assert_snapshot!(shown(&format!("#include <string.h>{READ}")));
    let main = "int main(int argc, char **argv)
{
    int n = atoi(argv[1]), many = n > 100, size = many ? 3 : 8 * n * n + 3;
    double *v = malloc(size * sizeof *v), *u = malloc(size * sizeof *u);
    float *w = malloc(size * sizeof *w);
    short *s = malloc(size * sizeof *s);
    for (int i = 0; i < size; i++) {
        v[i] = u[i] = i;
        w[i] = s[i] = i % 99;
    }
    /* Numbers of elements that are 0, although not all products are. */
    struct grid g = { n, 2 * n, many ? 0 : 3, v, w };
    loops(&g);
    if (!many) {
        members(&g);
        products(n, n + 2, v, u, s);
        parts(n, n, v);
    }
    for (int i = 0; i < size; i++)
        printf(\"%g %g %g %d\\n\", v[i], u[i], w[i], s[i]);
    printf(\"%d\\n\", argc);
    free(v), free(u), free(w), free(s);
    return 0;
}
";
    same_output(&format!("#include <string.h>{READ}{main}"), 5, &["1", "2", "9", "65536"]);
}

#[test]
fn numbers_of_bytes_that_are_no_elements() {
    let calls = [
        "n * m * sizeof(float)",
        "n * m * 4",
        "(n + 1) * (m + 8)",
        "n * sizeof(double) / 2",
        "n * (m + 1) * 12",
    ];
    let text: String = calls
        .iter()
        .map(|bytes| {
            let function =
                "void f(int n, int m, double *v) { for (int t = 0; t < 3; t++) memset(v, 0, BYTES); }";
            shown(&format!("#include <string.h>\n{}", function.replace("BYTES", bytes)))
        })
        .collect();
    assert_snapshot!(text);
}

const MOVED: &str = "
static void up(int n, int m, double *x)
{
    for (int i = n - 2; i >= 0; i--)
        memmove(x + (i + 1) * m, x + i * m, m * sizeof *x);
}
static void down(int n, int m, double *x)
{
    for (int i = 0; i < n - 1; i++)
        memmove(x + i * m, x + (i + 1) * m, m * sizeof *x);
}
static void within(int n, int m, int *a, int *b)
{
    for (int i = 0; i < n; i++) {
        memmove(a + i * m, a + i * m + 3, (m - 3) * sizeof *a);
        memmove(b + i * m + 3, b + i * m, (m - 3) * sizeof *b);
    }
}
static void bytes(int n, unsigned char *c, int *a, short *s, unsigned *u, long *l)
{
    for (int i = 0; i < n; i++) {
        memset(c + 7 * i, 255, 7);
        memset(a + 2 * i, -1, 2 * sizeof *a);
        memset(s + 2 * i, 0x181, 2 * sizeof *s);
        memset(u + 2 * i, 0x80, 2 * sizeof *u);
        memset(l + i, 0x7f, sizeof *l);
    }
}
";

#[test]
fn what_is_moved_and_bytes_that_are_set() {
    assert_snapshot!(shown(&format!("#include <string.h>{MOVED}")));
    let main = "int main(int argc, char **argv)
{
    int n = atoi(argv[1]), m = 5 + argc, a[400], b[400];
    double x[400];
    unsigned char c[400];
    short s[400];
    unsigned u[400];
    long l[400];
    for (int i = 0; i < 400; i++)
        x[i] = a[i] = b[i] = c[i] = s[i] = u[i] = l[i] = i % 251;
    up(n, m, x);
    for (int i = 0; i < 400; i++)
        printf(\"%g \", x[i]);
    down(n - 1, m, x + 3);
    within(n, m, a, b);
    bytes(n, c, a + 300, s, u, l);
    for (int i = 0; i < 400; i++)
        printf(\"%g %d %d %d %d %u %ld\\n\", x[i], a[i], b[i], c[i], s[i], u[i], l[i]);
    return 0;
}
";
    same_output(&format!("#include <string.h>{MOVED}{main}"), 4, &["1", "2", "9", "33"]);
}
