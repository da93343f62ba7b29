//! `oxeye values` and `oxeye flow` as users run them.

use oxeye_tests::Playground;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// One array for each pattern, and one without any.
const PLANTED: &str = r#"
#include <stdio.h>
#define N 4096
#define NOISE(k) ((double)(((unsigned)(k) * 2654435761u) % 1000003u) / 999983.0 + 0.1)
#define PICK(k) ((((unsigned)(k) * 2654435761u) >> 7) % 97u)

static double one[N], mostly[N], zeros[N], region[N], dense[N], frequent[N], wide[N], whole[N], rounded[N];
static double plain[N], same[N], scratch[N], out[N];
static double nobody[N];
static long longs[N];
static double linear[N];

static void fill(void)
{
    for (int i = 0; i < N; i++) {
        one[i] = 2.5;
        mostly[i] = i % 16 == 3 ? NOISE(i) : 0.75;
        zeros[i] = i % 4 == 1 ? NOISE(i) : 0.0;
        region[i] = i < 3 * N / 4 ? 0.0 : NOISE(i);
        dense[i] = (double)(PICK(i) % 5u);
        frequent[i] = PICK(i) % 3u == 0u ? 0.1 : (PICK(i) % 3u == 1u ? 7.25 : 3.3);
        wide[i] = (double)(float)NOISE(i);
        whole[i] = (double)(((unsigned)i * 2654435761u) % 30011u);
        rounded[i] = 1.0 + 1e-9 * NOISE(i);
        plain[i] = NOISE(i + 7);
        longs[i] = (long)(((unsigned)i * 2654435761u) % 1000003u);
        linear[i] = 3.0 * i + 7.5;
    }
}

static void use(int t)
{
    for (int i = 0; i < N; i++) out[i] += plain[i] * one[i];
    for (int i = 0; i < N; i++) out[i] += plain[i] * mostly[i];
    for (int i = 0; i < N; i++) out[i] += plain[i] * zeros[i];
    for (int i = 0; i < N; i++) out[i] += plain[i] * region[i];
    for (int i = 0; i < N; i++) out[i] += plain[i] * dense[i];
    for (int i = 0; i < N; i++) out[i] += plain[i] * frequent[i];
    for (int i = 0; i < N; i++) out[i] += plain[i] * wide[i];
    for (int i = 0; i < N; i++) out[i] += plain[i] * whole[i];
    for (int i = 0; i < N; i++) out[i] += plain[i] * rounded[i];
    for (int i = 0; i < N; i++) out[i] += plain[i] * longs[i];
    for (int i = 0; i < N; i++) out[i] += plain[i] * linear[i];
    for (int i = 0; i < N; i++) same[i] = plain[i] * 1.7;
    for (int i = 0; i < N; i++) out[i] += same[i];
    for (int i = 0; i < N; i++) scratch[i] = plain[i] + t * 0.31;
    for (int i = 0; i < N; i++) scratch[i] = out[i] * 0.77 + t;
    for (int i = 0; i < N; i++) out[i] += scratch[i] * 0.1;
    for (int i = 0; i < N; i++) nobody[i] = out[i] * 0.5 + t;
}

int main(void)
{
    fill();
    for (int t = 0; t < 6; t++)
        use(t);
    double sum = 0;
    for (int i = 0; i < N; i++) sum += out[i];
    printf("%.9g\n", sum);
    return 0;
}
"#;

/// Products, a stencil and a recurrence on numbers that have nothing in common.
const ORDINARY: &str = r#"
#include <stdio.h>
#define N 96
#define NOISE(k) ((double)(((unsigned)(k) * 2654435761u) % 1000003u) / 999983.0 + 0.1)

static double a[N][N], b[N][N], c[N][N], u[2][N][N], run[N * N];
static float weights[N];

