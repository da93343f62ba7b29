//! Which lines are followed, and what their counts say of all lines.

use super::CacheGeometry;

/// Lines are told apart by their number modulo this.
pub(super) const N_RESIDUES: usize = 64;

/// The residues of lines that are followed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LineSample {
    chosen: [bool; N_RESIDUES],
    /// Lines from a residue upwards, and downwards, to the next chosen one.
    up: [u8; N_RESIDUES],
    down: [u8; N_RESIDUES],
    n_chosen: usize,
}

impl LineSample {
    pub(super) fn all() -> Self {
        Self { chosen: [true; N_RESIDUES], up: [0; N_RESIDUES], down: [0; N_RESIDUES], n_chosen: N_RESIDUES }
    }

    /// `n` residues, a power of two of them, one from each of `n` equal shares.
    pub(super) fn random(n: usize, seed: u64) -> Self {
        let n = n.clamp(1, N_RESIDUES).next_power_of_two();
        let share = N_RESIDUES / n;
        let mut state = seed;
        let mut chosen = [false; N_RESIDUES];
        for idx in 0..n {
            chosen[idx * share + (noise(&mut state) % share as u64) as usize] = true;
        }
        let distance = |from: usize, step: usize| {
            (0..N_RESIDUES).find(|k| chosen[(from + k * step) % N_RESIDUES]).unwrap_or(0) as u8
        };
        let up = std::array::from_fn(|from| distance(from, 1));
        let down = std::array::from_fn(|from| distance(from, N_RESIDUES - 1));
        Self { chosen, up, down, n_chosen: n }
    }

    /// Whether lines of one residue share no set with others at any level.
    pub(super) fn fits(caches: &[CacheGeometry]) -> bool {
        caches.iter().all(|cache| cache.n_sets().is_multiple_of(N_RESIDUES as u64))
    }

    pub(super) fn is_all(&self) -> bool {
        self.n_chosen == N_RESIDUES
    }

    pub(super) fn has(&self, line: u64) -> bool {
        self.chosen[residue(line)]
    }

    /// The first line followed, from `line` on, upwards or downwards.
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

/// Deterministic noise: `splitmix64`.
pub(super) fn noise(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Lines filled and written back, by nest, part of the windows, level, and residue.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    n_levels: usize,
    sample: LineSample,
    /// The cell that is counted into.
    cell: usize,
    fills: Vec<[f64; N_RESIDUES]>,
    write_backs: Vec<f64>,
}

/// What is in no window, and the two halves of what is.
const N_PARTS: usize = 3;

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

    /// Counts for this nest and part of a window from now on.
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

    /// About two standard errors of the lines that the nests brought into a level, relative to them: from the spread
    /// between residues, and from the difference between the halves of windows.
    pub(super) fn relative_error(
        &self,
        nests: std::ops::Range<usize>,
        level: usize,
        has_windows: bool,
    ) -> f64 {
        let mut per_residue = [0.0; N_RESIDUES];
        let mut per_part = [0.0; N_PARTS];
        for nest in nests {
            for (part, cell) in self.cells(nest, level).into_iter().enumerate() {
                for (sum, count) in per_residue.iter_mut().zip(&self.fills[cell]) {
                    *sum += count;
                    per_part[part] += count;
                }
            }
        }
        let total: f64 = per_part.iter().sum();
        if total == 0.0 {
            return 0.0;
        }
        let n = self.sample.n_chosen as f64;
        let mut variance = 0.0;
        if !self.sample.is_all() {
            let mean = total / n;
            let squares: f64 = (0..N_RESIDUES)
                .filter(|&residue| self.sample.chosen[residue])
                .map(|residue| (per_residue[residue] - mean).powi(2))
                .sum();
            // A single residue says nothing of the spread; it stands for its own size.
            let of_one = if n > 1.0 { squares / (n - 1.0) } else { mean * mean };
            variance += of_one / n * (1.0 - self.sample.fraction()) / (mean * mean);
        }
        if has_windows {
            variance += ((per_part[1] - per_part[2]) / total).powi(2);
        }
        2.0 * variance.sqrt()
    }
}
