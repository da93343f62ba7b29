//! Capturing the arguments of nests from real programs.

use std::path::PathBuf;

use oxeye_measure::{
    CAPTURE_RUNTIME_C, CaptureRun, CompileJob, Compiler, ElementType, Exit, Invocation, Limits, Outputs,
    SizeSource, WorkDir, capture, capture_parts,
};

fn build(work: &WorkDir, compiler: &Compiler, body: &str) -> PathBuf {
    let source = work.write("program.c", format!("{CAPTURE_RUNTIME_C}\n{body}")).expect("written");
    compiler.compile(&CompileJob::executable(source, work.join("program"))).expect("compiles")
}

fn run(work: &WorkDir, program: PathBuf, limits: &Limits) -> CaptureRun {
    let dir = work.subdir("captured").expect("made");
    capture(&Invocation::new(program), limits, &dir, None).expect("captured")
}

const TWO_SITES: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>
#include <malloc.h>

static double A[100], B[50];

static void scale(int n, double *x)
{
    oxeye_capture_enter(0);
    oxeye_capture_arg(0, 0, &n, sizeof n);
    oxeye_capture_arg(0, 1, x, n * (long long)sizeof *x);
    for (int i = 0; i < n; i++)
        x[i] = 2 * x[i];
    oxeye_capture_leave(0);
}

int main(void)
{
    for (int i = 0; i < 100; i++)
        A[i] = i;
    for (int t = 0; t < 3; t++)
        scale(10, A);
    scale(100, A);
    scale(100, A);
    scale(50, A);
    float *heap = malloc(1000 * sizeof *heap);
    for (int i = 0; i < 1000; i++)
        heap[i] = 1;
    oxeye_capture_enter(1);
    oxeye_capture_arg(1, 0, heap, -1);
    oxeye_capture_arg(1, 1, A, sizeof A);
    oxeye_capture_arg(1, 2, A + 10, 20 * sizeof *A);
    oxeye_capture_arg(1, 3, B, sizeof B);
    for (int i = 0; i < 50; i++)
        B[i] = heap[i];
    oxeye_capture_leave(1);
    printf("%g\n", A[99]);
    exit(0);
}
"#;

/// A source of a program that is observed in parts: a function that scales an array, and calls of other sources before that.
fn part(name: &str, first: &str) -> String {
    format!(
        r#"{CAPTURE_RUNTIME_C}
void helper(int n, double *x);
void {name}(int n, double *x)
{{
    oxeye_capture_enter(0);
    oxeye_capture_arg(0, 0, &n, sizeof n);
    oxeye_capture_arg(0, 1, x, n * (long long)sizeof *x);
    {first}
    for (int i = 0; i < n; i++)
        x[i] = 2 * x[i];
    oxeye_capture_leave(0);
}}
"#
    )
}

#[test]
fn sources_of_one_program_have_samples_of_their_own() {
    let work = WorkDir::new().expect("work folder");
    let gcc = Compiler::new("gcc", ["-O2", "-fvisibility=hidden"]);
    let sources = [
        ("outer", part("outer", "helper(n / 2, x);")),
        ("helper", part("helper", "")),
        (
            "main",
            "void outer(int, double *); double a[64]; int main(void) { a[3] = 1; outer(64, a); return a[3] != 4; }".into(),
        ),
    ];
    let objects = sources.map(|(name, text)| {
        let source = work.write(format!("{name}.c"), text).expect("written");
        let define = format!("-DOXEYE_CAPTURE_PART=\"/{name}\"");
        let job = CompileJob::object(source, work.join(format!("{name}.o"))).args([define]);
        gcc.compile(&job).expect("compiles")
    });
    let job = CompileJob { sources: objects.to_vec(), ..CompileJob::executable("", work.join("program")) };
    let program = gcc.compile(&job).expect("links");
    let dir = work.subdir("captured").expect("made");
    let names = ["outer".to_owned(), "helper".to_owned()];
    let runs =
        capture_parts(&Invocation::new(program), &Limits::default(), &dir, &names, None).expect("captured");
    assert_eq!(runs.len(), 2);
    for (run, bytes) in runs.iter().zip([64 * 8, 32 * 8]) {
        assert!(run.complete && run.outcome.exit.success(), "{run:?}");
        let [capture] = &run.captures[..] else { panic!("{run:?}") };
        assert_eq!((capture.site, capture.invocations), (0, 1));
        let [sample] = &capture.samples[..] else { panic!("{capture:?}") };
        assert_eq!(sample.args[1].bytes, bytes);
    }
}

