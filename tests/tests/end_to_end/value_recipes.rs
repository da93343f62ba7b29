//! Recipes for what `oxeye values` finds, as users have them tried, saved and replayed: right whatever the values are.

use oxeye_tests::Playground;
use serde_json::{Value, json};

/// Waves in rock of one density with absorbing layers at both ends of each row, sources in a few rows, and a field that is
/// cleared before it is computed. Arguments plant other values: a density, where a denser block is, and the layer's depth.
const WAVES: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#define NX 220
#define NZ 340

static double before[NX][NZ], now[NX][NZ], lap[NX][NZ], density[NX][NZ], sponge[NZ], weight[NX];
static int run = 3;

static void model(double rock, int block, int layer)
{
    for (int i = 0; i < NX; i++) {
        weight[i] = i % 7 == 3 ? 0.001 * i : 0.0;
        for (int j = 0; j < NZ; j++) {
            density[i][j] = i == block ? rock + 0.125 : rock;
            now[i][j] = ((i * 31 + j * 17) % 101) / 101.0;
            before[i][j] = now[i][j];
        }
    }
    for (int j = 0; j < NZ; j++) {
        int depth = j < layer ? layer - j : j >= NZ - layer ? j - (NZ - layer - 1) : 0;
        sponge[j] = 0.0002 * depth * depth;
    }
}

static void step(void)
{
    for (int i = 1; i < NX - 1; i++)
        for (int j = 1; j < NZ - 1; j++) {
            lap[i][j] = 0.0;
            double same = now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1] - 4.0 * now[i][j];
            lap[i][j] = density[i][j] * density[i][j] * same / run;
        }
    for (int i = 1; i < NX - 1; i++)
        for (int j = 1; j < NZ - 1; j++)
            before[i][j] = (2.0 - sponge[j]) * now[i][j] - (1.0 - sponge[j]) * before[i][j] + 0.1 * lap[i][j];
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NZ; j++)
            before[i][j] += weight[i] * lap[i][j];
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NZ; j++) {
            double v = now[i][j];
            now[i][j] = before[i][j];
            before[i][j] = v;
        }
}

int main(int argc, char **argv)
{
    model(argc > 1 ? atof(argv[1]) : 0.5, argc > 2 ? atoi(argv[2]) : -1, argc > 3 ? atoi(argv[3]) : 25);
    for (int t = 0; t < 12; t++)
        step();
    double sum = 0.0;
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NZ; j++)
            sum += now[i][j] * (1 + i % 3) + before[i][j];
    printf("%.10e\n", sum);
    return 0;
}
"#;

/// What is planted: nothing else than was found, and everything that can be otherwise.
const MODELS: [&str; 7] = ["", "0.5 100", "0.5 1", "0.25", "0.5 -1 0", "0.5 -1 300", "0 -1 3"];

const FLAGS: &str = "gcc -O2 -ffast-math -lm";

