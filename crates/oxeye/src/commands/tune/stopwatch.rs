//! Where the time of a run goes.

use serde::Serialize;
use std::time::Instant;

/// What a phase took.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhaseSeconds {
    /// In words.
    pub phase: &'static str,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// Where the time of a run goes.
pub(super) struct Stopwatch {
    begin: Instant,
    last: Instant,
    laps: Vec<PhaseSeconds>,
}

impl Stopwatch {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { begin: now, last: now, laps: Vec::new() }
    }

    /// A phase ends.
    pub(super) fn lap(&mut self, phase: &'static str) {
        self.laps.push(PhaseSeconds { phase, seconds: self.last.elapsed().as_secs_f64() });
        self.last = Instant::now();
    }

    /// Seconds since the beginning.
    pub(super) fn seconds(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }

    pub(super) fn into_laps(self) -> Vec<PhaseSeconds> {
        self.laps
    }
}