#[test]
fn two_sites_several_invocations() {
    let compilers = [
        Compiler::new("gcc", ["-O2", "-std=c99", "-Wall", "-Wextra", "-pedantic-errors", "-Werror"]),
        Compiler::new("gcc", ["-O3", "-march=native", "-fopenmp"]),
        Compiler::new("clang-19", ["-O1", "-std=gnu11", "-Wall", "-Werror"]),
    ];
    for compiler in compilers.into_iter().take(2 + usize::from(crate::has_clang())) {
        let work = WorkDir::new().expect("work folder");
        let program = build(&work, &compiler, TWO_SITES);
        let run = run(&work, program, &Limits::default());
        assert_eq!(run.outcome.exit, Exit::Exited(0));
        assert_eq!(run.outcome.stdout, b"396\n");
        assert!(run.complete);
        assert_eq!(run.captures.len(), 2);

        let scale = &run.captures[0];
        assert_eq!((scale.site, scale.invocations, scale.skipped), (0, 6, 0));
        assert!(scale.seconds > 0.0);
        // The first, and the first of the largest. The invocation with 50 is not looked at: 5 is no power of two.
        let kept: Vec<u64> = scale.samples.iter().map(|sample| sample.invocation).collect();
        assert_eq!(kept, [0, 3]);
        let large = &scale.samples[1];
        assert_eq!(large.read_integer(0, ElementType::I32).expect("n"), 100);
        let x = large.read_arg(1).expect("x");
        assert_eq!(x.len(), 800);
        assert_eq!(ElementType::F64.read_f64(&x[8 * 9..]), Some(72.0));
        assert_eq!(ElementType::F64.read_f64(&x[8 * 99..]), Some(99.0));
        assert!(large.nanoseconds.is_some());

        let second = &run.captures[1];
        assert_eq!((second.invocations, second.samples.len()), (1, 1));
        let sample = &second.samples[0];
        assert_eq!(sample.args[0].size_source, SizeSource::Allocator);
        assert!((4000..4064).contains(&sample.args[0].bytes), "{:?}", sample.args[0]);
        assert_eq!(sample.overlaps, [(1, 2)]);
        assert!(sample.missing().is_empty());
    }
}

