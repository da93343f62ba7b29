//! Arrays that are counted from one, or from another number, as where Fortran was translated to C and in Numerical Recipes.

use crate::common::{replays_agree, same_output, shown};
use insta::assert_snapshot;

const PROGRAM: &str = "
typedef int integer;
typedef double doublereal;
static int product_(integer *m, integer *n, integer *k, doublereal *alpha, doublereal *a, integer *lda,
                    doublereal *b, integer *ldb, doublereal *beta, doublereal *c__, integer *ldc)
{
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, i__3;
    integer i__, j, l;
    doublereal temp;
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
        i__2 = *m;
        for (i__ = 1; i__ <= i__2; ++i__)
            c__[i__ + j * c_dim1] = *beta * c__[i__ + j * c_dim1];
        i__2 = *k;
        for (l = 1; l <= i__2; ++l) {
            temp = *alpha * b[l + j * b_dim1];
            i__3 = *m;
            for (i__ = 1; i__ <= i__3; ++i__)
                c__[i__ + j * c_dim1] += temp * a[i__ + l * a_dim1];
        }
    }
    return 0;
}
static void cube(int n, int d1, int d2, double *x)
{
    int i, j, k;
    x -= 1 + d1 * (1 + d2);
    for (k = 1; k <= n; ++k)
        for (j = 1; j <= n; ++j)
            for (i = 1; i <= n; ++i)
                x[i + (j + k * d2) * d1] += i * j + k;
}
static void ghosts(int n, int m, double *u)
{
    double *inner = u + m + 1;
    for (int i = 0; i < n; i++)
        for (int j = -1; j <= n; j++)
            inner[i * m + j] += 0.5 * j;
}
static void vectors(int n, int ld, double *a, double *x, double *y)
{
    --x;
    --y;
    a = a - ld - 1;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            a[i + j * ld] += x[i] * y[j] + y[i] * x[j];
}
static void triangle(int n, int ld, double *a)
{
    int i, j, k;
    a -= 1 + ld;
    for (k = 1; k <= n; ++k)
        for (j = k + 1; j <= n; ++j)
            for (i = k + 1; i <= n; ++i)
                a[i + j * ld] -= a[i + k * ld] * a[k + j * ld];
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i, pad;
    for (pad = 0; pad < 3; pad++) {
        int ld = n + pad, m = n + 2;
        double alpha = 1.5, beta = 0.5;
        double *a = calloc(ld * n + 1, sizeof *a), *b = calloc(ld * n + 1, sizeof *b), *c = calloc(ld * n + 1, sizeof *c);
        double *x = calloc(ld * ld * n + 1, sizeof *x), *u = calloc((n + 2) * m + 2, sizeof *u), *y = calloc(n + 1, sizeof *y);
        for (i = 0; i < ld * n; i++)
            a[i] = i % 5 * 0.125, b[i] = i % 7 * 0.25, c[i] = i % 3;
        for (i = 0; i < n; i++)
            y[i] = i % 4;
        product_(&n, &n, &n, &alpha, a, &ld, b, &ld, &beta, c, &ld);
        cube(n, ld, ld, x);
        ghosts(n, m, u);
        if (n > 0)
            vectors(n, ld, b, x, y);
        triangle(n, ld, a);
        for (i = 0; i < ld * n; i++)
            printf(\"%.17g %.17g %.17g\\n\", a[i], b[i], c[i]);
        for (i = 0; i < ld * ld * n; i++)
            printf(\"%g\\n\", x[i]);
        for (i = 0; i < (n + 2) * m; i++)
            printf(\"%g\\n\", u[i]);
        free(a), free(b), free(c), free(x), free(u), free(y);
    }
    printf(\"%d\\n\", argc);
    return 0;
}
";

#[test]
fn rows_are_used_from_one_to_their_length() {
    same_output(PROGRAM, 5, &["0", "1", "2", "7", "13"]);
}

#[test]
fn replays_of_arrays_from_one() {
    replays_agree(PROGRAM, &["cube", "ghosts", "triangle"]);
}

#[test]
fn shapes_of_arrays_from_one() {
    let end = PROGRAM.find("int main").expect("is there");
    assert_snapshot!(shown(&PROGRAM[..end]));
}
