//! Assignments inside expressions: what they become, and that programs do the same with their nests written anew.

use crate::common::{SIZES, same_output, shown};
use insta::assert_snapshot;

#[test]
fn assignments_inside_expressions() {
    assert_snapshot!(shown(
        "void ranks(int n, const int *restrict key, int *restrict count, int *restrict out)
{
    for (int i = 0; i < n; i++)
        out[--count[key[i]]] = key[i];
}
void pack(int n, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++) {
        int k = 4 * i;
        y[k++] = x[i];
        y[k++] = -x[i];
        y[++k] = 0.0;
    }
}
void unclear(int n, int *restrict a)
{
    for (int i = 0; i < n; i++) {
        int k = i;
        a[k] = k++;
    }
}
"
    ));
}

#[test]
fn programs_with_steps_inside_do_the_same() {
    same_output(
        "static void ranks(int n, const int *key, int *count, int *out)
{
    for (int i = 0; i < n; i++)
        out[--count[key[i]]] = key[i];
}
static void pack(int n, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        int k = 4 * i, last;
        y[k++] = x[i];
        y[k++] = -x[i];
        if ((last = k++) > 9)
            y[k] = last;
        y[--k] += 0.5;
    }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), count[8] = { 0 };
    int *key = malloc((n + 1) * sizeof *key), *out = calloc(n + 1, sizeof *out);
    double *x = malloc((n + 1) * sizeof *x), *y = calloc(4 * n + 4, sizeof *y);
    for (int i = 0; i < n; i++) {
        key[i] = i * 5 % 8;
        x[i] = i * 0.25;
        count[key[i]]++;
    }
    for (int i = 1; i < 8; i++)
        count[i] += count[i - 1];
    ranks(n, key, count, out);
    pack(n, x, y);
    for (int i = 0; i < n; i++)
        printf(\"%d %.17g %.17g %.17g\\n\", out[i], y[4 * i], y[4 * i + 2], y[4 * i + 3]);
    printf(\"%d\\n\", count[3]);
    free(key); free(out); free(x); free(y);
    return 0;
}
",
        2,
        SIZES,
    );
}
