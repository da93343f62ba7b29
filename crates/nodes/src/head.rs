//! The side of the command that tunes: starts workers, posts tasks and collects what was found.

use crate::board::{Task, key, key_of};
use crate::candidate::Bench;
use crate::error::NodesError;
use crate::folder::{BENCHES, DISTRUSTED, DONE, END, Folder, HEAD, LOGS, NODES, OPEN, SESSION, TAKEN};
use crate::heart::Heart;
use crate::session::{NodeFile, SCHEMA, SessionFile};
use crate::slurm::Job;
use oxeye_host::this_machine;
use oxeye_measure::{Companion, Invocation, WorkDir, allowed_cores, in_parallel, shares};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// A node that has said nothing for so long has died.
const LAPSE: Duration = Duration::from_secs(15);
/// How often it is looked who takes part.
const LOOK: Duration = Duration::from_millis(300);
/// A task with which so many nodes have died is not given to another one.
const MOST_DEATHS: usize = 3;
/// Files that are written at once.
const WRITERS: usize = 16;
/// How long nothing is done by anybody before that is an error.
const LONELY: Duration = Duration::from_secs(60);
/// Time between two looks for what is done.
const PAUSE: Duration = Duration::from_millis(100);
/// How long workers have to end by themselves.
const GRACE: Duration = Duration::from_secs(3);

/// Who starts the workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Starting {
    /// So many processes on this machine, each with its part of the cores.
    Here(usize),
    /// Slurm, on so many nodes, with what else `sbatch` is told.
    Slurm {
        /// Options of `sbatch`.
        words: Vec<String>,
        /// Number of nodes.
        nodes: usize,
    },
    /// Somebody else, so many.
    Elsewhere(usize),
}

impl Starting {
    fn n_nodes(&self) -> usize {
        match self {
            Starting::Here(n) | Starting::Elsewhere(n) | Starting::Slurm { nodes: n, .. } => *n,
        }
    }
}

/// The nodes of a run. They are told to end when it is dropped.
#[derive(Debug)]
pub struct Nodes {
    folder: Folder,
    /// Where the command's own temporary files go, which nodes have to see.
    work: WorkDir,
    /// The folder, if it goes with the run.
    own: Option<WorkDir>,
    lapse: Duration,
    n_wanted: usize,
    children: Vec<Companion>,
    job: Option<Job>,
    heart: Option<Heart>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    n_posted: usize,
    looked: Option<Instant>,
    /// Those that take part, and those that did.
    nodes: BTreeMap<String, Seen>,
    /// Those that are not believed any more, and why.
    distrusted: BTreeMap<String, String>,
    /// Why the folder is not used any more.
    given_up: Option<String>,
}

#[derive(Clone, Debug)]
struct Seen {
    file: NodeFile,
    is_alive: bool,
}

/// What became of a node, for reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeReport {
    /// Its name.
    pub name: String,
    /// Candidates that it measured.
    pub measured: usize,
    /// Why it was set aside, if it was.
    pub aside: Option<String>,
    /// Whether it died, or was ended by others, before the run was over.
    pub lost: bool,
}

impl Nodes {
    /// Starts workers on a folder that all of them see; one is made if none is named, in the present folder unless all nodes are
    /// this machine. `worker` is the command that works for a folder, which comes behind it. A folder that is named stays, and so
    /// do the results in it, for a run that asks for the same.
    ///
    /// # Errors
    /// If the folder cannot be used, or no worker be started.
    pub fn start(
        folder: Option<&Path>,
        starting: &Starting,
        worker: &[OsString],
    ) -> Result<Nodes, NodesError> {
        Nodes::start_with(folder, starting, worker, LAPSE)
    }