#[test]
fn scalars_that_change_and_growing_arrays() {
    let body = r#"
static double a[1 << 16];
int main(void)
{
    for (int t = 0; t < 1000; t++) {
        oxeye_capture_enter(7);
        oxeye_capture_arg(7, 0, a, sizeof a);
        { long long copy = t; oxeye_capture_arg(7, 1, &copy, sizeof copy); }
        for (int i = 0; i < 100; i++)
            a[i] += t;
        oxeye_capture_leave(7);
    }
    for (int n = 1; n <= 1000; n++) {
        oxeye_capture_enter(8);
        oxeye_capture_arg(8, 0, a, n * 8LL);
        a[n] = n;
        oxeye_capture_leave(8);
    }
    for (long t = 0; t < 2000000; t++) {
        oxeye_capture_enter(9);
        oxeye_capture_arg(9, 0, &t, sizeof t);
        oxeye_capture_arg(9, 1, a, 8);
        a[0] += 1;
        oxeye_capture_leave(9);
    }
    return 0;
}
"#;
    let work = WorkDir::new().expect("work folder");
    let program = build(&work, &Compiler::new("gcc", ["-O2"]), body);
    let run = run(&work, program, &Limits::default());
    let [time_loop, growing, often] = &run.captures[..] else { panic!("{:?}", run.captures) };
    let steps: Vec<i64> =
        time_loop.samples.iter().map(|s| s.read_integer(1, ElementType::I64).expect("t")).collect();
    assert_eq!(steps, [0, 256, 512]);
    assert_eq!(time_loop.invocations, 1000);
    let sizes: Vec<u64> = growing.samples.iter().map(|s| s.args[0].bytes).collect();
    assert_eq!(sizes[0], 8);
    assert!(sizes.len() <= 4 && *sizes.iter().max().expect("some") > 6400, "{sizes:?}");
    assert_eq!(often.invocations, 2_000_000);
    assert!(often.samples.iter().any(|s| s.invocation == 1 << 20));
    assert!(run.overhead_seconds > 0.0);
    let files = std::fs::read_dir(work.join("captured")).expect("listed").count();
    assert_eq!(files, 1 + run.captures.iter().map(|c| c.samples.len()).sum::<usize>());
}

#[test]
fn what_a_long_invocation_leaves_is_kept() {
    let body = r#"
#include <unistd.h>
static double a[1000], b[1000];
static double sum;
static void nest(int seconds_10)
{
    oxeye_capture_enter(0);
    oxeye_capture_arg(0, 0, a, sizeof a);
    oxeye_capture_arg(0, 1, b, sizeof b);
    oxeye_capture_arg(0, 2, &(double){sum}, sizeof sum);
    for (int i = 0; i < 1000; i++) {
        a[i] += b[i];
        sum += a[i];
    }
    usleep(100000 * seconds_10);
    oxeye_capture_result(0, 2, &(double){sum}, sizeof sum);
    oxeye_capture_leave(0);
}
int main(void)
{
    for (int i = 0; i < 1000; i++)
        b[i] = i;
    sum = 1;
    nest(0);
    nest(5);
    nest(5);
    return 0;
}
"#;
    let work = WorkDir::new().expect("work folder");
    let program = build(&work, &Compiler::new("gcc", ["-O2"]), body);
    let invocation = |limit: &str| Invocation::new(&program).env("OXEYE_CAPTURE_LIMIT", limit);
    let dir = work.subdir("captured").expect("made");
    let run = capture(&invocation("1000000"), &Limits::default(), &dir, None).expect("captured");
    let [first, second, third] = &run.captures[0].samples[..] else { panic!("{:?}", run.captures) };
    assert!(Outputs::captured(first).expect("read").is_none());
    // The second begins with 1 + 999 * 500, adds twice the row, and so on.
    let (s, rows) = (1.0 + 499_500.0, 999_000.0);
    for (sample, before, after) in [(second, s, s + rows), (third, s + rows, s + rows + 1.5 * rows)] {
        let left = Outputs::captured(sample).expect("read").expect("kept");
        assert!([true, false, true] == [0, 1, 2].map(|k| left.changed(k)));
        assert!(left.first_call_ns >= 400_000_000);
        assert_eq!(sample.read_f64(2, ElementType::F64).expect("sum"), before);
        assert_eq!(ElementType::F64.read_f64(&left.read_arg(2).expect("sum")), Some(after));
        let (a, b) = (left.read_arg(0).expect("a"), left.read_arg(1).expect("b"));
        let times = if before == s { 2.0 } else { 3.0 };
        assert_eq!(ElementType::F64.read_f64(&a[8 * 7..]), Some(7.0 * times));
        assert_eq!(ElementType::F64.read_f64(&b[8 * 7..]), Some(7.0));
    }
    // Without room for results there are samples only.
    let dir = work.subdir("little").expect("made");
    let run = capture(&invocation("40000"), &Limits::default(), &dir, None).expect("captured");
    assert!(run.captures[0].samples.iter().all(|sample| sample.results.is_none()));
    assert!(!run.captures[0].samples.is_empty());
}

