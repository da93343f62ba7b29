//! Loops under directives of OpenMP, and the private variables of a team of threads.

use crate::common::{read_with, show, shown};
use insta::assert_snapshot;
use oxeye_codegen::{guarded, tuned_file};
use oxeye_frontend::ReadOptions;
use oxeye_ir::Program;

#[test]
fn loops_under_directives_are_read_as_they_stand() {
    assert_snapshot!(shown(
        "#ifdef WITH_THREADS
#define FOR_ALL _Pragma(\"omp parallel for\") for
#else
#define FOR_ALL for
#endif
void f(int n, int m, double a[n][m], double *x)
{
    int i, j, k;
    double t;
#pragma omp parallel for collapse(2) private(j, t) schedule(static, 4) num_threads(m)
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++) {
            t = a[i][j];
            a[i][j] = t * t;
        }
#ifdef _OPENMP
#pragma omp parallel for
#else
#pragma GCC ivdep
#endif
    for (i = 0; i < n; i++)
#pragma omp simd aligned(a : 32) safelen(8)
        for (j = 0; j < m; j++)
            a[i][j] += 1;
    for (k = 0; k < 9; k++) {
#pragma omp parallel private(t)
        {
#pragma omp for nowait
            for (i = 0; i < n; i++)
                x[i] += 1;
#pragma omp for reduction(+ : t)
            for (i = 0; i < n; i++) {
                t = x[i];
                x[i] = t * t;
            }
        }
    }
    _Pragma(\"GCC unroll 4\") for (i = 0; i < n; i++) x[i] = 0;
#pragma omp barrier
    for (i = 0; i < n; i++)
        x[i] = 1;
    FOR_ALL (i = 0; i < n; i++) x[i] = 2;
}
"
    ));
}