    /// The same, where nodes that have said nothing for so long have died.
    ///
    /// # Errors
    /// As [`Nodes::start`].
    pub fn start_with(
        folder: Option<&Path>,
        starting: &Starting,
        worker: &[OsString],
        lapse: Duration,
    ) -> Result<Nodes, NodesError> {
        let own = match (folder, starting) {
            (Some(_), _) => None,
            (None, Starting::Here(_)) => Some(WorkDir::new()?),
            (None, _) => Some(WorkDir::at(&own_folder())?),
        };
        let root = own.as_ref().map(WorkDir::path).or(folder).unwrap_or(Path::new("."));
        // What is in it is run by nodes.
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(root);
        made.map_err(NodesError::io("make", root))?;
        let root = root.canonicalize().map_err(NodesError::io("find", root))?;
        let folder = Folder::at(&root);
        check_unused(&folder, lapse)?;
        folder.make()?;
        for kind in [OPEN, TAKEN, DONE, NODES, LOGS] {
            folder.names(kind)?.iter().for_each(|name| folder.remove(kind, name));
        }
        folder.remove("", END);
        let heart = Heart::start(&folder, "", HEAD);
        let session = SessionFile {
            schema: SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            machine: (!matches!(starting, Starting::Here(_))).then(this_machine),
            folder: std::env::current_dir().unwrap_or_default(),
            lapse_seconds: lapse.as_secs_f64(),
        };
        folder.write_value("", SESSION, &session)?;
        let mut nodes = Nodes {
            work: WorkDir::within(Some(&root))?,
            folder,
            own,
            lapse,
            n_wanted: starting.n_nodes(),
            children: Vec::new(),
            job: None,
            heart: Some(heart),
            state: Mutex::default(),
        };
        match starting {
            Starting::Here(n) => nodes.start_here(*n, worker)?,
            Starting::Slurm { words, nodes: n } => {
                nodes.job = Some(Job::submit(words, *n, worker, &nodes.folder)?);
            }
            Starting::Elsewhere(_) => {}
        }
        Ok(nodes)
    }

    fn start_here(&mut self, n: usize, worker: &[OsString]) -> Result<(), NodesError> {
        let Some((program, args)) = worker.split_first() else { return Ok(()) };
        for (k, cores) in shares(n, &allowed_cores()).iter().enumerate() {
            let name = shard(k);
            let words: [OsString; 3] = ["--name".into(), name.as_str().into(), self.folder.root().into()];
            let invocation = Invocation::new(program).args(args).args(words);
            let says = self.folder.path(LOGS, &format!("{name}.log"));
            self.children.push(Companion::start(&invocation, cores, &says)?);
        }
        Ok(())
    }

    /// Where files go that nodes have to see, besides those that are shared by name.
    pub fn work_folder(&self) -> &Path {
        self.work.path()
    }

    /// How many nodes take part at the moment.
    pub fn width(&self) -> usize {
        let state = self.look();
        match state.given_up {
            Some(_) => 0,
            None => state.nodes.values().filter(|node| node.is_alive).count(),
        }
    }

    /// How many nodes were asked for.
    pub fn n_wanted(&self) -> usize {
        self.n_wanted
    }

    /// A node is not asked any more, for this reason.
    pub fn distrust(&self, node: &str, why: &str) {
        // The node sees this, and ends.
        let _ = self.folder.write(NODES, &format!("{node}.{DISTRUSTED}"), why.as_bytes());
        let mut state = self.state();
        state.distrusted.entry(node.to_owned()).or_insert_with(|| why.to_owned());
        state.looked = None;
    }

    /// The folder is not used any more, for this reason.
    pub fn give_up(&self, why: &str) {
        self.state().given_up.get_or_insert_with(|| why.to_owned());
    }

    /// Why the folder is not used any more, if it is not.
    pub fn given_up(&self) -> Option<String> {
        self.state().given_up.clone()
    }

    /// What became of the nodes.
    pub fn reports(&self) -> Vec<NodeReport> {
        let state = self.look_now();
        let of = |(name, node): (&String, &Seen)| NodeReport {
            name: name.clone(),
            measured: node.file.finished,
            aside: state.distrusted.get(name).or(node.file.aside.as_ref()).cloned(),
            lost: !node.is_alive && node.file.aside.is_none() && !state.distrusted.contains_key(name),
        };
        state.nodes.iter().map(of).collect()
    }

