//! Files with OpenMP directives that their builds leave off: what becomes of them, and of the threads of tuned nests.

use oxeye_tests::{Playground, Ran, alone};
use serde_json::Value;

/// A loop that waits, so that threads are faster on any machine, and loops without a directive.
const PROGRAM: &str = r#"#include <stdio.h>
#include <unistd.h>
#ifndef N
#define N 600
#endif
static double a[N][N], b[N][N], x[61];
static void waiting(void)
{
#pragma omp parallel for schedule(static)
    for (int i = 1; i < 61; i++) {
        usleep(4000);
        x[i] += FROM;
    }
}
static void plain(void)
{
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            b[i][j] = 0.5 * b[i][j] + a[i][j];
}
static void harmless(void)
{
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        a[i][i] *= 0.5;
}
int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = b[i][j] = (i * 7 + j * 3) % 11;
    for (int i = 0; i < 61; i++)
        x[i] = i + 1;
    for (int t = 0; t < 15; t++)
        plain();
    harmless();
    waiting();
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += b[i][j] * ((i + 3 * j) % 5);
    printf("%.12g %g\n", sum, x[60]);
    return 0;
}
"#;

/// Each iteration by itself, and each in need of the one before.
const RIGHT: &str = "-DFROM=1";
const WRONG: &str = "-DFROM=x[i-1]";

