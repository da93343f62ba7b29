//! Byte-exact spans, and no panic on any input.

use crate::common::{read, read_with};
use oxeye_binding::Bound;
use oxeye_frontend::{Function, ReadOptions, Unit, read_c};
use std::ops::Range;
use std::path::{Path, PathBuf};

fn kernels() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks/kernels");
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .expect("the corpus")
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "c") && !is_generated(p))
        .collect();
    found.sort();
    found
}

/// Whether `oxeye optimize` wrote it next to its input.
fn is_generated(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".oxeye.c")
}

/// Every span is a whole `for` statement or function, inside its function, and nests do not overlap.
fn check_spans(unit: &Unit) {
    for function in &unit.functions {
        assert_eq!(oxeye_ir::verify(&function.program), Ok(()), "{}", function.program);
        assert_eq!(
            oxeye_binding::verify(&function.program, &function.binding),
            Ok(()),
            "{}",
            function.program
        );
        let text = &unit.source[function.span.start..function.span.end];
        assert!(text.contains(&function.name) && text.ends_with('}'), "{text}");
        let mut end = function.span.start;
        for nest in function.program.nests.values() {
            let span = nest.span.expect("a span");
            let text = &unit.source[span.start..span.end];
            assert!(text.starts_with("for") && (text.ends_with('}') || text.ends_with(';')), "{text}");
            assert_eq!(unit.source[..span.start].matches('\n').count() + 1, span.line as usize);
            assert!(span.start >= end && span.end <= function.span.end);
            end = span.end;
        }
    }
    for diagnostic in &unit.diagnostics {
        assert!(!diagnostic.render(&unit.path, &unit.source).is_empty());
    }
}

/// Bytes of the nests of a function.
fn nests(function: &Function) -> Vec<Range<usize>> {
    function.program.nests.values().filter_map(|n| n.span.map(|s| s.start..s.end)).collect()
}

/// Each nest may be cut out of the file: its bytes are exactly one `for` statement, and with an empty statement in its
/// place the file reads as before, with all other nests where they were.
fn check_cuts(unit: &Unit) {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_c::LANGUAGE.into()).expect("the grammar of C");
    let folder = unit.path.parent().unwrap_or(Path::new("."));
    let options = ReadOptions { args: vec![format!("-I{}", folder.display())], ..ReadOptions::default() };
    for function in &unit.functions {
        for span in &nests(function) {
            let text = &unit.source[span.clone()];
            let alone = format!("void f(void) {{{text}}}");
            let tree = parser.parse(&alone, None).expect("a tree");
            let body = tree.root_node().child(0).and_then(|f| f.child_by_field_name("body")).expect("a body");
            assert!(body.named_child_count() == 1 && !tree.root_node().has_error(), "{text}");
            assert_eq!(body.named_child(0).map(|n| n.kind()), Some("for_statement"), "{text}");

            // The same length and the same lines, so that everything else stays in place.
            let blank: String = text
                .char_indices()
                .map(|(at, c)| {
                    if at == 0 {
                        ';'
                    } else if c == '\n' {
                        c
                    } else {
                        ' '
                    }
                })
                .collect();
            let cut = [&unit.source[..span.start], &blank, &unit.source[span.end..]].concat();
            let again = read_with(&cut, &options);
            let kept = |unit: &Unit| -> Vec<Range<usize>> {
                let in_unit = unit.functions.iter().flat_map(nests);
                in_unit.filter(|other| other != span).collect()
            };
            assert_eq!(kept(&again), kept(unit), "without\n{text}");
            assert!(again.functions.iter().flat_map(nests).all(|other| other != *span), "{cut}");
        }
    }
}

