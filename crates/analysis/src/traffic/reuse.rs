//! Reuse distances: the number of distinct lines touched between two uses of a line.

use std::collections::HashMap;

use super::plan::Plan;
use super::sample::LineSample;
use super::stream::{Sink, Touch};
use super::walk::{Walk, cost};
use super::{NoTraffic, TrafficOptions};
use oxeye_ir::{ArrayId, Nest, Program, SymId};

/// The reuse distances of a nest's accesses to memory, by array.
///
/// The distance of an access is the number of *other* distinct lines touched since the last touch of its line (the
/// stack distance of Mattson et al., 1970). In a fully associative cache of `c` lines with least-recently-used
/// replacement, the misses are exactly the accesses with a distance of at least `c` and the first access to each line.
#[derive(Clone, Debug, PartialEq)]
pub struct ReuseDistances {
    /// One histogram per array that is touched, by array.
    pub arrays: Vec<ReuseHistogram>,
    /// Bytes per line.
    pub line_bytes: u64,
    /// Whether every access was known and run; otherwise lines were sampled (as in SHARDS, Waldspurger et al., 2015),
    /// loops ran in windows, or indices were drawn at random.
    pub exact: bool,
}

/// The accesses to one array by reuse distance.
#[derive(Clone, Debug, PartialEq)]
pub struct ReuseHistogram {
    /// The array.
    pub array: ArrayId,
    /// First accesses to a line.
    pub cold: f64,
    /// Accesses by bin: the distance is at least [`ReuseHistogram::distance`] of the bin and below that of the next.
    pub bins: Vec<f64>,
}

/// Distances below this have a bin each; above, each octave has [`PER_OCTAVE`] bins.
const FINE: u64 = 16;
const PER_OCTAVE: u64 = 4;

impl ReuseHistogram {
    /// The least distance, in lines, of the accesses in bin `bin`.
    pub fn distance(bin: usize) -> u64 {
        let bin = bin as u64;
        if bin < FINE {
            return bin;
        }
        let (octave, part) = ((bin - FINE) / PER_OCTAVE, (bin - FINE) % PER_OCTAVE);
        FINE.checked_shl(octave as u32).map_or(u64::MAX, |base| base.saturating_add(base / PER_OCTAVE * part))
    }

    /// Misses in a fully associative cache of `lines` lines. Exact where `lines` is the distance of a bin; in between,
    /// the accesses of a bin are taken to be spread evenly.
    pub fn misses(&self, lines: u64) -> f64 {
        let far = |(bin, count): (usize, &f64)| {
            let (from, to) = (Self::distance(bin) as f64, Self::distance(bin + 1) as f64);
            count * ((to - (lines as f64).max(from)) / (to - from)).clamp(0.0, 1.0)
        };
        self.cold + self.bins.iter().enumerate().map(far).sum::<f64>()
    }

    /// The number of accesses.
    pub fn accesses(&self) -> f64 {
        self.cold + self.bins.iter().sum::<f64>()
    }

    fn count(&mut self, distance: u64, weight: f64) {
        let bin = bin_of(distance);
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, 0.0);
        }
        self.bins[bin] += weight;
    }
}

fn bin_of(distance: u64) -> usize {
    if distance < FINE {
        return distance as usize;
    }
    let octave = u64::from((distance / FINE).ilog2());
    let part = (distance >> octave) % FINE / (FINE / PER_OCTAVE);
    (FINE + octave * PER_OCTAVE + part) as usize
}

