//! Loops in files that others include: they are tuned where they stand.

use oxeye_tests::{Playground, Ran, alone};
use serde_json::Value;

/// A matrix product in the slow order: what is gained is far above any noise, on a loaded machine too.
const KERNEL: &str = "{
    for (int i = 0; i < l->n; i++)
        for (int j = 0; j < l->n; j++)
            for (int k = 0; k < l->n; k++)
                l->w[(long)i * l->n + j] += l->u[(long)i * l->n + k] * l->v[(long)k * l->n + j] * FACTOR;
}
";
const LEVEL_H: &str = "#ifndef LEVEL_H\n#define LEVEL_H\ntypedef struct { int n; double *u, *v, *w; } level;\n\
                       void work(level *l);\nvoid more(level *l);\n#endif\n";
const MAIN_C: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include "level.h"
int main(int argc, char **argv)
{
    level l = {atoi(argv[1]), 0, 0, 0};
    long size = (long)l.n * l.n;
    l.u = calloc(size, sizeof(double));
    l.v = calloc(size, sizeof(double));
    l.w = calloc(size, sizeof(double));
    for (long i = 0; i < size; i++) {
        l.u[i] = i % 7;
        l.v[i] = i % 5;
    }
    for (int t = 0; t < 2; t++)
        work(&l);
    more(&l);
    double all = 0;
    for (long i = 0; i < size; i++)
        all += l.w[i] / (i + 1);
    printf("%.9e in %d\n", all, argc);
    return 0;
}
"#;

/// A project of these files with `main.c`, all of which are compiled that are listed.
fn project(files: &[(&str, &str)], compiled: &[&str]) -> Playground {
    let playground = Playground::with("src/main.c", MAIN_C);
    playground.write("src/level.h", LEVEL_H);
    files.iter().for_each(|(name, text)| playground.write(name, text));
    let mut build = "set -e\ncd src\n".to_owned();
    for name in compiled.iter().chain(&["main"]) {
        build += &format!("gcc -O2 -Wall -Werror -c {name}.c -o ../{name}.o\n");
    }
    build += &format!("cd ..\ngcc main.o {}.o -o prog\n", compiled.join(".o "));
    playground.write("build.sh", &build);
    playground
}

fn tune(playground: &Playground, more: &[&str]) -> Ran {
    let mut command =
        playground.oxeye("tune --no-database --quick --budget 10s --threads 1 --json report.json");
    command.args(["--build", "sh build.sh", "--run", "./prog 400"]).args(more);
    Ran::from(command.output().expect("oxeye starts"))
}

fn report(playground: &Playground) -> Value {
    serde_json::from_str(&playground.read("report.json")).expect("JSON")
}

/// That the patch applies, and that the project does the same with it at several sizes.
fn serves_the_build(playground: &Playground) {
    let script = "run() { for n in 1 17 150; do ./prog $n; done; }; sh build.sh && run > before.txt\n\
                  git apply oxeye.patch && sh build.sh && run > after.txt && cat before.txt after.txt && cmp before.txt after.txt";
    let checked = playground.shell(script);
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
}

