use super::*;
use oxeye_random::SplitMix64;

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;

/// Four points an octave; each level's bandwidth holds up to its capacity and falls to the next one's over an octave.
fn curve(levels: &[(f64, f64)], last: f64, noise: f64) -> Vec<CurvePoint> {
    let mut random = SplitMix64::new(12345);
    let mut disturbance = || 1.0 - noise * random.unit();
    let point = |k: i32| {
        let bytes = 4.0 * KIB * 2f64.powf(f64::from(k) / 4.0);
        let mut rate = levels.first().map_or(last, |l| l.1);
        for (idx, (capacity, this)) in levels.iter().enumerate() {
            let next = levels.get(idx + 1).map_or(last, |l| l.1);
            let beyond = (bytes / capacity).log2().clamp(0.0, 1.0);
            rate *= (next / this).powf(beyond);
        }
        let rate = rate * disturbance();
        CurvePoint { bytes: bytes as u64, gb_per_s: rate, median_gb_per_s: rate }
    };
    (0..=72).map(point).collect()
}

fn assert_level(plateau: &Plateau, capacity: f64, rate: f64) {
    let ratio = plateau.to_bytes as f64 / capacity;
    assert!((0.7..1.5).contains(&ratio), "capacity {} instead of {capacity}", plateau.to_bytes);
    assert!((plateau.gb_per_s / rate - 1.0).abs() < 0.1, "{} GB/s instead of {rate}", plateau.gb_per_s);
}

#[test]
fn three_caches_and_memory() {
    let levels = [(32.0 * KIB, 300.0), (1.0 * MIB, 100.0), (32.0 * MIB, 30.0)];
    let found = plateaus(&curve(&levels, 10.0, 0.0));
    assert_eq!(found.len(), 4, "{found:?}");
    for (plateau, (capacity, rate)) in found.iter().zip(levels) {
        assert_level(plateau, capacity, rate);
    }
    assert_eq!(found[3].to_bytes, 1 << 30, "memory reaches to the end");
}

#[test]
fn two_caches_and_memory() {
    let levels = [(48.0 * KIB, 200.0), (512.0 * KIB, 60.0)];
    let found = plateaus(&curve(&levels, 8.0, 0.0));
    assert_eq!(found.len(), 3, "{found:?}");
    assert_level(&found[0], 48.0 * KIB, 200.0);
    assert_level(&found[1], 512.0 * KIB, 60.0);
}

#[test]
fn noise_changes_little() {
    let levels = [(32.0 * KIB, 300.0), (2.0 * MIB, 100.0), (64.0 * MIB, 30.0)];
    let mut noisy = curve(&levels, 10.0, 0.06);
    for idx in [5, 20, 21, 40, 60] {
        noisy[idx].gb_per_s *= 0.3;
    }
    let found = plateaus(&noisy);
    assert_eq!(found.len(), 4, "{found:?}");
    for (plateau, (capacity, rate)) in found.iter().zip(levels) {
        assert_level(plateau, capacity, rate);
    }
}

#[test]
fn a_flat_curve_is_one_level() {
    let found = plateaus(&curve(&[], 12.0, 0.05));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].to_bytes, 1 << 30);
}

#[test]
fn a_slope_without_end_has_no_levels_on_it() {
    let slope: Vec<CurvePoint> = (0..60)
        .map(|k| {
            let rate = 300.0 * 0.9f64.powi(k);
            CurvePoint {
                bytes: (4096.0 * 2f64.powf(f64::from(k) / 4.0)) as u64,
                gb_per_s: rate,
                median_gb_per_s: rate,
            }
        })
        .collect();
    assert_eq!(plateaus(&slope), []);
}

#[test]
fn small_arrays_slowed_by_fixed_costs_belong_to_the_first_level() {
    let mut slow_start = curve(&[(32.0 * KIB, 300.0)], 10.0, 0.0);
    slow_start[0].gb_per_s = 150.0;
    slow_start[1].gb_per_s = 200.0;
    let found = plateaus(&slow_start);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0].from_bytes, 4096);
}

#[test]
fn too_few_points_are_no_curve() {
    assert_eq!(plateaus(&[]), []);
    assert_eq!(plateaus(&curve(&[], 12.0, 0.0)[..2]), []);
}