    /// Why no node takes part, as far as it is known.
    pub fn why_none(&self) -> String {
        match &self.job {
            Some(job) => match job.waits_for() {
                Some(reason) => format!("job {} of Slurm waits ({reason})", job.id()),
                None => {
                    format!("job {} of Slurm began no worker that came here{}", job.id(), self.last_words())
                }
            },
            None => format!("no worker came{}", self.last_words()),
        }
    }

    /// What a worker has said last, if one has said anything: an error rather than what Slurm says behind it.
    fn last_words(&self) -> String {
        let read = |name: &String| fs::read_to_string(self.folder.path(LOGS, name)).ok();
        let logs = self.folder.names(LOGS).unwrap_or_default();
        let texts: Vec<String> = logs.iter().filter_map(read).collect();
        let lines = || texts.iter().flat_map(|text| text.lines().map(str::trim));
        let said = lines().find(|line| line.starts_with("error")).or(lines().rfind(|line| !line.is_empty()));
        said.map_or_else(String::new, |line| format!("; one said: {line}"))
    }

    /// Keeps a file in the folder; its name there.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn share_file(&self, path: &Path) -> Result<String, NodesError> {
        self.folder.keep_file(path)
    }

    /// Keeps a text of C in the folder; its name there.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn share_text(&self, text: &[u8]) -> Result<String, NodesError> {
        self.folder.keep(text, ".c")
    }

    /// Tells nodes what a nest is replayed with; its name.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn share_bench(&self, bench: &Bench) -> Result<String, NodesError> {
        let path = self.folder.path(BENCHES, "");
        let name = bench.name().map_err(|error| NodesError::damaged(&path, error))?;
        self.folder.write_value(BENCHES, &format!("{name}.json"), bench)?;
        Ok(name)
    }

    /// Posts tasks; what was found of them before is there at once.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn post<T: Task + Sync>(&self, tasks: Vec<T>) -> Result<Round<'_, T>, NodesError>
    where
        T::Finding: Send,
    {
        let mut round = Round { nodes: self, waiting: BTreeMap::new(), ready: Vec::new(), looked: None };
        let mut same: BTreeMap<String, (T, Vec<usize>)> = BTreeMap::new();
        for (idx, task) in tasks.into_iter().enumerate() {
            let path = self.folder.path(OPEN, "");
            let key = key(&task).map_err(|error| NodesError::damaged(&path, error))?;
            same.entry(key).or_insert_with(|| (task, Vec::new())).1.push(idx);
        }
        let all: Vec<(String, (T, Vec<usize>))> = same.into_iter().collect();
        // A file system that is far away takes its time for each file, and is asked for several at once.
        let posted =
            in_parallel(&all, WRITERS, |(key, (task, _))| match self.folder.finding::<T::Finding>(key) {
                Ok(Some(finding)) => Ok(Posted::Known(finding)),
                _ => self.post_one(key, task).map(Posted::Waits),
            });
        for ((key, (task, positions)), posted) in all.into_iter().zip(posted) {
            match posted? {
                Posted::Known(finding) => {
                    round.ready.extend(positions.into_iter().map(|idx| (idx, finding.clone())));
                }
                Posted::Waits(number) => {
                    round.waiting.insert(key, Waiting { number, task, positions, n_deaths: 0 });
                }
            }
        }
        Ok(round)
    }

    /// Keeps several texts at once.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn share_texts(&self, texts: &[Vec<u8>]) -> Result<Vec<String>, NodesError> {
        in_parallel(texts, WRITERS, |text| self.share_text(text)).into_iter().collect()
    }

    fn post_one(&self, key: &str, task: &impl Task) -> Result<usize, NodesError> {
        let number = {
            let mut state = self.state();
            state.n_posted += 1;
            state.n_posted
        };
        self.folder.post(number, key, task)?;
        Ok(number)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self) -> MutexGuard<'_, State> {
        let state = self.state();
        match state.looked {
            Some(looked) if looked.elapsed() < LOOK => state,
            _ => {
                drop(state);
                self.look_now()
            }
        }
    }

    fn look_now(&self) -> MutexGuard<'_, State> {
        let now = self.folder.touched("", HEAD);
        let mut found: BTreeMap<String, Seen> = BTreeMap::new();
        for name in self.folder.names(NODES).unwrap_or_default() {
            let Some(name) = name.strip_suffix(".json") else { continue };
            let Ok(Some(file)) = self.folder.read_value::<NodeFile>(NODES, &format!("{name}.json")) else {
                continue;
            };
            let is_alive = file.aside.is_none() && self.is_beating(name, now) && !self.has_ended(name);
            found.insert(name.to_owned(), Seen { file, is_alive });
        }
        let mut state = self.state();
        state.looked = Some(Instant::now());
        state.nodes.extend(found);
        let State { nodes, distrusted, .. } = &mut *state;
        nodes.iter_mut().for_each(|(name, node)| node.is_alive &= !distrusted.contains_key(name));
        state
    }

    fn is_beating(&self, name: &str, now: Option<SystemTime>) -> bool {
        let beat = self.folder.touched(NODES, &format!("{name}.beat"));
        let silent = |(now, beat): (SystemTime, SystemTime)| now.duration_since(beat).unwrap_or_default();
        now.zip(beat).is_some_and(|times| silent(times) < self.lapse)
    }

    /// Whether a worker that was started here is known to have ended.
    fn has_ended(&self, name: &str) -> bool {
        let own = self.children.iter().enumerate().find(|(k, _)| shard(*k) == name);
        own.is_some_and(|(_, child)| !child.is_running())
    }
}

