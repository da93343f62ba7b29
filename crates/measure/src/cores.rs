//! Which cores processes run on.

#[cfg(target_os = "linux")]
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The cores that this process may run on; none where the system does not tell.
pub(crate) fn allowed_cores() -> Vec<usize> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: a set of cores is plain bits, of which the call fills as many as it is told that there are.
        let set = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            (libc::sched_getaffinity(0, size_of_val(&set), &mut set) == 0).then_some(set)
        };
        // SAFETY: all numbers are within the set.
        let is_in = |core: &usize| set.is_some_and(|set| unsafe { libc::CPU_ISSET(*core, &set) });
        (0..libc::CPU_SETSIZE as usize).filter(is_in).collect()
    }
    #[cfg(not(target_os = "linux"))]
    Vec::new()
}

/// Lets a command run on these cores alone; on any if none are named, or where the system cannot do that.
pub(crate) fn pin(command: &mut Command, cores: &[usize]) {
    #[cfg(target_os = "linux")]
    if !cores.is_empty() {
        // SAFETY: a set of cores is plain bits; numbers beyond its end are left out.
        let set = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            let known = cores.iter().filter(|core| **core < libc::CPU_SETSIZE as usize);
            known.for_each(|core| libc::CPU_SET(*core, &mut set));
            set
        };
        // SAFETY: the closure makes one system call on its own copy of the set. That a core is gone is no reason not to run.
        unsafe {
            command.pre_exec(move || {
                libc::sched_setaffinity(0, size_of_val(&set), &set);
                Ok(())
            });
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (command, cores);
}
