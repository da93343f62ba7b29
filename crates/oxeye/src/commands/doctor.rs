//! What of this machine and its settings helps or hinders tuning: looked at within seconds, nothing is measured.

use super::check_build::Sanitizer;
use crate::request::Error;
use oxeye_host::{ClockPolicy, HostProfile, Sources, Topology};
use oxeye_measure::{
    CompileJob, Compiler, CompilerFamily, CounterSurvey, Invocation, Limits, WorkDir, counters, run_program,
};
use serde::Serialize;

/// The form of [`Diagnosis`] as JSON.
pub const DOCTOR_SCHEMA: &str = "oxeye.doctor/1";

const OPENMP_C: &str = "#include <omp.h>\n#include <stdio.h>\n\
    int main(void) { printf(\"%d\\n\", omp_get_max_threads()); return 0; }\n";

/// Timings suffer where others keep more than this part of the processors busy.
const BUSY: f64 = 0.25;
/// Less memory than this beside the program's own may not do for the compilers.
const LEAST_MEMORY: u64 = 2 << 30;

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As it should be.
    Good,
    /// It works, and less well than it could.
    Limited,
    /// It is not there.
    Missing,
}

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What: `compiler`, `OpenMP`, `counters`.
    pub topic: &'static str,
    /// How it is.
    pub health: Health,
    /// What was found.
    pub found: String,
    /// What that costs, where it is not good.
    pub cost: Option<String>,
    /// What would help, where something would.
    pub remedy: Option<String>,
}

/// Everything that was looked at.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// [`DOCTOR_SCHEMA`].
    pub schema: &'static str,
    /// In a fixed order.
    pub findings: Vec<Finding>,
    /// Whether programs can be tuned at all.
    pub can_tune: bool,
}

impl Diagnosis {
    /// As JSON with a final newline.
    ///
    /// # Panics
    /// Never: it has a JSON form.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a diagnosis has a JSON form");
        text.push('\n');
        text
    }
}

