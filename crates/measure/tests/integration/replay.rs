//! Replaying, verifying and timing real libraries.

use std::path::PathBuf;

use oxeye_measure::{
    Argument, CAPTURE_RUNTIME_C, CompileJob, Compiler, ElementType, Exit, Init, Invocation, Left, Limits,
    MeasureError, Rejection, Replay, ReplayOptions, Sample, SyntheticArg, TimingOptions, Tolerance,
    WholeComparison, WholeOptions, WorkDir, capture, left_with_fast_clocks, run_whole,
};

struct Bench {
    work: WorkDir,
    replay: Replay,
    sample: Sample,
    args: Vec<Argument>,
}

impl Bench {
    /// `double x[n]`, `double y[n]`, `long n` with n = 1000.
    fn new(threads: usize) -> Bench {
        let work = WorkDir::new().expect("work folder");
        let options = ReplayOptions { threads, call_seconds: 30.0, ..ReplayOptions::default() };
        let replay = Replay::new(&Compiler::new("gcc", ["-O2"]), &work, options).expect("runner builds");
        let arg = |elements, element, init| SyntheticArg { element, elements, init };
        let sample = Sample::synthetic(
            &work.join("sample.bin"),
            &[
                arg(1000, ElementType::F64, Init::Random { seed: 1 }),
                arg(1000, ElementType::F64, Init::Random { seed: 2 }),
                arg(1, ElementType::I64, Init::Integer(1000)),
            ],
        )
        .expect("sample");
        let args = vec![
            Argument::buffer("x", ElementType::F64),
            Argument::buffer("y", ElementType::F64),
            Argument::scalar("n", ElementType::I64),
        ];
        Bench { work, replay, sample, args }
    }

    fn library_with(&self, compiler: &Compiler, name: &str, body: &str) -> PathBuf {
        let text = format!(
            "#include <fcntl.h>\n#include <stdlib.h>\n#include <unistd.h>\nvoid oxeye_replay(void **args)\n{{\n    double *x = args[0], *y = args[1];\n    \
             long n = *(long *)args[2];\n    (void)x, (void)y, (void)n;\n    {body}\n}}\n"
        );
        let source = self.work.write(format!("{name}.c"), text).expect("written");
        let job = CompileJob::shared_library(source, self.work.join(format!("{name}.so")));
        compiler.compile(&job).expect("compiles")
    }

    fn library(&self, name: &str, body: &str) -> PathBuf {
        self.library_with(&Compiler::new("gcc", ["-O2", "-fopenmp"]), name, body)
    }

    fn rejection(&self, name: &str, body: &str) -> Rejection {
        let library = self.library(name, body);
        let error = self.replay.outputs(&library, &self.sample).expect_err("is rejected");
        match &error {
            MeasureError::Rejected { library: named, .. } => assert_eq!(*named, library),
            other => panic!("{other}"),
        }
        error.rejection().expect("a rejection")
    }
}

const SUM: &str = "for (long i = 0; i < n; i++) y[i] += 3 * x[i];";

/// Each call waits for one of another process.
#[test]
fn copies_run_at_the_same_time_and_the_slowest_counts() {
    let bench = Bench::new(1);
    let file = bench.work.join("arrived");
    let library = bench.library(
        "copies",
        &format!(
            "static long n_calls; int file = open(\"{}\", O_RDWR | O_CREAT | O_APPEND, 0600); n_calls++;\n\
             if (write(file, \"x\", 1) != 1) abort();\n\
             for (long k = 0; lseek(file, 0, SEEK_END) < 3 * n_calls; k++) {{ if (k > 3000) abort(); usleep(10000); }}\n\
             close(file); y[0] = x[0];",
            file.display()
        ),
    );
    let options = ReplayOptions { copies: 3, ..bench.replay.options().clone() };
    let replay = Replay::sharing(&bench.replay, &bench.work, options).expect("a folder");
    let times = replay.time_few(&library, &bench.sample, 2).expect("all three meet");
    assert_eq!(times.len(), 2);
}

