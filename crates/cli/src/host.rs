//! What this machine can do: `oxeye doctor --measure`, or `oxeye host` as it was called.

use crate::columns::{self, Column};
use crate::exit::Exit;
use crate::manner::Manner;
use crate::terminal::print_or_quit;
use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use oxeye_host::{
    Bandwidth, Effort, FloatType, HostProfile, MemoryLevel, Operation, Quantity, Step, StreamKernel, Topology,
};
use oxeye_measure::{Compiler, CounterSurvey, counters};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Measure what this machine can do: bandwidths of caches and memory, peak rates, counters
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Measure again even if this machine's profile is known
    #[arg(long)]
    pub(crate) refresh: bool,
    /// Measure roughly, within three seconds
    #[arg(long)]
    pub(crate) brief: bool,
    /// Write the profile as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Compiler whose OpenMP is timed
    #[arg(long, value_name = "CC", default_value = "cc")]
    pub(crate) cc: String,
}

impl Args {
    /// The machine's profile, kept or measured.
    pub(crate) fn answer(&self, progress: &mut dyn FnMut(Step)) -> anyhow::Result<HostProfile> {
        let effort = if self.brief { Effort::Brief } else { Effort::Thorough };
        let compiler = Compiler::new(&self.cc, [""; 0]);
        let profile = match self.refresh {
            true => oxeye_host::measure_and_keep(effort, Some(&compiler), progress),
            false => oxeye_host::load_or_measure(effort, Some(&compiler), progress),
        };
        Ok(profile?)
    }
}

/// Runs the subcommand.
pub(crate) fn run(args: Args, manner: &Manner) -> anyhow::Result<Exit> {
    if let Some(path) = args.json.as_deref().filter(|path| *path != Path::new("-")) {
        oxeye::check_writable(path, &[])?;
    }
    let bar = bar(manner);
    let mut progress = |step: Step| {
        bar.set_message(step.label);
        bar.set_position((step.fraction * 1000.0) as u64);
    };
    let outcome = args.answer(&mut progress);
    bar.finish_and_clear();
    let (profile, survey) = (outcome?, counters::survey());
    match args.json.as_deref() {
        Some(path) if path == Path::new("-") => print_or_quit(&json(&profile, &survey)?)?,
        Some(path) => {
            oxeye::write_atomically(path, json(&profile, &survey)?.as_bytes())?;
            manner.say(&|view| render(&profile, &survey, view.width))?;
        }
        None => manner.say(&|view| render(&profile, &survey, view.width))?,
    }
    Ok(Exit::Done)
}

/// On standard error, if that is a terminal.
fn bar(manner: &Manner) -> ProgressBar {
    let bar = ProgressBar::new(1000);
    if !manner.shows_progress() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg:32} {wide_bar} {percent:>3} % {elapsed}")
    {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// The profile's own form, and the counters beside it.
pub(crate) fn json(profile: &HostProfile, survey: &CounterSurvey) -> anyhow::Result<String> {
    let mut value = serde_json::to_value(profile).context("the profile has no JSON form")?;
    if let Some(fields) = value.as_object_mut() {
        fields.insert(
            "counters".into(),
            serde_json::to_value(survey).context("the counters have no JSON form")?,
        );
    }
    Ok(format!("{value:#}\n"))
}

/// The profile for people.
fn render(profile: &HostProfile, survey: &CounterSurvey, width: usize) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = topology(&mut out, profile, width);
    if !profile.memory_levels.is_empty() {
        let _ = writeln!(out, "\nbandwidth in GB/s of bytes that the program reads and writes, best round");
        let _ = write!(out, "{}", bandwidths(&profile.memory_levels, width));
    }
    let _ = writeln!(out, "\npeak multiply-add in GFLOP/s, best round");
    let _ = write!(out, "{}", peaks(profile, width));
    if !profile.rates.is_empty() {
        let _ = writeln!(out, "\nexpensive operations, 10^9 results per second on one core, best round");
        let _ = write!(out, "{}", rates(profile, width));
    }
    let _ = writeln!(out);
    if let Some(cost) = profile.fork_join_us {
        let cores = profile.all_cores();
        let _ =
            writeln!(out, "an empty OpenMP parallel region of {cores} threads takes {:.2} us", cost.value);
    }
    out += &columns::wrapped(&profile.noise.sentence, width);
    if profile.is_provisional() {
        out += "this profile is provisional: the next run measures again\n";
    }
    out += &counter_lines(survey, width);
    for note in &profile.notes {
        out += &columns::wrapped(&format!("note: {note}"), width);
    }
    let care = if profile.thorough { "thoroughly" } else { "briefly" };
    let _ = writeln!(out, "measured {care} at {} in {:.1} s", profile.measured_at, profile.seconds);
    out
}