/// A folder in the present one, which nodes see if they see what is tuned.
fn own_folder() -> PathBuf {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    PathBuf::from(format!(".oxeye-nodes-{}-{}", std::process::id(), since.subsec_nanos()))
}

/// The name of a worker that is started here.
fn shard(k: usize) -> String {
    format!("shard{}", k + 1)
}

/// Two commands cannot use one folder at a time.
fn check_unused(folder: &Folder, lapse: Duration) -> Result<(), NodesError> {
    if folder.path("", END).exists() {
        return Ok(());
    }
    let Some(before) = folder.touched("", HEAD) else { return Ok(()) };
    let probe = format!(".now-{}", std::process::id());
    let now = folder.touch("", &probe).ok().and_then(|()| folder.touched("", &probe));
    folder.remove("", &probe);
    let age = now.and_then(|now| now.duration_since(before).ok()).unwrap_or_default();
    if age > lapse {
        return Ok(());
    }
    let text = format!(
        "another run uses it, or did so {} s ago; name another folder, or wait {} s",
        age.as_secs(),
        lapse.as_secs()
    );
    Err(NodesError::Folder { path: folder.root().to_owned(), text })
}

impl Drop for Nodes {
    fn drop(&mut self) {
        let _ = self.folder.touch("", END);
        // Workers for the next run on the folder may be there before it.
        self.folder.remove("", SESSION);
        self.heart = None;
        if let Some(job) = &self.job {
            // Its workers see that it is over, too.
            let _ = job.cancel();
        }
        self.children.iter().for_each(Companion::ask_to_end);
        let begin = Instant::now();
        while begin.elapsed() < GRACE && self.children.iter().any(Companion::is_running) {
            sleep(Duration::from_millis(20));
        }
        self.children.clear();
        drop(self.own.take());
    }
}

/// Tasks that were posted together. Those that are not done when it is dropped are taken away.
#[derive(Debug)]
pub struct Round<'n, T: Task> {
    nodes: &'n Nodes,
    waiting: BTreeMap<String, Waiting<T>>,
    ready: Vec<(usize, T::Finding)>,
    looked: Option<Instant>,
}

/// What becomes of a task that is to be posted.
enum Posted<F> {
    /// Its result is there.
    Known(F),
    /// It waits under this number.
    Waits(usize),
}

#[derive(Debug)]
struct Waiting<T> {
    number: usize,
    task: T,
    /// Of the tasks that were posted.
    positions: Vec<usize>,
    /// Nodes that have died with it.
    n_deaths: usize,
}

