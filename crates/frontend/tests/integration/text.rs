//! Text that people write around loops: conditionals, macros, old definitions, other encodings.

use crate::common::{read, same_output};
use oxeye_frontend::{ReadOptions, Unit, encoded, read_c};

/// First and last line of each nest, as in the file.
fn places(unit: &Unit) -> Vec<(&str, &str)> {
    let spans = unit.functions.iter().flat_map(|f| f.program.nests.values()).filter_map(|n| n.span);
    let text = |s: oxeye_frontend::Span| unit.source[s.start..s.end].trim();
    spans
        .map(|s| (text(s).lines().next().unwrap_or(""), text(s).lines().last().unwrap_or("").trim()))
        .collect()
}

fn messages(unit: &Unit) -> Vec<&str> {
    unit.diagnostics.iter().map(|d| d.message.as_str()).collect()
}

#[test]
fn branches_that_both_open_a_brace() {
    let unit = read(
        "#ifdef __cplusplus
extern \"C\" {
#endif
#ifdef OLD
void f(n, x) int n; double *x; {
#else
void f(int n, double *x) {
#endif
    for (int i = 0; i < n; i++)
        x[i] = 0;
}
void g(int n, double *x)
{
#ifdef DOWN
    for (int i = n - 1; i >= 0; i--) {
#else
    for (int i = 0; i < n; i++) {
#endif
        x[i] = i;
#ifdef TWICE
        x[i] += 1;
#endif
    }
#ifdef A
    if (n > 3) {
#else
    {
#endif
        for (int i = 0; i < n; i++) x[i] = 3;
    }
    for (int i = 0; i < n; i++) {
        x[i] += 2;
#ifdef LONG
        x[i] += 1; }
#else
    }
#endif
    n = 3;
#ifdef A
    n = 4;
#else
    n = 5;
    for (int i = 0; i < n; i++) {
#endif
        x[i] = 7;
#ifdef A
    for (int i = 0; i < n; i++) {
#endif
    }
}
#ifdef __cplusplus
}
#endif
",
    );
    assert_eq!(
        places(&unit),
        [
            ("for (int i = 0; i < n; i++)", "x[i] = 0;"),
            ("#ifdef DOWN", "}"),
            ("for (int i = 0; i < n; i++) x[i] = 3;", "for (int i = 0; i < n; i++) x[i] = 3;"),
            ("for (int i = 0; i < n; i++) {", "#endif"),
        ]
    );
    assert_eq!(messages(&unit).len(), 1, "{:?}", messages(&unit));
}

#[test]
fn loops_that_macros_make() {
    let unit = read(
        "#define EACH(i, n) for (int i = 0; i < (n); i++)
#define ZERO(x, n) EACH(i, n) x[i] = 0
#define BOX(x, n) do { for (int i = 0; i < (n); i++) { x[i] += 1; } } while (0)
#define BRACED(x, n) { EACH(i, n) { x[i] += 2; } }
#define TWO(x, n) EACH(i, n) x[i] = 0; EACH(i, n) { EACH(j, n) x[i] += j; }
void f(int n, double *x, double *y)
{
    EACH(i, n) { x[i] = y[i]; }
    EACH(i, n)
        EACH(j, 4)
            x[i] += y[j];
    ZERO(x, n);
    if (n > 3)
        BOX(y, n);
    else
        n = 3;
    BRACED(x, n)
    BOX(x, n);
    TWO(x, n)
    TWO(y, n)
    n++;
}
",
    );
    assert_eq!(
        places(&unit),
        [
            ("EACH(i, n) { x[i] = y[i]; }", "EACH(i, n) { x[i] = y[i]; }"),
            ("EACH(i, n)", "x[i] += y[j];"),
            ("ZERO(x, n);", "ZERO(x, n);"),
            ("BOX(y, n);", "BOX(y, n);"),
            ("BRACED(x, n)", "BRACED(x, n)"),
            ("BOX(x, n);", "BOX(x, n);"),
        ]
    );
    assert_eq!(messages(&unit), ["the macro `TWO` expands to more than this loop"]);
}

/// A loop whose header is one macro and whose closing brace is another.
#[test]
fn loops_between_two_macros() {
    let unit = read(
        "#define N 40
#define SWEEP_VAR int i;
#define SWEEP(a, b) for (i = (a) * N; i < (b) * N; i++) {
#define SWEEP_END }
#define ALL(i, j) for (int i = 0; i < N; i++) { for (int j = 0; j < N; j++) {
#define DONE }}
#define OPEN for (int i = 0; i < N; i++) {
void f(double *x, double y[N][N])
{
    SWEEP_VAR
    SWEEP(0, N)
        if (x[i] > 0) {
            x[i] = 1;
        }
    SWEEP_END
    ALL(k, j)
        OPEN
            y[k][j] += x[i];
        SWEEP_END
    DONE
    SWEEP(1, 2) x[i] = 2; SWEEP_END SWEEP(2, 3)
        x[i] = 3;
    SWEEP_END
    OPEN
        x[i] = 0;
    }
}
",
    );
    assert_eq!(
        places(&unit),
        [
            ("SWEEP(0, N)", "SWEEP_END"),
            ("ALL(k, j)", "DONE"),
            ("SWEEP(1, 2) x[i] = 2; SWEEP_END", "SWEEP(1, 2) x[i] = 2; SWEEP_END"),
            ("SWEEP(2, 3)", "SWEEP_END"),
        ]
    );
    assert_eq!(messages(&unit).len(), 1, "{:?}", messages(&unit));
}

/// A macro that expands to a block of several loops is one nest; to statements without a block, none.
#[test]
fn several_loops_that_a_macro_makes() {
    let unit = read(
        "#define EACH(i, n) for (int i = 0; i < (n); i++)
#define LAYER(in, out, n) { \\
    const int half = 9 / 2; \\
    EACH(p, n) EACH(q, n) out[q] += in[p % half]; \\
    EACH(q, n) out[q] = out[q] > 0 ? out[q] : 0; \\
}
#define TWICE(a, n) do { EACH(i, n) a[i] *= 2; EACH(i, n) a[i] += 1; } while (0)
#define PRINTS(a, n) { EACH(i, n) a[i] *= 2; EACH(i, n) print(a[i]); }
void print(double);
void f(int n, double *x, double *y)
{
    LAYER(x, y, n);
    if (n > 3)
        TWICE(x, n);
    else
        TWICE(y, n);
    PRINTS(x, n)
}
",
    );
    assert_eq!(
        places(&unit),
        [
            ("LAYER(x, y, n)", "LAYER(x, y, n)"),
            ("TWICE(x, n);", "TWICE(x, n);"),
            ("TWICE(y, n);", "TWICE(y, n);"),
        ]
    );
    assert_eq!(messages(&unit), ["`print` is called, and what it does is not known"]);
    let nests: Vec<_> = unit.functions[0].program.nests.values().map(|nest| nest.roots.len()).collect();
    assert_eq!(nests, [2, 2, 2], "{}", unit.functions[0].program);
}

