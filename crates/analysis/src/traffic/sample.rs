//! The lines that are followed, and what their counts say of all lines.

use super::CacheGeometry;
use oxeye_random::SplitMix64;

/// Lines are distinguished by their number modulo this.
pub(super) const N_RESIDUES: usize = 64;

/// The residues of the lines that are followed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LineSample {
    chosen: [bool; N_RESIDUES],
    /// Distance from a residue upwards, and downwards, to the next chosen one.
    up: [u8; N_RESIDUES],
    down: [u8; N_RESIDUES],
    n_chosen: usize,
}

impl LineSample {
    pub(super) fn all() -> Self {
        Self { chosen: [true; N_RESIDUES], up: [0; N_RESIDUES], down: [0; N_RESIDUES], n_chosen: N_RESIDUES }
    }

    /// `n` residues, where `n` is rounded up to a power of two, one from each of `n` equal shares.
    pub(super) fn random(n: usize, seed: u64) -> Self {
        let n = n.clamp(1, N_RESIDUES).next_power_of_two();
        let share = N_RESIDUES / n;
        let mut random = SplitMix64::new(seed);
        let mut chosen = [false; N_RESIDUES];
        for idx in 0..n {
            chosen[idx * share + random.remainder(share as u64) as usize] = true;
        }
        let distance = |from: usize, step: usize| {
            (0..N_RESIDUES).find(|k| chosen[(from + k * step) % N_RESIDUES]).unwrap_or(0) as u8
        };
        let up = std::array::from_fn(|from| distance(from, 1));
        let down = std::array::from_fn(|from| distance(from, N_RESIDUES - 1));
        Self { chosen, up, down, n_chosen: n }
    }

    /// The caches, with numbers of sets such that lines of different residues never share a set; `None` where that
    /// would change a cache by more than a sixteenth.
    pub(super) fn fitting(caches: &[CacheGeometry]) -> Option<Vec<CacheGeometry>> {
        let fit = |cache: &CacheGeometry| {
            let n_sets = cache.n_sets();
            let rest = n_sets % N_RESIDUES as u64;
            let bytes =
                cache.bytes - rest.checked_mul(u64::from(cache.ways))?.checked_mul(cache.line_bytes)?;
            (16 * rest <= n_sets && rest < n_sets).then(|| CacheGeometry { bytes, ..cache.clone() })
        };
        caches.iter().map(fit).collect()
    }

    pub(super) fn is_all(&self) -> bool {
        self.n_chosen == N_RESIDUES
    }

    pub(super) fn has(&self, line: u64) -> bool {
        self.chosen[residue(line)]
    }

    /// The first followed line from `line` on, upwards or downwards.
    pub(super) fn next(&self, line: u64, upwards: bool) -> u64 {
        if upwards {
            line.wrapping_add(u64::from(self.up[residue(line)]))
        } else {
            line.wrapping_sub(u64::from(self.down[residue(line)]))
        }
    }

    /// The fraction of lines followed.
    pub(super) fn fraction(&self) -> f64 {
        self.n_chosen as f64 / N_RESIDUES as f64
    }
}

fn residue(line: u64) -> usize {
    (line % N_RESIDUES as u64) as usize
}

/// Lines filled and written back, by nest, part of the windows, level, and residue.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    n_levels: usize,
    sample: LineSample,
    /// The current cell.
    cell: usize,
    fills: Vec<[f64; N_RESIDUES]>,
    write_backs: Vec<f64>,
}

/// Most windows of a loop.
pub(super) const MAX_WINDOWS: usize = 8;
/// The windows, and one part for what is in none.
const N_PARTS: usize = 1 + MAX_WINDOWS;

impl Tally {
    pub(super) fn new(n_nests: usize, n_levels: usize, sample: LineSample) -> Self {
        let n_cells = n_nests.max(1) * N_PARTS * n_levels;
        Self {
            n_levels,
            sample,
            cell: 0,
            fills: vec![[0.0; N_RESIDUES]; n_cells],
            write_backs: vec![0.0; n_cells],
        }
    }

    /// From now on counts for this nest and part.
    pub(super) fn select(&mut self, nest: usize, part: usize) {
        self.cell = (nest * N_PARTS + part.min(N_PARTS - 1)) * self.n_levels;
    }

    pub(super) fn filled(&mut self, level: usize, line: u64, weight: f64) {
        self.fills[self.cell + level][residue(line)] += weight;
    }

    pub(super) fn written_back(&mut self, level: usize, weight: f64) {
        self.write_backs[self.cell + level] += weight;
    }

    fn cells(&self, nest: usize, level: usize) -> [usize; N_PARTS] {
        std::array::from_fn(|part| (nest * N_PARTS + part) * self.n_levels + level)
    }

    /// Lines brought into a level by a nest, scaled to all lines.
    pub(super) fn fills(&self, nest: usize, level: usize) -> f64 {
        let sum: f64 = self.cells(nest, level).iter().flat_map(|cell| &self.fills[*cell]).sum();
        sum / self.sample.fraction()
    }

    /// Lines written beyond a level by a nest, scaled to all lines.
    pub(super) fn write_backs(&self, nest: usize, level: usize) -> f64 {
        let sum: f64 = self.cells(nest, level).iter().map(|cell| self.write_backs[*cell]).sum();
        sum / self.sample.fraction()
    }

    /// About two standard errors of the lines that the nests brought into a level, relative to them.
    pub(super) fn relative_error(&self, n_nests: usize, level: usize) -> f64 {
        let total: f64 =
            (0..n_nests).flat_map(|nest| self.cells(nest, level)).flat_map(|cell| &self.fills[cell]).sum();
        if total == 0.0 {
            return 0.0;
        }
        let variance = self.variance_of_residues(n_nests, level) + self.variance_of_windows(n_nests, level);
        2.0 * variance.sqrt() / total
    }

    /// Variance of the sum over the residues followed, estimated from their differences.
    fn variance_of_residues(&self, n_nests: usize, level: usize) -> f64 {
        if self.sample.is_all() {
            return 0.0;
        }
        let of_residue = |residue: usize| -> f64 {
            let cells = (0..n_nests).flat_map(|nest| self.cells(nest, level));
            cells.map(|cell| self.fills[cell][residue]).sum()
        };
        let followed = (0..N_RESIDUES).filter(|&residue| self.sample.chosen[residue]);
        let counts: Vec<f64> = followed.map(of_residue).collect();
        let n = counts.len() as f64;
        let mean = counts.iter().sum::<f64>() / n;
        let squares: f64 = counts.iter().map(|count| (count - mean).powi(2)).sum();
        n * squares / (n - 1.0).max(1.0) * (1.0 - self.sample.fraction())
    }

    /// Variance of the sum over the windows of each nest, estimated from the difference between a window and the mean
    /// of its two neighbours; if there are only two windows, from their difference.
    fn variance_of_windows(&self, n_nests: usize, level: usize) -> f64 {
        let of_nest = |nest: usize| {
            let counts = self.cells(nest, level).map(|cell| self.fills[cell].iter().sum::<f64>());
            let windows = &counts[1..];
            let n = windows.iter().rposition(|count| *count != 0.0).map_or(0, |last| last + 1);
            match n {
                0 => 0.0,
                1 | 2 => (windows[0] - windows[1]).powi(2),
                _ => {
                    let unexpected = |w: &[f64]| (w[0] - 2.0 * w[1] + w[2]).powi(2) / 6.0;
                    let squares: f64 = windows[..n].windows(3).map(unexpected).sum();
                    squares * n as f64 / (n - 2) as f64
                }
            }
        };
        (0..n_nests).map(of_nest).sum()
    }
}
