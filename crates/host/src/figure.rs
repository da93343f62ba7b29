//! Numbers that say where they come from.

use serde::{Deserialize, Serialize};

/// How a number was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// Taken with a clock or a hardware counter.
    Measured,
    /// Exact, from the program's text and sizes.
    Counted,
    /// From a model of the machine.
    Modelled,
    /// A common value, for want of better.
    Assumed,
}

/// A number with its provenance, and with its spread where it was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The number; the median of the samples where it was measured. Its unit is that of the field it stands in.
    pub value: f64,
    /// Half the distance from the first to the third quartile, relative to `value`; 0 where nothing was sampled.
    pub spread: f64,
    /// Samples taken; 0 where nothing was sampled.
    pub samples: u32,
    /// How the number was obtained.
    pub provenance: Provenance,
}
