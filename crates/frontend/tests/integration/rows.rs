//! Rows behind pointers: how they are lowered, and that programs give the same results with their nests rendered.

use crate::common::{
    SIZES, reach_rows, read, replays_agree_apart, same_output, same_output_apart, shown, site_of,
};
use insta::assert_snapshot;

#[test]
fn rows_behind_pointers() {
    assert_snapshot!(shown(
        "void smooth(int n, int m, double **u, double **restrict v)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            v[i][j] = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1];
}
void lu(int n, float **a)
{
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                a[i][j] -= a[i][k] * a[k][j];
}
void cube(int n, double ***u, double *rows[9])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 9; j++)
            for (int k = 0; k < n; k++)
                u[i][j][k] = rows[j][k];
}
void row_by_row(int n, double **u)
{
    for (int i = 0; i < n; i++) {
        double *row = u[i];
        for (int j = 0; j < n; j++)
            row[j] = 0.0;
    }
}
"
    ));
}

#[test]
fn rows_that_may_not_be_looked_at_stay() {
    assert_snapshot!(shown(
        "void some(int n, double **u, const int *is_there)
{
    for (int i = 0; i < n; i++)
        if (is_there[i])
            for (int j = 0; j < 8; j++)
                u[i][j] = 0.0;
}
void gathered(int n, double **u, const int *which)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 8; j++)
            u[which[i]][j] = which[i]--;
}
void bytes(int n, char **u)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 8; j++)
            u[i][j] = 0;
}
"
    ));
}

/// Ghost cells, of which nobody knows in which order their rows lie.
const BORDERS: &str = "void borders(int n1, int n2, int n3, double ***u)
{
    for (int i3 = 1; i3 < n3 - 1; i3++) {
        for (int i2 = 1; i2 < n2 - 1; i2++) {
            u[i3][i2][n1 - 1] = u[i3][i2][1];
            u[i3][i2][0] = u[i3][i2][n1 - 2];
        }
        for (int i1 = 0; i1 < n1; i1++) {
            u[i3][n2 - 1][i1] = u[i3][1][i1];
            u[i3][0][i1] = u[i3][n2 - 2][i1];
        }
    }
}
void two(int n, int m, int k, double **a)
{
    for (int j = 0; j < m; j++)
        a[n][j] += a[k][j];
}
";

#[test]
fn rows_of_which_nobody_knows_which_is_first() {
    assert_snapshot!(shown(BORDERS));
}

#[test]
fn programs_with_rows_of_unknown_order_do_the_same() {
    same_output(
        &[
            BORDERS,
            "int main(int argc, char **argv)
{
    int n = atoi(argv[1]) + 2;
    for (int kind = 0; kind < 2; kind++) {
        double ***u = malloc(n * sizeof *u), *block = malloc(n * n * n * sizeof *block);
        for (int i = 0; i < n; i++) {
            u[i] = malloc(n * sizeof **u);
            for (int j = 0; j < n; j++) {
                u[i][j] = kind == 0 ? block + (i * n + j) * n : malloc((n + (i * j) % 3) * sizeof ***u);
                for (int k = 0; k < n; k++)
                    u[i][j][k] = (i * 5 + j * 3 + k) % 13;
            }
        }
        borders(n, n, n, u);
        two(n - 1, n, 0, u[0]);
        two(0, n, n - 1, u[1]);
        two(1, n, 1, u[1]);
        double sum = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++)
                    sum += u[i][j][k] * (i + 2 * j + 3 * k);
        printf(\"%.17g\\n\", sum);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++)
                if (kind != 0) free(u[i][j]);
            free(u[i]);
        }
        free(u); free(block);
    }
    return 0;
}
",
        ]
        .concat(),
        2,
        SIZES,
    );
}

