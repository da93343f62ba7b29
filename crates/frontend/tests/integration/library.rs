//! Functions of `<math.h>` and `<stdlib.h>`.

use crate::common::{SIZES, same_output, shown};
use insta::assert_snapshot;

#[test]
fn functions_that_c_defines() {
    assert_snapshot!(shown(
        "#include <math.h>
#include <stdlib.h>
void f(int n, double *x, float *y, long *l, int *k)
{
    for (int i = 0; i < n; i++)
        x[i] = rint(x[i]) + nearbyint(x[i]) + fma(x[i], 2.0, fdim(x[i], 1.0));
    for (int i = 0; i < n; i++)
        l[i] = lrint(x[i]) + lroundf(y[i]) + labs(l[i]);
    for (int i = 0; i < n; i++)
        y[i] = asinhf(y[i]) + atanhf(y[i]) - acoshf(y[i]) + rintf(y[i]);
    for (int i = 0; i < n; i++)
        k[i] = isnan(x[i]);
}
"
    ));
}

#[test]
fn functions_that_do_more_stay() {
    assert_snapshot!(shown(
        "#include <math.h>
#include <stdlib.h>
void f(int n, double *x, int *k)
{
    for (int i = 0; i < n; i++)
        x[i] = lgamma(x[i]);
    for (int i = 0; i < n; i++)
        x[i] = frexp(x[i], &k[i]);
    for (int i = 0; i < n; i++)
        x[i] = rand();
}
"
    ));
}

#[test]
fn programs_with_them_do_the_same() {
    same_output(
        "#include <math.h>
static void f(int n, double *x, float *y, long *l, int *k)
{
    for (int i = 0; i < n; i++)
        x[i] = rint(x[i]) + nearbyint(x[i] * 0.5) + fma(x[i], 2.0, fdim(x[i], 1.0));
    for (int i = 0; i < n; i++)
        l[i] = lrint(x[i]) + lroundf(y[i]) + labs(l[i]) * llabs(i - 3);
    for (int i = 0; i < n; i++)
        y[i] = asinhf(y[i]) + atanhf(y[i] / 1000) - acoshf(2 + y[i] * y[i]) + rintf(y[i]);
    for (int i = 0; i < n; i++)
        k[i] = isnan(x[i]) + 2 * isnan(y[i]);
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    double *x = calloc(n + 1, sizeof *x);
    float *y = calloc(n + 1, sizeof *y);
    long *l = calloc(n + 1, sizeof *l);
    int *k = calloc(n + 1, sizeof *k);
    for (int i = 0; i < n; i++) {
        x[i] = i * 0.5 - 3.25;
        y[i] = i % 11 == 5 ? NAN : i * 1.5f - 7;
        l[i] = i % 3 - 1;
    }
    for (int i = 0; i < n; i++)
        if (y[i] != y[i])
            y[i] = 3;
    f(n, x, y, l, k);
    for (int i = 0; i < n; i++)
        printf(\"%.17g %.9g %ld %d\\n\", x[i], y[i], l[i], k[i]);
    printf(\"end\\n\");
    free(x); free(y); free(l); free(k);
    return 0;
}
",
        4,
        SIZES,
    );
}