#[test]
fn spans_take_in_the_pragmas_above() {
    let source = "void g(void);
void f(int n, double *x)
{
#pragma omp barrier
    /* all */
#pragma omp parallel for \\
    schedule(static)
    for (int i = 0; i < n; i++)
        x[i] = 0;
#ifdef A
#pragma omp parallel for
#endif
    // each
#pragma GCC ivdep
    for (int i = 0; i < n; i++)
        x[i] = 1;
    g(); _Pragma(\"omp parallel for\") for (int i = 0; i < n; i++) x[i] = 2;
    if (n > 3)
#pragma omp simd
        for (int i = 0; i < n; i++)
            x[i] = 3;
}
";
    let unit = crate::common::read(source);
    let nests = &unit.functions[0].program.nests;
    let texts: Vec<_> = nests.values().map(|n| n.span.expect("a place")).collect();
    let starts: Vec<_> = texts.iter().map(|s| source[s.start..s.end].lines().next().unwrap_or("")).collect();
    assert_eq!(
        starts,
        [
            "#pragma omp parallel for \\",
            "#ifdef A",
            "_Pragma(\"omp parallel for\") for (int i = 0; i < n; i++) x[i] = 2;",
            "#pragma omp simd"
        ]
    );
    assert_eq!(texts.iter().map(|s| s.line).collect::<Vec<_>>(), [8, 15, 17, 20]);
}

/// An `#if` may open before other code than the pragmas that it ends with. A nest that takes its place ends it first, and the
/// original in other builds opens it again.
#[test]
fn pragmas_behind_other_code_in_a_part_of_some_builds() {
    let source = "#define OPEN
void g(int n);
void f(int n, double *x)
{
#ifdef OPEN
    g(4);
    #pragma omp parallel for
#endif
    for (int i = 0; i < n; i++)
        x[i] = 0;
#ifdef OPEN
    g(5);
#else
    g(6);
    #pragma omp parallel for
#endif
    for (int i = 0; i < n; i++)
        x[i] = 1;
#ifdef OPEN
    g(7);
    #pragma omp parallel for
#else
    g(8);
#endif
    for (int i = 0; i < n; i++)
        x[i] = 2;
#ifdef OPEN
    g(9);
#undef OPEN
    #pragma omp parallel for
#endif
    for (int i = 0; i < n; i++)
        x[i] = 3;
#ifndef OPEN
    g(10); /*
#endif
*/
    #pragma omp parallel for
#endif
    for (int i = 0; i < n; i++)
        x[i] = 4;
}
";
    let unit = read_with(source, &ReadOptions { args: vec!["-fopenmp".into()], ..ReadOptions::default() });
    let function = &unit.functions[0];
    let spans: Vec<_> = function.program.nests.values().map(|n| n.span.expect("a place")).collect();
    let starts: Vec<_> = spans.iter().map(|s| source[s.start..].lines().next().unwrap_or("")).collect();
    let pragma = "#pragma omp parallel for";
    assert_eq!(starts, [pragma, "for (int i = 0; i < n; i++)", pragma]);
    assert_eq!(spans.iter().map(|s| s.line).collect::<Vec<_>>(), [9, 17, 40]);
    let refused: Vec<_> = unit.diagnostics.iter().map(|d| (d.nest_line, d.message.as_str())).collect();
    let why = "the pragmas above the loop are not written out in the file";
    assert_eq!(refused, [(Some(25), why), (Some(32), why)]);
    let conditions: Vec<_> = function
        .program
        .nests
        .keys()
        .map(|id| function.conditions.get(id).cloned().unwrap_or_default())
        .collect();
    assert_eq!(conditions[0].preprocessor, ["defined(OPEN)"]);
    let replacements: Vec<_> = spans
        .iter()
        .zip(&conditions)
        .map(|(span, when)| (*span, guarded(source, *span, "{ }", &when.preprocessor, &when.constant)))
        .collect();
    let tuned = tuned_file(source, &replacements, &[]);
    let expected = "#ifdef OPEN
    g(4);
    #endif
#if defined(OPEN)
    { }
    #else
    
#ifdef OPEN
#pragma omp parallel for
#endif
    for (int i = 0; i < n; i++)
        x[i] = 0;
    #endif
";
    assert!(tuned.contains(expected), "{tuned}");
}

/// What a pointer in a structure leads to that all threads share is theirs together.
#[test]
fn stores_through_members_of_shared_structures() {
    let source = "typedef struct { int n, last; float *out; float *row[4]; float sums[4]; } input;
static void sweep(input *in, float *a)
{
#pragma omp parallel
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < in->n; i++)
            in->out[i] = a[i] * 2;
#pragma omp for
        for (int i = 0; i < in->n; i++)
            in->last = i;
    }
}
static void each(input *in, float *a)
{
#pragma omp for
    for (int i = 0; i < 4; i++)
        in->out[i] = a[i];
}
static void own(input *in, float *a)
{
#pragma omp for
    for (int i = 0; i < 4; i++)
        in->sums[i] = a[i];
}
void run(int n, float *a, float *out)
{
    input all = { n, 0, out };
    sweep(&all, a);
#pragma omp parallel
    {
        float mine[4];
        input of_thread = { n, 0, mine };
        each(&of_thread, a);
        own(&of_thread, a);
    }
}
";
    let options = ReadOptions { args: vec!["-fopenmp".into()], ..ReadOptions::default() };
    let unit = read_with(source, &options);
    let counts: Vec<_> = unit
        .functions
        .iter()
        .map(|f| (f.name.as_str(), f.program.nests.len(), f.binding.teams.len()))
        .collect();
    let words: Vec<_> = unit.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(counts, [("sweep", 1, 1)], "{words:?} {}", show(&unit));
}

