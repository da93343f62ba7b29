//! Which plateau of the size sweep is which cache.

use crate::knees::Plateau;
use crate::topology::{CacheInfo, Topology};

/// A cache that the sweep showed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SweptCache {
    /// 1 for L1 and so on.
    pub(crate) level: u32,
    /// Its plateau of the curve.
    pub(crate) plateau: Plateau,
}

/// The caches among the plateaus of a sweep up to arrays of `largest` bytes, nearest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SweptLevels {
    /// Caches, nearest first.
    pub(crate) caches: Vec<SweptCache>,
    /// The level of main memory.
    pub(crate) memory_level: u32,
    /// Beyond this size no cache helps.
    pub(crate) beyond_caches: Option<u64>,
    /// What could not be told apart.
    pub(crate) notes: Vec<String>,
}

/// Arrays measure a little more than the cache that holds them, since the curve has steps.
const STEP: f64 = 1.3;

/// Names plateaus after the caches that the system reports: the smallest one that is large enough. The last plateau is
/// main memory if the sweep went well beyond the caches, or if a plateau before it already is the last cache. Where
/// nothing is reported, plateaus are counted.
pub(crate) fn name_plateaus(plateaus: &[Plateau], topology: &Topology, largest: u64) -> SweptLevels {
    let reported = &topology.caches;
    let mut found = SweptLevels::default();
    let (caches, memory) = split_memory(plateaus, reported, largest);
    for plateau in caches {
        let holds = |c: &&CacheInfo| c.bytes as f64 * STEP >= plateau.to_bytes as f64;
        let next = found.caches.last().map_or(1, |c| c.level + 1);
        let level = match reported.iter().find(holds) {
            Some(cache) => cache.level,
            None if reported.is_empty() => next,
            None => {
                let size = mebibytes(plateau.to_bytes);
                found.notes.push(format!("arrays of {size} MiB are read faster than larger ones, but no cache that large is reported; it is not counted as a level"));
                continue;
            }
        };
        if level < next {
            let (from, to) = (mebibytes(plateau.from_bytes), mebibytes(plateau.to_bytes));
            found.notes.push(format!(
                "L{level}: the bandwidth falls once more for arrays from {from} to {to} MiB, to {:.0} GB/s read by one core, though the system says that L{level} is larger; its capacity here is where it first falls",
                plateau.gb_per_s
            ));
            continue;
        }
        found.caches.push(SweptCache { level, plateau: *plateau });
    }
    for cache in reported.iter().filter(|c| found.caches.iter().all(|f| f.level != c.level)) {
        let (level, size) = (cache.level, cache.bytes as f64 / 1024.0);
        found.notes.push(format!("L{level}: the system reports {size:.0} KiB, but the size sweep cannot tell it from its neighbours"));
    }
    if reported.is_empty() && found.caches.is_empty() {
        found.notes.push("caches: the size sweep shows no plateau that could be one".into());
    }
    let last = reported.iter().map(|c| c.level).chain(found.caches.iter().map(|c| c.level)).max();
    found.memory_level = last.unwrap_or(0) + 1;
    found.beyond_caches = memory.map(|m| m.from_bytes).or_else(|| caches.last().map(|c| c.to_bytes));
    if memory.is_none() {
        found.notes.push("DRAM: the size sweep does not show where caches end; bandwidths of main memory may contain some of theirs".into());
    }
    found
}

fn split_memory<'a>(
    plateaus: &'a [Plateau],
    reported: &[CacheInfo],
    largest: u64,
) -> (&'a [Plateau], Option<&'a Plateau>) {
    let Some((last, before)) = plateaus.split_last() else { return (plateaus, None) };
    let reaches_end = last.to_bytes as f64 * STEP >= largest as f64;
    let beyond = match reported {
        [] => !before.is_empty(),
        // A plateau that only the last cache can hold is the last cache.
        [.., second, cache] => {
            let is_last = |p: &Plateau| p.to_bytes as f64 > STEP * second.bytes as f64;
            largest >= 2 * cache.bytes || before.iter().any(is_last)
        }
        [cache] => largest >= 2 * cache.bytes || !before.is_empty(),
    };
    if reaches_end && beyond { (before, Some(last)) } else { (plateaus, None) }
}

