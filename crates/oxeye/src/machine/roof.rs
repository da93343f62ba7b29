//! How far a nest is from what the machine allows.

use crate::machine::counts::{count_traffic, home_level};
use crate::{Captured, Recipe, Sizes, Tuner};
use oxeye_host::{HostProfile, Provenance, Quantity};
use oxeye_ir::{Nest, Program};
use oxeye_profile::{Bound, LevelBytes, NestInput, NestProfile, profile_nest};
use oxeye_transform::{Policy, apply};

/// A nest this near to its roof, in percent of it, is not tuned any further.
pub(crate) const ENOUGH_PERCENT: u32 = 8;

/// The roofs of one nest on this machine.
pub(crate) struct Roofs<'a> {
    host: &'a HostProfile,
    program: &'a Program,
    nest: &'a Nest,
    policy: Policy,
    sizes: Sizes,
    /// Counted of the nest as it stands in the file.
    input: NestInput,
    /// What no schedule can do without: the operations, and the compulsory traffic to the nearest level that holds it.
    least: NestInput,
}

impl<'a> Roofs<'a> {
    /// `None` without a host profile or a sample.
    pub(crate) fn of(tuner: &'a Tuner<'_>, captured: &'a Captured, idx: usize) -> Option<Self> {
        let host = tuner.host_profile.as_ref()?;
        let captured_nest = &captured.nests[idx];
        let sizes = Sizes::of(captured_nest, captured_nest.samples.first()?);
        let (_, program, nest) = captured_nest.of(&captured.unit);
        let input = tuner.counted_input(captured, idx, host);
        let mut least = NestInput { levels: Vec::new(), ..input.clone() };
        if let (Some(bytes), Some(footprint)) = (input.compulsory_bytes, input.footprint_bytes) {
            let level = home_level(host, footprint.value, tuner.threads);
            least.levels = vec![LevelBytes { level, bytes }];
        }
        Some(Self { host, program, nest, policy: tuner.policy(), sizes, input, least })
    }

    /// The nest as the user's compiler builds it, taking `seconds`.
    pub(crate) fn before(&self, seconds: f64) -> NestProfile {
        profile_nest(&NestInput { warm_ns: Some(once(seconds)), ..self.input.clone() }, self.host)
    }

    /// The nest after a recipe, taking `seconds` with `threads`. Operations and compulsory traffic are those of the nest
    /// before it; the traffic is that of the new loops.
    pub(crate) fn after(&self, recipe: &Recipe, seconds: f64, threads: u32) -> NestProfile {
        let mut input = NestInput { warm_ns: Some(once(seconds)), threads, ..self.input.clone() };
        input.levels.clear();
        input.why_missing.retain(|why| !why.starts_with("traffic"));
        if let Ok(applied) = apply(self.program, self.nest, recipe, self.policy) {
            count_traffic(&mut input, &applied.program, &applied.nest, &self.sizes, self.host);
        }
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
