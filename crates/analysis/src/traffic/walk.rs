//! Runs a plan: its loops in full, or windows of them where that is too expensive.

use oxeye_random::SplitMix64;
use std::ops::Range;

use super::form::extreme;
use super::plan::{Op, Plan, PlanLoop, PlanTouch};
use super::sample::{LineSample, MAX_WINDOWS};
use super::stream::{Sink, Stream, Strides, Touch, run_streams};

/// The state of a run.
pub(super) struct Walk<'a, S> {
    plan: &'a Plan,
    sample: &'a LineSample,
    /// Binary logarithm of the bytes per line.
    shift: u32,
    sink: S,
    iterators: Vec<i64>,
    /// First address of each array; swaps exchange them.
    bases: Vec<i64>,
    /// Accesses per nest.
    accesses: Vec<f64>,
    nest: usize,
    weight: f64,
    /// The current window, as in [`Sink::set_cell`].
    part: usize,
    has_windows: bool,
    has_partial_windows: bool,
    random: SplitMix64,
    streams: Vec<Stream>,
    strides: Strides<'a>,
    touches: Vec<Touch>,
}

/// The result of a run.
pub(super) struct Walked<S> {
    pub(super) sink: S,
    /// Accesses per nest.
    pub(super) accesses: Vec<f64>,
    pub(super) has_windows: bool,
    /// Whether iterations of windows themselves ran in windows.
    pub(super) has_partial_windows: bool,
}

impl<'a, S: Sink> Walk<'a, S> {
    pub(super) fn new(plan: &'a Plan, sample: &'a LineSample, line_bytes: u64, seed: u64, sink: S) -> Self {
        Self {
            plan,
            sample,
            shift: line_bytes.trailing_zeros(),
            sink,
            iterators: vec![0; plan.n_slots],
            bases: plan.bases.clone(),
            accesses: vec![0.0; plan.nests.len()],
            nest: 0,
            weight: 1.0,
            part: 0,
            has_windows: false,
            has_partial_windows: false,
            random: SplitMix64::new(seed),
            streams: Vec::new(),
            strides: Strides::new(sample, line_bytes.trailing_zeros()),
            touches: Vec::new(),
        }
    }

    /// Runs the plan at about this cost, without counting anything.
    pub(super) fn warm(&mut self, budget: f64) {
        self.set_weight(0.0);
        self.ops(&self.plan.body, budget);
        self.set_weight(1.0);
        self.bases.clone_from(&self.plan.bases);
    }

    /// Runs the plan at about this cost.
    pub(super) fn run(mut self, budget: f64) -> Walked<S> {
        self.ops(&self.plan.body, budget);
        let Self { sink, accesses, has_windows, has_partial_windows, .. } = self;
        Walked { sink, accesses, has_windows, has_partial_windows }
    }

    fn set_weight(&mut self, weight: f64) {
        self.weight = weight;
        self.sink.set_weight(weight);
    }

    fn set_part(&mut self, part: usize) {
        self.part = part;
        self.sink.set_cell(self.nest, part);
    }

    fn cost(&mut self, ops: &[Op]) -> Cost {
        let mut estimate =
            Estimate { sample: self.sample, shift: self.shift, iterators: &mut self.iterators };
        estimate.ops(ops)
    }

    fn ops(&mut self, ops: &'a [Op], budget: f64) {
        let total = if budget.is_finite() && ops.len() > 1 { self.cost(ops).steps } else { 0.0 };
        for op in ops {
            let budget = if total <= budget && total > 0.0 {
                f64::INFINITY
            } else if total > 0.0 {
                budget * self.cost(std::slice::from_ref(op)).steps / total
            } else {
                budget
            };
            self.op(op, budget);
        }
    }

    fn op(&mut self, op: &'a Op, budget: f64) {
        match op {
            Op::Loop(l) => self.for_loop(l, budget),
            Op::Touch(touch) => self.touch(touch),
            Op::Guard(guard) => {
                let value = guard.condition.value(&self.iterators);
                if value != Some(0) {
                    self.ops(&guard.then, budget);
                }
                if value.is_none_or(|value| value == 0) {
                    self.ops(&guard.otherwise, budget);
                }
            }
            Op::Nest(nest, body) => {
                self.nest = *nest;
                self.sink.set_cell(self.nest, self.part);
                self.ops(body, budget);
            }
            Op::Swap(a, b) => self.bases.swap(*a, *b),
        }
    }