#[test]
fn teams_of_threads_share_loops() {
    let source = "static double s;
static void shared(int n, double *x)
{
#pragma omp for
    for (int i = 0; i < n; i++)
        x[i] += s;
}
void region(int n, double *x, double *y)
{
    double mine = 0;
    int i, k;
#pragma omp parallel private(i, k)
    {
        double own = 0;
#pragma omp for nowait
        for (i = 0; i < n; i++)
            x[i] *= 2;
        for (k = 0; k < 5; k++) {
#pragma omp for
            for (i = 0; i < n; i++)
                y[i] += x[i];
        }
        for (i = 0; i < n; i++)
            own += x[i];
#pragma omp for
        for (i = 0; i < n; i++)
            own += y[i];
#pragma omp critical
        mine += own;
#pragma omp single
        for (i = 0; i < n; i++)
            x[i] = mine;
    }
}
";
    let threaded = ReadOptions { args: vec!["-fopenmp".into()], ..ReadOptions::default() };
    for (options, n_in_team, n_nests) in [(threaded, 3, 4), (ReadOptions::default(), 0, 5)] {
        let unit = read_with(source, &options);
        let found: usize = unit.functions.iter().map(|f| f.binding.teams.len()).sum();
        let nests: usize = unit.functions.iter().map(|f| f.program.nests.len()).sum();
        assert_eq!((found, nests), (n_in_team, n_nests), "{}", show(&unit));
    }
    let orphan = "double x[9];
double w[9];
#pragma omp threadprivate(w)
static void step(void)
{
#pragma omp for
    for (int i = 0; i < 9; i++)
        x[i] += 1;
}
void steps(void)
{
    for (int t = 0; t < 3; t++) {
#pragma omp for
        for (int i = 0; i < 9; i++)
            x[i] *= 2;
    }
    for (int t = 0; t < 3; t++)
        step();
    for (int i = 0; i < 9; i++)
        w[i] = 0;
}
";
    let options = ReadOptions { args: vec!["-fopenmp".into()], ..ReadOptions::default() };
    let unit = read_with(orphan, &options);
    let counts = |p: &Program| {
        let n_teams = p.nests.keys().filter(|id| p.has_team(**id)).count();
        (p.nests.len(), n_teams, p.threads.len() - n_teams)
    };
    let found: Vec<_> = unit.functions.iter().map(|f| counts(&f.program)).collect();
    assert_eq!(found, [(1, 1, 0), (2, 1, 1)], "{}", show(&unit));
    let words: Vec<_> =
        read_with(source, &ReadOptions { args: vec!["-fopenmp".into()], ..ReadOptions::default() })
            .diagnostics
            .into_iter()
            .map(|d| d.message)
            .collect();
    assert_eq!(
        words,
        [
            "each thread has its own `own`, which is used after the loop",
            "`#pragma omp single` stands before the loop",
        ]
    );
}

/// Thread-private variables must have the same value in all threads, or be set in every iteration.
#[test]
fn what_threads_have_of_their_own() {
    let source = "#include <omp.h>
static int size, turn;
void step(int n, double *x)
{
#pragma omp for
    for (int i = 0; i < n; i++)
        x[i] += 1;
}
static void one(int n, double *x, double w, double *out)
{
    double last = 0, t;
    int i, k;
    double even[8] = { 0, 1 }, own[8];
#pragma omp for
    for (i = 0; i < n; i++)
        x[i] *= w;
#pragma omp for private(t)
    for (i = 0; i < n; i++) {
        t = x[i];
        if (i > 3)
            last = t;
        out[i] = last;
    }
    for (k = 0; k < n; k++) {
        double c = k * 0.5;
#pragma omp for
        for (i = 0; i < n; i++)
            out[i] += x[i] * c + even[k];
        if (x[k] > 0)
            continue;
#pragma omp for
        for (i = 0; i < n; i++) {
            own[0] = out[i];
            x[i] = own[0];
        }
    }
}
static void other(int n, double *x, double *out)
{
    int i, me = omp_get_thread_num(), mine = size, team = omp_get_num_threads(), chosen;
#pragma omp single copyprivate(me)
    chosen = 3;
#pragma omp critical
    mine = turn++;
#pragma omp for
    for (i = 0; i < n; i++)
        x[i] += team;
#pragma omp for
    for (i = 0; i < n; i++)
        x[i] += me;
#pragma omp for
    for (i = 0; i < n; i++)
        x[i] += mine;
#pragma omp for
    for (i = 0; i < n; i++)
        x[i] += chosen;
#pragma omp for
    for (i = 0; i < n; i++)
        out[i] = n;
}
void run(int n, double *x, double **parts)
{
#pragma omp parallel
    {
        int half = n / 2;
        one(half, x, 0.5, x + n);
        other(size, x, parts[omp_get_thread_num()]);
    }
}
";
    let options = ReadOptions { args: vec!["-fopenmp".into()], ..ReadOptions::default() };
    let unit = read_with(source, &options);
    let nests: Vec<_> = unit
        .functions
        .iter()
        .map(|f| (f.name.as_str(), f.program.nests.len(), f.binding.teams.len()))
        .collect();
    assert_eq!(nests, [("one", 2, 2), ("other", 1, 1)], "{}", show(&unit));
    let words: Vec<_> = unit.diagnostics.into_iter().map(|d| d.message).collect();
    let differ =
        |name: &str| format!("the threads that share the loop may have different values of `{name}`");
    let expected = [
        differ("n"),
        "each thread has its own `last`, which an iteration may read before it sets it".into(),
        "an existing team of threads shares the loops inside".into(),
        differ("own"),
        differ("me"),
        differ("mine"),
        differ("chosen"),
        differ("out"),
    ];
    assert_eq!(words, expected);
}

