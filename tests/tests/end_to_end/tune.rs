//! `oxeye tune` on small projects: builds of several commands, archives, libraries that other programs load, and what people do
//! wrong.

use oxeye_tests::{Playground, Ran, alone};
use serde_json::Value;

/// A matrix product in the slow order: what is gained is far above any noise, on a loaded machine too.
const PRODUCT_C: &str = r#"#include "product.h"
void product(int n, const double *a, double *s)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                s[(long)i * n + j] += a[(long)i * n + k] * a[(long)k * n + j] * factors[j % 2];
}
"#;
const PRODUCT_H: &str = "extern const double factors[2];\nvoid product(int n, const double *a, double *s);\n";
const FACTORS_C: &str = "#include \"product.h\"\nconst double factors[2] = {0.5, 0.25};\n";
const MAIN_C: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include "product.h"
int main(int argc, char **argv)
{
    int n, times;
    if (argc < 2 || scanf("%d", &times) != 1) {
        fprintf(stderr, "usage: prog N < TIMES\n");
        return 2;
    }
    n = atoi(argv[1]);
    double *a = malloc(sizeof(double) * n * n), *s = calloc((size_t)n * n, sizeof(double));
    for (long k = 0; k < (long)n * n; k++)
        a[k] = k % 7;
    for (int t = 0; t < times; t++)
        product(n, a, s);
    double all = 0;
    for (long j = 0; j < (long)n * n; j++)
        all += s[j] / (j + 1);
    printf("%.9e\n", all);
    free(a);
    free(s);
    return FINE;
}
"#;

/// A project with its sources in folders with spaces, built by a script.
fn project(build: &str) -> Playground {
    let playground = Playground::with("my src/product.c", PRODUCT_C);
    playground.write("my src/include/product.h", PRODUCT_H);
    playground.write("my src/factors.c", FACTORS_C);
    playground.write("my src/main.c", MAIN_C);
    playground.write("build.sh", build);
    playground.write("times", "2\n");
    playground
}

fn tune(playground: &Playground, args: &[&str]) -> Ran {
    let mut command = playground.oxeye("tune --no-database --quick --budget 10s");
    Ran::from(command.args(args).output().expect("oxeye starts"))
}

fn report(playground: &Playground) -> Value {
    serde_json::from_str(&playground.read("report.json")).expect("JSON")
}