int main(void)
{
    for (int i = 0; i < N; i++) {
        weights[i] = (float)(NOISE(i * 31 + 5) * 0.25);
        for (int j = 0; j < N; j++) {
            a[i][j] = NOISE(i * N + j);
            b[i][j] = NOISE(j * N + i + 17) - 0.6;
            u[0][i][j] = NOISE(3 * i * N + j) * 2;
        }
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            c[i][j] = 0.0;
            for (int k = 0; k < N; k++)
                c[i][j] += a[i][k] * b[k][j];
        }
    for (int t = 0; t < 10; t++)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                u[(t + 1) % 2][i][j] = 0.2 * (u[t % 2][i][j] + u[t % 2][i - 1][j] + u[t % 2][i + 1][j]
                                              + u[t % 2][i][j - 1] + u[t % 2][i][j + 1]) + 0.01 * c[i][j];
    run[0] = c[0][0];
    for (int i = 1; i < N * N; i++)
        run[i] = 0.9 * run[i - 1] + c[i / N][i % N] * weights[i % N];
    double sum = 0;
    for (int i = 0; i < N * N; i++) sum += run[i];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) sum += u[0][i][j];
    printf("%.9g\n", sum);
    return 0;
}
"#;

fn report(source: &str, line: &str) -> Value {
    let play = Playground::with("prog.c", source);
    let ran = play.run(&format!("{line} --json - -- gcc -O2 -lm"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.stdout))
}

fn list<'v>(report: &'v Value, key: &str) -> &'v [Value] {
    report[key].as_array().unwrap_or_else(|| panic!("no {key} in {report:#}"))
}

fn found(report: &Value) -> BTreeSet<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    list(report, "findings")
        .iter()
        .map(|finding| (word(&finding["array"]), word(&finding["pattern"])))
        .collect()
}

#[test]
fn each_planted_pattern_is_found_and_nothing_else() {
    let report = report(PLANTED, "values prog.c");
    assert_eq!(report["schema"], "oxeye.values/1");
    let planted = [
        ("one", "one-value"),
        ("mostly", "mostly-one-value"),
        ("zeros", "zeros"),
        ("region", "zeros"),
        ("dense", "few-dense"),
        ("frequent", "few-frequent"),
        ("wide", "wider-type"),
        ("whole", "whole-numbers"),
        ("rounded", "equal-when-rounded"),
        ("longs", "wider-type"),
        ("linear", "linear"),
        ("same", "unchanged"),
        ("scratch", "not-read"),
        ("nobody", "not-read"),
    ];
    let planted = planted.map(|(array, pattern)| (array.to_owned(), pattern.to_owned()));
    assert_eq!(found(&report), BTreeSet::from(planted), "{report:#}");
    let recipe = |array: &str| {
        let finding = list(&report, "findings").iter().find(|finding| finding["array"] == array);
        finding.map(|finding| finding["recipe"].clone())
    };
    assert_eq!(recipe("zeros"), Some("zero guard".into()));
    assert_eq!(recipe("region"), Some("splitting".into()));
    assert_eq!(recipe("scratch"), Some("dead store".into()));
    assert_eq!(recipe("wide"), Some("narrower storage".into()));
    let looked = &report["looked"];
    assert_eq!(looked["looked"], looked["accesses"]);
    assert!(looked["plain_seconds"].as_f64() > Some(0.0) && looked["watched_seconds"].as_f64() > Some(0.0));
}

#[test]
fn an_ordinary_program_has_no_findings() {
    let report = report(ORDINARY, "values prog.c");
    assert_eq!(found(&report), BTreeSet::new(), "{report:#}");
    assert!(list(&report, "nests").len() >= 4, "{report:#}");
}

#[test]
fn a_part_of_the_memory_tells_the_same() {
    let all = found(&report(PLANTED, "values prog.c"));
    // More elements, of which only some can be looked at.
    let larger = PLANTED.replace("#define N 4096", "#define N 400000");
    let report = report(&larger, "values prog.c --accesses 1");
    assert!(report["looked"]["one_in"].as_u64() > Some(1), "{:#}", report["looked"]);
    assert!(report["looked"]["looked"].as_u64() < report["looked"]["accesses"].as_u64());
    assert_eq!(found(&report), all);
}

/// `fill` calls a function that is not read. Each step overwrites what the step before has left in `w`, unread.
const FLOWING: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#define N 1000
static double x[N], y[N], z[N], w[N], copy[N];

static void fill(void)
{
    for (int i = 0; i < N; i++) x[i] = rand() % 1000 * 0.1;
}

static void first(void)
{
    for (int i = 0; i < N; i++) y[i] = 2.0 * x[i];
}

static void second(void)
{
    for (int i = 0; i < N / 2; i++) z[i] = y[i] + 1.0;
}

static void third(double f)
{
    for (int i = 0; i < N; i++) w[i] = f * y[i];
}

