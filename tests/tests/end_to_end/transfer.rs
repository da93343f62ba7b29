//! Recipes learnt on one program are used for another: `oxeye optimize` and `oxeye explain` with a recipe database.

use oxeye_tests::{Playground, Ran, alone};
use serde_json::Value;

/// A matrix product, where blocking gains a lot.
const PRODUCT: &str = r#"#include <stdio.h>
#define N 300
static double A[N][N], B[N][N], C[N][N];
int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = (i * 3 + j) % 17;
            B[i][j] = (i + j * 5) % 13;
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                C[i][j] += A[i][k] * B[k][j];
    printf("%.9e\n", C[7][9]);
    return 0;
}
"#;

/// The same product in another order, in a function, under other names.
const SPELLED_OTHERWISE: &str = r#"#include <stdio.h>
#include <stdlib.h>
typedef double row[300];
static void multiply(row *restrict to, const row *restrict left, const row *restrict right)
{
    for (int depth = 299; depth >= 0; --depth)
        for (int column = 1; column <= 300; column++)
            for (int line = 0; line < 300; line++)
                to[line][column - 1] = right[depth][column - 1] * left[line][depth] + to[line][column - 1];
}
int main(void)
{
    row *a = malloc(300 * sizeof(row)), *b = malloc(300 * sizeof(row)), *c = calloc(300, sizeof(row));
    for (int i = 0; i < 300; i++)
        for (int j = 0; j < 300; j++) {
            a[i][j] = (i + j) % 17;
            b[i][j] = i * j % 13;
        }
    multiply(c, a, b);
    printf("%.9e\n", c[7][7]);
    return 0;
}
"#;

/// Not a product.
const TRANSPOSITION: &str = r#"#include <stdio.h>
#define N 500
static double A[N][N], B[N][N];
static void transpose(double factor)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            B[i][j] = factor * A[j][i];
}
int main(void)
{
    A[7][9] = 1;
    for (int t = 0; t < 20; t++)
        transpose(t);
    printf("%.9e\n", B[9][7]);
    return 0;
}
"#;

/// A product with a transposed operand: a different nest, but a similar one.
const SIMILAR: &str = r#"#include <stdio.h>
#define N 320
static double A[N][N], B[N][N], C[N][N];
static void multiply(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                C[i][j] += 2.5 * A[k][i] * B[k][j];
}
int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = (i * 3 + j) % 17;
            B[i][j] = (i + j * 5) % 13;
        }
    multiply();
    printf("%.9e\n", C[7][9]);
    return 0;
}
"#;

const COMPILE: &str = "-- gcc -O2 -march=native -ffast-math";

fn json(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}\n{}\n{}", ran.stdout, ran.stderr))
}

/// A folder with a database that contains the product.
fn taught() -> Playground {
    let playground = Playground::with("product.c", PRODUCT);
    playground.write("otherwise.c", SPELLED_OTHERWISE);
    playground.write("similar.c", SIMILAR);
    let search = "search product.c --budget 60s --max-trials 6 --threads 1 --database my.sqlite";
    let ran = playground.run(&format!("{search} {COMPILE}"));
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);
    playground
}

/// The nest with most of the program's time.
fn heaviest(report: &Value) -> &Value {
    let share = |nest: &&Value| nest["share"].as_f64().unwrap_or(0.0);
    let nests = report["nests"].as_array().expect("nests").iter();
    nests.max_by(|a, b| share(a).total_cmp(&share(b))).expect("a nest")
}

#[test]
fn what_one_program_taught_serves_another_spelling_of_it() {
    let _alone = alone();
    let playground = taught();
    // The recipe of the same nest comes first; which of three is the fastest depends on the machine.
    // What an earlier result was made by would be tried first.
    let optimize =
        "optimize otherwise.c --quick --threads 1 --top-k 1 --database my.sqlite -o one.c --json -";
    let report = json(&playground.run(&format!("{optimize} {COMPILE}")));
    let nest = heaviest(&report);
    assert!(nest["donor"].as_str().is_some_and(|donor| donor.ends_with(", the same nest")), "{nest:#}");
    assert_eq!(nest["distance"], 0.0);
    assert!(nest["speedup"].as_f64() > Some(1.5), "{nest:#}");
    assert_eq!(nest["verified"], true);
    let tried = nest["trials"].as_array().expect("trials").iter();
    let tried: Vec<&Value> = tried.filter(|trial| trial["verdict"] != "not_tried").collect();
    assert_eq!(tried.len(), 1, "as many as --top-k says: {tried:#?}");
    assert_eq!(tried[0]["donor"], nest["donor"]);
    // The table says so too.
    let table = playground.run(&format!(
        "optimize otherwise.c --quick --verbose --threads 1 --top-k 1 --database my.sqlite -o other.c {COMPILE}"
    ));
    assert!(table.stdout.contains("learnt from: the same nest"), "{}", table.stdout);
}

