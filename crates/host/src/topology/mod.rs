//! Processors, caches, pages and memory as the system reports them, and how much of them this process may use.
//!
//! Everything is read below a root folder, `/` on a real machine. What is missing there comes from the processor itself
//! if possible, and is a note otherwise: no file has to exist.

mod cache;
mod container;
mod cpuid;
mod files;
mod frequency;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

pub use cache::CacheInfo;
pub use container::ContainerLimits;
use files::Root;
pub use frequency::ClockPolicy;

/// The machine as the system describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Topology {
    /// Instruction set, such as `x86_64`.
    pub architecture: String,
    /// Model name of the processor, with single blanks; `unknown` where it is not reported.
    pub cpu_model: String,
    /// Vendor, family and model of the processor, such as `GenuineIntel-6-85`. On a virtual machine they need not be
    /// the truth.
    pub cpu_id: Option<String>,
    /// Microcode revision as the system prints it.
    pub microcode: Option<String>,
    /// Sockets with a processor that is online.
    pub sockets: u32,
    /// Physical cores of a socket (of the largest one, should they differ).
    pub cores_per_socket: u32,
    /// Hardware threads of a core (of the core with most of them).
    pub threads_per_core: u32,
    /// Memory nodes; 1 where the system does not tell.
    pub numa_nodes: u32,
    /// Logical processors this process may run on.
    pub allowed_cpus: Vec<u32>,
    /// The first allowed logical processor of each physical core, cut to what the container may use in total: where the
    /// threads of a measurement with all cores run.
    pub core_cpus: Vec<u32>,
    /// Vector extensions that processor and system support, by their usual names, weakest first.
    pub vector_extensions: Vec<String>,
    /// Data and unified caches of one core, nearest first. Of unequal cores, those of the first allowed one.
    pub caches: Vec<CacheInfo>,
    /// Size of an ordinary page.
    pub page_bytes: u64,
    /// Sizes of huge pages the system knows.
    pub huge_page_bytes: Vec<u64>,
    /// Policy for huge pages without being asked: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// Main memory of the machine.
    pub memory_bytes: Option<u64>,
    /// Memory that was available to this process when the profile was measured, within the container's limit.
    pub available_memory_bytes: Option<u64>,
    /// What the container this process runs in may use.
    pub container: ContainerLimits,
}

/// Where a topology is read from.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The folder that has `proc` and `sys` in it.
    pub root: PathBuf,
    /// Logical processors this process may run on; `None` takes every one that is online.
    pub allowed_cpus: Option<Vec<u32>>,
    /// Whether the processor this program runs on may be asked for what the files lack.
    pub ask_processor: bool,
}

impl Sources {
    /// This machine, as this process is allowed to see and use it.
    pub fn this_machine() -> Sources {
        Sources { root: "/".into(), allowed_cpus: crate::affinity::allowed_cpus(), ask_processor: true }
    }
}

impl Topology {
    /// Reads the topology; the notes say what could not be found out.
    pub fn read(sources: &Sources) -> (Topology, Vec<String>) {
        let root = Root(&sources.root);
        let mut notes = Vec::new();
        let cpuinfo = files::CpuInfo::read(&root);
        let online = online_cpus(&root, &cpuinfo, sources);
        let allowed: Vec<u32> = match &sources.allowed_cpus {
            Some(mask) if online.is_empty() => mask.clone(),
            Some(mask) => mask.iter().copied().filter(|cpu| online.contains(cpu)).collect(),
            None => online.clone(),
        };
        let allowed = if allowed.is_empty() { vec![0] } else { allowed };
        let places = places(&root, &cpuinfo, if online.is_empty() { &allowed } else { &online });
        if places.is_guess {
            notes.push("sockets and cores: the system does not tell them; one core each is assumed".into());
        }
        let container = container::limits(&root);
        let core_cpus = core_cpus(&places.of, &allowed, container.cpus);
        let mut caches = files::caches(&root, allowed[0]);
        if caches.is_empty() && sources.ask_processor {
            caches = cpuid::caches();
        }
        if caches.is_empty() {
            notes.push("caches: neither the system nor the processor tells their sizes".into());
        }
        let memory = files::memory(&root);
        if memory.total.is_none() {
            notes.push("memory: the system does not tell its size".into());
        }
        let extensions =
            if sources.ask_processor { cpuid::vector_extensions() } else { cpuinfo.vector_extensions() };
        let topology = Topology {
            architecture: std::env::consts::ARCH.into(),
            cpu_model: cpuinfo
                .model_name()
                .or_else(|| sources.ask_processor.then(cpuid::brand).flatten())
                .unwrap_or_else(|| "unknown".into()),
            cpu_id: cpuinfo.cpu_id().or_else(|| sources.ask_processor.then(cpuid::cpu_id).flatten()),
            microcode: cpuinfo.first("microcode"),
            sockets: places.sockets(),
            cores_per_socket: places.cores_per_socket(),
            threads_per_core: places.threads_per_core(),
            numa_nodes: root
                .list("sys/devices/system/node/online")
                .map_or(1, |nodes| nodes.len().max(1) as u32),
            core_cpus,
            allowed_cpus: allowed,
            vector_extensions: extensions,
            caches,
            page_bytes: if sources.ask_processor { page_bytes() } else { 4096 },
            huge_page_bytes: files::huge_pages(&root),
            transparent_huge_pages: files::transparent_huge_pages(&root),
            memory_bytes: memory.total,
            available_memory_bytes: container.available(memory.available.or(memory.total)),
            container,
        };
        (topology, notes)
    }