/// What a library does while it says that the clock stands is not part of a call's time.
#[test]
fn libraries_may_stop_the_clock() {
    let bench = Bench::new(1);
    // The hook is defined behind the function.
    let library = bench.library(
        "clock",
        "extern void (*oxeye_replay_clock)(int); oxeye_replay_clock(0); usleep(1000000); oxeye_replay_clock(1);\n\
         y[0] = x[0];\n}\nvoid (*oxeye_replay_clock)(int);\nvoid nothing(void)\n{",
    );
    let stopped = bench.replay.time_few(&library, &bench.sample, 1).expect("runs");
    let library = bench.library("sleep", "usleep(1000000); y[0] = x[0];");
    let running = bench.replay.time_few(&library, &bench.sample, 1).expect("runs");
    assert!(stopped[0] < running[0], "{stopped:?} {running:?}");
}

#[test]
fn right_and_wrong_outputs_are_told_apart() {
    let bench = Bench::new(2);
    let baseline = bench.replay.outputs(&bench.library("baseline", SUM), &bench.sample).expect("runs");
    assert_eq!((baseline.changed(0), baseline.changed(1), baseline.changed(2)), (false, true, false));
    let verify = |name, body, tolerance| {
        let library = bench.library(name, body);
        bench.replay.verify(&baseline, &library, &bench.sample, &bench.args, tolerance)
    };

    let parallel = "_Pragma(\"omp parallel for\") for (long i = 0; i < n; i++) y[i] += 3 * x[i];";
    let comparison = verify("parallel", parallel, Tolerance::Strict).expect("equal");
    assert!(comparison.bit_exact && comparison.max_rel_error == 0.0);

    let rounded = "for (long i = 0; i < n; i++) y[i] = (y[i] + 3 * x[i]) * (1 + 1e-14);";
    let comparison = verify("rounded", rounded, Tolerance::reassociate()).expect("close");
    assert!(!comparison.bit_exact);
    assert!(comparison.max_rel_error > 1e-16 && comparison.max_rel_error < 1e-12, "{comparison:?}");
    assert!(verify("rounded", rounded, Tolerance::Strict).is_err());

    let wrong = "for (long i = 0; i < n - 1; i++) y[i] += 3 * x[i];";
    let error = verify("wrong", wrong, Tolerance::reassociate()).expect_err("differs");
    let Some(Rejection::WrongOutput(mismatch)) = error.rejection() else { panic!("{error}") };
    assert_eq!((mismatch.argument, mismatch.index), (1, 999));
    assert!(error.to_string().contains("y[999]"), "{error}");

    let nothing = verify("nothing", "", Tolerance::reassociate()).expect_err("differs");
    assert!(matches!(nothing.rejection(), Some(Rejection::WrongOutput(m)) if m.index == 0));
    let scribbled = format!("{SUM} x[5] = 0;");
    let error = verify("scribbled", &scribbled, Tolerance::reassociate()).expect_err("differs");
    assert!(matches!(error.rejection(), Some(Rejection::WrongOutput(m)) if m.argument == 0 && m.index == 5));

    // Only what nobody reads may differ.
    let library = bench.library("scratched", &scribbled);
    let args: Vec<Argument> =
        bench.args.iter().cloned().enumerate().map(|(k, a)| if k == 0 { a.scratch() } else { a }).collect();
    let verify = |library| bench.replay.verify(&baseline, library, &bench.sample, &args, Tolerance::Strict);
    verify(&library).expect("differs in scratch only");
    verify(&bench.library("wrong", wrong)).expect_err("differs elsewhere too");
}

#[test]
fn nan_and_infinity_are_equal_to_themselves_only() {
    let bench = Bench::new(1);
    let odd = "y[0] = 0.0 / x[0] * (1 / 0.0); y[1] = 1 / 0.0;";
    let baseline = bench.replay.outputs(&bench.library("a", odd), &bench.sample).expect("runs");
    let verify = |name, body| {
        let library = bench.library(name, body);
        bench.replay.verify(&baseline, &library, &bench.sample, &bench.args, Tolerance::reassociate())
    };
    assert!(verify("b", "y[0] = -__builtin_nan(\"7\"); y[1] = 1 / 0.0;").is_ok());
    assert!(verify("c", "y[0] = 1; y[1] = 1 / 0.0;").is_err());
    assert!(verify("d", "y[0] = -__builtin_nan(\"7\"); y[1] = -1 / 0.0;").is_err());
    assert!(verify("e", "y[0] = -__builtin_nan(\"7\"); y[1] = 1e308;").is_err());
}

