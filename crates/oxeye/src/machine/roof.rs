//! How far a nest is from what the machine allows.

use super::counts::{count_traffic, home_level};
use super::sizes::Sizes;
use oxeye_host::{HostProfile, Provenance, Quantity};
use oxeye_profile::{Bound, LevelBytes, NestInput, NestProfile, profile_nest};
use oxeye_transform::Applied;

/// A nest this near to its roof, in percent of it, is not tuned any further.
pub(crate) const ENOUGH_PERCENT: u32 = 8;

/// The roofs of one nest on this machine.
pub(crate) struct Roofs<'a> {
    host: &'a HostProfile,
    sizes: Sizes,
    /// Counted of the nest as it stands in the file.
    input: NestInput,
    /// What no schedule can do without: the operations, and the compulsory traffic to the nearest level that holds it.
    least: NestInput,
}

impl<'a> Roofs<'a> {
    /// For a nest of which `input` was counted with these sizes, in so many threads at most.
    pub(crate) fn of(host: &'a HostProfile, input: NestInput, sizes: Sizes, threads: u32) -> Self {
        let mut least = NestInput { levels: Vec::new(), ..input.clone() };
        if let (Some(bytes), Some(footprint)) = (input.compulsory_bytes, input.footprint_bytes) {
            let level = home_level(host, footprint.value, threads);
            least.levels = vec![LevelBytes { level, bytes }];
        }
        Self { host, sizes, input, least }
    }

    /// The nest as the user's compiler builds it, taking `seconds`.
    pub(crate) fn before(&self, seconds: f64) -> NestProfile {
        profile_nest(&NestInput { warm_ns: Some(once(seconds)), ..self.input.clone() }, self.host)
    }

    /// The nest as a recipe made it, taking `seconds` with `threads`. Operations and compulsory traffic are those of the nest
    /// before it; the traffic is that of the new loops.
    pub(crate) fn after(&self, applied: &Applied, seconds: f64, threads: u32) -> NestProfile {
        let mut input = NestInput { warm_ns: Some(once(seconds)), threads, ..self.input.clone() };
        input.levels.clear();
        input.why_missing.retain(|why| !why.starts_with("traffic"));
        count_traffic(&mut input, &applied.program, &applied.nest, &self.sizes, self.host);
        profile_nest(&input, self.host)
    }

    /// A time that no schedule with so many threads can go below, in seconds, and what it is the bound of.
    pub(crate) fn least_seconds(&self, threads: u32) -> Option<(f64, String)> {
        // Figures that contradict the clock are left out of a profile: a day contradicts none.
        let input = NestInput { warm_ns: Some(once(86_400.0)), threads, ..self.least.clone() };
        let profile = profile_nest(&input, self.host);
        let roof = profile.roofs.iter().max_by(|a, b| a.least_ns.value.total_cmp(&b.least_ns.value))?;
        Some((1e-9 * roof.least_ns.value, roof.bound.to_string()))
    }

    /// The roof that a schedule taking `seconds` with `threads` is so near to that no other is worth a trial.
    pub(crate) fn near(&self, seconds: f64, threads: u32) -> Option<String> {
        let input = NestInput { warm_ns: Some(once(seconds)), threads, ..self.least.clone() };
        let profile = profile_nest(&input, self.host);
        let is_roof = !matches!(profile.bound, Bound::Overhead | Bound::Unknown);
        let reached = profile.roof_fraction.filter(|_| is_roof)?.value;
        (100.0 * (1.0 - reached) <= f64::from(ENOUGH_PERCENT)).then(|| profile.bound.to_string())
    }
}

/// A time that was taken by other means than those of a profile.
fn once(seconds: f64) -> Quantity {
    Quantity { value: 1e9 * seconds, spread: 0.0, samples: 1, provenance: Provenance::Measured }
}
