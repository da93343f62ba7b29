//! Ceilings that a nest proves to be too low.

use crate::figures::{count, positive};
use crate::input::NestInput;
use oxeye_host::{HostProfile, Provenance};

/// Raises the ceilings of a [provisional](HostProfile::is_provisional) profile to what a nest reached, and returns
/// whether any changed: peaks by its counted operations over its time, bandwidths by counted or measured traffic over
/// its time. Modelled traffic is an upper bound and proves nothing, nor do operations that are assumed to run. Other profiles do not change: there the count of
/// the nest is wrong.
pub fn raise_ceilings(input: &NestInput, host: &mut HostProfile) -> bool {
    let Some(time) = positive(input.warm_ns).or_else(|| positive(input.cold_ns)) else { return false };
    if !host.is_provisional() {
        return false;
    }
    let mut is_raised = false;
    // Types share the processor's units: only a nest of one type bears on the peak of that type.
    if let [flops] = input.flops.as_slice()
        && flops.count.provenance != Provenance::Assumed
        && let Some(n) = count(Some(flops.count))
    {
        is_raised |= host.raise_peak(flops.ty, input.threads.max(1), n.value / time.value);
    }
    for level in &input.levels {
        let is_exact = matches!(level.bytes.provenance, Provenance::Counted | Provenance::Measured);
        if let Some(bytes) = count(Some(level.bytes)).filter(|_| is_exact) {
            is_raised |= host.raise_bandwidth(&level.level, input.threads.max(1), bytes.value / time.value);
        }
    }
    is_raised
}
