//! What a program leaves when its clocks run too fast, so that the times it prints are told from its results.

use oxeye_measure::{Exit, Invocation, Left, WholeOptions, left_with_fast_clocks};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What the original leaves when its clocks run too fast, for each number of threads in which that was asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct FastClocks(Arc<Mutex<BTreeMap<Option<usize>, Option<Left>>>>);

impl FastClocks {
    /// What is known of that.
    pub(crate) fn known(&self, threads: Option<usize>) -> Option<Left> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&threads).cloned().flatten()
    }

    /// Runs the original for it, if that was not done.
    pub(crate) fn find_out(&self, before: &Invocation, exit: Exit, options: &WholeOptions) -> Option<Left> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = || left_with_fast_clocks(before, exit, options).ok().flatten();
        known.entry(options.threads).or_insert_with(found).clone()
    }
}
