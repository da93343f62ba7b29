//! Pointers that walk: what they become, and that programs do the same with their nests written anew.

use crate::common::{SIZES, replays_agree, same_output, shown};
use insta::assert_snapshot;

#[test]
fn pointers_that_walk() {
    assert_snapshot!(shown(
        "double layer(int n, int m, const double *w, const double *x, double *restrict y)
{
    for (int j = 0; j < n; j++) {
        double sum = *w++ * -1.0;
        for (int k = 0; k < m; k++)
            sum += *w++ * x[k];
        *y++ = sum;
    }
    return *w + y[-1];
}
void rows(int n, const float *a, float *restrict b)
{
    for (int i = 0; i < n; i++) {
        const float *p = a + i * 16;
        float *q = b + i * 16;
        for (int j = 0; j < 16; j++)
            *q++ = *p++;
    }
}
void fields(int n, const int *restrict from, int *restrict re, int *restrict im)
{
    for (int i = 0; i < n; i++) {
        re[i] = from[0];
        im[i] = from[1];
        from += 2;
    }
}
float folded(const float *a, const float *b, int taps)
{
    int i = taps - 1;
    float sum = 0.0f;
    do {
        sum += (a[0] * b[0]) + (a[i] * b[i]);
        a++; b++;
    } while ((i -= 2) > 0);
    return sum;
}
"
    ));
}

#[test]
fn pointers_that_walk_unevenly_stay() {
    assert_snapshot!(shown(
        "void packed(int n, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        if (x[i] > 0.0)
            *y++ = x[i];
}
void triangle(int n, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            *y++ = x[j];
}
void narrow(short n, const double *restrict x, double *restrict y)
{
    for (short i = 0; i < n; i += 2)
        *y++ = x[i];
}
"
    ));
}

#[test]
fn programs_with_pointers_that_walk_do_the_same() {
    same_output(
        "static double layer(int n, int m, const double *w, const double *x, double *y)
{
    for (int j = 0; j < n; j++) {
        double sum = *w++ * -1.0;
        for (int k = 0; k < m; k++)
            sum += *w++ * x[k];
        *y++ = sum;
    }
    return *w + y[-1];
}
static void rows(int n, const double *a, double *b)
{
    for (int i = 0; i < n; i++) {
        const double *p = a + i * 4;
        double *q = b + i * 4 + 3;
        for (int j = 0; j < 4; j++)
            *q-- += *p++;
    }
}
static double *train(int n, int m, double *w, const double *d, const double *x)
{
    for (int j = 0; j < n; ++j) {
        *w++ += *d * 0.5;
        for (int k = 1; k < m + 1; ++k)
            *w++ += *d * x[k - 1];
        ++d;
    }
    return w;
}
static const double *down(int n, const double *x, double *y)
{
    for (int i = n; i > 0; i--)
        y[i] = *x++;
    for (int i = 0; i < n; i++)
        y[i] += *--x;
    return x;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), m = n / 2, size = n * (m + 1) + 5 * n + 8;
    double *w = malloc(size * sizeof *w), *x = malloc(size * sizeof *x), *y = calloc(size, sizeof *y);
    for (int i = 0; i < size; i++) {
        w[i] = i % 7 - 2;
        x[i] = i % 5 * 0.5;
    }
    double last = layer(n, m, w, x, y + 1);
    rows(n, x, y);
    long moved = train(n, m, w, x, y) - w;
    moved += train(n, m - n, w, x, x) - w;
    moved += down(n, x, y) - x;
    double sum = last;
    for (int i = 0; i < size; i++)
        sum += y[i] * i + w[i] * (i % 3);
    printf(\"%.17g %ld\\n\", sum, moved);
    free(w); free(x); free(y);
    return 0;
}
",
        5,
        SIZES,
    );
}