#[test]
fn sizes_nobody_knows_and_memory_that_is_not_there() {
    let body = r#"
#include <stdlib.h>
#include <sys/mman.h>
int main(void)
{
    char local[64] = {0};
    static char fixed[64];
    char *heap = malloc(100), *large = malloc(1 << 22), *interior = large + 160;
    char *pages = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *own = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(pages + 4096, 4096);
    oxeye_capture_enter(0);
    oxeye_capture_arg(0, 0, local, -1);
    oxeye_capture_arg(0, 1, fixed, -1);
    oxeye_capture_arg(0, 2, heap, -1);
    oxeye_capture_arg(0, 3, large, -1);
    oxeye_capture_arg(0, 4, interior, -1);
    oxeye_capture_arg(0, 5, pages, 8192);
    oxeye_capture_arg(0, 6, 0, -1);
    oxeye_capture_arg(0, 7, own, -1);
    oxeye_capture_arg(0, 8, pages + 4104, -1);
    oxeye_capture_leave(0);
    return heap == large;
}
"#;
    let work = WorkDir::new().expect("work folder");
    let program = build(&work, &Compiler::new("gcc", ["-O0"]), body);
    let run = run(&work, program, &Limits::default());
    let sample = &run.captures[0].samples[0];
    let sources: Vec<SizeSource> = sample.args.iter().map(|arg| arg.size_source).collect();
    use SizeSource::{Allocator, Unknown, Unreadable};
    assert_eq!(sources[..5], [Allocator; 5]);
    // What cannot be read is of no use to the nest.
    assert_eq!(sources[5..], [Unreadable, Allocator, Unknown, Allocator]);
    assert_eq!([sample.args[6].bytes, sample.args[8].bytes], [0, 0]);
    assert_eq!(sample.missing(), [5, 7]);
    assert!(sample.args[2].bytes >= 100 && sample.args[3].bytes >= 1 << 22);
}

#[test]
fn early_returns_threads_and_forks_do_no_harm() {
    let body = r#"
#include <unistd.h>
#include <sys/wait.h>
static double a[100];
static int search(int stop)
{
    oxeye_capture_enter(0);
    oxeye_capture_arg(0, 0, a, sizeof a);
    for (int i = 0; i < 100; i++)
        if (i == stop)
            return i;
    oxeye_capture_leave(0);
    return -1;
}
static void recursive(int depth)
{
    oxeye_capture_enter(1);
    oxeye_capture_arg(1, 0, a, sizeof a);
    if (depth)
        recursive(depth - 1);
    oxeye_capture_leave(1);
}
int main(void)
{
    search(3);
    search(1000);
    search(1000);
    recursive(5);
    if (fork() == 0) {
        recursive(2);
        return 0;
    }
    wait(0);
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < 100; i++) {
        oxeye_capture_enter(2);
        oxeye_capture_arg(2, 0, a, sizeof a);
        usleep(100);
        oxeye_capture_leave(2);
    }
    oxeye_capture_leave(3);
    oxeye_capture_arg(4, 0, a, sizeof a);
    oxeye_capture_enter(-1);
    oxeye_capture_enter(100000);
    return 0;
}
"#;
    let work = WorkDir::new().expect("work folder");
    let program = build(&work, &Compiler::new("gcc", ["-O1", "-fopenmp"]), body);
    let run = run(&work, program, &Limits::default());
    assert_eq!(run.outcome.exit, Exit::Exited(0));
    assert!(run.complete);
    let [early, recursive, threads] = &run.captures[..] else { panic!("{:?}", run.captures) };
    assert_eq!((early.invocations, early.abandoned), (3, 1));
    assert_eq!((recursive.invocations, recursive.abandoned), (6, 5));
    assert_eq!(threads.invocations + threads.concurrent, 100);
    assert_eq!(threads.samples.len(), 1);
}

