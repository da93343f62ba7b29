//! Loops that count with a pointer: what they become, and that programs do the same with their nests written anew.

use crate::common::{SIZES, replays_agree, same_output, shown};
use insta::assert_snapshot;

#[test]
fn loops_that_count_with_a_pointer() {
    assert_snapshot!(shown(
        "double sum(int n, const double *a)
{
    double s = 0;
    const double *p, *end = a + n;
    for (p = a; p < end; p++)
        s += *p;
    return s;
}
double both(int n, const float *a)
{
    double s = 0;
    for (const float *p = a, *e = a + n; p != e; ++p)
        s += *p;
    return s;
}
void colours(int n, unsigned char *image, int gain)
{
    unsigned char *p = image, *end = image + 3 * n;
    while (p < end) {
        p[0] = p[0] * gain >> 8;
        p[2] = p[1];
        p += 3;
    }
}
float *fill(int n, float *p, float v)
{
    float *end = p + n;
    while (p < end)
        *p++ = v;
    return p;
}
void back(int n, float *a)
{
    for (float *p = a + n - 1; p >= a; p--)
        *p *= 2;
}
void rows(int n, int m, double *a, const double *b)
{
    for (int i = 0; i < n; i++) {
        double *p = a + i * m, *end = p + m;
        const double *q;
        for (q = b; p != end; p++, q++)
            *p += *q;
    }
}
"
    ));
}

#[test]
fn pointers_whose_way_is_not_known_stay() {
    assert_snapshot!(shown(
        "double apart(const float *p, const float *e)
{
    double s = 0;
    for (; p != e; ++p)
        s += *p;
    return s;
}
void moved(int n, int m, double *a)
{
    double *p, *end = a + n;
    a += m;
    for (p = a; p < end; p++)
        *p = 1;
}
double *kept(int n, double *a)
{
    double *p;
    for (p = a; p < a + n; p++)
        *p = 1;
    return p;
}
void uneven(int n, double *a)
{
    for (double *p = a; p < a + n; p++) {
        *p = 1;
        if (n > 3)
            p++;
    }
}
void misses(int n, double *a)
{
    for (double *p = a; p != a + n; p += 2)
        *p = 1;
}
void shrinks(int n, double *a)
{
    double *end = a + n;
    for (double *p = a; p < end; p++)
        if (*p > 3)
            end--;
}
"
    ));
}

