//! `oxeye tune` on projects that make it hard: how they are built, how they are run, what they print, how often and how long
//! their loops run. Each is tuned, its patch applied, and the patched project built and compared with what it was.

use oxeye_tests::{Playground, Ran};
use serde_json::Value;

/// A matrix product in the slow order: what is gained is far above any noise, on a loaded machine too.
const PRODUCT_C: &str = r#"#include "product.h"
void product(int n, const double *a, double *s)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                s[(long)i * n + j] += a[(long)i * n + k] * a[(long)k * n + j];
}
"#;
const PRODUCT_H: &str = "void product(int n, const double *a, double *s);\n";
/// `prog N TIMES` prints a checksum.
const MAIN_C: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include "product.h"
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 300, times = argc > 2 ? atoi(argv[2]) : 2;
    double *a = malloc(sizeof(double) * n * n), *s = calloc((size_t)n * n, sizeof(double)), all = 0;
    for (long k = 0; k < (long)n * n; k++)
        a[k] = k % 7;
    for (int t = 0; t < times; t++)
        product(n, a, s);
    for (long j = 0; j < (long)n * n; j++)
        all += s[j] / (j + 1);
    printf("%.9e\n", all);
    return 0;
}
"#;
const BUILD: &str = "gcc -O2 -c product.c && gcc -O2 -c main.c && gcc main.o product.o -o prog";
const RUN: &str = "./prog 350 2";

/// The plain project, and files in place of some of its own or beside them.
fn project(files: &[(&str, &str)]) -> Playground {
    let playground = Playground::with("product.c", PRODUCT_C);
    playground.write("product.h", PRODUCT_H);
    playground.write("main.c", MAIN_C);
    for (name, text) in files {
        playground.write(name, text);
    }
    playground
}

/// Tunes it within so many seconds; the report. One thread, so that several of these tests may run at once.
fn tuned_within(seconds: u32, playground: &Playground, build: &str, run: &str, more: &[&str]) -> Value {
    let threads = if more.contains(&"--threads") { "" } else { "--threads 1" };
    let line = format!("tune --no-database --quick --budget {seconds}s {threads} --json report.json");
    let mut command = playground.oxeye(&line);
    let ran = command.args(["--build", build, "--run", run]).args(more).output();
    let ran = Ran::from(ran.expect("oxeye starts"));
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    serde_json::from_str(&playground.read("report.json")).expect("JSON")
}

/// Tunes it so that `file` is changed: once more with more time if nothing was gained there, since others may keep the processors busy.
fn tuned(playground: &Playground, file: &str, build: &str, run: &str, more: &[&str]) -> Value {
    // What is left of the time is elsewhere then, and may gain as well.
    let is_changed = |report: &Value| {
        let files = report["files"].as_array().expect("files");
        files.iter().any(|f| f["changed"] == true && f["path"] == file)
    };
    let mut report = tuned_within(6, playground, build, run, more);
    if !is_changed(&report) {
        report = tuned_within(20, playground, build, run, &[more, &["--fresh"]].concat());
    }
    assert!(is_changed(&report), "{report:#}");
    report
}

/// Tunes the project; `file` is changed (others may be), and with the patch the project builds and does the same, in runs of these arguments
/// too.
fn gains(
    playground: &Playground,
    file: &str,
    build: &str,
    run: &str,
    more: &[&str],
    others: &[&str],
) -> Value {
    let built = playground.shell(build);
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    let before: Vec<Ran> = others.iter().map(|run| playground.shell(run)).collect();
    let report = tuned(playground, file, build, run, more);
    assert_eq!(report["program"]["verified"], true, "{report:#}");
    let patched = playground.shell(&format!("git apply oxeye.patch && {build}"));
    assert_eq!(patched.code, Some(0), "{}{}", patched.stdout, patched.stderr);
    for (run, before) in others.iter().zip(before) {
        let after = playground.shell(run);
        assert_eq!((after.code, &after.stdout), (before.code, &before.stdout), "{run}");
    }
    report
}

/// Runs at other sizes.
const OTHERS: [&str; 3] = ["./prog 1 1", "./prog 67 3", "./prog 200 1"];

#[test]
fn sources_that_the_build_makes() {
    let playground = project(&[("product.c.in", PRODUCT_C)]);
    let build = format!("sed s/nothing/nothing/ product.c.in > product.c && {BUILD}");
    let report = tuned(&playground, "product.c", &build, RUN, &[]);
    assert_eq!(report["files"][0]["path"], "product.c");
    assert_eq!(report["files"][0]["changed"], true, "{report:#}");
}