    fn for_loop(&mut self, l: &'a PlanLoop, budget: f64) {
        let Some((first, n)) = range(l, &self.iterators) else { return };
        if budget.is_finite() {
            let mut estimate =
                Estimate { sample: self.sample, shift: self.shift, iterators: &mut self.iterators };
            let cost = estimate.for_loop(l).steps;
            if cost > budget {
                return self.windows(l, first, n, budget, cost);
            }
        }
        self.iterations(l, first, 0..n, f64::INFINITY);
    }

    fn iterations(&mut self, l: &'a PlanLoop, first: i64, which: Range<u64>, budget: f64) {
        if which.is_empty() {
            return;
        }
        if l.is_innermost {
            return self.innermost(l, first.wrapping_add((which.start as i64).wrapping_mul(l.step)), which);
        }
        for k in which {
            self.iterators[l.slot] = first.wrapping_add((k as i64).wrapping_mul(l.step));
            self.ops(&l.body, budget);
        }
    }

    /// Runs the first iterations, which may meet empty caches. Then splits the rest into equal shares and runs as many
    /// iterations in the middle of each, after the ones before them have warmed the caches.
    fn windows(&mut self, l: &'a PlanLoop, first: i64, n: u64, budget: f64, cost: f64) {
        let affordable = (budget * n as f64 / cost) as u64;
        let n_shares = (affordable / 4).clamp(2, MAX_WINDOWS as u64);
        let length = match affordable / (2 * n_shares + 1) {
            0 => 1,
            length if length > LINE => length - length % LINE,
            length => length,
        };
        let inner = if affordable < MIN_ITERATIONS { budget / 5.0 } else { f64::INFINITY };
        if n <= length * (2 * n_shares + 1) {
            return self.iterations(l, first, 0..n, budget / n as f64);
        }
        self.has_windows = true;
        self.has_partial_windows |= inner.is_finite();
        let (weight, is_outermost) = (self.weight, self.part == 0);
        self.iterations(l, first, 0..length, inner);
        let mut done = length;
        for share in 0..n_shares {
            let at = |share: u64| {
                length + (u128::from(n - length) * u128::from(share) / u128::from(n_shares)) as u64
            };
            let (begin, end) = (at(share), at(share + 1));
            let start = self.window_start(begin..end, length, share, n_shares);
            let warm = start.saturating_sub(length).max(done);
            self.skip(&l.body, warm - done);
            self.set_weight(0.0);
            self.iterations(l, first, warm..start, inner);
            self.set_weight(weight * (end - begin) as f64 / length as f64);
            if is_outermost {
                self.set_part(1 + share as usize);
            }
            self.iterations(l, first, start..start + length, inner);
            if is_outermost {
                self.set_part(0);
            }
            self.set_weight(weight);
            done = start + length;
        }
        self.skip(&l.body, n - done);
    }

    /// The start of a share's window: its middle, moved by less than a line so that the windows of all shares together
    /// cover all positions in a line evenly.
    fn window_start(&mut self, range: Range<u64>, length: u64, share: u64, n_shares: u64) -> u64 {
        let middle = range.start + (range.end - range.start - length) / 2;
        if length >= LINE || range.end - range.start < 4 * LINE {
            return middle;
        }
        let spacing = LINE / n_shares;
        let phase = share * spacing + self.random.remainder(spacing);
        middle - middle % LINE + phase
    }

    /// Applies the swaps of `n` iterations that do not run.
    fn skip(&mut self, body: &[Op], n: u64) {
        if body.iter().any(|op| matches!(op, Op::Swap(..))) {
            for _ in 0..n {
                for op in body {
                    if let Op::Swap(a, b) = op {
                        self.bases.swap(*a, *b);
                    }
                }
            }
        }
    }

    fn innermost(&mut self, l: &'a PlanLoop, first: i64, which: Range<u64>) {
        let n = which.end - which.start;
        self.iterators[l.slot] = first;
        self.hoisted(&l.body, false);
        let mut streams = std::mem::take(&mut self.streams);
        streams.clear();
        if self.collect(&l.body, l, &mut streams) {
            self.count(streams.len() as f64 * n as f64);
            let mut touches = std::mem::take(&mut self.touches);
            run_streams(&mut streams, n, &mut self.strides, &mut touches, &mut self.sink);
            self.touches = touches;
        } else {
            for k in 0..n {
                self.iterators[l.slot] = first.wrapping_add((k as i64).wrapping_mul(l.step));
                self.unhoisted(&l.body);
            }
        }
        self.streams = streams;
        self.iterators[l.slot] = first;
        self.hoisted(&l.body, true);
    }

