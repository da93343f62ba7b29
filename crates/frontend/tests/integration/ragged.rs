//! Loops over rows that are shifted by numbers from memory: how they are lowered, and that programs do the same with them.

use crate::common::{SIZES, same_output, shown};
use insta::assert_snapshot;

const STACK: &str = "static int least(int a, int b)
{
    return a < b ? a : b;
}
static int greatest(int a, int b)
{
    return a > b ? a : b;
}
void stack(int m, int n, int longest, double rows[m][longest], const int *lengths, const int *starts,
           const double *weights, int first, int nsamples, double *restrict result)
{
    for (int s = 0; s < n; s++)
        for (int a = 0; a < m; a++) {
            double weight = weights[s * m + a];
            if (weight == 0)
                continue;
            int start = starts[s * m + a] - 2 * lengths[a];
            int begin = greatest(0, first - start);
            int end = greatest(0, least(nsamples - start + first, lengths[a]));
            for (int i = begin; i < end; i++)
                result[s * nsamples + start - first + i] += rows[a][i] * weight;
        }
}
";

#[test]
fn rows_are_counted_from_their_beginning() {
    assert_snapshot!(shown(STACK));
}

/// The shift changes with what is written, is unsigned, or bounds an inner loop.
#[test]
fn other_loops_stay() {
    assert_snapshot!(shown(
        "void changing(int n, int m, const int *end, int *restrict at)
{
    for (int s = 0; s < n; s++)
        for (int i = 0; i < end[s]; i++)
            at[at[s] + i] = i;
}
void wrapping(int n, const unsigned *at, const int *end, double *restrict x)
{
    for (int s = 0; s < n; s++)
        for (int i = 0; i < end[s]; i++)
            x[at[s] + i] = i;
}
void inner(int n, const int *at, double *restrict x)
{
    for (int s = 0; s < n; s++)
        for (int i = 0; i < n - at[s]; i++)
            for (int j = 0; j < i; j++)
                x[at[s] + i] += j;
}
"
    ));
}

#[test]
fn programs_do_the_same() {
    let main = "int main(int argc, char **argv)
{
    int n = atoi(argv[1]), m = 3, longest = n + 2, first = -2 * longest - 3, nsamples = 4 * longest;
    double (*rows)[longest] = malloc(sizeof(double[m][longest]));
    double *weights = malloc((n * m + 1) * sizeof(double)), *result = malloc((n * nsamples + 1) * sizeof(double));
    int *lengths = malloc(m * sizeof(int)), *starts = malloc((n * m + 1) * sizeof(int));
    for (int a = 0; a < m; a++) {
        lengths[a] = longest - a % 3;
        for (int i = 0; i < longest; i++)
            rows[a][i] = (a * 7 + i * 3) % 11;
    }
    for (int k = 0; k < n * m; k++) {
        starts[k] = k * 5 % 23 - 9;
        weights[k] = k % 4;
    }
    for (int k = 0; k < n * nsamples; k++)
        result[k] = k % 3;
    stack(m, n, longest, rows, lengths, starts, weights, first, nsamples, result);
    double sum = 0;
    for (int k = 0; k < n * nsamples; k++)
        sum += result[k] * (k % 17 + 1);
    printf(\"%.17g\\n\", sum);
    free(rows); free(weights); free(result); free(lengths); free(starts);
    return 0;
}
";
    same_output(&[STACK, main].concat(), 1, SIZES);
}

/// Where sums are scattered, conditions that cost much are left out of what is looked for, but not where they keep an index from
/// dividing by zero.
#[test]
fn conditions_before_a_division_stay() {
    let body = |index: &str| {
        shown(&format!(
            "void f(int n, const int *restrict at, const double *restrict r, double *restrict x)
{{
    for (int i = 0; i < n; i++)
        if (r[at[i]] > 0)
            x[{index}] += r[i];
}}
"
        ))
    };
    let condition = "if r[at[i]] > 0 : ";
    assert!(body("100 / at[i]").contains(condition), "{}", body("100 / at[i]"));
    let plain = body("at[i] / 2");
    assert!(plain.contains("bounded(x)") && !plain.contains(condition), "{plain}");
}
