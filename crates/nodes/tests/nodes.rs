//! Workers as processes of their own, and what may happen to them.
//!
//! A worker is this very test program, started again for the one test [`worker`]. The compiler is a script that plants faults: it
//! knows by a variable for which node it works.

use oxeye_measure::{Argument, ElementType, Init, Outputs, Sample, SyntheticArg, Tolerance};
use oxeye_measure::{CompileJob, Compiler, Replay, ReplayOptions, WorkDir};
use oxeye_nodes::{
    Bench, Build, Candidate, Finding, Nodes, NodesError, Outcome, SharedOutputs, Starting, work,
};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Adds one to each of 1000 numbers, and waits for 5 ms.
const ORIGINAL: &str = "\
#include <time.h>
#ifndef MS
#define MS 5
#endif
#ifndef BY
#define BY 1
#endif
void oxeye_replay(void **args) {
    double *x = args[0];
    struct timespec wait = {MS / 1000, MS % 1000 * 1000000L};
    nanosleep(&wait, 0);
    for (int i = 0; i < 1000; i++) x[i] += BY;
}
";

/// Started by [`Cluster::start`] with a folder and a name; passes as it is.
#[test]
fn worker() {
    let Some(folder) = std::env::var_os("TEST_FOLDER") else { return };
    let name = std::env::var("TEST_NODE").expect("a name");
    match work(Path::new(&folder), Some(&name), &|| false) {
        Ok(worked) => println!("{worked:?}"),
        Err(error) => println!("{error}"),
    }
}

/// Nodes with one bench.
struct Cluster {
    root: tempfile::TempDir,
    nodes: Nodes,
    bench: String,
}

impl Cluster {
    /// Starts nodes `shard1` and so on, whose compilers get these flags besides.
    fn start(faults: &[&str]) -> Cluster {
        let root = tempfile::tempdir().expect("made");
        let shared = root.path().join("shared");
        Cluster::start_in(root, &shared, faults)
    }

    fn start_in(root: tempfile::TempDir, shared: &Path, faults: &[&str]) -> Cluster {
        let cases: String = faults
            .iter()
            .enumerate()
            .map(|(k, flags)| format!("shard{}) set -- {flags} \"$@\" ;;\n", k + 1))
            .collect();
        let cc = script(root.path(), "cc", &format!("case \"$TEST_NODE\" in\n{cases}esac\nexec cc \"$@\"\n"));
        let own = std::env::current_exe().expect("a path");
        let line = format!(
            "export TEST_NODE=$2 TEST_FOLDER=$3\necho $$ > {}/$2.pid\nexec {} --exact worker --nocapture\n",
            root.path().display(),
            own.display()
        );
        let start = script(root.path(), "start", &line);
        let worker = [OsString::from(start)];
        let lapse = Duration::from_secs(20);
        let nodes = Nodes::start_with(Some(shared), &Starting::Here(faults.len()), &worker, lapse);
        let nodes = nodes.expect("started");
        let bench = share_bench(&nodes, &cc);
        Cluster { root, nodes, bench }
    }

    fn task(&self, text: &str, flags: &[&str]) -> Candidate {
        let compiler = Compiler::new(self.root.path().join("cc").display().to_string(), ["-O1"]);
        let build = build_of(&self.nodes, text, &compiler, flags);
        Candidate { bench: self.bench.clone(), build, best_seconds: 0.005, call_seconds: 5.0 }
    }

    /// Tasks that compute the same, each another text.
    fn tasks(&self, n: usize) -> Vec<Candidate> {
        (0..n).map(|k| self.task(&format!("// {k}\n{ORIGINAL}"), &[])).collect()
    }

    fn all(&self, tasks: Vec<Candidate>) -> Vec<Finding> {
        let n = tasks.len();
        let mut round = self.nodes.post(tasks).expect("posted");
        let mut found: Vec<Option<Finding>> = vec![None; n];
        let begin = Instant::now();
        while !round.is_done() {
            assert!(begin.elapsed() < Duration::from_secs(300), "{:?}", self.nodes.reports());
            for (k, finding) in round.poll().expect("read") {
                assert!(found[k].replace(finding).is_none(), "told twice");
            }
            sleep(Duration::from_millis(5));
        }
        found.into_iter().map(|finding| finding.expect("told")).collect()
    }

    fn kill(&self, node: &str) {
        let pid = fs::read_to_string(self.root.path().join(format!("{node}.pid"))).expect("it has started");
        // Its replays have groups of their own, and end when it does.
        let killed = Command::new("kill").args(["-KILL", pid.trim()]).status().expect("kill starts");
        assert!(killed.success());
    }
}

fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}")).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("made a program");
    path
}

fn build_of(nodes: &Nodes, text: &str, compiler: &Compiler, flags: &[&str]) -> Build {
    Build {
        text: nodes.share_text(text.as_bytes()).expect("kept"),
        compiler: compiler.clone(),
        args: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        link_args: Vec::new(),
        seconds: 60.0,
    }
}

