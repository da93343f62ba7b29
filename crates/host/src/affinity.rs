//! Which processors this process may use, and where its threads run.

#[cfg(target_os = "linux")]
mod linux {
    const MOST_CPUS: usize = 1 << 13;
    type Mask = [libc::c_ulong; MOST_CPUS / libc::c_ulong::BITS as usize];

    /// The logical processors of the affinity mask.
    pub(crate) fn allowed_cpus() -> Option<Vec<u32>> {
        let mut mask: Mask = [0; _];
        // SAFETY: the kernel writes at most the size it is given.
        let done = unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
        let is_set = |cpu: &u32| {
            let (word, bit) = (*cpu / libc::c_ulong::BITS, *cpu % libc::c_ulong::BITS);
            mask[word as usize] >> bit & 1 == 1
        };
        (done == 0).then(|| (0..MOST_CPUS as u32).filter(is_set).collect())
    }

    /// Keeps the calling thread on one logical processor; `false` when the system refuses.
    pub(crate) fn pin(cpu: u32) -> bool {
        let mut mask: Mask = [0; _];
        let Some(word) = mask.get_mut((cpu / libc::c_ulong::BITS) as usize) else { return false };
        *word |= 1 << (cpu % libc::c_ulong::BITS);
        // SAFETY: the kernel reads as many bytes as it is told there are.
        unsafe { libc::sched_setaffinity(0, size_of_val(&mask), mask.as_ptr().cast()) == 0 }
    }
}

#[cfg(target_os = "linux")]
pub(crate) use linux::{allowed_cpus, pin};

/// Not known on other systems.
#[cfg(not(target_os = "linux"))]
pub(crate) fn allowed_cpus() -> Option<Vec<u32>> {
    None
}

/// Other systems have no such call.
#[cfg(not(target_os = "linux"))]
pub(crate) fn pin(_cpu: u32) -> bool {
    false
}
