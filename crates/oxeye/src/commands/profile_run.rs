//! The program's own run, traced: calls and times of its nests, what they do per second, and when which thread was in which.

use super::profile_report::ProfileOptions;
use crate::machine::{CallWork, Sizes};
use crate::nest::{TunedNest, Workpiece};
use crate::request::Error;
use crate::session::Session;
use crate::workshop::complaint;
use oxeye_codegen::trace_program;
use oxeye_host::{FloatType, HostProfile};
use oxeye_ir::Span;
use oxeye_measure::{
    CompilerFamily, Counter, Limits, SiteTimes, TRACE_RUNTIME_C, TraceOptions, TraceRun, counters, trace,
    trace_link_args,
};
use oxeye_profile::{Section, SectionTimes, SectionWork, TraceSlice, chrome_trace};
use std::collections::BTreeSet;

/// What is counted in each interval, where it is granted.
const COUNTERS: [Counter; 6] = [
    Counter::Cycles,
    Counter::Instructions,
    Counter::L1dReadMisses,
    Counter::LlReadMisses,
    Counter::TaskClock,
    Counter::PageFaults,
];

/// What the traced run told.
#[derive(Default)]
pub(super) struct TracedProgram {
    /// The nests that ran, in the order of the file, and all of them together.
    pub(super) sections: Vec<Section>,
    /// The run for trace viewers, where that was asked.
    pub(super) trace: Option<String>,
    /// Sentences on it.
    pub(super) notes: Vec<String>,
}

/// Builds the program with a call at both ends of every nest, and runs it once. Where there is no program, or it does not run
/// so, there are no sections, and a note says why.
///
/// # Errors
/// If the run is interrupted, or a process cannot be started.
pub(super) fn trace_nests(
    session: &Session<'_>,
    workpiece: &Workpiece,
    host: &HostProfile,
    profiling: &ProfileOptions,
) -> Result<TracedProgram, Error> {
    let mut traced = TracedProgram::default();
    // Without a nest, the program was not run.
    if workpiece.nests.is_empty() {
        return Ok(traced);
    }
    if workpiece.program.is_none() {
        traced.notes.push("sections and traces are of a program's run, and there is no program".into());
        return Ok(traced);
    }
    let run = match traced_run(session, workpiece, profiling)? {
        Ok(run) => run,
        Err(why) => {
            traced.notes.push(format!("no sections: {why}"));
            return Ok(traced);
        }
    };
    traced.sections = sections(session, workpiece, host, &run);
    if run.abandoned > 0 {
        traced.notes.push(format!(
            "{} runs of nests were left before their end, by return or exit; they are in no section",
            run.abandoned
        ));
    }
    if profiling.trace.is_some() {
        traced.trace = Some(chrome(session, workpiece, &run));
        if run.dropped > 0 {
            traced.notes.push(format!(
                "the trace has the first {} intervals; {} were dropped (--trace-events)",
                run.intervals.len(),
                run.dropped
            ));
        }
        let is_gcc = session.workshop.compiler.family().is_ok_and(|family| family == CompilerFamily::Gcc);
        if !is_gcc && session.workshop.openmp_flag().is_none() {
            let note = "the trace has only the threads that enter a nest: those of its parallel loops are seen where gcc compiles them";
            traced.notes.push(note.into());
        }
    }
    Ok(traced)
}

/// The run, or why there is none.
fn traced_run(
    session: &Session<'_>,
    workpiece: &Workpiece,
    profiling: &ProfileOptions,
) -> Result<Result<TraceRun, String>, Error> {
    let Workpiece { unit, nests, .. } = workpiece;
    let sites: Vec<(u32, Span)> =
        nests.iter().enumerate().map(|(idx, nest)| (idx as u32, nest.place.span)).collect();
    let text = trace_program(&unit.source, &sites, TRACE_RUNTIME_C);
    let workshop = &session.workshop;
    let source = workshop.write_variant("traced.c", &text)?;
    let most = format!("-DOXEYE_TRACE_SITES={}", nests.len().max(1));
    let job = workshop.program_job(&source, "traced", false).args(["-w", &most]).link_args(trace_link_args());
    let built = workshop.build(&job);
    session.check_cancelled()?;
    let program = match built {
        Ok(program) => program,
        Err(error) => {
            return Ok(Err(format!("the traced program does not build: {}", complaint(&error.to_string()))));
        }
    };
    let is_asked = profiling.trace.is_some() && profiling.counters;
    let granted = if is_asked { counters::survey().granted } else { Vec::new() };
    let options = TraceOptions {
        events: profiling.trace_events,
        counters: COUNTERS.into_iter().filter(|counter| granted.contains(counter)).collect(),
    };
    let limits = Limits { seconds: session.program_limit().as_secs_f64(), ..Limits::default() };
    let file = workshop.folder.join("trace.txt");
    let run = &session.options.run;
    let traced = session.in_program(|| trace(&run.of(&program), &limits, &file, &options))?;
    session.check_cancelled()?;
    if !run.is_success(traced.outcome.exit) {
        return Ok(Err(format!("the traced program ends with {}", traced.outcome.exit)));
    }
    if !traced.complete {
        return Ok(Err("the program ends in a way that leaves no time to write what was traced".into()));
    }
    Ok(Ok(traced))
}