#[test]
fn programs_with_rows_do_the_same() {
    same_output(
        "static double **rows(int n, int m, int kind, double *block)
{
    double **u = malloc((n + 1) * sizeof *u);
    for (int i = 0; i < n; i++)
        u[i] = kind == 0 ? block + i * (m + 2) : kind == 1 ? block + (n - 1 - i) * m : malloc(m * sizeof **u + (i * 37 % 5) * 64);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            u[i][j] = (i * 7 + j * 3) % 11;
    return u;
}
static void smooth(int n, int m, double **u, double **v)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            v[i][j] = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] + v[i][j - 1];
}
static void lu(int n, double **a)
{
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                a[i][j] -= a[i][k] * a[k][j] * 0.001;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), m = n + 3;
    for (int kind = 0; kind < 3; kind++) {
        double *memory = calloc(2 * (n + 1) * (m + 2), 8);
        double **u = rows(n, m, kind, memory), **v = rows(n, m, kind, memory + (n + 1) * (m + 2));
        if (n > 2 && kind == 2) { free(v[2]); v[2] = v[1]; }
        smooth(n, m, u, v);
        smooth(n, m, v, v);
        lu(n, v);
        double sum = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                sum += v[i][j] * (i + 2 * j);
        printf(\"%.17g\\n\", sum);
        if (kind == 2)
            for (int i = 0; i < n; i++) {
                free(u[i]);
                if (i != 2) free(v[i]);
            }
        free(memory); free(u); free(v);
    }
    return 0;
}
",
        3,
        SIZES,
    );
}

#[test]
fn programs_with_rows_from_one_and_in_three_dimensions_do_the_same() {
    same_output(
        "static void fill(int n, double **a)
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            a[i][j] = i * 0.5 + j;
}
static void cube(int n, float ***u, double **a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n + 1; j++)
            for (int k = 0; k < n; k++)
                u[i][j][k] += a[i + 1][k + 1] * j;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    /* As in Numerical Recipes: rows and columns from one. */
    double *block = calloc(n * n + 1, 8), **table = malloc((n + 1) * sizeof *table), **a = table - 1;
    for (int i = 1; i <= n; i++) a[i] = block + (i - 1) * n - 1;
    float ***u = malloc((n + 1) * sizeof *u), *all = calloc(n * (n + 1) * n + 1, 4);
    for (int i = 0; i < n; i++) {
        u[i] = malloc((n + 1) * sizeof **u);
        for (int j = 0; j <= n; j++) u[i][j] = all + (i * (n + 1) + j) * n;
    }
    fill(n, a);
    cube(n, u, a);
    cube(n, u, a);
    double sum = 0;
    for (int i = 0; i < n * (n + 1) * n; i++) sum += all[i] * (i % 13);
    printf(\"%.17g\\n\", sum);
    for (int i = 0; i < n; i++) free(u[i]);
    free(u); free(all); free(block); free(table);
    return 0;
}
",
        2,
        SIZES,
    );
}

