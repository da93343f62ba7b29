//! What counters say, and why some say nothing.

use serde::{Deserialize, Serialize};

use super::counter::Counter;

/// Which counters a machine grants to this process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterSurvey {
    /// Counters that count.
    pub granted: Vec<Counter>,
    /// Counters that do not, in the order of [`Counter::ALL`].
    pub refused: Vec<MissingCounter>,
    /// The one setting that would grant those refused for want of permission; `None` when no setting would.
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