#[test]
fn pointers_walk_beside_counters_with_other_steps() {
    same_output(
        "static double folded(int taps, const double *a, const double *b)
{
    int i = taps - 1;
    double sum = 0.0;
    do {
        sum += a[0] * b[0] + a[i] * b[i];
        a++; b++;
    } while ((i -= 2) > 0);
    return sum;
}
static double *every_third(int first, int n, const double *x, double *restrict y)
{
    for (int i = first; i < n; i += 3)
        *y++ += x[i];
    return y;
}
static const double *down(int n, const double *x, double *restrict y)
{
    int i;
    for (i = n - 1; i > 1; i -= 2, x += 3)
        y[i] += *x;
    y[0] += i;
    return x;
}
static double *rows(int n, const double *x, double *restrict y)
{
    for (int i = 0; i < n; i += 2) {
        for (int j = 0; j < 4; j++)
            y[j] += x[i + j];
        y += 5;
    }
    return y;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), size = 5 * n + 16;
    double *x = malloc(size * sizeof *x), *y = calloc(size, sizeof *y), sum = 0.0;
    for (int i = 0; i < size; i++)
        x[i] = i % 7 - 2;
    long moved = 0;
    for (int k = 0; k < 4; k++) {
        sum += folded(n + k + 1, x, x + 3);
        moved += every_third(k, n, x, y) - y;
        moved += down(n - k, x, y) - x;
        moved += rows(n - k, x, y) - y;
    }
    for (int i = 0; i < size; i++)
        sum += y[i] * (i % 11);
    printf(\"%.17g %ld\\n\", sum, moved);
    free(x); free(y);
    return 0;
}
",
        4,
        SIZES,
    );
}

#[test]
fn numbers_walk_beside_counters_with_other_steps() {
    same_output(
        "static void decimated(int n, const double *x, double *restrict y)
{
    int i, j;
    for (i = 0, j = 0; i < n; i += 2, j++)
        y[j] += 0.5 * x[i] + 0.25 * x[i + 1];
}
static int sums_and_differences(int n, const double *x, double *restrict y)
{
    int k = 0;
    for (int i = 0; i + 1 < n; i += 2) {
        y[k++] += x[i] - x[i + 1];
        y[k++] += x[i] + x[i + 1];
        y[k++] += 1;
    }
    return k;
}
static long down(int n, long k, const double *x, double *restrict y)
{
    int i;
    for (i = n - 1; i > 1; i -= 3, k += 2)
        y[k] += x[i];
    return i + k;
}
static void coarse(int n, const double *x, double *restrict y)
{
    for (int r = 0, q = 0; r < n; r += 2, q++)
        for (int i = 0, j = 0; i < 4; i += 2, j++)
            y[2 * q + j] += x[4 * r + i] + x[4 * r + i + 1];
}
static size_t every_third(unsigned n, const double *x, double *restrict y)
{
    size_t at = 1;
    for (unsigned i = 0; i < n; i += 3) {
        y[at] += x[i];
        at += 2;
    }
    return at;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), size = 5 * n + 16;
    double *x = malloc(size * sizeof *x), *y = calloc(size, sizeof *y), sum = 0.0;
    for (int i = 0; i < size; i++)
        x[i] = i % 7 - 2;
    long moved = 0;
    for (int k = 0; k < 4; k++) {
        decimated(n - k, x, y);
        moved += sums_and_differences(n + k, x, y);
        moved += down(n - k, k, x, y);
        coarse(n - k, x, y);
        moved += every_third(n + k, x, y);
    }
    for (int i = 0; i < size; i++)
        sum += y[i] * (i % 11);
    printf(\"%.17g %ld\\n\", sum, moved);
    free(x); free(y);
    return 0;
}
",
        5,
        SIZES,
    );
}