impl<T: Task> Round<'_, T> {
    /// Whether all is known.
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.ready.is_empty()
    }

    /// What was found since the last call: positions of tasks, and findings. Gives tasks of nodes that have died to others.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn poll(&mut self) -> Result<Vec<(usize, T::Finding)>, NodesError> {
        let mut found = std::mem::take(&mut self.ready);
        let folder = &self.nodes.folder;
        if !self.waiting.is_empty() {
            for key in folder.news()?.iter().filter(|key| self.waiting.contains_key(*key)).collect::<Vec<_>>()
            {
                match folder.finding(key) {
                    Ok(Some(finding)) => self.tell(key, &finding, &mut found),
                    // Half a result is none.
                    Ok(None) | Err(_) => self.repeat(key)?,
                }
            }
            if self.looked.is_none_or(|looked| looked.elapsed() > LOOK) {
                self.return_lost(&mut found)?;
                self.looked = Some(Instant::now());
            }
        }
        found.sort_by_key(|(idx, _)| *idx);
        Ok(found)
    }

    /// Tells of each task as soon as it is done, until all are, or `goes_on` says no.
    ///
    /// # Errors
    /// If the folder cannot be read, no node takes part for a minute and none is waited for, or `found` fails.
    pub fn wait<E: From<NodesError>>(
        mut self,
        goes_on: &dyn Fn() -> bool,
        found: &mut dyn FnMut(usize, T::Finding) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut seen = Instant::now();
        while !self.is_done() && goes_on() {
            for (idx, finding) in self.poll()? {
                found(idx, finding)?;
            }
            if self.nodes.width() > 0 {
                seen = Instant::now();
            } else if seen.elapsed() > LONELY {
                if self.nodes.job.as_ref().is_none_or(|job| job.waits_for().is_none()) {
                    return Err(NodesError::Other(self.nodes.why_none()).into());
                }
                seen = Instant::now();
            }
            sleep(PAUSE);
        }
        Ok(())
    }

    fn tell(&mut self, key: &str, finding: &T::Finding, found: &mut Vec<(usize, T::Finding)>) {
        if let Some(waiting) = self.waiting.remove(key) {
            found.extend(waiting.positions.into_iter().map(|idx| (idx, finding.clone())));
        }
    }

    fn repeat(&mut self, key: &str) -> Result<(), NodesError> {
        self.nodes.folder.forget(key);
        if let Some(waiting) = self.waiting.get_mut(key) {
            waiting.number = self.nodes.post_one(key, &waiting.task)?;
        }
        Ok(())
    }

    /// Lets tasks of nodes that have died or were set aside wait again.
    fn return_lost(&mut self, found: &mut Vec<(usize, T::Finding)>) -> Result<(), NodesError> {
        let folder = &self.nodes.folder;
        // Who has taken one is known by then.
        let taken = folder.taken()?;
        let alive: BTreeSet<String> = {
            let state = self.nodes.look_now();
            state.nodes.iter().filter(|(_, node)| node.is_alive).map(|(name, _)| name.clone()).collect()
        };
        for (name, node) in taken {
            if alive.contains(&node) {
                continue;
            }
            let key = key_of(&name).to_owned();
            if !folder.give_back(&name, &node)? {
                // It had told its result, and died before it could say so.
                if let Ok(Some(finding)) = folder.finding(&key) {
                    self.tell(&key, &finding, found);
                }
                continue;
            }
            let Some(waiting) = self.waiting.get_mut(&key) else {
                folder.remove(OPEN, &name);
                continue;
            };
            waiting.n_deaths += 1;
            if waiting.n_deaths == MOST_DEATHS {
                folder.remove(OPEN, &name);
                self.tell(&key, &T::lost(node, MOST_DEATHS), found);
            }
        }
        Ok(())
    }
}

impl<T: Task> Drop for Round<'_, T> {
    fn drop(&mut self) {
        for (key, waiting) in &self.waiting {
            self.nodes.folder.withdraw(waiting.number, key);
        }
    }
}