/// Rows of different lengths, each somewhere else, of which a loop uses a part between several bounds.
const PARTS: &str = "
static int greater(int a, int b) { return a > b ? a : b; }
static int less(int a, int b) { return a < b ? a : b; }
static void add(double *sum, double *const *rows, const int *lengths, const int *shifts, int n_rows, int first, size_t n)
{
    size_t i;
    int k, shift;
    for (k = 0; k < n_rows; k++) {
        if (shifts[k] == 3)
            continue;
        shift = shifts[k];
        for (i = (size_t)greater(0, first - shift); i < (size_t)greater(0, less(n - shift + first, lengths[k])); i++)
            sum[shift - first + i] += rows[k][i] * 0.5;
    }
}
static void both(int n, const int *lengths, int k, int m, double *x)
{
    for (int i = 0; i < n && i < lengths[k]; i++)
        x[i] *= 2;
    for (int i = 0; i < n && m > 0; i++)
        x[i] += m;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i, k, lengths[5], shifts[5];
    double *rows[5], *sum = calloc(2 * n + 1, sizeof *sum);
    for (k = 0; k < 5; k++) {
        lengths[k] = (n * (k + 2) / 4) % (n + 1);
        shifts[k] = k * 2 - 5;
        rows[k] = calloc(lengths[k] + 1, sizeof *rows[k]);
        for (i = 0; i < lengths[k]; i++)
            rows[k][i] = i % (k + 3);
    }
    for (i = -3; i < 4; i++)
        add(sum, rows, lengths, shifts, 5, i * 2, n);
    add(sum, rows, lengths, shifts, 5, n, n);
    add(sum, rows, lengths, shifts, 5, -n, n);
    both(n, lengths, 3, 1, sum);
    both(-1, 0, 3, 1, sum);
    for (i = 0; i < 2 * n + 1; i++)
        printf(\"%.17g\\n\", sum[i]);
    printf(\"%d\\n\", argc);
    for (k = 0; k < 5; k++)
        free(rows[k]);
    free(sum);
    return 0;
}
";

#[test]
fn parts_of_rows_between_several_bounds() {
    let end = PARTS.find("int main").expect("is there");
    assert_snapshot!(shown(&format!("typedef unsigned long size_t;{}", &PARTS[..end])));
    same_output(PARTS, 3, SIZES);
}

/// Rows that are not evenly spaced, in all the ways that programs have them; some overlap.
const UNEVEN: &str = "
enum { GAPS, SWAPPED, SHARED, TWICE, SHIFTED, ONE_TABLE, MIXED, ACROSS, N_KINDS };
static void smooth(int n, int m, double **u, double **v)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            v[i][j] = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] + v[i][j - 1];
}
static void lu(int n, double **a)
{
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                a[i][j] -= a[i][k] * a[k][j] * 0.001;
}
static void turned(int n, int m, double **v)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            v[i][j] = v[i][j] * 0.5 + i * 3 + j;
}
static double sum_of(int n, double **u, const double *w)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            sum += u[i][j] * w[j];
    return sum;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), m = n + 3, expected = 0;
    for (int kind = 0; kind < N_KINDS; kind++) {
        double *memory = calloc(2 * (n + 2) * m, 8), **u = calloc(n + 1, sizeof *u), **v = calloc(n + 1, sizeof *v);
        double *w = calloc(n + 1, 8);
        for (int i = 0; i < n; i++) {
            int other = i % 2 ? i / 2 : n - 1 - i / 2;
            if (kind == GAPS) {
                u[i] = calloc(m + (i * 37 % 5) * 8, 8);
                v[i] = calloc(m + (i * 3 % 7) * 8, 8);
            } else if (kind == MIXED || kind == ACROSS) {
                u[i] = memory + 2 * other * m;
                v[i] = memory + (2 * i + 1) * m;
            } else {
                u[i] = memory + other * m;
                v[i] = memory + (n + 1 + other) * m;
            }
            w[i] = i % 3;
        }
        if (kind == SHARED && n > 2) u[2] = u[1];
        if (kind == TWICE && n > 3) v[2] = v[1];
        if (kind == SHIFTED && n > 3) v[2] = v[1] + 1;
        if (kind == ACROSS && n > 3) u[3] = v[2] + 1;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) {
                u[i][j] = (i * 7 + j * 3) % 11;
                v[i][j] = (i * 5 + j) % 13;
            }
        double **to = kind == ONE_TABLE ? u : v;
        int overlaps = n > 3 && (kind == TWICE || kind == SHIFTED);
        smooth(n, m, u, to);
        expect(expected += n < 3 || overlaps || kind == ONE_TABLE || (kind == ACROSS && n > 3));
        lu(n, to);
        expect(expected += n < 2 || overlaps);
        turned(n, m, to);
        expect(expected += n < 1 || overlaps);
        double sum = sum_of(n, kind == SHARED ? u : to, w);
        expect(expected += n < 1);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                sum += to[i][j] * (i + 2 * j);
        printf(\"%.17g\\n\", sum);
        if (kind == GAPS)
            for (int i = 0; i < n; i++) {
                free(u[i]);
                free(v[i]);
            }
        free(memory); free(u); free(v); free(w);
    }
    return 0;
}
";

/// Sizes with primes.
const MORE_SIZES: &[&str] = &["0", "1", "2", "3", "4", "7", "31", "64"];

#[test]
fn programs_with_uneven_rows_do_the_same() {
    same_output_apart(UNEVEN, 4, MORE_SIZES);
}

#[test]
fn uneven_rows_in_three_dimensions_do_the_same() {
    same_output_apart(
        "static void **blocks;
static void *got(size_t bytes)
{
    void **block = calloc(bytes + 16, 1);
    *block = blocks;
    blocks = block;
    return block + 2;
}
static void cube(int n, float ***u, double **a, double *scale)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n + 1; j++)
            for (int k = 0; k < n; k++)
                u[i][j][k] += a[i - 1][k + 1] * j * scale[1];
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), expected = 0;
    for (int kind = 0; kind < 4; kind++) {
        /* Rows from minus one, columns from one. */
        double **table = got((n + 2) * sizeof *table), **a = table + 1;
        for (int i = -1; i < n; i++) {
            a[i] = got((n + 2 + (i + 1) % 3) * 8);
            for (int k = 1; k <= n; k++) a[i][k] = i * 0.5 + k;
        }
        float ***u = got((n + 1) * sizeof *u);
        for (int i = 0; i < n; i++) {
            u[i] = got((n + 1) * sizeof **u);
            for (int j = 0; j <= n; j++) u[i][j] = got((n + (i + j) % 5) * 4);
        }
        if (kind == 1 && n > 2) u[2][1] = u[0][2];
        double one[2] = { 1, 1 };
        double *scale = kind == 2 && n > 2 ? a[1] : one;
        if (kind == 3 && n > 2) a[0] = a[1];
        cube(n, u, a, scale);
        expect(expected += n < 1 || (n > 2 && kind == 1));
        double sum = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= n; j++)
                for (int k = 0; k < n; k++) sum += u[i][j][k] * (i + 2 * j + 3 * k);
        printf(\"%.17g\\n\", sum);
    }
    while (blocks) {
        void **next = *blocks;
        free(blocks);
        blocks = next;
    }
    return 0;
}
",
        1,
        MORE_SIZES,
    );
}