#[test]
fn samples_of_short_nests_in_many_threads_are_of_one_invocation_each() {
    let body = r#"
static double a[4][64];
int main(void)
{
#pragma omp parallel for num_threads(4) schedule(static)
    for (int thread = 0; thread < 4; thread++)
        for (int t = 0; t < 100000; t++) {
            int n = 1 + (thread + t) % 60;
            if (oxeye_capture_enter(0)) {
                oxeye_capture_work(0, n);
                oxeye_capture_scalar(0, 0, &(int){n}, sizeof(int));
                oxeye_capture_arg(0, 1, a[thread], n * (long)sizeof(double));
            }
            for (int i = 0; i < n; i++)
                a[thread][i] += 1;
            oxeye_capture_leave(0);
        }
    return 0;
}
"#;
    let work = WorkDir::new().expect("work folder");
    let program = build(&work, &Compiler::new("gcc", ["-O1", "-fopenmp"]), body);
    // A thread that has to wait inside makes all others concurrent meanwhile: on a busy machine one run may have too few.
    let mut has_enough = false;
    for _ in 0..10 {
        let folder = WorkDir::new().expect("a folder for one run");
        let run = run(&folder, program.clone(), &Limits::default());
        let [nest] = &run.captures[..] else { panic!("{:?}", run.captures) };
        assert!(nest.invocations + nest.concurrent <= 400_000, "{nest:?}");
        for sample in &nest.samples {
            let n = sample.read_integer(0, ElementType::I32).expect("a number");
            assert_eq!(sample.args[1].bytes, 8 * n as u64, "{sample:?}");
        }
        has_enough = nest.invocations > 4096 && nest.samples.len() > 1;
        if has_enough {
            break;
        }
    }
    assert!(has_enough, "no run had invocations and samples enough");
}

#[test]
fn what_another_thread_of_the_team_writes_takes_nothing_from_the_time() {
    let body = r#"
#include <unistd.h>
static char little[16], much[64 << 20];
int main(void)
{
#pragma omp parallel for num_threads(2) schedule(static)
    for (int thread = 0; thread < 2; thread++) {
        if (thread == 0) {
            oxeye_capture_enter(0);
            oxeye_capture_arg(0, 0, little, sizeof little);
            usleep(300000);
            oxeye_capture_leave(0);
        } else {
            usleep(100000);
            for (int i = 0; i < 4; i++) {
                oxeye_capture_enter(1);
                oxeye_capture_arg(1, 0, much, (long)sizeof much >> i);
                oxeye_capture_leave(1);
            }
        }
    }
    return 0;
}
"#;
    let work = WorkDir::new().expect("work folder");
    let program = build(&work, &Compiler::new("gcc", ["-O1", "-fopenmp"]), body);
    let run = run(&work, program, &Limits::default());
    let [asleep, busy] = &run.captures[..] else { panic!("{:?}", run.captures) };
    assert_eq!((asleep.invocations, busy.invocations), (1, 4));
    assert!(asleep.seconds >= 0.3, "{asleep:?}");
    assert!(asleep.samples.iter().all(|s| s.nanoseconds.is_some_and(|ns| ns >= 300_000_000)), "{asleep:?}");
}

#[test]
fn a_program_that_never_ends_gives_what_it_captured() {
    let body = r#"
#include <stdio.h>
int main(void)
{
    double x = 1;
    oxeye_capture_enter(0);
    oxeye_capture_arg(0, 0, &x, sizeof x);
    oxeye_capture_leave(0);
    for (volatile int i = 0;; i ^= 1)
        ;
}
"#;
    let work = WorkDir::new().expect("work folder");
    let program = build(&work, &Compiler::new("gcc", ["-O1"]), body);
    let run = run(&work, program, &Limits { seconds: 1.0, ..Limits::default() });
    assert_eq!(run.outcome.exit, Exit::TimedOut);
    assert!(!run.complete);
    assert_eq!(run.captures[0].samples.len(), 1);
}

