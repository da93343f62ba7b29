//! `oxeye check-build` and `oxeye rerun` as users run them.

use oxeye_tests::{Playground, recipe_file};
use serde_json::{Value, json};

/// Adds up the columns of a matrix, in an order that loop interchange makes faster.
const COLUMNS: &str = r#"
#include <stdio.h>
#define N 700
static double a[N][N], s[N], scale = 0.5;
static void columns(int n) {
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            s[j] += scale * a[i][j];
}
int main(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = (i * 7 + j * 3) % 11;
    for (int t = 0; t < 20; t++)
        columns(N);
    printf("%.9g %.9g\n", s[0], s[N - 1]);
    return 0;
}
"#;

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// A build of a report by its name.
fn build<'r>(report: &'r Value, name: &str) -> &'r Value {
    let found = report["builds"].as_array().into_iter().flatten().find(|build| build["name"] == name);
    found.unwrap_or_else(|| panic!("no build {name}: {report:#}"))
}

fn recipe() -> String {
    let steps = json!([
        { "step": "interchange", "outer": 0, "inner": 1 },
    ]);
    recipe_file(&[("columns", steps)])
}

#[test]
fn a_proved_file_passes_all_builds() {
    let play = Playground::with("columns.c", COLUMNS);
    play.write("columns.recipe.json", &recipe());
    let ran = play.run("check-build columns.c --recipe columns.recipe.json --json - -- gcc -O2");
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let report = json_of(&ran.stdout);
    assert_eq!(report["schema"], "oxeye.check-build/1");
    assert_eq!(report["from_recipes"], true);
    for name in ["output", "accesses"] {
        assert_eq!(build(&report, name)["outcome"], "passed", "{report:#}");
    }
    // Sanitizers are there or the reason why not.
    for name in ["address", "undefined"] {
        let build = build(&report, name);
        assert!(build["outcome"] == "passed" || build["note"].is_string(), "{build:#}");
    }
}

#[test]
fn an_access_outside_of_its_row_is_found_in_an_edited_file() {
    let play = Playground::with("columns.c", COLUMNS);
    // Reads one column too many, which lies in the next row of the same array; nothing else comes of it.
    let planted = COLUMNS.replace(
        "            s[j] += scale * a[i][j];",
        "            s[j] += scale * a[i][j] + 0.0 * a[i][j + 1];",
    );
    assert_ne!(planted, COLUMNS);
    play.write("columns.oxeye.c", &planted);
    let ran = play.run("check-build columns.c --json - -- gcc -O2");
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    let report = json_of(&ran.stdout);
    assert_eq!(report["from_recipes"], false);
    let accesses = build(&report, "accesses");
    assert_eq!(accesses["outcome"], "failed");
    let found = accesses["findings"].as_array().expect("findings");
    let index = found.iter().find(|f| f["kind"] == "index").expect("an index");
    assert_eq!(index["message"], "index 700 of `a`, in a dimension of 700");
    assert_eq!(index["place"], "columns:6");
    assert_eq!(index["in_original"], false);
    // People read the same.
    let ran = play.run("check-build columns.c -- gcc -O2");
    assert!(ran.stdout.contains("columns:6: index 700 of `a`, in a dimension of 700"), "{}", ran.stdout);
}

#[test]
fn what_the_original_does_as_well_does_not_count() {
    let wrong = COLUMNS.replace("scale * a[i][j];", "scale * a[i][j] + 0.0 * a[i][j + 1];");
    let play = Playground::with("columns.c", &wrong);
    play.write("columns.oxeye.c", &format!("/* tuned */ {wrong}"));
    let ran = play.run("check-build columns.c --json - -- gcc -O2");
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let report = json_of(&ran.stdout);
    let findings = build(&report, "accesses")["findings"].as_array().expect("findings").clone();
    assert!(!findings.is_empty() && findings.iter().all(|f| f["in_original"] == true), "{findings:#?}");
}

#[test]
fn other_results_are_told() {
    let play = Playground::with("columns.c", COLUMNS);
    play.write("columns.oxeye.c", &COLUMNS.replace("scale * a[i][j]", "2 * scale * a[i][j]"));
    let ran = play.run("check-build columns.c --json - -- gcc -O2");
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    let report = json_of(&ran.stdout);
    assert_eq!(build(&report, "output")["outcome"], "failed", "{report:#}");
    let ran = play.run("check-build columns.c --tuned nowhere.c -- gcc -O2");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("nowhere.c") && ran.stderr.contains("oxeye tune"), "{}", ran.stderr);
}

#[test]
fn edited_candidates_are_verified_and_shown_beside_what_was_generated() {
    let play = Playground::with("columns.c", COLUMNS);
    let ran = play.run(
        "optimize columns.c --quick --budget 8s --threads 1 --keep-candidates kept --json r.json -- gcc -O2",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("oxeye rerun columns.c --candidates kept"), "{}", ran.stdout);
    let index = json_of(&play.read("kept/candidates.json"));
    let candidates = index["candidates"].as_array().expect("candidates");
    let of_columns = candidates.iter().find(|c| c["nest"] == "columns:6").expect("a candidate of the nest");
    let name = of_columns["file"].as_str().expect("a name").to_owned();
    let file = format!("kept/{name}");
    let generated = play.read(&file);
    assert_eq!(generated, play.read(&format!("kept/generated/{name}")));
    // Nothing was edited yet.
    let ran = play.run("rerun columns.c --candidates kept --threads 1 -- gcc -O2");
    assert!(ran.code == Some(0) && ran.stdout.contains("no candidate in kept was edited"), "{}", ran.stdout);
    // An edit that changes nothing.
    let block = generated.find("/* oxeye:").expect("the nest");
    let (head, tail) = generated.split_at(block);
    play.write(&file, &format!("{head}/* mine */ {tail}"));
    let ran = play.run("rerun columns.c --candidates kept --threads 1 --json - -- gcc -O2");
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let report = json_of(&ran.stdout);
    let candidate = &report["candidates"][0];
    assert_eq!(report["candidates"].as_array().map(Vec::len), Some(1));
    assert!(
        candidate["diff"].as_str().is_some_and(|diff| diff.contains("+    ") && diff.contains("/* mine */"))
    );
    for side in ["generated", "now"] {
        let figures = &candidate[side];
        assert_eq!(figures["wrong"], Value::Null, "{candidate:#}");
        for figure in ["baseline_ms", "ms", "speedup", "program_speedup"] {
            assert!(figures[figure].as_f64().is_some_and(|value| value > 0.0), "{figure}: {candidate:#}");
        }
    }
    // One that makes it wrong.
    play.write(&file, &format!("{head}{}", tail.replacen("scale", "1.5 * scale", 1)));
    let ran = play.run("rerun columns.c --candidates kept --threads 1 -- gcc -O2");
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("edited: ") && ran.stdout.contains("wrong"), "{}", ran.stdout);
    // One that is no C.
    play.write(&file, &format!("{head}}} {tail}"));
    let ran = play.run(&format!("rerun columns.c --candidates {file} --threads 1 -- gcc -O2"));
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    // And a source that is another by now.
    play.write("columns.c", &COLUMNS.replace("t < 20", "t < 21"));
    let ran = play.run("rerun columns.c --candidates kept --threads 1 -- gcc -O2");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("has changed since"), "{}", ran.stderr);
}
