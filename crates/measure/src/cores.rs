//! Which cores processes run on.

#[cfg(target_os = "linux")]
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The cores that this process may run on; none where the system does not tell.
pub fn allowed_cores() -> Vec<usize> {
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

/// The cores for each of several processes: all that there are, in parts as equal as they can be, one behind the other. Where
/// there are more processes than cores, some have the same.
pub fn shares(n_copies: usize, cores: &[usize]) -> Vec<Vec<usize>> {
    let n = cores.len();
    let part = |k: usize| match n >= n_copies {
        true => cores[k * n / n_copies..(k + 1) * n / n_copies].to_vec(),
        false => cores.get(k % n.max(1)).copied().into_iter().collect(),
    };
    (0..n_copies).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_shared_out() {
        assert_eq!(shares(2, &[0, 1]), [[0], [1]]);
        assert_eq!(shares(2, &[1, 3, 5, 7, 9]), [vec![1, 3], vec![5, 7, 9]]);
        assert_eq!(shares(3, &[4, 6]), [[4], [6], [4]]);
        assert_eq!(shares(2, &[]), [[0; 0], [0; 0]]);
    }
}