#[test]
fn a_program_that_reaches_no_site_is_complete_and_empty() {
    let work = WorkDir::new().expect("work folder");
    let program = build(&work, &Compiler::new("gcc", ["-O1"]), "int main(void) { return 4; }");
    let run = run(&work, program, &Limits::default());
    assert_eq!(run.outcome.exit, Exit::Exited(4));
    assert!(run.complete && run.captures.is_empty());
}

#[test]
fn the_size_of_what_a_pointer_leads_to_is_found_out() {
    let body = r#"
#include <stdlib.h>

static double table[500];
static const int constants[10] = {1};

static void look(double *whole, double *inside, double *big, double *variable, const int *constant, char *local)
{
    oxeye_capture_enter(0);
    oxeye_capture_arg(0, 0, whole, -1);
    oxeye_capture_arg(0, 1, inside, -1);
    oxeye_capture_arg(0, 2, big, -1);
    oxeye_capture_arg(0, 3, variable, -1);
    oxeye_capture_arg(0, 4, constant, -1);
    oxeye_capture_arg(0, 5, local, -1);
    table[0] += *inside + *big + *constant + *local;
    oxeye_capture_leave(0);
}

int main(void)
{
    char local[64] = {0};
    double *before = malloc(80), *block = calloc(100, sizeof *block), *big = calloc(1 << 20, sizeof *big);
    look(block, block + 60, big + 1000, table + 100, constants + 4, local);
    free(before);
    return 0;
}
"#;
    for compiler in [Compiler::new("gcc", ["-O2"]), Compiler::new("gcc", ["-O1", "-no-pie", "-fno-pie"])] {
        let work = WorkDir::new().expect("work folder");
        let program = build(&work, &compiler, body);
        let run = run(&work, program, &Limits::default());
        assert!(run.outcome.exit.success());
        let args = &run.captures[0].samples[0].args;
        let bytes: Vec<u64> = args.iter().map(|arg| arg.bytes).collect();
        // What the allocator gives may be a little more than it was asked for.
        assert!((800..850).contains(&bytes[0]) && bytes[0] - bytes[1] == 480, "{bytes:?}");
        assert!(((8 << 20) - 8000..(8 << 20)).contains(&bytes[2]), "{bytes:?}");
        assert_eq!(bytes[3..5], [3200, 24]);
        assert!(bytes[5] >= 64 && bytes[5] < 16 << 20, "{bytes:?}");
        assert!(args.iter().all(|arg| arg.size_source == SizeSource::Allocator));
    }
}

