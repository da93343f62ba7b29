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

const CLASSIFIED: &str = "
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect((x), 0)
static void f(int n, double *x, float *y, int *k, unsigned *u, unsigned long *l, unsigned short *s)
{
    for (int i = 0; i < n; i++)
        k[i] = isfinite(x[i]) + 2 * isfinite(y[i]) + 4 * isinf(x[i]) + 16 * !isinf(y[i]) + 32 * isnormal(x[i]);
    for (int i = 0; i < n; i++)
        k[i] += 64 * isnormal(y[i]);
    for (int i = 0; i < n; i++)
        if (likely(x[i] > 1) && !unlikely(k[i] & 4))
            y[i] = INFINITY;
        else if (x[i] < -1)
            x[i] = -INFINITY;
    for (int i = 0; i < n; i++) {
        u[i] = __builtin_bswap32(u[i] + 1);
        l[i] ^= __builtin_bswap64(l[i]) + __builtin_bswap32(k[i]);
        s[i] = __builtin_bswap16(s[i]) + 3;
        k[i] += 1000 * __builtin_popcount(k[i]) + 100000 * __builtin_popcountll(l[i] ^ u[i]);
    }
}
";

#[test]
fn what_macros_of_the_library_and_compilers_define() {
    assert_snapshot!(shown(&format!("#include <math.h>{CLASSIFIED}")));
    let main = "int main(int argc, char **argv)
{
    int n = atoi(argv[1]) % 16, k[16] = {0};
    double x[16] = {0, 1, -1, 1e-310, 1e-300, INFINITY, -INFINITY, NAN, 1.7976931348623157e308, -5, 5, 2.2250738585072014e-308};
    float y[16] = {0, 1, -1, 1e-40f, 1e-30f, INFINITY, -INFINITY, NAN, 3.4028234663852886e38f, -5, 5, 1.1754943508222875e-38f};
    unsigned u[16];
    unsigned long l[16];
    unsigned short s[16];
    for (int i = 0; i < 16; i++) {
        u[i] = 0x12345678u * (argc + i);
        l[i] = 0x123456789abcdefL * (argc + i);
        s[i] = 0x1234 * (argc + i);
    }
    f(n, x, y, k, u, l, s);
    for (int i = 0; i < 16; i++)
        printf(\"%g %g %d %x %lx %x\\n\", x[i], y[i], k[i], u[i], l[i], s[i]);
    return 0;
}
";
    same_output(&format!("#include <math.h>{CLASSIFIED}{main}"), 4, &["0", "1", "15"]);
}
