//! Roofline profiles of loop nests.
mod figures;
mod input;
mod model;
mod nest;

pub use figures::{format_bytes, format_capacity, format_ns, format_number, format_percent};
pub use input::{
    CacheTraffic, CounterValue, ExpensiveOperations, Flops, LevelBytes, NestInput, ThreadTime, levels_served,
};
pub use nest::{Bound, LevelProfile, NestProfile, Roof, Run, ScalingPoint, profile_nest};