#[test]
fn replays_of_uneven_rows_agree() {
    let end = UNEVEN.find("int main").expect("is there");
    replays_agree_apart(&UNEVEN[..end], &["smooth", "lu", "turned"]);
    replays_agree_apart(BORDERS, &["borders", "two"]);
}

#[test]
fn programs_with_even_rows_run_through_pointers_as_well() {
    same_output_apart(PARTS, 3, SIZES);
}

/// Nests with so many arrays of rows each, instrumented.
fn instrumented(n: usize) -> usize {
    let names: Vec<String> = (0..n).map(|k| format!("u{k}")).collect();
    let parameters: Vec<String> = names.iter().map(|name| format!("double **{name}")).collect();
    let sums: String =
        names.iter().map(|name| format!("{name}[i][j] = {name}[i][j - 1] + {name}[k][j];\n")).collect();
    let unit = read(&format!(
        "void f(int n, int m, int k, {})\n{{\nfor (int i = 1; i < n - 1; i++)\nfor (int j = 1; j < m; j++) {{\n{sums}}}\n}}\n",
        parameters.join(", ")
    ));
    let function = &unit.functions[0];
    let nest = function.program.nests.values().next().expect("a nest");
    assert_eq!(function.binding.entries[&nest.id].rows.len(), n);
    oxeye_codegen::instrument(&unit.source, &[site_of(function, nest)], "").len() - unit.source.len()
}

#[test]
fn what_finds_the_arguments_grows_with_the_number_of_arrays() {
    let [few, more, most] = [4, 8, 16].map(instrumented);
    assert!(most - more < 3 * (more - few), "{few} {more} {most}");
    assert!(most < 16 * 1500 + 6000, "{most}");
}

#[test]
fn uneven_rows_are_written_as_in_the_source() {
    let mut unit = read(UNEVEN_PARTS);
    reach_rows(&mut unit);
    assert_snapshot!(crate::common::show(&unit));
    let mut text = String::new();
    for function in &unit.functions {
        for nest in function.program.nests.values() {
            let options = oxeye_codegen::RenderOptions { original: Some("…".into()), ..Default::default() };
            text += &oxeye_codegen::render_nest(&function.program, &function.binding, nest, &options)
                .expect("can be written");
            text += "\n";
        }
    }
    assert_snapshot!(text);
}

const UNEVEN_PARTS: &str = "void add(int n, double **u, double ***v, const double *x, float *sum)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                v[i][j][k] += u[i][j] * x[k];
}
void total(int n, double **u, double *sum)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            *sum += u[i][j];
}
";

/// Conditions and numbers from memory decide which rows there are.
const DECIDED: &str = "void masked(int n, int m, int **mask, double **in, double **out)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            if (!mask[i][j])
                out[i][j] = 0.25 * (in[i - 1][j] + in[i + 1][j] + in[i][j - 1] + in[i][j + 1]);
}
void chosen(int n, int m, const int *use, double **in, double *sum)
{
    for (int i = 0; i < n; i++) {
        int weight = use[i];
        if (weight == 0) continue;
        for (int j = 0; j < m; j++)
            sum[j] += weight * in[i][j];
    }
}
void gathered(int n, int m, const int *ends, const int *column, double **in, double **out)
{
    for (int i = 0; i < n; i++)
        for (int p = ends[i]; p < ends[i + 1]; p++)
            for (int j = 0; j < m; j++)
                out[i][j] += in[column[p]][j];
}
void ragged(int n, const int *length, double **in, double *sum)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < length[i]; j++)
            sum[i] += in[i][j];
}
void edges(int n, int m, double **in, double **out)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double s = in[i][j];
            if (i > 0) s += in[i - 1][j];
            if (i < n - 1) s += in[i + 1][j];
            if (j > 0) s += in[i][j - 1];
            out[i][j] = s;
        }
}
void table(int n, int m, const short *a, const short *b, int **best)
{
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++)
            if (a[i - 1] == b[j - 1])
                best[i][j] = best[i - 1][j - 1] + 1;
            else
                best[i][j] = best[i - 1][j] > best[i][j - 1] ? best[i - 1][j] : best[i][j - 1];
}
";