#[test]
fn nests_of_macros_give_the_same_results() {
    let program = "#define SWEEP_VAR int i;
#define SWEEP(a, b) for (i = (a) * N; i < (b) * N; i++) {
#define SWEEP_END }
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define LAYER(in, out, n) { \\
    const int half = 9 / 2; \\
    EACH(p, n) EACH(q, n) out[q] += in[p % half] * q; \\
    EACH(q, n) out[q] = out[q] > 9 ? out[q] : 0; \\
}
#define TWICE(a, n) do { EACH(i, n) a[i] *= 2; EACH(i, n) a[i] += 1; } while (0)
#define N 31
static void work(int n, double *x, double *y)
{
    SWEEP_VAR
    SWEEP(0, n)
        if (i % 3 == 1) continue;
        x[i] = i % 7;
    SWEEP_END
    LAYER(x, y, n);
    if (n > 3)
        TWICE(x, n);
    else
        TWICE(y, n);
}
int main(int argc, char **argv)
{
    static double x[N * N + 1], y[N * N + 1];
    double s = 0;
    for (int n = 0; n <= atoi(argv[1]); n++)
        work(n, x, y);
    for (int i = 0; i < N * N; i++)
        s += (x[i] + 2 * y[i]) * i;
    printf(\"%.17g\\n\", s);
    return 0;
}
";
    same_output(program, 4, &["0", "1", "2", "7", "31"]);
}

#[test]
fn old_definitions() {
    let unit = read(
        "double s;
double scale(x, n, by)
    double *x;
    double by;
{
    int i;
    for (i = 0; i < n; i++)
        x[i] *= by;
    return x[0];
}
int count() { static int n; return n++; }
main(argc, argv)
    char **argv;
{
    static double x[9];
    int i, k;
    for (i = 0; i < 9; i++)
        x[i] = argc;
    k = count();
    return k;
}
",
    );
    assert_eq!(places(&unit).len(), 2, "{:?}", messages(&unit));
    assert!(unit.has_main);
    let scale = unit.functions[0].binding.display(&unit.functions[0].program);
    assert!(scale.contains("symbol P0 n: i32") && scale.contains("x[i] *= by"), "{scale}");
    assert!(messages(&unit).is_empty(), "{:?}", messages(&unit));
}

#[test]
fn bytes_that_are_not_utf_8_and_line_ends_stay() {
    let source = b"/* Gr\xf6\xdfe */\r\nvoid f(int n, double *x) /* \xe9 */\r\n{\r\n#pragma omp parallel for \\\r\n    schedule(static)\r\n    for (int i = 0; i < n; i++)\r\n        x[i] = 0; // \xff\r\n}\r\n";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.c");
    std::fs::write(&path, source).expect("a file");
    let unit = read_c(&path, &ReadOptions::default()).expect("C");
    assert_eq!(encoded(&unit.source), source);
    assert_eq!(places(&unit), [("#pragma omp parallel for \\", "x[i] = 0;")]);
}
