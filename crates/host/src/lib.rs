//! What this machine can do.

mod affinity;
mod error;
mod figure;
mod profile;
mod store;
mod topology;

pub use error::HostError;
pub use figure::{Figure, Provenance};
pub use profile::{
    Bandwidth, CurvePoint, DaisyKeys, FloatType, HostKey, HostProfile, MemoryLevel, Noise, Operation,
    OperationRate, PeakRate, SCHEMA, StreamKernel,
};
pub use store::{Kept, ProfileStore, cache_folder};
pub use topology::{CacheInfo, ContainerLimits, Sources, Topology};

/// The cached profile of this very machine, `None` if there is none yet.
///
/// # Errors
/// [`HostError::Damaged`] for a file that is no profile of this schema, [`HostError::Io`] for one that cannot be read.
pub fn load() -> Result<Option<HostProfile>, HostError> {
    let (topology, _) = Topology::read(&Sources::this_machine());
    ProfileStore::at(cache_folder()).load(&HostKey::of(&topology))
}
