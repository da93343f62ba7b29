//! Threads that stay on their processors and start together.

use crate::affinity;
use crate::error::HostError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Instant;

/// The work of a thread in every round; the argument is its number.
pub(crate) type Work = dyn Fn(usize) + Send + Sync;

type Job = Box<dyn FnOnce() + Send>;

/// Threads, each pinned to one of the given processors as long as the pool lives.
pub(crate) struct Pool {
    workers: Vec<Worker>,
    pinned: bool,
}

/// One thread, which ends when the sender of its jobs is gone.
struct Worker {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Pool {
    /// Starts the threads.
    ///
    /// # Errors
    /// [`HostError::NoThreads`].
    pub(crate) fn start(cpus: &[u32]) -> Result<Pool, HostError> {
        let mut pool = Pool { workers: Vec::new(), pinned: true };
        for &cpu in cpus {
            let (send, jobs) = mpsc::channel::<Job>();
            let (tell, told) = mpsc::channel();
            let thread = std::thread::Builder::new().name(format!("core-{cpu}")).spawn(move || {
                let _ = tell.send(affinity::pin(cpu));
                for job in jobs {
                    job();
                }
            });
            let thread = thread.map_err(|source| HostError::NoThreads { threads: cpus.len(), source })?;
            pool.pinned &= told.recv().unwrap_or(false);
            pool.workers.push(Worker { jobs: Some(send), thread: Some(thread) });
        }
        Ok(pool)
    }

    /// Number of threads.
    pub(crate) fn len(&self) -> usize {
        self.workers.len()
    }

    /// Whether the system let every thread be pinned.
    pub(crate) fn pinned(&self) -> bool {
        self.pinned
    }

    /// Has the first `threads` threads do the work `rounds` times, all starting each round together. Returns the
    /// seconds of each round, from the first start to the last end.
    pub(crate) fn run(&self, threads: usize, rounds: usize, work: &Arc<Work>) -> Vec<f64> {
        let threads = threads.clamp(1, self.len());
        let barrier = Arc::new(Barrier::new(threads));
        let (send, times) = mpsc::channel();
        for (idx, worker) in self.workers.iter().take(threads).enumerate() {
            let (work, barrier, send) = (Arc::clone(work), Arc::clone(&barrier), send.clone());
            let job = move || {
                let mut spans = Vec::with_capacity(rounds);
                for _ in 0..rounds {
                    barrier.wait();
                    let start = Instant::now();
                    work(idx);
                    spans.push((start, Instant::now()));
                }
                let _ = send.send(spans);
            };
            if let Some(jobs) = &worker.jobs {
                let _ = jobs.send(Box::new(job));
            }
        }
        drop(send);
        let spans: Vec<Vec<(Instant, Instant)>> = times.iter().collect();
        let round = |r: usize| {
            let start = spans.iter().filter_map(|s| s.get(r)).map(|s| s.0).min()?;
            let end = spans.iter().filter_map(|s| s.get(r)).map(|s| s.1).max()?;
            Some((end - start).as_secs_f64())
        };
        (0..rounds).filter_map(round).collect()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            worker.jobs = None;
            if let Some(thread) = worker.thread.take() {
                let _ = thread.join();
            }
        }
    }
}

/// A barrier: releases the threads when all have arrived, within well under a microsecond if all of them have a
/// processor.
struct Barrier {
    n: usize,
    waiting: AtomicUsize,
    generation: AtomicUsize,
}

impl Barrier {
    fn new(n: usize) -> Barrier {
        Barrier { n, waiting: AtomicUsize::new(0), generation: AtomicUsize::new(0) }
    }

    fn wait(&self) {
        const SPINS: u32 = 5000;
        let generation = self.generation.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.n {
            self.waiting.store(0, Ordering::Relaxed);
            self.generation.fetch_add(1, Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.generation.load(Ordering::Acquire) == generation {
            spins += 1;
            // The thread that is waited for may need this processor.
            if spins > SPINS { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_works_in_every_round() {
        let pool = Pool::start(&[0, 0, 0]).expect("threads start");
        let counts: Arc<[AtomicUsize; 3]> = Arc::default();
        let inner = Arc::clone(&counts);
        let work: Arc<Work> = Arc::new(move |idx| {
            inner[idx].fetch_add(1, Ordering::Relaxed);
        });
        let times = pool.run(3, 50, &work);
        assert_eq!(times.len(), 50);
        assert!(times.iter().all(|t| t.is_finite() && *t >= 0.0));
        pool.run(1, 7, &work);
        let counts: Vec<usize> = counts.iter().map(|n| n.load(Ordering::Relaxed)).collect();
        assert_eq!(counts, [57, 50, 50]);
    }
}
