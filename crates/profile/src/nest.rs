//! The roofline profile of one nest.

use crate::input::CounterValue;
use oxeye_host::{FloatType, Operation, Quantity};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How one nest performs on one machine. No figure contradicts the machine's measured ceilings; where clock, counts and
/// ceilings contradict each other, the figure is `None` and [`NestProfile::why_missing`] says why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NestProfile {
    /// Number of the nest in its file.
    pub id: usize,
    /// Its place: `function:line`.
    pub name: String,
    /// Threads that the timed code uses.
    pub threads: u32,
    /// Time of one invocation that finds its data outside the caches, in nanoseconds.
    pub cold_ns: Option<Quantity>,
    /// Time of one invocation that finds the data as the invocation before left them, in nanoseconds.
    pub warm_ns: Option<Quantity>,
    /// Which of the two the rates, intensities and roofs below refer to: the warm one if there is one.
    pub basis: Option<Run>,
    /// Share of the program's time, from 0 to 1.
    pub share: Option<Quantity>,
    /// Floating-point operations of one invocation.
    pub flops: Option<Quantity>,
    /// 10⁹ floating-point operations per second.
    pub gflops: Option<Quantity>,
    /// Distinct bytes that one invocation touches.
    pub footprint_bytes: Option<Quantity>,
    /// Bytes that any cache must move for one cold invocation.
    pub compulsory_bytes: Option<Quantity>,
    /// Operations per byte of compulsory traffic: no cache can give a nest as it is a higher intensity.
    pub compulsory_intensity: Option<Quantity>,
    /// Figures by memory level, nearest first.
    pub levels: Vec<LevelProfile>,
    /// The least time each roof allows, the binding one first.
    pub roofs: Vec<Roof>,
    /// The binding roof.
    pub bound: Bound,
    /// Performance at the binding roof, 10⁹ operations per second.
    pub attainable_gflops: Option<Quantity>,
    /// Share of the binding roof that is reached, from 0 to 1.
    pub roof_fraction: Option<Quantity>,
    /// Times by number of threads.
    pub scaling: Vec<ScalingPoint>,
    /// Readings of counters.
    pub counters: Vec<CounterValue>,
    /// The figures that are missing, each with the reason: `DRAM traffic: …`.
    pub why_missing: Vec<String>,
    /// Remarks on the other figures.
    pub notes: Vec<String>,
}

/// The state of the caches when an invocation begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Run {
    /// Its data are in main memory.
    Cold,
    /// Its data are where the previous invocation left them.
    Warm,
}

/// One memory level as a nest uses it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelProfile {
    /// `L1`, `L2`, .., `DRAM`.
    pub level: String,
    /// Bytes that it serves to one invocation.
    pub bytes: Option<Quantity>,
    /// The rate, 10⁹ bytes per second.
    pub gb_per_s: Option<Quantity>,
    /// The ceiling of this level for that many threads.
    pub ceiling_gb_per_s: Option<Quantity>,
    /// Floating-point operations per byte that it serves.
    pub intensity: Option<Quantity>,
}

/// A lower bound on the time of one invocation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Roof {
    /// What sets the bound.
    pub bound: Bound,
    /// The least time it allows, in nanoseconds.
    pub least_ns: Quantity,
    /// That time over the measured one, from 0 to 1.
    pub fraction: Quantity,
}

/// What limits a nest.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Bound {
    /// The bandwidth of a memory level.
    Bandwidth {
        /// `L1`, `L2`, .., `DRAM`.
        level: String,
    },
    /// The peak rate of arithmetic.
    Peak {
        /// The type of most operations.
        ty: FloatType,
    },
    /// The rate of an expensive operation.
    Rate {
        /// The operation.
        operation: Operation,
        /// Its type.
        ty: FloatType,
    },
    /// Starting and joining threads takes longer than the nest.
    Overhead,
    /// Too little is known.
    Unknown,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Bandwidth { level } => write!(f, "{level} bandwidth"),
            Bound::Peak { ty } => write!(f, "{} peak", ty.name()),
            Bound::Rate { operation, ty } => write!(f, "{} {} rate", ty.name(), operation.name()),
            Bound::Overhead => f.write_str("overhead"),
            Bound::Unknown => f.write_str("unknown"),
        }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Run::Cold => "cold",
            Run::Warm => "warm",
        })
    }
}

/// Scaling: the time with a number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScalingPoint {
    /// Threads.
    pub threads: u32,
    /// Time of one invocation in nanoseconds.
    pub runtime_ns: Quantity,
    /// Time of one thread over it; `None` where one thread was not timed.
    pub speedup: Option<Quantity>,
}

impl NestProfile {
    /// The time of one invocation that rates refer to.
    pub fn runtime_ns(&self) -> Option<Quantity> {
        match self.basis? {
            Run::Cold => self.cold_ns,
            Run::Warm => self.warm_ns,
        }
    }

    /// The profile of a level.
    pub fn level(&self, name: &str) -> Option<&LevelProfile> {
        self.levels.iter().find(|l| l.level == name)
    }

    /// The place of the nest on a roofline plot: a level and the intensity there. The binding level if
    /// memory binds, else the farthest level with an intensity, else the compulsory traffic.
    pub fn plotted_intensity(&self) -> Option<(&str, Quantity)> {
        let intensity_of = |l: &LevelProfile| l.intensity.filter(|i| i.value > 0.0);
        if let Bound::Bandwidth { level } = &self.bound
            && let Some(found) = self.level(level)
            && let Some(intensity) = intensity_of(found)
        {
            return Some((&found.level, intensity));
        }
        let farthest = self.levels.iter().rev().find_map(|l| Some((l.level.as_str(), intensity_of(l)?)));
        farthest.or_else(|| Some(("compulsory", self.compulsory_intensity.filter(|i| i.value > 0.0)?)))
    }
}