#[test]
fn crashes_hangs_and_exits_reject_the_candidate_only() {
    let mut bench = Bench::new(2);
    assert_eq!(
        bench.rejection("null", "*(volatile int *)8 = 0;"),
        Rejection::Crashed { signal: libc::SIGSEGV }
    );
    assert_eq!(bench.rejection("abort", "abort();"), Rejection::Crashed { signal: libc::SIGABRT });
    assert_eq!(bench.rejection("trap", "__builtin_trap();"), Rejection::Crashed { signal: libc::SIGILL });
    assert_eq!(bench.rejection("exit", "exit(7);"), Rejection::Exited { code: 7 });
    let in_thread = "_Pragma(\"omp parallel\") { *(volatile int *)8 = 0; }";
    assert_eq!(bench.rejection("thread", in_thread), Rejection::Crashed { signal: libc::SIGSEGV });
    let undefined = bench.rejection("undefined", "extern void no_such_function(void); no_such_function();");
    assert!(matches!(undefined, Rejection::LoadFailed { text } if text.contains("no_such_function")));
    bench.replay = bench.replay.with_call_limit(1.0);
    assert_eq!(
        bench.rejection("hang", "for (volatile int i = 0;; i ^= 1);"),
        Rejection::TimedOut { seconds: 1.0 }
    );
    assert_eq!(bench.rejection("sleep", "close(0); for (;;) pause();"), Rejection::TimedOut { seconds: 1.0 });
}

#[test]
fn accesses_out_of_bounds_are_caught() {
    let bench = Bench::new(1);
    assert_eq!(bench.rejection("past", "y[n] = 1;"), Rejection::OutOfBounds { argument: 1 });
    assert_eq!(
        bench.rejection("read", "y[0] = ((volatile double *)x)[n];"),
        Rejection::OutOfBounds { argument: 0 }
    );
    assert_eq!(bench.rejection("before", "y[-1] = 1;"), Rejection::OutOfBounds { argument: 1 });
    assert_eq!(
        bench.rejection("scalar", "((volatile int *)args[2])[2] = 1;"),
        Rejection::OutOfBounds { argument: 2 }
    );
}

#[test]
fn memory_is_limited() {
    let mut bench = Bench::new(1);
    let options = ReplayOptions { memory_bytes: Some(512 << 20), ..bench.replay.options().clone() };
    bench.replay = Replay::new(&Compiler::new("gcc", [""; 0]), &bench.work, options).expect("runner builds");
    let greedy = "for (;;) *(volatile char *)malloc(1 << 20) = 1;";
    assert_eq!(bench.rejection("greedy", greedy), Rejection::OutOfMemory);
}

#[test]
fn inputs_are_fresh_for_every_call() {
    let bench = Bench::new(1);
    // Crashes when it sees its own output.
    let library = bench.library("once", "if (x[0] < 0) abort(); for (long i = 0; i < n; i++) x[i] = -x[i];");
    assert_eq!(bench.replay.time_few(&library, &bench.sample, 5).expect("runs").len(), 5);
    let options = TimingOptions { max_seconds: 0.2, ..TimingOptions::default() };
    let times = bench.replay.compare_times(&library, &library, &bench.sample, &options).expect("runs");
    assert!(times.copies > 1, "{times:?}");
}

#[test]
fn times_are_compared_with_either_openmp() {
    let bench = Bench::new(2);
    let loop_of = |n: u32| {
        format!(
            "_Pragma(\"omp parallel for\") for (long i = 0; i < n; i++) \
             for (volatile int k = 0; k < {n}; k++) y[i] += x[i];"
        )
    };
    let gcc = Compiler::new("gcc", ["-O1", "-fopenmp"]);
    let baseline = bench.library_with(&gcc, "slow", &loop_of(1000));
    let candidate = bench.library_with(&gcc, "fast", &loop_of(100));
    let options = TimingOptions { max_seconds: 3.0, ..TimingOptions::default() };
    let times = bench.replay.compare_times(&baseline, &candidate, &bench.sample, &options).expect("runs");
    assert!(times.ratio_low <= times.ratio_median && times.ratio_median <= times.ratio_high);
    assert!(times.baseline_ns.n >= 2 && times.baseline_ns.n == times.candidate_ns.n);

    if crate::has_clang() {
        let clang =
            bench.library_with(&Compiler::new("clang-19", ["-O1", "-fopenmp"]), "clang", &loop_of(100));
        bench.replay.compare_times(&baseline, &clang, &bench.sample, &options).expect("runs");
    }

    let crash = bench.library("crash", "abort();");
    let error = bench.replay.compare_times(&baseline, &crash, &bench.sample, &options).expect_err("crashes");
    assert!(matches!(error, MeasureError::Rejected { library, .. } if library == crash));
}

