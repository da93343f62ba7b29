//! What is left unchanged, and the messages about it.

use crate::common::{read, show, shown};
use insta::assert_snapshot;
use oxeye_frontend::{FrontendError, ReadOptions, Severity, read_c};

/// The messages about a function with one loop.
fn refused(before: &str, body: &str) -> String {
    let source = format!("{before}\n{body}\n");
    let unit = read(&source);
    let n_nests: usize = unit.functions.iter().map(|f| f.program.nests.len()).sum();
    let mut out = String::new();
    for d in &unit.diagnostics {
        let place = d.span.map_or("?", |s| &source[s.start..s.end]);
        out += &format!("{} [{place}]", d.message);
        if let Some(help) = &d.help {
            out += &format!(" | {help}");
        }
        out.push('\n');
    }
    if n_nests > 0 {
        out += &format!("({n_nests} nests)\n");
    }
    out
}

#[test]
fn every_construct_has_its_words() {
    let cases = [
        (
            "extern void __assert_fail(const char *, const char *, unsigned, const char *);",
            "void f(double *x) { for (int i = 0; i < 9; i++) { ({ if (x[i] > i) ; else __assert_fail(\"\", \"\", 1, \"\"); }); x[i] = 0; } }",
        ),
        (
            "extern int g(int);",
            "void f(double *x) { for (int i = 0; i < 9; i++) { ({ if (x[i] > i) g(i); }); x[i] = 0; } }",
        ),
        (
            "typedef struct { double f[9]; } cell; cell *at(int);",
            "void f(double *x) { for (int i = 0; i < 9; i++) at(2)->f[i] = x[i]; }",
        ),
        (
            "static char g[4][5], h[5][4];",
            "void f(int n) { for (int i = 0; i < n; i++) memcpy(g, h, sizeof g); }",
        ),
        ("static char g[4][5];", "void f(int n) { for (int i = 0; i < n; i++) memset(g, 0, n); }"),
        (
            "static char g[4][5];",
            "void f(int n) { for (int i = 0; i < n; i++) memset(g[1], 0, 2 * sizeof g[1]); }",
        ),
        ("static char g[4][5];", "void f(int n) { for (int i = 0; i < n; i++) memset(g, n, sizeof g); }"),
        (
            "",
            "void f(int n, int m, double *x) { for (int i = 0; i < n; i++) __builtin_memmove(x + i, x + m, 8 * n); }",
        ),
        ("", "void f(double *x) { for (int i = 0; i < 9; i++) { if (x[i] > 1) break; x[i] = 0; } }"),
        (
            "",
            "void f(double *x) { for (int i = 0; i < 9; i++) { if (x[i] > 1) { if (i > 3) continue; x[i] = 2; } x[i] = 0; } }",
        ),
        ("", "void f(long *x) { for (int i = 0; i < 9; i++) x[i] = 9223372036854775807 * i; }"),
        ("", "int f(double *x) { for (int i = 0; i < 9; i++) if (x[i] > 1) return i; return 0; }"),
        ("", "void f(double *x) { for (int i = 0; i < 9; i++) { if (x[i] > 1) goto end; x[i] = 0; } end:; }"),
        ("", "void f(double *x) { while (x[0] > 1) x[0] /= 2; }"),
        ("", "void f(double *x) { do x[0] /= 2; while (x[0] > 1); }"),
        ("", "void f(double *x) { for (int i = 0; i < 9; i++) switch (i) { case 1: x[i] = 2; } }"),
        ("int g(int);", "void f(int *x) { for (int i = 0; i < 9; i++) x[i] = g(i); }"),
        (
            "static void g(double *x) { x[0] = 1; }",
            "void f(double *x) { for (int i = 0; i < 9; i++) g(x + i); }",
        ),
        (
            "static int g(int n) { int s = 0; while (n > 1) { if (n == 7) goto out; n /= 2; s++; } out: return s; }",
            "void f(int *x) { for (int i = 0; i < 9; i++) x[i] = g(i); }",
        ),
        (
            "static int g(int n) { return n < 2 ? n : g(n - 1); }",
            "void f(int *x) { for (int i = 0; i < 9; i++) x[i] = g(i); }",
        ),
        (
            "int calls;\nstatic int g(int n) { calls++; return n; }",
            "void f(int *x) { for (int i = 0; i < 9; i++) x[i] = g(i); }",
        ),
        ("", "void f(double **x) { for (int i = 0; i < 9; i++) x[i][0] = 0; }"),
        ("struct p { double x, y; };", "void f(struct p *a) { for (int i = 0; i < 9; i++) a[i].x = 0; }"),
        (
            "struct p { int n; double d[9]; };",
            "void f(struct p *a, double *x) { for (int i = 0; i < a->n; i++) x[i] = 0; }",
        ),
        (
            "struct p { double d[9]; };",
            "void f(struct p a, double *x) { for (int i = 0; i < 9; i++) x[i] = a.d[i]; }",
        ),
        ("", "void f(volatile double *x) { for (int i = 0; i < 9; i++) x[i] = 0; }"),
        ("", "void f(_Atomic int *x) { for (int i = 0; i < 9; i++) x[i] = 0; }"),
        ("", "void f(int n, double *x) { for (int i = 0; i < n; i++) x[i] = n--; }"),
        ("", "void f(int n, double *x) { for (int i = 0; i < n; i++) { x[i] = 0; n = 3; } }"),
        ("", "void f(int *n, double *x) { for (int i = 0; i < *n; i++) { x[i] = 0; n[1] = i; } }"),
        ("", "void f(double *x) { for (int i = 0; i < 9; i++) { x[i] = 0; i++; } }"),
        ("", "void f(double *x) { for (int i = 0; i < 9; i++) if (i != 3) *x++ = 0; }"),
        ("", "void f(double *x) { for (int i = 0; i < 9; i++) { x[0] = 0; x = x + 1; } }"),
        ("", "void f(double *x) { for (double t = 0; t < 1; t += 0.1) x[0] += t; }"),
        ("", "void f(int n, double *x) { for (int i = 1; i < n; i *= 2) x[i] = 0; }"),
        ("", "void f(int n, int s, double *x) { for (int i = 0; i < n; i += s) x[i] = 0; }"),
        ("", "void f(int n, double *x) { for (int i = 0; i != n; i += 2) x[i] = 0; }"),
        ("", "void f(int n, double *x) { for (int i = 0; i * i < n; i++) x[i] = 0; }"),
        ("", "void f(int n, double *x) { for (int i = 0;; i++) x[i] = 0; }"),
        ("", "void f(int n, double *x) { int i = 3; for (; i < n; i++) x[i] = 0; }"),
        ("", "void f(int n, double *x) { for (int i = 0, j = n; i < j; i++, j--) x[i] = 0; }"),
        ("", "void f(unsigned n, double *x) { for (unsigned i = n; i >= 0; i--) x[i] = 0; }"),
        ("", "int f(int n, double *x) { int i; for (i = 0; i < n; i++) x[i] = 0; return i; }"),
        (
            "",
            "void f(int n, double *x) { int i, j; for (i = 0; i < n; i++) { for (j = 0; j < i; j++) x[j] = 0; x[j] = 1; } }",
        ),
        ("int i;", "void f(int n, double *x) { for (i = 0; i < n; i++) x[i] = 0; }"),
        ("int n;", "void f(int *x) { for (int i = 0; i < n; i++) x[i] = 0; }"),
        (
            "",
            "void f(int n, double *x) { double s = 0;\n#pragma omp parallel for\nfor (int i = 0; i < n; i++)\n#pragma omp atomic\ns += x[i];\nx[0] = s; }",
        ),
        (
            "",
            "void f(int n, double *x) {\n#pragma omp parallel\n#pragma omp single\nfor (int i = 0; i < n; i++) x[i] = 0; }",
        ),
        (
            "",
            "void f(int n, double *x) {\n#pragma omp parallel for ordered\nfor (int i = 0; i < n; i++) x[i] = 0; }",
        ),
        (
            "",
            "double f(int n, double *x) { double t = 1;\n#pragma omp parallel for private(t)\nfor (int i = 0; i < n; i++) { t = x[i]; x[i] = t * t; }\nreturn t; }",
        ),
        (
            "",
            "void f(int n, double *x) { double t = 1;\n#pragma omp parallel for firstprivate(t)\nfor (int i = 0; i < n; i++) { t += x[i]; x[i] = t; } }",
        ),
        (
            "",
            "void f(int n, double *x) {\n#pragma acc parallel loop\nfor (int i = 0; i < n; i++) x[i] = 0; }",
        ),
        (
            "#define LOOP(i, n) for (int i = 0; i < n; i++)",
            "void f(int n, double *x) { LOOP(i, n) x[i] = 0; }",
        ),
        (
            "#define ZERO(i) x[i] = 0;",
            "void f(int n, double *x) { for (int i = 0; i < n; i++) ZERO(i) x[0] = 3; }",
        ),
        ("", "void f(int n, double x[n]) { n = n / 2; for (int i = 0; i < n; i++) x[i] = 0; }"),
        ("", "void f(int n, int m, double x[n][m]) { m = 3; for (int i = 0; i < n; i++) x[i][0] = 0; }"),
        ("double z[0];", "void f(int n) { for (int i = 0; i < n; i++) z[i] = 0; }"),
        ("", "void f(int n, long double *x) { for (int i = 0; i < n; i++) x[i] = 0; }"),
        (
            "",
            "void f(int n, double *x) { for (int i = 0; i < n; i++) { static double s; s += x[i]; x[i] = s; } }",
        ),
        (
            "",
            "void f(int n, double *x) { for (int i = 0; i < n; i++) { double t[2] = {1, 2}; x[i] = t[0]; } }",
        ),
        (
            "",
            "void f(int n, double *x) { for (int i = 0; i < n; i++) x[i] = ({ double t = 1; t += 1; t; }); }",
        ),
        ("", "void f(int n, char *s, double *x) { for (int i = 0; i < n; i++) x[i] = s ? 1 : 2; }"),
        ("", "void f(int n, float *x) { for (int i = 0; i < n; i++) ((int *)x)[i] &= 0x7fffffff; }"),
        ("", "void f(int n, double *x) { int i; int *p = &i; for (i = 0; i < n; i++) x[i] = *p; }"),
        ("", "void f(int n, double *x) { for (int i = 0; i < n; i++) __asm__(\"nop\"); }"),
        ("", "void f(int n, double *x) { for (int i = 0; i < n; i++) ; }"),
        ("", "void f(n, x) int n; double *x; { for (int i = 0; i < n; i++) x[i] = 0; }"),
        ("", "void f(int n, double *x) { for (int i = 0; i < n; i++) { x[i] = 0; }"),
        ("", "void f(int n, double (*g)(double), double *x) { for (int i = 0; i < n; i++) x[i] = g(x[i]); }"),
        ("", "void f(int n, _Bool *x) { for (int i = 0; i < n; i++) x[i]++; }"),
        (
            "double z[9]; static void g(int i) { z[i] = i; }",
            "void f(int n) { for (int i = 0; i < n; i++) g(i); }",
        ),
        (
            "static void g(double *x) { if (x[0] > 1) return; x[0] = 2; }",
            "void f(int n, double *x) { for (int i = 0; i < n; i++) g(x + i); }",
        ),
        (
            "static void g(int n, double *x) {\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) x[i] += 1; }",
            "void f(int n, double *x) { for (int t = 0; t < n; t++) g(n, x); }",
        ),
        (
            "static void g(int n, double (*x)[4]) { for (int i = 0; i < n; i++) x[i][1] += 1; }",
            "void f(int n, double (*x)[5]) { for (int t = 0; t < n; t++) g(n, (double (*)[4])x); }",
        ),
        (
            "static void g(int n, double *x) { if (n > 0) g(n - 1, x + 1); x[0] = n; }",
            "void f(int n, double *x) { for (int t = 0; t < n; t++) g(n, x); }",
        ),
        (
            "",
            "double *f(int n, double *x, double *y) { double *t; for (int i = 0; i < n; i++) { x[0] += y[i]; t = x; x = y; y = t; } return t; }",
        ),
        (
            "",
            "void f(int n, double *x, double *y) { for (int i = 0; i < n; i++) { double *t = x; x = y; y = t; x[0] += y[i]; } }",
        ),
        (
            "",
            "void f(int n, double *x, double *y) { for (int i = 0; i < n; i++) { if (i == 3) continue; x[0] += y[i]; double *t = x; x = y; y = t; } }",
        ),
        (
            "",
            "void f(int n, double *x, double *y) { for (int r = 0; r < 9; r++) for (int i = 0; i < n; i++) { x[0] += y[i]; double *t = x; x = y; y = t; } }",
        ),
        (
            "",
            "void f(int n, double *x, double *y, double *z) { for (int i = 0; i < n; i++) { x[0] += y[i]; double *t = x; x = y; y = t; t = y; y = z; z = t; } }",
        ),
        (
            "static void g(int n, double *x) { for (int i = 0; i < n; i++) x[i] += 1; }",
            "void f(int n, double x[n][n]) { for (int t = 0; t < 9; t++) g(n * n, &x[0][0]); }",
        ),
        (
            "static double g(int k, double *x) { return x[k]; }",
            "void f(int n, double x[n][8], double *y) { for (int i = 0; i < n; i++) y[i] = g(8 * i, x[0]) + g(7, x[i]); }",
        ),
        (
            "struct p { double x; unsigned kind : 3; };",
            "void f(int n, struct p *a) { for (int i = 0; i < n; i++) a[i].x = a[i].kind; }",
        ),
        (
            "struct p { double x; unsigned kind : 3; };",
            "void f(int n, struct p *a, struct p *b) { for (int i = 0; i < n; i++) a[i] = b[i]; }",
        ),
        (
            "struct p { union { double x; long n; } of; };",
            "void f(int n, struct p *a) { for (int i = 0; i < n; i++) a[i].of.x = 0; }",
        ),
        (
            "struct p { union { double x; long n; } of; };",
            "void f(int n, struct p *a, struct p *b) { for (int i = 0; i < n; i++) a[i] = b[i]; }",
        ),
        (
            "struct p { double x[5][7]; };",
            "void f(int n, struct p *a, struct p *b) { for (int i = 0; i < n; i++) a[i] = b[i]; }",
        ),
        (
            "struct p { char c; double x; } __attribute__((packed));",
            "void f(int n, struct p *a, struct p *b) { for (int i = 0; i < n; i++) a[i] = b[i]; }",
        ),
        (
            "struct p { int n; double x[]; };",
            "void f(struct p *a) { for (int i = 0; i < a->n; i++) a->x[i] = 0; }",
        ),
        (
            "struct p { int n; double x[]; };",
            "void f(struct p *a) { double *x = a->x; for (int i = 0; i < a->n; i++) x[i] = 0; }",
        ),
        (
            "struct q { double y; }; struct p { int n; struct q x[]; };",
            "void f(struct p *a) { for (int i = 0; i < a->n; i++) a->x[i].y = 0; }",
        ),
        (
            "static struct { double x, y; } p[9];",
            "void f(int n) { for (int i = 0; i < n; i++) p[i].x = p[i].y; }",
        ),
        (
            "typedef struct { double x, y; } v; static v g(double x) { return (v){x, x}; }",
            "void f(int n, double *x, v *a) { for (int i = 0; i < n; i++) a[i] = x[i] > 0 ? (v){1, 2} : g(x[i]); }",
        ),
        (
            "typedef struct { double x, *p; } v; static v g(double x, double *p) { return (v){x, p}; }",
            "void f(int n, double *x, v *a) { for (int i = 0; i < n; i++) a[i] = x[i] > 0 ? (v){1, x} : g(x[i], x); }",
        ),
        (
            "typedef struct { double x, *p; } v; static v g(double x, double *p) { v r; r.x = x; r.p = p; return r; }",
            "void f(int n, double *x) { for (int i = 0; i < n; i++) x[i] = g(1, x).p[0]; }",
        ),
        (
            "static void g(double *x) { static int k; x[0] = k++; }",
            "void f(int n, double *x) { for (int t = 0; t < n; t++) g(x + t); }",
        ),
    ];
    let all: Vec<String> =
        cases.iter().map(|(before, body)| format!("{body}\n  {}", refused(before, body))).collect();
    assert_snapshot!(all.join("\n"));
}

