//! The machine, and a run of the original nest, as feature vectors.

use crate::schema::{FeatureList, HostFeature, N_HOST, N_PROFILE, ProfileFeature};
use crate::vector::Features;
use serde::{Deserialize, Serialize};

/// The machine. Unknown fields are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostVector {
    /// First-level data cache of a core, in bytes.
    pub l1_bytes: Option<f64>,
    /// Second-level cache of a core, in bytes.
    pub l2_bytes: Option<f64>,
    /// Third-level cache, all of it, in bytes.
    pub l3_bytes: Option<f64>,
    /// Physical cores in use.
    pub cores: Option<f64>,
    /// Threads that parallel loops will have.
    pub threads: Option<f64>,
    /// Width of a vector register in bytes.
    pub vector_bytes: Option<f64>,
    /// Peak rate in f32 with all threads, GFLOP/s.
    pub peak_f32_gflops: Option<f64>,
    /// Peak rate in f64 with all threads, GFLOP/s.
    pub peak_f64_gflops: Option<f64>,
    /// Bandwidth of the first-level cache with all threads, GB/s.
    pub l1_gb_per_s: Option<f64>,
    /// Bandwidth of the second-level cache with all threads, GB/s.
    pub l2_gb_per_s: Option<f64>,
    /// Bandwidth of the third-level cache with all threads, GB/s.
    pub l3_gb_per_s: Option<f64>,
    /// Bandwidth of main memory with all threads, GB/s.
    pub dram_gb_per_s: Option<f64>,
    /// Clock rate of a busy core, GHz.
    pub clock_ghz: Option<f64>,
}

/// A run of the original nest. Unknown fields are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProfileVector {
    /// Time of one execution of the nest, in seconds.
    pub seconds: Option<f64>,
    /// Arithmetic rate, GFLOP/s.
    pub gflops: Option<f64>,
    /// Main memory traffic over time, GB/s.
    pub gb_per_s: Option<f64>,
    /// Arithmetic rate over the peak rate, 0 to 1.
    pub peak_share: Option<f64>,
    /// Memory traffic over the memory bandwidth, 0 to 1.
    pub bandwidth_share: Option<f64>,
    /// Rate over what the roofline allows at the nest's intensity, 0 to 1.
    pub roof_share: Option<f64>,
    /// Floating-point operations per byte of main memory traffic.
    pub intensity: Option<f64>,
    /// Bytes between core and first-level cache.
    pub l1_traffic_bytes: Option<f64>,
    /// Bytes between first- and second-level cache.
    pub l2_traffic_bytes: Option<f64>,
    /// Bytes between second- and third-level cache.
    pub l3_traffic_bytes: Option<f64>,
    /// Bytes between the last cache and main memory.
    pub dram_traffic_bytes: Option<f64>,
    /// Time with one thread over time with all threads.
    pub thread_scaling: Option<f64>,
    /// Instructions per cycle.
    pub instructions_per_cycle: Option<f64>,
    /// Last-level cache misses per reference, 0 to 1.
    pub cache_miss_share: Option<f64>,
    /// Mispredicted branches per branch, 0 to 1.
    pub branch_miss_share: Option<f64>,
}

impl HostVector {
    /// The features, for [`crate::NestGraph::host`].
    pub fn features(&self) -> Features<N_HOST> {
        use HostFeature as F;
        let mut features = Features::zero();
        for (known, feature, value) in [
            (F::L1Known, F::L1, self.l1_bytes),
            (F::L2Known, F::L2, self.l2_bytes),
            (F::L3Known, F::L3, self.l3_bytes),
            (F::CoresKnown, F::Cores, self.cores),
            (F::ThreadsKnown, F::Threads, self.threads),
            (F::VectorKnown, F::Vector, self.vector_bytes),
            (F::PeakF32Known, F::PeakF32, self.peak_f32_gflops),
            (F::PeakF64Known, F::PeakF64, self.peak_f64_gflops),
            (F::L1BandwidthKnown, F::L1Bandwidth, self.l1_gb_per_s),
            (F::L2BandwidthKnown, F::L2Bandwidth, self.l2_gb_per_s),
            (F::L3BandwidthKnown, F::L3Bandwidth, self.l3_gb_per_s),
            (F::DramBandwidthKnown, F::DramBandwidth, self.dram_gb_per_s),
            (F::ClockKnown, F::Clock, self.clock_ghz),
        ] {
            set_known(&mut features, known, feature, value);
        }
        features
    }
}

impl ProfileVector {
    /// The features, for [`crate::NestGraph::profile`].
    pub fn features(&self) -> Features<N_PROFILE> {
        use ProfileFeature as F;
        let mut features = Features::zero();
        for (known, feature, value) in [
            (F::SecondsKnown, F::Seconds, self.seconds),
            (F::GflopsKnown, F::Gflops, self.gflops),
            (F::BandwidthKnown, F::Bandwidth, self.gb_per_s),
            (F::PeakShareKnown, F::PeakShare, self.peak_share),
            (F::BandwidthShareKnown, F::BandwidthShare, self.bandwidth_share),
            (F::RoofShareKnown, F::RoofShare, self.roof_share),
            (F::IntensityKnown, F::Intensity, self.intensity),
            (F::TrafficL1Known, F::TrafficL1, self.l1_traffic_bytes),
            (F::TrafficL2Known, F::TrafficL2, self.l2_traffic_bytes),
            (F::TrafficL3Known, F::TrafficL3, self.l3_traffic_bytes),
            (F::TrafficDramKnown, F::TrafficDram, self.dram_traffic_bytes),
            (F::ScalingKnown, F::Scaling, self.thread_scaling),
            (F::InstructionsPerCycleKnown, F::InstructionsPerCycle, self.instructions_per_cycle),
            (F::CacheMissesKnown, F::CacheMisses, self.cache_miss_share),
            (F::BranchMissesKnown, F::BranchMisses, self.branch_miss_share),
        ] {
            set_known(&mut features, known, feature, value);
        }
        features
    }
}

/// Sets a value and the flag that it is known. Infinite, negative and NaN values are unknown.
fn set_known<const N: usize, F: FeatureList>(
    features: &mut Features<N>,
    known: F,
    feature: F,
    value: Option<f64>,
) {
    if let Some(value) = value.filter(|value| value.is_finite() && *value >= 0.0) {
        features.flag(known, true);
        features.set(feature, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_zero_with_its_flag() {
        assert_eq!(HostVector::default().features(), Features::zero());
        let nonsense = HostVector { l1_bytes: Some(f64::NAN), cores: Some(-1.0), ..HostVector::default() };
        assert_eq!(nonsense.features(), Features::zero());
        let known =
            ProfileVector { seconds: Some(0.0), thread_scaling: Some(2.0), ..ProfileVector::default() };
        let features = known.features();
        assert!(features.is_set(ProfileFeature::SecondsKnown));
        assert_eq!(features.get(ProfileFeature::Seconds), -4.0);
        assert_eq!(features.get(ProfileFeature::Scaling), 0.125);
        assert!(!features.is_set(ProfileFeature::GflopsKnown));
    }
}
