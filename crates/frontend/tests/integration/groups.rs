//! Groups: neighbouring loops that are one nest.

use crate::common::{SIZES, read, replays_of_groups_agree, same_output_of_groups, same_output_of_groups_by};
use oxeye_frontend::{ReadOptions, Unit, read_c};
use oxeye_ir::Storage;

/// First and last lines of the groups of a function.
fn lines(unit: &Unit, function: &str) -> Vec<(u32, u32)> {
    let function = unit.functions.iter().find(|f| f.name == function).expect("has nests");
    let end = |at: usize| 1 + unit.source[..at].matches('\n').count() as u32;
    function.group_spans().map(|span| (span.line, end(span.end))).collect()
}

#[test]
fn neighbours_are_groups_until_something_else_comes() {
    let source = "#include <stdio.h>
static int *swap_a, *swap_b;
void f(int n, double *restrict a, double *restrict b, double *restrict c, int k)
{
    for (int i = 0; i < n; i++)
        a[i] = i;
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    if (s > 1)
        s = 1;
    for (int i = 0; i < n; i++)
        b[i] = a[i] * s;
    while (k > 0)
        k /= 2;
    for (int i = 0; i < n; i++)
        c[i] = b[i];
    if (k)
        return;
    for (int i = 0; i < n; i++)
        b[i] = c[i];
    for (int t = 0; t < n; t++) {
        printf(\"%d\\n\", t);
        for (int i = 0; i < n; i++)
            a[i] += 1;
        for (int i = 0; i < n; i++)
            b[i] += a[i];
    }
}
";
    let unit = read(source);
    assert_eq!(lines(&unit, "f"), [(5, 13), (24, 27)]);
}

const PIPELINE: &str = "
static double in[64][64], out[64][64], last;
static void pipeline(int n, double weight)
{
    static double rows[64][64];
    double *columns = malloc(64 * 64 * sizeof *columns), sum = 0;
    if (!columns)
        return;
    for (int i = 0; i < n; i++)
        for (int j = 1; j < n - 1; j++)
            rows[i][j] = in[i][j - 1] + weight * in[i][j] + in[i][j + 1];
    int m = n;
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            columns[i * 64 + j] = rows[i - 1][j] + weight * rows[i][j] + rows[i + 1][j];
    for (int i = 1; i < m - 1; i++)
        for (int j = 1; j < n - 1; j++)
            sum += columns[i * 64 + j];
    if (sum > 0)
        sum = 1 / sum;
    for (int i = 1; i < n - 1; i++) {
        for (int j = 1; j < n - 1; j++)
            out[i][j] = columns[i * 64 + j] * sum;
        last = out[i][n / 2];
    }
    free(columns);
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++)
            in[i][j] = (i * 7 + j * 3) % 11;
    for (int t = 0; t < 3; t++)
        pipeline(n, 0.5 + t);
    double sum = 0;
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++)
            sum += out[i][j] * (i + 2 * j);
    printf(\"%.6f %.6f\\n\", sum, last);
    return 0;
}
";

#[test]
fn a_group_does_what_its_loops_do() {
    same_output_of_groups(PIPELINE, 1, SIZES);
    replays_of_groups_agree(PIPELINE, &["pipeline"]);
}

