//! Limits of the control group of this process: processors and memory, versions 1 and 2.

use super::files::Root;
use serde::{Deserialize, Serialize};

/// What the container this process runs in may use; nothing is set outside of containers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContainerLimits {
    /// Processors' worth of time.
    pub cpus: Option<f64>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Bytes of that in use.
    pub memory_used_bytes: Option<u64>,
}

impl ContainerLimits {
    /// Available memory within the container's limit.
    pub(super) fn available(&self, bytes: Option<u64>) -> Option<u64> {
        let left = self.memory_bytes.map(|limit| limit.saturating_sub(self.memory_used_bytes.unwrap_or(0)));
        match (bytes, left) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

/// Version 1 says "no limit" with a number near 2⁶³.
const UNLIMITED: u64 = 1 << 60;

/// The tightest limits of the process's groups and the groups around them.
pub(super) fn limits(root: &Root<'_>) -> ContainerLimits {
    let mut limits = ContainerLimits::default();
    let groups = root.text("proc/self/cgroup").unwrap_or_default();
    // In a container the path may be one of the host's that is not visible here; the mounted folder itself then is the
    // container's group, and the walk outwards ends there.
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let names: Vec<&str> = controllers.split(',').collect();
        for folder in outwards(path) {
            if controllers.is_empty() {
                for mount in ["sys/fs/cgroup", "sys/fs/cgroup/unified"] {
                    version_2(root, &format!("{mount}{folder}"), &mut limits);
                }
            } else if names.contains(&"cpu") {
                for mount in [controllers, "cpu"] {
                    version_1_cpu(root, &format!("sys/fs/cgroup/{mount}{folder}"), &mut limits);
                }
            } else if names.contains(&"memory") {
                version_1_memory(root, &format!("sys/fs/cgroup/{controllers}{folder}"), &mut limits);
            }
        }
    }
    limits
}

/// The path and those around it, as suffixes of a mount: `/a/b`, `/a`, nothing.
fn outwards(path: &str) -> Vec<&str> {
    let mut folders = Vec::new();
    let mut rest = path.trim_end_matches('/');
    // A path that leaves the visible hierarchy names nothing here.
    while !rest.is_empty() && !rest.contains("..") {
        folders.push(rest);
        rest = &rest[..rest.rfind('/').unwrap_or(0)];
    }
    folders.push("");
    folders
}

fn version_2(root: &Root<'_>, folder: &str, limits: &mut ContainerLimits) {
    if let Some(text) = root.text(&format!("{folder}/cpu.max")) {
        let mut words = text.split_whitespace().map(|word| word.parse::<f64>().ok());
        if let (Some(Some(quota)), Some(Some(period))) = (words.next(), words.next()) {
            tighten_cpus(limits, quota, period);
        }
    }
    if let Some(limit) = root.number(&format!("{folder}/memory.max")) {
        tighten_memory(limits, limit, root.number(&format!("{folder}/memory.current")));
    }
}

fn version_1_cpu(root: &Root<'_>, folder: &str, limits: &mut ContainerLimits) {
    let quota = root.number(&format!("{folder}/cpu.cfs_quota_us"));
    let period = root.number(&format!("{folder}/cpu.cfs_period_us"));
    if let (Some(quota), Some(period)) = (quota, period) {
        tighten_cpus(limits, quota as f64, period as f64);
    }
}

fn version_1_memory(root: &Root<'_>, folder: &str, limits: &mut ContainerLimits) {
    if let Some(limit) = root.number(&format!("{folder}/memory.limit_in_bytes")) {
        tighten_memory(limits, limit, root.number(&format!("{folder}/memory.usage_in_bytes")));
    }
}

fn tighten_cpus(limits: &mut ContainerLimits, quota: f64, period: f64) {
    if quota > 0.0 && period > 0.0 {
        let cpus = quota / period;
        limits.cpus = Some(limits.cpus.map_or(cpus, |old| old.min(cpus)));
    }
}

fn tighten_memory(limits: &mut ContainerLimits, bytes: u64, used: Option<u64>) {
    if bytes < UNLIMITED && limits.memory_bytes.is_none_or(|old| bytes < old) {
        limits.memory_bytes = Some(bytes);
        limits.memory_used_bytes = used;
    }
}
