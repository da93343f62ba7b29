use super::*;
use std::path::Path;

/// A machine as a small tree of files.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new(files: &[(&str, &str)]) -> Machine {
        let machine = Machine(tempfile::tempdir().expect("a temporary folder"));
        for (path, text) in files {
            machine.write(path, text);
        }
        machine
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("folders");
        std::fs::write(path, text).expect("a file");
    }

    fn cpu(&self, cpu: u32, socket: u32, core: u32) {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}/topology");
        self.write(&format!("{folder}/physical_package_id"), &format!("{socket}\n"));
        self.write(&format!("{folder}/core_id"), &format!("{core}\n"));
    }

    fn cache(&self, cpu: u32, idx: u32, level: u32, kind: &str, size: &str, shared: &str) {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}/cache/index{idx}");
        let files = [
            ("level", level.to_string()),
            ("type", kind.into()),
            ("size", size.into()),
            ("shared_cpu_list", shared.into()),
        ];
        for (name, text) in files {
            self.write(&format!("{folder}/{name}"), &text);
        }
        self.write(&format!("{folder}/coherency_line_size"), "64\n");
        self.write(&format!("{folder}/ways_of_associativity"), "8\n");
    }

    fn read(&self, allowed: Option<Vec<u32>>) -> (Topology, Vec<String>) {
        let root = self.0.path().to_path_buf();
        Topology::read(&Sources { root, allowed_cpus: allowed, ask_processor: false })
    }
}

#[test]
fn what_sets_the_clock_rate() {
    let machine = Machine::new(&[
        ("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n"),
        ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
    ]);
    let read = |cpu: u32| {
        let root = machine.0.path().to_path_buf();
        ClockPolicy::read(&Sources { root, allowed_cpus: Some(vec![cpu]), ask_processor: false })
    };
    assert_eq!(read(2), ClockPolicy { governor: Some("powersave".into()), boost: Some(false) });
    assert_eq!(read(3).governor, None);
    machine.write("sys/devices/system/cpu/cpufreq/boost", "1\n");
    assert_eq!(read(3).boost, Some(true));
}

#[test]
fn two_sockets_with_two_threads_a_core() {
    let machine = Machine::new(&[
        ("sys/devices/system/cpu/online", "0-7\n"),
        ("sys/devices/system/node/online", "0-1\n"),
        (
            "proc/cpuinfo",
            "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Some   CPU @ 2 GHz\nmicrocode\t: 0x5003\nflags\t\t: fpu sse2 avx fma avx2 avx512f\n\nprocessor\t: 1\n",
        ),
        ("proc/meminfo", "MemTotal:       1000 kB\nMemFree:  10 kB\nMemAvailable:    800 kB\n"),
        ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0\n"),
        ("sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0\n"),
    ]);
    for cpu in 0..8 {
        machine.cpu(cpu, (cpu / 2) % 2, cpu % 2);
    }
    machine.cache(0, 0, 1, "Data", "32K", "0,4");
    machine.cache(0, 1, 1, "Instruction", "64K", "0,4");
    machine.cache(0, 2, 2, "Unified", "1024K", "0,4");
    machine.cache(0, 3, 3, "Unified", "30M", "0-1,4-5");
    let (t, notes) = machine.read(None);
    assert_eq!(notes, Vec::<String>::new());
    assert_eq!((t.sockets, t.cores_per_socket, t.threads_per_core, t.numa_nodes), (2, 2, 2, 2));
    assert_eq!(t.core_cpus, [0, 1, 2, 3]);
    assert_eq!(t.cpu_model, "Some CPU @ 2 GHz");
    assert_eq!(t.cpu_id.as_deref(), Some("GenuineIntel-6-85"));
    assert_eq!(t.microcode.as_deref(), Some("0x5003"));
    assert_eq!(t.vector_extensions, ["sse2", "avx", "fma", "avx2", "avx512f"]);
    let caches: Vec<_> = t.caches.iter().map(|c| (c.level, c.bytes, c.shared_by)).collect();
    assert_eq!(caches, [(1, 32 << 10, 2), (2, 1 << 20, 2), (3, 30 << 20, 4)]);
    assert_eq!((t.memory_bytes, t.available_memory_bytes), (Some(1_024_000), Some(819_200)));
    assert_eq!(t.huge_page_bytes, [2 << 20, 1 << 30]);
    assert_eq!(t.transparent_huge_pages.as_deref(), Some("madvise"));

    let (t, _) = machine.read(Some(vec![1, 5, 6]));
    assert_eq!(t.allowed_cpus, [1, 5, 6], "the affinity mask is respected");
    assert_eq!(t.core_cpus, [1, 6], "two threads of one core count once");
    assert_eq!(t.sockets, 2, "the machine stays what it is");
}

