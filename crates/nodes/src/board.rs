//! Tasks on their way: open, taken by a node, done.

use crate::error::NodesError;
use crate::folder::{DONE, Folder, OPEN, RESULTS, TAKEN, hash};
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::fmt::Debug;

/// Something that any node can do, as it stands in the folder.
pub trait Task: Clone + Debug + Serialize + DeserializeOwned {
    /// What comes of it.
    type Finding: Clone + Debug + Serialize + DeserializeOwned;

    /// Whatever decides about the finding: what is equal in that is done once.
    fn identity(&self) -> impl Serialize;

    /// What is said of one with which `n_nodes` have died, the last of which was `node`.
    fn lost(node: String, n_nodes: usize) -> Self::Finding;
}

/// A task that a node has taken.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Taken<T> {
    /// Its name among the open ones.
    pub(crate) name: String,
    pub(crate) task: T,
}

/// The name of a task by what decides about its finding.
pub(crate) fn key(task: &impl Task) -> Result<String, serde_json::Error> {
    Ok(hash(&serde_json::to_vec(&task.identity())?))
}

/// The key of a task by its name.
pub(crate) fn key_of(name: &str) -> &str {
    name.split_once('-').map_or(name, |(_, key)| key)
}

fn result(key: &str) -> String {
    format!("{key}.json")
}

impl Folder {
    /// Lets a task wait.
    pub(crate) fn post(&self, number: usize, key: &str, task: &impl Task) -> Result<(), NodesError> {
        self.write_value(OPEN, &format!("{number:08}-{key}"), task)
    }

    /// Takes a task that waits. Each node begins at another one, so that not all of them run after the first.
    pub(crate) fn take<T: Task>(&self, node: &str) -> Result<Option<Taken<T>>, NodesError> {
        let mut names = self.names(OPEN)?;
        let first = u64::from_str_radix(&hash(node.as_bytes())[..15], 16).unwrap_or(0);
        let first = first as usize % names.len().max(1);
        names.rotate_left(first);
        for name in names {
            let taken = format!("{name}@{node}");
            if !self.rename((OPEN, &name), (TAKEN, &taken))? {
                continue;
            }
            match self.read_value(TAKEN, &taken) {
                Ok(Some(task)) => return Ok(Some(Taken { name, task })),
                // Another one had it before, and was taken for dead.
                _ if self.is_done(key_of(&name)) => {
                    self.remove(TAKEN, &taken);
                }
                Ok(None) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Lets a task that was taken wait again, unless its result is there.
    pub(crate) fn give_back(&self, name: &str, node: &str) -> Result<bool, NodesError> {
        let taken = format!("{name}@{node}");
        if self.is_done(key_of(name)) {
            self.remove(TAKEN, &taken);
            return Ok(false);
        }
        self.rename((TAKEN, &taken), (OPEN, name))
    }

    /// Tells what came of a task.
    pub(crate) fn finish<T: Task>(
        &self,
        taken: &Taken<T>,
        node: &str,
        finding: &T::Finding,
    ) -> Result<(), NodesError> {
        let key = key_of(&taken.name);
        self.write_value(RESULTS, &result(key), finding)?;
        self.write(DONE, key, b"")?;
        self.remove(TAKEN, &format!("{}@{node}", taken.name));
        Ok(())
    }

    /// Takes a task away that nobody waits for any more.
    pub(crate) fn withdraw(&self, number: usize, key: &str) {
        self.remove(OPEN, &format!("{number:08}-{key}"));
    }

    /// Keys of tasks that were done since the last call.
    pub(crate) fn news(&self) -> Result<Vec<String>, NodesError> {
        let keys = self.names(DONE)?;
        keys.iter().for_each(|key| self.remove(DONE, key));
        Ok(keys)
    }

    /// Takes a result away that is none.
    pub(crate) fn forget(&self, key: &str) {
        self.remove(RESULTS, &result(key));
    }

    /// What came of a task, if that is known.
    pub(crate) fn finding<F: DeserializeOwned>(&self, key: &str) -> Result<Option<F>, NodesError> {
        self.read_value(RESULTS, &result(key))
    }

    /// Whether that is known.
    fn is_done(&self, key: &str) -> bool {
        self.finding::<IgnoredAny>(key).is_ok_and(|found| found.is_some())
    }

    /// Tasks that are taken, with their nodes.
    pub(crate) fn taken(&self) -> Result<Vec<(String, String)>, NodesError> {
        let names = self.names(TAKEN)?;
        Ok(names.iter().filter_map(|name| name.split_once('@')).map(|(a, b)| (a.into(), b.into())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::{Build, Candidate, Finding, Outcome};
    use oxeye_measure::Compiler;

    fn task(text: &str) -> Candidate {
        let compiler = Compiler::new("cc", ["-O2"]);
        let (args, link_args) = (Vec::new(), Vec::new());
        let build = Build { text: text.into(), compiler, args, link_args, seconds: 10.0 };
        Candidate { bench: "bench".into(), build, best_seconds: 1.0, call_seconds: 2.0 }
    }

    #[test]
    fn tasks_come_back_unless_they_are_done() {
        let root = tempfile::tempdir().expect("made");
        let folder = Folder::at(root.path());
        folder.make().expect("made");
        for (number, text) in ["a.c", "b.c"].into_iter().enumerate() {
            let task = task(text);
            folder.post(number, &key(&task).expect("a key"), &task).expect("posted");
        }
        let first: Taken<Candidate> = folder.take("one").expect("taken").expect("there is one");
        let other = if first.task == task("a.c") { task("b.c") } else { task("a.c") };
        assert_eq!(folder.taken().expect("listed"), [(first.name.clone(), "one".to_owned())]);
        assert!(folder.give_back(&first.name, "one").expect("given back"));
        let takes = |node: &str| folder.take::<Candidate>(node).expect("asked");
        let (mut again, mut rest) = (takes("two").expect("one waits"), takes("two").expect("and another"));
        if again != first {
            std::mem::swap(&mut again, &mut rest);
        }
        assert_eq!((&again, &rest.task), (&first, &other));
        assert!(folder.give_back(&rest.name, "two").expect("given back"));
        let finding = Finding { node: "two".into(), original_seconds: vec![1.0], outcome: Outcome::Wrong };
        folder.finish(&again, "two", &finding).expect("told");
        assert_eq!(folder.taken().expect("listed"), []);
        // One that was taken for dead is late.
        assert!(!folder.give_back(&first.name, "one").expect("asked"));
        assert_eq!(folder.finding(key_of(&first.name)).expect("read"), Some(finding));
        assert_eq!(folder.news().expect("listed"), [key_of(&first.name)]);
        assert_eq!(folder.news().expect("listed"), Vec::<String>::new());
        assert_eq!(takes("one").expect("the other").task, other);
        assert_eq!(takes("one"), None);
    }

    #[test]
    fn limits_of_time_make_no_other_task() {
        let one = task("a.c");
        let mut other = Candidate { best_seconds: 0.5, call_seconds: 1.0, ..one.clone() };
        other.build.seconds = 3.0;
        assert_eq!(key(&one).expect("a key"), key(&other).expect("a key"));
        other.build.args.push("-fopenmp".into());
        assert_ne!(key(&one).expect("a key"), key(&other).expect("a key"));
    }
}
