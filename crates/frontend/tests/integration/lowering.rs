//! The programs that C is lowered to.

use crate::common::{read_with, show, shown};
use insta::assert_snapshot;
use oxeye_frontend::ReadOptions;

#[test]
fn arrays_of_every_kind() {
    assert_snapshot!(shown(
        "typedef double real;
typedef real grid[8][9];
static double S[4][6];
grid G;
void f(int n, int m, real A[restrict n][m + 1], double B[static 3], const float (*C)[m], grid D, long k, double *P)
{
    double local[5], vla[n][2 * m];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) {
            A[i][j] = B[j] + C[i][j] * S[i][j];
            D[i][j] = G[j][i] + *(P + k) + *(*(S + i) + j) + j[B];
            local[j] = vla[i][j];
        }
}
"
    ));
}

#[test]
fn linearised_subscripts() {
    assert_snapshot!(shown(
        "#include <stddef.h>
void two(int n, int m, double *A, const double *B)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            A[i * m + j] = B[(i - 1) * m + j] + B[i * m + (j + 1)] + *(B + i * m + m - 1 - j) + B[m * i];
}
void three(int n, int m, int p, float *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < p; k++)
                A[i * m * p + j * p + k] += A[(i * m + j) * p + k];
}
void image(int h, int w, unsigned char *restrict out, const unsigned char *restrict in)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int c = 0; c < 3; c++)
                out[(y * w + x) * 3 + c] = in[3 * (y * w + x) + 2 - c];
}
void triangle(size_t n, double *A)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            A[(size_t)i * n + j] = A[j * n + i];
}
void constant(double *A)
{
    for (int i = 1; i < 99; i++)
        for (int j = 1; j < 199; j++)
            A[i * 200 + j] = A[(i - 1) * 200 + j - 1] + A[i * 200 + 200 + j];
}
void padded(int n, int m, int lda, double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            A[i * lda + j] = 0.0;
}
void padded_known(int n, double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 60; j++)
            A[i * 64 + j] = 0.0;
}
void guarded(int n, int m, int lda, double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (j < lda)
                A[i * lda + j] = 0.0;
}
void crossing(int n, int m, double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= m; j++)
            A[(long)i * m + j] = 1.0;
}
void plane(int t, int n, int m, double *A)
{
    for (int i = 0; i < n; i++)
        A[t * n + i] = 1.0;
}
"
    ));
}

#[test]
fn loop_headers() {
    assert_snapshot!(shown(
        "#include <stddef.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
static int least(int a, int b) { return a < b ? a : b; }
void f(int n, int m, long w, size_t z, double *x, const int *row)
{
    int i;
    for (i = n - 1; i >= 0; i -= 2)
        x[i] = 1;
    for (i = 3; i <= n && i < m + 4; i = i + 1)
        x[i] = 2;
    for (i = 0; n > i; i = 2 + i)
        x[i] = 3;
    for (long l = w; l != 0; --l)
        x[l] = 4;
    for (size_t s = 0; s < z; ++s)
        x[s] = 5;
    for (unsigned u = 1; u < z - 1; u++)
        x[u - 1] = 6;
    for (i = 0; i < MIN(n, m); i++)
        x[i] = 7;
    for (i = 0; i < least(n, 2 * m); i++)
        x[i] = 8;
    for (i = 0; i < n / 2; i++)
        x[i] = 9;
    for (i = 0; i <= n / 2; i++)
        x[i] = 10;
    for (i = 0; 2 * i + 1 < n; i++)
        x[i] = 11;
    for (i = n % 2; i < n; i += 2)
        x[i] = 12;
    for (int r = 0; r < n; r++)
        for (int k = row[r]; k < row[r + 1]; k++)
            x[r] += k;
    for (i = 0; i < n; i++)
        for (int j = i > 2 ? i : 2; j < n; j++)
            x[j] += 1;
    for (i = 0; m > 3 && i < n; i++)
        x[i] = 13;
    for (int j = n / 2; j > 0; j--)
        x[j] = 14;
    for (double *p = x, i = 0; i < n; i++)
        x[(int)i] = 15;
}
"
    ));
}