/// What the findings follow from.
struct Facts {
    /// The compiler's name and its version, or why it has none.
    compiler: (String, Result<(String, CompilerFamily), String>),
    /// Threads of an OpenMP program, or why there is none.
    openmp: Result<u32, String>,
    topology: Topology,
    clock: ClockPolicy,
    counters: CounterSurvey,
    /// The profile of the machine, if it was measured before.
    profile: Option<HostProfile>,
    /// Processes that want to run, mean of the last minute.
    load: Option<f64>,
    /// Variables that bind or limit threads, as they are set.
    variables: Vec<(&'static str, String)>,
    /// Vector extensions that the compiler uses with `-march=native`; `None` if it does not tell.
    used_vectors: Option<Vec<&'static str>>,
    /// The sanitizers for debug builds, and why those that are not there are not.
    sanitizers: Vec<(&'static str, Result<(), String>)>,
}

/// Vector extensions by the macros with which compilers say that they use them.
const VECTOR_MACROS: [(&str, &str); 4] =
    [("avx", "__AVX__"), ("avx2", "__AVX2__"), ("fma", "__FMA__"), ("avx512f", "__AVX512F__")];

/// Looks at the machine as the compiler and a program started now would find it.
///
/// # Errors
/// If no temporary files can be written. What is missing is a finding, not an error.
pub fn doctor(compiler: &Compiler) -> Result<Diagnosis, Error> {
    let (topology, _) = Topology::read(&Sources::this_machine());
    let version = || Ok((compiler.version()?, compiler.family()?));
    let about = version().map_err(|error: oxeye_measure::MeasureError| first_line(&error));
    let work = WorkDir::new()?;
    let openmp = match &about {
        Ok(_) => openmp_threads(compiler, &work),
        Err(_) => Err("there is no compiler".to_owned()),
    };
    let probed = [Sanitizer::Address, Sanitizer::Undefined].into_iter().filter(|_| about.is_ok());
    let sanitizers = probed.map(|kind| (kind.name(), kind.probe(compiler))).collect();
    let used_vectors = if about.is_ok() { used_vectors(compiler) } else { None };
    let load = std::fs::read_to_string("/proc/loadavg").ok();
    let set = |name: &'static str| Some((name, std::env::var(name).ok().filter(|value| !value.is_empty())?));
    let names = ["OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"];
    Ok(diagnosis(&Facts {
        compiler: (compiler.program.clone(), about),
        openmp,
        topology,
        clock: ClockPolicy::read(&Sources::this_machine()),
        counters: counters::survey(),
        profile: oxeye_host::load().ok().flatten(),
        load: load.and_then(|text| text.split(' ').next()?.parse().ok()),
        variables: names.into_iter().filter_map(set).collect(),
        used_vectors,
        sanitizers,
    }))
}

/// How many threads a program with OpenMP gets.
fn openmp_threads(compiler: &Compiler, work: &WorkDir) -> Result<u32, String> {
    let run = || {
        let source = work.write("openmp.c", OPENMP_C)?;
        let compiler = Compiler::new(&compiler.program, ["-fopenmp"]);
        let program = compiler.compile(&CompileJob::executable(source, work.join("openmp")))?;
        run_program(&Invocation::new(program), &Limits { seconds: 20.0, ..Limits::default() })
    };
    let outcome = run().map_err(|error| first_line(&error))?;
    let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
    text.trim().parse().map_err(|_| format!("a program with OpenMP failed ({})", outcome.exit))
}

/// The vector extensions that the compiler uses with `-march=native`.
fn used_vectors(compiler: &Compiler) -> Option<Vec<&'static str>> {
    let words = ["-march=native", "-dM", "-E", "-x", "c", "/dev/null"];
    let limits = Limits { seconds: 20.0, ..Limits::default() };
    let outcome = run_program(&Invocation::new(&compiler.program).args(words), &limits).ok()?;
    let macros = String::from_utf8_lossy(&outcome.stdout);
    let defines = |name: &str| macros.lines().any(|line| line.split_whitespace().nth(1) == Some(name));
    let used = VECTOR_MACROS.into_iter().filter(|(_, name)| defines(name)).map(|(extension, _)| extension);
    outcome.exit.success().then(|| used.collect())
}

fn first_line(error: &dyn std::error::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

fn diagnosis(facts: &Facts) -> Diagnosis {
    let can_tune = facts.compiler.1.is_ok();
    let mut findings = vec![compiler(facts)];
    findings.extend(can_tune.then(|| openmp(facts)));
    findings.extend([
        threads(facts),
        affinity(facts),
        vectors(facts),
        memory(&facts.topology),
        huge_pages(&facts.topology),
        caches(&facts.topology),
        frequency(&facts.clock),
        load(facts),
        counted(&facts.counters),
        profile(facts.profile.as_ref()),
    ]);
    findings.extend((!facts.sanitizers.is_empty()).then(|| sanitizers(facts)));
    Diagnosis { schema: DOCTOR_SCHEMA, findings, can_tune }
}

impl Finding {
    fn new(topic: &'static str, health: Health, found: impl Into<String>) -> Self {
        Self { topic, health, found: found.into(), cost: None, remedy: None }
    }

    fn good(topic: &'static str, found: impl Into<String>) -> Self {
        Self::new(topic, Health::Good, found)
    }

    fn costs(self, cost: impl Into<String>) -> Self {
        Self { cost: Some(cost.into()), ..self }
    }

    fn helped_by(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }
}

fn compiler(facts: &Facts) -> Finding {
    const TOPIC: &str = "compiler";
    let (name, about) = &facts.compiler;
    match about {
        Ok((version, CompilerFamily::Gcc | CompilerFamily::Clang)) => {
            Finding::good(TOPIC, format!("{name}: {version}"))
        }
        Ok((version, CompilerFamily::Other)) => {
            Finding::new(TOPIC, Health::Limited, format!("{name}: {version}"))
                .costs("tuned code is written for gcc and clang; candidates it rejects are left out")
        }
        Err(why) => Finding::new(TOPIC, Health::Missing, why.split(';').next().unwrap_or_default())
            .costs("nothing can be tuned")
            .helped_by("install gcc or clang, or name a compiler with --cc"),
    }
}

fn openmp(facts: &Facts) -> Finding {
    const TOPIC: &str = "OpenMP";
    match &facts.openmp {
        Ok(n) => Finding::good(TOPIC, format!("works; programs start with {}", count(*n as usize, "thread"))),
        Err(why) => Finding::new(TOPIC, Health::Missing, why.clone())
            .costs(format!("tuned code uses one of {}", count(facts.topology.cores() as usize, "core")))
            .helped_by("install the compiler's OpenMP library (libgomp for gcc, libomp for clang)"),
    }
}

fn threads(facts: &Facts) -> Finding {
    const TOPIC: &str = "threads";
    let topology = &facts.topology;
    let (allowed, cores) = (topology.allowed_cpus.len(), topology.cores() as usize);
    let all = (topology.sockets * topology.cores_per_socket * topology.threads_per_core) as usize;
    let all = all.max(allowed);
    let mut found = format!("{} on {allowed} of {}", count(cores, "core"), count(all, "processor"));
    for (name, value) in &facts.variables {
        found += &format!(", {name}={value}");
    }
    let limit =
        facts.variables.iter().find(|(name, _)| matches!(*name, "OMP_NUM_THREADS" | "OMP_THREAD_LIMIT"));
    let fewer = limit.and_then(|(name, value)| Some((*name, value.parse::<usize>().ok()?)));
    if let Some((name, n)) = fewer.filter(|(_, n)| *n < cores) {
        return Finding::new(TOPIC, Health::Limited, found)
            .costs(format!("programs use {} of {cores}", count(n, "thread")))
            .helped_by(format!("unset {name}, or tune with --threads {n}"));
    }
    if let Some(cpus) = topology.container.cpus.filter(|cpus| *cpus < allowed as f64) {
        return Finding::new(TOPIC, Health::Limited, format!("{found}, the container has time of {cpus:.1}"))
            .costs(
                "threads beyond that are stopped for part of every tenth of a second, which spoils timings",
            );
    }
    if allowed < all {
        return Finding::new(TOPIC, Health::Limited, found)
            .costs(format!("{} are not used", count(all - allowed, "processor")))
            .helped_by("start without taskset, or give the container more processors");
    }
    Finding::good(TOPIC, found)
}

/// Where threads may run, and whether they stay there.
fn affinity(facts: &Facts) -> Finding {
    const TOPIC: &str = "affinity";
    let Topology { sockets, numa_nodes, .. } = facts.topology;
    let cores = facts.topology.cores() as usize;
    let of = |name: &str| facts.variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value);
    // Numbers and ranges of processors; names of places, such as `cores`, are all of them.
    let list = of("GOMP_CPU_AFFINITY").map(|value| ("GOMP_CPU_AFFINITY", value));
    let places = of("OMP_PLACES").map(|value| ("OMP_PLACES", value));
    let bound = list.or(places).and_then(|(name, value)| Some((name, processors(value)?)));
    if let Some((name, n)) = bound.filter(|(_, n)| *n < cores) {
        return Finding::new(TOPIC, Health::Limited, format!("{name} names {}", count(n, "processor")))
            .costs(format!("{} share them", count(cores, "thread")))
            .helped_by(format!("unset {name}"));
    }
    let is_bound = list.is_some() || of("OMP_PROC_BIND").is_some_and(|value| value.to_lowercase() != "false");
    let nodes = numa_nodes.max(sockets);
    match (is_bound, nodes) {
        (true, _) => Finding::good(TOPIC, "threads stay where they start"),
        (false, 2..) => {
            Finding::new(TOPIC, Health::Limited, format!("threads may move between {nodes} memory nodes"))
                .costs("memory of another node is slower, and times vary from run to run")
                .helped_by("OMP_PROC_BIND=spread OMP_PLACES=cores, when tuning and when running")
        }
        (false, _) => Finding::good(TOPIC, "threads may move between processors of one memory node"),
    }
}

/// How many processors a list such as `0-3 6` or `{0,1},{2}` names; `None` if it is no list of numbers.
fn processors(list: &str) -> Option<usize> {
    if list.chars().any(|c| c.is_alphabetic() || c == ':') {
        return None;
    }
    let mut found = std::collections::BTreeSet::new();
    for part in list.split(|c: char| c == ',' || c == '{' || c == '}' || c.is_whitespace()) {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (first, last),
            None if part.is_empty() => continue,
            None => (part, part),
        };
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        found.extend(first..=last.min(first.saturating_add(4096)));
    }
    (!found.is_empty()).then_some(found.len())
}