#[test]
fn one_core_with_two_cache_levels() {
    let machine = Machine::new(&[
        ("sys/devices/system/cpu/online", "0\n"),
        ("proc/cpuinfo", "processor : 0\nFeatures : fp asimd sve\nHardware : A board\n"),
    ]);
    machine.cpu(0, 0, 0);
    machine.cache(0, 0, 1, "Data", "32768", "0");
    machine.cache(0, 1, 2, "Unified", "512K", "0");
    let (t, notes) = machine.read(None);
    assert_eq!((t.sockets, t.cores_per_socket, t.threads_per_core, t.cores()), (1, 1, 1, 1));
    assert_eq!(t.caches.iter().map(|c| c.level).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(t.cache(3), None);
    assert_eq!(t.vector_extensions, ["asimd", "sve"]);
    assert_eq!(notes.len(), 1, "only the memory is unknown: {notes:?}");
}

#[test]
fn nothing_to_read_at_all() {
    let (t, notes) = Machine::new(&[]).read(None);
    assert_eq!((t.cores(), t.cpu_model.as_str()), (1, "unknown"));
    assert!(t.caches.is_empty() && t.memory_bytes.is_none());
    for word in ["sockets", "caches", "memory"] {
        assert!(notes.iter().any(|note| note.contains(word)), "{word} is not in {notes:?}");
    }
}

#[test]
fn places_come_from_cpuinfo_without_sys() {
    let block =
        |cpu, socket, core| format!("processor : {cpu}\nphysical id : {socket}\ncore id : {core}\n\n");
    let text: String = [(0, 0, 0), (1, 0, 0), (2, 0, 1), (3, 0, 1)].map(|(a, b, c)| block(a, b, c)).concat();
    let (t, _) = Machine::new(&[("proc/cpuinfo", &text)]).read(None);
    assert_eq!((t.sockets, t.cores_per_socket, t.threads_per_core), (1, 2, 2));
    assert_eq!(t.core_cpus, [0, 2]);
}

#[test]
fn the_tightest_limit_of_nested_groups_holds() {
    let machine = Machine::new(&[
        ("sys/devices/system/cpu/online", "0-7"),
        ("proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n"),
        ("proc/self/cgroup", "0::/outer/inner\n"),
        ("sys/fs/cgroup/outer/cpu.max", "250000 100000\n"),
        ("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/outer/inner/memory.max", "1000000\n"),
        ("sys/fs/cgroup/outer/inner/memory.current", "400000\n"),
        ("sys/fs/cgroup/outer/memory.max", "max\n"),
    ]);
    let (t, _) = machine.read(None);
    assert_eq!(t.container.cpus, Some(2.5));
    assert_eq!(t.core_cpus, [0, 1], "whole processors only");
    assert_eq!(t.available_memory_bytes, Some(600_000));
}

#[test]
fn version_1_groups_and_paths_that_are_not_visible() {
    let machine = Machine::new(&[
        ("sys/devices/system/cpu/online", "0-3"),
        ("proc/self/cgroup", "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n1:name=systemd:/\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000"),
        ("sys/fs/cgroup/memory/memory.usage_in_bytes", "500000"),
    ]);
    let (t, _) = machine.read(None);
    assert_eq!(t.container.cpus, Some(0.5));
    assert_eq!(t.core_cpus, [0], "never less than one");
    assert_eq!(t.available_memory_bytes, Some(1_500_000));

    machine.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1");
    machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
    let (t, _) = machine.read(None);
    assert_eq!(t.container, ContainerLimits::default(), "these mean no limit");
}

#[test]
fn lists_of_processors() {
    assert_eq!(files::parse_list("0-2,7, 9-9"), Some(vec![0, 1, 2, 7, 9]));
    assert_eq!(files::parse_list(""), Some(vec![]));
    for wrong in ["a", "3-1", "0-4294967295", "1-2-3", "-1"] {
        assert_eq!(files::parse_list(wrong), None, "{wrong}");
    }
}
