//! The machine that nests are measured on.

use oxeye_embed::HostVector;
use oxeye_host::{Sources, Topology};
use oxeye_transform::Machine;

/// What templates and features need to know about the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredHost {
    /// For the features of nests.
    pub vector: HostVector,
    /// Processor model.
    pub cpu: String,
    caches: [u64; 3],
    vector_bytes: u32,
}

impl MeasuredHost {
    /// This machine: from its cached host profile, or else from what the system reports.
    pub fn this_machine(threads: u32) -> Self {
        let profile = oxeye_host::load().ok().flatten();
        let topology = profile
            .as_ref()
            .map_or_else(|| Topology::read(&Sources::this_machine()).0, |p| p.topology.clone());
        let told = |level| topology.cache(level).map(|c| c.bytes);
        let caches = [
            told(1).unwrap_or(USUAL_CACHES[0]),
            told(2).unwrap_or(USUAL_CACHES[1]),
            told(3).or(told(2)).unwrap_or(USUAL_CACHES[2]),
        ];
        let vector_bytes = vector_bytes();
        let vector = HostVector {
            l1_bytes: Some(caches[0] as f64),
            l2_bytes: Some(caches[1] as f64),
            l3_bytes: Some(caches[2] as f64),
            cores: Some(f64::from(topology.sockets * topology.cores_per_socket)),
            threads: Some(f64::from(threads)),
            vector_bytes: Some(f64::from(vector_bytes)),
            ..profile.as_ref().map(oxeye::host_rates).unwrap_or_default()
        };
        Self { vector, cpu: topology.cpu_model, caches, vector_bytes }
    }

    /// For templates.
    pub(super) fn machine(&self, threads: u32) -> Machine {
        let [l1, l2, l3] = self.caches;
        Machine { l1, l2, l3, threads, vector_bytes: self.vector_bytes }
    }
}

/// The machine that a host's features describe, for templates; what they lack is as [`MeasuredHost`] assumes.
pub fn machine_of(host: &HostVector, threads: u32) -> Machine {
    let bytes = |value: Option<f64>, otherwise: u64| value.map_or(otherwise, |bytes| bytes as u64);
    let l2 = bytes(host.l2_bytes, USUAL_CACHES[1]);
    Machine {
        l1: bytes(host.l1_bytes, USUAL_CACHES[0]),
        l2,
        l3: bytes(host.l3_bytes.or(host.l2_bytes), USUAL_CACHES[2]),
        threads,
        vector_bytes: bytes(host.vector_bytes, 16) as u32,
    }
}

/// Caches of an unknown machine.
const USUAL_CACHES: [u64; 3] = [32 << 10, 512 << 10, 8 << 20];

/// Bytes of the widest vector registers of this machine.
fn vector_bytes() -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            return 64;
        }
        if std::arch::is_x86_feature_detected!("avx") {
            return 32;
        }
    }
    16
}