fn vectors(facts: &Facts) -> Finding {
    const TOPIC: &str = "vectors";
    let topology = &facts.topology;
    let has = |name: &str| topology.vector_extensions.iter().any(|extension| extension == name);
    let found = topology.vector_extensions.join(" ");
    if topology.architecture != "x86_64" {
        return Finding::good(TOPIC, if found.is_empty() { "not known".to_owned() } else { found });
    }
    // What the processor has and the compiler does not use.
    let unused: Vec<&str> = match &facts.used_vectors {
        Some(used) => {
            VECTOR_MACROS.map(|(name, _)| name).into_iter().filter(|n| has(n) && !used.contains(n)).collect()
        }
        None => Vec::new(),
    };
    if !unused.is_empty() {
        let compiler = &facts.compiler.0;
        let found = format!("{found}; {compiler} -march=native leaves out {}", unused.join(" "));
        return Finding::new(TOPIC, Health::Limited, found)
            .costs("narrower vectors than the processor has, in your code and in tuned code")
            .helped_by("a newer compiler, or -mavx2 -mfma, -mavx512f by name");
    }
    match has("avx2") && has("fma") {
        true => Finding::good(TOPIC, found),
        false => Finding::new(TOPIC, Health::Limited, found)
            .costs("vectors of 128 bits, no fused multiplication and addition: a quarter of the usual peak"),
    }
}

