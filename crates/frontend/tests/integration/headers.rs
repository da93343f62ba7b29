//! Headers of loops that set and step several variables: that no value from before the first iteration is taken for that of
//! all of them.

use crate::common::{SIZES, replays_agree, same_output, shown};
use insta::assert_snapshot;

const PROGRAM: &str = "
static void stepped(int n, double *a, const double *b)
{
    int i, k;
    for (i = 0, k = 0; i < n; i++) {
        a[i] += b[k] * 2;
        k++;
    }
}
static void multiplied(int n, double *a, const double *b)
{
    int i, k;
    for (i = 0, k = 1; i < n; i++, k = k * 3 % 11)
        a[i] += b[k % n];
}
static void at_times(int n, double *a, const double *b)
{
    int i, j, k;
    for (j = 0; j < 3; j++)
        for (i = 0, k = 1; i < n; i++) {
            a[i] += b[k % n];
            if (i % 3)
                k += 2;
        }
}
static void turned(int n, double *a, const double *b)
{
    int i, j, pass, colour, first;
    for (pass = 1, colour = 1; pass <= 2; pass++, colour = 3 - colour)
        for (first = colour, i = 1; i < n - 1; i++, first = 3 - first)
            for (j = first; j < n - 1; j += 2)
                a[i * n + j] = 0.25 * (a[i * n + j - 1] + a[i * n + j + 1]) + b[j];
}
static void twiddled(int n, int half, double *a, const double *w)
{
    int step = n / (2 * half > 0 ? 2 * half : 1);
    for (int i = 0; i + 2 * half <= n; i += 2 * half)
        for (int j = i, k = 0; j < i + half; j++, k += step) {
            double t = a[j + half] * w[k];
            a[j + half] = a[j] - t;
            a[j] += t;
        }
}
static void back(int n, int step, double *a, const double *w)
{
    int j, k;
    long at;
    for (j = n - 1, k = 0, at = 3; j >= 0; j--, k += step, at += step)
        a[j] += w[k] + w[at - 3];
}
static void fixed(int n, double *a, const double *b)
{
    int i, m;
    for (i = 0, m = 2 * n; i < m; i++)
        a[i] += b[i + m];
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i, half;
    double *a = calloc(n * n + 3 * n + 8, sizeof *a), *b = calloc(4 * n + 8, sizeof *b);
    for (i = 0; i < 4 * n + 8; i++)
        b[i] = i % 13 * 0.5;
    stepped(n, a, b);
    multiplied(n, a, b);
    at_times(n, a, b);
    turned(n, a, b);
    for (half = 1; half <= n / 2; half *= 2)
        twiddled(n, half, a, b);
    back(n, 2, a, b);
    fixed(n, a, b);
    for (i = 0; i < n * n; i++)
        printf(\"%.17g\\n\", a[i]);
    printf(\"%d\\n\", argc);
    free(a), free(b);
    return 0;
}
";

#[test]
fn what_headers_set_and_iterations_change() {
    same_output(PROGRAM, 7, SIZES);
}

#[test]
fn replays_have_what_headers_set() {
    replays_agree(PROGRAM, &["stepped", "multiplied", "at_times", "twiddled", "fixed"]);
}

#[test]
fn values_that_headers_set() {
    let end = PROGRAM.find("int main").expect("is there");
    assert_snapshot!(shown(&PROGRAM[..end]));
}

#[test]
fn halves_of_great_unsigned_sizes_are_not_less_than_zero() {
    same_output(
        "static void from_half(size_t z, size_t m, double *x)
{
    for (size_t i = z / 2; i < m; i++)
        x[i] += 1;
}
static void shifted(size_t z, size_t m, double *x)
{
    for (size_t i = 0; i < m; i++)
        x[i] = x[i + z / 2] + 1;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    double *x = calloc(2 * n + 8, sizeof *x), sum = 0;
    x += 2;
    from_half(n, n + 2, x);
    from_half((size_t)-2, n, x);
    shifted(n, n, x);
    shifted((size_t)-2, 0, x);
    for (int i = -2; i < n + 2; i++)
        sum += x[i] * (i + 3);
    printf(\"%.17g\\n\", sum);
    free(x - 2);
    return 0;
}
",
        2,
        SIZES,
    );
}
