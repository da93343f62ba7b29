//! Arrays of structures and of complex numbers that live inside a nest: an array for each member.

use crate::common::{SIZES, read, same_output, shown};
use insta::assert_snapshot;

#[test]
fn members_are_arrays_of_the_body() {
    assert_snapshot!(shown(
        "typedef struct { float from[2], charge; int at; } part;
void deposit(int n, const int *restrict at, const float *restrict x, float *restrict current)
{
    for (int i = 0; i < n; i++) {
        part parts[2];
        parts[0].from[0] = x[i];
        parts[0].charge = 0.5f;
        parts[0].at = at[i];
        parts[1] = parts[0];
        parts[1].at++;
        for (int k = 0; k < 2; k++)
            current[parts[k].at] += parts[k].from[0] * parts[k].charge;
    }
}
"
    ));
}

/// As many pieces as a condition says, by functions that are handed the array or one of its elements.
#[test]
fn programs_with_local_arrays_of_structures_do_the_same() {
    same_output(
        "typedef struct { double low, high, parts[2]; int at; } piece;
static int split(piece *own, double x, int at)
{
    own->low = 0.25 * x;
    own->high = x;
    own->parts[0] = own->parts[1] = 0.125;
    own->at = at;
    if (at % 3 == 0)
        return 1;
    own[1] = own[0];
    own[1].parts[at % 2] = x - 1;
    own[0].high *= 0.5;
    return 2;
}
static double weight(const piece *one, int count)
{
    double sum = 0;
    for (int k = 0; k < count; k++)
        sum += one[k].parts[0] * one[k].low + one[k].parts[1];
    return sum;
}
static void count_them(int n, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        piece own[3];
        int count = split(own, x[i], i);
        for (int k = 0; k < count; k++)
            y[i] += own[k].high - own[k].low + weight(&own[k], 1);
    }
}
static void listed(int n, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        piece own[2] = {{x[i], 2}, {1, x[i], {3}, 1}}, none[3] = {0};
        piece last = own[1 - i % 2];
        none[i % 3].high = last.low;
        y[i] += own[last.at].high + last.parts[0] + none[0].high;
    }
}
static void turned(int n, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        piece own[2][3];
        for (int k = 0; k < 6; k++) {
            own[k / 3][k % 3].low = k * x[i];
            own[k / 3][k % 3].high = own[k / 3][k % 3].low - 1;
        }
        piece old = own[0][1];
        own[0][1] = own[1][2];
        own[1][2] = old;
        y[i] -= own[0][1].high + 0.5 * own[1][2].low;
    }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    double *x = calloc(n + 1, sizeof *x), *y = calloc(n + 1, sizeof *y), sum = 0;
    for (int i = 0; i < n; i++) { x[i] = i % 7 - 2; y[i] = i % 5; }
    count_them(n, x, y);
    listed(n, x, y);
    turned(n, x, y);
    for (int i = 0; i < n; i++) sum += y[i] * (i % 3 + 1);
    printf(\"%.17g\\n\", sum);
    free(x);
    free(y);
    return 0;
}
",
        4,
        SIZES,
    );
}

#[test]
fn programs_with_local_arrays_of_complex_numbers_do_the_same() {
    same_output(
        "#include <complex.h>
static void powers(int n, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        double complex z[3];
        z[0] = x[i] + 2 * I;
        for (int k = 1; k < 3; k++)
            z[k] = z[k - 1] * z[0];
        y[i] = creal(z[0] + z[1]) - cimag(z[2]);
    }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    double *x = calloc(n + 1, sizeof *x), *y = calloc(n + 1, sizeof *y), sum = 0;
    for (int i = 0; i < n; i++) x[i] = i % 7 - 2;
    powers(n, x, y);
    for (int i = 0; i < n; i++) sum += y[i] * (i % 3 + 1);
    printf(\"%.17g\\n\", sum);
    free(x);
    free(y);
    return 0;
}
",
        1,
        SIZES,
    );
}

/// What is known by its address elsewhere, or has members that lead elsewhere, is not taken apart.
#[test]
fn some_arrays_of_structures_are_not_taken_apart() {
    let n_nests = |body: &str| {
        let unit = read(&format!(
            "typedef struct {{ double x; double *p; union {{ int i; float f; }} u; volatile int v; }} thing;
void keep(thing *);
void f(int n, double *a)
{{
    for (int i = 0; i < n; i++) {{
        thing t[2];
        {body}
    }}
}}
"
        ));
        unit.functions.iter().find(|f| f.name == "f").map_or(0, |f| f.program.nests.len())
    };
    assert_eq!(n_nests("t[0].x = a[i]; a[i] = 2 * t[0].x;"), 1);
    assert_eq!(n_nests("t[0].x = a[i]; keep(t); a[i] = 2 * t[0].x;"), 0);
    assert_eq!(n_nests("t[0].p = a; a[i] = t[0].p[0];"), 0);
    assert_eq!(n_nests("t[i % 2].u.i = 1; a[i] = t[0].u.f;"), 0);
    assert_eq!(n_nests("t[0].v = 1; a[i] = t[0].v;"), 0);
}