    /// Collects the accesses that move with the loop as streams from its first iteration; returns whether all are
    /// streams.
    fn collect(&self, ops: &[Op], l: &PlanLoop, streams: &mut Vec<Stream>) -> bool {
        ops.iter().all(|op| match op {
            Op::Touch(touch) if touch.is_hoisted => true,
            Op::Touch(touch) => {
                let Some(address) = self.fixed_address(touch, l.slot) else { return false };
                let stride = touch.linear.coefficient(l.slot).wrapping_mul(l.step);
                streams.push(Stream::new(address, stride, touch.array, touch.is_write));
                true
            }
            Op::Guard(guard) if !guard.condition.uses(l.slot) => {
                let value = guard.condition.value(&self.iterators);
                (value == Some(0) || self.collect(&guard.then, l, streams))
                    && (value.is_some_and(|value| value != 0) || self.collect(&guard.otherwise, l, streams))
            }
            _ => false,
        })
    }

    /// The address of an access now, if `slot` moves it by a constant stride.
    fn fixed_address(&self, touch: &PlanTouch, slot: usize) -> Option<i64> {
        let linear = self.bases[touch.array].wrapping_add(touch.linear.value(&self.iterators));
        touch.others.iter().try_fold(linear, |address, index| {
            let value = if index.formula.uses(slot) { None } else { index.formula.value(&self.iterators) };
            Some(address.wrapping_add(value?.wrapping_mul(index.stride_bytes)))
        })
    }

    /// Touches what stays in registers while the loop runs: everything before it, the written ones after it.
    fn hoisted(&mut self, ops: &'a [Op], writes_only: bool) {
        for op in ops {
            match op {
                Op::Touch(touch) if touch.is_hoisted && (touch.is_write || !writes_only) => self.touch(touch),
                Op::Guard(guard) => {
                    let value = guard.condition.value(&self.iterators);
                    if value != Some(0) {
                        self.hoisted(&guard.then, writes_only);
                    }
                    if value.is_none_or(|value| value == 0) {
                        self.hoisted(&guard.otherwise, writes_only);
                    }
                }
                _ => {}
            }
        }
    }

    fn unhoisted(&mut self, ops: &'a [Op]) {
        for op in ops {
            match op {
                Op::Touch(touch) if !touch.is_hoisted => self.touch(touch),
                Op::Guard(guard) => {
                    let value = guard.condition.value(&self.iterators);
                    if value != Some(0) {
                        self.unhoisted(&guard.then);
                    }
                    if value.is_none_or(|value| value == 0) {
                        self.unhoisted(&guard.otherwise);
                    }
                }
                _ => {}
            }
        }
    }

    fn touch(&mut self, touch: &PlanTouch) {
        let mut address = self.bases[touch.array].wrapping_add(touch.linear.value(&self.iterators));
        for index in &touch.others {
            let value = index
                .formula
                .value(&self.iterators)
                .unwrap_or_else(|| self.random.remainder(index.extent.unsigned_abs().max(1)) as i64);
            address = address.wrapping_add(value.wrapping_mul(index.stride_bytes));
        }
        self.count(1.0);
        let line = (address as u64) >> self.shift;
        if self.sample.has(line) {
            self.sink.repeat(&[Touch { line, array: touch.array, is_write: touch.is_write }], 1);
        }
    }

    fn count(&mut self, n: f64) {
        if let Some(sum) = self.accesses.get_mut(self.nest) {
            *sum += n * self.weight;
        }
    }
}

/// If the budget allows fewer iterations than this, they too run in windows. It is less than the windows need: the
/// caches that a whole iteration leaves are worth more than the budget.
const MIN_ITERATIONS: u64 = 3;
/// Most elements in a line.
const LINE: u64 = 16;

/// The first iterator and the number of iterations; `None` if there are none.
fn range(l: &PlanLoop, iterators: &[i64]) -> Option<(i64, u64)> {
    let lower = extreme(&l.lower, iterators, i64::max)?;
    let upper = extreme(&l.upper, iterators, i64::min)?;
    let size = upper.checked_sub(lower).filter(|size| *size > 0)?;
    let first = if l.step > 0 { lower } else { upper - 1 };
    Some((first, size.unsigned_abs().div_ceil(l.step.unsigned_abs())))
}

