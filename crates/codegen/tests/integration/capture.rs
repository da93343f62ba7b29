//! Capture programs, replay units and tuned files made from a user's file.

use crate::common::{COMPILERS, has, run};
use oxeye_binding::{Binding, Entry, OwnText};
use oxeye_codegen::{
    Isa, RenderOptions, Site, arguments, guarded_function, instrument, render_nest, render_outlined,
    replay_unit, splice, tuned_file,
};
use oxeye_ir::{BinaryOp, Expr, Nest, Program, Span};
use std::process::Command;

const SOURCE: &str = r#"#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#define N 6
typedef double real;
static real table[N][N];
int total = 0;
static double half(double x) { return x / 2; }

static double scale(int n, int rows, real *x, real (*restrict w)[n], int twice)
{
    int i, j;
    double s = 1;
    if (twice)
        for (i = 0; i < rows; i++)
            for (j = 0; j < n; j++)
                x[i * n + j] = half(w[i][j]) + table[1][2] * s;
    else
        for (i = 0; i < n; i++) x[i] = 0;
    for (int k = 0; k < n; k++) s += x[k];
    return s;
}

int main(void)
{
    real (*w)[N] = malloc(sizeof(real[4][N]));
    real *x = malloc(4 * N * sizeof *x);
    for (int a = 0; a < 4; a++) for (int b = 0; b < N; b++) { w[a][b] = a + b; table[a][b] = a * b; }
    double s = scale(N, 4, x, w, 1);
    #pragma scop
    for (int q = 0; q < N; q++)
        table[q][0] = s + q;
    #pragma endscop
    printf("%g %g %g\n", s, x[23], table[5][0]);
    return 0;
}
"#;

const SCALE: &str = r#"
program scale {
  symbol P0 n: i32
  symbol P1 rows: i32
  array A0 x: f64[?][n] param linear
  array A1 w: f64[?][n] param
  array A2 table: f64[6][6] global
  array A3 s: f64 local
  array A4 x1: f64[?] param
  dataflow { N0 N1 }
  nest N0 in scale {
    for L0 i: i32 in 0 .. rows {
      for L1 j: i32 in 0 .. n {
        S0: x[i][j] = w[i][j] / 2.0 + table[1][2] * s
      }
    }
  }
  nest N1 in scale live_out(s) {
    for L2 k: i32 in 0 .. n {
      S1: s += x1[k]
    }
  }
}
"#;

const MAIN: &str = r#"
program main {
  array A0 table: f64[6][6] global
  array A1 s: f64 local
  dataflow { N0 }
  nest N0 in main {
    for L0 q: i32 in 0 .. 6 {
      S0: table[q][0] = s + q
    }
  }
}
"#;

/// An array that the function keeps, one that is not read after the nest, and one that may be.
const SCRATCH: &str = r#"
program scratch {
  symbol P0 n: i32
  array A0 x: f64[n] param
  array A1 dead: f64[8] local
  array A2 alive: f64[8] local
  array A3 t: f64 local
  dataflow { N0 }
  nest N0 in scratch live_out(alive) {
    for L0 i: i32 in 0 .. n {
      S0: t = x[i]
      S1: dead[1] = t
      S2: alive[1] = dead[1]
      S3: x[i] = dead[1] * 2.0
    }
  }
}
"#;

fn span(start: &str, end: &str) -> Span {
    let from = SOURCE.find(start).expect("start");
    let to = from + SOURCE[from..].find(end).expect("end") + end.len();
    Span { start: from, end: to, line: SOURCE[..from].matches('\n').count() as u32 + 1 }
}

fn programs() -> (Program, Program, Span, Span) {
    let mut scale = Program::parse(SCALE).expect("parses");
    for array in scale.arrays.values_mut().filter(|a| a.name == "x1") {
        array.name = "x".to_owned();
    }
    scale.nests[0].span = Some(span("for (i = 0; i < rows", "* s;"));
    scale.nests[1].span = Some(span("for (int k", "x[k];"));
    let mut main = Program::parse(MAIN).expect("parses");
    main.nests[0].span = Some(span("for (int q", "s + q;"));
    (scale, main, span("static double scale", "\n}"), span("int main", "\n}"))
}

