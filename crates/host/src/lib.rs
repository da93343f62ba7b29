//! What this machine can do, measured once and kept: topology, bandwidths of caches and main memory, peak rates of
//! arithmetic, the cost of a parallel region, and how noisy it is.
//!
//! ```no_run
//! use oxeye_host::{Effort, FloatType};
//!
//! # fn main() -> Result<(), oxeye_host::HostError> {
//! let host = oxeye_host::load_or_measure(Effort::Brief, None, &mut |_| {})?;
//! if let (Some(memory), Some(peak)) = (host.bandwidth("DRAM", 1), host.peak_gflops(FloatType::F64, 1, 512)) {
//!     println!("one core is bound by memory below {:.1} FLOP/B", peak.value / memory.value);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # The file
//!
//! Profiles are JSON files in [`cache_folder`], one for each processor model, microcode revision and count of usable
//! cores; another key is another machine, which is measured. [`HostProfile`] documents every field with its unit; its
//! names are the names in the file. `schema` is [`SCHEMA`] and changes whenever a reader of the old form would
//! misunderstand the new one; fields may be added without a change. A file of another schema, or a damaged one, is
//! renamed to a name that ends in `.damaged`, and the machine is measured again. A [brief](Effort::Brief) profile has
//! the same form, with `thorough` false; `notes` explains every missing figure.
//!
//! A profile that was measured on a [noisy](Noise) machine is [provisional](HostProfile::is_provisional): its ceilings
//! may be too low. It is measured again at the next run, it never proves that a nest is fast enough, and a ceiling that
//! a nest exceeds is raised in the file ([`raise_kept`]).
//!
//! # How it is measured
//!
//! One thread a core, pinned; every thread touches its own memory first; rounds begin together behind a barrier and
//! last until the slowest thread is done. All configurations of a kind take turns, so that a disturbance falls on all
//! of them, until the best three rounds agree within 1 % or the kind's time is over. A bandwidth's or rate's `value` is
//! that of the best round, as McCalpin's STREAM reports it: it is a ceiling, and disturbances only hide it. Median and
//! spread stand beside it. Cache capacities are where the curve of read bandwidth over array size falls; a level that
//! does not show in the curve is noted, not made up.
//!
//! # What it does not do
//!
//! It knows nothing of programs and nests, and reads no hardware counters.

mod affinity;
mod arrays;
mod bandwidth;
mod clock;
mod compute;
mod error;
mod fork_join;
mod kernels;
mod knees;
mod levels;
mod measure;
mod noise;
mod pool;
mod probe;
mod profile;
mod quantity;
mod sampling;
mod store;
mod timed;
mod topology;

pub use clock::now_rfc3339;
pub use error::HostError;
pub use measure::{Effort, Step, measure};
pub use probe::Probe;
pub use profile::{
    Bandwidth, CurvePoint, DaisyKeys, FloatType, HostKey, HostProfile, MemoryLevel, Noise, Operation,
    OperationRate, PeakRate, SCHEMA, StreamKernel,
};
pub use quantity::{Provenance, Quantity};
pub use store::{Kept, ProfileStore, cache_folder};
pub use topology::{CacheInfo, ClockPolicy, ContainerLimits, Sources, Topology};

use oxeye_measure::Compiler;

/// What this machine is known by. Nothing is measured.
pub fn this_machine() -> HostKey {
    let (topology, _) = Topology::read(&Sources::this_machine());
    HostKey::of(&topology)
}

/// The cached profile of this very machine, `None` if there is none yet.
///
/// # Errors
/// [`HostError::Damaged`] for a file that is no profile of this schema, [`HostError::Io`] for one that cannot be read.
pub fn load() -> Result<Option<HostProfile>, HostError> {
    ProfileStore::at(cache_folder()).load(&this_machine())
}

/// The cached profile of this very machine, or a new one, which is then kept. A thorough profile is wanted where
/// `effort` says so: a brief one is then measured again. A provisional one is always measured again.
///
/// # Errors
/// As [`measure`]. A cache that cannot be read or written is a note in the profile, not an error.
pub fn load_or_measure(
    effort: Effort,
    compiler: Option<&Compiler>,
    progress: &mut dyn FnMut(Step),
) -> Result<HostProfile, HostError> {
    let store = ProfileStore::at(cache_folder());
    kept_or_measured(&store, &this_machine(), effort, &mut || measure(effort, compiler, progress))
}

fn kept_or_measured(
    store: &ProfileStore,
    key: &HostKey,
    effort: Effort,
    measure: &mut dyn FnMut() -> Result<HostProfile, HostError>,
) -> Result<HostProfile, HostError> {
    let kept =
        || store.load(key).ok().flatten().filter(|profile| profile.thorough || effort == Effort::Brief);
    if let Some(profile) = kept().filter(|profile| !profile.is_provisional()) {
        return Ok(profile);
    }
    let measured = keep(store, measure()?);
    // Two provisional profiles together say more than one.
    Ok(if measured.is_provisional() { kept().unwrap_or(measured) } else { measured })
}

/// Raises ceilings of the cached profile by `raise`, which returns whether it did. Only a provisional profile is
/// raised.
///
/// # Errors
/// When the cache cannot be read or written.
pub fn raise_kept(key: &HostKey, raise: &mut dyn FnMut(&mut HostProfile) -> bool) -> Result<bool, HostError> {
    ProfileStore::at(cache_folder()).raise(key, raise)
}

/// Measures this machine and keeps the profile, unless a better one is there already ([`ProfileStore::save`]). Notes
/// say whether a damaged file was set aside, or why the profile could not be kept.
///
/// # Errors
/// As [`measure`].
pub fn measure_and_keep(
    effort: Effort,
    compiler: Option<&Compiler>,
    progress: &mut dyn FnMut(Step),
) -> Result<HostProfile, HostError> {
    Ok(keep(&ProfileStore::at(cache_folder()), measure(effort, compiler, progress)?))
}

fn keep(store: &ProfileStore, mut profile: HostProfile) -> HostProfile {
    match store.save(&profile) {
        Ok(Kept::New { set_aside: Some((path, why)), .. }) => {
            profile.notes.push(format!("an earlier profile was set aside as {}: {why}", path.display()));
        }
        Ok(_) => {}
        Err(error) => profile.notes.push(format!("this profile could not be kept: {error}")),
    }
    profile
}