fn share_bench(nodes: &Nodes, cc: &Path) -> String {
    let work = WorkDir::new().expect("made");
    let compiler = Compiler::new(cc.display().to_string(), ["-O1"]);
    let arg = SyntheticArg { element: ElementType::F64, elements: 1000, init: Init::Random { seed: 1 } };
    let sample = Sample::synthetic(&work.join("sample"), &[arg]).expect("made");
    let source = work.write("original.c", ORIGINAL).expect("written");
    let library = compiler.compile(&CompileJob::shared_library(source, work.join("original.so")));
    let library = library.expect("built");
    let replay = Replay::new(&compiler, &work, ReplayOptions::default()).expect("built");
    let outputs: Outputs = replay.outputs(&library, &sample).expect("run");
    let bench = Bench {
        original: build_of(nodes, ORIGINAL, &compiler, &[]),
        compiler_version: compiler.version().expect("it says one"),
        samples: vec![nodes.share_file(&sample.path).expect("kept")],
        original_seconds: vec![0.005],
        reference: SharedOutputs {
            file: nodes.share_file(outputs.path()).expect("kept"),
            changed: vec![outputs.changed(0)],
            first_call_ns: outputs.first_call_ns,
        },
        arguments: vec![Argument::buffer("x", ElementType::F64)],
        tolerance: Tolerance::Strict,
        is_steady: true,
        threads: 1,
        copies: 1,
    };
    nodes.share_bench(&bench).expect("told")
}

fn is_right(finding: &Finding) -> bool {
    matches!(finding.outcome, Outcome::Right { .. })
}

/// Candidates that the nodes have measured together.
fn n_measured(nodes: &Nodes) -> usize {
    nodes.reports().iter().map(|node| node.measured).sum()
}

#[test]
fn what_becomes_of_candidates_is_told() {
    let cluster = Cluster::start(&["", ""]);
    let tasks = vec![
        cluster.task(ORIGINAL, &["-DMS=1"]),
        cluster.task(ORIGINAL, &["-DBY=2"]),
        cluster.task("this is no C", &[]),
        cluster.task("void oxeye_replay(void **args) { *(volatile int *)8 = 1; }\n", &[]),
        cluster.task(ORIGINAL, &["-DMS=1"]),
    ];
    let found = cluster.all(tasks);
    let words = |k: usize| match &found[k].outcome {
        Outcome::Rejected { why } => why.to_string(),
        other => format!("{other:?}"),
    };
    let Outcome::Right { seconds, max_rel_error, .. } = &found[0].outcome else { panic!("{:?}", found[0]) };
    assert_eq!((seconds.len(), *max_rel_error), (1, 0.0));
    assert_eq!(found[1].outcome, Outcome::Wrong);
    assert!(words(2).contains("does not compile"), "{}", words(2));
    assert!(words(3).contains("crashed"), "{}", words(3));
    assert_eq!(found[4], found[0], "the same text with the same flags is one task");
    assert_eq!(cluster.nodes.width(), 2);
}

#[test]
fn nodes_that_compute_otherwise_or_take_longer_are_set_aside() {
    let cluster = Cluster::start(&["-DBY=7", "", "-DMS=60"]);
    let found = cluster.all(cluster.tasks(12));
    assert!(found.iter().all(|finding| is_right(finding) && finding.node == "shard2"), "{found:?}");
    // Those that are not needed may not have begun.
    for report in cluster.nodes.reports() {
        let why = report.aside.as_deref();
        match report.name.as_str() {
            "shard1" => assert!(why.is_none_or(|why| why.contains("computes something else on it: x[0]"))),
            "shard3" => assert!(why.is_none_or(|why| why.contains("times as long on it"))),
            _ => assert_eq!((why, report.measured), (None, 12)),
        }
    }
}

#[test]
fn a_killed_node_loses_nothing_and_nothing_is_done_twice() {
    let cluster = Cluster::start(&["", ""]);
    let tasks = cluster.tasks(40);
    let mut round = cluster.nodes.post(tasks).expect("posted");
    let mut found = Vec::new();
    let mut before = 0;
    let begin = Instant::now();
    while !round.is_done() {
        assert!(begin.elapsed() < Duration::from_secs(300), "{:?}", cluster.nodes.reports());
        found.extend(round.poll().expect("read"));
        let of_first =
            || cluster.nodes.reports().iter().find(|node| node.name == "shard1").map_or(0, |n| n.measured);
        if before == 0 && of_first() > 3 {
            cluster.kill("shard1");
            before = of_first();
        }
        sleep(Duration::from_millis(5));
    }
    assert!(before > 3);
    let mut positions: Vec<usize> = found.iter().map(|(k, _)| *k).collect();
    positions.sort_unstable();
    assert_eq!(positions, (0..40).collect::<Vec<_>>());
    assert!(found.iter().all(|(_, finding)| is_right(finding)));
    // What was told between the last look at its count and its end is not in it.
    let n = n_measured(&cluster.nodes);
    assert!((39..=40).contains(&n), "{n}");
    assert_eq!(cluster.nodes.width(), 1);
    let lost: Vec<String> =
        cluster.nodes.reports().into_iter().filter(|node| node.lost).map(|node| node.name).collect();
    assert_eq!(lost, ["shard1"]);
}