const RUNTIME: &str = r#"
int printf(const char *, ...);
static int oxeye_capture_enter(int site) { printf("begin %d\n", site); return 1; }
static void oxeye_capture_work(int site, double work) { printf("work %d %g\n", site, work); }
static void oxeye_capture_arg(int site, int k, const void *p, long long bytes)
{
    printf("arg %d %d: %lld bytes, %s", site, k, bytes, bytes == 8 ? "double" : bytes == 4 ? "int" : "buffer");
    if (bytes == 8) printf(" %g", *(const double *)p);
    if (bytes == 4) printf(" %d", *(const int *)p);
    printf("\n");
}
#define oxeye_capture_scalar oxeye_capture_arg
static void oxeye_capture_result(int site, int k, const void *p, long long bytes)
{
    printf("result %d %d: %lld bytes", site, k, bytes);
    if (bytes == 8) printf(" %g", *(const double *)p);
    printf("\n");
}
static void oxeye_capture_leave(int site) { printf("end %d\n", site); }
"#;

#[test]
fn arguments_of_nests() {
    let (scale, main, ..) = programs();
    let list = |p: &Program, n: &Nest| -> Vec<String> {
        arguments(p, Binding::none(), n)
            .into_iter()
            .map(|a| format!("{} buffer:{} written:{} {:?}", a.name, a.is_buffer, a.written, a.bytes))
            .collect()
    };
    insta::assert_debug_snapshot!([
        list(&scale, &scale.nests[0]),
        list(&scale, &scale.nests[1]),
        list(&main, &main.nests[0])
    ]);
}

#[test]
fn what_nobody_reads_is_scratch() {
    let program = Program::parse(SCRATCH).expect("parses");
    let list: Vec<(String, bool, bool)> = arguments(&program, Binding::none(), &program.nests[0])
        .into_iter()
        .map(|a| (a.name, a.written, a.is_scratch))
        .collect();
    let wanted = [
        ("n", false, false),
        ("x", true, false),
        ("dead", false, true),
        ("alive", true, false),
        ("t", false, true),
    ];
    assert_eq!(list, wanted.map(|(name, written, is_scratch)| (name.to_owned(), written, is_scratch)));
}

fn site_of<'a>(id: u32, program: &'a Program, nest: &'a Nest, function: Span) -> Site<'a> {
    Site {
        id,
        program,
        binding: Binding::none(),
        nest,
        function,
        own_text: OwnText::none(),
        never_called: &[],
        constants: &[],
        are_apart: false,
        before: "",
    }
}

#[test]
fn capture_program_runs() {
    let (scale, main, f, g) = programs();
    let sites = [
        site_of(2, &main, &main.nests[0], g),
        site_of(0, &scale, &scale.nests[0], f),
        site_of(1, &scale, &scale.nests[1], f),
    ];
    let source = instrument(SOURCE, &sites, RUNTIME);
    insta::assert_snapshot!("instrumented", source);
    let mut seen = None;
    for compiler in COMPILERS.iter().filter(|c| has(c)) {
        let output = run(compiler, &["-O2"], &source).unwrap_or_else(|e| panic!("{e}"));
        assert!(seen.as_ref().is_none_or(|s| *s == output), "{output}");
        seen = Some(output);
    }
    insta::assert_snapshot!("captured", seen.expect("a compiler"));
}

#[test]
fn where_a_test_fails_the_whole_block_is_captured() {
    let (scale, _, f, _) = programs();
    let (nest, n) = (&scale.nests[1], scale.symbols[0].id);
    let output = |most: i64| {
        let test = Expr::Binary(BinaryOp::Le, Box::new(n.into()), Box::new(Expr::from(most)));
        let mut binding = Binding::default();
        binding.entries.insert(nest.id, Entry { tests: vec![test], ..Entry::default() });
        let site = Site { binding: &binding, ..site_of(1, &scale, nest, f) };
        run(COMPILERS[0], &["-O2"], &instrument(SOURCE, &[site], RUNTIME)).unwrap_or_else(|e| panic!("{e}"))
    };
    let (holds, fails) = (output(6), output(5));
    assert!(holds.contains("48 bytes, buffer") && !holds.contains("-1 bytes"), "{holds}");
    assert!(fails.contains("-1 bytes, buffer") && !fails.contains("48 bytes"), "{fails}");
}

