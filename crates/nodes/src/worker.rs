//! A node at work: takes tasks, does them, and tells what it found.

use crate::board::{Taken, Task};
use crate::error::NodesError;
use crate::folder::{DISTRUSTED, END, Folder, HEAD, NODES, SESSION, clean, host_name};
use crate::heart::Heart;
use crate::session::{NodeFile, SCHEMA, SessionFile};
use oxeye_host::this_machine;
use oxeye_measure::MeasureError;
use serde::Serialize;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a node waits for the session, and between two looks for tasks.
const WAIT_FOR_SESSION: Duration = Duration::from_secs(60);
const SHORT_LOOK: Duration = Duration::from_millis(10);
const LONG_LOOK: Duration = Duration::from_millis(500);
/// A command without a sign of life for so many times as long as a node has ended.
const LATE_HEAD: f64 = 4.0;
/// A result that cannot be written is tried so often again.
const WRITES: u32 = 3;

/// What a node has done in the end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Worked {
    /// Its name.
    pub node: String,
    /// Tasks that it has finished.
    pub finished: usize,
    /// Why it was set aside, if it was.
    pub aside: Option<String>,
}

/// Why a task could not be done.
#[derive(Debug)]
pub enum Trouble {
    /// Something is the matter with this node.
    Here(String),
    /// Something is the matter with the folder.
    Folder(NodesError),
}

impl From<NodesError> for Trouble {
    fn from(error: NodesError) -> Trouble {
        Trouble::Folder(error)
    }
}

impl From<MeasureError> for Trouble {
    fn from(error: MeasureError) -> Trouble {
        Trouble::Here(format!("nothing can be measured on it: {error}"))
    }
}

/// Where a node works.
#[derive(Debug)]
pub struct Desk {
    pub(crate) folder: Folder,
    pub(crate) session: SessionFile,
    name: String,
}

impl Desk {
    /// The name of the node.
    pub fn node(&self) -> &str {
        &self.name
    }
}

/// Takes tasks of one kind from a folder and does them with `find` until the command that posts them has ended, or `stop` says so: what was begun then waits for
/// another node. `name` has to differ from those of all other nodes; without one it is made of host and process.
///
/// # Errors
/// If the folder is not one of [`Nodes`](crate::Nodes), or cannot be read or written.
pub fn work_at<T: Task>(
    (root, name): (&Path, Option<&str>),
    stop: &dyn Fn() -> bool,
    find: impl FnMut(&Desk, &T) -> Result<T::Finding, Trouble>,
) -> Result<Worked, NodesError> {
    let folder = Folder::at(root);
    let session = session(&folder, stop)?;
    let name = name.map_or_else(own_name, clean);
    let desk = Desk { folder, session, name };
    let _heart = Heart::start(&desk.folder, NODES, &format!("{}.beat", desk.name));
    let mut node = Node { desk: &desk, finished: 0, stop };
    node.tell(None)?;
    let here = this_machine();
    let aside = match desk.session.machine.as_ref().filter(|machine| **machine != here) {
        Some(machine) => Some(format!("it is another machine: {here}, not {machine}")),
        None => node.take_tasks(find)?,
    };
    node.tell(aside.as_deref())?;
    Ok(Worked { node: desk.name.clone(), finished: node.finished, aside })
}

/// The name that Slurm or the system gives this node, and the process: a node that is started again is another one.
fn own_name() -> String {
    let node = std::env::var("SLURMD_NODENAME").map_or_else(|_| host_name(), |name| clean(&name));
    format!("{node}-{}", std::process::id())
}

