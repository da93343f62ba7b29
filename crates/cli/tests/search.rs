//! `oxeye search` and `oxeye optimize --learn` as commands, on a small program.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = "#include <stdio.h>
static double a[300][300], s[300];
int main(void)
{
    for (int t = 0; t < 40; t++)
        for (int j = 0; j < 300; j++)
            for (int i = 0; i < 300; i++)
                s[j] += a[i][j] + t;
    printf(\"%g\\n\", s[7]);
    return 0;
}
";

struct Outcome {
    code: Option<i32>,
    out: String,
    err: String,
}

/// Runs `oxeye` in a folder, with everything it keeps in there, too.
fn oxeye(folder: &Path, line: &str) -> Outcome {
    let output = Command::new(env!("CARGO_BIN_EXE_oxeye"))
        .args(line.split_whitespace())
        .current_dir(folder)
        .env_remove("OXEYE_DATABASE")
        .env("XDG_DATA_HOME", folder)
        .env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")))
        .output()
        .expect("starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Outcome { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn entries(folder: &Path, database: &str) -> Vec<Value> {
    let done = oxeye(folder, &format!("db --database {database} export -"));
    assert_eq!(done.code, Some(0), "{}", done.err);
    done.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("sums.c"), PROGRAM).expect("written");
    folder
}

#[test]
fn a_search_is_logged_learnt_and_gone_on_with() {
    let folder = folder();
    let folder = folder.path();
    let search = "search sums.c -v --budget 120s --max-trials 5 --log log.jsonl --database my.sqlite --json r.json \
                  -- gcc -O1";
    let done = oxeye(folder, search);
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("written");
    let report: Value = serde_json::from_str(&read("r.json")).expect("JSON");
    assert_eq!(report["search"]["nests"][0]["measured"], 5, "{report:#}");
    assert!(done.out.contains("5 candidates measured"), "{}", done.out);

    let learnt = entries(folder, "my.sqlite");
    assert_eq!(learnt.len(), 5, "{}", done.out);
    for line in &learnt {
        let entry = &line["entry"];
        assert_eq!(entry["provenance"]["origin"], "search");
        assert_eq!(entry["nest"]["hash"], learnt[0]["entry"]["nest"]["hash"]);
        assert!(
            entry["recipe"]["steps"]["steps"].is_array() && entry["recipe"]["steps"]["template"].is_string()
        );
    }

    // The same again takes everything from the log, but for the last word on the best.
    let before = read("log.jsonl");
    let again = oxeye(folder, search);
    assert_eq!(again.code, Some(0), "{}{}", again.out, again.err);
    assert_eq!(read("log.jsonl"), before);
    assert_eq!(entries(folder, "my.sqlite").len(), 5);

    // Any trial can be had as a file.
    let trial = before.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let trial = trial.into_iter().find(|line| line["outcome"] == "right").expect("a right one");
    let replay = format!("replay log.jsonl sums.c --trial {} -o one.c", trial["trial"]);
    let done = oxeye(folder, &replay);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let first = read("one.c");
    assert_ne!(first, PROGRAM);
    oxeye(folder, &replay);
    assert_eq!(read("one.c"), first);
}

#[test]
fn optimize_learns_only_when_told() {
    let folder = folder();
    let folder = folder.path();
    let done = oxeye(folder, "optimize sums.c --quick --budget 5s -- gcc -O1");
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    assert!(!folder.join("oxeye/recipes.sqlite").exists());
    let done = oxeye(folder, "optimize sums.c --quick --budget 60s --learn --database my.sqlite -- gcc -O1");
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    let learnt = entries(folder, "my.sqlite");
    assert!(!learnt.is_empty());
    assert!(learnt.iter().all(|line| line["entry"]["provenance"]["origin"] == "learn"));
    assert!(done.out.contains("added to my.sqlite"), "{}", done.out);
}

#[test]
fn nothing_is_overwritten_by_mistake() {
    let folder = folder();
    let folder = folder.path();
    let done = oxeye(folder, "search sums.c --budget 5s --log sums.c --no-learn");
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("the same file"), "{}", done.err);
    assert_eq!(std::fs::read_to_string(folder.join("sums.c")).expect("there"), PROGRAM);
    let done = oxeye(folder, "search sums.c --no-learn");
    assert!(done.err.contains("--budget"), "{}", done.err);
}
