//! Flat memory that functions see as rows: programs give the same results with their nests rendered.

use crate::common::{SIZES, same_output};

/// A time loop that hands flat buffers to a function with rows, in turns, as pointers to nothing, to rows and to planes.
const SWEEPS: &str = "
static void sweep(int n, int m, double next[n][m], double now[n][m])
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            next[i][j] = 0.25 * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]);
}
static void planes(int k, int n, int m, double (*u)[n][m], const double (*v)[n][m])
{
    for (int a = 0; a < k; a++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                u[a][i][j] = 0.5 * u[a][i][j] + v[k - 1 - a][i][j];
}
static void run(int n, int m, double *a, double *b, double *c, double *d, int more)
{
    for (int t = 0; t < 9; t++) {
        double *now = t & 1 ? b : a, *next = t & 1 ? a : b;
        sweep(n, m, (void *)next, (void *)now);
    }
    for (int t = 0; t < 3; t++) {
        sweep(n, m, (double(*)[m])b, (double(*)[m])a);
        planes(2, n, m, (double(*)[n][m])c, (const double(*)[n][m])d);
        sweep(n, m, (double(*)[m])c, (double(*)[m])(c + n * m));
    }
    for (int i = 0; i < n; i++) {
        double (*rows)[m] = (double(*)[m])d;
        for (int j = 0; j < m; j++)
            rows[n - 1 - i][j] += rows[i][m - 1 - j] + more;
    }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), m = n + 3;
    double *a = malloc(n * m * sizeof *a), *b = malloc(n * m * sizeof *b), *c = malloc(2 * n * m * sizeof *c);
    double *d = malloc(2 * n * m * sizeof *d);
    for (int i = 0; i < n * m; i++)
        a[i] = b[i] = i % 7;
    for (int i = 0; i < 2 * n * m; i++)
        c[i] = i % 5, d[i] = i % 11;
    run(n, m, a, b, c, d, argc);
    run(n / 2, m, a, a + m / 2, c, d, argc);
    for (int i = 0; i < n * m; i++)
        printf(\"%.17g %.17g %.17g %.17g\\n\", a[i], b[i], c[i], d[i] + c[i + n * m]);
    printf(\"end %d\\n\", argc);
    free(a), free(b), free(c), free(d);
    return 0;
}
";

#[test]
fn flat_buffers_as_rows() {
    same_output(SWEEPS, 5, SIZES);
}

/// A function that changes the length of the rows that it was told.
const CHANGED: &str = "
static void sweep(int n, int m, double next[n][m], double now[n][m])
{
    m -= 1;
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m; j++)
            next[i][j] = now[i - 1][j] + now[i][j - 1];
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), m = n + 3;
    double *a = malloc(n * m * sizeof *a), *b = malloc(n * m * sizeof *b);
    for (int i = 0; i < n * m; i++)
        a[i] = b[i] = i % 7 + argc;
    for (int t = 0; t < 4; t++)
        sweep(n, m, (void *)b, (void *)a);
    for (int i = 0; i < n * m; i++)
        printf(\"%.17g\\n\", b[i]);
    printf(\"end %d\\n\", argc);
    free(a), free(b);
    return 0;
}
";

#[test]
fn lengths_of_rows_that_change() {
    same_output(CHANGED, 1, SIZES);
}