/// The reuse distances of `nest` with lines of `line_bytes` (a power of two) under values of the symbols.
/// [`TrafficOptions::max_accesses`] limits the work as for [`super::traffic`]; `cold` has no meaning here.
///
/// # Errors
/// As [`super::traffic`].
pub fn reuse_distances(
    program: &Program,
    nest: &Nest,
    value_of: &dyn Fn(SymId) -> Option<i64>,
    line_bytes: u64,
    options: TrafficOptions,
) -> Result<ReuseDistances, NoTraffic> {
    if !line_bytes.is_power_of_two() {
        return Err(NoTraffic(format!("lines have {line_bytes} bytes, which is not a power of two")));
    }
    let plan = Plan::of_nest(program, nest, value_of)?;
    let budget = options.max_accesses as f64;
    let mut sample = LineSample::all();
    if cost(&plan, &sample, line_bytes).accesses > budget {
        sample = LineSample::random(4, options.seed);
    }
    let recorder = Recorder::new(&plan, sample.fraction());
    let walked = Walk::new(&plan, &sample, line_bytes, options.seed, recorder).run(budget);
    let exact = sample.is_all() && !walked.has_windows && plan.notes.is_empty();
    let mut arrays = walked.sink.histograms;
    arrays.retain(|histogram| histogram.accesses() > 0.0);
    arrays.sort_by_key(|histogram| histogram.array);
    Ok(ReuseDistances { arrays, line_bytes, exact })
}

/// Counts distances with a tree over the times of last uses (Olken, 1981).
struct Recorder {
    histograms: Vec<ReuseHistogram>,
    /// The time of each line's last use.
    last_use: HashMap<u64, usize>,
    /// Lines by the time of their last use, from time 1.
    order: Vec<Option<u64>>,
    /// Fenwick tree: the number of lines last used in a range of times.
    tree: Vec<u32>,
    weight: f64,
    /// The number of lines that one followed line stands for.
    scale: f64,
}

impl Recorder {
    fn new(plan: &Plan, fraction: f64) -> Self {
        let histogram =
            |&(_, array): &(usize, ArrayId)| ReuseHistogram { array, cold: 0.0, bins: Vec::new() };
        Self {
            histograms: plan.arrays.iter().map(histogram).collect(),
            last_use: HashMap::new(),
            order: vec![None],
            tree: vec![0; 1 << 12],
            weight: 1.0,
            scale: 1.0 / fraction,
        }
    }

    fn touch(&mut self, touch: Touch, times: f64) {
        if self.order.len() == self.tree.len() {
            self.compact();
        }
        let now = self.order.len();
        let before = self.last_use.insert(touch.line, now);
        let counted = self.weight * self.scale * times;
        match before {
            None => self.histograms[touch.array].cold += counted,
            Some(then) => {
                let distance = self.last_use.len() as u64 - self.up_to(then);
                let scaled = (distance as f64 * self.scale).round() as u64;
                self.histograms[touch.array].count(scaled, counted);
                self.order[then] = None;
                self.add(then, false);
            }
        }
        self.order.push(Some(touch.line));
        self.add(now, true);
    }

    /// Number of lines last used at `time` or earlier.
    fn up_to(&self, mut time: usize) -> u64 {
        let mut sum = 0;
        while time > 0 {
            sum += u64::from(self.tree[time]);
            time &= time - 1;
        }
        sum
    }

    fn add(&mut self, mut time: usize, is_used: bool) {
        while time < self.tree.len() {
            self.tree[time] = if is_used { self.tree[time] + 1 } else { self.tree[time] - 1 };
            time += time & time.wrapping_neg();
        }
    }

    /// Renumbers the times, leaving out unused ones.
    fn compact(&mut self) {
        self.order.retain(Option::is_some);
        self.order.insert(0, None);
        let size = (2 * self.order.len()).max(self.tree.len());
        self.tree.clear();
        self.tree.resize(size, 0);
        for time in 1..self.order.len() {
            if let Some(line) = self.order[time] {
                self.last_use.insert(line, time);
            }
            self.add(time, true);
        }
    }
}

impl Sink for Recorder {
    fn repeat(&mut self, touches: &[Touch], times: u64) {
        // From the second repetition on, all distances are the same.
        let rest = times.saturating_sub(1) as f64;
        for &touch in touches {
            self.touch(touch, 1.0);
        }
        if rest > 0.0 {
            for &touch in touches {
                self.touch(touch, rest);
            }
        }
    }

    fn set_weight(&mut self, weight: f64) {
        self.weight = weight;
    }

    fn set_cell(&mut self, _nest: usize, _part: usize) {}
}
