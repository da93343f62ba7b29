//! Work in which a bug costs no more than the item that it strikes.

use rayon::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A bug of ours ended a piece of work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("internal error, please report it: {0}")]
pub struct Panicked(String);

/// Does a piece of work; a panic in it is its failure.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|cause| Panicked(words(&*cause)))
}

/// Maps on all cores. Every item has its result in its own place: a panic is the failure of the item it happened at.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<Result<R, Panicked>> {
    items.par_iter().map(|item| guarded(|| work(item))).collect()
}

fn words(cause: &(dyn Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
    text.unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_the_failure_of_its_item_and_shifts_no_other() {
        let items: Vec<usize> = (0..200).collect();
        let results = map(&items, |n| {
            assert!(n % 50 != 7, "planted at {n}");
            n * n
        });
        assert_eq!(results.len(), items.len());
        for (n, result) in results.into_iter().enumerate() {
            match result {
                Ok(square) => assert_eq!((square, n % 50 == 7), (n * n, false)),
                Err(failure) => {
                    assert_eq!(n % 50, 7);
                    let words = format!("internal error, please report it: planted at {n}");
                    assert_eq!(failure.to_string(), words);
                }
            }
        }
    }
}