#[test]
fn rows_that_conditions_decide_on() {
    assert_snapshot!(shown(DECIDED));
}

/// Tables of pointers are no longer than what is used of them, and rows have allocations of their own.
const DECIDED_MAIN: &str = "
const char *__asan_default_options(void) { return \"detect_leaks=0\"; }
static void **rows(int first, int last, int bytes, int is_even)
{
    int n = last - first + 1;
    void **p = malloc(n * sizeof *p);
    bytes = (bytes + 7) / 8 * 8;
    char *block = is_even ? calloc(n, bytes) : 0;
    for (int i = 0; i < n; i++) {
        p[i] = is_even ? block + (size_t)i * bytes : calloc(1, bytes);
        for (int k = 0; k < bytes / 8; k++)
            ((double *)p[i])[k] = (i * 7 + k) % 11;
    }
    return p - first;
}
static double total(int first, int last, int m, double **u)
{
    double s = 0;
    for (int i = first; i <= last; i++)
        for (int j = 0; j < m; j++)
            s += u[i][j] * (1 + (i + 2 * j) % 5);
    return s;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), m = n + 3;
    for (int is_even = 0; is_even < 2; is_even++) {
        /* Rows 3 to n - 4 alone are used. */
        int first = 3, last = n - 4;
        double **in = (double **)rows(first - 1, last + 1, m * 8, is_even);
        double **out = (double **)rows(first, last, m * 8, is_even);
        int **mask = (int **)rows(0, n - 1, m * 4 + 8, is_even);
        int *use = calloc(n, 4), *length = calloc(n, 4), *ends = calloc(n + 1, 4), *column = calloc(n * n, 4);
        double *sum = calloc(m, 8);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < m; j++)
                mask[i][j] = i < first || i > last || (i + j) % 3 == 0;
            use[i] = i >= first && i <= last ? i % 4 : 0;
            length[i] = i >= first && i <= last && i % 3 ? m - i : 0;
            ends[i + 1] = ends[i] + (i >= first && i <= last ? i % 5 : 0);
        }
        for (int i = 0; i < n; i++) {
            for (int p = ends[i]; p < ends[i + 1]; p++)
                column[p] = first - 1 + (i * 31 + p * 17) % (last - first + 3);
        }
        masked(n, m, mask, in, out);
        chosen(n, m, use, in, sum);
        gathered(n, m, ends, column, in, out);
        ragged(n, length, in, sum);
        double **a = (double **)rows(0, n - 1, m * 8, is_even), **b = (double **)rows(0, n - 1, m * 8, is_even);
        edges(n, m, a, b);
        short *s = calloc(m, 2), *t = calloc(m, 2);
        for (int i = 0; i < m; i++) { s[i] = i * 5 % 3; t[i] = i * 7 % 4; }
        int **best = (int **)rows(0, n, (m + 1) * 4 + 8, is_even);
        for (int i = 0; i <= n; i++) for (int j = 0; j <= m; j++) best[i][j] = 0;
        table(n, m, s, t, best);
        double all = total(first - 1, last + 1, m, in) + total(first, last, m, out) + total(0, n - 1, m, b);
        for (int i = 0; i < m; i++) all += sum[i] * (i % 3);
        printf(\"%.10g %d\\n\", all, best[n][m]);
        /* Nothing is used at all. */
        masked(2, m, mask, 0, 0);
        for (int i = 0; i < n; i++) use[i] = length[i] = 0;
        chosen(n, m, use, 0, sum);
        ragged(n, length, 0, sum);
    }
    return 0;
}
";

#[test]
fn programs_with_rows_that_conditions_decide_on_do_the_same() {
    same_output(&[DECIDED, DECIDED_MAIN].concat(), 7, &["9", "12", "33"]);
}