#[test]
fn a_patch_for_a_file_in_an_archive_serves_the_build() {
    let _alone = alone();
    let playground = project(
        "set -e\nmkdir -p obj bin\ncd 'my src'\nCFLAGS='-O2 -Iinclude -Werror -Wall -MMD'\n\
         gcc $CFLAGS -c product.c -o ../obj/product.o\ngcc $CFLAGS -DFINE=3 -c main.c -o ../obj/main.o\n\
         gcc $CFLAGS -c factors.c -o ../obj/factors.o\ncd ..\n\
         ar rcs obj/libproduct.a obj/product.o obj/factors.o\ngcc obj/main.o -Lobj -lproduct -lm -o obj/prog\ncp obj/prog bin/\n",
    );
    let args =
        ["--build", "sh build.sh", "--run", "bin/prog 400 < times", "--exit-code", "3", "--threads", "1"];
    let ran = tune(&playground, &[&args[..], &["--json", "report.json"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("  product.c:"), "{}", ran.stdout);
    assert!(ran.stdout.contains("git apply oxeye.patch"), "{}", ran.stdout);
    let report = report(&playground);
    assert_eq!((&report["n_sources"], &report["program"]["verified"]), (&3.into(), &true.into()));
    assert_eq!(report["files"][0]["path"], "my src/product.c");
    assert_eq!(report["files"][0]["changed"], true, "{report:#}");
    // The patch applies, and the project builds with it and does the same at other sizes.
    let script = "run() { for n in 1 17 150; do echo 3 | bin/prog $n; done; true; }; run > before.txt\n\
                  git apply oxeye.patch && sh build.sh && run > after.txt && cat before.txt after.txt && cmp before.txt after.txt";
    let checked = playground.shell(script);
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
    assert!(playground.read("my src/product.c").contains("oxeye"));
    // What was learnt and built elsewhere is gone, and nothing else was left here.
    let names = [
        "after.txt",
        "before.txt",
        "bin",
        "build.sh",
        "my src",
        "obj",
        "oxeye.patch",
        "report.json",
        "times",
    ];
    assert_eq!(playground.files(), names);
}

#[test]
fn a_library_is_tuned_in_the_program_that_loads_it() {
    let _alone = alone();
    let playground = project(
        "set -e\ncd 'my src'\ngcc -O2 -Iinclude -fPIC -c product.c factors.c\ngcc -shared product.o factors.o -o ../libproduct.so\n",
    );
    playground.write(
        "host.c",
        r#"#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[2]);
    void *library = dlopen(argv[1], RTLD_NOW);
    void (*product)(int, const double *, double *) = dlsym(library, "product");
    double *a = calloc((size_t)n * n, sizeof(double)), *s = calloc((size_t)n * n, sizeof(double));
    for (long k = 0; k < (long)n * n; k++)
        a[k] = k % 5;
    for (int t = 0; t < 2; t++)
        product(n, a, s);
    printf("%g in %d\n", s[1] + s[(long)n * n - 1], argc);
    return 0;
}
"#,
    );
    playground.write("run.sh", "cd elsewhere\n../host ../libproduct.so $1\n");
    let made = playground.shell("mkdir elsewhere && gcc -O2 host.c -o host -ldl");
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let args = ["--build", "sh build.sh", "--run", "sh run.sh 400", "--in-place", "--json", "report.json"];
    let ran = tune(&playground, &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report = report(&playground);
    assert_eq!(report["files"][0]["changed"], true, "{report:#}");
    assert!(playground.read("my src/product.c").contains("oxeye"), "{}", ran.stdout);
    assert!(!playground.files().contains(&"oxeye.patch".into()));
}

#[test]
fn compile_commands_will_do() {
    let _alone = alone();
    let playground = project("");
    let folder = playground.path("");
    let folder = folder.canonicalize().expect("a folder");
    let entry = |name: &str| {
        serde_json::json!({
            "directory": folder.join("build"),
            "command": format!("/usr/bin/gcc -DFINE=0 -I\"{0}/my src/include\" -O2 -o CMakeFiles/prog.dir/{name}.c.o -c \"{0}/my src/{name}.c\"", folder.display()),
            "file": format!("{}/my src/{name}.c", folder.display()),
        })
    };
    let commands = serde_json::json!(["product", "factors", "main"].map(entry));
    playground.write("build/compile_commands.json", &commands.to_string());
    let objects =
        ["product", "factors", "main"].map(|name| format!("CMakeFiles/prog.dir/{name}.c.o")).join(" ");
    playground
        .write("build/CMakeFiles/prog.dir/link.txt", &format!("/usr/bin/gcc -O2 {objects} -o prog -lm\n"));
    let args = ["--compile-commands", "build/compile_commands.json", "--json", "report.json"];
    let run = ["--run", "../build/prog 400 < ../times", "--cwd", "my src", "-o", "build/tuned.patch"];
    let ran = tune(&playground, &[&args[..], &run[..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(report(&playground)["files"][0]["changed"], true, "{}", ran.stdout);
    assert!(playground.read("build/tuned.patch").contains("+++ b/my src/product.c"));
}

#[test]
fn what_is_wrong_is_said_before_anything_is_tuned() {
    let playground = project("set -e\ncd 'my src'\ngcc -O2 -DFINE=0 -Iinclude *.c -o ../prog\n");
    let says = |args: &[&str], words: &[&str]| {
        let ran = tune(&playground, args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stdout);
        for word in words {
            assert!(ran.stderr.contains(word), "{args:?}: {word}: {}", ran.stderr);
        }
    };
    let build = ["--build", "sh build.sh", "--run"];
    says(&["--build", "echo oh no; false", "--run", "./prog"], &["exit code 1", "oh no"]);
    says(&["--build", "true", "--run", "./prog"], &["compiles nothing", "make clean"]);
    says(&[&build[..], &["./other 3"]].concat(), &["does not make `./other`", "prog"]);
    says(&[&build[..], &["./prog"]].concat(), &["./prog ends with exit code 2: usage: prog N < TIMES"]);
    says(&[&build[..], &["./prog 'x"]].concat(), &["a quote or bracket is not closed"]);
    says(&["--run", "./prog"], &["--build"]);
    says(&["--compile-commands", "none.json", "--run", "./prog"], &["none.json", "No such file"]);
    assert_eq!(playground.files(), ["build.sh", "my src", "prog", "times"]);
}
