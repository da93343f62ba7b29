//! Counting and timing real libraries, with the counters of this machine and with those of scripted ones.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::PathBuf;

use oxeye_measure::counters::{
    ControllerEvent, Count, CountingMachine, Event, EventId, Kernel, ProcessorModel, ScriptedAnswer,
    ScriptedCount, ScriptedKernel, Target, survey,
};
use oxeye_measure::{
    CompileJob, Compiler, CountedCalls, Counter, CountingOptions, ElementType, Init, MeasureError,
    ProfileTimingOptions, Rejection, Replay, ReplayOptions, Sample, SyntheticArg, WorkDir,
};

struct Bench {
    work: WorkDir,
    replay: Replay,
    sample: Sample,
}

impl Bench {
    /// `double x[n]`, `double y[n]`, `long n` with n = 1000; `x` and `y` in [0.1, 1).
    fn new(threads: usize) -> Bench {
        let work = WorkDir::new().expect("work folder");
        let options = ReplayOptions { threads, call_seconds: 30.0, ..ReplayOptions::default() };
        let replay = Replay::new(&Compiler::new("gcc", ["-O2"]), &work, options).expect("runner builds");
        let arg = |elements, element, init| SyntheticArg { element, elements, init };
        let sample = Sample::synthetic(
            &work.join("sample.bin"),
            &[
                arg(1000, ElementType::F64, Init::Random { seed: 1 }),
                arg(1000, ElementType::F64, Init::Random { seed: 2 }),
                arg(1, ElementType::I64, Init::Integer(1000)),
            ],
        )
        .expect("sample");
        Bench { work, replay, sample }
    }

    fn library(&self, name: &str, body: &str) -> PathBuf {
        let text = format!(
            "#define _GNU_SOURCE\n#include <omp.h>\n#include <stdlib.h>\n#include <sys/mman.h>\n#include <unistd.h>\n\
             void oxeye_replay(void **args)\n{{\n    double *x = args[0], *y = args[1];\n    \
             long n = *(long *)args[2];\n    (void)x, (void)y, (void)n;\n    {body}\n}}\n"
        );
        let source = self.work.write(format!("{name}.c"), text).expect("written");
        let job = CompileJob::shared_library(source, self.work.join(format!("{name}.so")));
        Compiler::new("gcc", ["-O2", "-fopenmp"]).compile(&job).expect("compiles")
    }

    fn scripted(&self, kernel: &mut ScriptedKernel, options: &CountingOptions) -> CountedCalls {
        let library = self.library("sum", SUM);
        let counted = self.replay.counted_by(kernel, &library, &self.sample, options).expect("runs");
        assert_eq!(kernel.n_open(), 0);
        assert!(counted.readings.is_sorted_by_key(|reading| reading.counter));
        let mut all: Vec<Counter> = counted.readings.iter().map(|reading| reading.counter).collect();
        all.extend(counted.missing.iter().map(|missing| missing.counter));
        all.sort();
        assert_eq!(all, options.counters);
        counted
    }
}

const SUM: &str = "for (long i = 0; i < n; i++) y[i] += 3 * x[i];";

/// Touches 300 fresh pages in every thread.
const FRESH: &str = "_Pragma(\"omp parallel\") {
        long page = sysconf(_SC_PAGESIZE), bytes = 300 * page;
        char *fresh = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise(fresh, bytes, MADV_NOHUGEPAGE);
        for (long i = 0; i < bytes; i += page) ((volatile char *)fresh)[i] = 1;
        munmap(fresh, bytes);
    }";

fn server() -> CountingMachine {
    let controller =
        |writes, config| ControllerEvent { writes, kind: 14, config, processors: vec![0], bytes: 64.0 };
    CountingMachine {
        paranoid: Some(0),
        processor: ProcessorModel { vendor: "GenuineIntel".to_owned(), family: 6, model: 0x55 },
        memory_controllers: vec![controller(false, 1), controller(true, 2)],
    }
}