    /// The data or unified cache of a level.
    pub fn cache(&self, level: u32) -> Option<&CacheInfo> {
        self.caches.iter().find(|c| c.level == level)
    }

    /// Physical cores this process may use.
    pub fn cores(&self) -> u32 {
        self.core_cpus.len().max(1) as u32
    }
}

/// Places of logical processors: (socket, core of that socket).
struct Places {
    of: BTreeMap<u32, (u32, u32)>,
    is_guess: bool,
}

impl Places {
    fn sockets(&self) -> u32 {
        let mut sockets: Vec<u32> = self.of.values().map(|(socket, _)| *socket).collect();
        sockets.sort_unstable();
        sockets.dedup();
        sockets.len().max(1) as u32
    }

    /// Logical processors of each core.
    fn cores(&self) -> BTreeMap<(u32, u32), u32> {
        let mut cores = BTreeMap::new();
        for place in self.of.values() {
            *cores.entry(*place).or_insert(0) += 1;
        }
        cores
    }

    fn cores_per_socket(&self) -> u32 {
        let mut per_socket: BTreeMap<u32, u32> = BTreeMap::new();
        for (socket, _) in self.cores().into_keys() {
            *per_socket.entry(socket).or_insert(0) += 1;
        }
        per_socket.into_values().max().unwrap_or(1)
    }

    fn threads_per_core(&self) -> u32 {
        self.cores().into_values().max().unwrap_or(1)
    }
}

fn online_cpus(root: &Root<'_>, cpuinfo: &files::CpuInfo, sources: &Sources) -> Vec<u32> {
    let told = root.list("sys/devices/system/cpu/online").filter(|cpus| !cpus.is_empty());
    let told = told.or_else(|| Some(cpuinfo.cpus()).filter(|cpus| !cpus.is_empty()));
    told.unwrap_or_else(|| {
        let n = match sources.ask_processor {
            true => std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
            false => 1,
        };
        sources.allowed_cpus.clone().unwrap_or_else(|| (0..n).collect())
    })
}

fn places(root: &Root<'_>, cpuinfo: &files::CpuInfo, cpus: &[u32]) -> Places {
    let from_sys = |cpu: u32| {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}/topology");
        let core = root.number(&format!("{folder}/core_id"))?;
        // Some systems say -1 for a socket they do not know.
        let socket = root.number(&format!("{folder}/physical_package_id")).unwrap_or(0);
        let die = root.number(&format!("{folder}/die_id")).unwrap_or(0);
        // Core numbers start anew on each die.
        Some((socket as u32, (die as u32) << 16 | core as u32))
    };
    let find = |of: &dyn Fn(u32) -> Option<(u32, u32)>| -> Option<BTreeMap<u32, (u32, u32)>> {
        cpus.iter().map(|&cpu| Some((cpu, of(cpu)?))).collect()
    };
    match find(&from_sys).or_else(|| find(&|cpu| cpuinfo.place(cpu))) {
        Some(of) => Places { of, is_guess: false },
        None => Places { of: cpus.iter().map(|&cpu| (cpu, (0, cpu))).collect(), is_guess: true },
    }
}

/// One logical processor for each core, as many as the container may keep busy.
fn core_cpus(places: &BTreeMap<u32, (u32, u32)>, allowed: &[u32], limit: Option<f64>) -> Vec<u32> {
    let mut seen = std::collections::BTreeSet::new();
    let first_of_core = |cpu: &u32| seen.insert(places.get(cpu).copied().unwrap_or((u32::MAX, *cpu)));
    let mut cpus: Vec<u32> = allowed.iter().copied().filter(first_of_core).collect();
    if let Some(limit) = limit {
        cpus.truncate((limit.floor() as usize).max(1));
    }
    cpus
}

fn page_bytes() -> u64 {
    // SAFETY: a plain query.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(bytes).unwrap_or(4096)
}

#[cfg(test)]
mod tests;