fn memory(topology: &Topology) -> Finding {
    const TOPIC: &str = "memory";
    let gib = |bytes: u64| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30));
    let available = topology.available_memory_bytes.or(topology.memory_bytes);
    let mut found = available.map_or("not known".to_owned(), |bytes| format!("{} available", gib(bytes)));
    if let Some(limit) = topology.container.memory_bytes {
        found += &format!(", the container's limit is {}", gib(limit));
    }
    match available.is_some_and(|bytes| bytes < LEAST_MEMORY) {
        true => Finding::new(TOPIC, Health::Limited, found)
            .costs("compilers and copies of the program's data need up to 1 GiB beside the program itself"),
        false => Finding::good(TOPIC, found),
    }
}

fn huge_pages(topology: &Topology) -> Finding {
    const TOPIC: &str = "huge pages";
    match topology.transparent_huge_pages.as_deref() {
        Some("never") => Finding::new(TOPIC, Health::Limited, "never")
            .costs("large arrays with long strides wait for address translation")
            .helped_by("echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"),
        Some(policy) => Finding::good(TOPIC, policy),
        None => Finding::good(TOPIC, "not known"),
    }
}

fn caches(topology: &Topology) -> Finding {
    const TOPIC: &str = "caches";
    let size = |bytes: u64| match bytes {
        0..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    };
    let levels: Vec<String> =
        topology.caches.iter().map(|cache| format!("L{} {}", cache.level, size(cache.bytes))).collect();
    match levels.is_empty() {
        false => Finding::good(TOPIC, levels.join(", ")),
        true => Finding::new(TOPIC, Health::Limited, "the system reports none")
            .costs("tiles are sized by measured capacities alone")
            .helped_by("oxeye doctor --measure measures them"),
    }
}

fn frequency(clock: &ClockPolicy) -> Finding {
    const TOPIC: &str = "clock rate";
    let boost = match clock.boost {
        Some(true) => ", boost on",
        Some(false) => ", boost off",
        None => "",
    };
    match clock.governor.as_deref() {
        None => Finding::good(TOPIC, format!("set by the hardware or a hypervisor{boost}")),
        Some(governor @ ("powersave" | "conservative" | "ondemand" | "userspace")) => {
            Finding::new(TOPIC, Health::Limited, format!("governor {governor}{boost}"))
                .costs("short runs are timed before the clock has risen, and times vary")
                .helped_by("sudo cpupower frequency-set -g performance")
        }
        Some(governor) => Finding::good(TOPIC, format!("governor {governor}{boost}")),
    }
}

fn load(facts: &Facts) -> Finding {
    const TOPIC: &str = "other load";
    let cores = facts.topology.cores();
    match facts.load {
        None => Finding::good(TOPIC, "not known"),
        Some(load) if load > BUSY * f64::from(cores) => {
            Finding::new(TOPIC, Health::Limited, format!("{load:.1} processes busy in the last minute"))
                .costs("times vary, and small gains cannot be told from noise")
                .helped_by("wait until the machine is quiet")
        }
        Some(load) => Finding::good(TOPIC, format!("{load:.1} processes busy in the last minute")),
    }
}

