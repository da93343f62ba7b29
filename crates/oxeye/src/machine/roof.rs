//! How far a nest is from what the machine allows.

use super::counts::{count_traffic, home_level};
use super::sizes::Sizes;
use oxeye_host::{HostProfile, Provenance, Quantity};
use oxeye_profile::{Bound, LevelBytes, NestInput, NestProfile, profile_nest, raise_ceilings};
use oxeye_transform::Applied;
use std::borrow::Cow;

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
        // What stands behind guards may hardly ever run.
        least.flops.retain(|flops| flops.count.provenance != Provenance::Assumed);
        least.expensive.retain(|each| each.count.provenance != Provenance::Assumed);
        if let (Some(bytes), Some(footprint)) = (input.compulsory_bytes, input.footprint_bytes) {
            let level = home_level(host, footprint.value, threads);
            least.levels = vec![LevelBytes { level, bytes }];
        }
        Self { host, sizes, input, least }
    }

    /// The nest as the user's compiler builds it, taking `seconds`.
    pub(crate) fn before(&self, seconds: f64) -> NestProfile {
        let input = NestInput { warm_ns: Some(once(seconds)), ..self.input.clone() };
        profile_nest(&input, &self.ceilings(seconds, input.threads))
    }

    /// The nest as a recipe made it, taking `seconds` with `threads`. Operations and compulsory traffic are those of the nest
    /// before it; the traffic is that of the new loops.
    pub(crate) fn after(&self, applied: &Applied, seconds: f64, threads: u32) -> NestProfile {
        let mut input = NestInput { warm_ns: Some(once(seconds)), threads, ..self.input.clone() };
        let host = self.ceilings(seconds, threads);
        count_traffic(&mut input, &applied.program, &applied.nest, &self.sizes, &host);
        profile_nest(&input, &host)
    }

    /// The ceilings to compare a nest with that takes `seconds`. Those of a provisional profile are raised to what the nest
    /// reaches, in the kept profile too.
    fn ceilings(&self, seconds: f64, threads: u32) -> Cow<'_, HostProfile> {
        let reached = NestInput { warm_ns: Some(once(seconds)), threads, ..self.least.clone() };
        let mut raised = self.host.clone();
        if !raise_ceilings(&reached, &mut raised) {
            return Cow::Borrowed(self.host);
        }
        // A cache that cannot be written keeps what it has.
        let _ = oxeye_host::raise_kept(&raised.key, &mut |kept| raise_ceilings(&reached, kept));
        Cow::Owned(raised)
    }

    /// A time that no schedule with so many threads can go below, in seconds, and what it is the bound of. `None` from a
    /// provisional profile, whose ceilings may be too low.
    pub(crate) fn least_seconds(&self, threads: u32) -> Option<(f64, String)> {
        least_seconds(&self.least, threads, self.host)
    }

    /// The roof that a schedule taking `seconds` with `threads` is so near to that no other is worth a trial. `None` from a
    /// provisional profile.
    pub(crate) fn near(&self, seconds: f64, threads: u32) -> Option<String> {
        near(&self.least, seconds, threads, self.host)
    }

    /// The peak rate of the nest's arithmetic with so many threads, 10⁹ operations per second, however the profile was
    /// measured: that of the faster type if it has several, `None` if none was counted.
    pub(crate) fn peak_gflops(&self, threads: u32) -> Option<f64> {
        let peak = |ty| Some(self.host.peak_gflops(ty, threads, u32::MAX)?.value);
        self.input.flops.iter().filter_map(|flops| peak(flops.ty)).reduce(f64::max)
    }
}

fn least_seconds(least: &NestInput, threads: u32, host: &HostProfile) -> Option<(f64, String)> {
    if host.is_provisional() {
        return None;
    }
    // Figures that contradict the clock are left out of a profile: a day contradicts none.
    let input = NestInput { warm_ns: Some(once(86_400.0)), threads, ..least.clone() };
    let profile = profile_nest(&input, host);
    let roof = profile.roofs.iter().max_by(|a, b| a.least_ns.value.total_cmp(&b.least_ns.value))?;
    Some((1e-9 * roof.least_ns.value, roof.bound.to_string()))
}

fn near(least: &NestInput, seconds: f64, threads: u32, host: &HostProfile) -> Option<String> {
    if host.is_provisional() {
        return None;
    }
    let input = NestInput { warm_ns: Some(once(seconds)), threads, ..least.clone() };
    let profile = profile_nest(&input, host);
    let is_roof = !matches!(profile.bound, Bound::Overhead | Bound::Unknown);
    let reached = profile.roof_fraction.filter(|_| is_roof)?.value;
    (100.0 * (1.0 - reached) <= f64::from(ENOUGH_PERCENT)).then(|| profile.bound.to_string())
}

/// A time that was taken by other means than those of a profile.
fn once(seconds: f64) -> Quantity {
    Quantity { value: 1e9 * seconds, spread: 0.0, samples: 1, provenance: Provenance::Measured }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_host::FloatType;
    use oxeye_profile::Flops;

    /// Two cores of 118 GFLOP/s each.
    fn host(noisy: bool) -> HostProfile {
        let mut host: HostProfile =
            serde_json::from_str(include_str!("example_host.json")).expect("a host profile");
        host.noise.noisy = noisy;
        host
    }

    /// A nest of 10¹⁰ operations.
    fn least() -> NestInput {
        let count = Quantity { value: 1e10, spread: 0.0, samples: 0, provenance: Provenance::Counted };
        NestInput {
            flops: vec![Flops { ty: FloatType::F64, count }],
            max_vector_bits: 512,
            ..NestInput::new(0, "f:1")
        }
    }

    #[test]
    fn operations_behind_guards_are_no_roof() {
        let at_roof = 10.0 / 236.0;
        let of = |provenance| {
            let mut input = least();
            input.flops[0].count.provenance = provenance;
            let host = host(false);
            let roofs = Roofs::of(&host, input, Sizes::default(), 2);
            let is_peak = roofs.least_seconds(2).is_some_and(|(_, bound)| bound == "f64 peak");
            (roofs.near(at_roof, 2), is_peak, roofs.peak_gflops(1).is_some())
        };
        assert_eq!(of(Provenance::Counted), (Some("f64 peak".to_owned()), true, true));
        assert_eq!(of(Provenance::Assumed), (None, false, true));
    }

    #[test]
    fn only_a_believed_profile_stops_tuning_or_skips_a_candidate() {
        let at_roof = 1.02 * 10.0 / 236.0;
        assert_eq!(near(&least(), at_roof, 2, &host(false)).as_deref(), Some("f64 peak"));
        assert_eq!(near(&least(), 2.0 * at_roof, 2, &host(false)), None);
        assert_eq!(near(&least(), at_roof, 2, &host(true)), None);
        let bound = least_seconds(&least(), 1, &host(false)).expect("it is known");
        assert!((bound.0 - 10.0 / 118.0).abs() < 1e-9, "{bound:?}");
        assert_eq!(least_seconds(&least(), 1, &host(true)), None);
    }
}
