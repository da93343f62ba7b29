//! Text that people write around loops: conditionals, macros, old definitions, other encodings.

mod common;

use common::read;
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
    let scale = unit.functions[0].program.to_string();
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