#[test]
fn sources_that_are_gone_after_the_build() {
    let playground = project(&[("product.c.in", PRODUCT_C)]);
    std::fs::remove_file(playground.path("product.c")).expect("removed");
    let build = format!("cp product.c.in product.c && {BUILD} && rm product.c");
    let report = tuned_within(20, &playground, &build, RUN, &[]);
    // Loops of main.c may gain; what is gone is in no patch.
    let files = report["files"].as_array().expect("files");
    assert!(files.iter().all(|f| f["path"] != "product.c" || f["changed"] == false), "{report:#}");
}

#[test]
fn a_library_of_the_same_objects_that_is_not_used() {
    let playground = project(&[]);
    let build = "gcc -O2 -fPIC -c product.c && gcc -shared product.o -o libproduct.so && gcc -O2 -c main.c && \
                 gcc main.o product.o -o prog";
    gains(&playground, "product.c", build, RUN, &[], &OTHERS);
}

#[test]
fn two_programs_from_one_file() {
    let main = MAIN_C.replace("times = argc", "times = PLUS + argc").replace("all = 0", "all = PLUS");
    let playground = project(&[("main.c", &main)]);
    let build = "gcc -O2 -DPLUS=0 main.c product.c -o prog && gcc -O1 -DPLUS=1 main.c product.c -o other";
    gains(&playground, "product.c", build, RUN, &[], &["./prog 67 3", "./other 67 3", "./other 1 1"]);
}

#[test]
fn a_static_program_of_recursive_makes() {
    let playground = project(&[
        ("Makefile", "all:\n\t$(MAKE) -C lib\n\t$(CC) $(CFLAGS) -I. main.c lib/libproduct.a -o prog\n"),
        (
            "lib/Makefile",
            "libproduct.a: product.o\n\t$(AR) rcs $@ $^\nproduct.o: ../product.c\n\t$(CC) -O2 -I.. -c -o $@ $<\n",
        ),
    ]);
    gains(&playground, "product.c", "make -B -j2 CFLAGS='-O2 -Wl,--as-needed'", RUN, &[], &OTHERS);
}

#[test]
fn warnings_are_errors() {
    let playground = project(&[]);
    let build = "gcc -std=c11 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wsign-compare -Wno-error=conversion \
                 -Werror -c product.c && gcc -O2 main.c product.o -o prog";
    // Directives without OpenMP are worth a warning, too.
    gains(&playground, "product.c", build, RUN, &["--threads", "2"], &OTHERS);
}

#[test]
fn a_main_that_returns_nothing() {
    let main = MAIN_C.replace("return 0;", "return 41 + (int)(all > 0);");
    let playground = project(&[("main.c", &main)]);
    let ran = playground.oxeye("tune").args(["--build", BUILD, "--run", RUN]).output();
    let ran = Ran::from(ran.expect("oxeye starts"));
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(ran.stderr.contains("exit code 42") && ran.stderr.contains("--exit-code 42"), "{}", ran.stderr);
    gains(&playground, "product.c", BUILD, RUN, &["--exit-code", "42"], &OTHERS);
}

#[test]
fn times_dates_and_addresses_are_printed() {
    let more = r#"    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    time_t day = now.tv_sec;
    printf("run %ld.%09ld pid %d at %s took %g s, matrix at %p\n", (long)now.tv_sec, now.tv_nsec, getpid(),
           ctime(&day), clock() * 1e-6, (void *)a);
    return 0;"#;
    let main = format!("#include <time.h>\n#include <unistd.h>\n{}", MAIN_C.replace("    return 0;", more));
    let playground = project(&[("main.c", &main)]);
    gains(&playground, "product.c", BUILD, RUN, &[], &[]);
}

#[test]
fn children_do_the_work() {
    let main = MAIN_C
        .replace("#include <stdio.h>", "#include <stdio.h>\n#include <sys/wait.h>\n#include <unistd.h>")
        .replace("    double *a", "    if (fork() > 0) {\n        int status;\n        wait(&status);\n        return WEXITSTATUS(status);\n    }\n    double *a");
    let playground = project(&[("main.c", &main)]);
    gains(&playground, "product.c", BUILD, RUN, &[], &OTHERS);
}