fn topology(out: &mut String, profile: &HostProfile, width: usize) -> std::fmt::Result {
    let t: &Topology = &profile.topology;
    writeln!(out, "{}, microcode {}", t.cpu_model, t.microcode.as_deref().unwrap_or("unknown"))?;
    let allowed = t.allowed_cpus.len();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let parts = [
        count(t.sockets as usize, "socket"),
        format!("{} each", count(t.cores_per_socket as usize, "core")),
        format!("{} per core", count(t.threads_per_core as usize, "thread")),
        count(t.numa_nodes as usize, "memory node"),
    ];
    writeln!(out, "{}", parts.join(", "))?;
    let usable = [count(t.cores() as usize, "core"), count(allowed, "thread")];
    writeln!(out, "this process may use {}", usable.join(", "))?;
    if let Some(clock) = profile.clock_ghz {
        writeln!(out, "clock rate of a busy core: {:.2} GHz", clock.value)?;
    }
    if !t.vector_extensions.is_empty() {
        let line = format!("vector extensions: {}", t.vector_extensions.join(" "));
        out.push_str(&columns::wrapped(&line, width));
    }
    for cache in &t.caches {
        let line = cache.line_bytes.map(|b| format!(", lines of {b} B")).unwrap_or_default();
        let ways = cache.ways.map(|w| format!(", {w} ways")).unwrap_or_default();
        let shared = match cache.shared_by {
            0 | 1 => String::new(),
            n => format!(", shared by {n} threads"),
        };
        writeln!(out, "L{}: {} reported{line}{ways}{shared}", cache.level, size(cache.bytes))?;
    }
    let memory = t.memory_bytes.map_or("unknown".into(), size);
    let huge = t.transparent_huge_pages.as_deref().map(|p| format!(", huge pages {p}")).unwrap_or_default();
    writeln!(out, "memory: {memory}, pages of {}{huge}", size(t.page_bytes))?;
    if let Some(cpus) = t.container.cpus {
        writeln!(out, "container: time of {cpus:.2} processors")?;
    }
    if let Some(bytes) = t.container.memory_bytes {
        writeln!(out, "container: {} of memory", size(bytes))?;
    }
    Ok(())
}

fn bandwidths(levels: &[MemoryLevel], width: usize) -> String {
    let kernels = StreamKernel::ALL;
    let mut columns = vec![
        Column::whole("level"),
        Column::numbers("up to"),
        Column::numbers("threads"),
        Column::words("stores"),
    ];
    columns.extend(kernels.map(|kernel| Column::numbers(kernel.name())));
    let mut cells = Vec::new();
    for level in levels {
        let mut rows: Vec<(bool, u32)> =
            level.bandwidths.iter().map(|b| (b.non_temporal, b.threads)).collect();
        rows.sort_unstable();
        rows.dedup();
        for (non_temporal, threads) in rows {
            let rate = |kernel: StreamKernel| {
                let fits =
                    |b: &&Bandwidth| (b.kernel, b.non_temporal, b.threads) == (kernel, non_temporal, threads);
                level.bandwidths.iter().find(fits).map(|b| number(b.gb_per_s)).unwrap_or_default()
            };
            let stores = if non_temporal { "non-temporal" } else { "ordinary" };
            let capacity = level.capacity_bytes.map(size).unwrap_or_default();
            let head = [level.name.clone(), capacity, threads.to_string(), stores.into()];
            cells.push(head.into_iter().chain(kernels.map(rate)).collect());
        }
    }
    columns::table(&columns, &cells, width)
}

/// Widths that any rate was measured with, and their heads.
fn widths(all: impl Iterator<Item = u32>) -> Vec<(u32, &'static str)> {
    let mut widths: Vec<u32> = all.collect();
    widths.sort_unstable();
    widths.dedup();
    let head = |bits| match bits {
        0 => "scalar",
        128 => "128 bits",
        256 => "256 bits",
        512 => "512 bits",
        _ => "vectors",
    };
    widths.into_iter().map(|bits| (bits, head(bits))).collect()
}

