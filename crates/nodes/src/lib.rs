//! Candidates are measured on several nodes at once. All that nodes have in common is a folder that each of them sees: tasks
//! wait in it as files, a node takes one by renaming it, and its result is a file again. No node needs to reach another one.
//!
//! - [`Nodes`] is the side of the command that tunes: it starts workers (processes here, or a job array of Slurm), puts what nests
//!   are replayed with into the folder, posts candidates, and collects what was found.
//! - [`work`] is the other side, one process a node: it takes tasks until the command has ended.
//!
//! # What is in the folder
//!
//! ```text
//! session.json           what all tasks have in common ([`SessionFile`])
//! head                   touched as long as the command runs
//! end                    there as soon as it has ended
//! store/HASH             samples, results of originals, and texts, by what is in them (SHA-256)
//! benches/HASH.json      what a nest is replayed with ([`Bench`])
//! open/NUMBER-KEY        tasks that wait ([`Task`])
//! taken/NUMBER-KEY@NODE  those that a node has taken
//! results/KEY.json       what it found ([`Finding`]); a task with a result is never measured again
//! done/KEY               that a result is there, until the command has seen it
//! nodes/NODE.json        who takes part, and why not any more ([`NodeFile`])
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
mod error;
mod folder;
mod head;
mod heart;
mod slurm;
mod task;
mod worker;

pub use error::NodesError;
pub use head::{NodeReport, Nodes, Round, Starting};
pub use task::{Bench, Build, Finding, NodeFile, Outcome, SessionFile, SharedOutputs, Task};
pub use worker::{Worked, work};