fn optimized(playground: &Playground, more: &str, flags: &str) -> Value {
    let line = "optimize prog.c --quick --no-database --budget 20s -o out.c --json r.json";
    let ran = playground.run(&format!("{line} {more} -- gcc -O2 {flags}"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    serde_json::from_str(&playground.read("r.json")).expect("JSON")
}

fn notes(report: &Value) -> String {
    report["notes"].to_string()
}

/// The tuned file does what the original does, with and without OpenMP.
fn agree(playground: &Playground, flags: &str) {
    let script = format!(
        "for n in 600 0 1 33; do f=\"-O1 -w {flags} -DN=$n\"
         gcc $f prog.c -o prog.exe && gcc $f out.c -o one.exe && gcc $f -fopenmp out.c -o out.exe || exit 1
         ./prog.exe > a && ./one.exe > b && OMP_NUM_THREADS=3 ./out.exe > c && cmp a b && cmp a c || exit 1; done"
    );
    let ran = playground.shell(&script);
    assert_eq!(ran.code, Some(0), "{}{}\n{}", ran.stdout, ran.stderr, playground.read("out.c"));
}

#[test]
fn directives_that_are_right_are_on_and_nests_may_have_threads() {
    let _alone = alone();
    let playground = Playground::with("prog.c", PROGRAM);
    let report = optimized(&playground, "--threads 2", RIGHT);
    assert_eq!(
        (&report["threads"], &report["build"]["added"][0]),
        (&2.into(), &"-fopenmp".into()),
        "{report:#}"
    );
    assert!(notes(&report).contains("so they are on"), "{report:#}");
    assert_eq!(report["program"]["verified"], true);
    let trials =
        report["nests"].as_array().expect("nests").iter().filter_map(|nest| nest["trials"].as_array());
    let has_threads = |trial: &Value| trial["recipe"].to_string().contains("parallelize");
    assert!(trials.flatten().any(has_threads), "{report:#}");
    assert!(!playground.read("out.c").contains("!defined(_OPENMP)"), "{}", playground.read("out.c"));
    agree(&playground, RIGHT);
}

#[test]
fn programs_may_tell_how_many_threads_they_have() {
    let _alone = alone();
    let told = r#"    int n = 1;
#ifdef _OPENMP
#pragma omp parallel
#pragma omp master
    n = omp_get_num_threads();
    printf("Running with OpenMP, %d threads\n", n);
#endif
    printf("Threads = %8d\n", n);
    printf("%.12g"#;
    let text = PROGRAM.replace("    printf(\"%.12g", told);
    let text = text.replacen('\n', "\n#ifdef _OPENMP\n#include <omp.h>\n#endif\n", 1);
    let playground = Playground::with("prog.c", &text);
    let report = optimized(&playground, "--threads 2", RIGHT);
    assert!(notes(&report).contains("so they are on"), "{report:#}");
    assert_eq!(
        (&report["program"]["verified"], &report["program"]["thread_lines"]),
        (&true.into(), &2.into()),
        "{report:#}"
    );
}

/// Whose directives leave the order of sums open takes other roundings, as far as these go.
#[test]
fn what_is_left_of_sums_may_be_another_where_directives_reorder_them() {
    let _alone = alone();
    let sums = r#"    double rest = 0;
#pragma omp parallel for reduction(+ : rest)
    for (int i = 0; i < 100000; i++)
        rest += (i * 7919 % 100000 - 49999.5) / 3.0;
    printf("%.15e\n", rest);
    printf("%.12g"#;
    let text = PROGRAM.replace("    printf(\"%.12g", sums);
    let playground = Playground::with("prog.c", &text);
    let report = optimized(&playground, "--threads 2", RIGHT);
    assert!(notes(&report).contains("so they are on"), "{report:#}");
    assert_eq!(
        (&report["program"]["verified"], &report["program"]["widened_numbers"]),
        (&true.into(), &1.into()),
        "{report:#}"
    );
    // Not so where bits are asked for.
    let report = optimized(&playground, "--threads 2 --fp strict", RIGHT);
    assert!(notes(&report).contains("the program behaves differently (line 1: "), "{report:#}");
}

#[test]
fn directives_that_are_wrong_stay_off_and_are_named() {
    let _alone = alone();
    let playground = Playground::with("prog.c", PROGRAM);
    let report = optimized(&playground, "--threads 2", WRONG);
    assert_eq!(
        (&report["threads"], &report["build"]["added"]),
        (&1.into(), &Value::Array(Vec::new())),
        "{report:#}"
    );
    let notes = notes(&report);
    assert!(notes.contains("because of the directive at line 9, so one thread is used"), "{notes}");
    let ran = playground.shell(
        "gcc -O1 -w -DFROM=x[i-1] prog.c -o a.exe && gcc -O1 -w -DFROM=x[i-1] out.c -o b.exe && \
                                ./a.exe > a && ./b.exe > b && cmp a b",
    );
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn directives_that_race_for_certain_or_slow_the_program_down_stay_off() {
    let _alone = alone();
    let raced = PROGRAM.replace("double sum = 0;", "double sum = 0;\n#pragma omp parallel for\n");
    let playground = Playground::with("prog.c", &raced);
    let report = optimized(&playground, "--threads 2", RIGHT);
    assert!(notes(&report).contains("the directive at line 39 makes threads race for `sum`"), "{report:#}");
    let slow =
        PROGRAM.replace("    waiting();\n", "    waiting();\n#ifdef _OPENMP\n    usleep(400000);\n#endif\n");
    let playground = Playground::with("prog.c", &slow);
    let report = optimized(&playground, "--threads 2", RIGHT);
    assert!(notes(&report).contains("the program is slower (0."), "{report:#}");
    assert_eq!(report["threads"], 1, "{report:#}");
    // Who asks for one thread hears nothing of this.
    let report = optimized(&playground, "--threads 1", RIGHT);
    assert!(!notes(&report).contains("OpenMP"), "{report:#}");
}

/// In a project, one file has its directives on; the others are built as they were.
#[test]
fn a_file_of_a_project_has_its_directives_on() {
    let _alone = alone();
    let playground = Playground::with("prog.c", PROGRAM);
    // Nothing but the directive is to be gained.
    let source = PROGRAM.replace("for (int t = 0; t < 15; t++)", "");
    playground.write("prog.c", &source);
    let build = format!("gcc -O2 {RIGHT} -c prog.c -o prog.o && gcc prog.o -o prog");
    playground.write("build.sh", &build);
    let mut command =
        playground.oxeye("tune --no-database --quick --budget 10s --run ./prog --threads 2 --json r.json");
    let ran = Ran::from(command.args(["--build", "sh build.sh"]).output().expect("oxeye starts"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&playground.read("r.json")).expect("JSON");
    assert_eq!(
        (&report["added"][0], &report["program"]["verified"]),
        (&"-fopenmp".into(), &true.into()),
        "{report:#}"
    );
    assert!(ran.stdout.contains("build prog.c and link with -fopenmp"), "{}", ran.stdout);
}

/// One of two files of a project, with work for the sampler that nothing makes faster, and a loop that waits, which gains
/// from threads on a busy machine, too.
const PART: &str = r#"#include <unistd.h>
static double x[41];
double PART(void)
{
    double work = 0.0;
    for (int t = 0; t < 400; t++)
        for (int i = 0; i < 20000; i++)
            work = 0.5 * work + i;
#pragma omp parallel for schedule(static)
    for (int i = 1; i < 41; i++) {
        usleep(4000);
        x[i] += FROM;
    }
    return work + x[40];
}
"#;

/// What the first of two files tells of its threads, where it has any.
const TELLING: &str = r#"#ifdef _OPENMP
    extern int omp_get_max_threads(void), printf(const char *, ...);
    printf("OpenMP: up to %d threads\n", omp_get_max_threads());
#endif
"#;

/// A project of two such files, the second of them with this value in its loop that waits.
fn of_two_files(from: &str) -> Value {
    let playground = Playground::with("prog.c", "");
    playground.write("first.c", &PART.replace("    return work", &format!("{TELLING}    return work")));
    playground.write("second.c", PART);
    playground.write(
        "prog.c",
        "#include <stdio.h>\ndouble first(void), second(void);\nint main(void)\n{\n    double a = first();\n    \
         printf(\"%g %g\\n\", a, second());\n}\n",
    );
    let build = format!(
        "gcc -O1 -DPART=first -DFROM=1 -c first.c && gcc -O1 -DPART=second '-DFROM={from}' -c second.c && gcc -c \
         prog.c && gcc prog.o first.o second.o -o prog"
    );
    playground.write("build.sh", &build);
    let mut command =
        playground.oxeye("tune --no-database --quick --budget 10s --run ./prog --threads 2 --json r.json");
    let ran = Ran::from(command.args(["--build", "sh build.sh"]).output().expect("oxeye starts"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    serde_json::from_str(&playground.read("r.json")).expect("JSON")
}

/// The files of a project are tried with their directives together.
#[test]
fn the_files_of_a_project_have_their_directives_on_together() {
    let _alone = alone();
    let report = of_two_files("1");
    let note = report["notes"][0].as_str().expect("a note");
    assert!(note.starts_with("2 files have OpenMP directives") && note.ends_with("so they are on"), "{note}");
    assert_eq!(
        (&report["added"][0], &report["program"]["verified"], &report["program"]["thread_lines"]),
        (&"-fopenmp".into(), &true.into(), &1.into()),
        "{report:#}"
    );
}

/// Where that is wrong, each is on its own again.
#[test]
fn directives_of_a_project_that_are_wrong_stay_off() {
    let _alone = alone();
    let report = of_two_files("x[i-1]+1");
    assert!(
        !report["notes"].as_array().expect("notes").iter().any(|note| {
            note.as_str().is_some_and(|note| note.starts_with("2 files") && note.ends_with("so they are on"))
        }),
        "{report:#}"
    );
    let mut files = report["files"].as_array().expect("files").iter();
    let second = files.find(|file| file["path"] == "second.c").expect("the second file");
    assert_eq!(second["changed"], false, "{report:#}");
}
