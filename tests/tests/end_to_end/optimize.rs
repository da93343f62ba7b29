//! `oxeye optimize` and `oxeye replay` on small whole programs: the happy paths.

use oxeye_tests::{Playground, Ran, alone};
use serde_json::Value;

/// Two slow nests, one that must be left unchanged, and one that is never worth tuning.
const PROGRAM: &str = r#"#include <stdio.h>
#include <stdlib.h>

#define N 260

static double A[N][N], B[N][N], C[N][N], x[N], y[N];

int next(int state);

/* A comment with UTF-8: Größe. */
static void init(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = (i * 3 + j) % 17 / 17.0;
            B[i][j] = (i + j * 5) % 13 / 13.0;
            C[i][j] = 0.5;
        }
}

static void multiply(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                C[i][j] += A[i][k] * B[k][j];
}

static void column_sums(void)
{
    for (int t = 0; t < 40; t++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                y[j] = y[j] * 0.5 + C[i][j];
}

static void recurrence(void)
{
    for (int t = 0; t < 4000; t++)
        for (int i = 1; i < N; i++)
            x[i] = x[i - 1] * 0.5 + x[i] * x[i];
}

int main(void)
{
    init();
    multiply();
    column_sums();
    recurrence();
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += C[i][j];
    printf("%.9e %.9e %.9e\n", sum, y[7], x[9]);
    return 0;
}
"#;

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}\n{}\n{}", ran.stdout, ran.stderr))
}

fn nest_of<'a>(report: &'a Value, function: &str) -> &'a Value {
    let nests = report["nests"].as_array().expect("nests");
    nests.iter().find(|n| n["function"] == function).unwrap_or_else(|| panic!("no nest in {function}"))
}

/// Compiles both files and compares their outputs.
fn same_output(playground: &Playground, before: &str, after: &str, flags: &str) {
    let script = format!(
        "gcc {flags} {before} -o before.exe -lm && gcc {flags} -fopenmp {after} -o after.exe -lm && \
         ./before.exe > before.txt && ./after.exe > after.txt && cat before.txt after.txt"
    );
    let ran = playground.shell(&script);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert_eq!(lines.len() % 2, 0, "{lines:?}");
    let (first, second) = lines.split_at(lines.len() / 2);
    assert_eq!(first, second);
}

#[test]
fn a_program_is_tuned_and_still_prints_the_same() {
    let _alone = alone();
    let playground = Playground::with("prog.c", PROGRAM);
    let ran = playground.run("optimize prog.c --quick --budget 15s --threads 1 --json - -- gcc -O2");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report = json(&ran);
    assert_eq!(report["schema"], "oxeye.report/1");
    for key in ["input", "host", "threads", "seconds", "program_seconds", "trials", "program", "nests"] {
        assert!(!report[key].is_null(), "{key}");
    }
    for key in ["baseline_ms", "optimized_ms", "speedup", "verified", "max_rel_error"] {
        assert!(report["program"].get(key).is_some(), "program.{key}");
    }
    let keys = [
        "id",
        "function",
        "line",
        "baseline_ms",
        "optimized_ms",
        "speedup",
        "verified",
        "recipe",
        "donor",
        "distance",
        "bound",
        "roof_fraction",
        "refused",
    ];
    for nest in report["nests"].as_array().expect("nests") {
        for key in keys {
            assert!(nest.get(key).is_some(), "nests.{key}");
        }
    }
    let multiply = nest_of(&report, "multiply");
    assert!(multiply["recipe"].is_string(), "{multiply:#}");
    assert_eq!(multiply["verified"], true);
    assert!(multiply["speedup"].as_f64() > Some(1.02));
    assert_eq!(multiply["line"], 23);
    // A first-order recurrence has no faster order; the report must say something about it.
    let recurrence = nest_of(&report, "recurrence");
    if recurrence["recipe"].is_null() {
        assert!(recurrence["note"].is_string() || recurrence["refused"][0].is_string(), "{recurrence:#}");
    }
    assert_eq!(report["program"]["verified"], true);
    assert_eq!(playground.read("prog.c"), PROGRAM);
    assert!(playground.read("prog.oxeye.c").contains("/* A comment with UTF-8: Größe. */"));
    assert_eq!(playground.files(), ["prog.c", "prog.oxeye.c"]);
    same_output(&playground, "prog.c", "prog.oxeye.c", "-O2");
}