/// Loops around loops that a team divides are nests if nothing else happens in them.
#[test]
fn what_a_team_runs_together() {
    let source = "static double x[99], y[99], z[99][99];
static long n_rounds;
static void columns(int n)
{
    int i, j, half;
    for (j = 0; j < n; j++) {
        half = j / 2;
#pragma omp for nowait
        for (i = 0; i < n; i++)
            x[i] = z[i][j] + z[i][half];
#pragma omp barrier
#pragma omp for
        for (i = 0; i < n; i++)
            z[i][j] += x[n - 1 - i];
    }
}
void region(int n)
{
    int i, k;
#pragma omp parallel private(i, k)
    for (k = 0; k < n; k++) {
#pragma omp for
        for (i = k; i < n; i++)
            x[i] += y[k];
    }
}
static void others(int n)
{
    int i, k;
    double last;
    for (k = 0; k < n; k++) {
        n_rounds++;
#pragma omp for
        for (i = 0; i < n; i++)
            x[i] += 1;
    }
    for (k = 0; k < n; k++) {
#pragma omp for
        for (i = 0; i < n; i++) {
            last = x[i];
            y[i] = last;
        }
        if (last > 3)
#pragma omp for
            for (i = 0; i < n; i++)
                x[i] += 1;
    }
    for (k = 0; k < n; k++) {
#pragma omp single
        x[0] = k;
#pragma omp for
        for (i = 0; i < n; i++)
            y[i] += x[0];
    }
}
void run(int n)
{
#pragma omp parallel
    {
        columns(n);
        others(n);
    }
    region(n);
}
";
    let options = ReadOptions { args: vec!["-fopenmp".into()], ..ReadOptions::default() };
    let unit = read_with(source, &options);
    let counts = |p: &Program| {
        let n_teams = p.nests.keys().filter(|id| p.has_team(**id)).count();
        (p.nests.len(), n_teams, p.threads.len() - n_teams)
    };
    let found: Vec<_> = unit.functions.iter().map(|f| counts(&f.program)).collect();
    assert_eq!(found, [(1, 1, 0), (1, 0, 0), (3, 3, 0)], "{}", show(&unit));
    let depths = |k: usize| unit.functions[k].program.nests.values().map(|n| n.loops().len()).max();
    assert_eq!((depths(0), depths(1), depths(2)), (Some(3), Some(2), Some(1)), "{}", show(&unit));
}

/// Barriers in place of a loop that had none could make threads wait for each other for ever.
#[test]
fn threads_that_wait_for_each_other_by_themselves() {
    let source = "static int ready[8];
static void wait_for(int k)
{
    while (!ready[k]) {
#pragma omp flush
    }
}
void pipeline(int n, double *x, int me)
{
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            x[i] += 1;
        wait_for(me);
    }
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            x[i] += 1;
    }
}
";
    let options = ReadOptions { args: vec!["-fopenmp".into()], ..ReadOptions::default() };
    let unit = read_with(source, &options);
    assert_eq!(unit.functions.iter().map(|f| f.binding.teams.len()).sum::<usize>(), 1, "{}", show(&unit));
    let words: Vec<_> = unit.diagnostics.into_iter().map(|d| d.message).collect();
    assert!(
        words.contains(
            &"the threads that share the loop may wait for each other by `#pragma omp flush`".to_owned()
        ),
        "{words:?}"
    );
}