#[test]
fn the_corpus_is_read() {
    let kernels = kernels();
    assert_eq!(kernels.len(), 46);
    for path in kernels {
        let unit = read_c(&path, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        assert!(unit.has_main);
        check_spans(&unit);
        check_cuts(&unit);
        assert!(unit.diagnostics.is_empty(), "{}: {:?}", path.display(), unit.diagnostics);
        for function in &unit.functions {
            let text = function.binding.display(&function.program);
            let bound = Bound { program: function.program.clone(), binding: function.binding.clone() };
            assert_eq!(Bound::parse(&text), Ok(bound), "{text}");
        }
    }
}

/// A small generator: the tests must be the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

const SAMPLE: &str = "typedef double real;
#define N 30
#define SQ(x) ((x) * (x))
static inline int clampi(int x, int lo, int hi) { return x < lo ? lo : (x > hi ? hi : x); }
static real A[N][N];
enum { M = 4 };
static void f(int n, int m, real B[n][m], float *restrict c, unsigned long z)
{
    int i, j;
    real s = 0;
#pragma scop
    for (i = n - 1; i >= 0; i--)
        for (j = 0; j < m && j <= 2 * i; ++j) {
            if (j % 2 == 0 && B[i][j] > 0.5f) {
                s += SQ(B[i][clampi(j - 1, 0, m - 1)]);
                c[i * m + j] = (real)(j) / M + \"a\"[0];
            } else
                A[i % N][j % N] = -s;
        }
#pragma endscop
    real(*p)[N] = A, *q = &A[0][0];
    for (unsigned long k = 0; k < z; k++) {
        double t = q[k] ? p[0][k] : 1e-3;
        c[k] *= t;
    }
}
";

#[test]
fn damaged_files_do_no_harm() {
    let mut inputs: Vec<String> = (0..SAMPLE.len()).step_by(23).map(|end| SAMPLE[..end].to_owned()).collect();
    let words: Vec<&str> = SAMPLE.split_inclusive([' ', '(', ')', '[', ']', ';', '{', '}', ',']).collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..40 {
        let mut words = words.clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(words.len());
            match random.below(3) {
                0 => _ = words.remove(at),
                1 => words.insert(at, words[random.below(words.len())]),
                _ => {
                    let other = random.below(words.len());
                    words.swap(at, other);
                }
            }
        }
        inputs.push(words.concat());
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.c");
    for input in inputs {
        std::fs::write(&path, &input).expect("a file");
        // Some damage makes the preprocessor fail, which is an error and not a panic.
        if let Ok(unit) = read_c(&path, &ReadOptions::default()) {
            check_spans(&unit);
        }
    }
}

#[test]
fn deep_nesting_does_no_harm() {
    let n = 3000;
    let parens = format!(
        "void f(int *x) {{ for (int i = 0; i < 9; i++) x[i] = {}1{}; }}",
        "(".repeat(n),
        ")".repeat(n)
    );
    let sums = format!("void f(int *x) {{ for (int i = 0; i < 9; i++) x[i] = 1{}; }}", " + x[i]".repeat(n));
    let loops = format!("void f(int *x) {{ {} x[0] = 1; }}", "for (int i = 0; i < 2; i++)".repeat(n));
    let blocks = format!("void f(int *x) {{ {} {} }}", "{ if (x) ".repeat(n), "}".repeat(n));
    let pointers = format!("void f(int {}x) {{ for (int i = 0; i < 9; i++) x[i] = 0; }}", "*".repeat(n));
    for text in [parens, sums, loops, blocks, pointers] {
        check_spans(&read(&text));
    }
}

#[test]
fn names_of_every_kind_are_kept() {
    let text = "/* Größe */ void größe(int n, double *x) { for (int i = 0; i < n; i++) x[i] = 0; /* é */ }\r\n\
                void g(int n, double *y)\r\n{\r\n  for (int i = 0; i < n; i++)\r\n    y[i] = 1; // } for\r\n}\r\n";
    let unit = read(text);
    assert_eq!(unit.functions.len(), 2);
    check_spans(&unit);
    check_cuts(&unit);
}
