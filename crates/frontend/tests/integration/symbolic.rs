//! Loops that step by what only the run knows.

use crate::common::{SIZES, same_output, shown};
use insta::assert_snapshot;

#[test]
fn symbolic_steps() {
    assert_snapshot!(shown(
        "void butterflies(int n, int m, double *restrict re)
{
    for (int k = 0; k < n; k += 2 * m)
        for (int j = 0; j < m; j++) {
            double t = re[k + j + m];
            re[k + j + m] = re[k + j] - t;
            re[k + j] += t;
        }
}
void from(int n, int first, int by, long *restrict x)
{
    int k;
    for (k = first; k <= n; k += by)
        x[k] = k;
    x[0] = k;
}
void sieve(long n, char *restrict is_composite)
{
    for (long i = 2; i * i < n; i++)
        for (long k = i * i; k < n; k += i)
            is_composite[k] = 1;
}
"
    ));
}

#[test]
fn blocks_are_undone() {
    assert_snapshot!(shown(
        "#define MIN(a, b) ((a) < (b) ? (a) : (b))
void scale(int n, int b, double *restrict x, const double *restrict y)
{
    for (int ii = 0; ii < n; ii += b)
        for (int i = ii; i < MIN(ii + b, n); i++)
            x[i] = 2.0 * y[i];
}
void both_ends(size_t n, size_t b, double *restrict x)
{
    size_t ii, i;
    for (ii = 1; ii < n; ii = ii + b) {
        for (i = ii; i < n && i < ii + b; i++)
            x[i] += 1.0;
    }
}
void uses_block(int n, int b, double *restrict x)
{
    for (int ii = 0; ii < n; ii += b)
        for (int i = ii; i < MIN(ii + b, n); i++)
            x[i] = ii;
}
"
        .replace("#define", "#include <stddef.h>\n#define")
        .as_str()
    ));
}

#[test]
fn steps_that_are_refused() {
    assert_snapshot!(shown(
        "void changing(int n, int by, double *restrict x)
{
    for (int k = 0; k < n; k += by) {
        x[k] = 1.0;
        by = by + 1;
    }
}
void down(int n, unsigned by, double *restrict x)
{
    for (unsigned k = n; k > 0; k -= by)
        x[k] = 1.0;
}
void doubling(int n, double *restrict x)
{
    for (int k = 1; k < n; k += k)
        x[k] = 1.0;
}
void stopping(int n, int by, double *restrict x)
{
    for (int k = 0; k < n; k += by) {
        if (x[k] > 2.0)
            break;
        x[k] = 1.0;
    }
}
void backwards(int n, double *restrict x)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k += i - n)
            x[k] = 1.0;
}
"
    ));
}