#[test]
fn programs_that_count_with_pointers_do_the_same() {
    same_output(
        "typedef struct { double w; int kind; } cell;
static double sum(int n, const double *a)
{
    double s = 0;
    const double *p, *end = a + n;
    for (p = a; p < end; p++)
        s += *p;
    return s;
}
static double both(int n, const double *a)
{
    double s = 0;
    for (const double *p = a, *e = a + n; p != e; ++p)
        s += *p * *p;
    return s;
}
static double *fill(int n, double *p, double v)
{
    double *end = p + n;
    while (p < end)
        *p++ += v;
    return p;
}
static void thirds(int n, double *a)
{
    double *p = a, *end = a + 3 * n;
    while (p < end) {
        p[0] = p[1] + p[2];
        p[1] *= 0.5;
        p += 3;
    }
}
static void narrow(int n, double *to, const double *a)
{
    const double *end = a + n;
    for (const double *p = a; p < end; p += 2)
        *to++ += *p;
}
static void back(int n, double *a)
{
    for (double *p = a + n - 1; p >= a; p--)
        *p -= 0.25;
    for (double *p = a + n; p-- > a;)
        *p += 1;
}
static void rows(int n, int m, double *a, const double *b)
{
    for (int i = 0; i < n; i++) {
        double *p = a + i * m, *end = p + m;
        const double *q;
        int j;
        for (q = b, j = 0; p != end; p++, q++, j++)
            *p += *q * j;
    }
}
static void both_set(int n, const double *a, double *b)
{
    int i;
    double *q;
    for (i = 0, q = b + 1; i < n; i++, q++)
        *q += a[i];
    for (int k = 0; k < n; k++)
        for (i = 0, q = b; i < n; i++, q++)
            *q += a[k];
}
static void cells(cell *c, int n)
{
    for (cell *p = c; p < c + n; ++p) {
        p->w += p->kind;
        p->kind++;
    }
    for (cell *p = c + n - 1; p > c; p--)
        p->w += p[-1].w;
}
static void once(int n, double *a)
{
    double *p = a, *end = a + n;
    do {
        *p += 3;
    } while (++p < end);
}
static double fixed(void)
{
    static double t[20];
    double s = 0;
    for (double *p = t; p < t + 20; p++)
        *p += 1.5;
    for (double *p = &t[2]; p < &t[18]; p++)
        s += *p;
    return s;
}
static void first_above(int n, const double *a, double *at)
{
    for (int i = 0; i < n; i++) {
        double x = 0;
        for (const double *p = a; p < a + n; p++)
            if (*p > i) {
                x = *p;
                break;
            }
        at[i] += x;
    }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), m = n / 2, size = n * (m + 3) + 9;
    double *a = malloc(size * sizeof *a), *b = malloc(size * sizeof *b);
    cell *c = malloc((n + 1) * sizeof *c);
    for (int i = 0; i < size; i++) {
        a[i] = i % 7 - 2;
        b[i] = i % 5 * 0.5;
    }
    for (int i = 0; i <= n; i++) { c[i].w = i; c[i].kind = i % 3; }
    printf(\"%.17g %.17g %d\\n\", sum(n, a), both(n, b), (int)(fill(n, a, 2.5) - a));
    thirds(n, b);
    narrow(n, a, b);
    narrow(n - 1, a, a);
    back(n, a);
    rows(n, m, a, b);
    both_set(n, b, a);
    cells(c, n);
    once(n, a);
    first_above(n, a, b);
    double s = fixed();
    for (int i = 0; i < size; i++)
        s += a[i] * i + b[i] * (i % 3);
    for (int i = 0; i < n; i++)
        s += c[i].w * i + c[i].kind;
    printf(\"%.17g\\n\", s);
    free(a); free(b); free(c);
    return 0;
}
",
        15,
        SIZES,
    );
}

#[test]
fn replays_of_loops_that_count_with_pointers_agree() {
    replays_agree(
        "void scale(int n, double *a)
{
    double *begin = a + n, *end = begin + 40 * n;
    for (double *p = begin; p != end; ++p)
        *p = *p * 0.5 + 1;
}
void walk(long n, double *a, double *b)
{
    double *end = a + 3 * n;
    while (a < end) {
        a[0] += *b++;
        a += 3;
    }
}
void inside(int n, double *a)
{
    double *end = a + n;
    for (int i = 0; i < n; i++)
        for (double *p = a; p < end; p++)
            *p += i;
}
void known(int n, double *a)
{
    double *p = a + n, *end = a + 9 * n;
    while (p < end)
        *p++ += 1;
}
int main(void)
{
    return 0;
}
",
        &["scale", "walk", "inside", "known"],
    );
}

/// Functions in place of their calls, overlapping arrays, tests that fail, loops that move what others start from.
#[test]
fn pointers_in_called_functions_do_the_same() {
    same_output(
        "static double total(const double *p, const double *e)
{
    double s = 0;
    while (p < e)
        s += *p++;
    return s;
}
static void set(double *p, double *e, double v)
{
    do {
        *p += v;
    } while (++p != e);
}
static int at(const double *p, const double *e, double v)
{
    const double *first = p;
    for (; p != e; ++p)
        if (*p > v)
            return (int)(p - first);
    return -1;
}
static void sums(int n, double *y, const double *x)
{
    for (int i = 0; i < n; i++)
        y[i] += total(x + i, x + n);
}
static void pairs(int n, double *y)
{
    for (int i = 0; i < n; i++)
        set(y + i, y + i + 2, 0.5 * i);
}
static void shifted(int n, int by, double *x)
{
    double *to = x + by, *end = x + n;
    const double *from = x;
    while (to < end)
        *to++ += 0.5 * *from++;
}
static int twice(int n, double *p)
{
    double *end = p + n, *start = p;
    while (p != end)
        *p++ *= 0.5;
    end = start + n / 2;
    for (p = start; p < end; p += 1)
        *p += 1;
    return (int)(p - start);
}
static void nothing(int n, double *x)
{
    double *e = x - n;
    for (double *p = x; p < e; p++)
        *p = 77;
    int k = -n;
    do {
        x[k + n] += 1;
    } while (++k < 0);
}
static int search(int n, const double *x)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += at(x, x + n, i) * (i + 1);
    return sum;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    double *x = malloc((n + 3) * sizeof *x), *y = malloc((n + 3) * sizeof *y), s = 0;
    for (int i = 0; i < n + 3; i++) { x[i] = i % 7 - 2; y[i] = i % 5; }
    sums(n, y, x);
    if (n > 1)
        sums(n - 1, x + 1, x);
    pairs(n, y);
    for (int by = 0; by < 3; by++)
        shifted(n, by, x);
    printf(\"%d %d\\n\", twice(n, y), search(n, x));
    nothing(n, x);
    for (int i = 0; i < n + 3; i++) s += x[i] * i + y[i] * (i % 3 + 1);
    printf(\"%.17g\\n\", s);
    free(x); free(y);
    return 0;
}
",
        9,
        SIZES,
    );
}
