//! Workers that take what there is to do from a common counter.

use anyhow::{Result, bail};

/// Runs a worker on each of `n_threads` threads, at least one; the first error of any.
///
/// # Errors
/// What a worker returns, or that one panicked.
pub(crate) fn on_threads(n_threads: usize, worker: &(impl Fn() -> Result<()> + Sync)) -> Result<()> {
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..n_threads.max(1)).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|w| match w.join() {
            Ok(result) => result,
            Err(_) => bail!("a worker panicked"),
        })
    })
}