#[test]
fn programs_with_rows_that_conditions_decide_on_run_through_pointers_as_well() {
    same_output_apart(&format!("{DECIDED}{DECIDED_MAIN}"), 7, &["9", "12", "33"]);
}

/// Tables of pointers in structures.
const MEMBERS: &str = "struct grid { int n, m; double **u, **v; struct { float **now; } part; };
static void smooth(struct grid *g)
{
    for (int i = 1; i < g->n - 1; i++)
        for (int j = 1; j < g->m - 1; j++)
            g->v[i][j] = 0.25 * (g->u[i - 1][j] + g->u[i + 1][j] + g->u[i][j - 1] + g->u[i][j + 1]);
}
static void product(const struct grid *a, const struct grid *b, struct grid *c)
{
    for (int i = 0; i < c->n; i++)
        for (int j = 0; j < c->m; j++) {
            c->v[i][j] = 0;
            for (int k = 0; k < c->n; k++)
                c->v[i][j] += a->u[i][k] * b->u[k][j];
        }
}
static void rows_of(const struct grid *g, int id, float *x)
{
    for (int j = 0; j < g->m; j++)
        x[j] = g->part.now[id][j] - g->part.now[id + 1][j];
}
static void masked(struct grid g, const int *use)
{
    for (int i = 0; i < g.n; i++)
        if (use[i])
            for (int j = 0; j < g.m; j++)
                g.v[i][j] *= 2;
}
";

const MEMBERS_MAIN: &str = "
const char *__asan_default_options(void) { return \"detect_leaks=0\"; }
static void *row(int bytes)
{
    return calloc(1, bytes);
}
static struct grid made(int n, int is_even)
{
    struct grid g = {n, n + 2, calloc(n, sizeof(double *)), calloc(n, sizeof(double *)), {calloc(n, sizeof(float *))}};
    double *block = calloc(2 * n * (n + 2), sizeof(double));
    for (int i = 0; i < n; i++) {
        g.u[i] = is_even ? block + i * (n + 2) : row((n + 2) * 8);
        g.v[i] = is_even ? block + (n + i) * (n + 2) : row((n + 2) * 8);
        g.part.now[i] = row((n + 2) * 4);
        for (int j = 0; j < n + 2; j++) {
            g.u[i][j] = (i * 5 + j) % 7;
            g.part.now[i][j] = (i + 3 * j) % 5;
        }
    }
    return g;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    for (int is_even = 0; is_even < 2; is_even++) {
        struct grid a = made(n, is_even), b = made(n, is_even), c = made(n, is_even);
        float *x = calloc(n + 2, 4);
        int *use = calloc(n, 4);
        for (int i = 0; i < n; i++)
            use[i] = i % 3 == 1;
        smooth(&a);
        product(&a, &b, &c);
        /* The same rows in both. */
        a.v = a.u;
        smooth(&a);
        masked(c, use);
        if (n > 1)
            rows_of(&a, n - 2, x);
        double s = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n + 2; j++)
                s += a.u[i][j] * (i + 1) + c.v[i][j] * (j % 3) + x[j];
        printf(\"%.10g\\n\", s);
    }
    return 0;
}
";

#[test]
fn rows_behind_members() {
    assert_snapshot!(shown(MEMBERS));
}

#[test]
fn programs_with_rows_behind_members_do_the_same() {
    same_output(&[MEMBERS, MEMBERS_MAIN].concat(), 5, &["1", "2", "3", "17"]);
}

#[test]
fn programs_with_rows_behind_members_run_through_pointers_as_well() {
    same_output_apart(&format!("{MEMBERS}{MEMBERS_MAIN}"), 5, &["1", "2", "3", "17"]);
}

/// The number of a row may be a product; there is one subscript for each pointer still.
#[test]
fn rows_at_steps_of_a_variable_length() {
    let unit = read(
        "struct grid { double **u; };
void f(int m, int n, struct grid *s, double **v, int stride)
{
    for (int i = 0; i < m; i += stride)
        for (int j = 0; j < n; j++)
            s->u[i][j] += v[i][j];
}
",
    );
    let function = &unit.functions[0];
    assert_eq!(oxeye_ir::verify(&function.program), Ok(()));
    let nest = &function.program.nests[0];
    assert!(nest.accesses().iter().all(|(access, _)| access.indices.len() == 2), "{}", function.program);
}
