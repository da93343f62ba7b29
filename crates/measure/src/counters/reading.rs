//! Readings of counters, and why some counters have none.

use serde::{Deserialize, Serialize};

use super::counter::Counter;

/// Which counters a machine grants to this process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterSurvey {
    /// Counters that count.
    pub granted: Vec<Counter>,
    /// Counters that do not, in the order of [`Counter::ALL`].
    pub refused: Vec<MissingCounter>,
    /// The setting that would grant those refused for lack of permission; `None` if no setting would.
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
    /// Whether the counter was multiplexed with others, so that the value is extrapolated.
    pub scaled: bool,
}