/// Functions called beyond the limit on calls might change what is read here.
#[test]
fn more_calls_than_are_followed() {
    let body = |n: usize| {
        format!(
            "void f(int n, double *x) {{ for (int i = 0; i < n; i++) {{ {} g(x + i); }} }}",
            "x[i] += s(i);".repeat(n)
        )
    };
    let before = "static double s(int k) { return k * k; } static void g(double *x) { x[0] = 1; }";
    assert_eq!(refused(before, &body(9)).trim(), "(1 nests)");
    let message = refused(before, &body(300));
    assert!(message.contains("among too many calls to tell what all of them write"), "{message}");
}

#[test]
fn the_rest_of_the_file_still_works() {
    let unit = read(
        "void bad(int n, double *x) { for (int i = 0; i < n; i++) x[i] = = 0; }
void good(int n, double *x) { for (int i = 0; i < n; i++) x[i] = 0; }
void half(int n, double **y, double *x, int *which)
{
    for (int i = 0; i < n; i++)
        y[which[i]][0] = which[i]++;
    for (int i = 0; i < n; i++)
        x[i] = 1;
}
",
    );
    let names: Vec<_> = unit.functions.iter().map(|f| (f.name.as_str(), f.program.nests.len())).collect();
    assert_eq!(names, [("good", 1), ("half", 1)]);
    assert_eq!(unit.diagnostics.len(), 2, "{}", show(&unit));
}