#[test]
fn threads_do_the_work() {
    let main = r#"#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "product.h"
static int n;
static double *a;
static void *work(void *s)
{
    product(n, a, s);
    return NULL;
}
int main(int argc, char **argv)
{
    n = argc > 1 ? atoi(argv[1]) : 300;
    a = malloc(sizeof(double) * n * n);
    for (long k = 0; k < (long)n * n; k++)
        a[k] = k % 7;
    pthread_t threads[3];
    double *s[3], all = 0;
    for (int t = 0; t < 3; t++) {
        s[t] = calloc((size_t)n * n, sizeof(double));
        pthread_create(&threads[t], NULL, work, s[t]);
    }
    for (int t = 0; t < 3; t++)
        pthread_join(threads[t], NULL);
    for (long j = 0; j < (long)n * n; j++)
        all += (s[0][j] + s[1][j] + s[2][j]) / (j + 1);
    printf("%.9e\n", all);
    return 0;
}
"#;
    let playground = project(&[("main.c", main)]);
    let build = format!("{BUILD} -lpthread");
    gains(&playground, "product.c", &build, RUN, &[], &["./prog 1", "./prog 67"]);
}

#[test]
fn five_thousand_files() {
    let playground = project(&[]);
    let folder = playground.path("").canonicalize().expect("a folder");
    let mut commands = Vec::new();
    for k in 0..5000 {
        let name = format!("many/d{}/f{k}.c", k % 50);
        playground.write(&name, &format!("int f{k}(int x)\n{{\n    return x + {k};\n}}\n"));
        commands.push(name);
    }
    commands.extend(["product.c".into(), "main.c".into()]);
    let entries: Vec<Value> = commands
        .iter()
        .map(|name| {
            let object = format!("CMakeFiles/prog.dir/{}", name.replace('/', "_"));
            serde_json::json!({
                "directory": folder, "file": name,
                "arguments": ["gcc", "-O2", "-c", name, "-o", format!("{object}.o")],
            })
        })
        .collect();
    playground.write("compile_commands.json", &serde_json::json!(entries).to_string());
    let objects = "CMakeFiles/prog.dir/product.c.o CMakeFiles/prog.dir/main.c.o";
    playground.write("CMakeFiles/prog.dir/link.txt", &format!("gcc {objects} -o prog\n"));
    let built = playground.shell("gcc -O2 main.c product.c -o prog");
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    let mut command =
        playground.oxeye("tune --no-database --quick --budget 20s --threads 1 --json report.json");
    let ran = command.args(["--compile-commands", "compile_commands.json", "--run", RUN]).output();
    let ran = Ran::from(ran.expect("oxeye starts"));
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let report: Value = serde_json::from_str(&playground.read("report.json")).expect("JSON");
    assert_eq!(report["files"][0]["path"], "product.c");
    assert_eq!(report["files"][0]["changed"], true, "{report:#}");
}

/// A compiler that does something before it compiles.
fn wrapped(playground: &Playground, before: &str) -> String {
    playground.write("bin/gcc", &format!("#!/bin/sh\n{before}\nPATH=${{PATH#*:}} exec gcc \"$@\"\n"));
    assert_eq!(playground.shell("chmod +x bin/gcc").code, Some(0));
    format!("PATH=\"$PWD/bin:$PATH\"; export PATH; {}", BUILD.replace("gcc -O2", "bin/gcc -O2"))
}

#[test]
fn a_compiler_that_fails_now_and_then() {
    let playground = project(&[]);
    let folder = playground.path("");
    let before = format!(
        "case \"$*\" in *-c*) ;; *) PATH=${{PATH#*:}} exec gcc \"$@\";; esac\necho x >> '{0}/calls'\n\
         [ $(($(wc -l < '{0}/calls') % 4)) = 0 ] && {{ echo 'gcc: internal compiler error: Killed' >&2; exit 4; }}",
        folder.display()
    );
    // The user's own build tries again, too.
    let build = wrapped(&playground, &before);
    let build = build
        .replace("bin/gcc -O2 -c product.c", "{ bin/gcc -O2 -c product.c || bin/gcc -O2 -c product.c; }");
    let build = build.replace("bin/gcc -O2 -c main.c", "{ bin/gcc -O2 -c main.c || bin/gcc -O2 -c main.c; }");
    gains(&playground, "product.c", &build, RUN, &[], &OTHERS);
}

#[test]
fn a_compiler_that_is_slow() {
    let playground = project(&[]);
    let build = wrapped(&playground, "case \"$*\" in *-c*) sleep 2;; esac");
    gains(&playground, "product.c", &build, RUN, &[], &OTHERS);
}

#[test]
fn a_loop_that_is_called_very_often() {
    let main = MAIN_C
        .replace("int main(", "double dot3(const double *x, const double *y);\nint main(")
        .replace("    printf", "    for (long k = 0; k < 20000000; k++)\n        all += dot3(a + k % 40, a + k % 50);\n    printf");
    let dot = "double dot3(const double *x, const double *y)\n{\n    double sum = 0;\n    for (int k = 0; k < 3; k++)\n        sum += x[k] * y[k];\n    return sum;\n}\n";
    let playground = project(&[("main.c", &main), ("dot.c", dot)]);
    let build = "gcc -O2 main.c product.c dot.c -o prog";
    gains(&playground, "product.c", build, "./prog 500 2", &[], &["./prog 67 3"]);
}