#[test]
fn statements() {
    assert_snapshot!(shown(
        "#include <math.h>
void f(int n, double *restrict x, float *restrict y, int *restrict k, unsigned char *restrict c)
{
    double s, best = x[0];
    int count = 0, most = 0;
    for (int i = 0; i < n; i++) {
        s = 0.0;
        s += x[i], s = x[i] + s;
        s = s - 1.0;
        x[i] = x[i] * 2 + 1.0f;
        y[i] = y[i] / (float)n;
        x[i] = -x[i] + fabs(x[i]) * sqrtf(y[i]) + pow(x[i], 2.) + fmin(s, 1);
        k[i]++;
        --count;
        k[i] <<= 2;
        k[i] %= n;
        k[i] = k[i] > 3 ? k[i] : 3;
        c[i] = c[i] / 2 + 'a';
        if (x[i] < best)
            best = x[i];
        if (k[i] > most)
            most = k[i];
        if (i % 2 == 0 && !(i > 3 || x[i] >= 0.5)) {
            x[i] = 1 / 3 + 7 % 4 + 1 / 2.0;
        } else if (i == 7)
            x[i] = n / 2 * 0.5;
        else
            ;
        x[i] = y[i] = 0.25f;
        x[i] = x[i] < 0 ? 0 : x[i];
        (void)n;
        x[i] = (k[i] & 3) ^ ~k[i] | (1 << 4) | sizeof(double);
    }
    x[0] = best + count + most;
}
"
    ));
}

#[test]
fn skipped_iterations() {
    assert_snapshot!(shown(
        "void f(int n, double *restrict x, const int *restrict k)
{
    for (int i = 0; i < n; i++) {
        x[i] += 1.0;
        if (i == 3)
            continue;
        if (x[i] > 2.0) {
            x[i] = 2.0;
            continue;
        }
        if (!(x[i] < 1.0))
            continue;
        x[k[i]] = 0.0;
    }
}
"
    ));
}

#[test]
fn values_declared_inside() {
    assert_snapshot!(shown(
        "void f(int n, double *restrict x, const int *restrict index, int *restrict out)
{
    for (int i = 0; i < n; i++) {
        const int left = i - 1, right = i + 1;
        double sum = 0.0, unset;
        int k = index[i];
        int o = out[i];
        double window[3];
        for (int j = left; j <= right; j++)
            sum += x[j];
        for (int j = 0; j < 3; j++)
            window[j] = sum;
        unset = window[1];
        int moving = left;
        moving += 2;
        x[k] = unset + moving + o;
        out[i] = k;
    }
}
"
    ));
}

#[test]
fn small_functions_are_put_in_place() {
    assert_snapshot!(shown(
        "static inline int clampi(int x, int lo, int hi) { return x < lo ? lo : (x > hi ? hi : x); }
static double sq(double v) { double r = v; r *= v; return r; }
static int sign(float v)
{
    if (v > 0)
        return 1;
    else if (v < 0)
        return -1;
    return 0;
}
static double at(int n, const double *A, int i, int j) { return A[i * n + clampi(j, 0, n - 1)]; }
void f(int n, const double *restrict A, double *restrict B)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            B[i * n + j] = at(n, A, i, j + 1) + sq(B[i * n + j]) * sign(1.5) + A[clampi(i - 1, 0, n - 1) * n + j];
}
"
    ));
}