/// Columns of a matrix, one after the other, in as many functions as there are names. What is called between them keeps them apart.
fn columns(names: &[&str]) -> String {
    let sweep = |(k, name): (usize, &&str)| {
        format!(
            "static void {name}(int n, const double *a, double *b)\n{{\n    for (int j = 0; j < n; j++)\n        \
             for (int i = 0; i < n; i++)\n            b[i * n + j] = 0.{k}5 * b[i * n + j] + a[i * n + j];\n}}\n\n"
        )
    };
    // Calls between the nests keep these apart.
    let calls: String =
        names.iter().map(|name| format!("        {name}(n, a, b);\n        getenv(\"HOME\");\n")).collect();
    let sweeps: String = names.iter().enumerate().map(sweep).collect();
    format!(
        "#include <stdio.h>\n#include <stdlib.h>\n\n{sweeps}int main(int argc, char **argv)\n{{\n    \
         int n = argc > 1 ? atoi(argv[1]) : 1200;\n    double *a = calloc((size_t)n * n, sizeof *a), \
         *b = calloc((size_t)n * n, sizeof *b);\n    a[n + 1] = 1.5;\n    for (int t = 0; t < 2; t++) {{\n{calls}    \
         }}\n    printf(\"%.9e\\n\", b[n + 1]);\n    return 0;\n}}\n"
    )
}

#[test]
fn where_many_nests_wait_small_sizes_are_left_to_the_original() {
    let _alone = alone();
    let names = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];
    let playground = Playground::with("columns.c", &columns(&names));
    let ran = playground.run("optimize columns.c --budget 12s --threads 1 --json - -- gcc -O2 -fno-inline");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report = json(&ran);
    let nests = report["nests"].as_array().expect("nests");
    let guards: Vec<&Value> =
        nests.iter().filter(|n| n["recipe"].is_string()).map(|n| &n["guard"]["least"]).collect();
    assert!(!guards.is_empty(), "{report:#}");
    let size = 1200.0 * 1200.0;
    for least in guards.iter().filter(|least| least.is_number()) {
        let least = least.as_f64().expect("a number");
        assert!(size / 4.0 < least && least <= size / 2.0, "{least}");
    }
    assert!(guards.iter().any(|least| least.is_number()), "{guards:?}");
    same_output(&playground, "columns.c", "columns.oxeye.c", "-O2");
}

#[test]
fn replay_gives_the_same_bytes() {
    let _alone = alone();
    let playground = Playground::with("prog.c", PROGRAM);
    let line = "optimize prog.c -v --quick -o out.c --budget 10s --threads 1 --save-recipe r.json --json report.json -- gcc -O2";
    let ran = playground.run(line);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("multiply"), "{}", ran.stdout);
    assert!(!playground.read("out.c").contains("omp"), "one thread means no OpenMP");
    for recipe in ["r.json", "report.json"] {
        let ran = playground.run(&format!("replay {recipe} prog.c -o again.c"));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(playground.read("again.c"), playground.read("out.c"));
    }
    let ran = playground.run("replay prog.c prog.c");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("JSON"), "{}", ran.stderr);
}

