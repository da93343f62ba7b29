//! Rows behind pointers to pointers, `double ***u`: programs give the same results with their nests rendered.

use crate::common::{SIZES, same_output, same_output_apart};

/// A grid behind pointers to pointers; no single access covers all rows.
const STENCIL: &str = "
static double ***grid(int n, int m, int k)
{
    double ***u = malloc(n * sizeof *u), *all = malloc(n * m * k * sizeof *all);
    int i, j;
    for (i = 0; i < n; i++) {
        u[i] = malloc(m * sizeof *u[i]);
        for (j = 0; j < m; j++)
            u[i][j] = all + (i * m + j) * k;
    }
    for (i = 0; i < n * m * k; i++)
        all[i] = i % 13;
    return u;
}
static void smooth(double ***u, double ***r, int n)
{
    int i, j, k;
    for (i = 1; i < n - 1; i++)
        for (j = 1; j < n - 1; j++)
            for (k = 1; k < n - 1; k++)
                u[i][j][k] += 0.5 * (r[i - 1][j][k] + r[i + 1][j][k] + r[i][j - 1][k] + r[i][j + 1][k])
                    + 0.25 * (r[i - 1][j - 1][k] + r[i + 1][j - 1][k] + r[i - 1][j + 1][k] + r[i + 1][j + 1][k]);
}
static void refine(double ***u, double ***z, int n)
{
    int i, j, k;
    for (i = 0; i < n - 1; i++)
        for (j = 0; j < n - 1; j++)
            for (k = 0; k < n - 1; k++) {
                u[2 * i][2 * j][2 * k] += z[i][j][k];
                u[2 * i][2 * j + 1][2 * k] += z[i][j + 1][k];
                u[2 * i + 1][2 * j][2 * k] += z[i + 1][j][k];
                u[2 * i + 1][2 * j + 1][2 * k + 1] += z[i + 1][j + 1][k];
            }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]) / 2 + 1, i;
    double ***u = grid(2 * n, 2 * n, 2 * n), ***r = grid(n, n, n);
    smooth(u, r, n);
    refine(u, r, n);
    for (i = 0; i < 2 * n; i++)
        printf(\"%.17g %d\\n\", u[i][2 * n - 1 - i][i], argc);
    for (i = 0; i < 2 * n; i++)
        free(i == 0 ? u[0][0] : 0), free(i == 0 ? r[0][0] : 0), free(i > 0 ? u[i] : 0), free(i > 0 && i < n ? r[i] : 0);
    free(u[0]), free(r[0]), free(u), free(r);
    return 0;
}
";

#[test]
fn rows_that_several_accesses_sweep() {
    same_output(STENCIL, 3, SIZES);
    same_output_apart(STENCIL, 3, SIZES);
}

/// Grids behind pointers that have only the rows that a stencil uses: no corners, no edges.
const CROSSES: &str = "
static void **blocks;
static void *got(size_t bytes)
{
    void **block = calloc(bytes + 16, 1);
    *block = blocks;
    blocks = block;
    return block + 2;
}
static int is_used(int i, int j, int n, int m)
{
    return i % (n - 1) != 0 || j % (m - 1) != 0;
}
/* In one block, or each row in its own. */
static double ***grid(int n, int m, int l, int kind)
{
    double ***u = got(n * sizeof *u), *all = kind ? 0 : got((n * m - 2) * l * sizeof *all);
    for (int i = 0; i < n; i++) {
        int first = i == 0 || i == n - 1;
        u[i] = (double **)got((m - 2 * first) * sizeof **u) - first;
        for (int j = first; j < m - first; j++) {
            u[i][j] = kind ? got(l * sizeof ***u) : all + (i * m + j - 1) * l;
            for (int k = 0; k < l; k++) u[i][j][k] = (i * 7 + j * 3 + k) % 11;
        }
    }
    return u;
}
static void step(double ***v, double ***u, int n, int m, int l)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            for (int k = 1; k < l - 1; k++)
                v[i][j][k] = u[i][j][k] + 0.25 * (u[i - 1][j][k] + u[i + 1][j][k] + u[i][j - 1][k] + u[i][j + 1][k]
                    + u[i][j][k - 1] + u[i][j][k + 1] - 6 * u[i][j][k]);
}
static void wide(float ****s, int n)
{
    for (int q = 0; q < 2; q++)
        for (int i = 2; i < n - 2; i++)
            for (int j = 2; j < n - 2; j++)
                for (int k = 0; k < n; k++)
                    s[0][i][j][k] += s[1 + q][i - 2][j][k] + s[1 + q][i - 1][j][k] + s[1 + q][i + 2][j][k]
                        + s[1 + q][i + 1][j][k] + s[1 + q][i][j - 1][k] + s[1 + q][i][j + 1][k];
}
static void sides(double ***u, int n, int m)
{
    for (int i = 1; i < n - 1; i++)
        for (int k = 0; k < 3; k++) {
            u[i][0][k] = u[i][1][k];
            u[i][m - 1][k] = u[i][m - 2][k];
        }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]) + 2, m = n + 3, l = n + 4, expected = 0;
    for (int kind = 0; kind < 2; kind++) {
        double ***u = grid(n, m, l, kind), ***v = grid(n, m, l, kind);
        float ****s = got(3 * sizeof *s);
        for (int q = 0; q < 3; q++) {
            s[q] = got(n * sizeof **s);
            for (int i = 0; i < n; i++) {
                s[q][i] = got(n * sizeof ***s);
                for (int j = q == 0 ? 2 : 1; j < n - 1; j++) {
                    s[q][i][j] = got(n * sizeof ****s);
                    for (int k = 0; k < n; k++) s[q][i][j][k] = q * 5 + i * j % 3 + k;
                }
            }
        }
        step(v, u, n, m, l);
        sides(v, n, m);
        step(u, v, n, m, l);
        if (n > 4) wide(s, n);
        if (n > 4 && kind == 1) { u[2][2] = u[1][1]; step(u, v, n, m, l); step(u, u, n, m, l); }
        double sum = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                for (int k = 0; k < l && is_used(i, j, n, m); k++) sum += u[i][j][k] * (i + 2 * j + 3 * k);
        for (int i = 2; i < n - 2; i++)
            for (int j = 2; j < n - 2; j++) sum += s[0][i][j][i];
        printf(\"%.17g\\n\", sum + expected);
    }
    while (blocks) {
        void **next = *blocks;
        free(blocks);
        blocks = next;
    }
    return 0;
}
";

#[test]
fn stencils_use_crosses_of_rows() {
    same_output(CROSSES, 4, SIZES);
    same_output_apart(CROSSES, 4, SIZES);
}