/// The program's output for a model.
fn output(play: &Playground, file: &str, flags: &str, model: &str) -> String {
    let ran = play.shell(&format!("{flags} -Wall -Werror -fopenmp {file} -lm -o prog && ./prog {model}"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.stdout
}

/// Whether both programs print the same numbers, but for roundings.
fn same_for_all_models(play: &Playground, file: &str, flags: &str) {
    for model in MODELS {
        let number = |file: &str| -> f64 {
            let text = output(play, file, flags, model);
            text.trim().parse().unwrap_or_else(|e| panic!("{text}: {e}"))
        };
        let (expected, actual) = (number("waves.c"), number(file));
        assert!((expected - actual).abs() <= 1e-8 * expected.abs(), "`{model}`: {expected} and {actual}");
    }
}

/// A recipe file for nests of a function, by their ordinals.
fn recipes(flags: &str, function: &str, nests: &[(usize, &str)]) -> String {
    let words: Vec<&str> = flags.split(' ').collect();
    let nest = |(ordinal, recipe): &(usize, &str)| json!({"function": function, "ordinal": ordinal, "line": 1, "name": "by hand", "recipe": recipe});
    let reassociate = flags.contains("-ffast-math");
    json!({
        "schema": "oxeye.recipe/1",
        "compiler": {"command": words[0], "args": words[1..], "chosen": true},
        "threads": 2,
        "reassociate": reassociate,
        "no_alias": false,
        "nests": nests.iter().map(nest).collect::<Vec<_>>(),
    })
    .to_string()
}

fn found(play: &Playground, flags: &str) -> Vec<Value> {
    let ran = play.run(&format!("values waves.c --accesses 100 --json values.json -- {flags}"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let asks = "  oxeye tune waves.c --values values.json";
    assert_eq!(ran.stdout.lines().last(), Some(asks), "{}", ran.stdout);
    let report: Value = serde_json::from_str(&play.read("values.json")).expect("JSON");
    report["findings"].as_array().expect("a list").clone()
}

/// The first steps for the finding about an array, and why there are none.
fn steps<'f>(findings: &'f [Value], array: &str) -> (Vec<&'f str>, Option<&'f str>) {
    let finding =
        findings.iter().find(|f| f["array"] == array).unwrap_or_else(|| panic!("nothing of {array}"));
    let steps = finding["steps"].as_array().expect("a list").iter().filter_map(Value::as_str);
    (steps.collect(), finding["no_steps"].as_str())
}

#[test]
fn what_is_found_is_asked_for_tried_and_right_on_other_data() {
    let play = Playground::with("waves.c", WAVES);
    let findings = found(&play, FLAGS);
    assert!(steps(&findings, "density").0[0].ends_with(" to 0.5"), "{findings:?}");
    assert!(
        steps(&findings, "sponge").0.iter().any(|step| step.starts_with("split_zeros L1 of ")),
        "{findings:?}"
    );
    assert!(steps(&findings, "weight").0.iter().any(|step| step.starts_with("guard_zeros ")), "{findings:?}");
    assert_eq!(steps(&findings, "lap").0, ["drop_store S0"]);

    let line = format!(
        "optimize waves.c --values values.json -o fast.c --save-recipe r.json --budget 20s --quick --json report.json -- {FLAGS}"
    );
    let ran = play.run(&line);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let report: Value = serde_json::from_str(&play.read("report.json")).expect("JSON");
    let names: Vec<&str> = report["nests"]
        .as_array()
        .expect("a list")
        .iter()
        .flat_map(|nest| nest["trials"].as_array().into_iter().flatten())
        .filter_map(|trial| trial["name"].as_str())
        .collect();
    for name in
        ["specialise of density", "split_zeros of sponge", "guard_zeros of weight", "drop_store of lap"]
    {
        assert!(names.iter().any(|tried| tried.starts_with(name)), "{name} is not among {names:?}");
    }
    same_for_all_models(&play, "fast.c", FLAGS);
    if report["recipes"]["nests"].as_array().is_some_and(|nests| !nests.is_empty()) {
        let ran = play.run("replay r.json waves.c -o again.c");
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(play.read("again.c"), play.read("fast.c"));
    }
}

#[test]
fn every_recipe_takes_the_users_text_where_values_are_others() {
    let play = Playground::with("waves.c", WAVES);
    let findings = found(&play, FLAGS);
    let step = |array: &str, start: &str| -> String {
        let (steps, _) = steps(&findings, array);
        let step = steps.into_iter().find(|step| step.starts_with(start));
        step.unwrap_or_else(|| panic!("no {start} for {array}")).to_owned()
    };
    let (special, split) = (step("density", "specialise"), step("sponge", "split_zeros"));
    let (guard, dead) = (step("weight", "guard_zeros"), step("lap", "drop_store"));
    let all = [
        (0, format!("{dead}; {special}; parallelize L0")),
        (1, format!("{split}; parallelize L0")),
        (2, format!("{guard}; parallelize L0")),
    ];
    let all: Vec<(usize, &str)> = all.iter().map(|(ordinal, recipe)| (*ordinal, recipe.as_str())).collect();
    play.write("r.json", &recipes(FLAGS, "step", &all));
    let ran = play.run("replay r.json waves.c -o fast.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let text = play.read("fast.c");
    // The names that the user's text uses are left to it.
    assert!(!text.contains("int same;"), "{text}");
    for wanted in ["if (weight[i] != 0) {", "sponge_zero_end", "lap[i][j] = 0.5 * 0.5 * "] {
        assert!(text.contains(wanted), "{wanted} is not in\n{text}");
    }
    assert_eq!(text.matches("lap[i][j] = 0.0;").count(), 2, "only in the user's own text:\n{text}");
    same_for_all_models(&play, "fast.c", FLAGS);
    // Debug builds, in which every access is checked, find nothing amiss.
    let ran = play.run(&format!("check-build waves.c --recipe r.json --json - -- {FLAGS}"));
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn without_finite_numbers_products_with_zero_stay() {
    const STRICT: &str = "gcc -O2";
    let play = Playground::with("waves.c", WAVES);
    let findings = found(&play, STRICT);
    let (weight, _) = steps(&findings, "weight");
    assert!(weight.iter().all(|step| !step.starts_with("guard_zeros")), "{weight:?}");
    let (sponge, _) = steps(&findings, "sponge");
    let split = sponge.into_iter().find(|step| step.starts_with("split_zeros")).expect("it loads less");
    play.write("r.json", &recipes(STRICT, "step", &[(1, split)]));
    let ran = play.run("replay r.json waves.c -o fast.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for model in MODELS {
        assert_eq!(
            output(&play, "fast.c", STRICT, model),
            output(&play, "waves.c", STRICT, model),
            "`{model}`"
        );
    }
    // Asked for all the same, it is refused, with the reason.
    let findings = format!("{findings:?}");
    let array = findings
        .split("split_zeros L0 of ")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("an array");
    play.write("r.json", &recipes(STRICT, "step", &[(2, &format!("guard_zeros {array}"))]));
    let ran = play.run("replay r.json waves.c -o fast.c");
    assert_ne!(ran.code, Some(0));
    assert!(ran.stderr.contains("numbers are finite"), "{}", ran.stderr);
}

/// Weighted normal equations; every so-manieth element of the matrix is not zero.
const EQUATIONS: &str = r#"
#include <stdio.h>
#include <stdlib.h>

static void equations(int m, int n, double (*a)[n], const double *w, double (*c)[n], double *y)
{
    for (int p = 0; p < m; p++)
        for (int i = 0; i < n; i++) {
            double aw = w[p] * a[p][i];
            if (aw != 0) {
                for (int j = i; j < n; j++)
                    c[i][j] += aw * a[p][j];
                y[i] += aw;
            }
        }
}

int main(int argc, char **argv)
{
    int m = argc > 1 ? atoi(argv[1]) : 2000, n = argc > 2 ? atoi(argv[2]) : 400, every = argc > 3 ? atoi(argv[3]) : 23;
    double (*a)[n] = calloc(m + 1, sizeof *a);
    double (*c)[n] = calloc(n + 1, sizeof *c), *w = calloc(m + 1, sizeof *w), *y = calloc(n + 1, sizeof *y);
    for (int p = 0; p < m; p++) {
        w[p] = p % 5 == 3 ? 0 : 0.25 + p % 7;
        for (int i = 0; i < n; i++)
            a[p][i] = (p + i) % every == 0 ? 1 + (p * 3 + i) % 11 : 0;
    }
    equations(m, n, a, w, c, y);
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            sum += c[i][j] * (1 + (i * 5 + j) % 13) + y[i];
    printf("%.9e\n", sum);
    free(a);
    free(c);
    free(w);
    free(y);
    return 0;
}
"#;

#[test]
fn arrays_that_are_mostly_zero_are_compacted_unasked() {
    const FAST: &str = "gcc -O2 -ffast-math";
    let play = Playground::with("prog.c", EQUATIONS);
    let line = "optimize prog.c --quick --no-database -o tuned.c --json report.json --budget 20s --threads 1";
    let ran = play.run(&format!("{line} -- {FAST}"));
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let report: Value = serde_json::from_str(&play.read("report.json")).expect("JSON");
    let trials = report["nests"][0]["trials"].as_array().expect("a list");
    let tried = trials.iter().find(|trial| trial["name"] == "compact_zeros of a");
    // Whether it is chosen depends on the machine.
    let recipe = tried.and_then(|trial| trial["recipe"][0].as_str()).unwrap_or_else(|| panic!("{report:#}"));
    play.write("r.json", &recipes(FAST, "equations", &[(0, recipe)]));
    let ran = play.run("replay r.json prog.c -o fast.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(play.read("fast.c").contains("a_list["), "{}", play.read("fast.c"));
    for (from, to) in [("prog.c", "before"), ("fast.c", "after")] {
        let ran = play.shell(&format!(
            "gcc -O1 -g -fsanitize=address,undefined -fno-sanitize-recover -ffast-math {from} -o {to}"
        ));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    for sizes in ["50 40 23", "50 40 1", "1 1 1", "30 20 1000", "0 9 2", "20 130 3"] {
        let (before, after) =
            (play.shell(&format!("./before {sizes}")), play.shell(&format!("./after {sizes}")));
        assert_eq!((before.code, &before.stdout), (Some(0), &after.stdout), "{sizes}: {}", after.stderr);
    }
}

#[test]
fn a_report_of_another_kind_is_refused() {
    let play = Playground::with("waves.c", WAVES);
    play.write("values.json", r#"{"schema": "oxeye.flow/1", "findings": []}"#);
    let ran = play.run("optimize waves.c --values values.json -- gcc -O2");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("its schema is `oxeye.flow/1`"), "{}", ran.stderr);
}