#[test]
fn rows_behind_pointers_are_gathered_if_they_lie_unevenly() {
    let body = r#"
#include <stdlib.h>
static double block[100];
static void look(int k, int uneven, long n, double **u, double ***v)
{
    long ranges[] = {1, n, 0, 2}, cube[] = {0, n - 2, -1, 1, 2, 3};
    oxeye_capture_rows rows = {0}, more = {0};
    oxeye_capture_enter(k);
    oxeye_capture_look(k, &rows, u, 1, 0, sizeof **u, ranges);
    if (uneven == 2)
        rows.spacing = OXEYE_CAPTURE_OVERLAPPING;
    oxeye_capture_look(k, &more, v, 2, 0, sizeof ***v, cube);
    oxeye_capture_arg(k, 0, &rows.extents[1], sizeof rows.extents[1]);
    oxeye_capture_rows_arg(k, 1, &rows);
    oxeye_capture_arg(k, 2, &more.extents[1], sizeof more.extents[1]);
    oxeye_capture_arg(k, 3, &more.extents[2], sizeof more.extents[2]);
    oxeye_capture_rows_arg(k, 4, &more);
    oxeye_capture_leave(k);
}
int main(void)
{
    double *table[5], **cube[2], *rows[2][3];
    for (int i = 0; i < 100; i++)
        block[i] = i;
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 5; i++)
            table[i] = block + (k == 1 ? (i * 2 % 5) * 7 : i * 7);
        for (int i = 0; i < 2; i++) {
            cube[i] = rows[i] + 1;
            for (int j = -1; j < 2; j++)
                cube[i][j] = block + 50 + (k == 0 ? (i * 3 + j + 1) * 4 : (j + 1) * 8 + i * 4);
        }
        if (k < 3)
            look(k, k, 3, table, cube);
        else
            look(k, 0, 3, 0, 0);
    }
    return 0;
}
"#;
    let work = WorkDir::new().expect("work folder");
    let compiler = Compiler::new("gcc", ["-O1", "-Wall", "-Werror", "-fsanitize=address,undefined"]);
    let run = run(&work, build(&work, &compiler, body), &Limits::default());
    assert_eq!(run.outcome.exit, Exit::Exited(0));
    let samples: Vec<_> = run.captures.iter().map(|capture| &capture.samples[0]).collect();
    let numbers = |k: usize, position: usize| -> Vec<i64> {
        let bytes = samples[k].read_arg(position).expect("an argument");
        bytes.chunks(8).map(|b| ElementType::F64.read_f64(b).expect("a number") as i64).collect()
    };
    let extents = |k: usize| {
        let extent = |position| samples[k].read_integer(position, ElementType::I64).expect("an extent");
        [extent(0), extent(2), extent(3)]
    };
    let sources = |k: usize| [1, 4].map(|position| samples[k].args[position].size_source);
    // Evenly spaced: as the memory is, from the first element to the last. Rows from minus one are no array.
    assert_eq!(extents(0), [7, 3, 4]);
    assert_eq!(sources(0), [SizeSource::Declared, SizeSource::Gathered]);
    assert_eq!(numbers(0, 1), (7..24).collect::<Vec<_>>());
    // Rows that changed places, as close together as their indices let them be.
    assert_eq!(extents(1), [3, 3, 4]);
    assert_eq!(sources(1), [SizeSource::Gathered, SizeSource::Gathered]);
    assert_eq!(numbers(1, 1), [14, 15, 16, 28, 29, 30, 7, 8, 9]);
    let cube = numbers(1, 4);
    let row = |k: usize| cube[4 * k..4 * k + 2].to_vec();
    assert_eq!(
        (0..6).map(row).collect::<Vec<_>>(),
        [52, 60, 68, 56, 64, 72].map(|first| vec![first, first + 1])
    );
    assert_eq!((samples[1].args[1].address, cube.len()), (0, 22));
    // Those that overlap are not kept, and no rows are nothing.
    assert_eq!(samples[2].missing(), [1]);
    assert_eq!(numbers(3, 1), []);
    assert!(samples[3].missing().is_empty());
}

/// Calls of very different sizes, the long ones rare, with a clock of its own.
const MIXED: &str = r#"
#define _GNU_SOURCE
#include <time.h>
static double a[1 << 16];
static long now;
int clock_gettime(clockid_t id, struct timespec *time)
{
    (void)id;
    time->tv_sec = now / 1000000;
    time->tv_nsec = now % 1000000 * 1000;
    return 0;
}
static void nest(int n, int microseconds)
{
    oxeye_capture_enter(3);
    oxeye_capture_work(3, (double)n * n);
    oxeye_capture_arg(3, 0, &n, sizeof n);
    oxeye_capture_arg(3, 1, a, 8 * 200);
    a[n % 200] += 1;
    now += microseconds;
    oxeye_capture_leave(3);
}
int main(void)
{
    for (int t = 0; t < 50; t++) {
        for (int n = 4; n <= 4096; n *= 2)
            if (n != 1024)
                nest(n, 50);
        if (t % 16 == 6)
            nest(1000, 40000);
    }
    return 0;
}
"#;

