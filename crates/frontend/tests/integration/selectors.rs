//! Loops over regions, ends that a condition selects, and statement expressions: what they become, and that programs do the
//! same with their nests written anew.

use crate::common::{SIZES, same_output, shown};
use insta::assert_snapshot;

const REGIONS: &str = "
static void wave(int n, int m, int border, const double *v, double *restrict u)
{
    for (int region = 0; region < 3; region++) {
        int first = region == 0 ? 0 : region == 1 ? border : n - border;
        int last = region == 0 ? border : region == 1 ? n - border : n;
        for (int i = first; i < last; i++)
            for (int j = 0; j < m; j++) {
                double value = v[j] * 0.5;
                if (region != 1)
                    value += u[i * m + j];
                u[i * m + j] = value + region;
            }
    }
}
static void assigned(int n, int a, int b, double *x)
{
    int k, lo, hi, i;
    for (k = 1; k <= 2; ++k) {
        if (k == 1) {
            lo = 0;
            hi = a;
        } else {
            lo = b;
            hi = n;
        }
        for (i = lo; i < hi; i++)
            x[i] += k;
    }
}
static void inner(int n, int m, int width, double *x)
{
    for (int i = 0; i < n; i++)
        for (int side = 0; side < 2; side++) {
            double scale = side == 0 ? 0.5 : 0.25;
            for (int j = side == 0 ? 0 : m - width; j < (side == 0 ? width : m); j++)
                x[i * m + j] *= scale;
        }
}
";

const ENDS: &str = "
static void ends(int n, int m, int a, int b, double *x)
{
    int end = a < b ? n : m;
    for (int i = 0; i < end; i++)
        x[i] += 1;
    for (int i = a > 3 ? 1 : 0; i < (b <= 2 ? m : n); i++)
        x[i] = 0.5 * x[i] + i;
}
static void in_nest(int n, int m, double *x)
{
    for (int i = 0; i < n; i++) {
        int end = i < m ? m : n;
        for (int j = 0; j < end; j++)
            x[j] += 0.25 * i;
    }
}
";

const EXPRESSIONS: &str = "
#define MAX(a, b) ({ __typeof__ (a) _a = (a); __typeof__ (b) _b = (b); _a > _b ? _a : _b; })
#define MIN(a, b) ({ const __typeof__(a) _a = (a); const __typeof__(b) _b = (b); _a < _b ? _a : _b; })
#define LEAST(a, b) ({ __auto_type x_ = (a); __auto_type y_ = (b); x_ < y_ ? x_ : y_; })
static void blocks(int n, int step, double *x, const double *y)
{
    for (int b = 0; b < n; b += 8)
        for (int i = b; i < MIN(b + 8, n); i++)
            x[i] = MAX(x[i], MAX(y[i], 0.5)) + step;
    for (int i = 0; i < n; i++)
        x[i] += ({ float half = 0.5 * y[i]; int whole = (int)(3 * half); half * half - whole; });
    for (int i = 0; i < LEAST(n, 40); i++)
        x[i] -= LEAST(fabs(y[i]), fabs(x[i]));
}
";

const MAIN: &str = "
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), i;
    double *x = malloc((n * n + 50) * sizeof *x), *y = malloc((n * n + 50) * sizeof *y);
    for (i = 0; i < n * n + 50; i++)
        x[i] = i % 7 - 3, y[i] = i % 5 - 1.5;
    CALLS
    for (i = 0; i < n * n; i++)
        printf(\"%.17g\\n\", x[i]);
    printf(\"%d %d\\n\", n, argc);
    free(x), free(y);
    return 0;
}
";

fn program(functions: &str, calls: &str) -> String {
    format!("#include <math.h>\n{functions}{}", MAIN.replace("CALLS", calls))
}

#[test]
fn regions_one_after_the_other() {
    let calls = "for (i = 0; i <= n; i += 3) wave(n, n, i / 2, y, x), assigned(n, i / 3, i / 2, x), inner(n, n, i, x);";
    same_output(&program(REGIONS, calls), 3, SIZES);
    assert_snapshot!(shown(REGIONS));
}

#[test]
fn ends_of_either_kind() {
    let calls = "for (i = 0; i < 8; i++) ends(n, n / 2, i, 3, x), ends(n / 3, n, 4, i, x), in_nest(n, i, x), in_nest(i, n, x);";
    same_output(&program(ENDS, calls), 3, SIZES);
    assert_snapshot!(shown(ENDS));
}

#[test]
fn statement_expressions_of_macros() {
    same_output(&program(EXPRESSIONS, "blocks(n, 2, x, y);"), 3, SIZES);
    assert_snapshot!(shown(&format!("double fabs(double);\n{EXPRESSIONS}")));
}

#[test]
fn what_has_effects_or_goes_on_elsewhere_stays() {
    assert_snapshot!(shown(
        "int count(int);
void f(int n, int *last, double *x, volatile double *v)
{
    int r;
    for (int i = 0; i < n; i++)
        x[i] = ({ double t = x[i]; t *= 2; t; });
    for (int i = 0; i < n; i++)
        x[i] = ({ int t = count(i); t + t; });
    for (int i = 0; i < n; i++)
        x[i] = ({ __typeof__(v[i]) t = (v[i]); t + t; });
    for (int i = 0; i < n; i++)
        x[i] = ({ __typeof__(x[i]) t = (x[i] + 1); t; });
    for (r = 0; r < 3; r++)
        for (int i = r == 0 ? 0 : n / 2; i < n; i++)
            x[i] += r;
    *last = r;
    for (int r = 0; r < 3; r++) {
        for (int i = r == 0 ? 0 : n / 2; i < n; i++)
            x[i] += r;
        if (x[0] > 3)
            break;
    }
    for (int r = 0; r < 30; r++)
        for (int i = r == 0 ? 0 : n / 2; i < n; i++)
            x[i] += r;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < (x[i] < x[0] ? n : i); j++)
            x[j] += 1;
}
"
    ));
}