#[test]
fn a_nest_that_is_like_others_learns_from_them() {
    let _alone = alone();
    let playground = taught();
    let optimize = "optimize similar.c --quick --threads 1 --database my.sqlite --json - --html page.html";
    let report = json(&playground.run(&format!("{optimize} {COMPILE}")));
    let nest = heaviest(&report);
    assert!(nest["recipe"].is_string(), "{nest:#}");
    let donor = nest["donor"].as_str().unwrap_or_else(|| panic!("{nest:#}"));
    assert!(donor.contains(" loops, "), "{donor}");
    assert!(nest["distance"].as_f64() > Some(0.0));
    let kind = nest["donor_kind"].as_str().unwrap_or_else(|| panic!("{nest:#}"));
    assert!(nest["likeness"].as_f64().is_some_and(|likeness| (0.0..1.0).contains(&likeness)), "{nest:#}");
    let page = playground.read("page.html");
    assert!(
        page.contains("learnt from a") && page.contains(&format!("{kind} of ")) && page.contains(" % alike")
    );
    let without = json(
        &playground.run(&format!("optimize similar.c --quick --threads 1 --no-database --json - {COMPILE}")),
    );
    for nest in without["nests"].as_array().expect("nests") {
        assert!(nest["donor"].is_null() && nest["distance"].is_null(), "{nest:#}");
    }
    assert!(heaviest(&without)["recipe"].is_string());
}

#[test]
fn what_helped_and_cannot_be_done_here_is_reported() {
    let _alone = alone();
    let playground = Playground::with("transposition.c", TRANSPOSITION);
    let learn = "search transposition.c --budget 30s --max-trials 1 --threads 1 --database my.sqlite";
    assert_eq!(playground.run(&format!("{learn} {COMPILE}")).code, Some(0));
    // A database says that this nest gained from blocking a product.
    let exported = playground.run("db --database my.sqlite export -").stdout;
    let line = exported.lines().next().expect("a trial");
    let mut entry: Value = serde_json::from_str(line).expect("an entry");
    entry["entry"]["verdict"] = "gained".into();
    let speedup = serde_json::json!({ "median": 7.0, "low": 6.0, "high": 8.0, "confidence": 0.95 });
    entry["entry"]["measured"] =
        serde_json::json!({ "baseline_seconds": 0.7, "best_seconds": 0.1, "speedup": speedup });
    entry["entry"]["recipe"]["steps"]["template"] = "contract one-thread scalar".into();
    playground.write("entry.json", &entry.to_string());
    assert_eq!(playground.run("db --database my.sqlite add entry.json").code, Some(0));
    let optimize = "optimize transposition.c --quick --threads 1 --database my.sqlite --json -";
    let report = json(&playground.run(&format!("{optimize} {COMPILE}")));
    let refused = &heaviest(&report)["refused"];
    let told = refused.as_array().expect("a list").iter().filter_map(Value::as_str);
    assert!(
        told.clone().any(|why| why.contains("gained 7.00x on") && why.contains("sums up products")),
        "{refused:#}"
    );
}

