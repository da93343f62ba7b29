//! Lengths of arrays that are known when the program runs: they are computed where the array is declared, and nowhere else.

use crate::common::{SIZES, same_output, shown};

/// Lengths, or what is not read at all, are all that reads what loops leave behind.
#[test]
fn lengths_read_what_loops_leave() {
    let program = "
static double filled(double *t, int n)
{
    for (int i = 0; i < n; i++)
        t[i] = i;
    t[n] = 7;
    return t[n / 2];
}
static double counted(int n, double *restrict x)
{
    int i;
    for (i = 0; i < n; i++)
        x[i] = 2 * x[i];
    double t[i + 1];
    return filled(t, n) + sizeof t;
}
static double sized(int n, double *restrict x)
{
    int i;
    for (i = 0; i < n; i++)
        x[i] = 2 * x[i];
    return sizeof(double[i + 1]);
}
static double cast(int n, double *restrict x, double *restrict y)
{
    int i;
    for (i = 0; i < n - 2; i++)
        x[i] = 2 * x[i];
    return ((double(*)[i])y)[1][0];
}
static double pointed(int n, double *restrict x, double *restrict y)
{
    int i;
    for (i = 0; i < n - 2; i++)
        x[i] = 2 * x[i];
    double(*rows)[i] = (void *)y;
    return rows[1][0];
}
static double named(int n, double *restrict x, double *restrict y)
{
    int i;
    for (i = 0; i < n - 2; i++)
        x[i] = 2 * x[i];
    typedef double row[i];
    return ((row *)y)[1][0];
}
static double of_another(int n, double *restrict x)
{
    int i;
    for (i = 0; i < n; i++)
        x[i] = 2 * x[i];
    __typeof__(double[i + 1]) t;
    return filled(t, n) + sizeof t;
}
static double nested(int n, double *restrict x)
{
    int i;
    for (i = 0; i < n; i++)
        x[i] = 2 * x[i];
    double last(double *t) { return t[i - 1]; }
    return last(x);
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]) + 3;
    double *x = malloc(n * sizeof *x), *y = malloc(2 * n * sizeof *y);
    for (int i = 0; i < n; i++)
        x[i] = i;
    for (int i = 0; i < 2 * n; i++)
        y[i] = i;
    printf(\"%g %g %g \", counted(n, x), sized(n, x), cast(n, x, y));
    printf(\"%g %g %g\\n\", pointed(n, x, y), named(n, x, y), of_another(n, x) + nested(n, x));
    for (int i = 0; i < n; i++)
        printf(\"%g\\n\", x[i]);
    free(x), free(y);
    return argc != 2;
}
";
    same_output(program, 8, SIZES);
}

#[test]
fn lengths_that_change_something() {
    insta::assert_snapshot!(shown(
        "
void use(double *);
void steps(int n, int m, double *restrict x)
{
    for (int i = 0; i < m; i++) {
        double t[n++];
        t[0] = x[i];
        x[i] = t[0] * 2;
    }
    use(x + n);
}
"
    ));
}