#[test]
fn replays_of_pointers_that_walk_agree() {
    replays_agree(
        "void train(int n, int m, double *w, const double *d)
{
    for (int j = 0; j < n; ++j) {
        for (int k = 0; k < m; ++k)
            *w++ += *d * k;
        ++d;
    }
    if (w == d)
        printf(\"no\\n\");
}
void folded(int n, const double *a, double *restrict b)
{
    int i = n - 1;
    do {
        b[i] += a[0];
        a++;
    } while ((i -= 2) > 0);
}
",
        &["train", "folded"],
    );
}

/// Pointers to structures that walk: from one to the next, two at once, backwards, over rows, with a copy of where they began.
#[test]
fn pointers_to_structures_walk() {
    same_output(
        "typedef struct { float r, i; } cpx;
typedef struct { double w[2]; int kind; cpx at; } cell;
static void scale(int n, const cpx *tw, cpx *f)
{
    cpx *p = f;
    for (int k = 0; k < n; ++k) {
        float t = p->r * tw->r - p->i * tw->i;
        p->i = p->r * tw->i + p->i * tw->r;
        p->r = t;
        ++p;
        ++tw;
    }
}
static void butterfly(int m, int n, cpx *f)
{
    cpx *low = f, *high = f + m;
    for (int k = 0; k < m; k++, low++) {
        cpx t = { high->r * 0.5f, high->i };
        high->r = low->r - t.r;
        high->i = low->i - t.i;
        low->r += t.r;
        low->i += t.i;
        high += 1;
    }
}
static void rows(int n, int m, cell *c, float *out)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++, c++) {
            c->w[1] = c->w[0] + c->at.r;
            c->kind += i;
            out[i] += c->at.i;
        }
        c += 1;
    }
}
static int backwards(int n, cell *c)
{
    cell *end = c + n;
    for (int i = 0; i < n; i++) {
        end--;
        end->w[0] = i + end->at.r;
    }
    return n;
}
static cell *left(int n, cell *c)
{
    for (int i = 0; i < n; i++) {
        c->kind = i;
        c++;
    }
    return c;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), m = n / 2 + 1;
    cpx *f = malloc((n + 1) * sizeof *f), *w = malloc((n + 1) * sizeof *w);
    cell *c = malloc((n + 1) * (m + 1) * sizeof *c);
    float *out = calloc(n + 1, sizeof *out);
    for (int i = 0; i < n; i++) { f[i].r = i % 7; f[i].i = i % 5; w[i].r = 0.8f; w[i].i = 0.5f * (i % 2); }
    for (int i = 0; i < (n + 1) * (m + 1); i++) { c[i].w[0] = i; c[i].w[1] = 0; c[i].kind = i % 3; c[i].at.r = i % 4; c[i].at.i = i % 9; }
    scale(n, w, f);
    if (n > 1) scale(n - 1, f, f + 1);
    butterfly(n / 2, n, f);
    rows(n, m, c, out);
    printf(\"%d \", backwards(n, c));
    printf(\"%d\\n\", (int)(left(n, c) - c));
    double sum = 0;
    for (int i = 0; i < n; i++) sum += f[i].r * (i + 1) + f[i].i * (i % 3) + out[i];
    for (int i = 0; i < (n + 1) * (m + 1); i++) sum += c[i].w[0] * (i % 5) + c[i].w[1] + c[i].kind * (i % 7);
    printf(\"%.17g\\n\", sum);
    free(f); free(w); free(c); free(out);
    return 0;
}
",
        4,
        SIZES,
    );
}

#[test]
fn pointers_that_walk_over_rows_as_long_as_something_computed() {
    assert_snapshot!(shown(
        "typedef struct { int inputs, hidden; } net;
void chosen(const net *a, int is_first, double *w, const double *x)
{
    for (int j = 0; j < a->hidden; ++j) {
        *w++ += 1.0;
        for (int k = 1; k < (is_first ? a->inputs : a->hidden) + 1; ++k)
            *w++ += x[k - 1];
    }
}
void half(int m, int n, double *w, const double *x)
{
    for (int j = 0; j < m; ++j)
        for (int k = 0; k < n / 2; ++k)
            *w++ += x[k];
}
void least(int m, int n, int l, double *w, const double *x)
{
    for (int j = 0; j < m; ++j)
        for (int k = 0; k < (n < l ? n : l); ++k)
            *w++ += x[k];
}
void divided(int m, int n, int by, double *w, const double *x)
{
    for (int j = 0; j < m; ++j)
        for (int k = 0; k < n / by; ++k)
            *w++ += x[k];
}
"
    ));
}

#[test]
fn programs_with_rows_as_long_as_something_computed_do_the_same() {
    same_output(
        "typedef struct { int inputs, hidden; } net;
static double *chosen(const net *a, int is_first, double *w, const double *x)
{
    for (int j = 0; j < a->hidden; ++j) {
        *w++ += 1.0;
        for (int k = 1; k < (is_first ? a->inputs : a->hidden) + 1; ++k)
            *w++ += x[k - 1];
    }
    return w;
}
static void half(int m, int n, double *w, const double *x)
{
    for (int j = 0; j < m; ++j)
        for (int k = 0; k < n / 2; ++k)
            *w++ += x[k];
}
static void least(int m, int n, int l, double *w, const double *x)
{
    for (int j = 0; j < m; ++j)
        for (int k = 0; k < (n < l ? n : l); ++k)
            *w++ += x[k];
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), size = (n + 2) * (n + 2);
    double *w = malloc(size * sizeof *w), *x = malloc(size * sizeof *x);
    for (int i = 0; i < size; i++) {
        w[i] = i % 7 - 2;
        x[i] = i % 5 * 0.5;
    }
    net a = { n / 2, n };
    long moved = chosen(&a, 1, w, x) - w;
    moved += chosen(&a, 0, w, x) - w;
    half(n, n, w, x);
    half(n, 3 - n, w, x);
    least(n, n / 3, 5, w, x);
    least(n, n, -1, w, x);
    double sum = 0;
    for (int i = 0; i < size; i++)
        sum += w[i] * (i % 3);
    printf(\"%.17g %ld\\n\", sum, moved);
    free(w); free(x);
    return 0;
}
",
        3,
        SIZES,
    );
}