#[test]
fn functions_with_loops_are_put_in_place() {
    assert_snapshot!(shown(
        "static void smooth(int n, double a[n][n], const double *restrict w, double scale, int k)
{
    int i;
    double left = 0;
    for (i = 1; i < n - 1; i++) {
        double *row = a[i];
        left += row[0];
        for (int j = 1; j < n - 1; j++)
            row[j] = scale * (row[j] + w[i]) + left;
    }
    k = k / 2;
    a[0][0] = k;
    return;
}
static void set(double *x, double v) { *x = v; }
static void twice(int m, double b[m][m], double *w, double v)
{
    set(&w[m - 1], v * v);
    smooth(m, b, w, v, m);
}
void f(int n, double a[n][n], double b[n][n], double *w)
{
    for (int i = 0; i < 10; i++) {
        twice(n, a, w, w[i]);
        twice(n, b, w + 1, i * 0.5);
    }
}
"
    ));
}

#[test]
fn pointers_that_change_places_in_every_step() {
    assert_snapshot!(shown(
        "static void step(int n, const float *u, const float *v, float *un, float *vn)
{
    for (int i = 1; i < n; i++) {
        un[i] = u[i] - v[i - 1];
        vn[i] = v[i] + u[i - 1];
    }
}
void f(int first, int last, int n, float *u, float *un, float (*v)[n], float (*vn)[n])
{
    float (*w)[n];
    for (int t = first; t <= last; t++) {
        step(n, u, v[t], un, vn[t]);
        float *swap = u;
        u = un;
        un = swap;
        w = v;
        v = vn;
        vn = w;
    }
}
"
    ));
}

#[test]
fn unsigned_arithmetic_keeps_its_meaning() {
    assert_snapshot!(shown(
        "#include <stdint.h>
void f(size_t n, uint32_t m, double *restrict x, uint32_t *restrict h)
{
    for (size_t i = 1; i < n; i++) {
        x[i] = i * 0.5 + (double)i;
        x[i - 1] = (double)(i - n);
        h[i] = (uint32_t)i * 2654435761u >> 16;
        if (i - 1 < n)
            h[i] ^= h[i - 1];
    }
    for (uint32_t u = 0; u < m - 1; u++)
        x[u] = u % 7;
}
"
    ));
}

#[test]
fn control_structure_around_nests() {
    assert_snapshot!(shown(
        "int ready(void);
void f(int n, int steps, double *a, double *b)
{
    double *tmp;
    a[0] = 1.0;
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n; i++)
            b[i] = a[i] + a[i - 1] * t;
        tmp = a;
        a = b;
        b = tmp;
    }
    if (steps > 3) {
        for (int i = 0; i < n; i++)
            a[i] = 0.0;
    } else {
        while (ready())
            for (int i = 0; i < n; i++)
                b[i] += 1.0;
    }
    int half = n / 2;
    for (int i = 0; i < half; i++)
        a[i] += b[half + i];
    b[0] += a[1];
    for (int i = 0; i < n; i++)
        a[i] -= 1.0;
}
"
    ));
}

#[test]
fn marked_regions() {
    assert_snapshot!(shown(
        "void f(int n, double x[n])
{
    for (int i = 0; i < n; i++)
        x[i] = 0.0;
#pragma scop
    for (int i = 0; i < n; i++)
        x[i] += 1.0;
#pragma endscop
    for (int i = 0; i < n; i++)
        x[i] += 2.0;
}
"
    ));
}

