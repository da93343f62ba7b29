//! A cluster runs jobs on all its nodes, and goes on without one of them and with a new controller.

use std::collections::BTreeSet;
use std::fs::read_to_string;
use std::thread::sleep;
use std::time::{Duration, Instant};

#[test]
fn jobs_run_on_all_nodes_and_after_a_loss() {
    let Some(mut cluster) = oxeye_slurm::cluster(2) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let lines = |name: &str| -> Vec<String> {
        read_to_string(path(name)).unwrap_or_default().lines().map(str::to_owned).collect()
    };

    let array = [
        "--array=0-3",
        "--exclusive",
        "--output",
        &path("task.%a"),
        "--wrap",
        "hostname; echo $SLURMD_NODENAME",
    ];
    cluster.run("sbatch", &array).expect("submitted");
    let tasks = || (0..4).filter_map(|k| lines(&format!("task.{k}")).get(1).cloned()).collect::<Vec<_>>();
    until("four tasks", || tasks().len() == 4);
    assert_eq!(tasks().into_iter().collect::<BTreeSet<_>>(), ["n0", "n1"].map(str::to_owned).into());

    let script = "echo $SLURMD_NODENAME $$; [ \"$SLURM_RESTART_COUNT\" ] || sleep 1000";
    let words =
        ["--parsable", "--exclusive", "--open-mode=append", "--output", &path("lost"), "--wrap", script];
    let job = cluster.run("sbatch", &words).expect("submitted");
    until("the job", || lines("lost").len() == 1);
    let (node, process) =
        lines("lost")[0].split_once(' ').map(|(n, p)| (n.to_owned(), p.to_owned())).expect("both");
    let (k, other) = if node == "n0" { (0, "n1") } else { (1, "n0") };
    assert!(is_running(&process));
    cluster.stop_node(k);
    assert!(!is_running(&process));
    let words = ["--exclusive", "--output", &path("other"), "--wrap", "echo $SLURMD_NODENAME"];
    cluster.run("sbatch", &words).expect("submitted");
    until("a job on the other node", || lines("other") == [other]);
    until("the lost job on the other node", || {
        lines("lost").get(1).is_some_and(|line| line.starts_with(other))
    });

    cluster.restart_controller().expect("a controller");
    cluster.run("sbatch", &["--output", &path("last"), "--wrap", "echo $SLURM_JOB_ID"]).expect("submitted");
    until("a job of the new controller", || lines("last").len() == 1);
    let [first, last] = [job.trim(), &lines("last")[0]].map(|id| id.parse::<u32>().expect("a number"));
    assert!(last > first, "the controller has kept its count of jobs");
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(90);
    while !is_so() {
        assert!(Instant::now() < end, "waited for {what}");
        sleep(Duration::from_millis(50));
    }
}

fn is_running(process: &str) -> bool {
    let stat = read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}