fn kernel(script: impl FnMut(&Event) -> ScriptedAnswer + 'static) -> ScriptedKernel {
    let mut script = script;
    ScriptedKernel::new(server(), move |event, _| script(event))
}

#[test]
fn the_counters_of_this_machine_count_the_call_and_all_its_threads() {
    let bench = Bench::new(3);
    let survey = survey();
    let options = CountingOptions::default();
    let counted = |name, body| {
        let library = bench.library(name, body);
        bench.replay.counted(&library, &bench.sample, &options).expect("runs")
    };
    let fresh = counted("fresh", FRESH);
    assert_eq!(fresh.readings.len() + fresh.missing.len(), Counter::ALL.len());
    assert!(fresh.missing.iter().all(|missing| !missing.why.is_empty()));
    assert!(fresh.call_ns.n >= 1);
    for granted in Counter::ALL.into_iter().filter(|c| c.is_software() && survey.granted.contains(c)) {
        // In a call too short to be interrupted, too.
        assert!(counted("short", "y[0] = x[0];").value(granted).is_some(), "{granted}");
        assert!(fresh.value(granted).is_some(), "{granted}");
    }
    if survey.granted.contains(&Counter::TaskClock) {
        assert!(fresh.value(Counter::TaskClock).is_some_and(|ns| ns > 0.0), "{fresh:?}");
    }
    if survey.granted.contains(&Counter::PageFaults) {
        let faults = fresh.value(Counter::PageFaults).expect("granted");
        assert!((900.0..1500.0).contains(&faults), "{faults}");
        // Restoring the inputs touches memory, too, but is not counted, and neither is the first call.
        let faults = counted("sum", SUM).value(Counter::PageFaults).expect("granted");
        assert!(faults < 100.0, "{faults}");
    }
}

#[test]
fn everything_granted() {
    let bench = Bench::new(2);
    let mut kernel = kernel(|event| Ok(ScriptedCount::of(if event.kind == Event::RAW { 10 } else { 7 })));
    let counted = bench.scripted(&mut kernel, &CountingOptions::default());
    assert_eq!(counted.missing.len(), 1, "{:?}", counted.missing);
    assert_eq!(counted.missing[0].counter, Counter::AllFlops);
    assert!(counted.readings.iter().all(|reading| !reading.scaled));
    assert_eq!(counted.value(Counter::Cycles), Some(7.0));
    assert_eq!(counted.value(Counter::DramReadBytes), Some(7.0 * 64.0));
    assert_eq!(counted.value(Counter::F32Vector512Flops), Some(160.0));
    // Lanes of scalar, 128, 256 and 512 bits: of doubles 1 + 2 + 4 + 8, of floats 1 + 4 + 8 + 16.
    assert_eq!(counted.flops(), Some(10.0 * (15.0 + 29.0)));
}

#[test]
fn everything_refused() {
    let bench = Bench::new(1);
    for errno in [libc::ENOENT, libc::EACCES, libc::EPERM, libc::EOPNOTSUPP, libc::EMFILE, libc::ENOSYS] {
        let counted = bench.scripted(&mut kernel(move |_| Err(errno)), &CountingOptions::default());
        assert_eq!(counted.readings, []);
        assert!(counted.missing.iter().all(|missing| !missing.why.is_empty()));
        assert_eq!(counted.flops(), None);
        assert!(counted.call_ns.n >= 1);
    }
}