fn peaks(profile: &HostProfile, width: usize) -> String {
    let widths = widths(profile.compute.iter().map(|p| p.vector_bits));
    let mut columns = vec![Column::whole("type"), Column::numbers("threads")];
    columns.extend(widths.iter().map(|(_, head)| Column::numbers(head)));
    let mut rows: Vec<(FloatType, u32)> = profile.compute.iter().map(|p| (p.ty, p.threads)).collect();
    rows.sort_unstable();
    rows.dedup();
    let row = |(ty, threads): &(FloatType, u32)| {
        let rate = |(bits, _): &(u32, &str)| {
            let found =
                profile.compute.iter().find(|p| (p.ty, p.threads, p.vector_bits) == (*ty, *threads, *bits));
            found.map(|p| number(p.gflops)).unwrap_or_default()
        };
        [ty.name().into(), threads.to_string()].into_iter().chain(widths.iter().map(rate)).collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    columns::table(&columns, &rows, width)
}

fn rates(profile: &HostProfile, width: usize) -> String {
    let widths = widths(profile.rates.iter().map(|r| r.vector_bits));
    let mut columns = vec![Column::whole("operation"), Column::whole("type")];
    columns.extend(widths.iter().map(|(_, head)| Column::numbers(head)));
    let mut rows: Vec<(Operation, FloatType)> = profile.rates.iter().map(|r| (r.operation, r.ty)).collect();
    rows.sort_unstable();
    rows.dedup();
    let row = |(operation, ty): &(Operation, FloatType)| {
        let rate = |(bits, _): &(u32, &str)| {
            let fits = |r: &&oxeye_host::OperationRate| {
                (r.operation, r.ty, r.vector_bits) == (*operation, *ty, *bits)
            };
            profile.rates.iter().find(fits).map(|r| number(r.gop_per_s)).unwrap_or_default()
        };
        [operation.name().into(), ty.name().into()].into_iter().chain(widths.iter().map(rate)).collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    columns::table(&columns, &rows, width)
}

fn counter_lines(survey: &CounterSurvey, width: usize) -> String {
    let mut lines = Vec::new();
    let names: Vec<String> = survey.granted.iter().map(ToString::to_string).collect();
    match names.as_slice() {
        [] => lines.push("counters: none available".to_owned()),
        names => lines.push(format!("counters: {}", names.join(", "))),
    }
    // One line for each reason rather than for each counter.
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for missing in &survey.refused {
        let name = missing.counter.to_string();
        match reasons.iter_mut().find(|(why, _)| *why == missing.why) {
            Some((_, names)) => names.push(name),
            None => reasons.push((&missing.why, vec![name])),
        }
    }
    for (why, names) in reasons {
        lines.push(format!("not available ({why}): {}", names.join(", ")));
    }
    lines.extend(survey.remedy.as_ref().map(|remedy| format!("to get more counters: {remedy}")));
    lines.iter().map(|line| columns::wrapped(line, width)).collect()
}

/// Three digits, and a mark where rounds differed so much that the best one says little.
fn number(figure: Quantity) -> String {
    const UNSURE: f64 = 0.10;
    let decimals = match figure.value {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    let mark = if figure.spread > UNSURE { "~" } else { "" };
    format!("{mark}{:.decimals$}", figure.value)
}

/// Bytes with a binary unit.
fn size(bytes: u64) -> String {
    let (value, unit) = match bytes {
        b if b >= 1 << 30 => (b as f64 / f64::from(1 << 30), "GiB"),
        b if b >= 1 << 20 => (b as f64 / f64::from(1 << 20), "MiB"),
        b => (b as f64 / 1024.0, "KiB"),
    };
    if value.fract() < 0.05 || value >= 100.0 {
        format!("{value:.0} {unit}")
    } else {
        format!("{value:.1} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_host::Provenance;

    #[test]
    fn numbers_have_three_digits_and_doubts() {
        let figure = |value, spread| Quantity { value, spread, samples: 9, provenance: Provenance::Measured };
        let shown =
            [(454.2, 0.01), (45.42, 0.01), (4.542, 0.2)].map(|(value, spread)| number(figure(value, spread)));
        assert_eq!(shown, ["454", "45.4", "~4.54"]);
    }

    #[test]
    fn sizes_have_binary_units() {
        assert_eq!(
            [48 << 10, 2 << 20, 480 << 20, 1536 << 20].map(size),
            ["48 KiB", "2 MiB", "480 MiB", "1.5 GiB"]
        );
    }

    #[test]
    fn counters_are_told_by_reason() {
        let missing = |counter, why: &str| counters::MissingCounter { counter, why: why.into() };
        use oxeye_measure::Counter::{Branches, Cycles, TaskClock};
        let survey = CounterSurvey {
            granted: vec![TaskClock],
            refused: vec![missing(Cycles, "not permitted"), missing(Branches, "not permitted")],
            remedy: Some("sysctl x".into()),
        };
        let out = counter_lines(&survey, 80);
        assert_eq!(out.lines().count(), 3, "{out}");
        assert!(
            out.contains("(not permitted)") && out.ends_with("to get more counters: sysctl x\n"),
            "{out}"
        );
    }
}
