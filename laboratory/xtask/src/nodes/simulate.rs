//! Generations of candidates on many nodes, as a discrete-event simulation: who waits for whom.
//!
//! A search makes a generation, proves and writes its candidates on its own machine, and makes the next one
//! when all results are there. Each node takes one candidate at a time: it lists the folder, renames and reads a task, builds it and runs it,
//! and writes the result. All these operations on files go through one server, one after the other.

use oxeye_random::Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Seconds that a candidate costs a node, besides what its files cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    pub(super) build: f64,
    pub(super) run: f64,
}

/// What the file system and the head of a site are like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub(super) name: &'static str,
    /// Seconds until an operation on a file is answered.
    latency: f64,
    /// Operations that the server does in a second.
    operations: f64,
    /// Seconds that the head needs to make, prove and render a candidate.
    prove: f64,
    /// How many of these it does at once.
    cores: f64,
}

impl Site {
    /// A workstation, a cluster with NFS, and one with a parallel file system; what they take is assumed.
    pub(super) const ALL: [Site; 3] = [
        Site { name: "one machine's disk", latency: 5e-5, operations: 100_000.0, prove: 0.02, cores: 8.0 },
        Site {
            name: "NFS: 1 ms, 3000 operations/s",
            latency: 1e-3,
            operations: 3000.0,
            prove: 0.02,
            cores: 8.0,
        },
        Site {
            name: "parallel: 3 ms, 30000 operations/s",
            latency: 3e-3,
            operations: 30_000.0,
            prove: 0.02,
            cores: 8.0,
        },
    ];
}

/// Operations on files that a task takes a node: to see whether the run is over, and to list, rename and read (10); to write and rename
/// the result, its mark and what the node has done, and to remove the task (7). And the head: to look whether text and result are there, to
/// write and rename the text and the task, to read the result and to remove its mark.
const OF_NODE: f64 = 17.0;
const OF_HEAD: f64 = 8.0;
/// Files that the head writes at once.
const WRITERS: f64 = 16.0;
/// Nodes that find nothing look again after so long at most; the head looks so often for results.
const LONG_LOOK: f64 = 0.25;
const LOOK_OF_HEAD: f64 = 0.05;
/// Candidates for each node in a generation, and those of one without other nodes.
const AT_ONCE: usize = 4;
const GENERATION: usize = 16;
/// Running times swing by this factor, up and down.
const SWING: f64 = 2.0;
/// Seconds that are simulated.
const TIME: f64 = 600.0;

/// What came of a simulation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Simulated {
    /// Candidates in a minute.
    pub(super) per_minute: f64,
    /// Shares of the nodes' time in which they wait: for the head, for the last of a generation, and for files.
    head: f64,
    last: f64,
    files: f64,
}

impl Simulated {
    /// Where most of the nodes' time goes that is not spent on candidates.
    pub(super) fn rest(&self) -> String {
        let all = [
            (self.head, "waiting for the head"),
            (self.last, "waiting for the last of a generation"),
            (self.files, "files"),
        ];
        let most = all.iter().max_by(|a, b| a.0.total_cmp(&b.0)).copied().unwrap_or_default();
        format!("{} ({:.0} %)", most.1, 100.0 * most.0)
    }
}

/// Lets so many nodes measure candidates.
pub(super) fn simulate(n_nodes: usize, costs: &Costs, site: &Site) -> Simulated {
    let mut random = Rng::new(1, 0);
    let (mut now, mut n_done) = (0.0, 0_usize);
    let (mut head, mut last, mut files) = (0.0, 0.0, 0.0);
    while now < TIME {
        let n = if n_nodes == 1 { GENERATION } else { GENERATION.max(AT_ONCE * n_nodes) };
        let per_task =
            site.prove / site.cores + OF_HEAD * (site.latency / WRITERS).max(1.0 / site.operations);
        // A server answers one after the other.
        let mut server = now;
        let mut free: BinaryHeap<Reverse<u64>> = (0..n_nodes).map(|_| Reverse(as_key(now))).collect();
        let mut end_of_round = now;
        for k in 0..n {
            let posted = now + per_task * (k + 1) as f64;
            let Some(Reverse(key)) = free.pop() else { break };
            let idle = as_seconds(key);
            // Who waits looks again after a while.
            let look = if posted > idle { LONG_LOOK.min(posted - idle) / 2.0 } else { 0.0 };
            let asked = idle.max(posted) + look;
            head += asked - idle;
            server = f64::max(server, asked) + OF_NODE / site.operations;
            let taken = server.max(asked + OF_NODE * site.latency);
            files += taken - asked;
            let swing = SWING.powf(2.0 * random.unit() - 1.0);
            let done = taken + costs.build + costs.run * swing;
            end_of_round = f64::max(end_of_round, done);
            free.push(Reverse(as_key(done)));
        }
        let end = end_of_round + LOOK_OF_HEAD;
        last += free.iter().map(|Reverse(key)| end - as_seconds(*key)).sum::<f64>();
        (now, n_done) = (end, n_done + n);
    }
    let whole = now * n_nodes as f64;
    Simulated {
        per_minute: 60.0 * n_done as f64 / now,
        head: head / whole,
        last: last / whole,
        files: files / whole,
    }
}

/// Times in microseconds can be ordered.
fn as_key(seconds: f64) -> u64 {
    (1e6 * seconds) as u64
}

fn as_seconds(key: u64) -> f64 {
    1e-6 * key as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_nodes_do_more_and_never_more_than_their_share() {
        let costs = Costs { build: 0.3, run: 0.7 };
        for site in Site::ALL {
            let rate = |n| simulate(n, &costs, &site).per_minute;
            let (one, eight, many) = (rate(1), rate(8), rate(512));
            assert!(eight > 5.0 * one && eight <= 8.05 * one, "{}: {one} {eight}", site.name);
            assert!(many > eight, "{}: {eight} {many}", site.name);
        }
    }

    #[test]
    fn what_costs_nothing_leaves_the_head_as_the_bottleneck() {
        let costs = Costs { build: 0.001, run: 0.001 };
        let found = simulate(64, &costs, &Site::ALL[0]);
        assert!(found.rest().contains("head"), "{}", found.rest());
    }
}