const SCATTER: &str = "#include <stdio.h>
static double a[900][1100], b[900][1100], x[10000];
static int idx[5000];
static void steps(int n, double *out, double *in, int *at)
{
    for (int t = 0; t < 20; t++) {
        for (int j = 1; j < 1099; j++)
            for (int i = 1; i < 899; i++)
                a[i][j] = b[i - 1][j] + t * b[i][j + 1];
        for (int i = 0; i < n; i++) {
            out[at[i]] += in[i] * a[i % 900][7];
            at[i] = (at[i] + t) % 5000;
        }
    }
}
int main(void)
{
    for (int i = 0; i < 900; i++) for (int j = 0; j < 1100; j++) b[i][j] = (i + j) % 7;
    for (int i = 0; i < 5000; i++) { idx[i] = i * 7 % 5000; x[5000 + i] = i % 3; }
    steps(5000, x, x + 5000, idx);
    double s = 0;
    for (int i = 0; i < 5000; i++) s += x[i] * (i % 5);
    printf(\"%.17g\\n\", s);
    return 0;
}
";

#[test]
fn loops_inside_a_nest_without_schedules_are_tuned() {
    let _alone = alone();
    let playground = Playground::with("prog.c", SCATTER);
    let line = "optimize prog.c --quick -o out.c --budget 10s --threads 1 --save-recipe r.json --json report.json -- gcc -O2";
    let ran = playground.run(line);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&playground.read("report.json")).expect("a report");
    let at = |line: u64| {
        let nests = report["nests"].as_array().expect("nests");
        nests
            .iter()
            .find(|nest| nest["line"] == line)
            .unwrap_or_else(|| panic!("no nest at {line}: {nests:#?}"))
    };
    // How far a scatter reaches depends on what it computes, so the time loop stays; the sweep inside it does not.
    assert_eq!(at(6)["unchanged"], "no_legal_schedule", "{:#}", at(6));
    assert!(at(7)["recipe"].is_string(), "{:#}", at(7));
    assert_eq!(report["recipes"]["nests"][0]["within"], serde_json::json!([0]));
    let ran = playground.run("replay r.json prog.c -o again.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(playground.read("again.c"), playground.read("out.c"));
    same_output(&playground, "prog.c", "out.c", "-O2");
}

const KERNEL: &str =
    "void smooth(int n, int m, double (*restrict out)[m], double (*restrict in)[m], double w)
{
    for (int j = 1; j < m - 1; j++)
        for (int i = 1; i < n - 1; i++)
            out[i][j] = w * (in[i - 1][j] + in[i + 1][j] + in[i][j - 1] + in[i][j + 1]);
}
";

#[test]
fn a_kernel_without_a_program_takes_its_sizes_from_the_command_line() {
    let _alone = alone();
    let playground = Playground::with("kernel.c", KERNEL);
    let ran = playground.run("optimize kernel.c --quick --set n=900 --budget 10s -- gcc -O2");
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(ran.stderr.contains("--set m="), "{}", ran.stderr);
    assert_eq!(playground.files(), ["kernel.c"]);

    let ran = playground.run(
        "optimize kernel.c --quick --set n=900 --set m=1100 --budget 10s --threads 1 --json - -- gcc -O2",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report = json(&ran);
    let smooth = nest_of(&report, "smooth");
    assert!(smooth["recipe"].is_string(), "{smooth:#}");
    assert_eq!(smooth["verified"], true);
    assert!(report["program"]["speedup"].is_null());
    playground.write(
        "main.c",
        "#include <stdio.h>
void smooth(int n, int m, double (*out)[m], double (*in)[m], double w);
static double a[300][200], b[300][200];
int main(void) {
    for (int i = 0; i < 300; i++) for (int j = 0; j < 200; j++) b[i][j] = i * j % 7;
    smooth(300, 200, a, b, 0.25);
    double s = 0; for (int i = 0; i < 300; i++) for (int j = 0; j < 200; j++) s += a[i][j] * (i + 2 * j);
    printf(\"%.17g\\n\", s); return 0; }\n",
    );
    same_output(&playground, "kernel.c main.c", "kernel.oxeye.c main.c", "-O2");
}

#[test]
fn the_main_may_stand_in_another_source() {
    let _alone = alone();
    let playground = Playground::with("kernel.c", KERNEL);
    playground.write(
        "main.c",
        "#include <stdio.h>
void smooth(int n, int m, double (*out)[m], double (*in)[m], double w);
static double a[1500][1400], b[1500][1400];
int main(void) {
    for (int i = 0; i < 1500; i++) for (int j = 0; j < 1400; j++) b[i][j] = (i + j) % 7;
    for (int t = 0; t < 5; t++) smooth(1500, 1400, a, b, 0.25);
    printf(\"%.17g\\n\", a[3][7] + a[1000][1000]); return 0; }\n",
    );
    let ran = playground.run("optimize kernel.c --quick --budget 10s --json - -- gcc -O2 main.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report = json(&ran);
    assert_eq!(report["program"]["verified"], true);
    assert!(nest_of(&report, "smooth")["invocations"] == 5);
}

#[test]
fn functions_of_other_sources_are_tuned_where_they_are_called() {
    let _alone = alone();
    // The C library has another function of this name.
    let playground = Playground::with(
        "main.c",
        "#include <stdio.h>
void step(int n, const double *in, double *out, double w);
static double a[200][200], b[200];
int main(void) {
    for (int j = 0; j < 200; j++) b[j] = j % 7;
    for (int t = 0; t < 200; t++)
        step(200, b, a[t], 0.25 * t);
    double s = 0; for (int i = 0; i < 200; i++) for (int j = 0; j < 200; j++) s += a[i][j] * (i + 2 * j);
    printf(\"%.17g\\n\", s); return 0; }\n",
    );
    playground.write(
        "step.c",
        "#include <math.h>
void step(int n, const double *in, double *out, double w) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            out[i] += sqrt(fabs(w - in[k])) * in[i];
}\n",
    );
    let ran = playground.run("optimize main.c --quick --budget 10s --json report.json -- gcc -O3 step.c -lm");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&playground.read("report.json")).expect("JSON");
    assert_eq!(report["program"]["verified"], true);
    let nest = report["nests"].as_array().expect("nests").iter().find(|nest| nest["line"] == 6).expect("it");
    assert!(nest["trials"].as_array().is_some_and(|trials| !trials.is_empty()), "{nest:#}");
    // By hand, so that nothing depends on what was faster.
    let recipe = r#"{"schema": "oxeye.recipe/1", "threads": 2, "reassociate": false, "no_alias": false,
        "compiler": {"command": "gcc", "args": ["-O3", "step.c", "-lm"], "chosen": true},
        "nests": [{"function": "main", "ordinal": 1, "line": 6, "name": "by hand", "recipe": "parallelize t"}]}"#;
    playground.write("recipe.json", recipe);
    let ran = playground.run("replay recipe.json main.c -o tuned.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let tuned = playground.read("tuned.c");
    assert!(tuned.contains("contains step() of step.c: to be tuned again when that changes"), "{tuned}");
    same_output(&playground, "main.c step.c", "tuned.c step.c", "-O2 -fopenmp -Wall -Werror");
}

/// Reads a size from its arguments and a seed from its standard input; spends most of its time in a loop that is not
/// read.
const DRIVEN: &str = r#"#include <stdio.h>
#include <stdlib.h>

static double a[2000][2000], s[2000];

static unsigned scramble(unsigned state, long n)
{
    while (n > 0) {
        state = state * 1664525u + 1013904223u;
        n -= (state & 1) + 1;
    }
    return state;
}

int main(int argc, char **argv)
{
    unsigned seed;
    if (argc != 3 || scanf("%u", &seed) != 1)
        return 3;
    int n = atoi(argv[2]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = (i * seed + j) % 17;
    for (int t = 0; t < 10; t++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                s[j] += a[i][j] * 0.5;
    printf("%u %.17g\n", scramble(seed, 300000000), s[n / 2]);
    return 0;
}
"#;

#[test]
fn a_program_gets_its_arguments_and_input_and_is_told_where_its_time_goes() {
    let _alone = alone();
    let playground = Playground::with("driven.c", DRIVEN);
    playground.write("data/seed.txt", "7\n");
    let ran = playground.run("optimize driven.c --quick --budget 10s -- gcc -O2");
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(ran.stderr.contains("exit code 3") && ran.stderr.contains("--run"), "{}", ran.stderr);

    let mut command = playground.oxeye("optimize driven.c -v --quick --cwd data --budget 10s --json -");
    command.args(["--run", "./driven -n 700 < seed.txt", "--", "gcc", "-O2"]);
    let ran = Ran::from(command.output().expect("oxeye starts"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report = json(&ran);
    assert_eq!(report["program"]["verified"], true);
    let single = |nest: &&Value| nest["last_line"].is_null();
    assert_eq!(report["nests"].as_array().expect("nests").iter().filter(single).count(), 2, "{report:#}");
    let coverage = &report["coverage"];
    assert!(coverage["samples"].as_u64() >= Some(20), "{coverage:#}");
    let hottest = &coverage["loops"][0];
    assert_eq!(hottest["line"], 8, "{coverage:#}");
    assert!(hottest["share"].as_f64() > Some(0.3), "{coverage:#}");
    assert!(ran.stderr.contains("in line 8"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn an_interruption_leaves_every_file_as_it_was() {
    let _alone = alone();
    let playground = Playground::with("prog.c", PROGRAM);
    playground.write("prog.oxeye.c", "/* an earlier result */\n");
    for (delay_ms, signal) in [(300, "INT"), (1500, "HUP"), (4000, "HUP")] {
        let mut child = playground
            .oxeye("optimize prog.c --budget 60s -- gcc -O2")
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("oxeye starts");
        std::thread::sleep(std::time::Duration::from_millis(delay_ms));
        let done = child.try_wait().expect("waits").is_some();
        playground.shell(&format!("kill -{signal} {}", child.id()));
        let status = child.wait().expect("waits");
        if !done {
            assert_eq!(status.code(), Some(130), "after {delay_ms} ms");
            assert_eq!(playground.read("prog.oxeye.c"), "/* an earlier result */\n");
        }
        assert_eq!(playground.read("prog.c"), PROGRAM);
        assert_eq!(playground.files(), ["prog.c", "prog.oxeye.c"]);
    }
}

/// Ctrl-C, and what batch systems send, while candidates are tried.
#[cfg(unix)]
#[test]
fn signals_end_trying_with_what_was_found() {
    let _alone = alone();
    for signal in ["INT", "TERM"] {
        ends_with_the_best_so_far(signal);
    }
}

#[cfg(unix)]
fn ends_with_the_best_so_far(signal: &str) {
    let playground = Playground::with("prog.c", PROGRAM);
    playground.write("tmp/empty", "");
    let mut child = playground
        .oxeye("optimize prog.c --budget 300s --json report.json -- gcc -O2")
        .env("TMPDIR", playground.path("tmp"))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("oxeye starts");
    // Candidates are tried as soon as the first of them is written.
    let is_trying = || playground.shell("ls tmp/oxeye-*/nest*/candidate*.c").code == Some(0);
    while !is_trying() && child.try_wait().expect("waits").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    playground.shell(&format!("kill -{signal} {}", child.id()));
    let ran = Ran::from(child.wait_with_output().expect("waits"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("ending with the best so far"), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&playground.read("report.json")).expect("JSON");
    assert_eq!(report["program"]["verified"], true);
    same_output(&playground, "prog.c", "prog.oxeye.c", "-O2");
}

#[test]
fn what_the_order_of_sums_keeps_from_a_nest_is_told() {
    let _alone = alone();
    let sum = "#include <stdio.h>\nstatic double a[300000], b[300000];\nint main(void)\n{\n    double s = 0;\n    \
               for (int i = 0; i < 300000; i++) {\n        a[i] = i % 7;\n        b[i] = i % 5;\n    }\n    \
               for (int t = 0; t < 40; t++)\n        for (int i = 0; i < 300000; i++)\n            s += a[i] * b[i];\n    \
               printf(\"%.12g\\n\", s);\n}\n";
    let playground = Playground::with("sum.c", sum);
    let notes = |options: &str, flags: &str| -> String {
        let ran = playground.run(&format!("optimize sum.c --quick {options} --json - -- gcc -O2 {flags}"));
        let report: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.stderr));
        report["notes"].to_string()
    };
    let told = "sum.c:10 adds up floating-point numbers in order";
    assert!(notes("", "").contains(told));
    for (options, flags) in [("--fp strict", ""), ("--fp reassociate", ""), ("", "-ffast-math")] {
        assert!(!notes(options, flags).contains("in order, as the flags ask"), "{options} {flags}");
    }
}
