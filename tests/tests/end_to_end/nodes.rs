//! Candidates that are measured on several nodes.

use oxeye_slurm::Cluster;
use oxeye_tests::{Playground, Ran, alone, oxeye_binary};
use serde_json::Value;
use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A matrix product, in which a compiler may plant an error.
const PRODUCT: &str = r#"#include <stdio.h>
#define N 200
#ifndef WRONG
#define WRONG 0.0
#endif
static double a[N][N], b[N][N], c[N][N];
int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = (i * 7 + j) % 11;
            b[i][j] = (i + 3 * j) % 13;
        }
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < N; k++)
                    c[i][j] += a[i][k] * b[k][j] + WRONG;
    printf("%.17g %.17g\n", c[3][5], c[N - 1][N - 2]);
    return 0;
}
"#;

fn report(playground: &Playground) -> Value {
    serde_json::from_str(&playground.read("report.json")).expect("JSON")
}

/// Candidates that a node of this name has measured, and why it was set aside.
fn of_node(report: &Value, name: &str) -> (u64, Option<String>) {
    let nodes = report["nodes"].as_array().expect("nodes");
    let is_it = |node: &&Value| node["name"].as_str().is_some_and(|found| found.starts_with(name));
    let node = nodes.iter().find(is_it).unwrap_or_else(|| panic!("{name}: {nodes:?}"));
    (node["measured"].as_u64().expect("a number"), node["aside"].as_str().map(str::to_owned))
}

