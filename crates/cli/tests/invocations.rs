//! What the command says to words that cannot be meant, and the options that are about the command itself.

use std::path::Path;
use std::process::Command;

/// Seconds of loops, for which every run has something to try.
const SUMS: &str = "#include <stdio.h>
static double a[300][300], s[300];
static void add(int t)
{
    for (int j = 0; j < 300; j++)
        for (int i = 0; i < 300; i++)
            s[j] += a[i][j] + t;
}
int main(void)
{
    for (int t = 0; t < 40; t++) add(t);
    printf(\"%g\\n\", s[7]);
    return 0;
}
";
const NO_LOOPS: &str = "int main(void) { return 0; }\n";
const SCALE: &str = "void scale(int n, double *x) { for (int i = 0; i < n; i++) x[i] *= 2; }
void grid(int n, double x[n][9]) { for (int i = 0; i < n; i++) for (int j = 0; j < 9; j++) x[i][j] *= 2; }
";
const ROWS: &str = "static double x[100], y[100];
int main(void) {
    for (int i = 0; i < 100; i++) x[i] = i; for (int i = 0; i < 100; i++) y[i] = 2 * i;
    return (int)(x[0] + y[0]);
}
";
/// Two nests of which the second reads what the first has written.
const SMOOTH: &str = "#include <stdio.h>
static double a[600][600], b[600][600];
int main(void)
{
    for (int t = 0; t < 60; t++) {
        for (int i = 1; i < 599; i++)
            for (int j = 1; j < 599; j++)
                b[i][j] = 0.2 * (a[i][j - 1] + a[i][j] + a[i][j + 1] + t);
        for (int i = 1; i < 599; i++)
            for (int j = 1; j < 599; j++)
                a[i][j] = 0.5 * (b[i - 1][j] + b[i + 1][j]);
        printf(\"%g\\n\", a[7][7]);
    }
    return 0;
}
";
/// The second loop waits for what a function says that nobody knows.
const PART_UNREAD: &str = "#include <stdio.h>
#include <stdlib.h>
static double a[300][300], s[300];
int main(void)
{
    for (int t = 0; t < 40; t++)
        for (int j = 0; j < 300; j++) for (int i = 0; i < 300; i++) s[j] += a[i][j] + t;
    for (int i = 0; i < 30000; i++) s[i % 300] += rand() % 2;
    printf(\"%g\\n\", s[7]);
    return 0;
}
";
const LINKS_NOT: &str = "void helper(double *x);
static double x[100];
int main(void) { for (int i = 0; i < 100; i++) x[i] = i; helper(x); return 0; }
";

/// C++ under the name of C.
const CLASS: &str = "class A { public: double x[100]; };
static A a;
int main() { for (int i = 0; i < 100; i++) a.x[i] = i; return 0; }
";

const COMMANDS: [&str; 7] = ["tune", "profile", "explain", "inspect", "check", "verify", "doctor"];

struct Outcome {
    code: Option<i32>,
    out: String,
    err: String,
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        ("sums.c", SUMS.as_bytes()),
        ("none.c", NO_LOOPS.as_bytes()),
        ("scale.c", SCALE.as_bytes()),
        ("links_not.c", LINKS_NOT.as_bytes()),
        ("sums.cpp", SUMS.as_bytes()),
        ("sums.f90", b"end\n"),
        ("binary.c", b"\x7fELF\x02\x01\x01\x00"),
        ("vector.c", b"#include <vector>\nint main() { std::vector<double> v(9); return 0; }\n"),
        ("class.c", CLASS.as_bytes()),
        ("rows.c", ROWS.as_bytes()),
        ("smooth.c", SMOOTH.as_bytes()),
        ("Makefile", b"all:\n\tcc sums.c\n"),
    ];
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

/// Runs `oxeye` in a folder, with everything it keeps in there, too.
fn oxeye(folder: &Path, words: &[&str]) -> Outcome {
    let output = Command::new(env!("CARGO_BIN_EXE_oxeye"))
        .args(words)
        .current_dir(folder)
        .env_remove("OXEYE_DATABASE")
        .env("XDG_DATA_HOME", folder)
        .env("OXEYE_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
        .output()
        .expect("starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Outcome { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn wrong_invocations_are_told_what_to_do_instead() {
    let folder = folder();
    let folder = folder.path();
    for (line, said) in [
        ("optimize sums.c gcc -O3", "oxeye optimize sums.c -- gcc -O3"),
        ("tune sums.c -O3", "oxeye tune sums.c -- cc -O3"),
        ("sums.c -- gcc", "oxeye tune sums.c -- gcc"),
        ("sums.c -O3", "to make it fast:\n  oxeye tune sums.c -- cc -O3"),
        ("tune sums.c -- -O3", "the compiler stands before it: -- cc -O3"),
        ("tune links_not.c -- gcc -O2", "undefined reference to `helper'"),
        ("tune links_not.c -- gcc -O2", "help: name the sources and libraries that define these behind `--`"),
        ("tune nowhere.c -- gcc", "cannot read nowhere.c: No such file"),
        ("tune vector.c -- gcc", "help: this looks like C++ (`#include <vector>`), and only C is read"),
        ("tune class.c -- gcc", "help: this looks like C++ (`class A`), and only C is read"),
        ("tune sums.c -- gcc -lno-such-library", "cannot find -lno-such-library"),
        ("tune sums.cpp -- g++ -O2", "sums.cpp is C++, and only C is read"),
        ("tune sums.c -- g++ -O2", "-- gcc ... -lstdc++"),
        ("tune sums.f90 -- gfortran", "sums.f90 is Fortran, and only C is read"),
        ("tune sums.c -- gfortran -O2", "-- gcc ... -lgfortran"),
        ("tune binary.c -- gcc", "binary.c is not text; name the C file"),
        ("tune . -- gcc", "give --build and --run"),
        ("tune sums.c --cwd /nowhere -- gcc", "--cwd: there is no folder /nowhere"),
        ("tune --build true --run ./x --cwd /nowhere", "--cwd: there is no folder /nowhere"),
        ("tune none.c -- gcc", "there is no loop nest in none.c"),
        ("tune sums.c -o - -- gcc", "name a file"),
        ("tune --build make --run ./x -o -", "name a file"),
        ("tune --compile-commands Makefile --run ./x", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"),
        ("tune sums.c --build make --run ./x", "--only sums.c tunes that file there"),
        ("tune", "oxeye tune FILE -- CC"),
        ("tune sums.c --only x:y -- gcc", "FILE:LINE or a function"),
        (
            "tune sums.c --bugdet 3s -- gcc",
            "perhaps `--budget` is meant:\n  oxeye tune sums.c --budget 3s -- gcc",
        ),
        ("tune sums.c none.c -- gcc", "`none.c` is one word too many"),
        (
            "tune sums.c -- gcc -O2 --dry-run",
            "`--dry-run` is an option of Oxeye, and those stand before `--`:\n  oxeye tune sums.c --dry-run -- gcc -O2",
        ),
        ("tune sums.c --budget -5 -- gcc", "--budget -5: it must not be negative"),
        ("tune sums.c --min-share -2 -- gcc", "--min-share -2: it must not be negative"),
        ("check sums.c", "`sums.c` is one word too many: the project in the present folder is meant"),
        ("doctor x", "`x` is one word too many: it takes options only"),
        ("tune -- gcc -O3", "name the FILE before `--`:\n  oxeye tune FILE -- gcc -O3"),
        (
            "tune --build make --run ./x --function add",
            "--function is for one FILE, and a build for a project",
        ),
        (
            "profile sums.c --budget 3s",
            "`oxeye profile` has no option `--budget`; `oxeye profile --help` lists them",
        ),
        (
            "tune scale.c -f scale --set n=-5 -- gcc",
            "--set n=-5: the loop in line 1 has no iterations then; give a larger `n`",
        ),
        (
            "tune sums.c --set n=-5 --dry-run -- gcc",
            "--set n=-5 would have no effect: the program of sums.c has a main",
        ),
        ("tune sums.c -f add --input q=x.npy -- gcc", "--input q=x.npy would have no effect"),
        ("profile sums.c --set n=5 -- gcc", "--set n=5 would have no effect"),
        ("explain sums.c --set n=5 -- gcc", "--set n=5 would have no effect"),
        ("inspect sums.c --set n=5 -- gcc", "--set n=5 would have no effect"),
        ("tune scale.c -f grid --set n=-5 -- gcc", "an extent of array `x` would be -5; give a larger `n`"),
        (
            "rerun sums.c --candidates nofolder -- gcc",
            "--candidates: there is no nofolder; name the folder that `oxeye tune FILE --keep-candidates FOLDER` has written",
        ),
        (
            "apply sums.c sums.recipe.json",
            "sums.c is C: the recipe file comes first: oxeye apply sums.recipe.json sums.c",
        ),
        ("tune none.c --database /nowhere/x -- gcc", "--database: there is no folder /nowhere"),
        ("tune none.c --run foo( -- gcc", "--run <COMMAND>': nothing closes `(`"),
        ("tune none.c --run ./x| -- gcc", "no command stands behind `|`"),
        ("profile none.c -- gcc", "there is no loop nest in none.c"),
        ("inspect none.c -- gcc", "there is no loop nest in none.c"),
        ("explain none.c -- gcc", "there is no loop nest in none.c"),
        ("version", "for the version:\n  oxeye -V"),
        ("tune none.c --json /nowhere/report.json -- gcc", "/nowhere/report.json"),
        ("tune none.c -o /nowhere/out.c -- gcc", "/nowhere/out.c"),
        ("tune sums.c --budget fast -- gcc", "fast"),
    ] {
        let done = oxeye(folder, &words(line));
        assert_eq!(done.code, Some(2), "{line}: {}{}", done.out, done.err);
        assert!(done.err.contains(said) && done.out.is_empty(), "{line}: {}", done.err);
    }
    let done = oxeye(folder, &["tune", "sums.c", "--", "gcc -O2"]);
    assert!(done.err.contains("so it is one word; write it as: -- gcc -O2"), "{}", done.err);
    let names = std::fs::read_dir(folder).expect("read").flatten().map(|entry| entry.file_name());
    assert_eq!(names.filter(|name| name.to_string_lossy().contains(".oxeye.")).count(), 0);
}

#[test]
fn help_fits_a_screen_and_names_seven_commands() {
    let folder = folder();
    let help = |line: &str| {
        let done = oxeye(folder.path(), &words(line));
        assert_eq!(done.code, Some(0), "{}", done.err);
        done.out
    };
    let short = help("-h");
    assert!(short.lines().count() <= 30, "{short}");
    for command in COMMANDS {
        assert!(short.contains(&format!("  {command} ")), "{command}: {short}");
    }
    for old in ["optimize", "search", "replay", "host", "values", "flow"] {
        assert!(!short.contains(&format!("  {old} ")), "{old}: {short}");
    }
    let long = help("tune --help");
    for heading in ["Program:", "Search:", "Correctness:", "Output:", "Database:", "Examples:"] {
        assert!(long.contains(heading), "{heading}: {long}");
    }
    assert!(help("-V").contains("recipe database version"));
    assert!(
        help("completions bash").contains("oxeye__tune") || help("completions bash").contains("oxeye,tune")
    );
}

#[test]
fn help_of_each_command_fits_a_screen_and_has_examples() {
    let folder = folder();
    let help = |line: &str| oxeye(folder.path(), &words(line)).out;
    for command in COMMANDS {
        let (short, long) = (help(&format!("{command} -h")), help(&format!("{command} --help")));
        let n_lines = short.lines().count();
        assert!((10..=40).contains(&n_lines), "{command}: {n_lines} lines\n{short}");
        for line in short.lines().chain(long.lines()) {
            assert!(line.chars().count() <= 80, "{command}: {line}");
        }
        let examples = long.lines().filter(|line| line.trim_start().starts_with("oxeye ")).count();
        assert!(examples >= 3, "{command}: {examples} examples\n{long}");
    }
}

#[test]
fn help_says_what_is_true_of_the_command() {
    let folder = folder();
    let words = |command: &str| {
        let long = oxeye(folder.path(), &[command, "--help"]).out;
        long.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for command in ["profile", "inspect", "verify"] {
        let help = words(command);
        assert!(help.contains("[default: 20 minutes]") && !help.contains("the budget"), "{help}");
    }
    for command in ["profile", "inspect", "explain"] {
        let help = words(command);
        assert!(!help.contains("are compared") && !help.contains("in a project it is"), "{help}");
        assert!(help.contains("./NAME stands for the program that CC makes"), "{help}");
    }
    assert!(!words("check").contains("./NAME stands for"));
    assert!(words("tune").contains("in a project it is any program"));
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = folder();
    let done = oxeye(folder.path(), &words("-q man pages"));
    assert_eq!((done.code, done.out.as_str()), (Some(0), ""), "{}", done.err);
    let page = |name: &str| folder.path().join(format!("pages/{name}.1"));
    let names = COMMANDS.into_iter().chain(["apply", "rerun", "db", "db-export", "cache", "cache-clean"]);
    for name in names {
        assert!(page(&format!("oxeye-{name}")).exists(), "{name}");
    }
    let first = std::fs::read_to_string(page("oxeye")).expect("a page");
    assert!(first.contains("apply") && !first.contains("search"), "{first}");
    assert!(!page("oxeye-search").exists());
}

#[test]
fn a_dry_run_shows_nests_and_writes_nothing() {
    let folder = folder();
    let folder = folder.path();
    let done = oxeye(folder, &words("tune sums.c --dry-run -- gcc -O1"));
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    assert!(done.out.contains("would be tuned") && done.out.contains("sums.c:"), "{}", done.out);
    assert!(!folder.join("sums.oxeye.c").exists());
    let done = oxeye(folder, &words("tune sums.c --dry-run --exclude sums.c -- gcc -O1"));
    assert!(done.out.contains("left out by --exclude") && !done.out.contains("would be"), "{}", done.out);
    // Neighbours are not looked at as one, either.
    let done = oxeye(folder, &words("tune smooth.c --dry-run -v -- gcc -O1"));
    let rows: Vec<&str> = done.out.lines().filter(|line| line.contains("smooth.c:")).collect();
    assert!(rows.iter().filter(|row| row.contains("would be tuned")).count() >= 2, "{}", done.out);
    assert!(
        !done.out.contains("candidates") && !rows.iter().any(|row| row.contains("faster")),
        "{}",
        done.out
    );
}

#[test]
fn a_dry_run_says_what_could_not_be_read() {
    let folder = folder();
    std::fs::write(folder.path().join("part.c"), PART_UNREAD).expect("written");
    let done = oxeye(folder.path(), &words("tune part.c --dry-run -- gcc -O1"));
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    assert!(done.out.contains("would be tuned"), "{}", done.out);
    let refused = done.out.lines().find(|line| line.starts_with("left as it is: line 8"));
    assert!(refused.is_some(), "{}", done.out);
}

#[test]
fn a_dry_run_moves_no_file_and_says_of_none_that_it_did() {
    let folder = folder();
    let folder = folder.path();
    let done = oxeye(folder, &words("tune sums.c -q --quick --no-database --threads 1 -- gcc -O1"));
    assert_eq!(done.code, Some(0), "{}", done.err);
    let before = std::fs::read(folder.join("sums.oxeye.c")).expect("written");
    let done = oxeye(folder, &words("tune sums.c --dry-run -- gcc -O1"));
    assert!(!done.out.contains("earlier run"), "{}", done.out);
    assert_eq!(std::fs::read(folder.join("sums.oxeye.c")).ok(), Some(before));
    assert!(!folder.join("sums.oxeye.c~").exists());
}

#[test]
fn refusals_are_lines_that_editors_jump_to() {
    let folder = folder();
    let text = "#include <stdio.h>
static double x[100];
static void step(int k)
{
    for (int i = 0; i < 100; i++) {
        x[i] += k;
        if (x[i] > 1e9) printf(\"%d\\n\", i);
    }
    for (int i = 0; i < 100; i++) x[i] *= 0.5;
}
int main(void) { for (int k = 0; k < 9; k++) step(k); return x[3] < 0; }
";
    std::fs::write(folder.path().join("prints.c"), text).expect("written");
    let done = oxeye(folder.path(), &words("tune prints.c --dry-run --format gcc -- gcc -O1"));
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    let lines: Vec<&str> = done.out.lines().collect();
    assert!(lines.iter().any(|line| line.starts_with("prints.c:7:25: note: ")), "{}", done.out);
    for line in lines {
        let mut parts = line.splitn(4, ':');
        assert_eq!(parts.next(), Some("prints.c"), "{line}");
        assert!(parts.by_ref().take(2).all(|number| number.parse::<u32>().is_ok()), "{line}");
        assert!(parts.next().is_some_and(|rest| rest.starts_with(" note: ")), "{line}");
    }
}

#[test]
fn loops_in_one_line_are_told_apart_and_dash_x_stays_with_the_sources() {
    let folder = folder();
    let done = oxeye(folder.path(), &words("tune rows.c --dry-run -- gcc -x c -O1"));
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    for nest in ["rows.c:3:5 main", "rows.c:3:45 main"] {
        assert!(done.out.contains(nest), "{nest}: {}", done.out);
    }
    for name in ["rows.c:3:45", "main:3:45"] {
        let done =
            oxeye(folder.path(), &words(&format!("tune rows.c --dry-run --only {name} -- gcc -x c -O1")));
        let row =
            |nest: &str| done.out.lines().find(|line| line.contains(nest)).unwrap_or_default().to_owned();
        assert!(row("rows.c:3:5 ").contains("not among what --only names"), "{}{}", done.out, done.err);
        assert!(!row("rows.c:3:45 ").contains("--only"), "{}", done.out);
    }
}

#[test]
fn nests_that_are_left_out_leave_the_file_unchanged() {
    let folder = folder();
    let folder = folder.path();
    let line = "tune sums.c -q --quick --only no_such_function -- gcc -O1";
    let done = oxeye(folder, &words(line));
    assert_eq!(done.code, Some(2), "{}", done.err);
    assert!(
        done.err.contains("no loop nest in `no_such_function`; there are some in add, main"),
        "{}",
        done.err
    );
    let line = "tune sums.c -q --quick --exclude add --exclude main --fail-if-unchanged -- gcc -O1";
    let done = oxeye(folder, &words(line));
    assert_eq!((done.code, done.out.as_str()), (Some(1), ""), "{}", done.err);
    assert_eq!(std::fs::read_to_string(folder.join("sums.oxeye.c")).expect("written"), SUMS);
}

#[test]
fn programs_that_run_too_long_are_stopped() {
    let folder = folder();
    let endless = "static int x[100];
int main(void) { for (volatile int on = 1; on;) for (int i = 0; i < 100; i++) x[i] += i; return x[3]; }\n";
    std::fs::write(folder.path().join("endless.c"), endless).expect("written");
    let done = oxeye(folder.path(), &words("tune endless.c --timeout 1s -- gcc -O1"));
    assert_eq!(done.code, Some(2), "{}", done.out);
    assert!(done.err.contains("raise --timeout"), "{}", done.err);
}

#[test]
fn old_names_work_and_name_the_new_ones() {
    let folder = folder();
    let folder = folder.path();
    let done = oxeye(folder, &words("flow none.c -- gcc"));
    assert!(done.err.contains("hint: `oxeye flow` is `oxeye inspect` now"), "{}", done.err);
    let done = oxeye(folder, &words("check-build sums.c --tuned nowhere.c -- gcc"));
    assert!(done.err.contains("`oxeye verify` now") && done.err.contains("nowhere.c"), "{}", done.err);
    let done = oxeye(folder, &words("optimize none.c -- gcc"));
    assert!(!done.err.contains("hint"), "{}", done.err);
}

#[test]
fn what_is_kept_can_be_removed() {
    let folder = folder();
    let cache = folder.path().join("cache");
    for part in ["searches", "of-others"] {
        std::fs::create_dir_all(cache.join(part)).expect("made");
        std::fs::write(cache.join(part).join("file"), "text").expect("written");
    }
    let clean = Command::new(env!("CARGO_BIN_EXE_oxeye"))
        .args(["cache", "clean"])
        .env("OXEYE_CACHE", &cache)
        .output()
        .expect("starts");
    let said = String::from_utf8_lossy(&clean.stdout).into_owned();
    assert!(clean.status.success() && said.starts_with("1 file,"), "{said}");
    assert!(!cache.join("searches").exists() && cache.join("of-others/file").exists());
}
