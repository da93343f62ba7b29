//! Loops from one pointer to another of which nothing else is known.

use crate::common::{SIZES, same_output, shown};
use insta::assert_snapshot;

const PROGRAM: &str = "
static double *begin, *finish;
static double sum(const double *p, const double *end)
{
    double s = 0;
    for (; p != end; ++p)
        s += *p * *p;
    return s;
}
static void axpy(double *y, const double *x, const double *end, double a)
{
    while (x < end) {
        *y += a * *x;
        ++x;
        ++y;
    }
}
static void scaled(double *y, const double *x, const double *end, double a)
{
    while (x != end)
        *y++ += a * *x++;
}
static void three(double *d, const double *s, const double *t, const double *dend)
{
    for (; d < dend; d++, s++, t++)
        *d = *s * 0.5 + *t * 0.25;
}
static void global(double f)
{
    for (double *p = begin; p < finish; p++)
        *p = *p * f + 0.5;
}
static double *filled(double *p, double *end, double v)
{
    while (p < end)
        *p++ = v;
    return p;
}
static void inner(int n, double *a, const double *x, const double *end)
{
    for (int i = 0; i < n; i++) {
        double *to = a + i * n;
        for (const double *p = x; p < end - 1; p++)
            *to++ += p[0] + p[1];
    }
}
static void back(double *first, double *last)
{
    for (; last >= first; last--)
        *last = *last * 2 + 1;
}
static void both(double *x, double *y, const double *end)
{
    for (int k = 0; k < 2; k++) {
        for (double *p = x; p < end; p++)
            *p += k;
        for (double *p = y; p < end; p++)
            *p *= 1.5;
    }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i;
    double *a = calloc(n * n + n + 2, sizeof *a), *b = calloc(n + 2, sizeof *b);
    for (i = 0; i < n; i++)
        a[i] = i % 7, b[i] = i % 5 * 0.5;
    printf(\"%.17g\\n\", sum(a, a + n));
    axpy(b, a, a + n, 0.5);
    scaled(b, a, a + n, 0.25);
    three(a + n, a, b, a + 2 * n > a + n * n ? a + n : a + 2 * n);
    begin = b, finish = b + n;
    global(0.75);
    printf(\"%ld\\n\", (long)(filled(a, a + n / 2, 3.5) - a));
    inner(n, a, b, b + n);
    back(b + 1, b + n);
    both(b, b + n / 2, b + n);
    for (i = 0; i < n * n + n; i++)
        printf(\"%.17g\\n\", a[i]);
    for (i = 0; i < n; i++)
        printf(\"%.17g\\n\", b[i]);
    printf(\"%d\\n\", argc);
    free(a), free(b);
    return 0;
}
";

#[test]
fn pointers_are_subtracted_before_the_nest() {
    same_output(PROGRAM, 9, SIZES);
}

#[test]
fn distances_between_pointers() {
    let end = PROGRAM.find("int main").expect("is there");
    assert_snapshot!(shown(&PROGRAM[..end]));
}

#[test]
fn ends_that_may_change_stay() {
    assert_snapshot!(shown(
        "void moved(int n, double *p, double *end)
{
    for (int i = 0; i < n; i++) {
        for (double *q = p; q < end; q++)
            *q = 1;
        end--;
    }
}
void followed(double *p, double *end)
{
    for (; p < end; p++)
        *p = *end;
}
void held(double *p, double **end)
{
    for (; p < *end; p++)
        *p = 1;
}
void taken(double *p, double *end)
{
    double **other = &end;
    for (; p < end; p++)
        *p = 1;
    *other = p;
}
"
    ));
}