#[test]
fn partly_granted() {
    let bench = Bench::new(1);
    let mut kernel = kernel(|event| match (event.kind, event.config) {
        (Event::SOFTWARE, _) | (Event::HARDWARE, 0) => Ok(ScriptedCount::of(5)),
        (Event::RAW, config) if config < 0x2000 => Ok(ScriptedCount::of(5)),
        (Event::CACHE, _) => Ok(ScriptedCount { value: 5, running: 0.0 }),
        _ => Err(libc::ENOENT),
    });
    let counted = bench.scripted(&mut kernel, &CountingOptions::default());
    assert_eq!(counted.value(Counter::Cycles), Some(5.0));
    assert_eq!(counted.value(Counter::Instructions), None);
    assert_eq!(counted.value(Counter::F64ScalarFlops), Some(5.0));
    assert_eq!(counted.flops(), None, "a part of the widths is missing");
    let why = |counter| {
        let missing = counted.missing.iter().find(|missing| missing.counter == counter);
        missing.map(|missing| missing.why.as_str()).unwrap_or_default()
    };
    assert_eq!(why(Counter::Instructions), "this processor or virtual machine has no such counter");
    assert!(why(Counter::L1dReads).contains("never got a place"), "{}", why(Counter::L1dReads));
}

#[test]
fn taking_turns_is_extrapolated_and_flagged() {
    let bench = Bench::new(1);
    let script = |event: &Event| match event.kind {
        Event::SOFTWARE => Ok(ScriptedCount::of(8)),
        _ => Ok(ScriptedCount { value: 8, running: 0.5 }),
    };
    // Without time for calls per group, all groups count in the same ones; the values are those of one call either way.
    for max_seconds in [0.0, 1e6] {
        let options = CountingOptions { max_seconds, calls: 4, ..CountingOptions::default() };
        let counted = bench.scripted(&mut kernel(script), &options);
        let n_calls = if max_seconds == 0.0 { 1 } else { 4 * 8 };
        assert_eq!(counted.call_ns.n, n_calls);
        for reading in counted.readings.iter().filter(|reading| !reading.counter.is_flops()) {
            let worth = if reading.counter.is_machine_wide() { 64.0 } else { 1.0 };
            let expected = if reading.counter.is_software() { 8.0 } else { 16.0 };
            assert_eq!(reading.value, expected * worth, "{reading:?}");
            assert_eq!(reading.scaled, !reading.counter.is_software());
        }
    }
}

#[test]
fn groups_that_are_too_large_are_counted_one_by_one() {
    let bench = Bench::new(1);
    let options = CountingOptions { max_seconds: 1e6, calls: 1, ..CountingOptions::default() };
    let mut kernel = kernel(|_| Ok(ScriptedCount::of(3))).with_group_limit(1);
    let counted = bench.scripted(&mut kernel, &options);
    assert_eq!(counted.missing.len(), 1);
    // The memory controllers form no group, and count in the same call.
    assert_eq!(counted.call_ns.n, 27);
}

/// Gives every event a descriptor, as the real kernel does, of a file that cannot be enabled.
struct WithDescriptors {
    scripted: ScriptedKernel,
    file: File,
}

impl Kernel for WithDescriptors {
    fn machine(&self) -> CountingMachine {
        self.scripted.machine()
    }

    fn open(&mut self, event: &Event, target: Target, leader: Option<EventId>) -> io::Result<EventId> {
        self.scripted.open(event, target, leader)
    }

    fn close(&mut self, event: EventId) {
        self.scripted.close(event);
    }

    fn enable(&mut self, leader: EventId) -> io::Result<()> {
        self.scripted.enable(leader)
    }

    fn disable(&mut self, leader: EventId) -> io::Result<()> {
        self.scripted.disable(leader)
    }

    fn read(&mut self, event: EventId) -> io::Result<Count> {
        self.scripted.read(event)
    }

    fn descriptor(&self, _: EventId) -> Option<RawFd> {
        Some(self.file.as_raw_fd())
    }
}

#[test]
fn any_number_of_events_reaches_the_replay_process() {
    let bench = Bench::new(1);
    let library = bench.library("sum", SUM);
    for n_controllers in [30, 32, 100, 600] {
        let mut machine = server();
        machine.memory_controllers = vec![machine.memory_controllers[0].clone(); n_controllers];
        let scripted = ScriptedKernel::new(machine, |_, _| Ok(ScriptedCount::of(3)));
        let file = File::open("/dev/null").expect("there");
        let mut kernel = WithDescriptors { scripted, file };
        let options = CountingOptions::default();
        let counted = bench.replay.counted_by(&mut kernel, &library, &bench.sample, &options).expect("runs");
        assert_eq!(counted.readings, [], "nothing could be enabled");
        assert_eq!(counted.missing.len(), Counter::ALL.len());
    }
}

