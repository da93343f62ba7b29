//! A Slurm cluster that lasts as long as a test: a controller and several nodes on this machine, in a temporary folder.
//!
//! Every node has all CPUs and all memory of the machine, and nothing keeps the jobs of two nodes apart: no accounting,
//! no cgroups, no CPU binding. `hostname` says the same on all of them; `SLURMD_NODENAME` tells them apart.

mod processes;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A cluster that ends with its owner. Node `k` is called `n{k}`, counted from 0; the one partition is `main`.
pub struct Cluster {
    folder: tempfile::TempDir,
    munge: Option<Child>,
    controller: Option<Child>,
    nodes: Vec<Option<Child>>,
}

/// A new cluster; `None` where Slurm is not installed, unless `OXEYE_REQUIRE` asks for `slurm`.
///
/// # Panics
/// If it is installed and does not start.
pub fn cluster(n_nodes: usize) -> Option<Cluster> {
    let Some(missing) = missing() else {
        return Some(Cluster::start(n_nodes).unwrap_or_else(|error| panic!("{error}")));
    };
    let required = std::env::var("OXEYE_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name == "slurm"), "OXEYE_REQUIRE: there is no {missing}");
    eprintln!("skipped: there is no {missing}");
    None
}

/// The programs of Slurm and munge that are not installed.
pub fn missing() -> Option<String> {
    let all = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo", "scontrol"];
    let missing: Vec<&str> = all.into_iter().filter(|name| program(name).is_none()).collect();
    (!missing.is_empty()).then(|| missing.join(", "))
}

/// A program of the search path, or of the system's, which not every user's search path has.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders.find_map(|folder| Some(folder.join(name)).filter(|file| file.is_file()))
}

