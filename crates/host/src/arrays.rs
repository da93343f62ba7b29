//! Memory to measure with.

use crate::error::HostError;
use std::sync::{Arc, Mutex};

/// Three arrays of f64 for each of several threads, each thread's in memory of its own that the thread touches first.
#[derive(Clone)]
pub(crate) struct Arrays {
    parts: Arc<Vec<Mutex<Part>>>,
    n: usize,
}

/// One thread's arrays.
struct Part {
    block: Block,
    n: usize,
}

/// Pointers to three arrays of `n` elements, aligned to cache lines, that do not overlap.
#[derive(Clone, Copy)]
pub(crate) struct Triple {
    pub(crate) a: *mut f64,
    pub(crate) b: *mut f64,
    pub(crate) c: *mut f64,
    pub(crate) n: usize,
}

/// Lengths are multiples of this: what the kernels do in one step.
pub(crate) const STEP: usize = 64;

/// Elements of padding between the arrays, so that elements with the same index share neither a cache set nor a page
/// offset.
const GAP: usize = 17 * 8;

impl Arrays {
    /// Reserves arrays of `n` elements each, rounded up to a multiple of [`STEP`], for each of `threads` threads.
    ///
    /// # Errors
    /// [`HostError::NoMemory`].
    pub(crate) fn reserve(threads: usize, n: usize) -> Result<Arrays, HostError> {
        let n = n.max(1).next_multiple_of(STEP);
        let bytes = (3 * n + 2 * GAP) * size_of::<f64>();
        let part = || Ok(Mutex::new(Part { block: Block::new(bytes)?, n }));
        let parts = (0..threads).map(|_| part()).collect::<Result<Vec<_>, HostError>>()?;
        Ok(Arrays { parts: Arc::new(parts), n })
    }

    /// Elements of each array of each thread.
    pub(crate) fn len(&self) -> usize {
        self.n
    }

    /// Calls `f` with a thread's arrays, which nobody else uses meanwhile. They hold zeros at first.
    pub(crate) fn with<R>(&self, thread: usize, f: impl FnOnce(Triple) -> R) -> R {
        let part = self.parts[thread].lock().unwrap_or_else(|e| e.into_inner());
        let a = part.block.start;
        // SAFETY: the block is long enough for three arrays and two gaps.
        let (b, c) = unsafe { (a.add(part.n + GAP), a.add(2 * (part.n + GAP))) };
        f(Triple { a, b, c, n: part.n })
    }

    /// Writes to every element of a thread's arrays: STREAM's 1, 2 and 0. To be called on that thread.
    pub(crate) fn touch(&self, thread: usize) {
        self.with(thread, |t| {
            for (array, value) in [(t.a, 1.0), (t.b, 2.0), (t.c, 0.0)] {
                // SAFETY: the array has this many elements, and the lock is held.
                unsafe { std::slice::from_raw_parts_mut(array, t.n) }.fill(value);
            }
        });
    }
}

/// Zeroed pages of the default kind; huge pages are not asked for.
struct Block {
    start: *mut f64,
    bytes: usize,
}

// SAFETY: the memory belongs to the block alone, which nobody can copy.
unsafe impl Send for Block {}

impl Block {
    fn new(bytes: usize) -> Result<Block, HostError> {
        // SAFETY: asks for fresh pages anywhere.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(HostError::NoMemory { bytes, source: std::io::Error::last_os_error() });
        }
        Ok(Block { start: start.cast(), bytes })
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length, and no pointer into it outlives the lock it was lent under.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_whole_apart_and_aligned() {
        let arrays = Arrays::reserve(2, 100).expect("little memory");
        assert_eq!(arrays.len(), 128);
        arrays.touch(1);
        arrays.with(1, |t| {
            let array = |p: *mut f64| unsafe { std::slice::from_raw_parts(p, t.n) };
            assert!(array(t.a).iter().all(|x| *x == 1.0) && array(t.b).iter().all(|x| *x == 2.0));
            assert!([t.a, t.b, t.c].iter().all(|p| p.addr() % 64 == 0));
        });
        arrays.with(0, |t| assert_eq!(unsafe { *t.a }, 0.0));
    }

    #[test]
    fn too_much_memory_is_an_error() {
        assert!(matches!(Arrays::reserve(1, usize::MAX / 64), Err(HostError::NoMemory { .. })));
    }
}
