//! Loops that end where their variable is zero, or another number that it meets.

use crate::common::{read, same_output};

#[test]
fn programs_whose_loops_end_at_zero_do_the_same() {
    same_output(
        "static void sevens(double *x, const double *y)
{
    double s = x[63];
    for (int j = 63; j; j -= 7)
        for (int k = 1; k <= 7; k++)
            s += x[j - k] * y[j - k];
    x[0] = s;
}
static void unsigned_down(double *x)
{
    for (unsigned j = 12; j; j--)
        x[j] += 0.5 * x[j - 1];
}
static void down(int n, double *x)
{
    int j;
    for (j = n; j; j--)
        x[j] -= 0.25 * x[j - 1];
    x[40] = j;
}
static void up(double *x)
{
    for (int j = -9; j != 0; j += 3)
        x[-j] *= 2;
    for (size_t j = 4; 20 != j; j += 4)
        x[j] += j;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    double x[64], y[64];
    for (int i = 0; i < 64; i++) { x[i] = i % 5; y[i] = i % 3 + 0.5; }
    sevens(x, y);
    unsigned_down(x);
    down(n, x);
    up(x);
    for (int i = 0; i < 64; i++)
        printf(\"%.17g\\n\", x[i]);
    return 0;
}
",
        5,
        &["0", "1", "7", "31"],
    );
}

#[test]
fn ends_that_may_be_missed_stay() {
    for header in [
        "int j = 62; j; j -= 7",
        "int j = n; j; j -= 7",
        "int j = 7; j; j += 7",
        "unsigned j = n; j; j -= 2",
        "double *p = x; p; p++",
    ] {
        let unit = read(&format!("void f(int n, double *x) {{ for ({header}) x[n] += 1; }}"));
        assert!(unit.functions.iter().all(|f| f.program.nests.is_empty()), "{header}");
    }
}

/// Counters that are unsigned, or go down by more than one, and are read behind their loops.
#[test]
fn programs_that_read_such_counters_later_do_the_same() {
    same_output(
        "static unsigned sum;
static void up(unsigned first, unsigned n, double *x)
{
    unsigned i;
    for (i = first; i < n; i++)
        x[i] += 1;
    sum = 3 * sum + i;
}
static void by_threes(unsigned first, size_t n, double *x)
{
    size_t i;
    for (i = first; i < n; i += 3)
        x[i] *= 2;
    sum = 3 * sum + i;
}
static void down(unsigned n, double *x)
{
    unsigned i;
    for (i = n; i > 0; i--)
        x[i] -= 0.5 * x[i - 1];
    sum = 3 * sum + i;
}
static void down_by_twos(int n, double *x)
{
    int i;
    for (i = n; i > 1; i -= 2)
        x[i] -= 0.25 * x[i - 2];
    sum = 3 * sum + i;
}
static void down_to(unsigned n, unsigned end, double *x)
{
    unsigned i;
    for (i = n; i >= 4 + end; i -= 4)
        x[i] += 0.25;
    sum = 3 * sum + i;
}
static int nonzero(int n, double *x)
{
    int i, k = 0;
    for (i = n; i > 1; i -= 2)
        if (x[i] > 9)
            k++;
        else
            break;
    return 100 * k + i;
}
static void butterflies(double *x)
{
    unsigned len, start, j;
    for (len = 16; len >= 2; len >>= 1)
        for (start = 0; start < 32; start = j + len)
            for (j = start; j < start + len; j++) {
                double t = 0.5 * x[j + len];
                x[j + len] = x[j] - t;
                x[j] = x[j] + t;
            }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    double x[64];
    for (int i = 0; i < 64; i++)
        x[i] = i % 11;
    up(7, n, x);
    by_threes(5, n, x);
    down(n, x);
    down_by_twos(n, x);
    down_to(n, 1, x);
    butterflies(x);
    int k = nonzero(n, x);
    for (int i = 0; i < 64; i++)
        printf(\"%.17g\\n\", x[i]);
    printf(\"%u %d\\n\", sum, k);
    return 0;
}
",
        6,
        &["0", "1", "2", "5", "7", "8", "9", "30", "31"],
    );
}