static void fourth(void)
{
    for (int i = 0; i < N; i++) copy[i] = y[i];
}

int main(void)
{
    for (int t = 0; t < 3; t++) {
        fill();
        first();
        second();
        third(t);
        printf("%g\n", z[7]);
    }
    fourth();
    printf("%g %g\n", w[3], copy[5]);
    return 0;
}
"#;

/// Bytes from one function to another; `None` is elsewhere.
fn flows(report: &Value) -> BTreeMap<(Option<String>, String), u64> {
    let names: BTreeMap<u64, String> = list(report, "nests")
        .iter()
        .map(|nest| {
            (nest["id"].as_u64().unwrap_or(99), nest["function"].as_str().unwrap_or_default().to_owned())
        })
        .collect();
    let flow = |flow: &Value| {
        let from = flow["from"].as_u64().map(|id| names[&id].clone());
        let to = names[&flow["to"].as_u64().expect("a nest")].clone();
        ((from, to), flow["bytes"].as_u64().expect("bytes"))
    };
    list(report, "flows").iter().map(flow).collect()
}

#[test]
fn bytes_flow_from_the_nest_that_stores_to_the_nests_that_read() {
    let report = report(FLOWING, "flow prog.c");
    assert_eq!(report["schema"], "oxeye.flow/1");
    let flows = flows(&report);
    let bytes = |from: Option<&str>, to: &str| flows.get(&(from.map(str::to_owned), to.to_owned())).copied();
    // Most of the numbers drawn in a step differ from those of the step before, which shows that others were stored.
    let drawn = bytes(None, "first").expect("x comes from elsewhere");
    assert!((8000 * 2..=8000 * 3).contains(&drawn), "{report:#}");
    assert_eq!(bytes(Some("first"), "second"), Some(3 * 4000), "{report:#}");
    // `third` reads `f` besides, a parameter that its caller sets.
    assert_eq!(bytes(Some("first"), "third"), Some(3 * 8000), "{report:#}");
    assert_eq!(bytes(Some("first"), "fourth"), Some(8000), "{report:#}");
    assert_eq!(bytes(Some("second"), "third"), None);
    let nest = |function: &str| list(&report, "nests").iter().find(|nest| nest["function"] == function);
    let third = nest("third").expect("it ran");
    assert_eq!(third["stored_bytes"], 3 * 8000);
    assert_eq!(
        (&third["overwritten_unread_bytes"], &third["left_bytes"]),
        (&(2 * 8000).into(), &8000.into())
    );
    assert_eq!(third["surely_unread_bytes"], 0);
    let same = list(&report, "duplicates");
    let names = |same: &Value| BTreeSet::from([same["first"][0].to_string(), same["second"][0].to_string()]);
    assert!(
        same.iter().any(|same| names(same) == BTreeSet::from(["\"copy\"".into(), "\"y\"".into()])),
        "{same:#?}"
    );
    assert!(same.iter().all(|same| !names(same).contains("\"x\"")), "{same:#?}");
}

#[test]
fn flow_is_drawn() {
    let play = Playground::with("prog.c", FLOWING);
    let ran = play.run("flow prog.c --svg f.svg --dot f.dot --html f.html -- gcc -O2");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("elsewhere") && ran.stdout.contains("looked at all"), "{}", ran.stdout);
    let dot = play.read("f.dot");
    assert!(dot.contains("elsewhere -> n") && dot.contains("y: 24 kB"), "{dot}");
    let (svg, page) = (play.read("f.svg"), play.read("f.html"));
    assert!(svg.contains("prefers-color-scheme:dark") && svg.contains("first:"), "{svg}");
    assert!(page.contains("<svg") && page.contains("Arrays that held the same"));
    for outside in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!page.contains(outside), "the page needs the network: {outside}");
    }
}

#[test]
fn without_a_program_there_is_nothing_to_run() {
    let play =
        Playground::with("kernel.c", "void f(int n, double *x) { for (int i = 0; i < n; i++) x[i] = i; }\n");
    for subcommand in ["values", "flow"] {
        let ran = play.run(&format!("{subcommand} kernel.c -- gcc -O2"));
        assert_eq!(ran.code, Some(2), "{}", ran.stdout);
        assert!(ran.stderr.contains("no main in kernel.c"), "{}", ran.stderr);
    }
}