#[test]
fn a_captured_overlap_is_kept_in_the_replay() {
    let work = WorkDir::new().expect("work folder");
    let program = r#"
static double a[101];
int main(void)
{
    double *x = a, *y = a + 1;
    long n = 100;
    a[0] = 1;
    oxeye_capture_enter(0);
    oxeye_capture_arg(0, 0, x, n * 8);
    oxeye_capture_arg(0, 1, y, n * 8);
    oxeye_capture_arg(0, 2, &n, sizeof n);
    for (long i = 0; i < n; i++) y[i] = x[i] + 1;
    oxeye_capture_leave(0);
    return 0;
}
"#;
    let source = work.write("p.c", format!("{CAPTURE_RUNTIME_C}{program}")).expect("written");
    let gcc = Compiler::new("gcc", ["-O1"]);
    let program = gcc.compile(&CompileJob::executable(source, work.join("p"))).expect("compiles");
    let dir = work.subdir("captured").expect("made");
    let run = capture(&Invocation::new(program), &Limits::default(), &dir, None).expect("captured");
    let sample = &run.captures[0].samples[0];
    assert_eq!(sample.overlaps, [(0, 1)]);

    let bench = Bench::new(1);
    let library = bench.library("shift", "for (long i = 0; i < n; i++) y[i] = x[i] + 1;");
    let outputs = bench.replay.outputs(&library, sample).expect("runs");
    let y = outputs.read_arg(1).expect("y");
    assert_eq!(ElementType::F64.read_f64(&y[8 * 99..]), Some(101.0));
    let x = outputs.read_arg(0).expect("x");
    assert_eq!(ElementType::F64.read_f64(&x[8 * 99..]), Some(100.0));
}

#[test]
fn what_lies_before_a_pointer_is_there_in_the_replay() {
    let work = WorkDir::new().expect("work folder");
    let program = r#"
#include <sys/mman.h>
static double a[1016], b[1000];
int main(void)
{
    char *pages = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double *x = a + 16, *y = b, *first = (double *)(pages + 4096);
    long n = 1000;
    munmap(pages, 4096);
    for (int i = 0; i < 1016; i++) a[i] = i;
    oxeye_capture_enter(0);
    oxeye_capture_part(0, 0, x, -16 * 8, n * 8);
    oxeye_capture_arg(0, 1, y, n * 8);
    oxeye_capture_arg(0, 2, &n, sizeof n);
    oxeye_capture_part(0, 3, first, -8, 512 * 8);
    for (long i = 0; i < n; i++) y[i] = x[i - 16] + 1;
    oxeye_capture_leave(0);
    return 0;
}
"#;
    let source = work.write("p.c", format!("{CAPTURE_RUNTIME_C}{program}")).expect("written");
    let program = Compiler::new("gcc", ["-O1"])
        .compile(&CompileJob::executable(source, work.join("p")))
        .expect("compiles");
    let dir = work.subdir("captured").expect("made");
    let run = capture(&Invocation::new(program), &Limits::default(), &dir, None).expect("captured");
    let sample = &run.captures[0].samples[0];
    let stored: Vec<(u64, u64)> = sample.args.iter().map(|arg| (arg.bytes, arg.before)).collect();
    // Before the first page is nothing.
    assert_eq!(stored, [(8 * 1016, 8 * 16), (8000, 0), (8, 0), (4096, 0)]);

    let bench = Bench::new(1);
    let library =
        bench.library("before", "for (long i = 0; i < n; i++) { y[i] = x[i - 16] + 1; x[i - 16] = -1; }");
    let outputs = bench.replay.outputs(&library, sample).expect("runs");
    let (x, y) = (outputs.read_arg(0).expect("x"), outputs.read_arg(1).expect("y"));
    let at = |bytes: &[u8], k: usize| ElementType::F64.read_f64(&bytes[8 * k..]);
    assert_eq!(
        [at(&y, 0), at(&y, 999), at(&x, 0), at(&x, 999), at(&x, 1000)],
        [1.0, 1000.0, -1.0, -1.0, 1000.0].map(Some)
    );
}

