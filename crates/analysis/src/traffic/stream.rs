//! Innermost loops as streams of lines.

use super::sample::LineSample;

/// One use of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    pub(super) line: u64,
    /// Position of the array in the plan.
    pub(super) array: usize,
    pub(super) is_write: bool,
}

/// Takes touches in the order in which they happen.
pub(super) trait Sink {
    /// All touches in order, and that `times` times over; at least once.
    fn repeat(&mut self, touches: &[Touch], times: u64);
    /// What follows counts for so much; nothing at all if zero.
    fn set_weight(&mut self, weight: f64);
    /// What follows belongs to this nest, and to this window: 0 for what is in none, else from 1.
    fn set_cell(&mut self, nest: usize, part: usize);
}

/// An access of an innermost loop: an address that moves by a constant stride.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) address: i64,
    pub(super) stride: i64,
    pub(super) array: usize,
    pub(super) is_write: bool,
    /// The line it is on, if that is followed, up to but not including iteration `until`.
    line: Option<u64>,
    until: u64,
}

impl Stream {
    pub(super) fn new(address: i64, stride: i64, array: usize, is_write: bool) -> Self {
        Self { address, stride, array, is_write, line: None, until: 0 }
    }

    /// Finds what the stream is on from iteration `now` on, which is before `end`.
    fn settle(&mut self, now: u64, end: u64, shift: u32, sample: &LineSample) {
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
        } else if self.stride.unsigned_abs() <= 1 << shift {
            // Adjacent lines follow each other: the next one that is followed is known.
            let next = sample.next(line, self.stride > 0);
            let before = if self.stride > 0 { next.wrapping_sub(1) } else { next.wrapping_add(1) };
            now.saturating_add(self.iterations_to_leave(address, before, shift)).min(end)
        } else {
            let mut at = address.wrapping_add(self.stride);
            let mut until = now + 1;
            while until < end && !sample.has((at as u64) >> shift) {
                at = at.wrapping_add(self.stride);
                until += 1;
            }
            until
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

/// Runs `n` iterations of the streams side by side. Iterations in which all stay on their lines are one repetition.
pub(super) fn run_streams<S: Sink>(
    streams: &mut [Stream],
    n: u64,
    shift: u32,
    sample: &LineSample,
    touches: &mut Vec<Touch>,
    sink: &mut S,
) {
    let mut now = 0;
    while now < n {
        touches.clear();
        let mut next = n;
        for stream in streams.iter_mut() {
            if stream.until <= now {
                stream.settle(now, n, shift, sample);
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
