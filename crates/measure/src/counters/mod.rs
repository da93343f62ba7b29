//! Hardware and software counters, each of them optional.
//!
//! Virtual machines, containers and administrators refuse some counters and grant others. So every counter is opened on
//! its own, and a missing one is a [`MissingCounter`] with the reason in words, never an error. [`survey`] lists
//! what this machine grants, and [`Replay::counted`](crate::Replay::counted) counts during the calls of a nest.

mod counter;
mod events;
mod kernel;
mod machine;
mod reading;
mod real;
mod refusal;
mod scripted;
mod session;
mod survey;

pub use counter::{Counter, CounterUnit};
pub use events::thread_event;
pub use kernel::{Count, Event, EventId, Kernel, Target};
pub use machine::{ControllerEvent, CountingMachine, ProcessorModel};
pub use reading::{CounterReading, CounterSurvey, MissingCounter};
pub use real::RealKernel;
pub use scripted::{ScriptedAnswer, ScriptedCount, ScriptedKernel};
pub(crate) use session::{Session, in_words};
pub use survey::{survey, survey_of};