#[test]
fn parts_of_this_machine_measure_beside_each_other() {
    let _alone = alone();
    let playground = Playground::with("product.c", PRODUCT);
    let line =
        "tune product.c --local-shards 2 --budget 20s --fresh --json report.json --events events -- cc -O2";
    let ran = playground.run(line);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let report = report(&playground);
    let measured: Vec<u64> = ["shard1", "shard2"].iter().map(|name| of_node(&report, name).0).collect();
    assert!(measured.iter().sum::<u64>() > 0, "{measured:?}");
    assert!(ran.stdout.contains(" tried in ") && ran.stdout.contains(" on 2 nodes"), "{}", ran.stdout);
    assert!(report["program"]["verified"].as_bool().expect("compared"), "{}", ran.stdout);
    let events = playground.read("events");
    let last = events.lines().last().and_then(|line| serde_json::from_str::<Value>(line).ok()).expect("JSON");
    assert_eq!(last["phase"], "final runs", "{events}");
    assert!(events.contains(r#""event":"nodes""#) && events.contains(r#""event":"candidate""#), "{events}");
    // Nothing of it is left.
    assert_eq!(playground.files(), ["events", "product.c", "product.oxeye.c", "report.json"]);
}

/// What is running of the cluster's jobs.
fn jobs(cluster: &Cluster) -> usize {
    cluster.run("squeue", &["--noheader"]).map_or(usize::MAX, |text| text.lines().count())
}

#[test]
fn slurm_starts_nodes_and_ends_them_whatever_becomes_of_them() {
    let Some(mut cluster) = oxeye_slurm::cluster(3) else { return };
    let _alone = alone();
    let playground = Playground::with("product.c", PRODUCT);
    // The compiler of one node makes wrong code. The others begin when that is found out.
    let cc =
        "#!/bin/sh\ncase \"$SLURMD_NODENAME\" in n2) set -- -DWRONG=1.0 \"$@\" ;; esac\nexec cc \"$@\"\n";
    playground.write("cc", cc);
    let worker = format!(
        "#!/bin/sh\ncase \"$SLURMD_NODENAME\" in n2) ;; *)\n\
         until grep -qs 'aside\": *\"' .oxeye-nodes*/nodes/n2*.json; do sleep 0.1; done ;; esac\n\
         exec '{}' worker \"$@\"\n",
        oxeye_binary().display()
    );
    playground.write("worker", &worker);
    playground.shell("chmod +x cc worker");
    let mut command = playground.oxeye(
        "tune product.c --nodes 3 --slurm --comment=test --worker ./worker --threads 1 --budget 45s --fresh --json report.json -- ./cc -O2",
    );
    command.envs(cluster.environment()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = command.spawn().expect("oxeye starts");
    // When two nodes are at work, one of them dies, and the controller is started again.
    let begin = Instant::now();
    let at_work = || {
        let folders = playground.files().into_iter().filter(|name| name.starts_with(".oxeye-nodes"));
        let files =
            folders.flat_map(|name| fs::read_dir(playground.path(&name).join("nodes")).into_iter().flatten());
        let texts = files.flatten().filter_map(|entry| fs::read_to_string(entry.path()).ok());
        let values = texts.filter_map(|text| serde_json::from_str::<Value>(&text).ok());
        values.filter(|node| node["finished"].as_u64().is_some_and(|n| n > 1)).count()
    };
    while at_work() < 2 {
        assert!(begin.elapsed() < Duration::from_secs(120), "no two nodes came to work");
        sleep(Duration::from_millis(50));
    }
    cluster.stop_node(1);
    cluster.restart_controller().expect("it starts again");
    let ran = Ran::from(run.wait_with_output().expect("it ends"));
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let report = report(&playground);
    assert!(report["program"]["verified"].as_bool().expect("compared"), "{}", ran.stdout);
    assert!(of_node(&report, "n0").0 > 0 && of_node(&report, "n1").0 > 0, "{}", report["nodes"]);
    // Of the nest before it, it makes right code.
    let why = of_node(&report, "n2").1.unwrap_or_default();
    assert!(why.contains("the original computes something else on it: c["), "{why}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("set aside: the original computes something else on it"), "{notes}");
    assert!(playground.files().iter().all(|name| !name.starts_with(".oxeye-nodes")));
    let begin = Instant::now();
    while jobs(&cluster) > 0 {
        assert!(begin.elapsed() < Duration::from_secs(60), "its jobs go on");
        sleep(Duration::from_millis(200));
    }
}

#[test]
fn srun_starts_what_stands_in_for_the_program() {
    let Some(cluster) = oxeye_slurm::cluster(1) else { return };
    let _alone = alone();
    let playground = Playground::with("product.c", PRODUCT);
    playground.write("Makefile", "product: product.c\n\tcc -O1 -o product product.c\n");
    let mut command = playground.oxeye("tune --threads 1 --budget 20s --json report.json");
    command.args(["--build", "make", "--run", "srun -n 1 ./product"]).envs(cluster.environment());
    let ran = Ran::from(command.output().expect("oxeye starts"));
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let report = report(&playground);
    // The daemon of the node starts it, in whose environment nothing is loaded first.
    assert_eq!(report["files"][0]["changed"], true, "{}", ran.stdout);
    assert_eq!(report["program"]["verified"], true, "{}", ran.stdout);
}

#[test]
fn options_of_nodes_that_do_not_go_together_are_told() {
    let playground = Playground::with("product.c", PRODUCT);
    let refused = |options: &str, words: &str| {
        let ran = playground.run(&format!("tune product.c {options} -- cc -O2"));
        assert_eq!(ran.code, Some(2), "{options}: {}", ran.stdout);
        assert!(ran.stderr.contains(words), "{options}: {}", ran.stderr);
    };
    refused("--nodes 2", "--nodes needs --slurm OPTIONS");
    refused("--shared x", "go with --nodes or --local-shards");
    refused("--nodes 2 --local-shards 2", "cannot be used with");
    refused("--nodes 2 --shared product.c", "product.c");
    refused("--local-shards 4000", "each needs a core of its own");
    // It would wait a minute.
    let ran = playground.shell(&format!(
        "'{}' worker nowhere --name a > said & until test -s said; do sleep 0.1; done; kill -INT $!; wait $!",
        oxeye_binary().display()
    ));
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("no session.json came up in it"), "{}", ran.stderr);
}

#[test]
fn workers_may_be_there_before_their_folder() {
    let _alone = alone();
    let playground = Playground::with("product.c", PRODUCT);
    playground.write("other/cc", "#!/bin/sh\necho a compiler of its own kind\n");
    playground.shell("chmod +x other/cc");
    let start = |name: &str, path: &str| {
        let mut command = playground.oxeye(&format!("worker folder --name {name}"));
        command.env("PATH", path).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("oxeye starts")
    };
    let path = std::env::var("PATH").unwrap_or_default();
    let same = start("same", &path);
    let other = start("other", &format!("{}:{path}", playground.path("other").display()));
    let ran = playground.run("tune product.c --nodes 2 --shared folder --threads 1 --budget 45s --fresh --json report.json -- cc -O2");
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let report = report(&playground);
    assert!(of_node(&report, "same").0 > 0, "{}", report["nodes"]);
    let why = of_node(&report, "other").1.unwrap_or_default();
    assert!(why.starts_with("its cc is another one: a compiler of its own kind, not "), "{why}");
    let ended = |worker: std::process::Child| Ran::from(worker.wait_with_output().expect("it ends"));
    assert_eq!(ended(same).code, Some(0));
    let other = ended(other);
    assert_eq!(other.code, Some(1));
    assert!(other.stdout.contains("other: 0 candidates measured; set aside: its cc"), "{}", other.stdout);
}