fn sections(
    session: &Session<'_>,
    workpiece: &Workpiece,
    host: &HostProfile,
    run: &TraceRun,
) -> Vec<Section> {
    let run_ns = run.outcome.elapsed_ns as f64;
    let peak = |ty| host.peak_gflops(ty, session.threads, u32::MAX).map(|peak| peak.value);
    let most = [FloatType::F64, FloatType::F32].into_iter().filter_map(peak).reduce(f64::max);
    // Ceilings that were measured on a busy machine prove nothing.
    let most = most.filter(|_| !host.is_provisional());
    let of = |times: &SiteTimes| {
        let nest = &workpiece.nests[times.site as usize];
        let timed = SectionTimes {
            calls: times.calls,
            min_ns: times.least_ns as f64,
            max_ns: times.most_ns as f64,
            total_ns: times.sum_ns as f64,
        };
        Section::new(
            nest.place.name(&workpiece.unit),
            timed,
            work(workpiece, nest, times.calls),
            run_ns,
            most,
        )
    };
    let mut sections: Vec<Section> = run.sites.iter().map(of).collect();
    // The work of a nest inside another is counted there.
    let ran = |idx: &usize| run.sites.iter().any(|times| times.site as usize == *idx);
    let inside: BTreeSet<usize> = (0..workpiece.nests.len())
        .filter(ran)
        .flat_map(|idx| workpiece.nests[idx].place.inside.iter().copied())
        .collect();
    let outermost: Vec<&Section> = run
        .sites
        .iter()
        .zip(&sections)
        .filter(|(times, _)| !inside.contains(&(times.site as usize)))
        .map(|(_, section)| section)
        .collect();
    if outermost.len() > 1 {
        let all = Section::all(&outermost, run_ns, most);
        sections.push(all);
    }
    sections
}

/// What all calls of a nest do: those of a class by size as much as its sample, or as the first one in proportion.
fn work(workpiece: &Workpiece, nest: &TunedNest, calls: u64) -> SectionWork {
    let (_, program, ir) = nest.place.of(&workpiece.unit);
    let sizes: Vec<Sizes> =
        nest.calls.samples.iter().map(|sample| Sizes::of(&nest.calls.arguments, sample)).collect();
    let Some(first) = sizes.first() else { return SectionWork::default() };
    let of = |sizes: &Sizes| CallWork::of(program, ir, sizes);
    let seen: u64 = nest.calls.classes.iter().map(|class| class.invocations).sum();
    let all = if sizes.iter().all(|other| other == first) || seen == 0 {
        of(first).times(calls as f64)
    } else {
        let samples = &nest.calls.samples;
        let parts = nest.calls.classes.iter().map(|class| {
            let own = samples.iter().position(|sample| sample.size_class == Some(class.log2));
            let n = class.invocations as f64 * calls as f64 / seen as f64;
            match own {
                Some(at) => of(&sizes[at]).times(n),
                None => {
                    let from = samples[0].size_class.unwrap_or(class.log2);
                    of(first).times(n * 2f64.powi(class.log2 as i32 - from as i32))
                }
            }
        });
        let sum = parts.reduce(CallWork::plus).unwrap_or_default();
        // Calls of one class may differ.
        sum.modelled()
    };
    SectionWork { points: all.points, flops: all.flops, bytes: all.bytes }
}

fn chrome(session: &Session<'_>, workpiece: &Workpiece, run: &TraceRun) -> String {
    let name = |site: u32| workpiece.nests[site as usize].place.name(&workpiece.unit);
    let slices: Vec<TraceSlice> = run
        .intervals
        .iter()
        .map(|interval| TraceSlice {
            name: match interval.site {
                Some(site) if interval.is_part => format!("{} (part)", name(site)),
                Some(site) => name(site),
                None => "parallel region".to_owned(),
            },
            category: if interval.is_part { "part" } else { "nest" },
            thread: interval.thread,
            begin_ns: interval.begin_ns,
            end_ns: interval.end_ns,
            arguments: interval.counts.iter().map(|(c, value)| (c.name().to_owned(), *value)).collect(),
        })
        .collect();
    let options = session.options;
    let about = [("file", options.file.display().to_string()), ("compiler", options.compiler.line())];
    chrome_trace(&slices, &options.file.display().to_string(), &about, run.dropped)
}