/// Runs `oxeye_replay` of a unit on buffers given by a C driver.
fn replay(unit: &str, driver: &str) -> String {
    let mut seen: Option<String> = None;
    for compiler in COMPILERS.iter().filter(|c| has(c)) {
        let dir = tempfile::tempdir().expect("a directory");
        let (c, so) = (dir.path().join("unit.c"), dir.path().join("unit.so"));
        std::fs::write(&c, unit).expect("written");
        crate::common::compile(compiler, &["-O2", "-shared", "-fPIC"], &c, &so)
            .unwrap_or_else(|e| panic!("{e}"));
        let (c, exe) = (dir.path().join("driver.c"), dir.path().join("driver"));
        std::fs::write(&c, driver.replace("UNIT", &so.display().to_string())).expect("written");
        crate::common::compile(compiler, &["-O1", "-ldl"], &c, &exe).unwrap_or_else(|e| panic!("{e}"));
        let output = Command::new(&exe).output().expect("runs");
        assert!(output.status.success(), "{output:?}");
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(seen.as_ref().is_none_or(|s| *s == output), "{output}");
        seen = Some(output);
    }
    seen.expect("a compiler")
}

const LOAD: &str = "#include <dlfcn.h>\n#include <stdio.h>\nint main(void) {\n\
    void *h = dlopen(\"UNIT\", RTLD_NOW); if (!h) { printf(\"%s\\n\", dlerror()); return 1; }\n\
    void (*f)(void **) = (void (*)(void **))dlsym(h, \"oxeye_replay\"); if (!f) return 2;\n";

#[test]
fn replay_of_original_and_rendered_nests() {
    let (scale, main, f, g) = programs();
    let driver = format!(
        "{LOAD}int n = 3, rows = 2; double x[6], w[6] = {{1, 2, 3, 4, 5, 6}}, t[36] = {{0}}, s = 10; t[8] = 1;\n\
         void *args[] = {{&n, &rows, x, w, t, &s}}; f(args);\n\
         for (int i = 0; i < 6; i++) printf(\"%g \", x[i]);\nreturn 0; }}\n"
    );
    let nest = &scale.nests[0];
    let site = site_of(0, &scale, nest, f);
    let own = nest.span.map(|s| &SOURCE[s.start..s.end]).expect("a span");
    let unit = replay_unit(SOURCE, &site, own);
    insta::assert_snapshot!("replay_unit", unit);
    let expected = "10.5 11 11.5 12 12.5 13 ";
    assert_eq!(replay(&unit, &driver), expected);
    let body = render_nest(&scale, Binding::none(), nest, &RenderOptions::default()).expect("renders");
    assert_eq!(replay(&replay_unit(SOURCE, &site, &body), &driver), expected);

    let driver = format!(
        "{LOAD}int n = 3; double x[3] = {{1, 2, 3}}, s = 10;\nvoid *args[] = {{&n, &s, x}}; f(args);\n\
         printf(\"%g\", s); return 0; }}\n"
    );
    let nest = &scale.nests[1];
    let site = site_of(0, &scale, nest, f);
    let own = nest.span.map(|s| &SOURCE[s.start..s.end]).expect("a span");
    assert_eq!(replay(&replay_unit(SOURCE, &site, own), &driver), "16");

    let driver = format!(
        "{LOAD}double t[36] = {{0}}, s = 10;\nvoid *args[] = {{t, &s}}; f(args);\nprintf(\"%g\", t[30]); return 0; }}\n"
    );
    let site = site_of(0, &main, &main.nests[0], g);
    let body =
        render_nest(&main, Binding::none(), &main.nests[0], &RenderOptions::default()).expect("renders");
    assert_eq!(replay(&replay_unit(SOURCE, &site, &body), &driver), "15");
}