#[test]
fn polybench_style() {
    assert_snapshot!(shown(
        "#include <stdlib.h>
#define NI 20
#define NJ 30
#define POLYBENCH_2D(var, d1, d2, d3, d4) var[d1 + 0][d2 + 0]
#define _PB_NI (ni)
#define _PB_NJ (nj)
#define SCALAR_VAL(x) x
#define DATA_TYPE double
static void kernel(int ni, int nj, DATA_TYPE alpha, DATA_TYPE POLYBENCH_2D(C, NI, NJ, ni, nj),
                   DATA_TYPE POLYBENCH_2D(A, NI, NJ, ni, nj))
{
    int i, j;
#pragma scop
    for (i = 0; i < _PB_NI; i++)
        for (j = 0; j < _PB_NJ; j++) {
            C[i][j] = SCALAR_VAL(0.0);
            C[i][j] += (alpha) * (A[i][j]) + (ni) * (nj);
        }
#pragma endscop
}
int main(void)
{
    DATA_TYPE(*C)[NI][NJ];
    C = (DATA_TYPE(*)[NI][NJ])malloc(sizeof(double) * NI * NJ);
    DATA_TYPE(*A)[NI][NJ] = (DATA_TYPE(*)[NI][NJ])malloc(sizeof(double) * NI * NJ);
    kernel(NI, NJ, 1.5, *C, *A);
    for (int i = 0; i < NI; i++)
        (*A)[i][3] = (*C)[i][2];
    return 0;
}
"
    ));
}

/// The arrays of each function that may overlap.
fn may_overlap(text: &str) -> String {
    let unit = crate::common::read(text);
    let pairs: Vec<String> = unit
        .functions
        .iter()
        .map(|f| {
            let name = |id| f.program.array(id).name.as_str();
            let pairs: Vec<_> =
                f.program.may_alias.iter().map(|(a, b)| format!("{}/{}", name(*a), name(*b))).collect();
            format!("{}: {}", f.name, pairs.join(" "))
        })
        .collect();
    pairs.join("\n")
}

#[test]
fn pointers_that_may_overlap() {
    let text = "#include <stdlib.h>
double shared[100];
static double mine[100];
void open(int n, double *a, const double *b, float *c, const double *restrict d)
{
    for (int i = 0; i < n; i++) {
        a[i] = b[i] + d[i] + shared[i] + mine[i];
        c[i] = a[i];
    }
}
static void closed(int n, double *a, double *b)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i];
}
static void inner(int n, double *u, double *v)
{
    for (int i = 0; i < n; i++)
        u[i] = v[i];
}
static void outer(int n, double *p, double *q)
{
    inner(n, p, q);
    inner(n, q, p);
}
static void same(int n, double *a, double *b)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i];
}
static double *make(int n)
{
    double *p = malloc(n * sizeof *p);
    if (!p)
        exit(1);
    return p;
}
int main(void)
{
    int n = 100;
    double *x = malloc(800), *y = make(n), z[100];
    double *w = x + 4;
    closed(n, x, y);
    closed(n, z, shared);
    outer(n, x, &z[0]);
    same(n, x, y);
    same(n - 1, x, x + 1);
    for (int i = 0; i < n; i++)
        x[i] = y[i] + z[i] + w[i];
    return 0;
}
";
    assert_snapshot!(may_overlap(text), @r"
    open: a/b a/shared
    closed: 
    inner: 
    outer: 
    same: a/b
    main: x/w
    ");
    let options = ReadOptions { no_alias: true, ..ReadOptions::default() };
    let unit = read_with(text, &options);
    assert!(unit.functions.iter().all(|f| f.program.may_alias.is_empty()));
}

#[test]
fn what_is_needed_after_a_nest() {
    assert_snapshot!(shown(
        "double f(int n, double *x, double p)
{
    double a, b, c = 0.0, z[10];
    for (int i = 0; i < n; i++) {
        a = x[i];
        b = a;
        c += b;
        z[i] = c;
        p += 1.0;
    }
    for (int t = 0; t < 3; t++) {
        x[0] = t;
        while (x[0] > 0) {
            for (int i = 0; i < n; i++)
                b = b + x[i];
            x[0] -= 1;
        }
    }
    a = 3.0;
    return a + c + p;
}
"
    ));
}

#[test]
fn only_the_function_asked_for() {
    let options = ReadOptions { function: Some("g".into()), ..ReadOptions::default() };
    let text = "void f(double *x) { for (int i = 0; i < 3; i++) x[i] = 0; }\n\
                void g(double *x) { for (int i = 0; i < 3; i++) x[i] = 1; }\n";
    let unit = read_with(text, &options);
    assert_eq!(unit.functions.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["g"]);
    assert!(!unit.has_main);
    let span = unit.functions[0].span;
    assert_eq!(&text[span.start..span.end], text.lines().nth(1).expect("a line"));
    assert!(show(&unit).contains("program g"));
}

