//! Tasks are done on several nodes at once. All that nodes have in common is a folder that each of them sees: tasks wait in it as
//! files, a node takes one by renaming it, and its result is a file again. No node needs to reach another one.
//!
//! - [`Nodes`] is the side of the command that has tasks: it starts workers (processes here, or a job array of Slurm), posts
//!   tasks, and collects what was found.
//! - [`work_at`] is the other side, one process a node: it takes tasks until the command has ended.
//!
//! A [`Task`] is anything that any node can do. Those of a command that tunes are [`Candidate`]s; what nests are replayed with lies
//! beside them in the folder, and [`work`] measures them.
//!
//! # What is in the folder
//!
//! ```text
//! session.json           what all tasks have in common
//! head                   touched as long as the command runs
//! end                    there as soon as it has ended
//! store/HASH             samples, results of originals, and texts, by what is in them (SHA-256)
//! benches/HASH.json      what a nest is replayed with ([`Bench`])
//! open/NUMBER-KEY        tasks that wait
//! taken/NUMBER-KEY@NODE  those that a node has taken
//! results/KEY.json       what it found; a task with a result is never measured again
//! done/KEY               that a result is there, until the command has seen it
//! nodes/NODE.json        who takes part, and why not any more
//! nodes/NODE.beat        touched as long as the node works
//! logs/                  what workers say
//! ```
//!
//! Files appear whole: they are written under another name and renamed. Ages of files are compared with each other, never with a
//! clock, so that clocks may differ.
//!
//! # Which nodes count
//!
//! A node of another kind than the machine that tunes is set aside, and so is one on which the original of a nest takes twice
//! as long, or computes something else. Times are told as multiples of the original's on the same node. What ends without a word
//! gives its task back to the others. Nothing of what nodes say is taken on trust: what is to be emitted is run, compared and
//! timed again by the one that asked.
//!
//! It knows nothing of loop nests, recipes or legality.

mod board;
mod candidate;
mod error;
mod folder;
mod head;
mod heart;
mod open_bench;
#[cfg(feature = "clap")]
mod options;
mod session;
mod slurm;
mod worker;

pub use board::Task;
pub use candidate::{Bench, Build, Candidate, Finding, Outcome, SharedOutputs};
pub use error::NodesError;
pub use head::{NodeReport, Nodes, Round, Starting};
pub use open_bench::work;
#[cfg(feature = "clap")]
pub use options::NodesArgs;
pub use worker::{Desk, Trouble, Worked, work_at};