#[test]
fn one_long_call() {
    let playground = project(&[]);
    gains(&playground, "product.c", BUILD, "./prog 1100 1", &[], &OTHERS);
}

#[test]
fn sizes_that_vary_by_a_thousand() {
    let main = MAIN_C.replace(
        "        product(n, a, s);",
        "        for (int m = 1; m <= n; m = m < 20 ? m + 1 : 2 * m)\n            for (int r = 0; r < 1 + 4000 / (m * m); r++)\n                product(m, a, s);\n    product(n, a, s);",
    );
    let playground = project(&[("main.c", &main)]);
    gains(&playground, "product.c", BUILD, "./prog 1000 1", &[], &OTHERS);
}

#[test]
fn other_languages_in_the_link() {
    let main = MAIN_C
        .replace(
            "#include \"product.h\"",
            "#include <vector>\nextern \"C\" {\n#include \"product.h\"\n}\nextern \"C\" int one(void);\n",
        )
        .replace("malloc(sizeof(double) * n * n)", "new double[(size_t)n * n * one()]")
        .replace("calloc((size_t)n * n, sizeof(double))", "new double[(size_t)n * n]()");
    let one = "    .text\n    .globl one\none:\n    movl $1, %eax\n    ret\n    .section .note.GNU-stack,\"\",@progbits\n";
    let playground = project(&[("main.cpp", &main), ("one.s", one)]);
    let build = "gcc -O2 -c product.c && as one.s -o one.o && g++ -O1 main.cpp product.o one.o -o prog";
    gains(&playground, "product.c", build, RUN, &[], &OTHERS);
}

#[test]
fn a_script_runs_it_from_elsewhere() {
    let playground = project(&[
        (
            "run.sh",
            "#!/bin/bash\nset -e\ncd \"$(dirname \"$0\")/out\"\nexport SIZE=\"$1\"\nif [ \"$SIZE\" -gt 0 ]; then ../prog \"$SIZE\" 2 | tee result.txt; fi\n",
        ),
        ("out/keep", ""),
    ]);
    let check = ["bash run.sh 67"];
    gains(&playground, "product.c", BUILD, "bash run.sh 350", &["--compare", "out/result.txt"], &check);
}

#[test]
fn signals_and_timers_are_in_use() {
    let main = format!(
        "#include <signal.h>\n#include <sys/time.h>\nstatic volatile int ticks;\nstatic void tick(int s)\n{{\n    ticks += s > 0;\n}}\n{}",
        MAIN_C.replace(
            "    double *a",
            "    struct itimerval often = {{0, 3000}, {0, 3000}};\n    signal(SIGPROF, tick);\n    signal(SIGALRM, tick);\n    setitimer(ITIMER_PROF, &often, 0);\n    setitimer(ITIMER_REAL, &often, 0);\n    double *a"
        )
    );
    let playground = project(&[("main.c", &main)]);
    gains(&playground, "product.c", BUILD, RUN, &[], &OTHERS);
}

#[test]
fn a_lot_is_printed() {
    let main = MAIN_C.replace(
        "    printf",
        "    for (long j = 0; j < (long)n * n; j++)\n        for (int r = 0; r < 12; r++)\n            printf(\"%ld %d %.6g\\n\", j, r, s[j]);\n    printf",
    );
    // What is in the other file is tuned there.
    let main = main.replace(
        "        product(n, a, s);",
        "    {\n        product(n, a, s);\n        fflush(stdout);\n    }",
    );
    let playground = project(&[("main.c", &main)]);
    gains(&playground, "product.c", BUILD, "./prog 300 9", &[], &["./prog 20 1"]);
}

#[test]
fn old_text() {
    let product =
        PRODUCT_C.replace('\n', "\r\n").replace("void product", "/* gr\u{e4}\u{df}lich */ void product");
    let playground = project(&[]);
    let latin: Vec<u8> = product.chars().map(|c| c as u8).collect();
    std::fs::write(playground.path("product.c"), latin).expect("written");
    gains(&playground, "product.c", BUILD, RUN, &[], &OTHERS);
    let after = std::fs::read(playground.path("product.c")).expect("read");
    assert!(after.windows(11).any(|w| w == b"gr\xe4\xdflich */"), "bytes are kept");
}
