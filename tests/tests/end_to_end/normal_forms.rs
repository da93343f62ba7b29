//! Recipes that start from the normal form of a nest, on a program whose spelling hides what it computes.

use oxeye_frontend::{ReadOptions, read_c};
use oxeye_ir::Nest;
use oxeye_tests::{Playground, recipe_file, repository};
use oxeye_transform::steps::Normalize;
use oxeye_transform::templates::MOST_NORMAL_STATEMENTS;
use oxeye_transform::{Judged, Policy, PreparedNest, Recipe};
use serde_json::{Value, json};

/// Loops in an order that suits no cache, a scalar between a sum and its element, and a scratch row; `t2` and `s` are
/// names that might be chosen for temporaries.
const PROGRAM: &str = r#"#include <stdio.h>

#define N 190

static double A[N][N], B[N][N], C[N][N], D[N][N], t2[N];

static void product(void)
{
    double s;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            s = 0.0;
            for (int k = 0; k < N; k++)
                s += A[i][k] * B[k][j];
            C[i][j] = s;
        }
}

static void rows(int n, int m)
{
    double t[m];
    for (int r = 0; r < n; r++) {
        for (int p = 0; p < m; p++) {
            t[p] = 0.0;
            for (int s = 0; s < m; s++)
                t[p] += A[r][s] * B[s][p];
        }
        for (int p = 0; p < m; p++)
            D[r][p] = t[p] + t2[p];
    }
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        t2[i] = i % 7;
        for (int j = 0; j < N; j++) {
            A[i][j] = (i * 3 + j) % 17 / 17.0;
            B[i][j] = (i + j * 5) % 13 / 13.0;
        }
    }
    product();
    rows(N, N);
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += C[i][j] * (i + 1) + D[i][j] * (j + 2);
    printf("%.17g %.17g %.17g\n", sum, C[7][9], D[11][3]);
    return 0;
}
"#;

/// Compiles and runs both files; their outputs must be equal.
fn expect_same_output(playground: &Playground, tuned: &str) {
    let script = format!(
        "gcc -O2 prog.c -o before.exe && gcc -O2 -fopenmp {tuned} -o after.exe && \
         ./before.exe > before.txt && ./after.exe > after.txt && cmp before.txt after.txt"
    );
    let ran = playground.shell(&script);
    assert_eq!(ran.code, Some(0), "{}\n{}\n{}", ran.stdout, ran.stderr, playground.read(tuned));
}

#[test]
fn recipes_on_the_normal_form_are_replayed() {
    let playground = Playground::with("prog.c", PROGRAM);
    let both =
        |product: &Value, rows: &Value| recipe_file(&[("product", product.clone()), ("rows", rows.clone())]);
    // In normal form both are a loop nest that sets the target, and one that adds products to it; then the row is used.
    let parallel = |loops: &[u32]| -> Vec<Value> {
        let step = |at: &u32| json!({ "step": "parallelize", "at": at, "distribution": "Static" });
        loops.iter().map(step).collect()
    };
    let normalize = json!({ "step": "normalize" });
    let with_normal = |steps: Vec<Value>| Value::from([vec![normalize.clone()], steps].concat());
    playground.write("r.json", &both(&with_normal(parallel(&[0, 2])), &with_normal(parallel(&[0, 2, 5]))));
    let ran = playground.run("replay r.json prog.c -o out.c");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let tuned = playground.read("out.c");
    assert_eq!(tuned.matches("#pragma omp parallel for").count(), 5, "{tuned}");
    assert!(tuned.contains("OXEYE_ALLOCATE"), "the rows are too many for the stack: {tuned}");
    expect_same_output(&playground, "out.c");
    playground.run("replay r.json prog.c -o again.c");
    assert_eq!(playground.read("again.c"), tuned);

    // As a later step it is refused, with its position.
    let late = Value::from([parallel(&[0]), vec![normalize]].concat());
    playground.write("late.json", &both(&late, &late));
    let ran = playground.run("replay late.json prog.c -o late.c");
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(ran.stderr.contains("function `product`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("normalize: only the nest as it stands"), "{}", ran.stderr);
    assert!(!playground.files().contains(&"late.c".to_owned()));
}

/// Search results on the normal form are verified against the original, although that leaves other values in its
/// scratch row, and every trial can be written to a file.
#[test]
fn candidates_on_the_normal_form_are_verified() {
    let playground = Playground::with("prog.c", PROGRAM);
    let search =
        "search prog.c --budget 240s --max-trials 24 --threads 1 --log log.jsonl --no-learn -- gcc -O2";
    let ran = playground.run(search);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let log = playground.read("log.jsonl");
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let trials: Vec<Value> = lines.filter(|line| line["line"] == "trial").collect();
    for function in ["product", "rows"] {
        let is_normal = |t: &&Value| t["template"].as_str().is_some_and(|t| t.starts_with("normal "));
        let normal: Vec<&Value> =
            trials.iter().filter(|t| t["nest"]["function"] == function).filter(is_normal).collect();
        let bad = normal.iter().find(|t| {
            ["wrong_result", "crashed", "does_not_compile"].iter().any(|bad| t["outcome"] == **bad)
        });
        assert!(bad.is_none(), "{bad:#?}");
        let right = normal.iter().find(|t| t["outcome"] == "right");
        let right = right.unwrap_or_else(|| panic!("no normal form of {function} was tried:\n{normal:#?}"));
        assert_eq!(right["recipe"][0]["step"], "normalize");
        let ran =
            playground.run(&format!("replay log.jsonl prog.c --trial {} -o {function}.c", right["trial"]));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        expect_same_output(&playground, &format!("{function}.c"));
    }
}

/// Every normal form of the corpus is checked against the dependences of its source, and keeps them.
#[test]
fn normal_forms_of_the_corpus_keep_the_order_of_the_source() {
    let folder = repository().join("benchmarks/kernels");
    let (mut n_mapped, mut n_all) = (0, 0);
    for entry in std::fs::read_dir(folder).expect("the corpus") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "c") {
            continue;
        }
        let unit =
            read_c(&path, &ReadOptions::default()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for function in &unit.functions {
            let is_tuned = |nest: &&Nest| nest.stmts().len() <= MOST_NORMAL_STATEMENTS;
            for nest in function.program.nests.values().filter(is_tuned) {
                for reassociate in [false, true] {
                    let (policy, prepared) =
                        (Policy { reassociate, finite: false }, PreparedNest::new(&function.program, nest));
                    let recipe = Recipe { steps: vec![Normalize {}.into()] };
                    if let Err(refusal) = prepared.apply(&recipe, policy) {
                        panic!("{}, {}: {refusal}", path.display(), function.name);
                    }
                    n_all += 1;
                    n_mapped += usize::from(prepared.judged(policy) == Judged::Source);
                }
            }
        }
    }
    println!("{n_mapped} of {n_all} normal forms have a map to their source");
    assert!(n_all > 300 && n_mapped * 100 >= n_all * 95, "{n_mapped} of {n_all} have a map");
}