/// The loops of a `collapse` stay loops where the outermost of them stays.
#[test]
fn loops_that_a_directive_collapses_stay_together() {
    let unit = crate::common::read(
        "int g(void);
void f(int n, int m, double *restrict x)
{
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            g();
            for (int k = 0; k < m; k++)
                x[(i * m + j) * m + k] = 1;
        }
    }
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n + g(); i++)
        for (int j = 0; j < m; j++)
            x[i * m + j] = 1;
#pragma omp parallel for
    for (int i = 0; i < n + g(); i++)
        for (int j = 0; j < m; j++)
            x[i * m + j] = 1;
}
",
    );
    let lines: Vec<u32> =
        unit.functions[0].program.nests.values().map(|n| n.span.expect("a place").line).collect();
    assert_eq!(lines, [8, 18]);
}

#[test]
fn clauses_leave_the_order_of_sums_open() {
    let source = "double total(int n, const double *x, double *least, float *parts)
{
    double sum = 0, other = 0, last = 0, m = x[0];
    int k;
#pragma omp parallel for reduction(+ : sum, last) reduction(min : m)
    for (int i = 0; i < n; i++) {
        sum += x[i];
        other += x[i];
        last = x[i];
        if (x[i] < m)
            m = x[i];
    }
    *least = m;
    for (int t = 0; t < 9; t++) {
#pragma omp parallel for reduction(+ : sum)
        for (k = 0; k < n; k++)
            sum += x[k] * t;
    }
    return sum + other + last;
}
";
    let open = |args: &[&str], keeps_order| {
        let args = args.iter().map(|a| (*a).to_owned()).collect();
        let unit = read_with(source, &ReadOptions { args, keeps_order, ..ReadOptions::default() });
        let program = &unit.functions[0].program;
        let names = |nest: &oxeye_ir::Nest| -> Vec<String> {
            nest.unordered.iter().map(|id| program.array(*id).name.clone()).collect()
        };
        program.nests.values().map(names).collect::<Vec<_>>()
    };
    // The second clause speaks of the sum over `k` only, and the nest is all of both loops.
    let of_first: [&[&str]; 2] = [&["sum"], &[]];
    assert_eq!(open(&["-fopenmp"], false), of_first);
    assert!(open(&["-fopenmp"], true).iter().all(Vec::is_empty));
    assert!(open(&[], false).iter().all(Vec::is_empty));
}

/// Loops that every thread runs for itself, in which it uses memory of its own, or inside vector lanes: nests that are not
/// divided among threads.
#[test]
fn nests_of_one_thread() {
    let source = "double own[64];
#pragma omp threadprivate(own)
volatile int seen;
void f(int n, double *restrict x, const double *restrict y)
{
#pragma omp parallel
    for (int i = 0; i < n; i++)
        x[i] = y[i];
#pragma omp parallel for
    for (int k = 0; k < n; k++) {
        seen = k;
        for (int i = 0; i < 64; i++)
            own[i] = y[k * 64 + i];
    }
#pragma omp simd
    for (int k = 0; k < n; k++) {
        seen = k;
        for (int i = 0; i < 64; i++)
            x[k * 64 + i] = y[k * 64 + i];
    }
#pragma omp parallel for
    for (int k = 0; k < n; k++) {
        seen = k;
        for (int i = 0; i < 64; i++)
            x[k * 64 + i] = y[k * 64 + i];
    }
#pragma omp for
    for (int i = 0; i < 64; i++)
        own[i] = 0;
}
";
    let options = ReadOptions { args: vec!["-fopenmp".into()], ..ReadOptions::default() };
    let unit = read_with(source, &options);
    let reasons: Vec<_> = {
        let program = &unit.functions[0].program;
        program.threads.keys().filter_map(|id| program.one_thread(*id)).collect()
    };
    let expected = [
        "every thread of the `omp parallel` around it runs this loop",
        "each thread has its own `own` (`threadprivate`)",
        "a loop around it runs in vector lanes",
    ];
    assert_eq!(reasons, expected, "{}", show(&unit));
    assert_eq!(unit.functions[0].program.nests.len(), 4, "{}", show(&unit));
    let differ = "the threads that share the loop may have different values of `own`";
    assert!(unit.diagnostics.iter().any(|d| d.message == differ), "{:?}", unit.diagnostics);
}

