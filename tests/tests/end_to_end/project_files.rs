//! What `oxeye tune` leaves behind: recipes of all files, options, copies; and what is done with that later.

use oxeye_tests::{Playground, Ran};
use serde_json::Value;

/// A column sum in the slow order: what is gained is far above any noise, on a loaded machine too.
const SUMS_C: &str = r#"#include "sums.h"
void sums(int n, int times, const double *a, double *s)
{
    for (int t = 0; t < times; t++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                s[j] += a[(long)i * n + j] * factor(t);
}
"#;
const SUMS_H: &str = "void sums(int n, int times, const double *a, double *s);\ndouble factor(int t);\n";
const FACTOR_C: &str = "#include \"sums.h\"\ndouble factor(int t) { return 0.5 * (t + 1); }\n";
const MAIN_C: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include "sums.h"
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1;
    double *a = malloc(sizeof(double) * n * n), *s = calloc(n, sizeof(double)), all = 0;
    for (long k = 0; k < (long)n * n; k++)
        a[k] = k % 7;
    sums(n, 4, a, s);
    for (int j = 0; j < n; j++)
        all += s[j] / (j + 1);
    printf("%.9e\n", all);
    free(a);
    free(s);
    return FINE;
}
"#;
const BUILD: &str = "set -e\nmkdir -p obj\nCFLAGS='-O2 -Isrc/include -Wall'\n\
    gcc $CFLAGS -c src/sums.c -o obj/sums.o\ngcc $CFLAGS -c src/factor.c -o obj/factor.o\n\
    gcc $CFLAGS -DFINE=3 -c src/main.c -o obj/main.o\ngcc obj/sums.o obj/factor.o obj/main.o -o prog\n";

fn project() -> Playground {
    let playground = Playground::with("src/sums.c", SUMS_C);
    playground.write("src/include/sums.h", SUMS_H);
    playground.write("src/factor.c", FACTOR_C);
    playground.write("src/main.c", MAIN_C);
    playground.write("build.sh", BUILD);
    playground
}

fn oxeye(playground: &Playground, line: &str, args: &[&str]) -> Ran {
    Ran::from(playground.oxeye(line).args(args).output().expect("oxeye starts"))
}

fn json(playground: &Playground, name: &str) -> Value {
    serde_json::from_str(&playground.read(name)).expect("JSON")
}