fn counted(survey: &CounterSurvey) -> Finding {
    const TOPIC: &str = "counters";
    let hardware = survey.granted.iter().filter(|counter| !counter.is_software()).count();
    let all = hardware + survey.refused.iter().filter(|missing| !missing.counter.is_software()).count();
    let found = format!("{hardware} of {all} hardware counters");
    if hardware > 0 {
        return Finding::good(TOPIC, found);
    }
    let why = survey.refused.iter().find(|missing| !missing.counter.is_software());
    let why = why.map(|missing| format!("{found}: {}", missing.why)).unwrap_or(found);
    let finding = Finding::new(TOPIC, Health::Missing, why)
        .costs("profiles have the traffic and operations that models compute, not what was counted");
    Finding { remedy: survey.remedy.clone(), ..finding }
}

fn sanitizers(facts: &Facts) -> Finding {
    const TOPIC: &str = "sanitizers";
    let missing: Vec<&(&str, Result<(), String>)> =
        facts.sanitizers.iter().filter(|(_, probed)| probed.is_err()).collect();
    let names = |of: &mut dyn Iterator<Item = &'static str>| of.collect::<Vec<_>>().join(", ");
    match missing.first() {
        None => Finding::good(TOPIC, names(&mut facts.sanitizers.iter().map(|(name, _)| *name))),
        Some((_, why)) => {
            let why = why.as_ref().err().map_or("", String::as_str);
            let missing = names(&mut missing.iter().map(|(name, _)| *name));
            Finding::new(TOPIC, Health::Limited, format!("not there: {missing} ({why})"))
                .costs("oxeye verify leaves these builds out")
                .helped_by("install the compiler's libasan and libubsan (compiler-rt for clang)")
        }
    }
}