#[test]
fn a_null_pointer_stays_one() {
    let mut bench = Bench::new(1);
    let arg = |elements| SyntheticArg { element: ElementType::F64, elements, init: Init::Value(1.0) };
    let path = bench.work.join("null.bin");
    bench.sample = Sample::synthetic(&path, &[arg(0), arg(1), arg(1)]).expect("sample");
    let library = bench.library("null", "y[0] = x ? 2 : 3;");
    let outputs = bench.replay.outputs(&library, &bench.sample).expect("runs");
    assert_eq!(outputs.read_arg(1).expect("y"), 3f64.to_le_bytes());
    assert!(outputs.read_arg(0).expect("x").is_empty());
}

#[test]
fn a_sample_without_all_bytes_is_refused() {
    let bench = Bench::new(1);
    let mut sample = bench.sample.clone();
    sample.args[1].size_source = oxeye_measure::SizeSource::Unknown;
    let library = bench.library("sum", SUM);
    let error = bench.replay.outputs(&library, &sample).expect_err("refused");
    assert!(error.rejection().is_none() && error.to_string().contains("argument 1"), "{error}");
}

#[test]
fn whole_programs_are_compared() {
    let work = WorkDir::new().expect("work folder");
    let gcc = Compiler::new("gcc", ["-O1"]);
    let program = |name: &str, body: &str| {
        let text = format!("#include <stdio.h>\n#include <stdlib.h>\nint main(void) {{ {body} }}\n");
        let source = work.write(format!("{name}.c"), text).expect("written");
        gcc.compile(&CompileJob::executable(source, work.join(name))).expect("compiles")
    };
    let run = |program: &PathBuf| Invocation::new(program);
    let options = WholeOptions { threads: Some(2), ..WholeOptions::default() };
    let before = program("before", r#"printf("sum %.4f\n", 2.0); return 3;"#);
    let compare = |after: &PathBuf| compared(&run(&before), &run(after), 3, &options);
    let same = compare(&program("same", r#"printf("sum %.4f\n", 2.0001); return 3;"#));
    assert!(same.equal && same.last_place_numbers == 1, "{same:?}");
    // Fewer than three where the machine is so busy that one looks hopeless.
    let n = same.before_ns.n;
    assert!((1..=3).contains(&n) && (same.after_ns.n, same.speedup.n) == (n, n), "{same:?}");
    let other = compare(&program("other", r#"printf("sum %.4f\n", 2.1); return 3;"#));
    assert!(!other.equal && other.difference.expect("named").contains("2.1"));
    let code = compare(&program("code", r#"printf("sum %.4f\n", 2.0); return 0;"#));
    assert!(!code.equal, "{code:?}");
    let timed = program("timed", r#"printf("time 0.2 sum 1\n"); return 0;"#);
    let timed_before = program("timed_before", r#"printf("time 1.5 sum 1\n"); return 0;"#);
    let earlier = WholeOptions {
        earlier: vec![Left::printed(b"time 1.6 sum 1\n".to_vec())],
        ..WholeOptions::default()
    };
    let whole = compared(&run(&timed_before), &run(&timed), 1, &earlier);
    assert!(whole.equal && whole.unstable_numbers == 1, "{whole:?}");
    assert!(!compared(&run(&timed_before), &run(&timed), 1, &options).equal);
    let crash = compare(&program("crash", "abort();"));
    assert!(!crash.equal && crash.difference.expect("named").contains("abort"));
}

/// Both programs in turns, compared.
fn compared(before: &Invocation, after: &Invocation, n: usize, options: &WholeOptions) -> WholeComparison {
    run_whole(before, after, n, options).and_then(|runs| runs.compared(options)).expect("runs")
}

#[test]
fn clocks_that_run_fast_tell_times_from_results() {
    let gcc = Compiler::new("gcc", [""; 0]);
    let work = WorkDir::new().expect("work folder");
    // Each clock is read outside of one that is always right: the processor's time that the system tells.
    let text = r#"#define _GNU_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static double right(void) {
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
static double told(int which) {
    struct timespec t;
    struct timeval v;
    struct rusage u;
    switch (which) {
    case 0: return clock_gettime(CLOCK_MONOTONIC, &t), t.tv_sec + 1e-9 * t.tv_nsec;
    case 1: return gettimeofday(&v, 0), v.tv_sec + 1e-6 * v.tv_usec;
    case 2: return (double)clock() / CLOCKS_PER_SEC;
    default: return getrusage(RUSAGE_SELF, &u), u.ru_utime.tv_sec + u.ru_stime.tv_sec + 1e-6 * (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    }
}
int main(void) {
    double begun[4], from, ended;
    for (int k = 0; k < 4; k++) begun[k] = told(k);
    from = right();
    while (right() < from + 0.05) {}
    ended = right();
    for (int k = 0; k < 4; k++) printf("%d\n", told(k) - begun[k] > 1.3 * (ended - from));
    printf("sum 1.5\n");
    return 3;
}
"#;
    let source = work.write("clocks.c", text).expect("written");
    let program = gcc.compile(&CompileJob::executable(source, work.join("clocks"))).expect("compiles");
    let options = WholeOptions::default();
    let left = |exit| left_with_fast_clocks(&Invocation::new(&program), exit, &options).expect("runs");
    let printed = left(Exit::Exited(3)).expect("ends as it does").stdout;
    assert_eq!(String::from_utf8_lossy(&printed), "1\n1\n1\n1\nsum 1.5\n");
    assert_eq!(left(Exit::Exited(0)), None);
}

#[test]
fn files_that_programs_write_are_compared() {
    let work = WorkDir::new().expect("work folder");
    let folder = work.subdir("here").expect("made");
    let shell = |script: &str| Invocation::new("sh").args(["-c", script]).cwd(Some(folder.clone()));
    let files = vec!["out.txt".parse().expect("a file")];
    let options = WholeOptions { files, ..WholeOptions::default() };
    let compare =
        |after: &str| compared(&shell("echo sum 1.00000 2.00000000 > out.txt"), &shell(after), 2, &options);
    std::fs::write(folder.join("out.txt"), "sum 1.00000 2.00000000\n").expect("written");
    let same = compare("echo sum 1.00001 2.00000001 > out.txt");
    assert!(same.equal && same.max_rel_error > 0.0, "{same:?}");
    let other = compare("echo sum 1.5 2.00000000 > out.txt");
    assert!(other.is_number && other.difference.expect("named").contains("out.txt"));
    // Neither what was there before nor what the original has written passes for a result.
    for after in
        ["true", "cat out.txt >> out.txt; exit 0", "mkdir -p sub; echo sum 1.00000 2.00000000 > sub/out.txt"]
    {
        let stale = compare(after);
        assert!(!stale.equal, "{after}: {stale:?}");
    }
    let missing = run_whole(&shell("true"), &shell("echo 1 > out.txt"), 1, &options);
    assert!(matches!(missing, Err(MeasureError::NotWritten { .. })));
    assert_eq!(std::fs::read(folder.join("out.txt")).expect("put back"), b"sum 1.00000 2.00000000\n");
    // Other builds of the original say how far its numbers move.
    let witness = |script: &str| options.run(&shell(script)).expect("runs").1;
    let witnesses = vec![witness("echo sum 1.00200 > out.txt"), witness("echo sum 0.99900 > out.txt")];
    let options = WholeOptions { witnesses, ..options.clone() };
    let compare = |after: &str| compared(&shell("echo sum 1.00000 > out.txt"), &shell(after), 1, &options);
    let widened = compare("echo sum 0.99500 > out.txt");
    assert!(widened.equal && widened.widened_numbers == 1, "{widened:?}");
    assert!(!compare("echo sum 0.90000 > out.txt").equal);
}