#[test]
fn tuned_files_behave_as_the_original() {
    let (scale, main, ..) = programs();
    let mut vectors = scale.nests[0].clone();
    if let oxeye_ir::Node::Loop(i) = &mut vectors.roots[0]
        && let oxeye_ir::Node::Loop(j) = &mut i.body[0]
    {
        j.execution = oxeye_ir::Execution::Vector { lanes: Some(4), reductions: vec![] };
    }
    let replacements: Vec<(Span, String)> =
        [(&main, &main.nests[0]), (&scale, &vectors), (&scale, &scale.nests[1])]
            .into_iter()
            .map(|(p, n)| {
                let options =
                    RenderOptions { indent: 4, comment: vec!["tuned".into()], ..RenderOptions::default() };
                (n.span.expect("a span"), render_nest(p, Binding::none(), n, &options).expect("renders"))
            })
            .collect();
    let tuned = tuned_file(SOURCE, &replacements, &[]);
    insta::assert_snapshot!("tuned_file", tuned);
    for compiler in COMPILERS.iter().filter(|c| has(c)) {
        let expected = run(compiler, &["-O2"], SOURCE).expect("the original runs");
        assert_eq!(run(compiler, &["-O2"], &tuned).unwrap_or_else(|e| panic!("{e}")), expected);
    }
}

/// The nests in functions of their own, with wider vectors; compilers have nothing to say of them.
#[test]
fn functions_for_wider_vectors() {
    let (scale, main, f, g) = programs();
    for isa in Isa::ALL {
        let mut replacements = Vec::new();
        let nests = [(&main, &main.nests[0], g), (&scale, &scale.nests[0], f), (&scale, &scale.nests[1], f)];
        for (k, (program, nest, function)) in nests.into_iter().enumerate() {
            let span = nest.span.expect("a span");
            let original = Some(SOURCE[span.start..span.end].to_owned());
            let options = RenderOptions { indent: 4, original, ..RenderOptions::default() };
            let name = format!("wide_{k}");
            let outlined =
                render_outlined(program, Binding::none(), nest, &options, isa, &name).expect("renders");
            replacements.push((span, outlined.block));
            let before = Span { end: function.start, ..function };
            replacements.push((before, guarded_function(SOURCE, before.start, &outlined.function, &[])));
        }
        let tuned = tuned_file(SOURCE, &replacements, &[]);
        if isa == Isa::Avx2 {
            insta::assert_snapshot!("wide", tuned);
        }
        for compiler in COMPILERS.iter().filter(|c| has(c)) {
            let expected = run(compiler, &["-O2"], SOURCE).expect("the original runs");
            assert_eq!(
                run(compiler, &["-O2", "-ffp-contract=off"], &tuned).unwrap_or_else(|e| panic!("{e}")),
                expected
            );
        }
    }
}

#[test]
fn splicing_keeps_every_other_byte() {
    let at = |start, end| Span { start, end, line: 1 };
    assert_eq!(
        splice("abcdef", &[(at(4, 5), "E".into()), (at(1, 3), String::new()), (at(0, 0), "<".into())]),
        "<adEf"
    );
    // Overlapping and impossible spans are ignored.
    assert_eq!(
        splice("abc", &[(at(0, 2), "x".into()), (at(1, 3), "y".into()), (at(2, 9), "z".into())]),
        "xc"
    );
    assert_eq!(splice("é", &[(at(1, 2), "x".into())]), "é");
}

#[test]
fn pragmas_stay_with_their_loop() {
    let source = "void f(int n, double *x)\n{\n    #pragma omp parallel for\n    for (int k = 0; k < n; k++) x[k] = k;\n}\n";
    let mut program = Program::parse(
        "program f {\n symbol P0 n: i32\n array A0 x: f64[?] param\n dataflow { N0 }\n nest N0 in f {\n \
         for L0 k: i32 in 0 .. n {\n S0: x[k] = (f64) k\n }\n }\n}\n",
    )
    .expect("parses");
    let start = source.find("#pragma").expect("a pragma");
    program.nests[0].span =
        Some(Span { start, end: start + source[start..].find(";\n}").expect("end") + 1, line: 4 });
    let site = Site {
        binding: Binding::none(),
        id: 0,
        program: &program,
        nest: &program.nests[0],
        function: Span { start: 0, end: source.len(), line: 1 },
        own_text: OwnText::none(),
        never_called: &[],
        constants: &[],
        are_apart: false,
        before: "",
    };
    insta::assert_snapshot!("pragma", instrument(source, &[site], "/* runtime */"));
}
