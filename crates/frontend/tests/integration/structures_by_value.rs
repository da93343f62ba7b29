//! Structures by value: copies, arguments, results.

use crate::common::same_output;

/// A structure that a function takes by value may change when the function has ended, but not before; if the function
/// changes its copy, it is one.
#[test]
fn structures_by_value_are_copies() {
    let source = |body: &str, call: &str| {
        format!(
            "typedef struct {{ double x, y; }} point;
static double norm(point p, double *out, point *all)
{{
    {body}
    return p.x + p.y;
}}
void f(int n, point *restrict points, double *restrict out)
{{
    point *same = points;
    for (int i = 0; i < n; i++) {{
        double r = norm({call});
        points[i].x = 0.5 * r;
    }}
}}
"
        )
    };
    let calls = ["points[i], &out[i], points", "points[i], &out[i], same", "same[i], &out[i], points"];
    let n_nests = |body: &str, call: &str| {
        let unit = crate::common::read(&source(body, call));
        unit.functions.iter().find(|f| f.name == "f").map_or(0, |f| f.program.nests.len())
    };
    for call in calls {
        assert_eq!(n_nests("*out = p.x;", call), 1, "{call}");
        assert_eq!(n_nests("p.y = 3;", call), 1, "{call}");
    }
    // Structures that lead to the same memory by other names are told apart by a test.
    for call in &calls[..2] {
        assert_eq!(n_nests("all[0].x = 3;", call), 0, "{call}");
        assert_eq!(n_nests("all->y = 3;", call), 0, "{call}");
    }
}

/// Structures by value: lists, literals, copies, arguments and results of functions, in any order.
#[test]
fn programs_with_structures_by_value_do_the_same() {
    same_output(
        "#include <math.h>
typedef struct { double re, im; } number;
typedef struct { float x, y, z; } vec3;
typedef struct { vec3 place; vec3 speed; int kind; float w[2]; } body;
typedef struct { number e[2][2]; } matrix;
static body all[12];
static number add(number a, number b) { number r; r.re = a.re + b.re; r.im = a.im + b.im; return r; }
static number times(number a, number b) { return (number){a.re * b.re - a.im * b.im, .im = a.re * b.im + a.im * b.re}; }
static vec3 minus(vec3 a, vec3 b)
{
    vec3 r = {a.x - b.x, a.y - b.y, a.z - b.z};
    return r;
}
static vec3 scaled(double s, vec3 a)
{
    if (s < 0.125)
        return (vec3){0};
    a.x *= s;
    a.y *= s;
    a.z *= s;
    return a;
}
static float dot(const vec3 a, const vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static matrix product(matrix a, matrix b)
{
    matrix c;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            number sum = {0.0, 0.0};
            for (int k = 0; k < 2; k++)
                sum = add(sum, times(a.e[i][k], b.e[k][j]));
            c.e[i][j] = sum;
        }
    return c;
}
static void axpy(int n, number s, const number *x, number *y)
{
    for (int i = 0; i < n; i++)
        y[i] = add(y[i], times(s, x[n - 1 - i]));
}
static void in_place(int n, number *x)
{
    for (int i = 1; i < n; i++) {
        number old = x[i];
        x[i] = times(x[i - 1], x[i]);
        x[i - 1] = add(old, (number){.im = i});
    }
}
static void forces(int n)
{
    for (int i = 0; i < n; i++) {
        vec3 sum = {0, 0};
        for (int j = 0; j < n; j++) {
            vec3 d = minus(all[j].place, all[i].place);
            float r = dot(d, d) + 1;
            vec3 f = scaled(all[j].kind / (r * sqrtf(r)), d);
            sum.x += f.x; sum.y += f.y; sum.z += f.z;
        }
        all[i].speed = sum;
        all[i].w[1] = dot(scaled(0.5, sum), minus(sum, all[i].place));
    }
}
static void turned(int n, body *b)
{
    for (int i = 0; i < n; i++) {
        vec3 t = b[i].place;
        b[i].place = (vec3){t.y, t.z, t.x};
    }
}
static number moved(double s, number a, number b) { b.re += s * a.re; b.im += s * a.im; return b; }
static void step(int n, number *x, const number *v)
{
    for (int i = 0; i < n; i++)
        x[i] = moved(0.125, v[i], x[i]);
}
static void cleared(int n, matrix *m)
{
    for (int i = 1; i < n; i += 3) {
        matrix r = {0};
        r.e[1][0].im = i;
        m[i] = r;
    }
}
static vec3 later(vec3 a, float s);
static void nearest(int n, body *b)
{
    for (int j = 0; j < n; j++) {
        float best = 1e20f;
        vec3 found = {0, 0, 0};
        for (int i = 0; i < n; i++)
            if (b[i].place.x + j < best) {
                best = b[i].place.x + j;
                found = b[i].place;
            }
        b[j].speed = best < 0 ? (vec3){1, 2, 3} : later(found, 3);
    }
}
static void waiting(int n, body *b)
{
    for (int i = 0; i < n; i++)
        b[i].place = later(b[i].place, b[i].w[1]);
}
static vec3 later(vec3 a, float s) { return (vec3){a.z * s, a.y, a.x}; }
static number greater(number a, number b) { return a.re > b.re ? times(a, b) : (number){b.im, b.re}; }
static void chosen(int n, number *x, const number *y)
{
    for (int i = 1; i < n; i++)
        x[i] = y[i].re > 1 ? x[i].im > y[i].im ? times(x[i], y[i]) : (number){x[i].im, x[i].re}
                           : add(x[i - 1], i % 2 ? (number){1} : greater(x[i], y[i]));
}
static void chain(int n, matrix *m)
{
    for (int i = 1; i < n; i++)
        m[i] = product(m[i - 1], m[i]);
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]) % 12;
    static number x[12], y[12];
    static matrix m[12];
    for (int i = 0; i < 12; i++) {
        x[i].re = i % 3; x[i].im = i % 5 * 0.25; y[i].re = 1; y[i].im = i;
        all[i].place.x = i % 5; all[i].place.y = i % 3; all[i].place.z = i; all[i].kind = i % 4;
        for (int k = 0; k < 4; k++) { m[i].e[k / 2][k % 2].re = (i + k) % 3 * 0.5; m[i].e[k / 2][k % 2].im = k % 2; }
    }
    number s = {0.5, 0.25};
    axpy(n, s, x, y);
    in_place(n, y);
    forces(n);
    turned(n, all);
    nearest(n, all);
    waiting(n, all);
    chain(n, m);
    step(n, x, y);
    step(n, y, x);
    step(n, x, x);
    cleared(n, m);
    chosen(n, x, y);
    for (int i = 0; i < 12; i++)
        printf(\"%.17g %.17g %.9g %.9g %.9g %.9g %.17g\\n\", y[i].re, y[i].im, all[i].place.x, all[i].speed.y, all[i].speed.z,
            all[i].w[1], m[i].e[1][0].re + m[i].e[0][1].im + x[i].re - x[i].im);
    return 0;
}
",
        11,
        &["0", "1", "2", "7", "11"],
    );
}
