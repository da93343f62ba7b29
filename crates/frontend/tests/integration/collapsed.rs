//! Loops that count through several at once.

use crate::common::{SIZES, same_output, shown};
use insta::assert_snapshot;

#[test]
fn counters_taken_apart() {
    assert_snapshot!(shown(
        "void transpose(int n, int m, double *restrict b, const double *restrict a)
{
    for (int c = 0; c < n * m; c++)
        b[(c % m) * n + c / m] = a[c];
}
void blocks(int size, float *a)
{
    for (int at = 0; at < size - 16; at += 16) {
        int nb = (size - at - 16) / 16;
        int all = nb * nb;
        for (int c = 0; c < all; c++) {
            int row = at + 16 * (1 + c / nb), column = at + 16 * (1 + c % nb);
            for (int i = 0; i < 16; i++)
                a[(row + i) * size + column] += a[(row + i) * size + at];
        }
    }
}
void volume(int nx, int ny, int nz, double *restrict u)
{
    for (int c = 0; c < nz * ny * nx; c++) {
        int k = c / (nx * ny), rest = c % (nx * ny);
        int j = rest / nx, i = rest % nx;
        u[(k * ny + j) * nx + i] *= 2.0;
    }
}
void volume_by_steps(int nx, int ny, int nz, double *restrict u)
{
    for (int c = 0; c < nz * ny * nx; c++)
        u[((c / nx / ny) * ny + (c / nx) % ny) * nx + c % nx] *= 2.0;
}
void tables(double u[restrict 64][48])
{
    for (size_t c = 0; c < 64 * 48; c++)
        u[c / 48][c % 48] += 1.0;
}
void computed_before(int n, int m, int total, double u[restrict n][m])
{
    for (int c = 0; c < total; c++)
        u[c / m][c % m] += 1.0;
}
"
        .replacen("void", "#include <stddef.h>\nvoid", 1)
        .as_str()
    ));
}

#[test]
fn counters_that_stay_whole() {
    assert_snapshot!(shown(
        "int needed_later(int n, int m, double *restrict a)
{
    int c;
    for (c = 0; c < n * m; c++)
        a[c % m] += c / m;
    return c;
}
void changing(int n, int m, double *restrict a)
{
    for (int c = 0; c < n * m; c++) {
        a[c / m] += 1.0;
        m = m + 0 * c;
    }
}
void odd(double *restrict a)
{
    for (int c = 0; c < 100; c++)
        a[c / 7] += c % 7;
}
void another_size(int n, int m, int k, double *restrict a)
{
    for (int c = 0; c < n * m; c++)
        a[c % k] += 1.0;
}
"
    ));
}

/// Also where sizes are 0 or negative, or do not divide what they should.
#[test]
fn results_are_the_same() {
    same_output(
        r#"static void whole(int n, int m, int total, double *restrict a)
{
    for (int c = 0; c < total; c++)
        a[abs(c / m) * 3 + abs(c % m)] += c;
}
static void guarded(int m, int total, double *restrict a)
{
    for (int t = 0; t < 2; t++)
        if (m > 0)
            for (int c = 0; c < total; c++)
                a[c / m + c % m] += c;
}
static void product(int n, int m, double *restrict a)
{
    for (int c = 0; c < n * m; c++)
        a[abs(c / m) * 3 + abs(c % m)] += c;
}
int main(int argc, char **argv)
{
    double a[200] = {0};
    int sizes[][2] = {{5, 7}, {0, 3}, {-3, -4}, {4, -2}, {1, 1}, {6, 2}, {atoi(argv[1]) % 8, 6}};
    for (int k = 0; k < 7; k++) {
        product(sizes[k][0], sizes[k][1], a);
        guarded(sizes[k][1], 12, a);
        if (sizes[k][1])
            whole(sizes[k][0], sizes[k][1], sizes[k][0] * sizes[k][1] + k % 3, a);
    }
    double s = 0;
    for (int i = 0; i < 200; i++)
        s += a[i] * (i % 11 + 1);
    printf("%g\n", s);
    return 0;
}
"#,
        3,
        SIZES,
    );
}