#[test]
fn diagnostics_show_the_place() {
    assert_snapshot!(shown(
        "void puts2(int);
void f(int n, double *x)
{
    for (int i = 0; i < n; i++) {
        x[i] = 0;
        puts2(i); /* puts2(i) */
    }
}
"
    ));
}

#[test]
fn loops_inside_a_loop_that_stays_are_nests() {
    let unit = read(
        "void log_step(int);
void f(int n, int steps, double *x)
{
    for (int t = 0; t < steps; t++) {
        log_step(t);
        for (int i = 0; i < n; i++)
            x[i] += t;
    }
}
",
    );
    assert_eq!(unit.functions[0].program.nests.len(), 1);
    assert_eq!(unit.diagnostics[0].severity, Severity::Note);
}

#[test]
fn files_that_cannot_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = ReadOptions::default();
    let path = folder.path().join("t.c");
    let message = |options: &ReadOptions| {
        let error = read_c(&path, options).expect_err("an error");
        error.to_string().replace(&*folder.path().to_string_lossy(), "")
    };
    assert_eq!(message(&options), "cannot read /t.c");
    std::fs::write(&path, "int a;\n// \u{10feff}\n").expect("a file");
    assert_eq!(
        message(&options),
        "/t.c has characters of the private plane 16, which cannot be kept; remove them first"
    );
    std::fs::write(&path, "#include \"nothing.h\"\n").expect("a file");
    assert!(message(&options).contains("nothing.h"));
    std::fs::write(&path, "#error for (;;) is wrong\n").expect("a file");
    assert!(message(&options).contains("for (;;) is wrong"));
    std::fs::write(&path, "void f(void) {}\n").expect("a file");
    let absent = ReadOptions { compiler: "no-such-compiler".into(), ..options.clone() };
    assert!(matches!(read_c(&path, &absent), Err(FrontendError::Compiler { .. })));
    let wrong = ReadOptions { args: vec!["--no-such-flag".into()], ..options.clone() };
    assert!(message(&wrong).contains("no-such-flag"));
    let other = ReadOptions { function: Some("g".into()), ..options };
    assert_eq!(message(&other), "no function `g` is defined in /t.c; it defines f");
}