#[test]
fn an_explanation_names_donors_alignments_and_verdicts() {
    let _alone = alone();
    let playground = taught();
    let explain = "explain similar.c --threads 1 --database my.sqlite";
    let report = json(&playground.run(&format!("{explain} --json - {COMPILE}")));
    assert_eq!(report["schema"], "oxeye.explain/1");
    assert!(report["database_entries"].as_u64() > Some(6));
    let nest = heaviest(&report);
    for key in ["hash", "text", "sizes", "normalization", "space", "embedding", "static_embedding", "nodes"] {
        assert!(!nest["nest"][key].is_null(), "nest.{key}");
    }
    let dimension = nest["nest"]["embedding"].as_array().map(Vec::len);
    let donors = nest["donors"].as_array().expect("donors");
    assert!(!donors.is_empty());
    for donor in donors {
        assert_eq!(donor["embedding"].as_array().map(Vec::len), dimension, "{}", donor["donor"]);
        assert!(donor["distance"].as_f64() > Some(0.0) && !donor["exact"].as_bool().unwrap_or(true));
        assert!(donor["trials"].as_array().is_some_and(|trials| !trials.is_empty()));
    }
    let product =
        donors.iter().find(|d| d["text"].as_str().is_some_and(|t| t.contains("for L2"))).expect("a product");
    let aligned =
        product["aligned"].as_array().expect("aligned").iter().filter(|node| node["kind"] == "loop");
    assert!(aligned.clone().count() >= 3, "{product:#}");
    let candidates = nest["candidates"].as_array().expect("candidates");
    for rank in 1..=3 {
        let of_rank = candidates.iter().find(|c| c["rank"] == rank).unwrap_or_else(|| panic!("rank {rank}"));
        assert!(of_rank["verdict"].is_string() && !of_rank["steps"].as_array().expect("steps").is_empty());
    }
    assert!(candidates.iter().any(|c| c["verdict"] == "chosen" && c["time_ms"].is_number()), "{nest:#}");
    assert!(nest["refused"].as_array().is_some_and(|r| r.iter().all(|r| r["reason"].is_string())));
    assert!(nest["conclusion"].as_str().is_some_and(|text| text.contains(" wins: alone it is ")), "{nest:#}");
    // Nothing is written, and nothing is measured unnecessarily.
    assert!(!playground.files().contains(&"similar.oxeye.c".to_owned()));
    let shown = playground.run(&format!("{explain} --no-run {COMPILE}"));
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    for word in ["normal form", "alike", "legal schedule", "would be tried first"] {
        assert!(shown.stdout.contains(word), "{word}: {}", shown.stdout);
    }
    assert!(shown.stdout.lines().all(|line| line.chars().count() <= 80), "{}", shown.stdout);
    let all = playground.run(&format!("{explain} --no-run --verbose {COMPILE}")).stdout;
    assert!(all.contains("embedding of model") && all.contains("loops of entry"), "{all}");
}

#[test]
fn donors_can_be_found_in_other_ways() {
    let _alone = alone();
    let playground = taught();
    let explain = "explain similar.c --no-run --threads 1 --database my.sqlite --json -";
    for how in ["static", "hand-made", "random"] {
        let report = json(&playground.run(&format!("{explain} --donors {how} {COMPILE}")));
        assert!(heaviest(&report)["donors"].as_array().is_some_and(|donors| !donors.is_empty()), "{how}");
    }
    let report = json(&playground.run(&format!("{explain} --donors none {COMPILE}")));
    assert_eq!(heaviest(&report)["donors"], serde_json::json!([]));
    let wrong = playground.run(&format!("{explain} --donors astrology {COMPILE}"));
    assert_eq!(wrong.code, Some(2), "{}", wrong.stdout);
}

#[test]
fn a_search_compares_ways_of_finding_donors_on_one_bench() {
    let _alone = alone();
    let playground = taught();
    let search = "search similar.c --compare-donors --no-learn --database my.sqlite --threads 1 --budget 60s --max-trials 12";
    let report = json(&playground.run(&format!("{search} --json - {COMPILE}")));
    let heaviest = heaviest(&report)["id"].clone();
    let nests = report["search"]["nests"].as_array().expect("nests");
    let nest = nests.iter().find(|nest| nest["id"] == heaviest).expect("it was searched");
    let compared = nest["compared"].as_array().expect("compared");
    let methods: Vec<&str> = compared.iter().filter_map(|method| method["method"].as_str()).collect();
    assert_eq!(methods, ["embedding", "static", "hand-made", "random", "none"]);
    let best = nest["best_seconds"].as_f64().expect("a number");
    for method in compared {
        let picks = method["picks"].as_array().expect("picks");
        assert!((1..=3).contains(&picks.len()), "{method:#}");
        // Nothing beats the best of everything.
        assert!(method["best_seconds"].as_f64().is_none_or(|seconds| seconds >= best), "{method:#}");
    }
    let embedding = &compared[0];
    assert!(embedding["speedup"].as_f64() > Some(1.5), "{embedding:#}");
}

#[test]
fn a_database_that_cannot_be_read_is_named() {
    let playground = Playground::with("product.c", PRODUCT);
    playground.write("notes.txt", &"not a database ".repeat(100));
    let ran = playground.run(&format!("optimize product.c --database notes.txt {COMPILE}"));
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(ran.stderr.contains("notes.txt"), "{}", ran.stderr);
    assert_eq!(playground.read("notes.txt"), "not a database ".repeat(100));
}
