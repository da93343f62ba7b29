//! Innermost loops as streams of lines.

use super::sample::{LineSample, N_RESIDUES};

/// One use of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    pub(super) line: u64,
    /// Position of the array in the plan.
    pub(super) array: usize,
    pub(super) is_write: bool,
}

/// Receives touches in order.
pub(super) trait Sink {
    /// All touches in order, `times` times over; at least once.
    fn repeat(&mut self, touches: &[Touch], times: u64);
    /// The weight of what follows; not counted if zero.
    fn set_weight(&mut self, weight: f64);
    /// The nest and window that what follows belongs to: window 0 for what is in none, else from 1.
    fn set_cell(&mut self, nest: usize, part: usize);
}

/// An access of an innermost loop: an address that moves by a constant stride.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) address: i64,
    pub(super) stride: i64,
    pub(super) array: usize,
    pub(super) is_write: bool,
    /// Position of its stride in [`Strides`], if there is one.
    table: Option<usize>,
    /// The line it is on, if followed, up to but not including iteration `until`.
    line: Option<u64>,
    until: u64,
}

impl Stream {
    pub(super) fn new(address: i64, stride: i64, array: usize, is_write: bool) -> Self {
        Self { address, stride, array, is_write, table: None, line: None, until: 0 }
    }

    /// Finds the line of the stream from iteration `now` on, which is before `end`.
    fn settle(&mut self, now: u64, end: u64, strides: &Strides<'_>) {
        let (shift, sample) = (strides.shift, strides.sample);
        let address = self.address.wrapping_add(self.stride.wrapping_mul(now as i64));
        let line = (address as u64) >> shift;
        if sample.has(line) {
            self.line = Some(line);
            self.until = now.saturating_add(self.iterations_to_leave(address, line, shift)).min(end);
            return;
        }
        self.line = None;
        self.until = if self.stride == 0 {
            end
        } else if let Some(table) = self.table {
            strides.steps(table, address).map_or(end, |steps| now.saturating_add(steps).min(end))
        } else {
            // The stream visits adjacent lines: the next followed one is known.
            let next = sample.next(line, self.stride > 0);
            let before = if self.stride > 0 { next.wrapping_sub(1) } else { next.wrapping_add(1) };
            now.saturating_add(self.iterations_to_leave(address, before, shift)).min(end)
        };
    }

    /// Iterations from `address` until the stream has left `line`, at or before it in the direction of the stride.
    fn iterations_to_leave(&self, address: i64, line: u64, shift: u32) -> u64 {
        let first = (line << shift) as i64;
        match self.stride {
            0 => u64::MAX,
            stride if stride > 0 => {
                let rest = first.wrapping_add(1 << shift).wrapping_sub(address);
                (rest as u64).div_ceil(stride as u64)
            }
            stride => (address.wrapping_sub(first) as u64) / stride.unsigned_abs() + 1,
        }
    }
}

/// For strides of more than a line: the number of steps to a followed line.
pub(super) struct Strides<'a> {
    sample: &'a LineSample,
    /// Binary logarithm of the bytes per line.
    shift: u32,
    /// Strides modulo the bytes after which residues repeat, each with the steps from each address modulo the same.
    tables: Vec<(u64, Vec<u32>)>,
}

/// A followed line is never reached.
const NEVER: u32 = u32::MAX;

impl<'a> Strides<'a> {
    pub(super) fn new(sample: &'a LineSample, shift: u32) -> Self {
        Self { sample, shift, tables: Vec::new() }
    }

    fn period(&self) -> u64 {
        (N_RESIDUES as u64) << self.shift
    }

    /// The position of the table that a stride needs, if it needs one.
    fn table(&mut self, stride: i64) -> Option<usize> {
        if self.sample.is_all() || stride.unsigned_abs() <= 1 << self.shift {
            return None;
        }
        let stride = stride as u64 & (self.period() - 1);
        let known = self.tables.iter().position(|(other, _)| *other == stride);
        Some(known.unwrap_or_else(|| {
            self.tables.push((stride, self.count(stride)));
            self.tables.len() - 1
        }))
    }

    /// Walks back from the followed lines.
    fn count(&self, stride: u64) -> Vec<u32> {
        let period = self.period();
        let is_followed = |address: u64| self.sample.has(address >> self.shift);
        let mut steps = vec![NEVER; period as usize];
        for goal in (0..period).filter(|&address| is_followed(address)) {
            steps[goal as usize] = 0;
            let (mut address, mut n) = (goal, 0);
            loop {
                address = address.wrapping_sub(stride) & (period - 1);
                if is_followed(address) {
                    break;
                }
                n += 1;
                steps[address as usize] = n;
            }
        }
        steps
    }

    fn steps(&self, table: usize, address: i64) -> Option<u64> {
        let (_, steps) = self.tables.get(table)?;
        let n = steps[(address as u64 & (self.period() - 1)) as usize];
        (n != NEVER).then_some(u64::from(n))
    }
}

/// Runs `n` iterations of the streams side by side. Iterations in which all stay on their lines are one repetition.
pub(super) fn run_streams<S: Sink>(
    streams: &mut [Stream],
    n: u64,
    strides: &mut Strides<'_>,
    touches: &mut Vec<Touch>,
    sink: &mut S,
) {
    for stream in streams.iter_mut() {
        stream.table = strides.table(stream.stride);
    }
    let mut now = 0;
    while now < n {
        touches.clear();
        let mut next = n;
        for stream in streams.iter_mut() {
            if stream.until <= now {
                stream.settle(now, n, strides);
            }
            next = next.min(stream.until);
            if let Some(line) = stream.line {
                touches.push(Touch { line, array: stream.array, is_write: stream.is_write });
            }
        }
        if !touches.is_empty() {
            sink.repeat(touches, next - now);
        }
        now = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records all touches.
    #[derive(Default)]
    struct List(Vec<Touch>);

    impl Sink for List {
        fn repeat(&mut self, touches: &[Touch], times: u64) {
            (0..times).for_each(|_| self.0.extend_from_slice(touches));
        }

        fn set_weight(&mut self, _weight: f64) {}

        fn set_cell(&mut self, _nest: usize, _part: usize) {}
    }

    #[test]
    fn streams_touch_what_their_iterations_touch() {
        let of_stride = |(array, &stride): (usize, &i64)| {
            Stream::new((1 << 32) + 16 + 1000 * array as i64, stride, array, array % 2 == 0)
        };
        for strides in [&[8][..], &[-8, 4, 0], &[72, -200, 8], &[4096, -115_200, 64], &[15_200, -64, 24, 65]]
        {
            for n_residues in [1, 4, 64] {
                let sample = match n_residues {
                    64 => LineSample::all(),
                    n => LineSample::random(n, 5),
                };
                let n = 700;
                let mut expected = Vec::new();
                let mut streams: Vec<Stream> = strides.iter().enumerate().map(of_stride).collect();
                for k in 0..n {
                    for stream in &streams {
                        let line = (stream.address + k * stream.stride) as u64 >> 6;
                        if sample.has(line) {
                            expected.push(Touch { line, array: stream.array, is_write: stream.is_write });
                        }
                    }
                }
                let mut found = List::default();
                let mut tables = Strides::new(&sample, 6);
                run_streams(&mut streams, n as u64, &mut tables, &mut Vec::new(), &mut found);
                assert!(found.0 == expected, "strides {strides:?}, {n_residues} residues");
            }
        }
    }
}
