//! What never changes in functions that nests call: static constants, tables, members of constant structures.

use crate::common::{SIZES, read, replays_agree, same_output, shown};
use insta::assert_snapshot;

#[test]
fn constants_of_functions_that_are_called() {
    assert_snapshot!(shown(
        "static const struct { double a, b; int n; } par = { 1.5, -2, 3 };
typedef struct { double w[2]; int kind; } material;
static const material materials[2] = { { { 1, 2 }, 3 }, { { 4, 5 }, 6 } };
static double weight(int i)
{
    static const double w[3] = { 0.25, 0.5 };
    return w[i % 3];
}
static double scaled(double x)
{
    static const double by = 3;
    return by * x;
}
static double line(int i)
{
    return par.a * i + par.b;
}
static double polynomial(int i)
{
    double s = 0;
    for (int k = 0; k < par.n; k++)
        s = s * i + k;
    return s;
}
static double of_material(int i)
{
    return materials[i & 1].w[1] * materials[i & 1].kind;
}
void f(int n, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] = weight(i) + scaled(x[i]);
    for (int i = 0; i < n; i++)
        x[i] = line(i) + polynomial(i);
    for (int i = 0; i < n; i++)
        x[i] += of_material(i);
    for (int i = 0; i < n; i++) {
        static const int t[2][2] = { { 1, 2 }, { 3, 4 } };
        x[i] += t[i & 1][1];
    }
}
"
    ));
}

#[test]
fn what_may_change_stays() {
    assert_snapshot!(shown(
        "static struct { double a; } par = { 1.5 };
void set(double a)
{
    par.a = a;
}
static double line(int i)
{
    return par.a * i;
}
static double last(double x)
{
    static double before = 3;
    before = x;
    return before;
}
static double seen(double x)
{
    static double most;
    return x > most ? x : most;
}
static double pointed(int i)
{
    static const char *const names[2] = { \"a\", \"b\" };
    return names[i & 1][0];
}
static double large(int i)
{
    static const double t[400] = { 1, 2, 3 };
    return t[i & 3];
}
void f(int n, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] = line(i);
    for (int i = 0; i < n; i++)
        x[i] = last(x[i]);
    for (int i = 0; i < n; i++)
        x[i] = seen(x[i]);
    for (int i = 0; i < n; i++)
        x[i] = pointed(i);
    for (int i = 0; i < n; i++)
        x[i] = large(i);
}
"
    ));
}

const PROGRAM: &str = "
static const struct { double a, b; int n; float f; } par = { 1.5, -2, 3, 0.1 };
typedef struct { double w[2]; int kind; } material;
static const material materials[2] = { { { 1, 2 }, 3 }, { { 4, 5 }, 6 } };
static double weight(int i)
{
    static const double w[3] = { 0.25, 0.5 };
    return w[i % 3];
}
static int kind(int i)
{
    static const unsigned char kinds[2][3] = { { 1, 2, 3 }, { 250 } };
    if (i < 2)
        return kinds[1][i];
    return kinds[i & 1][i % 3];
}
static double scaled(double x)
{
    static const float by = 0.1;
    static const int shift = 7.9;
    return by * x + shift;
}
static double line(int i)
{
    return par.a * i + par.b - par.f;
}
static double polynomial(int i)
{
    double s = 0;
    for (int k = 0; k < par.n; k++)
        s = s * i + k;
    return s;
}
static double of_material(int i)
{
    return materials[i & 1].w[1] * materials[i & 1].kind;
}
void first(int n, double *x)
{
    double w = 3;
    for (int i = 0; i < n; i++)
        x[i] += weight(i) + scaled(x[i]) * w;
}
void second(int n, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] += line(i) + polynomial(i) + kind(i);
}
void third(int n, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] += of_material(i) + weight(i + 1);
}
void fourth(int n, double *x)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            static const int t[2][2] = { { 1, 2 }, { 3, 4 } };
            x[i] += t[i & 1][j & 1] * weight(j);
        }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    double *x = calloc(n + 1, sizeof *x), s = 0;
    first(n, x);
    second(n, x);
    third(n, x);
    fourth(n, x);
    for (int i = 0; i < n; i++)
        s += x[i] * (i + 1);
    printf(\"%.17g\\n\", s);
    free(x);
    return 0;
}
";

#[test]
fn programs_with_constants_do_the_same() {
    same_output(PROGRAM, 5, SIZES);
}

/// The third uses an array of structures, which a replay is given.
#[test]
fn replays_of_nests_with_constants_agree() {
    replays_agree(PROGRAM, &["first", "second", "fourth"]);
}

/// A replay leaves constant tables to the compiler, as the program does.
#[test]
fn tables_are_known_to_compilers() {
    let source = "#include <stdlib.h>
static const int offset[3] = { -1, 0, 1 };
static int changed[3] = { -1, 0, 1 };
void f(int n, const double *restrict a, double *restrict c)
{
    static const double weight[] = { 1, .5, 1 };
    const int first[2] = { n, 1 };
    enum { NONE };
    static const int none[1] = { NONE };
    for (int i = 1; i < n - 1; i++)
        for (int k = 0; k < 3; k++)
            c[i] += weight[k] * a[i + offset[k]] + changed[k] * first[1] + none[0];
}
";
    let unit = read(source);
    let mut tables: Vec<_> =
        unit.functions[0].own_texts.values().flat_map(|text| text.tables.clone()).collect();
    tables.sort();
    let weight = "static const double weight[] = { 1, .5, 1 };".to_owned();
    assert_eq!(tables, [("offset".to_owned(), None), ("weight".to_owned(), Some(weight))]);
}