/// What tasks have in common; waits for it, as a node may start before the command that it works for.
fn session(folder: &Folder, stop: &dyn Fn() -> bool) -> Result<SessionFile, NodesError> {
    let begin = Instant::now();
    loop {
        let found: Option<SessionFile> = folder.read_value("", SESSION)?;
        if let Some(session) = found {
            let version = env!("CARGO_PKG_VERSION");
            let text = match session.schema == SCHEMA && session.version == version {
                true => return Ok(session),
                false => format!(
                    "it is used by Oxeye {} and this is {version}; nodes need the same one",
                    session.version
                ),
            };
            return Err(NodesError::Folder { path: folder.root().to_owned(), text });
        }
        if stop() || begin.elapsed() > WAIT_FOR_SESSION {
            let why = if folder.root().is_dir() { "" } else { ", nor the folder itself" };
            let text = format!(
                "no {SESSION} came up in it{why}; start this for a folder that a run with --nodes uses"
            );
            return Err(NodesError::Folder { path: folder.root().to_owned(), text });
        }
        sleep(LONG_LOOK);
    }
}

struct Node<'s> {
    desk: &'s Desk,
    finished: usize,
    stop: &'s dyn Fn() -> bool,
}

impl Node<'_> {
    /// Tells who takes part, or why not any more.
    fn tell(&self, aside: Option<&str>) -> Result<(), NodesError> {
        let aside = aside.map(str::to_owned);
        let file = NodeFile { host: host_name(), aside, finished: self.finished };
        self.desk.folder.write_value(NODES, &format!("{}.json", self.desk.name), &file)
    }

    /// Works until there is no more to do; why this node is set aside, if it is.
    fn take_tasks<T: Task>(
        &mut self,
        mut find: impl FnMut(&Desk, &T) -> Result<T::Finding, Trouble>,
    ) -> Result<Option<String>, NodesError> {
        let mut pause = SHORT_LOOK;
        while !(self.stop)() && !self.is_over() {
            let Some(taken) = self.desk.folder.take(&self.desk.name)? else {
                sleep(pause);
                pause = (pause * 2).min(LONG_LOOK);
                continue;
            };
            pause = SHORT_LOOK;
            match find(self.desk, &taken.task) {
                // What was killed with this process tells nothing.
                _ if (self.stop)() => {
                    self.desk.folder.give_back(&taken.name, &self.desk.name)?;
                }
                Ok(finding) => self.finish(&taken, &finding)?,
                Err(Trouble::Here(why)) => {
                    self.desk.folder.give_back(&taken.name, &self.desk.name)?;
                    return Ok(Some(why));
                }
                Err(Trouble::Folder(error)) => {
                    self.desk.folder.give_back(&taken.name, &self.desk.name)?;
                    return Err(error);
                }
            }
        }
        Ok(None)
    }

    /// Whether the command has ended.
    fn is_over(&self) -> bool {
        let is_there = |kind: &str, name: &str| self.desk.folder.path(kind, name).exists();
        let distrusted = format!("{}.{DISTRUSTED}", self.desk.name);
        if !is_there("", SESSION) || is_there("", END) || is_there(NODES, &distrusted) {
            return true;
        }
        let (head, own) = (
            self.desk.folder.touched("", HEAD),
            self.desk.folder.touched(NODES, &format!("{}.beat", self.desk.name)),
        );
        let late = |(head, own): (_, std::time::SystemTime)| own.duration_since(head).unwrap_or_default();
        head.zip(own)
            .is_some_and(|times| late(times).as_secs_f64() > LATE_HEAD * self.desk.session.lapse_seconds)
    }

    fn finish<T: Task>(&mut self, taken: &Taken<T>, finding: &T::Finding) -> Result<(), NodesError> {
        let mut written = self.desk.folder.finish(taken, &self.desk.name, finding);
        for attempt in 1..=WRITES {
            if written.is_ok() {
                break;
            }
            sleep(LONG_LOOK * attempt);
            written = self.desk.folder.finish(taken, &self.desk.name, finding);
        }
        if let Err(error) = written {
            self.desk.folder.give_back(&taken.name, &self.desk.name)?;
            return Err(error);
        }
        self.finished += 1;
        // It is for those who watch.
        let _ = self.tell(None);
        Ok(())
    }
}