/// Directives of OpenACC that the compiler does not act on are no reason to leave a loop alone; a build that acts on them gets
/// the original.
#[test]
fn directives_of_openacc() {
    let source = "void f(int n, double *restrict x, const double *restrict y)
{
#pragma acc kernels loop
    for (int i = 0; i < n; i++) {
#pragma acc loop independent
        for (int j = 0; j < 4; j++)
            x[i] += y[4 * i + j];
    }
}
";
    let unit = read_with(source, &ReadOptions::default());
    let nest = unit.functions[0].program.nests.values().next().expect("a nest");
    assert!(unit.diagnostics.is_empty(), "{:?}", unit.diagnostics);
    let conditions = unit.functions[0].conditions.get(&nest.id).expect("conditions");
    assert_eq!(conditions.preprocessor, ["!defined(_OPENACC)"]);
    let text = &unit.source[nest.span.expect("a place").start..];
    assert!(text.starts_with("#pragma acc kernels loop"), "{text}");
    let options = ReadOptions { args: vec!["-fopenacc".into()], ..ReadOptions::default() };
    let unit = read_with(source, &options);
    assert_eq!(unit.functions.iter().map(|f| f.program.nests.len()).sum::<usize>(), 0, "{}", show(&unit));
}

/// Which nests create teams of threads, by function, and the variables in their clauses.
fn clauses(flags: &[&str]) -> Vec<(String, bool, String)> {
    let program = "
        static double compute(double x) { return 2.0 * x; }
        static void inside(int n, double *x)
        {
            #pragma omp parallel for
            for (int i = 0; i < n; i++)
                x[i] += 1.0;
        }
        void plain(int n, double *x) /* omp, compared */
        {
            for (int i = 0; i < n; i++)
                x[i] = compute(x[i]); // no omp parallel
        }
        void lanes(int n, double *x)
        {
            #pragma omp simd
            for (int i = 0; i < n; i++)
                x[i] = compute(x[i]);
        }
        void shared(int n, int chunk, double *x)
        {
            double t;
            #pragma omp parallel for private(t) schedule(dynamic, chunk)
            for (int i = 0; i < n; i++) {
                t = x[i];
                x[i] = compute(t);
            }
        }
        void calls(int n, int steps, double *x)
        {
            for (int s = 0; s < steps; s++)
                inside(n, x);
        }
    ";
    let args = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let unit = read_with(program, &ReadOptions { args, ..ReadOptions::default() });
    let of = |f: &oxeye_frontend::Function| {
        let id = f.program.nests.keys().next().expect("a nest");
        let clauses = f.own_texts.get(id).map(|own_text| own_text.clauses.clone()).unwrap_or_default();
        let names = [clauses.variables, clauses.counts].concat().join(" ");
        (f.name.clone(), clauses.creates_team, names)
    };
    unit.functions.iter().map(of).collect()
}

#[test]
fn what_directives_say_is_not_searched_in_text() {
    let found = |flags: &[&str]| -> Vec<String> {
        let all =
            clauses(flags).into_iter().filter(|(_, creates_team, names)| *creates_team || !names.is_empty());
        all.map(|(name, creates_team, names)| format!("{name} {creates_team} {names}")).collect()
    };
    assert_eq!(found(&["-fopenmp"]), ["inside true ", "shared true t chunk", "calls true "]);
    // Without OpenMP, the compiler acts on none of them.
    assert_eq!(found(&[]), [""; 0]);
}