/// A group whose scratch comes from the caller.
const PASSED: &str = "
static double in[99], out[99];
static void pipeline(int n, double *restrict scratch)
{
    for (int i = 0; i < n; i++)
        scratch[i] = in[i] * in[i];
    for (int i = 1; i < n; i++)
        out[i] = scratch[i] - scratch[i - 1];
}
int main(int argc, char **argv)
{
    double *block = malloc(99 * sizeof(double));
    for (int t = 0; t < atoi(argv[1]); t++)
        pipeline(50 + t, block);
    printf(\"%g\\n\", out[7]);
    free(block);
    return 0;
}
";

#[test]
fn what_only_a_group_uses_is_dead_behind_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.c");
    let read = |text: &str| {
        let source = format!("#include <stdio.h>\n#include <stdlib.h>\n{text}");
        std::fs::write(&path, source).expect("a file");
        let options = ReadOptions::default();
        let unit = read_c(&path, &options).expect("can be read");
        let function = unit.functions.iter().find(|f| f.name == "pipeline").expect("has nests");
        let group = function.group_spans().next().expect("a group");
        let read = unit.group(&options, "pipeline", &[], group).expect("read").expect("a group");
        let program = read.function.program;
        let nest = program.nests[&read.nests[0]].clone();
        (program, nest)
    };
    let live = |text: &str| -> Vec<String> {
        let (program, nest) = read(text);
        nest.live_out.iter().map(|id| program.array(*id).name.clone()).collect()
    };
    let scratch = |text: &str| -> Vec<String> {
        let (program, nest) = read(text);
        let mut used: Vec<_> = nest.arrays().into_iter().map(|id| program.array(id).clone()).collect();
        used.retain(|a| a.storage == Storage::Local && !a.shape.is_empty() && !nest.live_out.contains(&a.id));
        used.into_iter().map(|a| a.name).collect()
    };
    assert_eq!(live(PIPELINE), [] as [String; 0]);
    // Others read it, or it is read before it is written.
    for (from, to, kept) in [
        ("free(columns);", "printf(\"%g\\n\", columns[70]); free(columns);", "columns"),
        ("free(columns);", "in[0][0] += rows[3][3]; free(columns);", "rows"),
        (
            "int i = 0; i < n; i++)\n        for (int j = 1; j < n - 1",
            "int i = 1; i < n; i++)\n        for (int j = 1; j < n - 1",
            "rows",
        ),
        ("columns = malloc(64 * 64 * sizeof *columns), sum", "columns = out[0], sum", "columns"),
        ("if (!columns)", "static double *known; known = columns; if (!columns)", "columns"),
        ("if (!columns)", "static double *known; known = columns = malloc(9); if (!columns)", "columns"),
        ("free(columns);", "free(columns);\n#ifdef DEBUG\n    in[0][0] = columns[70];\n#endif\n", "columns"),
    ] {
        assert!(PIPELINE.contains(from), "{from}");
        assert_eq!(live(&PIPELINE.replacen(from, to, 1)), [kept], "{to}");
    }
    assert_eq!(scratch(PASSED), ["scratch"]);
    let own = "static void free(void *p) { in[0] = *(double *)p; }\nstatic void pipeline";
    assert_eq!(scratch(&PASSED.replacen("static void pipeline", own, 1)), [] as [String; 0]);
    // Others may call it.
    assert_eq!(scratch(&PASSED.replacen("static void", "void", 1)), [] as [String; 0]);
    for (from, to) in [
        ("free(block)", "printf(\"%g\\n\", block[3]), free(block)"),
        ("malloc(99 * sizeof(double))", "in"),
        ("block);\n    printf", "block + 1);\n    printf"),
        ("for (int t", "in[3] = block[4]; for (int t"),
        ("for (int i = 0; i < n; i++)\n        scratch", "for (int i = 1; i < n; i++)\n        scratch"),
        (
            "out[i] = scratch[i] - scratch[i - 1];",
            "out[i] = scratch[i] - scratch[i - 1];\n    in[0] = scratch[0];",
        ),
        ("int main", "void (*known)(int, double *restrict) = pipeline;\nint main"),
    ] {
        assert!(PASSED.contains(from), "{from}");
        assert_eq!(scratch(&PASSED.replacen(from, to, 1)), [] as [String; 0], "{to}");
    }
}

#[test]
fn what_a_group_declares_nobody_needs_behind_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.c");
    let is_group = |between: &str, behind: &str| {
        let source = format!(
            "enum {{ K = 1 }};\nvoid f(int n, double *restrict a, double *restrict b)\n{{\n    int m = 1;\n    {{\n\
             for (int i = 0; i < n; i++)\n    a[i] = i;\n{between}\nfor (int i = 0; i < n; i++)\n    b[i] = a[i];\n{behind}\n    }}\n}}\n"
        );
        std::fs::write(&path, source).expect("a file");
        let options = ReadOptions::default();
        let unit = read_c(&path, &options).expect("can be read");
        let function = unit.functions.iter().find(|f| f.name == "f").expect("has nests");
        let group = function.group_spans().next().expect("neighbours");
        unit.group(&options, "f", &[], group).expect("can be read").is_some()
    };
    assert!(is_group("int m = n;", "b[0] = n;"));
    for (between, behind) in [
        ("int m = n;", "b[0] = m;"),
        ("int m = n;", "b[0] = sizeof(double[m]);"),
        (
            "int m = n;",
            "if (n > 9) return;\n#pragma omp parallel for num_threads(m)\nfor (int i = 0; i < n; i++) b[i] = 0;",
        ),
        ("int m = n;", "#ifdef DEBUG\nb[0] = m;\n#endif"),
        ("enum { K = 3 };", "b[0] = K;"),
        ("typedef float real; real x = 1; a[0] = x;", "real y = 0; b[0] = y;"),
        ("struct pair { int x, y; } p; a[0] = 1;", "struct pair q = {1, 2}; b[0] = q.x;"),
    ] {
        assert!(!is_group(between, behind), "{between} {behind}");
    }
}

