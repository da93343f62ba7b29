//! The processes of a node. The daemons of its jobs belong to nobody: each leaves the node's session and process group as
//! it starts, so that they are found by what they carry.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Kills the processes that have the marks in their environment or the log open, and their descendants. Says how many
/// there were: they can have started others meanwhile.
pub(crate) fn kill(marks: &[String], log: &Path) -> usize {
    let log = &log.canonicalize().unwrap_or_else(|_| log.to_owned());
    let all: Vec<(i32, i32)> = fs::read_dir("/proc").into_iter().flatten().filter_map(of).collect();
    let marked = all.iter().map(|&(id, _)| id).filter(|id| is_marked(*id, marks) || has_open(*id, log));
    let mut found: BTreeSet<i32> = marked.collect();
    while let Some(child) = all.iter().find(|(id, parent)| found.contains(parent) && !found.contains(id)) {
        found.insert(child.0);
    }
    for &id in &found {
        // SAFETY: `kill` takes no pointers. The process had a mark of ours a moment ago.
        unsafe { libc::kill(id, libc::SIGKILL) };
    }
    found.len()
}

/// The ids of a process and its parent, unless it has ended.
fn of(entry: std::io::Result<fs::DirEntry>) -> Option<(i32, i32)> {
    let entry = entry.ok()?;
    let id = entry.file_name().to_str()?.parse().ok()?;
    let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
    let mut words = stat.rsplit_once(") ")?.1.split(' ');
    let is_there = !matches!(words.next()?, "Z" | "X");
    let parent = words.next()?.parse().ok()?;
    is_there.then_some((id, parent))
}

fn is_marked(id: i32, marks: &[String]) -> bool {
    let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
    let has =
        |mark: &String| environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes());
    marks.iter().all(has)
}

/// `slurmstepd` writes its title over its environment, but has the log of its node open.
fn has_open(id: i32, log: &Path) -> bool {
    let open = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
    open.filter_map(|entry| fs::read_link(entry.path()).ok()).any(|target| target == log)
}
