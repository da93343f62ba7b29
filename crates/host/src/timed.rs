//! Work repeated often enough for the clock.

use crate::pool::{Pool, Work};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Work that a number of threads do at once, each repeating it the same number of times.
pub(crate) struct Timed<'a> {
    pool: &'a Pool,
    threads: usize,
    work: Arc<Work>,
    repeats: Arc<AtomicUsize>,
    per_repeat: f64,
}

impl<'a> Timed<'a> {
    /// `work` gets the number of its thread and the number of repeats, which is chosen so that one sample takes about
    /// this many seconds, or longer if a single repeat does. `per_repeat` is what one repeat of one thread counts for
    /// in [`Timed::rates`].
    pub(crate) fn new(
        pool: &'a Pool,
        threads: usize,
        seconds: f64,
        per_repeat: f64,
        work: impl Fn(usize, usize) + Send + Sync + 'static,
    ) -> Timed<'a> {
        let repeats = Arc::new(AtomicUsize::new(1));
        let shared = Arc::clone(&repeats);
        let work: Arc<Work> = Arc::new(move |thread| work(thread, shared.load(Ordering::Relaxed)));
        let timed = Timed { pool, threads: threads.clamp(1, pool.len()), work, repeats, per_repeat };
        timed.calibrate(seconds);
        timed
    }

    /// Seconds that one repeat took in each of several rounds.
    pub(crate) fn sample(&self, rounds: usize) -> Vec<f64> {
        let repeats = self.repeats.load(Ordering::Relaxed) as f64;
        self.pool.run(self.threads, rounds, &self.work).into_iter().map(|seconds| seconds / repeats).collect()
    }

    /// Rates of several rounds: work of all threads in a second.
    pub(crate) fn rates(&self, rounds: usize) -> Vec<f64> {
        let total = self.per_repeat * self.threads as f64;
        let positive = |seconds: f64| (seconds > 0.0).then_some(total / seconds);
        self.sample(rounds).into_iter().filter_map(positive).collect()
    }

    fn calibrate(&self, seconds: f64) {
        const MOST: usize = 1 << 40;
        loop {
            let repeats = self.repeats.load(Ordering::Relaxed);
            let Some(took) = self.pool.run(self.threads, 1, &self.work).first().copied() else { return };
            if took >= 0.5 * seconds || repeats >= MOST {
                // The last estimate comes from a time long enough to be trusted.
                let wanted = repeats as f64 * seconds / took.max(1e-9);
                self.repeats.store((wanted.round() as usize).clamp(1, MOST), Ordering::Relaxed);
                return;
            }
            let factor = (0.7 * seconds / took.max(1e-9)).clamp(2.0, 1000.0);
            self.repeats.store(((repeats as f64 * factor) as usize).min(MOST), Ordering::Relaxed);
        }
    }
}
