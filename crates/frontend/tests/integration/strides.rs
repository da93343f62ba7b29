//! Row lengths known only at run time, unsigned loops that count down to zero, and blocks of memory set at once: how
//! they are lowered, and that programs give the same results with their nests rendered.

use crate::common::{SIZES, same_output, shown};
use insta::assert_snapshot;

const BLAS: &str = "
static void gemm(int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb, double *c, int ldc)
{
    int i, j, l;
    for (i = 0; i < m; ++i)
        for (l = 0; l < k; ++l) {
            double part = alpha * a[i * lda + l];
            for (j = 0; j < n; ++j)
                c[i * ldc + j] += part * b[l * ldb + j];
        }
}
static void triangle(int n, double *a, int lda)
{
    int i, j, k;
    for (k = 0; k < n; k++)
        for (i = k + 1; i < n; i++)
            for (j = k + 1; j < n; j++)
                a[i * lda + j] -= 0.125 * a[i * lda + k] * a[k * lda + j];
}
static void backwards(size_t n, double *x)
{
    size_t i;
    unsigned k;
    for (i = n; i-- > 0;)
        x[i] += i > 0 ? x[i - 1] : 0.5;
    for (k = n; k-- > 0;)
        x[k] *= 2;
}
static void blocks(int n, double (*a)[16], double *b, int *count, const double *from)
{
    int i, j;
    for (i = 0; i < n; i++) {
        memset(a[i], 0, sizeof(a[i]));
        memset((void *)count, 0, 8 * sizeof(int));
        for (j = 0; j < 16; j++)
            count[(i + j * j) % 8] += 1;
        for (j = 0; j < 8; j++)
            a[i][j] += count[j];
        memcpy(b + i * n, from, n * sizeof(double));
    }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i, longer, count[8];
    double *a = malloc((n + 5) * (n + 5) * sizeof *a), *c = malloc((n + 5) * (n + 5) * sizeof *c);
    double (*rows)[16] = malloc((n + 1) * sizeof *rows);
    for (i = 0; i < (n + 5) * (n + 5); i++)
        a[i] = i % 7, c[i] = 1;
    for (longer = -1; longer < 5; longer += 2) {
        int ld = n + longer > 0 ? n + longer : 1;
        gemm(n / 2, n / 2, n / 2, 0.5, a, ld, a, ld, c, ld);
        gemm(n / 2, n, n / 2, 0.5, a, ld, a, ld, c, ld);
        triangle(n / 2, c, ld);
    }
    triangle(n, c, n / 2 + 1);
    backwards(n, a);
    blocks(n, rows, c, count, a);
    for (i = 0; i < n; i++)
        printf(\"%.17g %.17g %g\\n\", a[i], c[i * n + i / 2], rows[i][i % 16]);
    printf(\"%d\\n\", argc);
    free(a), free(c), free(rows);
    return 0;
}
";

#[test]
fn rows_of_any_length() {
    same_output(&format!("#include <string.h>{BLAS}"), 5, SIZES);
}

#[test]
fn lengths_are_tested_before_the_nest() {
    let end = BLAS.find("int main").expect("is there");
    assert_snapshot!(shown(&format!("typedef unsigned long size_t;{}", &BLAS[..end])));
}

/// Arrays of rows that are copied and cleared as a whole.
const WHOLE: &str = "
static double g[6][7], h[6][7], cube[3][4][5];
static unsigned char a[5][9], b[5][9];
static void copies(int n)
{
    for (int t = 0; t < n; t++) {
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 7; j++) h[i][j] = g[i][j] * 0.5 + t;
        memcpy(g, h, sizeof g);
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 9; j++) b[i][j] = a[i][j] * 3 + j;
        memcpy(a, b, sizeof a);
        memset(cube, 0, sizeof cube);
        for (int i = 0; i < 3; i++) cube[i][1][2] += g[i][3];
        memset(h[2], 0, sizeof h[2]);
    }
}
int main(int argc, char **argv)
{
    copies(atoi(argv[1]));
    for (int i = 0; i < 5; i++) printf(\"%d %g %g %g\\n\", a[i][8], g[i][6], h[i][1], cube[i % 3][1][2]);
    return 0;
}
";

#[test]
fn arrays_of_rows_are_copied_as_a_whole() {
    same_output(&format!("#include <string.h>{WHOLE}"), 1, SIZES);
}

/// Rows that are longer than their loops by a constant.
const HALOS: &str = "
static void plane(int n, int m, const double *restrict a, double *restrict b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[(i + 1) * (m + 2) + j + 1] = 0.25 * (a[i * (m + 2) + j + 1] + a[(i + 2) * (m + 2) + j + 1]
                + a[(i + 1) * (m + 2) + j] + a[(i + 1) * (m + 2) + j + 2]);
}
static void space(int n, int m, int o, double *restrict u)
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++)
            for (int k = 0; k < o; k++)
                u[(i * (m + 2) + j) * (o + 4) + k + 2] += u[((i - 1) * (m + 2) + j) * (o + 4) + k + 1];
}
static void tested(int n, int m, int last, double *restrict u)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= last; j++)
            u[(i + 1) * (m - 1) + j] = 0.5 * u[i * (m - 1) + j] + 1;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]) / 4, i, k, size = (n + 5) * (n + 6) * (n + 7);
    double *x = malloc(size * sizeof *x), *y = malloc(size * sizeof *y);
    for (i = 0; i < size; i++)
        x[i] = i % 7, y[i] = i % 5;
    for (k = 0; k < 3; k++) {
        plane(n, n + k, x, y);
        plane(n + k, n, y, x);
        space(n, n + k, n, x);
        tested(n, n + 1, n + k - 2, y);
        tested(n, 1, n - 1, y);
    }
    for (i = 0; i < size; i++)
        printf(\"%.17g %.17g\\n\", x[i], y[i]);
    printf(\"%d\\n\", argc);
    free(x), free(y);
    return 0;
}
";

#[test]
fn rows_with_halos() {
    same_output(HALOS, 3, SIZES);
    assert_snapshot!(shown(HALOS.split("int main").next().expect("functions")));
}

/// Numbers of grid points that get values by assignments, some of them by choices, and values that others take over.
const NUMBERED: &str = "
static void relax(int nx, int ny, int nz, const double *in, double *out, double share)
{
    int c, w, e, n, s, b, t, x, y, z;
    for (z = 0; z < nz; z++)
        for (y = 0; y < ny; y++)
            for (x = 0; x < nx; x++) {
                c = x + y * nx + z * nx * ny;
                w = (x == 0) ? c : c - 1;
                e = (x == nx - 1) ? c : c + 1;
                n = (y == 0) ? c : c - nx;
                s = (y == ny - 1) ? c : c + nx;
                b = (z == 0) ? c : c - nx * ny;
                t = (z == nz - 1) ? c : c + nx * ny;
                out[c] = share * in[c] + in[w] + in[e] - in[n] + in[s] + in[b] - in[t];
            }
}
static int moved(int n, int m, double *a, int *last)
{
    int i, j, at = 7, before;
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++) {
            before = at;
            at = i * m + j;
            a[at] += before;
            if (at % 3 == 1)
                at = at / 2;
            at += i;
            a[at % (n * m)] += 0.5;
            *last = at;
        }
    return at;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i, last = 0, size = (n + 1) * (n + 2) * 3;
    double *a = calloc(size, sizeof *a), *b = calloc(size, sizeof *b);
    for (i = 0; i < size; i++)
        a[i] = i % 11, b[i] = 0;
    relax(n, n + 1, 3, a, b, 0.25);
    relax(n + 1, n, 2, b, a, 0.5);
    if (n) {
        i = moved(n, n + 2, a, &last);
        printf(\"%d %d\\n\", i, last);
    }
    for (i = 0; i < size; i += 3)
        printf(\"%.17g %.17g\\n\", a[i], b[i]);
    printf(\"%d\\n\", argc);
    free(a), free(b);
    return 0;
}
";

#[test]
fn numbers_of_grid_points_in_variables() {
    let end = NUMBERED.find("int main").expect("is there");
    assert_snapshot!(shown(&NUMBERED[..end]));
    same_output(NUMBERED, 2, SIZES);
}

/// Sums of unsigned numbers, one of which may be a negative number in disguise.
const DISGUISED: &str = "
static void both(unsigned n, unsigned m, double *a)
{
    unsigned u;
    for (u = 0; u < n + m; u++)
        a[u] = 2 * a[u] + u;
}
static void shifted(unsigned n, unsigned by, double *a)
{
    unsigned u;
    for (u = 1; u < n; u++)
        a[u + by] += 0.5 * a[u];
}
static void hashed(size_t n, double *a)
{
    for (int i = 0; i < (int)n; i++)
        a[(unsigned)i * 2654435761u % ((unsigned)n + 2u)] += i;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i;
    double *a = calloc(n + 9, sizeof *a);
    for (i = 0; i < n + 9; i++)
        a[i] = i % 7;
    both(n, 3, a);
    both(n, -(n / 2), a);
    shifted(n, 2, a);
    shifted(n, -1, a);
    hashed(n, a);
    for (i = 0; i < n + 9; i++)
        printf(\"%.17g\\n\", a[i]);
    printf(\"%d\\n\", argc);
    free(a);
    return 0;
}
";

#[test]
fn sums_that_wrap_around() {
    let end = DISGUISED.find("int main").expect("is there");
    assert_snapshot!(shown(&format!("typedef unsigned long size_t;{}", &DISGUISED[..end])));
    same_output(DISGUISED, 3, SIZES);
}

/// A counter of a loop around the nest is no length of rows, and what lies between two elements is one.
#[test]
fn rows_of_a_loop_around_the_nest() {
    let unit = crate::common::read(
        "void log_row(int);
struct model { int first, last, n1; };
void update(struct model mod, int n, float *v, const float *t, const float *w)
{
    int ix, iz, n1 = mod.n1;
    for (ix = 2; ix < n; ix++) {
        log_row(ix);
        for (iz = mod.first; iz < mod.last; iz++)
            v[ix * n1 + iz] -= t[(ix + 1) * n1 + iz] - t[ix * n1 + iz - 2] + w[ix * n1 + iz];
    }
}
void row(int k, int n, float *v, const float *t)
{
    for (int i = 0; i < 100; i++)
        v[k * n + i] = t[k * n + i] + t[k * n + n + i];
}
",
    );
    let extents = |function: usize| -> Vec<String> {
        let program = &unit.functions[function].program;
        let shape = |a: &oxeye_ir::Array| {
            a.shape.last().cloned().flatten().and_then(|e| {
                let Some(oxeye_ir::Var::Sym(id)) = e.as_affine()?.as_var() else { return None };
                Some(format!("{}[{}]", a.name, program.symbols[&id].name))
            })
        };
        program.arrays.values().filter_map(shape).collect()
    };
    assert_eq!(extents(0), ["v[n1]", "t[n1]", "w[n1]"]);
    assert!(extents(1).contains(&"t[n]".to_owned()), "{:?}", extents(1));
}