/// The cost of running something, in touches of lines, and its accesses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) accesses: f64,
    pub(super) steps: f64,
}

impl Cost {
    fn add(&mut self, other: Cost, factor: f64) {
        self.accesses += other.accesses * factor;
        self.steps += other.steps * factor;
    }
}

/// The cost of a plan.
pub(super) fn cost(plan: &Plan, sample: &LineSample, line_bytes: u64) -> Cost {
    let mut iterators = vec![0; plan.n_slots];
    Estimate { sample, shift: line_bytes.trailing_zeros(), iterators: &mut iterators }.ops(&plan.body)
}

/// Estimates costs by Simpson's rule over the iterators that shape inner loops.
struct Estimate<'a> {
    sample: &'a LineSample,
    shift: u32,
    iterators: &'a mut Vec<i64>,
}

impl Estimate<'_> {
    fn ops(&mut self, ops: &[Op]) -> Cost {
        let mut sum = Cost::default();
        for op in ops {
            match op {
                Op::Loop(l) => sum.add(self.for_loop(l), 1.0),
                Op::Touch(_) => sum.add(Cost { accesses: 1.0, steps: 1.0 }, 1.0),
                Op::Guard(guard) => {
                    let value = guard.condition.value(self.iterators);
                    if value != Some(0) {
                        sum.add(self.ops(&guard.then), 1.0);
                    }
                    if value.is_none_or(|value| value == 0) {
                        sum.add(self.ops(&guard.otherwise), 1.0);
                    }
                }
                Op::Nest(_, body) => sum.add(self.ops(body), 1.0),
                Op::Swap(..) => {}
            }
        }
        sum
    }

    fn for_loop(&mut self, l: &PlanLoop) -> Cost {
        let Some((first, n)) = range(l, self.iterators) else { return Cost::default() };
        let mut sum = Cost { accesses: 0.0, steps: 1.0 };
        if l.is_innermost && !l.shapes_inside {
            self.iterators[l.slot] = first;
            self.streams(&l.body, l, n as f64, &mut sum);
            return sum;
        }
        let points: &[(f64, f64)] = match (l.shapes_inside, n) {
            (false, _) | (_, 1) => &[(0.0, 1.0)],
            _ => &[(0.0, 1.0 / 6.0), (0.5, 4.0 / 6.0), (1.0, 1.0 / 6.0)],
        };
        for (place, share) in points {
            let k = (place * (n - 1) as f64) as i64;
            self.iterators[l.slot] = first.wrapping_add(k.wrapping_mul(l.step));
            let inside = self.ops(&l.body);
            sum.add(inside, share * n as f64);
        }
        sum
    }

    fn streams(&mut self, ops: &[Op], l: &PlanLoop, n: f64, sum: &mut Cost) {
        for op in ops {
            match op {
                Op::Touch(touch) if touch.is_hoisted => {
                    let times = if touch.is_write { 2.0 } else { 1.0 };
                    sum.add(Cost { accesses: times, steps: times }, 1.0);
                }
                Op::Touch(touch) => {
                    let stride = touch.linear.coefficient(l.slot).wrapping_mul(l.step).unsigned_abs() as f64;
                    let lines = (stride / f64::from(1u32 << self.shift)).min(1.0);
                    let is_stream =
                        touch.others.iter().all(|i| i.formula.is_known() && !i.formula.uses(l.slot));
                    let per_iteration = match (is_stream, lines < 1.0) {
                        (true, true) => lines * self.sample.fraction() * TOUCHES_PER_LINE,
                        (true, false) => self.sample.fraction(),
                        (false, _) => 1.0,
                    };
                    sum.add(Cost { accesses: n, steps: 1.0 + n * per_iteration }, 1.0);
                }
                Op::Guard(guard) => {
                    let value = guard.condition.value(self.iterators);
                    if value != Some(0) {
                        self.streams(&guard.then, l, n, sum);
                    }
                    if value.is_none_or(|value| value == 0) {
                        self.streams(&guard.otherwise, l, n, sum);
                    }
                }
                Op::Loop(_) | Op::Nest(..) | Op::Swap(..) => {}
            }
        }
    }
}

/// Average touches per line: streams that reach new lines in different iterations cause the others to be touched again.
const TOUCHES_PER_LINE: f64 = 2.0;
