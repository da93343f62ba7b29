//! Hardware and software counters, each of them optional.
//!
//! Virtual machines, containers and cautious administrators refuse counters one by one; so every counter is asked for on
//! its own, and one that is not there is a [`MissingCounter`] with the reason in words, never an error. [`survey`] lists
//! what this machine grants, and [`Replay::counted`](crate::Replay::counted) counts during the calls of a nest.

mod counter;
mod kernel;
mod machine;

use serde::{Deserialize, Serialize};

pub use counter::{Counter, CounterUnit};
pub use kernel::{Count, Event, EventId, Kernel, Target};
pub use machine::{ControllerEvent, CountingMachine, ProcessorModel};

/// Which counters a machine grants to this process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterSurvey {
    /// Counters that count.
    pub granted: Vec<Counter>,
    /// Counters that do not, in the order of [`Counter::ALL`].
    pub refused: Vec<MissingCounter>,
    /// The one setting that would grant the most of those refused; `None` when no setting would.
    pub remedy: Option<String>,
}

/// A counter that has no value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingCounter {
    /// Which one.
    pub counter: Counter,
    /// The reason, in words for the user.
    pub why: String,
}

/// What a counter counted during one call.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CounterReading {
    /// Which one.
    pub counter: Counter,
    /// In the counter's unit; the median where several calls were counted.
    pub value: f64,
    /// Whether the counter ran for a part of the time only, as others took turns with it, and the value was extrapolated.
    pub scaled: bool,
}
