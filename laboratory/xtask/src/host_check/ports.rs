//! Multiply-adds that a core starts per cycle, by processor family, from the vendors' manuals.

/// Multiply-add instructions of this many bits (0: scalar) that start per cycle, for a processor named as
/// [`oxeye_host::Topology::cpu_id`] does. `None` for unknown processors.
pub(super) fn multiply_add_ports(cpu_id: &str, bits: u32) -> Option<u32> {
    match (vendor_and_family(cpu_id)?, bits) {
        (("GenuineIntel", 6), _) => Some(2),
        // Zen and Zen 2; the former splits 256 bits in halves, which its family alone does not tell.
        (("AuthenticAMD", 23), 0..=256) => Some(2),
        // Zen 3 and 4: 512 bits take both units.
        (("AuthenticAMD", 25), 0..=256) => Some(2),
        (("AuthenticAMD", 25), _) => Some(1),
        // Zen 5 in servers.
        (("AuthenticAMD", 26), _) => Some(2),
        _ => None,
    }
}

/// What [`multiply_add_ports`] assumes.
pub(super) fn assumption(cpu_id: &str) -> &'static str {
    match vendor_and_family(cpu_id) {
        Some(("GenuineIntel", 6)) => {
            "two multiply-add ports, with 512 bits too, as cores for servers have; 1.0 against 0.5 would show one"
        }
        Some(("AuthenticAMD", 23)) => "two multiply-add units of 256 bits, as since Zen 2",
        Some(("AuthenticAMD", 25)) => "two multiply-add units of 256 bits, which share 512",
        Some(("AuthenticAMD", 26)) => "two multiply-add units of 512 bits, as cores for servers have",
        _ => "its ports are not known here, so there is nothing to compare with",
    }
}

fn vendor_and_family(cpu_id: &str) -> Option<(&str, u32)> {
    let mut parts = cpu_id.split('-');
    Some((parts.next()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families() {
        assert_eq!(multiply_add_ports("GenuineIntel-6-143", 512), Some(2));
        assert_eq!(multiply_add_ports("AuthenticAMD-25-17", 512), Some(1));
        assert_eq!(multiply_add_ports("AuthenticAMD-25-17", 0), Some(2));
        for unknown in ["unknown", "", "GenuineIntel", "GenuineIntel-15-4", "Other-6-1"] {
            assert_eq!(multiply_add_ports(unknown, 0), None, "{unknown}");
        }
    }
}