#[test]
fn variables_that_go_along_with_the_counter() {
    assert_snapshot!(shown(
        "void devito(int m, int M, int n, float (*u)[n])
{
    for (int time = m, t0 = (time) % (3), t1 = (time + 1) % (3); time <= M;
         time += 1, t0 = (time) % (3), t1 = (time + 1) % (3))
        for (int x = 1; x < n - 1; x++)
            u[t1][x] = u[t0][x - 1] + u[t0][x + 1];
}
void rotating(int steps, int n, double u[2][n])
{
    int t, t0, t1;
    for (t = 0, t0 = 0, t1 = 1; t < steps; t++, t0 = t % 2, t1 = (t + 1) % 2)
        for (int x = 0; x < n; x++)
            u[t1][x] = u[t0][x] * 0.5;
}
void beside(int n, double *x, const double *y)
{
    int i, k, l;
    for (i = 2, k = n, l = 0; i < n; i += 2, k -= 2, l += 4)
        x[i] = y[k] + y[l];
    for (i = n; i-- > 0;)
        x[i] += 1;
}
int stays(int n, double *x, const double *y)
{
    int i, k, t0;
    for (i = 0, k = 0; i < n; i++, k += 2)
        x[i] = y[k];
    for (i = 0, t0 = 1; i < n; i++, t0 = i % 2)
        x[i] = y[t0];
    return k;
}
"
    ));
}

/// Hashes wrap around; counters and sizes do not.
#[test]
fn products_that_may_wrap_keep_their_type() {
    let text = shown(
        "void f(int n, unsigned m, int *restrict z, const unsigned *restrict h, const int *y)
{
    for (int i = 0; i < n; i++)
        z[(unsigned)i * 2654435761u % (m + 2u)]++;
    for (int i = 0; i < n; i++)
        z[(int)((unsigned)i * 2654435761u) & 15] += 2;
    for (int i = 0; i < n; i++)
        z[(h[i] * 33u + 7u) % 16u] += 3;
    for (int i = 0; i < 100; i++)
        z[(unsigned)i * 100000u / 50000u] += 4;
    for (unsigned i = 0; i < m; i++)
        z[(i + 1u) % m] += 5;
    for (unsigned i = 0; i < m; i++)
        z[i * m + 3u] += 6;
    for (unsigned i = 0; i < m; i++)
        z[i * m % 16u] += 7;
    for (int i = 1; i < n; i++)
        z[i + 4294967295u] += y[(int)(i + 4294967295u)];
}
",
    );
    let at = |update: i64| {
        let line = text.lines().find(|l| l.ends_with(&format!(" += {update}"))).expect("is there");
        line.trim().split_once("[").expect("a store").1.rsplit_once(']').expect("a store").0.to_owned()
    };
    let found: Vec<String> = (1..8).map(at).collect();
    insta::assert_snapshot!(found.join("\n") + "\n" + &text);
}

/// Each nest sees the shape that it needs.
#[test]
fn matrices_are_rows_of_numbers_elsewhere() {
    insta::assert_snapshot!(shown(
        "void f(int n, int m, double *a, double *b)
{
    for (int k = 0; k < n * m; k++)
        a[k] = k % 7;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[i * m + j] = 2 * a[i * m + j];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            b[i * n + j] += a[j * m + i];
    for (unsigned long k = 0; k < (unsigned long)n * m; k++)
        b[k] += 1;
}
"
    ));
}