#[test]
fn a_source_that_another_includes_is_patched_where_it_stands() {
    let _alone = alone();
    let kernel = format!("/* The slow order. */\nvoid work(level *l)\n{KERNEL}");
    let solver = "#include \"level.h\"\n#define FACTOR 0.5\n#include \"operators/work.c\"\n\
                  void more(level *l)\n{\n    for (int i = 0; i < l->n; i++)\n        l->w[i] += 1;\n}\n";
    let files = [("src/operators/work.c", kernel.as_str()), ("src/solver.c", solver)];
    let playground = project(&files, &["solver"]);
    let ran = tune(&playground, &["--save-config"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("  work.c:4"), "{}", ran.stdout);
    let report = report(&playground);
    assert_eq!(report["files"][0]["path"], "src/solver.c");
    let nest = &report["files"][0]["report"]["nests"][0];
    assert_eq!((&nest["file"], &nest["line"]), (&"operators/work.c".into(), &4.into()), "{report:#}");
    let patch = playground.read("oxeye.patch");
    assert!(patch.contains("+++ b/src/operators/work.c") && !patch.contains("b/src/solver.c"), "{patch}");
    // The recipes make the same patch again.
    playground.shell("mv oxeye.patch first.patch");
    let mut replay = playground.oxeye("replay oxeye.lock.json -o oxeye.patch --build");
    let again = Ran::from(replay.arg("sh build.sh").output().expect("oxeye starts"));
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(playground.read("oxeye.patch"), patch);
    serves_the_build(&playground);
    let checked = playground.run("check");
    assert!(checked.stdout.contains("work"), "{}{}", checked.stdout, checked.stderr);
    // Where the tuned text is gone, a check says so.
    playground.write("src/operators/work.c", &kernel);
    let undone = playground.run("check");
    assert_ne!(undone.code, Some(0), "{}", undone.stdout);
}

#[test]
fn a_header_that_two_sources_include_serves_both() {
    let _alone = alone();
    let header = format!(
        "#pragma once\n#include \"level.h\"\n#define FACTOR 2.0\nstatic inline void product(level *l)\n{KERNEL}"
    );
    let first = "#include \"product.h\"\nvoid work(level *l)\n{\n    product(l);\n}\n";
    let second = "#include \"level.h\"\n#include \"product.h\"\nvoid more(level *l)\n{\n    l->w[0] = 1;\n    product(l);\n}\n";
    let files = [("src/product.h", header.as_str()), ("src/first.c", first), ("src/second.c", second)];
    let playground = project(&files, &["first", "second"]);
    let ran = tune(&playground, &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let patch = playground.read("oxeye.patch");
    assert_eq!(patch.matches("+++ ").count(), 1, "{}{patch}", ran.stdout);
    assert!(patch.contains("+++ b/src/product.h"), "{patch}");
    serves_the_build(&playground);
}

#[test]
fn a_file_that_means_something_else_elsewhere_stays() {
    let _alone = alone();
    let kernel = format!("static void product(level *l)\n{KERNEL}");
    // Here it is another type, and nothing of the preprocessor tells.
    let first = "#include \"level.h\"\n#define FACTOR 0.5\n#include \"product.c\"\nvoid work(level *l)\n{\n    product(l);\n}\n";
    let second = "typedef struct { int n; float *u, *v, *w; } level;\n#define FACTOR 0.5f\n#include \"product.c\"\n\
                  void more(void *l)\n{\n    float u[1] = {1}, v[1] = {2}, w[1] = {0};\n    level one = {1, u, v, w};\n    product(&one);\n    (void)l;\n}\n";
    let files = [("src/product.c", kernel.as_str()), ("src/first.c", first), ("src/second.c", second)];
    let playground = project(&files, &["first", "second"]);
    let ran = tune(&playground, &["-v"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("second.c includes it as well"), "{}", ran.stdout);
    assert!(ran.stdout.contains("nothing is changed"), "{}", ran.stdout);
}

#[test]
fn a_file_that_is_included_again_with_other_macros_stays() {
    let _alone = alone();
    let template = format!("static void NAME(level *l)\n{KERNEL}");
    let solver = "#include \"level.h\"\n#define NAME half\n#define FACTOR 0.5\n#include \"template.h\"\n#undef NAME\n#undef FACTOR\n\
                  #define NAME twice\n#define FACTOR 2.0\n#include \"template.h\"\n\
                  void work(level *l)\n{\n    half(l);\n}\nvoid more(level *l)\n{\n    twice(l);\n}\n";
    let files = [("src/template.h", template.as_str()), ("src/solver.c", solver)];
    let playground = project(&files, &["solver"]);
    let ran = tune(&playground, &["-v"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("template.h is included 2 times"), "{}", ran.stdout);
    assert!(ran.stdout.contains("nothing is changed"), "{}", ran.stdout);
}

#[test]
fn one_file_is_tuned_with_what_it_includes() {
    let _alone = alone();
    let playground = Playground::with("operators/work.c", &format!("void work(level *l)\n{KERNEL}"));
    playground.write("level.h", LEVEL_H);
    let both = "#define FACTOR 0.5\n#include \"operators/work.c\"\nvoid more(level *l) { l->w[0] += 1; }\n";
    let main = MAIN_C.replace("int main", &format!("{both}int main"));
    playground.write("one.c", &main);
    let args = "--no-database --quick --budget 10s --threads 1 --save-recipe one.json";
    let mut command = playground.oxeye(&format!("optimize one.c {args} --run"));
    let ran = command.args(["./prog 400", "--", "gcc", "-O2", "-Wall", "-Werror"]).output();
    let ran = Ran::from(ran.expect("oxeye starts"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("  work.c:3"), "{}", ran.stdout);
    assert!(ran.stdout.contains("in the place of its #include"), "{}", ran.stdout);
    let tuned = playground.read("one.oxeye.c");
    assert!(
        tuned.contains("#include \"level.h\"") && !tuned.contains("#include \"operators/work.c\""),
        "{tuned}"
    );
    assert!(!tuned.contains("#line"), "{tuned}");
    assert!(!playground.read("operators/work.c").contains("oxeye"));
    let script = "gcc -O2 -Wall -Werror one.c -o a && gcc -O2 -Wall -Werror one.oxeye.c -o b && ./a 150 > a.txt && ./b 150 | cmp - a.txt";
    let checked = playground.shell(script);
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
    let again = playground.run("replay one.json one.c -o again.c");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(playground.read("again.c"), tuned);
}
