//! Shares of the time: of one run, and each part of it counted once.

use oxeye_tests::{Playground, Ran, alone};
use serde_json::Value;

const MAIN_C: &str = r#"#include <stdio.h>
#include <stdlib.h>
void smooth(int n, double *to, const double *from);
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 500000;
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), sum = 0;
    for (int i = 0; i < n; i++)
        a[i] = i % 17, b[i] = 0;
    for (int t = 0; t < 200; t++) {
        smooth(n, b, a);
        smooth(n, a, b);
    }
    for (int i = 0; i < n; i++)
        sum += a[i];
    printf("%.10g\n", sum);
    return 0;
}
"#;

const KERNELS_C: &str = r#"void smooth(int n, double *to, const double *from)
{
    for (int i = 1; i < n - 1; i++)
        to[i] = 0.25 * from[i - 1] + 0.5 * from[i] + 0.25 * from[i + 1];
}
"#;

fn number(nest: &Value, key: &str) -> f64 {
    nest[key].as_f64().unwrap_or(0.0)
}

/// A loop that calls a kernel in another file has its body in place of the call: the same time is in both.
#[test]
fn time_is_counted_once_over_all_files() {
    let _alone = alone();
    let playground = Playground::with("main.c", MAIN_C);
    playground.write("kernels.c", KERNELS_C);
    let mut command = playground.oxeye("tune --quick --budget 10s --no-database --threads 1 --json -");
    command.args(["--build", "gcc -O2 -c kernels.c && gcc -O2 main.c kernels.o -o prog", "--run", "./prog"]);
    let ran = Ran::from(command.output().expect("oxeye starts"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let files = report["files"].as_array().expect("files");
    let nests: Vec<&Value> =
        files.iter().filter_map(|file| file["report"]["nests"].as_array()).flatten().collect();
    let of_kernel: f64 =
        nests.iter().filter(|nest| nest["function"] == "smooth").map(|nest| number(nest, "share")).sum();
    assert!(of_kernel > 0.5, "{report:#}");
    for nest in &nests {
        assert!(number(nest, "share") <= 1.0 && number(nest, "own_share") <= 1.0, "{nest:#}");
    }
    let counted: f64 = nests.iter().map(|nest| number(nest, "own_share")).sum();
    assert!(counted <= 1.0 + 1e-9 && number(&report, "tunable") <= 1.0 + 1e-9, "{counted}: {report:#}");
    // What the loop in main.c has in place of the call is told, so that its time is not counted besides.
    let inlining = nests.iter().find(|nest| nest["inlined"][0]["function"] == "smooth");
    if let Some(around) = inlining {
        assert!(
            number(around, "own_share") < 0.5 || nests.iter().any(|nest| nest["covered"] == true),
            "{report:#}"
        );
    }
}