#[test]
fn what_was_measured_is_not_measured_again() {
    let root = tempfile::tempdir().expect("made");
    let shared = root.path().join("shared");
    let cluster = Cluster::start_in(root, &shared, &[""]);
    let found = cluster.all(cluster.tasks(3));
    assert_eq!(n_measured(&cluster.nodes), 3);
    let Cluster { root, nodes, .. } = cluster;
    let busy = Nodes::start(Some(&shared), &Starting::Here(0), &[]).expect_err("it is in use");
    assert!(matches!(busy, NodesError::Folder { .. }) && busy.to_string().contains("another run uses it"));
    drop(nodes);
    let again = Cluster::start_in(root, &shared, &[""]);
    assert_eq!(again.all(again.tasks(3)), found);
    assert_eq!(n_measured(&again.nodes), 0);
}

#[test]
fn tasks_that_end_their_nodes_are_given_up() {
    let root = tempfile::tempdir().expect("made");
    let shared = root.path().join("shared");
    let lapse = Duration::from_secs(20);
    let nodes = Nodes::start_with(Some(&shared), &Starting::Elsewhere(3), &[], lapse).expect("started");
    let compiler = Compiler::new("cc", ["-O1"]);
    let build = build_of(&nodes, ORIGINAL, &compiler, &[]);
    let task = Candidate { bench: "none".into(), build, best_seconds: 1.0, call_seconds: 1.0 };
    let mut round = nodes.post(vec![task]).expect("posted");
    let begin = Instant::now();
    let mut found = Vec::new();
    while found.is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(60));
        // A node takes it, and is not heard of again.
        for entry in fs::read_dir(shared.join("open")).expect("listed").flatten() {
            let name = entry.file_name().into_string().expect("a name");
            if !name.starts_with('.') {
                let taken = shared.join("taken").join(format!("{name}@ghost"));
                fs::rename(entry.path(), taken).expect("taken");
            }
        }
        found = round.poll().expect("read");
        sleep(Duration::from_millis(20));
    }
    let Outcome::Rejected { why } = &found[0].1.outcome else { panic!("{found:?}") };
    assert_eq!(why.to_string(), "3 nodes ended while they ran it");
    assert!(round.is_done());
    assert_eq!(fs::read_dir(shared.join("open")).expect("listed").count(), 0);
}

#[test]
fn a_node_that_is_not_believed_ends() {
    let cluster = Cluster::start(&[""]);
    assert!(cluster.all(cluster.tasks(1)).iter().all(is_right));
    cluster.nodes.distrust("shard1", "it is wrong");
    assert_eq!(cluster.nodes.width(), 0);
    let reports = cluster.nodes.reports();
    assert_eq!(reports[0].aside.as_deref(), Some("it is wrong"));
}

#[test]
fn workers_need_a_folder_of_the_same_version() {
    let root = tempfile::tempdir().expect("made");
    let error = work(root.path(), None, &|| true).expect_err("there is no session");
    assert!(error.to_string().contains("start this for a folder that a run with --nodes uses"), "{error}");
    let session =
        r#"{"schema":"oxeye.nodes/1","version":"0.0.1","machine":null,"folder":"/","lapse_seconds":1}"#;
    fs::write(root.path().join("session.json"), session).expect("written");
    let error = work(root.path(), None, &|| true).expect_err("it is another version");
    assert!(error.to_string().contains("nodes need the same one"), "{error}");
}

#[test]
fn a_full_folder_is_told_and_loses_nothing() {
    let root = tempfile::tempdir().expect("made");
    let disk = root.path().join("disk");
    fs::create_dir(&disk).expect("made");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "none"]).arg(&disk).status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("skipped: only root may mount a small disk");
        return;
    }
    let full = || -> Result<(), Box<dyn std::error::Error>> {
        let nodes = Nodes::start(Some(&disk.join("shared")), &Starting::Elsewhere(1), &[])?;
        let error = nodes.share_text(&vec![b'x'; 2 << 20]).expect_err("there is no room");
        assert!(error.to_string().contains("No space left"), "{error}");
        assert!(error.to_string().contains("cannot write"), "{error}");
        // Nothing is there by half.
        assert_eq!(fs::read_dir(disk.join("shared/store"))?.count(), 0);
        nodes.give_up(&error.to_string());
        assert_eq!(nodes.width(), 0);
        Ok(())
    };
    let outcome = std::panic::catch_unwind(full);
    let unmounted = Command::new("umount").arg(&disk).status().expect("umount starts");
    assert!(unmounted.success());
    outcome.expect("no assertion failed").expect("no error");
}
