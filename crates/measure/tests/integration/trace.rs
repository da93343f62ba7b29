//! Tracing real programs.

use oxeye_measure::{
    CompileJob, Compiler, Counter, Invocation, Limits, TRACE_RUNTIME_C, TraceOptions, TraceRun, WorkDir,
    trace, trace_link_args,
};

const PROGRAM: &str = "
static double a[1 << 16];
static int first(double x)
{
    oxeye_trace_begin(2);
    for (int i = 0; i < 1 << 16; i++)
        if (a[i] > x)
            return i;
    oxeye_trace_end(2);
    return -1;
}
int main(void)
{
    for (int t = 0; t < 40; t++) {
        oxeye_trace_begin(1);
#pragma omp parallel for num_threads(3)
        for (int i = 0; i < 1 << 16; i++)
            a[i] += i;
        oxeye_trace_end(1);
    }
    return first(1e300) + first(5.0) < 0;
}
";

fn traced(flags: &[&str], options: &TraceOptions) -> TraceRun {
    let work = WorkDir::new().expect("a folder");
    let source = work.write("traced.c", format!("{TRACE_RUNTIME_C}\n{PROGRAM}")).expect("written");
    let job = CompileJob::executable(source, work.join("traced")).link_args(trace_link_args());
    let program = Compiler::new("gcc", flags.iter().copied()).compile(&job).expect("it builds");
    trace(&Invocation::new(program), &Limits::default(), &work.join("trace.txt"), options).expect("it runs")
}

#[test]
fn every_call_is_counted_and_every_thread_seen() {
    let run = traced(&["-O1", "-fopenmp"], &TraceOptions::default());
    assert!(run.complete && run.outcome.exit.success() && run.dropped == 0);
    assert_eq!(run.sites.iter().map(|site| (site.site, site.calls)).collect::<Vec<_>>(), [(1, 40), (2, 1)]);
    // The second search is left by a return.
    assert_eq!(run.abandoned, 1);
    for site in &run.sites {
        assert!(site.least_ns <= site.most_ns && site.most_ns <= site.sum_ns);
    }
    let nests = run.intervals.iter().filter(|interval| !interval.is_part && interval.site == Some(1));
    assert_eq!(nests.clone().count(), 40);
    assert!(nests.clone().all(|nest| nest.thread == 0));
    let parts: Vec<_> = run.intervals.iter().filter(|interval| interval.is_part).collect();
    assert_eq!(parts.len(), 3 * 40);
    let threads: std::collections::BTreeSet<u32> = parts.iter().map(|part| part.thread).collect();
    assert_eq!(threads.len(), 3);
    // Each part lies in a run of its nest.
    for part in parts {
        assert_eq!(part.site, Some(1));
        assert!(nests.clone().any(|nest| nest.begin_ns <= part.begin_ns && part.begin_ns <= nest.end_ns));
    }
}

#[test]
fn what_has_no_room_is_told_and_counted_all_the_same() {
    let options = TraceOptions { events: 10, ..TraceOptions::default() };
    let run = traced(&["-O1"], &options);
    assert_eq!((run.intervals.len(), run.dropped), (10, 31));
    assert_eq!(run.sites[0].calls, 40);
}

#[test]
fn counters_that_are_granted_are_read() {
    let options = TraceOptions { counters: vec![Counter::TaskClock], ..TraceOptions::default() };
    let run = traced(&["-O1"], &options);
    for interval in &run.intervals {
        // In a container that forbids it there is none at all.
        assert!(interval.counts.iter().all(|(counter, _)| *counter == Counter::TaskClock));
    }
}