#[test]
fn a_crash_under_counters_rejects_the_library_and_closes_them() {
    let bench = Bench::new(1);
    let library = bench.library("abort", "abort();");
    let mut kernel = kernel(|_| Ok(ScriptedCount::of(3)));
    let options = CountingOptions::default();
    let error = bench.replay.counted_by(&mut kernel, &library, &bench.sample, &options);
    assert!(matches!(
        error,
        Err(MeasureError::Rejected { rejection: Rejection::Crashed { signal: libc::SIGABRT }, .. })
    ));
    assert_eq!(kernel.n_open(), 0);
    assert!(bench.replay.counted(&library, &bench.sample, &options).is_err());
}

const FEW: ProfileTimingOptions =
    ProfileTimingOptions { flush_bytes: 4 << 20, max_seconds: 0.0, min_samples: 3, max_samples: 5 };

#[test]
fn cold_and_warm_times() {
    let bench = Bench::new(2);
    let parallel = "_Pragma(\"omp parallel for\") for (long i = 0; i < n; i++) y[i] += 3 * x[i];";
    for (name, body) in [("sum", SUM), ("parallel", parallel)] {
        let library = bench.library(name, body);
        let times = bench.replay.profile_times(&library, &bench.sample, &FEW).expect("runs");
        assert_eq!((times.cold.n, times.warm.n), (3, 3));
        assert!(times.cold.min > 0.0 && times.warm.min > 0.0);
        assert!(!times.warm_restored);
        assert_eq!(times.flushed_bytes, 4 << 20);
    }
}

#[test]
fn a_nest_that_cannot_run_on_its_own_results_is_timed_on_restored_inputs() {
    let bench = Bench::new(1);
    // Also shows that cold calls find their inputs restored.
    let library = bench.library("once", "if (y[0] > 1) abort(); y[0] = 7;");
    let times = bench.replay.profile_times(&library, &bench.sample, &FEW).expect("runs");
    assert!(times.warm_restored);
    assert_eq!((times.cold.n, times.warm.n), (3, 3));
    let crashing = bench.library("abort", "abort();");
    let error = bench.replay.profile_times(&crashing, &bench.sample, &FEW);
    assert!(matches!(error, Err(MeasureError::Rejected { .. })));
}

#[test]
fn a_sweep_without_memory_is_not_the_librarys_fault() {
    let mut bench = Bench::new(1);
    let options = ReplayOptions { memory_bytes: Some(512 << 20), ..ReplayOptions::default() };
    bench.replay = Replay::new(&Compiler::new("gcc", ["-O2"]), &bench.work, options).expect("runner builds");
    let library = bench.library("sum", SUM);
    let options = ProfileTimingOptions { flush_bytes: u64::MAX, ..FEW };
    let error = bench.replay.profile_times(&library, &bench.sample, &options).expect_err("no memory");
    assert!(matches!(error, MeasureError::Runner { .. }), "{error}");
    assert!(error.rejection().is_none());
}

#[test]
fn the_number_of_threads_can_be_overridden() {
    let bench = Bench::new(1);
    let library = bench.library(
        "threads",
        "int team = 0; _Pragma(\"omp parallel reduction(+: team)\") team += 1; y[0] = team;",
    );
    for threads in [1, 2, 3] {
        let replay = bench.replay.with_threads(threads);
        assert_eq!(replay.options().threads, threads);
        let outputs = replay.outputs(&library, &bench.sample).expect("runs");
        let y = outputs.read_arg(1).expect("read");
        assert_eq!(ElementType::F64.read_f64(&y[..8]), Some(threads as f64));
    }
}