#[test]
fn there_is_a_sample_of_the_sizes_that_take_the_time() {
    let work = WorkDir::new().expect("work folder");
    let program = build(&work, &Compiler::new("gcc", ["-O2", "-Wall", "-Wextra", "-Werror"]), MIXED);
    let run = run(&work, program, &Limits::default());
    let [found] = &run.captures[..] else { panic!("{:?}", run.captures) };
    let classes: Vec<(u32, u64)> = found.classes.iter().map(|c| (c.log2, c.invocations)).collect();
    let expected: Vec<(u32, u64)> = [4, 6, 8, 10, 12, 14, 16, 18]
        .map(|k| (k, 50))
        .into_iter()
        .chain([(19, 3), (22, 50), (24, 50)])
        .collect();
    assert_eq!(classes, expected);
    assert_eq!(found.classes.iter().map(|c| c.invocations).sum::<u64>(), found.invocations);
    let micros: Vec<f64> = found.classes.iter().map(|c| (1e6 * c.seconds).round()).collect();
    assert_eq!(micros.iter().filter(|us| **us == 2500.0).count(), 10);
    assert_eq!((1e6 * found.seconds).round(), 25_000.0 + 120_000.0);
    // Ten classes were there before the one that takes nearly all of the time; only some have samples.
    assert!(found.samples.len() <= 8, "{:?}", found.samples);
    let heaviest: Vec<_> = found.samples.iter().filter(|s| s.size_class == Some(19)).collect();
    assert_eq!(heaviest.len(), 1);
    assert_eq!(heaviest[0].read_integer(0, ElementType::I32).expect("n"), 1000);
    assert!(heaviest[0].nanoseconds == Some(40_000_000));
}

/// The processes of a parallel program, as a launcher starts them, each with other data and its own time.
const RANKS: &str = r#"
#include <stdlib.h>
#include <time.h>

int main(void)
{
    static double x[1000];
    int rank = atoi(getenv("PMI_RANK"));
    for (int t = 0; t < 50; t++) {
        for (int i = 0; i < 1000; i++)
            x[i] = rank;
        oxeye_capture_enter(0);
        oxeye_capture_arg(0, 0, x, sizeof x);
        struct timespec wait = {0, (rank == 1 ? 4 : 1) * 1000000L};
        nanosleep(&wait, 0);
        oxeye_capture_leave(0);
    }
    return 0;
}
"#;

#[test]
fn processes_of_a_parallel_program_are_kept_apart() {
    let work = WorkDir::new().expect("work folder");
    let program = build(&work, &Compiler::new("cc", ["-O1"]), RANKS);
    let script = format!("for rank in 0 1 2; do PMI_RANK=$rank {} & done; wait", program.display());
    let captured = |name: &str, wanted: Option<u32>| {
        let dir = work.subdir(name).expect("made");
        let invocation = Invocation::new("sh").args(["-c", &script]);
        let run = capture(&invocation, &Limits::default(), &dir, wanted).expect("captured");
        assert_eq!(run.ranks, [0, 1, 2]);
        if wanted.is_some_and(|rank| rank > 2) {
            assert_eq!(run.captures.len(), 0);
            return f64::NAN;
        }
        assert!(run.complete);
        let [nest] = run.captures.as_slice() else { panic!("{:?}", run.captures) };
        assert_eq!(nest.invocations, 50);
        let n_folders = std::fs::read_dir(&dir).expect("listed").count();
        assert_eq!(n_folders, 1, "what is not used is removed");
        let values = nest.samples[0].read_arg(0).expect("read");
        let values: Vec<f64> =
            values.chunks(8).filter_map(|bytes| ElementType::F64.read_f64(bytes)).collect();
        assert!(values.iter().all(|value| *value == values[0]), "of one process");
        values[0]
    };
    assert_eq!(captured("all", None), 1.0, "the one that takes longest");
    assert_eq!(captured("last", Some(2)), 2.0);
    assert!(captured("none", Some(7)).is_nan());
}