/// Before C23, `true` and `false` are names like others.
#[test]
fn names_that_became_words_of_the_language() {
    let unit = crate::common::read(
        "enum { FALSE, TRUE = 7 };
void f(int n, double *restrict x)
{
    int true = n / 2, false = !true;
    for (int i = 0; i < true; i++)
        x[i] = false + TRUE;
}
",
    );
    let text = show(&unit);
    assert!(text.contains("true") && text.contains("+ 7"), "{text}");
    assert!(!text.contains('$'), "{text}");
}

/// Tiles of a size that only the run knows, counted without a sign: their first values are products of numbers that are not
/// negative.
#[test]
fn unsigned_counters_of_tiles() {
    let unit = crate::common::read(
        "#include <stddef.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void f(size_t n, size_t tile, double *restrict x, const double *restrict y)
{
    for (size_t i = 0; i < n; i += tile)
        for (size_t j = 0; j < n; j += tile)
            for (size_t k = i; k < MIN(n, i + tile); k++)
                for (size_t l = j; l < MIN(n, j + tile); l++)
                    x[k * n + l] += y[l * n + k];
}
",
    );
    let depths: Vec<_> = unit.functions[0].program.nests.values().map(|n| n.loops().len()).collect();
    assert_eq!(depths, [4], "{}", show(&unit));
    assert!(show(&unit).contains("test(tile >= 1)"), "{}", show(&unit));
}

/// Matrices as structures: what the ends of inner loops lead through is tested once the outer loops are known to be entered.
#[test]
fn members_that_only_inner_loops_lead_through() {
    let unit = crate::common::read(
        "typedef struct { int rows, cols; double *v; } mat;
static inline double get(const mat *m, int i, int j) { return m->v[i * m->cols + j]; }
void product(const mat *a, const mat *b, mat *c)
{
    for (int i = 0; i < a->rows; i++)
        for (int j = 0; j < b->cols; j++) {
            double sum = 0.0;
            for (int k = 0; k < a->cols; k++)
                sum += get(a, i, k) * get(b, k, j);
            c->v[i * c->cols + j] = sum;
        }
}
",
    );
    let text = show(&unit);
    assert!(text.contains("for L0 i: i32 in 0 .. P0") && text.contains("P1 \"b->cols\""), "{text}");
    assert!(text.contains("reached(0 < P0 && 0 < P1)"), "{text}");
}

/// Promises of `restrict` hold for local pointers, too, but not against what is derived from them; copies lead where the
/// originals lead.
#[test]
fn local_pointers_that_may_overlap() {
    assert_snapshot!(may_overlap("
void use(double *p);
double *any(void);
void turns(int n, int t, double *restrict u, double *restrict v, double *restrict z)
{
    double *restrict const now = (t & 1 ? v : u) + n;
    double *restrict const next = (t & 1 ? u : v) + n;
    double *zs = z + n;
    for (int i = 0; i < n; i++)
        next[i] = now[i] + zs[i];
    use(now);
    use(next);
}
void plain_turns(int n, int t, double *restrict u, double *restrict v, double *restrict z)
{
    double *now = t & 1 ? v : u, *next = t & 1 ? u : v;
    double *zs = z + n;
    for (int i = 0; i < n; i++)
        next[i] = now[i] + zs[i];
    use(now);
}
void derived(int n, double *u, double *v)
{
    double *restrict p = u;
    double *q = p + n, *r = v;
    use(p);
    for (int i = 0; i < n; i++)
        q[i] = p[i] + r[i];
}
void unknown(int n, double *u)
{
    double *restrict p = u;
    double *q = any();
    use(p);
    for (int i = 0; i < n; i++)
        q[i] = p[i];
}
void walks(int n, int m, double *restrict u, double *v)
{
    double *p = u, *q = v;
    for (int k = 0; k < m; k++) {
        for (int i = 0; i < n; i++)
            p[i] = q[i];
        p = p + n;
        q = q + n;
    }
}
"), @r"
    turns: 
    plain_turns: next/now
    derived: q/p q/r
    unknown: q/p
    walks: 
    ");
}
