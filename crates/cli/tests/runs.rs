//! Programs that are run by what `--run` tells a shell.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

const FILTER: &str = "#include <stdio.h>
#include <stdlib.h>
static double a[300][300], s[300];
int main(int argc, char **argv)
{
    double x = 0;
    int n = argc > 1 ? atoi(argv[1]) : 0;
    while (scanf(\"%lf\", &x) == 1) printf(\"%g\\n\", x);
    for (int t = 0; t < n; t++)
        for (int j = 0; j < 300; j++)
            for (int i = 0; i < 300; i++)
                s[j] += a[i][j] + x + t;
    printf(\"%g\\n\", s[7]);
    return 0;
}
";

const RANKS: &str = "#include <mpi.h>
#include <stdio.h>
static double a[300][300], s[300];
int main(int argc, char **argv)
{
    int rank;
    double sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 40; t++)
        for (int j = 0; j < 300; j++)
            for (int i = 0; i < 300; i++)
                s[j] += a[i][j] + rank + t;
    MPI_Reduce(&s[7], &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf(\"%g\\n\", sum);
    MPI_Finalize();
    return 0;
}
";

/// Tunes a program in a folder by these words, and returns the report.
fn tuned(folder: &Path, words: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_oxeye"))
        .args(["tune", "prog.c", "--quick", "--threads", "1", "--no-database", "--json", "report.json"])
        .args(words)
        .current_dir(folder)
        .env("OXEYE_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"))
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .output()
        .expect("starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(folder.join("report.json")).expect("a report");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn a_filter_between_others_is_tuned_and_what_the_shell_writes_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::create_dir(folder.join("data")).expect("made");
    for (name, text) in [("prog.c", FILTER), ("data/1.txt", "3\n1\n"), ("data/2.txt", "2\n")] {
        std::fs::write(folder.join(name), text).expect("written");
    }
    let run = "cd data && cat *.txt | ../prog 40 | sort -n > sorted";
    let report = tuned(folder, &["--run", run, "--", "gcc", "-O1"]);
    let program = &report["program"];
    assert_eq!(program["verified"], true, "{program:#}");
    assert_eq!(program["compared"], serde_json::json!(["standard output", "data/sorted"]));
    assert!(report["nests"].as_array().is_some_and(|nests| !nests.is_empty()), "{report:#}");
    assert!(report["nests"][0]["invocations"].as_u64() >= Some(1), "{:#}", report["nests"]);
}

#[test]
fn a_program_of_several_processes_is_tuned() {
    let has = |name: &str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    if !has("mpirun") || !has("mpicc") {
        eprintln!("no MPI: not tested");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("prog.c"), RANKS).expect("written");
    let run = "mpirun --oversubscribe -n 2 ./prog";
    let report = tuned(folder.path(), &["--run", run, "--", "mpicc", "-O1"]);
    assert_eq!(report["program"]["verified"], true, "{:#}", report["program"]);
    assert!(report["nests"][0]["invocations"].as_u64() >= Some(1), "{:#}", report["nests"]);
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    assert_eq!(report["threads"], (cores / 2).max(1), "{report:#}");
    assert!(report["notes"].to_string().contains("in 2 processes at once"), "{:#}", report["notes"]);
}
