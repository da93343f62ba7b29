//! What other builds of a file may read is not dead, and what they need is not taken away.

use crate::common::read;
use oxeye_frontend::ReadOptions;

/// Whether `b` is dead behind the nest of a function, where this stands before the function, declares `b` and stands behind.
fn is_dead(before: &str, declared: &str, behind: &str) -> bool {
    let source = format!(
        "#include <assert.h>
#include <stdlib.h>
{before}
void f(int n, const double *restrict a, double *restrict c)
{{
    {declared}
    for (int i = 0; i < n; i++) {{
        {stored} = a[i] * 2;
        c[i] = {stored} + 1;
    }}
    {behind}
}}
",
        stored = if declared.contains("b;") { "b" } else { "b[i]" },
    );
    let unit = read(&source);
    let program = &unit.functions[0].program;
    let nest = program.nests.values().next().expect("a nest");
    !nest.live_out.iter().any(|id| program.array(*id).name == "b")
}

#[test]
fn what_another_build_reads_is_alive() {
    const ARRAY: &str = "double b[100];";
    const SCALAR: &str = "double b;";
    const BLOCK: &str = "double *b = malloc(100 * sizeof *b);";
    const OTHER: &str = "\n#ifdef OTHER\n";
    for declared in [ARRAY, SCALAR] {
        assert!(is_dead("", declared, ""), "{declared}");
    }
    let read = |what: &str| format!("{OTHER} c[0] = {what};\n#endif");
    assert!(!is_dead("", ARRAY, &read("b[2]")));
    assert!(!is_dead("", SCALAR, &read("b")));
    assert!(!is_dead("", BLOCK, &format!("{} free(b);", read("b[2]"))));
    // Set or declared there first, or in another function.
    assert!(is_dead("", SCALAR, &format!("{OTHER} b = 1; c[0] = b;\n#endif")));
    assert!(is_dead("", SCALAR, &format!("{OTHER} int b = 1; c[0] = b;\n#endif")));
    assert!(is_dead(&format!("{OTHER} double g(double *b) {{ return b[2]; }}\n#endif"), ARRAY, ""));
    for first in
        ["b = b * 3;", "if (n > 100) b = 7;", "{ double b = 3; c[1] = b; }", "\n#ifdef Q\n b = 3;\n#endif\n"]
    {
        assert!(!is_dead("", SCALAR, &format!("{OTHER} {first} c[0] = b;\n#endif")), "{first}");
    }
    // By way of macros.
    assert!(!is_dead("", SCALAR, "\n#undef assert\n#define assert(x)\n assert((c[0] = b) != 99);"));
    assert!(!is_dead("", ARRAY, "\n#undef assert\n#define assert(x)\n assert(b[3] == 4);"));
    let dump = format!("{OTHER}#define DUMP c[0] = b[3]\n#else\n#define DUMP\n#endif");
    assert!(!is_dead(&dump, ARRAY, "DUMP;"));
    assert!(is_dead("#define TWICE(x) ((x) + (x))\n", ARRAY, "c[0] = TWICE(c[1]);"));
}

fn refused(source: &str) -> bool {
    read(source).functions.iter().all(|f| f.program.nests.is_empty())
}

#[test]
fn macros_stay_for_what_is_behind() {
    let with = |inside: &str, behind: &str| {
        format!(
            "#define K 2
void f(int n, const double *restrict a, double *restrict c)
{{
    for (int i = 0; i < n; i++) {{
{inside}
        c[i] = a[i] * 2;
    }}
    {behind}
}}
"
        )
    };
    const AGAIN: &str = "#undef K\n#define K 5";
    assert!(!refused(&with("", "c[0] = K;")));
    assert!(refused(&with(AGAIN, "c[0] = K;")));
    assert!(refused(&with("#define L 5", "\n#ifdef L\nc[0] = 1;\n#endif")));
    assert!(!refused(&with(AGAIN, "c[0] = 1;")));
    assert!(refused(&format!("#define USE K\n{}", with(AGAIN, "c[0] = USE;"))));
    assert!(!refused(&with("#define L 5\n#undef L", "\n#undef L\n")));
}

#[test]
fn variables_of_threads_stay() {
    for storage in ["__thread", "_Thread_local"] {
        let source = |storage: &str| {
            format!(
                "static {storage} double k, b[100];
void f(int n, const double *restrict a, double *restrict c)
{{
    for (int i = 0; i < n; i++)
        c[i] = a[i] * k;
}}
void g(int n, const double *restrict a)
{{
    for (int i = 0; i < n; i++)
        b[i] = a[i];
}}
"
            )
        };
        assert!(refused(&source(storage)), "{storage}");
        assert!(!refused(&source("")));
    }
}

#[test]
fn groups_keep_what_is_declared_for_what_is_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.c");
    let is_group = |between: &str, behind: &str| {
        let source = format!(
            "#include <assert.h>
static double in[99], middle[99], out[99];
void pipeline(int n)
{{
    for (int i = 0; i < n; i++)
        middle[i] = in[i] * in[i];
    {between}
    for (int i = 1; i < n; i++)
        out[i] = middle[i] - middle[i - 1];
    {behind}
}}
"
        );
        std::fs::write(&path, source).expect("a file");
        let options = ReadOptions::default();
        let unit = oxeye_frontend::read_c(&path, &options).expect("can be read");
        let Some(group) = unit.functions[0].group_spans().next() else { return false };
        matches!(unit.group(&options, "pipeline", &[], group), Ok(Some(_)))
    };
    assert!(is_group("", ""));
    assert!(is_group("int k = 3;", ""));
    for (between, behind) in [
        ("double g(double);", "out[0] = g(1);"),
        ("extern double zz;", "out[0] = zz;"),
        ("int k = 3;", "out[0] = k;"),
        ("int k = 3;", "typeof(k) z = 4; out[0] = z;"),
        ("int k = 3;", "\n#undef assert\n#define assert(x)\n assert(k == 3);"),
        ("\n#define K 3\n", "out[0] = K;"),
        ("\n#include <math.h>\n", "out[0] = 1;"),
    ] {
        assert!(!is_group(between, behind), "{between} … {behind}");
    }
}

#[test]
fn objects_of_different_types_are_apart_unless_the_file_says_otherwise() {
    let are_apart = |types: &str| {
        let source = format!(
            "{types}
void f(int n, float *p, whole *z)
{{
    for (int i = 0; i < n; i++) {{
        z[i] = 3;
        p[i] += p[i + 2];
    }}
}}
"
        );
        read(&source).functions[0].program.may_alias.is_empty()
    };
    assert!(are_apart("typedef int whole;"));
    assert!(!are_apart("typedef int __attribute__((may_alias)) whole;"));
    assert!(!are_apart("#pragma GCC optimize(\"no-strict-aliasing\")\ntypedef int whole;"));
}
