//! Words that C, or GNU C, has for what other words say as well: `typeof`, casts before signs, suffixes, plain `char`, and types
//! that only a function knows.

use crate::common::{SIZES, read_with, replays_agree, replays_agree_with, same_output, shown};
use oxeye_frontend::{FrontendError, ReadOptions, read_c};
use oxeye_ir::ScalarType;

#[test]
fn typeof_names_the_type_of_an_expression() {
    same_output(
        "typedef struct { double x; float w[4]; } cell;
#define LARGER(a, b) ({ typeof((a) * 1.0) one = (a); __typeof__((b) + 0.5f) other = (b); one > other ? one : other; })
static void smoothed(double *a, cell *c, int n, int rounds)
{
    double *w;
    typeof(n) m = n * 2, k;
    __typeof__(c->w[0]) scale = 0.1f;
    w = (typeof(w)) calloc(m + 1, sizeof(*w));
    typeof(*a) half = (typeof(half)) 1 / 2;
    typeof(unsigned char) few = (typeof(unsigned char)) 257;
    for (int r = 0; r < rounds; r++) {
        for (int i = 1; i < m - 1; i++)
            w[i] = (a[i - 1] + a[i + 1]) * half + scale * few;
        for (k = 1; k < m - 1; k++) {
            typeof(w[k]) t = w[k];
            a[k] = LARGER(t, c[k % 3].x);
        }
    }
    free(w);
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    static double a[200];
    cell c[3] = {{0.25, {0}}, {7, {0}}, {-1, {0}}};
    for (int i = 0; i < 200; i++)
        a[i] = i % 7 - 2.5;
    smoothed(a, c, n, 5);
    for (int i = 0; i < 200; i += 3)
        printf(\"%.17g\\n\", a[i]);
    return 0;
}
",
        1,
        SIZES,
    );
}

#[test]
fn casts_before_signs_and_suffixes() {
    same_output(
        "double fmax(double, double);
typedef double real_t;
typedef long double wide;
#define one (real_t) 1.0
static void update(int n, real_t *x, const real_t *y)
{
    for (int i = 0; i < n; i++)
        x[i] = y[i] * one - (real_t) -y[i] * 2 + (real_t) + i / 2;
    for (int i = 0; i < n; i++) {
        real_t t = 0.25l;
        x[i] += t * fmax(y[i], 0.0l) + (real_t) -1.0;
        if (y[i] > 0.5l)
            x[i] = y[i] != 1.0L ? 0.0l : -x[i];
        x[i] = x[i] * 2.0l;
    }
}

int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    static real_t x[64], y[64];
    for (int i = 0; i < 64; i++)
        y[i] = i % 7 / 3.0;
    update(n, x, y);
    for (int i = 0; i < 64; i++)
        printf(\"%.17g\\n\", x[i]);
    return 0;
}
",
        2,
        SIZES,
    );
}

/// What is computed in `long double`, rounds otherwise; a variable may hide a type.
#[test]
fn what_is_not_the_same_is_not_read() {
    let text = "typedef double real_t;
void f(int n, double *x, double *y)
{
    for (int i = 0; i < n; i++)
        x[i] = y[i] * 3.0l;
    for (int i = 0; i < n; i++)
        x[i] = y[i] * 2.0l + x[i];
    for (int i = 0; i < n; i++)
        x[i] = y[i] * 0.1l;
    for (int i = 0; i < n; i++) {
        int real_t = i;
        x[i] = (real_t) - y[i];
    }
}
";
    let shown = shown(text);
    assert!(!shown.contains("nest N0"), "{shown}");
    // The sum is of the longer type, too.
    for words in ["the number `3.0l`", "the number `2.0l`", "the number `0.1l`"] {
        assert!(shown.contains(words), "{shown}");
    }
}

#[test]
fn a_plain_char_has_the_sign_that_the_flags_say() {
    let source = "void f(int n, char *x, const char *y) { for (int i = 0; i < n; i++) x[i] = (y[i] >> 1) + (y[i] < '\\377'); }";
    for (flag, element) in [("-fsigned-char", ScalarType::I8), ("-funsigned-char", ScalarType::U8)] {
        let options = ReadOptions { args: vec![flag.to_owned()], ..ReadOptions::default() };
        let unit = read_with(source, &options);
        let arrays = unit.functions[0].program.arrays.values();
        assert!(arrays.into_iter().all(|array| array.element == element), "{flag}");
        let with_doubles = format!(
            "{}\nvoid g(int n, char *x, double *s) {{ for (int i = 0; i < 200 * n; i++) s[i] = (char) (i + x[i]) / 3; }}",
            source
        );
        replays_agree_with(&with_doubles, &["g"], &[flag]);
    }
}

#[test]
fn flags_for_other_machines_are_refused_in_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.c");
    for head in ["", "#include <stdio.h>\n"] {
        std::fs::write(&path, format!("{head}int main(void) {{ return 0; }}\n")).expect("written");
        let options = ReadOptions { args: vec!["-m32".to_owned()], ..ReadOptions::default() };
        match read_c(&path, &options) {
            Err(error @ FrontendError::Machine { .. }) => {
                assert!(error.to_string().contains("pointers of 32 bits"), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn types_that_only_a_function_knows() {
    replays_agree(
        "void f(int n, double *x, double *y)
{
    struct part { double from, to; int kind; } s[2];
    typedef struct { float w; struct part of; } pair;
    pair p[3], last;
    for (int i = 0; i < n; i++) {
        s[0].from = x[i]; s[0].to = x[i] * 2;
        s[1].from = s[0].to; s[1].to = 3;
        p[i % 3].w = s[1].from; p[i % 3].of.to = i;
        last.of.from = y[i];
        double t = 0;
        for (int k = 0; k < 2; k++)
            t += (s[k].to - s[k].from) * p[i % 3].w + p[i % 3].of.to + last.of.from;
        y[i] = t;
    }
}
int main(void) { return 0; }
",
        &["f"],
    );
}

/// Members of structures of the file that functions in a nest name themselves.
#[test]
fn members_that_called_functions_name() {
    replays_agree(
        "struct view { double eye, zoom; int n[2]; double *map; struct { float w; } in; } view, *other;
static double shade(int i, int j)
{
    double d = (i - 5) * view.zoom + j * view.eye + view.n[1] + view.in.w;
    return d * d + view.map[j] + other->zoom * other->map[i];
}
void f(int n, double *x)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i] += shade(i, j);
}
void set(double *map, struct view *to)
{
    view.eye = 1; view.zoom = 2; view.n[1] = 3; view.map = map; view.in.w = 4; other = to; to->zoom = 5; to->map = map;
}
int main(void) { return 0; }
",
        &["f"],
    );
}