#[test]
fn programs_with_symbolic_steps_do_the_same() {
    same_output(
        "#define MIN(a, b) ((a) < (b) ? (a) : (b))
static void butterflies(int n, int m, double *re)
{
    for (int k = 0; k + 2 * m <= n; k += 2 * m)
        for (int j = 0; j < m; j++) {
            double t = re[k + j + m];
            re[k + j + m] = re[k + j] - t;
            re[k + j] += t;
        }
}
static int from(int n, int first, int by, double *x)
{
    int k;
    for (k = first; k < n; k += by)
        x[k] = 0.5 * k;
    return k;
}
static void sieve(long n, char *is_composite)
{
    for (long i = 2; i * i < n; i++)
        for (long k = i * i; k < n; k += i)
            is_composite[k] = 1;
}
static void scale(size_t n, size_t b, double *x)
{
    for (size_t ii = 0; ii < n; ii += b)
        for (size_t i = ii; i < MIN(ii + b, n); i++)
            x[i] = 2.0 * x[i] + 1.0;
}
static void transpose(int n, int b, double (*restrict to)[64], double (*restrict of)[64])
{
    for (int ii = 0; ii < n; ii += b)
        for (int jj = 0; jj < n; jj += b)
            for (int i = ii; i < MIN(ii + b, n); i++)
                for (int j = jj; j < MIN(jj + b, n); j++)
                    to[j][i] += of[i][j];
}
static int with_counter(int n, int by, double *x)
{
    int taken = 0;
    for (int k = 0; k < n; k += by, taken++)
        x[k] += taken;
    return taken;
}
typedef struct { double re, im; } number;
static void twice(int n, number (*y)[8])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 8; j++)
            y[i][j].re *= 2.0;
}
static void in_blocks(int n, int b, number (*y)[8], number (*x)[8])
{
    for (int jj = 0; jj <= 8 - b; jj += b) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < b; j++) {
                y[i][j].re = x[i][j + jj].re;
                y[i][j].im = x[i][j + jj].im;
            }
        twice(n, y);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < b; j++)
                x[i][j + jj].re = y[i][j].im - y[i][j].re;
    }
}
static void first_in_blocks(int n, int b, const double *x, double *found)
{
    for (int i = 0; i < n; i++) {
        int at = -1;
        for (int jj = 0; jj < n; jj += b)
            for (int j = jj; j < MIN(jj + b, n); j++)
                if (x[j] > i) {
                    at = j;
                    break;
                }
        found[i] += at;
    }
}
static void along(int n, int b, double *to, const double *from)
{
    const double *p = from;
    for (int k = 0; k < n; k += b)
        to[k] += *p++;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    static number low[64][8], all[64][8];
    static double x[64], to[64][64], of[64][64];
    static char is_composite[64];
    for (int i = 0; i < 64; i++) {
        x[i] = i * 0.25;
        for (int j = 0; j < 64; j++)
            of[i][j] = i * 7 + j;
    }
    for (int m = 1; m < 8; m++)
        butterflies(n, m, x);
    for (int by = 1; by < 70; by += 3) {
        printf(\"%d %d\\n\", from(n, by % 7, by, x), with_counter(n, by, x));
        scale(n, by, x);
        transpose(n, by, to, of);
    }
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 8; j++)
            all[i][j].re = all[i][j].im = i - j;
    for (int b = 1; b < 6; b++) {
        in_blocks(n, b, low, all);
        first_in_blocks(n, b, to[5], x);
        along(n, b, x, of[3]);
    }
    sieve(n, is_composite);
    for (int i = 0; i < 64; i++)
        printf(\"%.17g %.17g %d %g\\n\", x[i], to[i][(3 * i) % 64], is_composite[i], all[i][i % 8].re);
    return 0;
}
",
        10,
        SIZES,
    );
}

/// Ends that are chosen before the nest, and pointers that walk so far.
const CHOSEN: &str = "
static void train(int h, int inputs, int hidden, double *w, const double *d, const double *in, double rate)
{
    int j, k;
    for (j = 0; j < hidden; ++j) {
        *w++ += *d * rate * -1.0;
        for (k = 1; k < (h == 0 ? inputs : hidden) + 1; ++k)
            *w++ += *d * rate * in[k - 1];
        ++d;
    }
}
static void halves(int n, int is_upper, unsigned m, double *a)
{
    int i, k;
    for (i = 0; i < n; i++)
        for (k = is_upper > 0 ? n / 2 : 0; k < (is_upper > 0 ? n : n / 2); k++)
            a[i * n + k] += 1 + i;
    for (i = 0; i < n; i++)
        for (k = 0; k < (i % 2 ? n : n - 1); k++)
            a[i * n + k] *= 0.5;
    for (unsigned u = 0; u < (n > 3 ? m : 2 * m); u++)
        a[u] += 0.25;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i, h, size = (n + 3) * (n + 4);
    double *a = calloc(size, sizeof *a), *d = calloc(size, sizeof *d);
    for (i = 0; i < size; i++)
        a[i] = i % 7, d[i] = i % 5;
    for (h = 0; h < 3; h++) {
        train(h, n + 2 - h, n, a, d, d + n, 0.125);
        halves(n, h - 1, n / 2, a);
    }
    train(1, n, -3, a, d, d, 3.0);
    train(0, -3, n, a, d, d, 3.0);
    for (i = 0; i < size; i++)
        printf(\"%.17g\\n\", a[i]);
    printf(\"%d\\n\", argc);
    free(a), free(d);
    return 0;
}
";

#[test]
fn chosen_ends() {
    let end = CHOSEN.find("int main").expect("is there");
    assert_snapshot!(shown(&CHOSEN[..end]));
    same_output(CHOSEN, 4, SIZES);
}
