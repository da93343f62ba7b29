//! Single measurements, to be checked against something else.

use crate::bandwidth::{self, StreamPlan};
use crate::compute;
use crate::error::HostError;
use crate::pool::Pool;
use crate::profile::{Bandwidth, FloatType, StreamKernel};
use crate::quantity::Quantity;
use crate::sampling::Patience;
use crate::topology::Topology;
use std::time::Duration;

/// Threads pinned to the cores this process may use, ready to measure.
pub struct Probe {
    pool: Pool,
}

impl Probe {
    /// Starts the threads.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub fn new(topology: &Topology) -> Result<Probe, HostError> {
        Ok(Probe { pool: Pool::start(&topology.core_cpus)? })
    }

    /// How many threads there are, one for each core.
    pub fn cores(&self) -> u32 {
        self.pool.len() as u32
    }

    /// STREAM's four kernels from main memory with ordinary stores, on three new arrays of `array_bytes` each, for a
    /// number of rounds each.
    ///
    /// # Errors
    /// When there is no memory for the arrays.
    pub fn stream(
        &self,
        threads: u32,
        array_bytes: usize,
        rounds: usize,
    ) -> Result<Vec<Bandwidth>, HostError> {
        use StreamKernel::{Add, Copy, Scale, Triad};
        let threads = (threads as usize).clamp(1, self.pool.len());
        let plan = StreamPlan {
            kernels: &[(Copy, false), (Scale, false), (Add, false), (Triad, false)],
            threads,
            bytes_per_thread: 3 * array_bytes / threads,
            sample_s: 0.0,
            patience: Patience { share: Duration::ZERO, at_least: rounds, at_most: rounds },
        };
        bandwidth::from_memory(&self.pool, &plan)
    }

    /// Peak multiply-add rate of the threads in GFLOP/s and, sampled in turn with it, the clock rate in GHz of as many
    /// cores with such vectors in flight: the best of a number of rounds. `None` for vectors that this processor lacks.
    pub fn peak_and_clock(
        &self,
        ty: FloatType,
        vector_bits: u32,
        threads: u32,
        rounds: usize,
    ) -> Option<(Quantity, Quantity)> {
        let patience = Patience { share: Duration::ZERO, at_least: rounds, at_most: rounds };
        compute::peak_with_clock(&self.pool, ty, vector_bits, threads.clamp(1, self.cores()), patience)
    }
}