#[test]
fn what_was_found_is_done_again_without_measuring() {
    let playground = project();
    let line = "tune --no-database --quick --budget 25s --threads 1 --exit-code 3 --save-config --json report.json --save-recipe all.json --html page.html";
    let ran = oxeye(&playground, line, &["--build", "sh build.sh", "--run", "./prog 2048"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let recipes = json(&playground, "all.json");
    assert_eq!(recipes["files"][0]["path"], "src/sums.c", "{recipes:#}\n{}", ran.stdout);
    assert_eq!(json(&playground, "report.json")["recipes"], recipes);
    // The loop calls a function of another source, so that this is read too; and nothing says where the project lies.
    let text = playground.read("all.json");
    assert!(text.contains("src/factor.c") && text.contains("-I{root}/src/include"), "{text}");
    let folder = playground.path("").canonicalize().expect("a folder");
    assert!(!text.contains(folder.to_str().expect("a name")), "{text}");

    // A patch, copies, the files themselves: always the same bytes.
    let patch = playground.read("oxeye.patch");
    assert!(patch.contains("factor() of factor.c"), "{patch}");
    let replays = [
        ("all.json -o again.patch", &[][..]),
        ("report.json -o again.patch", &[]),
        ("all.json . -o again.patch -- gcc", &[]),
        ("all.json -o again.patch", &["--build", "sh build.sh"]),
    ];
    for (line, args) in replays {
        let _ = std::fs::remove_file(playground.path("again.patch"));
        let ran = oxeye(&playground, &format!("replay {line}"), args);
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.stderr);
        assert!(ran.stdout.contains("src/sums.c: 1 nest rewritten"), "{line}: {}", ran.stdout);
        assert_eq!(playground.read("again.patch"), patch, "{line}");
    }
    let ran = oxeye(&playground, "replay all.json -o copies/ --json done.json", &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(json(&playground, "done.json")["files"][0]["nests"], 1);
    assert_eq!(playground.read("src/sums.c"), SUMS_C);
    // What a file of recipes names is not run.
    playground.write("evil.sh", "#!/bin/sh\ntouch evil.txt\nexec gcc \"$@\"\n");
    assert_eq!(playground.shell("chmod +x evil.sh").code, Some(0));
    let evil = text
        .replace("\"command\": \"gcc\"", "\"command\": \"./evil.sh\"")
        .replace("\"-O2\"", "\"-O2\", \"-fplugin=./evil.so\", \"-wrapper\", \"./evil.sh\"");
    assert!(evil.contains("evil.sh\""), "{evil}");
    playground.write("evil.json", &evil);
    let ran = oxeye(&playground, "replay evil.json -o again.patch", &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(playground.read("again.patch"), patch);
    assert!(ran.stdout.contains("-fplugin=./evil.so"), "{}", ran.stdout);
    assert!(!playground.files().contains(&"evil.txt".into()));
    // Nor does it change files elsewhere.
    playground.write("out.json", &text.replace("\"path\": \"src/sums.c\"", "\"path\": \"../sums.c\""));
    let ran = oxeye(&playground, "replay out.json --in-place", &[]);
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(ran.stderr.contains("../sums.c is not below"), "{}", ran.stderr);

    let page = playground.read("page.html");
    for words in
        ["./prog 2048", "<td>src/sums.c</td>", "sums.c: sums:4", "Not readable", "tuning files", "Roofline:"]
    {
        assert!(page.contains(words), "{words}");
    }
    checked(&playground, &recipes);
}

/// What `oxeye check` says of the project, as it was left and after it was changed.
fn checked(playground: &Playground, recipes: &Value) {
    let says = |line: &str, code: i32, words: &[&str]| {
        let ran = oxeye(playground, line, &[]);
        assert_eq!(ran.code, Some(code), "{line}: {}{}", ran.stdout, ran.stderr);
        for word in words {
            let out =
                format!("{}{}", ran.stdout, ran.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(out.contains(word), "{line}: {word}: {out}");
        }
    };
    let lock = playground.read("oxeye.lock.json");
    let value: Value = serde_json::from_str(&lock).expect("JSON");
    assert_eq!(value["files"][0]["recipes"], recipes["files"][0]);
    assert_eq!(value["files"][0]["nests"].as_array().map(Vec::len), Some(1), "{lock}");
    // The sources are still as they were.
    says("check", 1, &["src/sums.c, sums(), line 4", "the original stands there", "apply oxeye.lock.json"]);
    says("check --lock none.json", 2, &["there is no none.json", "--save-config"]);
    says("check --patch oxeye.patch --slack 95 --json check.json", 0, &["passed", "same output"]);
    let report = json(playground, "check.json");
    assert_eq!((&report["passed"], &report["files"][0]["same_machine"]), (&true.into(), &true.into()));
    assert!(report["files"][0]["nests"][0]["speedup"].as_f64().is_some_and(|speedup| speedup > 0.0));
    assert_eq!(report["files"][0]["nests"][0]["note"], Value::Null, "{report:#}");
    assert_eq!(playground.read("src/sums.c"), SUMS_C);
    let ran = oxeye(playground, "replay oxeye.lock.json --in-place", &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let tuned = playground.read("src/sums.c");
    assert_eq!(tuned, playground.read("copies/src/sums.c"));
    let script = "git apply -R oxeye.patch && git apply oxeye.patch && cmp src/sums.c copies/src/sums.c";
    let ran = playground.shell(script);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    // On another machine, there is only the original to compare with.
    let with = |changes: &[(&str, Value)]| {
        let mut value = value.clone();
        for (at, new) in changes {
            *value.pointer_mut(at).unwrap_or_else(|| panic!("{at}")) = new.clone();
        }
        playground.write("other.json", &value.to_string());
    };
    with(&[("/files/0/machine/cpu_model", "Abacus".into())]);
    let words = ["tuned on Abacus", "not to be slower than its original here"];
    says("check --lock other.json --slack 95", 0, &words);
    // A function that the tuned text contains is another one, and the nest was a thousand times faster.
    playground.write("src/factor.c", &FACTOR_C.replace("0.5", "0.75"));
    with(&[("/files/0/nests/0/roof_fraction", 30.0.into()), ("/files/0/nests/0/optimized_ms", 1e-3.into())]);
    let words = ["of its roof; it was 3000 %", "behaves differently with the tuned text"];
    says("check --lock other.json", 1, &words);
    playground.write("src/factor.c", FACTOR_C);
    // Somebody has edited the tuned text, or taken it out.
    playground.write("src/sums.c", &tuned.replace("/* oxeye: ", "/* mine: "));
    says("check", 1, &["neither the tuned text nor the original is there"]);
    says("check --patch oxeye.patch", 1, &["src/sums.c: the patch no longer applies: the lines at"]);
    std::fs::remove_file(playground.path("src/sums.c")).expect("removed");
    says("check", 1, &["src/sums.c: the file is gone"]);
    playground.write("src/sums.c", &tuned);
    playground.write("build.sh", "exit 7\n");
    says("check", 2, &["exit code 7"]);
    playground.write("oxeye.lock.json", "{}");
    says("check", 2, &["is not what `oxeye tune` keeps"]);
}

#[test]
fn options_are_kept_in_a_file() {
    let playground = project();
    let says = |line: &str, words: &[&str]| {
        let ran = oxeye(&playground, line, &[]);
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.stdout);
        for word in words {
            assert!(ran.stderr.contains(word), "{line}: {word}: {}", ran.stderr);
        }
    };
    says("tune", &["--build", "oxeye.toml"]);
    playground.write("oxeye.toml", "build = 'sh build.sh'\nrunn = './prog'\n");
    says("tune", &["oxeye.toml, line 2: `runn` is no key", "compare"]);
    playground.write("oxeye.toml", "build = 'sh build.sh'\n\nexit-code = '3'\n");
    says("tune --run ./prog", &["oxeye.toml, line 3: `exit-code` is a number from 0 to 255"]);
    playground.write("oxeye.toml", "build = 'sh build.sh'\nrun = './prog 1'\n");
    // The exit code is not 0, unless it is said; the command line wins.
    says("tune", &["exit code 3"]);
    says("tune --run ./other", &["does not make `./other`"]);
    says("tune --save-config --exit-code 3", &["oxeye.toml is there already"]);
    playground.write("oxeye.toml", "build = 'sh build.sh'\nrun = './prog 1'\nexit-code = 3\nbudget = '1s'\n");
    let ran = oxeye(&playground, "tune --no-database --json -", &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&report["build"], &report["budget_seconds"]), (&"sh build.sh".into(), &1.0.into()));
}

#[test]
fn the_compiler_of_a_recipe_file_is_not_run() {
    let playground =
        Playground::with("a.c", "double a[99];\nvoid f(int n) { for (int i = 0; i < n; i++) a[i] *= 2; }\n");
    playground.write("evil.sh", "#!/bin/sh\ntouch evil.txt\nexec gcc \"$@\"\n");
    assert_eq!(playground.shell("chmod +x evil.sh").code, Some(0));
    playground.write(
        "r.json",
        r#"{"schema": "oxeye.recipe/1", "threads": 2, "reassociate": false, "no_alias": false,
        "compiler": {"command": "./evil.sh", "args": ["-O2", "-lm"], "chosen": true},
        "nests": [{"function": "f", "ordinal": 0, "line": 2, "name": "by hand", "recipe": "parallelize i"}]}"#,
    );
    let ran = oxeye(&playground, "replay r.json a.c", &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("`./evil.sh` of the recipe file is only run if it is named"),
        "{}",
        ran.stderr
    );
    assert!(playground.read("a.oxeye.c").contains("omp parallel for"));
    assert!(!playground.files().contains(&"evil.txt".into()));
    // It is, if somebody says so.
    let ran = oxeye(&playground, "replay r.json a.c -o b.c -- ./evil.sh -O2", &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(playground.files().contains(&"evil.txt".into()));
    assert_eq!(playground.read("a.oxeye.c"), playground.read("b.c"));
    // The input is changed by those who say so.
    let ran = oxeye(&playground, "replay r.json a.c -o ./a.c", &[]);
    assert!(ran.code == Some(2) && ran.stderr.contains("--in-place"), "{}", ran.stderr);
    assert_eq!(oxeye(&playground, "replay r.json a.c --in-place", &[]).code, Some(0));
    assert_eq!(playground.read("a.c"), playground.read("b.c"));
}