impl Cluster {
    /// Starts a cluster and waits until all its nodes are idle.
    ///
    /// # Errors
    /// If a part of it does not start, with the end of what it logged.
    pub fn start(n_nodes: usize) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
        let mut cluster = Self { folder, munge: None, controller: None, nodes: Vec::new() };
        cluster.configure(n_nodes).map_err(|error| format!("the cluster's files: {error}"))?;
        cluster.start_munge()?;
        cluster.start_controller()?;
        for k in 0..n_nodes {
            let node = node_name(k);
            let mut command = cluster.command("slurmd");
            // What it starts inherits the name.
            command.args(["-D", "-N", &node]).env("SLURMD_NODENAME", &node);
            cluster.nodes.push(Some(cluster.daemon(&node, &mut command)?));
        }
        cluster.wait_until("idle nodes", |cluster| {
            let states = cluster.run("sinfo", &["--noheader", "--Node", "--format=%T"]).unwrap_or_default();
            states.lines().filter(|state| *state == "idle").count() == n_nodes
        })?;
        Ok(cluster)
    }

    fn configure(&self, n_nodes: usize) -> std::io::Result<()> {
        let folder = self.folder.path().display();
        let mut secret = [0; 128];
        File::open("/dev/urandom")?.read_exact(&mut secret)?;
        let mut key = File::options();
        key.write(true).create_new(true).mode(0o600).open(self.path("munge.key"))?.write_all(&secret)?;
        fs::create_dir(self.path("state"))?;
        // The ports are taken together, so that they differ, and are free again when they are written.
        let listeners = (0..=n_nodes).map(|_| TcpListener::bind(("127.0.0.1", 0)));
        let listeners = listeners.collect::<std::io::Result<Vec<_>>>()?;
        let ports = listeners.iter().map(|listener| Ok(listener.local_addr()?.port()));
        let ports = ports.collect::<std::io::Result<Vec<_>>>()?;
        let user = fs::metadata("/proc/self")?.uid();
        let hardware = self.hardware()?;
        // A lost node is down about SlurmdTimeout + 2 * MessageTimeout later. Its jobs wait until their credentials expire,
        // and for the next round of the scheduler.
        let mut text = format!(
            "ClusterName=oxeye
SlurmctldHost=localhost
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
MailProg=/bin/true
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1
JobRequeue=1
ReturnToService=2
SlurmdTimeout=5
MessageTimeout=3
TCPTimeout=2
KillWait=2
",
            port = ports[0],
        );
        for (k, port) in ports[1..].iter().enumerate() {
            let node = node_name(k);
            text += &format!("NodeName={node} NodeHostname=localhost Port={port} {hardware}\n");
        }
        text += "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
        fs::write(self.path("slurm.conf"), text)
    }

    /// What Slurm says of this machine: `CPUs=2 Boards=1 … RealMemory=24105`.
    fn hardware(&self) -> std::io::Result<String> {
        let output = self.command("slurmd").arg("-C").output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let words = text.lines().next().unwrap_or_default().split_whitespace();
        Ok(words.filter(|word| !word.starts_with("NodeName=")).collect::<Vec<_>>().join(" "))
    }

    fn start_munge(&mut self) -> Result<(), String> {
        let folder = self.folder.path().display();
        let file = |option, name| format!("--{option}={folder}/munge.{name}");
        let mut command = self.command("munged");
        // It would refuse to run as root, and in a folder that others cannot enter.
        command.args(["--foreground", "--force"]);
        command.args([file("socket", "socket"), file("key-file", "key"), file("pid-file", "pid")]);
        command.args([file("seed-file", "seed"), file("log-file", "log")]);
        self.munge = Some(self.daemon("munge", &mut command)?);
        self.wait_until("socket of munged", |cluster| cluster.path("munge.socket").exists())
    }

    fn start_controller(&mut self) -> Result<(), String> {
        self.controller = Some(self.daemon("slurmctld", self.command("slurmctld").arg("-D"))?);
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(program(name).unwrap_or_else(|| name.into()));
        command.env("LC_ALL", "C").envs(self.environment()).stdin(Stdio::null());
        command
    }

    /// Starts a program that stays; what it writes goes to `name.out`.
    fn daemon(&self, name: &str, command: &mut Command) -> Result<Child, String> {
        let log = File::options().create(true).append(true).open(self.path(&format!("{name}.out")));
        let child = log.and_then(|log| {
            command.current_dir(self.folder.path()).stdout(log.try_clone()?).stderr(log).spawn()
        });
        child.map_err(|error| format!("{name}: {error}"))
    }

    fn wait_until(&mut self, what: &str, mut is_so: impl FnMut(&Self) -> bool) -> Result<(), String> {
        let end = Instant::now() + Duration::from_secs(60);
        while !is_so(self) {
            let daemons = [&mut self.munge, &mut self.controller].into_iter().chain(&mut self.nodes);
            let has_ended = daemons.flatten().any(|daemon| !matches!(daemon.try_wait(), Ok(None)));
            if has_ended || Instant::now() > end {
                return Err(format!("slurm: no {what}{}", self.logs()));
            }
            sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// The last lines of what each daemon wrote.
    fn logs(&self) -> String {
        let nodes = (0..self.nodes.len()).map(node_name);
        let names = ["munge".to_owned(), "slurmctld".to_owned()].into_iter().chain(nodes);
        let tail = |name: String| {
            let text = fs::read_to_string(self.path(&format!("{name}.out"))).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            let last = lines[lines.len().saturating_sub(10)..].iter();
            last.map(|line| format!("\n{name}: {line}")).collect::<String>()
        };
        names.map(tail).collect()
    }

    /// What the commands of Slurm need in their environment to reach this cluster.
    pub fn environment(&self) -> Vec<(String, OsString)> {
        vec![("SLURM_CONF".to_owned(), self.path("slurm.conf").into_os_string())]
    }

    /// Runs a command of Slurm, and says what it wrote.
    ///
    /// # Errors
    /// If it fails, with what it wrote to the standard error.
    pub fn run(&self, program: &str, words: &[&str]) -> Result<String, String> {
        let output =
            self.command(program).args(words).output().map_err(|error| format!("{program}: {error}"))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr))),
        }
    }

    /// Ends a node and all that runs on it at once, as if it lost power. The controller notices after some ten seconds.
    ///
    /// An orphan that a job left behind with a cleared environment is not found.
    pub fn stop_node(&mut self, k: usize) {
        if let Some(mut node) = self.nodes.get_mut(k).and_then(Option::take) {
            end(&mut node);
            let name = node_name(k);
            let log = self.path(&format!("{name}.log"));
            let configuration = format!("SLURM_CONF={}", self.path("slurm.conf").display());
            let marks = [configuration, format!("SLURMD_NODENAME={name}")];
            let attempts = (0..500).take_while(|_| processes::kill(&marks, &log) > 0);
            attempts.for_each(|_| sleep(Duration::from_millis(20)));
        }
    }

    /// Stops the controller and starts it again, which keeps its jobs. Nodes go on meanwhile.
    ///
    /// # Errors
    /// If it does not come back.
    pub fn restart_controller(&mut self) -> Result<(), String> {
        self.run("scontrol", &["shutdown", "slurmctld"])?;
        if let Some(mut controller) = self.controller.take() {
            controller.wait().map_err(|error| format!("slurmctld: {error}"))?;
        }
        self.start_controller()?;
        self.wait_until("controller", |cluster| cluster.run("sinfo", &[]).is_ok())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.controller.iter_mut().for_each(end);
        (0..self.nodes.len()).for_each(|k| self.stop_node(k));
        self.munge.iter_mut().for_each(end);
    }
}

fn node_name(k: usize) -> String {
    format!("n{k}")
}

fn end(daemon: &mut Child) {
    // Fails only if it has ended.
    let _ = daemon.kill();
    let _ = daemon.wait();
}