fn mebibytes(bytes: u64) -> String {
    let value = bytes as f64 / f64::from(1 << 20);
    if value >= 10.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Sources;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    fn machine(caches: &[(u32, u64)]) -> Topology {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let sources =
            Sources { root: folder.path().into(), allowed_cpus: Some(vec![0]), ask_processor: false };
        let (mut topology, _) = Topology::read(&sources);
        let cache = |&(level, bytes): &(u32, u64)| CacheInfo {
            level,
            bytes,
            line_bytes: Some(64),
            ways: Some(8),
            shared_by: 1,
        };
        topology.caches = caches.iter().map(cache).collect();
        topology
    }

    fn plateau(from_bytes: u64, to_bytes: u64, gb_per_s: f64) -> Plateau {
        Plateau { from_bytes, to_bytes, gb_per_s }
    }

    fn found(levels: &SweptLevels) -> Vec<(u32, u64)> {
        levels.caches.iter().map(|c| (c.level, c.plateau.to_bytes)).collect()
    }

    #[test]
    fn plateaus_get_the_names_of_the_caches_that_hold_them() {
        let plateaus = [
            plateau(4 * KIB, 45 * KIB, 340.0),
            plateau(54 * KIB, MIB, 190.0),
            plateau(6 * MIB, 27 * MIB, 25.0),
            plateau(32 * MIB, 128 * MIB, 17.0),
            plateau(150 * MIB, 1024 * MIB, 12.0),
        ];
        let topology = machine(&[(1, 48 * KIB), (2, 2 * MIB), (3, 480 * MIB)]);
        let levels = name_plateaus(&plateaus, &topology, 1024 * MIB);
        assert_eq!(found(&levels), [(1, 45 * KIB), (2, MIB), (3, 27 * MIB)]);
        assert_eq!((levels.memory_level, levels.beyond_caches), (4, Some(150 * MIB)));
        assert_eq!(levels.notes.len(), 1, "the second fall within L3 is told: {:?}", levels.notes);
    }

    #[test]
    fn two_cache_levels() {
        let plateaus = [
            plateau(4 * KIB, 32 * KIB, 50.0),
            plateau(64 * KIB, 512 * KIB, 20.0),
            plateau(MIB, 256 * MIB, 5.0),
        ];
        let levels = name_plateaus(&plateaus, &machine(&[(1, 32 * KIB), (2, 512 * KIB)]), 256 * MIB);
        assert_eq!(found(&levels), [(1, 32 * KIB), (2, 512 * KIB)]);
        assert_eq!((levels.memory_level, levels.notes.len()), (3, 0));
    }

    #[test]
    fn a_level_that_does_not_show_is_noted_and_not_invented() {
        let plateaus = [plateau(4 * KIB, 32 * KIB, 50.0), plateau(MIB, 256 * MIB, 5.0)];
        let topology = machine(&[(1, 32 * KIB), (2, 256 * KIB), (3, 4 * MIB)]);
        let levels = name_plateaus(&plateaus, &topology, 256 * MIB);
        assert_eq!(found(&levels), [(1, 32 * KIB)]);
        assert!(
            levels.notes.iter().any(|n| n.starts_with("L2:"))
                && levels.notes.iter().any(|n| n.starts_with("L3:"))
        );
        assert_eq!(levels.memory_level, 4);
    }

    #[test]
    fn a_sweep_that_ends_within_the_last_cache_shows_no_memory() {
        let plateaus = [plateau(4 * KIB, 32 * KIB, 50.0), plateau(MIB, 64 * MIB, 15.0)];
        let topology = machine(&[(1, 32 * KIB), (2, 512 * KIB), (3, 256 * MIB)]);
        let levels = name_plateaus(&plateaus, &topology, 64 * MIB);
        assert_eq!(found(&levels), [(1, 32 * KIB), (3, 64 * MIB)]);
        assert!(levels.notes.iter().any(|n| n.starts_with("DRAM:")), "{:?}", levels.notes);
    }

    #[test]
    fn without_reported_caches_plateaus_are_counted() {
        let plateaus = [
            plateau(4 * KIB, 32 * KIB, 50.0),
            plateau(64 * KIB, 512 * KIB, 20.0),
            plateau(MIB, 256 * MIB, 5.0),
        ];
        let levels = name_plateaus(&plateaus, &machine(&[]), 256 * MIB);
        assert_eq!(found(&levels), [(1, 32 * KIB), (2, 512 * KIB)]);
        let levels = name_plateaus(&[], &machine(&[]), 256 * MIB);
        assert!(levels.caches.is_empty() && levels.memory_level == 1 && !levels.notes.is_empty());
    }
}
