//! How the system sets the clock rates of processors.

use super::Sources;
use super::files::Root;
use serde::Serialize;

/// What decides a processor's clock rate, as far as the system tells: virtual machines usually do not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClockPolicy {
    /// The governor of the first processor this process may use: `performance`, `powersave`, `schedutil` and others.
    pub governor: Option<String>,
    /// Whether clock rates above the nominal one are allowed.
    pub boost: Option<bool>,
}

impl ClockPolicy {
    /// Reads it from the same files as the topology.
    pub fn read(sources: &Sources) -> ClockPolicy {
        let root = Root(&sources.root);
        let cpu = sources.allowed_cpus.as_ref().and_then(|cpus| cpus.first()).copied().unwrap_or(0);
        let governor = root.text(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"));
        let boost = root.number("sys/devices/system/cpu/cpufreq/boost").map(|on| on != 0);
        let no_turbo = root.number("sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| off == 0);
        ClockPolicy { governor: governor.map(|g| g.trim().to_owned()), boost: boost.or(no_turbo) }
    }
}