fn profile(profile: Option<&HostProfile>) -> Finding {
    const TOPIC: &str = "host profile";
    match profile {
        None => Finding::new(TOPIC, Health::Limited, "this machine was not measured yet")
            .costs("the first run measures it briefly")
            .helped_by("oxeye doctor --measure (a minute, once)"),
        Some(profile) if profile.is_provisional() => {
            Finding::new(TOPIC, Health::Limited, "provisional: it was measured while the machine was busy")
                .costs("roofs may be too low")
                .helped_by("oxeye doctor --measure --refresh, when the machine is quiet")
        }
        Some(profile) => {
            let care = if profile.thorough { "thoroughly" } else { "briefly" };
            Finding::good(TOPIC, format!("measured {care} at {}", profile.measured_at))
        }
    }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_measure::{Counter, MissingCounter};

    /// A machine on which all is well: two of two cores.
    fn well() -> Facts {
        let root = tempfile::tempdir().expect("a folder").path().to_path_buf();
        let sources = Sources { root, allowed_cpus: Some(vec![0, 1]), ask_processor: false };
        let (mut topology, _) = Topology::read(&sources);
        topology.architecture = "x86_64".into();
        (topology.sockets, topology.cores_per_socket, topology.threads_per_core) = (1, 2, 1);
        (topology.allowed_cpus, topology.core_cpus) = (vec![0, 1], vec![0, 1]);
        topology.vector_extensions = ["sse2", "avx", "avx2", "fma"].map(String::from).into();
        topology.available_memory_bytes = Some(8 << 30);
        topology.caches = vec![oxeye_host::CacheInfo {
            level: 1,
            bytes: 32 << 10,
            line_bytes: Some(64),
            ways: None,
            shared_by: 1,
        }];
        Facts {
            compiler: ("cc".into(), Ok(("gcc 12".into(), CompilerFamily::Gcc))),
            openmp: Ok(2),
            topology,
            clock: ClockPolicy::default(),
            counters: CounterSurvey { granted: vec![Counter::Cycles], refused: vec![], remedy: None },
            profile: None,
            load: Some(0.1),
            variables: vec![],
            used_vectors: Some(vec!["avx", "avx2", "fma"]),
            sanitizers: vec![("address", Ok(())), ("undefined", Ok(()))],
        }
    }

    fn finding(facts: &Facts, topic: &str) -> Finding {
        let found = diagnosis(facts).findings.into_iter().find(|finding| finding.topic == topic);
        found.expect("a finding of this topic")
    }

    #[test]
    fn all_is_well_but_for_the_profile() {
        let diagnosis = diagnosis(&well());
        let ill = diagnosis.findings.iter().filter(|finding| finding.health != Health::Good);
        assert_eq!(ill.map(|finding| finding.topic).collect::<Vec<_>>(), ["host profile"]);
        assert!(diagnosis.can_tune);
        let told = diagnosis.findings.iter().filter(|finding| finding.health == Health::Good);
        assert!(told.into_iter().all(|finding| finding.cost.is_none() && finding.remedy.is_none()));
    }

    #[test]
    fn what_is_missing_has_a_cost() {
        let mut facts = well();
        facts.openmp = Err("no libgomp".into());
        assert!(diagnosis(&facts).can_tune);
        facts.counters = CounterSurvey {
            granted: vec![Counter::TaskClock],
            refused: vec![MissingCounter { counter: Counter::Cycles, why: "not on this machine".into() }],
            remedy: None,
        };
        for topic in ["OpenMP", "counters"] {
            let finding = finding(&facts, topic);
            assert!(finding.health == Health::Missing && finding.cost.is_some(), "{finding:?}");
        }
        assert_eq!(finding(&facts, "counters").found, "0 of 1 hardware counters: not on this machine");
        facts.compiler.1 = Err("`cc` was not found; install it".into());
        let without = diagnosis(&facts);
        assert!(!without.can_tune && without.findings.iter().all(|finding| finding.topic != "OpenMP"));
        assert_eq!(finding(&facts, "compiler").found, "`cc` was not found");
    }

    #[test]
    fn threads_that_share_processors_or_move_between_nodes_are_told() {
        let mut facts = well();
        assert_eq!(finding(&facts, "affinity").health, Health::Good);
        facts.topology.numa_nodes = 2;
        let moving = finding(&facts, "affinity");
        assert!(moving.health == Health::Limited && moving.found.contains("2 memory nodes"), "{moving:?}");
        facts.variables = vec![("OMP_PROC_BIND", "spread".into())];
        assert_eq!(finding(&facts, "affinity").health, Health::Good);
        facts.variables = vec![("GOMP_CPU_AFFINITY", "1".into())];
        let bound = finding(&facts, "affinity");
        assert_eq!(bound.remedy.as_deref(), Some("unset GOMP_CPU_AFFINITY"));
        assert_eq!(bound.cost.as_deref(), Some("2 threads share them"));
        for (list, n) in
            [("0-3 6", Some(5)), ("{0,1},{1}", Some(2)), ("cores", None), ("{0:4}", None), ("", None)]
        {
            assert_eq!(processors(list), n, "{list}");
        }
    }

    #[test]
    fn what_the_compiler_leaves_unused_is_told() {
        let mut facts = well();
        facts.topology.vector_extensions.push("avx512f".into());
        let unused = finding(&facts, "vectors");
        assert!(
            unused.health == Health::Limited && unused.found.ends_with("leaves out avx512f"),
            "{unused:?}"
        );
        facts.used_vectors = None;
        assert_eq!(finding(&facts, "vectors").health, Health::Good);
        facts.sanitizers[0].1 = Err("cannot find -lasan".into());
        let sanitizers = finding(&facts, "sanitizers");
        assert_eq!(sanitizers.found, "not there: address (cannot find -lasan)");
        assert!(sanitizers.cost.is_some());
    }

    #[test]
    fn limits_are_told_with_what_helps() {
        let mut facts = well();
        facts.variables = vec![("OMP_NUM_THREADS", "1".into())];
        let threads = finding(&facts, "threads");
        assert_eq!(threads.health, Health::Limited);
        assert_eq!(threads.remedy.as_deref(), Some("unset OMP_NUM_THREADS, or tune with --threads 1"));
        facts.variables = vec![("OMP_NUM_THREADS", "4".into())];
        assert_eq!(finding(&facts, "threads").health, Health::Good);
        facts.topology.container.cpus = Some(1.5);
        assert!(finding(&facts, "threads").found.ends_with("the container has time of 1.5"));
        facts.topology.vector_extensions.retain(|extension| extension != "fma");
        facts.topology.transparent_huge_pages = Some("never".into());
        facts.topology.available_memory_bytes = Some(1 << 30);
        facts.topology.caches.clear();
        facts.clock.governor = Some("powersave".into());
        facts.load = Some(0.6);
        for topic in ["vectors", "huge pages", "memory", "caches", "clock rate", "other load"] {
            let finding = finding(&facts, topic);
            assert!(finding.health == Health::Limited && finding.cost.is_some(), "{finding:?}");
        }
        facts.load = Some(0.4);
        assert_eq!(finding(&facts, "other load").health, Health::Good);
    }
}
