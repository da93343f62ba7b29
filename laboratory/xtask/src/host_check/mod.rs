//! `cargo xtask host-check`: the host measurements against two independent references.
//!
//! Bandwidths against McCalpin's algorithm in C (`benchmarks/host/stream.c`), built by a compiler and run in turn with
//! ours; peak rates against cycles × operations per cycle, where the cycles come from a chain of dependent
//! additions that is timed in turn with the peak. Both with one thread and with all cores.

use anyhow::{Context, Result};
use oxeye_evaluation::Verdict;
use oxeye_host::{FloatType, Probe, Sources, StreamKernel, Topology};
use oxeye_measure::Stat;

use c_stream::CStream;

mod c_stream;
mod ports;

/// Options of `cargo xtask host-check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Size of each of the three arrays in MiB
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=16_384))]
    array: u32,
    /// Rounds of every kernel in one run
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Number of turns of both
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    turns: u32,
    /// Largest accepted difference, percent
    #[arg(long, default_value_t = 5.0)]
    tolerance: f64,
    /// The compiler
    #[arg(long, default_value = "gcc")]
    cc: String,
    /// Its flags
    #[arg(long, default_value = "-O3 -march=native -fopenmp", allow_hyphen_values = true)]
    flags: String,
}

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let (topology, _) = Topology::read(&Sources::this_machine());
    let probe = Probe::new(&topology)?;
    println!("{}, {} cores, best of each run", topology.cpu_model, probe.cores());
    let bandwidths = check_bandwidths(args, &topology, &probe)?;
    let peaks = check_peaks(args, &topology, &probe);
    Ok(if bandwidths && peaks { Verdict::Good } else { Verdict::Bad })
}

fn thread_counts(probe: &Probe) -> Vec<u32> {
    if probe.cores() > 1 { vec![1, probe.cores()] } else { vec![1] }
}

/// Whether triad is as fast as the C program's; the other kernels are shown.
fn check_bandwidths(args: &Args, topology: &Topology, probe: &Probe) -> Result<bool> {
    let array_bytes = (args.array as usize) << 20;
    let program = CStream::build(&args.cc, &args.flags, array_bytes / size_of::<f64>(), args.rounds)?;
    println!("\nSTREAM, arrays of {} MiB: ours over {} {}", args.array, args.cc, args.flags);
    println!(
        "{:>8} {:>8} {:>11} {:>11} {:>7} {:>16}",
        "threads", "kernel", "ours GB/s", "C GB/s", "ratio", "over the turns"
    );
    let mut good = true;
    for threads in thread_counts(probe) {
        let kernels = [StreamKernel::Copy, StreamKernel::Scale, StreamKernel::Add, StreamKernel::Triad];
        let mut series: Vec<Series> = kernels.iter().map(|_| Series::default()).collect();
        for _ in 0..args.turns {
            let theirs = program.run(&topology.core_cpus[..threads as usize])?;
            let ours = probe.stream(threads, array_bytes, args.rounds as usize)?;
            for (kernel, series) in kernels.iter().zip(&mut series) {
                let mine = ours.iter().find(|b| b.kernel == *kernel).context("a kernel was not measured")?;
                let other = theirs.get(kernel.name()).context("the C program left out a kernel")?;
                series.push(mine.gb_per_s.value, *other);
            }
        }
        for (kernel, series) in kernels.iter().zip(&series) {
            let is_triad = *kernel == StreamKernel::Triad;
            good &= !is_triad || series.within(args.tolerance);
            println!("{threads:>8} {:>8} {}", kernel.name(), series.row(is_triad.then_some(args.tolerance)));
        }
    }
    Ok(good)
}

/// Whether every peak rate agrees with clock rate and ports.
fn check_peaks(args: &Args, topology: &Topology, probe: &Probe) -> bool {
    const ROUNDS: usize = 8;
    let id = topology.cpu_id.as_deref().unwrap_or("unknown");
    println!("\npeak multiply-add over clock x lanes x ports x 2 ({id}: {})", ports::assumption(id));
    println!(
        "{:>8} {:>4} {:>5} {:>6} {:>9} {:>9} {:>7} {:>16}",
        "threads", "type", "bits", "GHz", "GFLOP/s", "expected", "ratio", "over the turns"
    );
    let mut good = true;
    for threads in thread_counts(probe) {
        for (ty, bits) in
            [FloatType::F32, FloatType::F64].into_iter().flat_map(|ty| [0, 128, 256, 512].map(|b| (ty, b)))
        {
            let Some(ports) = ports::multiply_add_ports(id, bits) else { continue };
            let per_cycle = f64::from((bits / ty.bits()).max(1) * 2 * ports * threads);
            let mut series = Series::default();
            let mut clocks = Vec::new();
            for _ in 0..args.turns {
                let Some((peak, clock_ghz)) = probe.peak_and_clock(ty, bits, threads, ROUNDS) else { break };
                series.push(peak.value, clock_ghz.value * per_cycle);
                clocks.push(clock_ghz.value);
            }
            if clocks.is_empty() {
                continue;
            }
            good &= series.within(args.tolerance);
            let clock = median(clocks);
            println!(
                "{threads:>8} {:>4} {bits:>5} {clock:>6.2} {}",
                ty.name(),
                series.row(Some(args.tolerance))
            );
        }
    }
    good
}

fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    Stat::of(values).median
}

/// Pairs of figures taken in turn.
#[derive(Default)]
struct Series {
    ours: Vec<f64>,
    theirs: Vec<f64>,
}

impl Series {
    fn push(&mut self, ours: f64, theirs: f64) {
        self.ours.push(ours);
        self.theirs.push(theirs);
    }

    fn ratios(&self) -> Vec<f64> {
        self.ours.iter().zip(&self.theirs).map(|(a, b)| a / b).collect()
    }

    /// Whether the median ratio is this close to 1.
    fn within(&self, tolerance_percent: f64) -> bool {
        (median(self.ratios()) - 1.0).abs() <= tolerance_percent / 100.0
    }

    fn row(&self, tolerance_percent: Option<f64>) -> String {
        let ratios = self.ratios();
        let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ratios.iter().copied().fold(0.0, f64::max);
        let verdict = match tolerance_percent {
            Some(tolerance) if !self.within(tolerance) => "  too far",
            _ => "",
        };
        let (ours, theirs) = (median(self.ours.iter().copied()), median(self.theirs.iter().copied()));
        format!(
            "{ours:>11.2} {theirs:>11.2} {:>7.3} {low:>7.3} ..{high:>6.3}{verdict}",
            median(ratios.iter().copied())
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_judged_by_their_median_ratio() {
        let mut series = Series::default();
        for (ours, theirs) in [(10.0, 10.0), (10.4, 10.0), (30.0, 10.0)] {
            series.push(ours, theirs);
        }
        assert!(series.within(5.0) && !series.within(3.0));
        assert!(series.row(Some(3.0)).ends_with("too far") && series.row(Some(5.0)).contains("1.040"));
    }
}