/// A text that ends an `#if` which opens before it stands elsewhere with that line before it; which is another text if it is that of
/// an `#else`.
#[test]
fn a_group_from_an_else_on_is_none() {
    let program = |opening: &str| {
        format!(
            "#define MODE
static void f(int n, double *restrict a, double *restrict b, double *restrict c)
{{
{opening}
    for (int i = 0; i < n; i++)
        b[i] = a[i] * 2;
#endif
    for (int i = 0; i < n; i++)
        c[i] = b[i] + a[i];
}}
"
        )
    };
    let openings = [
        ("#ifdef MODE", true),
        ("#ifndef MODE\n    n /= 2;\n#else", false),
        ("#if 0\n#elif defined(MODE)", false),
        ("#ifdef MODE\n#define OTHER\n    n -= n > 3;", false),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.c");
    for (opening, is_one) in openings {
        std::fs::write(&path, program(opening)).expect("a file");
        let unit = read_c(&path, &ReadOptions::default()).expect("can be read");
        let function = unit.functions.iter().find(|f| f.name == "f").expect("has nests");
        let group = function.group_spans().next().expect("neighbours");
        let found = unit.group(&ReadOptions::default(), "f", &[], group).expect("can be read");
        assert_eq!(found.is_some(), is_one, "{opening}");
    }
}

/// Stages in functions of their own, which one function calls one behind the other.
const STAGES: &str = "
static double in[4096], out[4096];
static int n_calls;
static void across(int w, int h, const double *from, double *to)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            if (x < 1 || x >= w - 1)
                to[y * w + x] = from[y * w + x];
            else
                to[y * w + x] = 0.25 * from[y * w + x - 1] + 0.5 * from[y * w + x] + 0.25 * from[y * w + x + 1];
        }
}
static void down(int w, int h, const double *from, double *to)
{
    double half = 0.5;
    for (int y = 1; y < h - 1; y++)
        for (int x = 0; x < w; x++)
            to[y * w + x] = half * half * (from[(y - 1) * w + x] + 2 * from[y * w + x] + from[(y + 1) * w + x]);
}
static void sharpen(int n, const double *from, const double *blurred, double *to, double amount)
{
    int i;
    for (i = 0; i < n; i++)
        to[i] = (1 + amount) * from[i] - amount * blurred[i];
    n_calls++;
}
static double largest(int n, const double *from)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        if (from[i] > most)
            most = from[i];
    return most;
}
static void only_calls(int w, int h)
{
    double *rows = malloc(4096 * sizeof *rows), *both = calloc(4096, sizeof *both);
    across(w, h, in, rows);
    down(w, h, rows, both);
    sharpen(w * h, in, both, out, 0.75);
    free(rows);
    free(both);
}
static double between_loops(int w, int h)
{
    static double rows[4096];
    double s = 0, most;
    for (int i = 0; i < w * h; i++)
        rows[i] = 0.5 * in[i];
    down(w, h, rows, out);
    most = largest(w * h, out);
    for (int i = 0; i < w * h; i++)
        s += out[i] / (1 + most);
    return s;
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]) % 60;
    for (int i = 0; i < 4096; i++)
        in[i] = i * 7 % 31 * 0.25;
    double s = between_loops(n, n / 2 + 1);
    printf(\"%.17g\\n\", s);
    only_calls(n, n / 2 + 1);
    for (int i = 0; i < n * (n / 2 + 1); i++)
        printf(\"%.17g\\n\", out[i]);
    printf(\"%d %d\\n\", argc, n_calls);
    return 0;
}
";

#[test]
fn calls_of_functions_with_loops_are_members() {
    let source = format!("#include <stdlib.h>\n{STAGES}");
    let unit = read(&source);
    let line = |text: &str| 1 + source[..source.find(text).expect("is there")].matches('\n').count() as u32;
    assert_eq!(lines(&unit, "only_calls"), [(line("    across(w, h, in"), line("    sharpen(w * h"))]);
    same_output_of_groups(STAGES, 6, SIZES);
}

#[test]
fn replays_of_groups_with_calls_agree() {
    replays_of_groups_agree(STAGES, &["only_calls", "between_loops"]);
}

/// A structure of which the group sets what its stages read.
const SET_BETWEEN: &str = "
struct grid { int n, from; };
static double x[99], y[99];
static void scale(const struct grid *g, double by)
{
    for (int i = g->from; i < g->n; i++)
        x[i] *= by;
}
static void pipeline(int n)
{
    struct grid g;
    for (int i = 0; i < n; i++)
        x[i] = i;
    g.n = n;
    g.from = n / 2;
    scale(&g, 0.5);
    for (int i = 0; i < n; i++)
        y[i] = x[i];
    y[0] += g.from + g.n;
}
int main(int argc, char **argv)
{
    pipeline(atoi(argv[1]));
    printf(\"%g %g\\n\", y[0], y[atoi(argv[1]) / 2]);
    return 0;
}
";

/// To read a member that has no value yet, be it only to see whether the nest has changed it, is undefined.
#[test]
fn members_that_a_group_sets_have_no_value_before() {
    same_output_of_groups(SET_BETWEEN, 2, SIZES);
    let warned = &["-O2", "-Wuninitialized", "-Wmaybe-uninitialized", "-Werror"];
    same_output_of_groups_by(SET_BETWEEN, 2, SIZES, ("gcc", warned));
}
