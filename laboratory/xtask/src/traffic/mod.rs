//! `cargo xtask traffic`: the modelled memory traffic of the programs in `benchmarks/kernels` against callgrind's cache
//! simulation of the same geometry.
//!
//! Both begin with caches that hold nothing of the program: the model with empty ones, callgrind after a sweep over an
//! array of four times the last cache. Sizes are reduced until the model counts no more than a given number of
//! accesses.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use oxeye_analysis::traffic::{CacheGeometry, Traffic, TrafficOptions, call_accesses, call_traffic, traffic};
use oxeye_evaluation::corpus::{self, Kernel};
use oxeye_evaluation::{Verdict, repository};

use calls::Counted;
use reference::Misses;
use table::Row;

mod calls;
mod reference;
mod table;

/// Options of `cargo xtask traffic`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Programs to count: names without `.c`, or the groups all, base (the thirty) and b (their variants)
    #[arg(long, value_delimiter = ',', default_value = "all")]
    kernels: Vec<String>,
    /// Divide every size by this number; without it, by the least for which --accesses holds
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    shrink: Option<u64>,
    /// Most accesses of a program
    #[arg(long, default_value_t = 3e7)]
    accesses: f64,
    /// Most time steps (the size T)
    #[arg(long, default_value_t = 10)]
    steps: u64,
    /// Flags of gcc. Without -fno-tree-vectorize it may vectorize outer loops, which changes the order of accesses
    #[arg(long, default_value = "-O2 -fno-tree-vectorize", allow_hyphen_values = true)]
    flags: String,
    /// First cache: bytes,ways,bytes per line
    #[arg(long, default_value = "32768,8,64", value_parser = geometry)]
    first: (u64, u32, u64),
    /// Last cache: bytes,ways,bytes per line
    #[arg(long, default_value = "131072,16,64", value_parser = geometry)]
    last: (u64, u32, u64),
    /// Accesses that the sampled result may cost
    #[arg(long, default_value_t = 1_000_000)]
    sampled: u64,
    /// Largest accepted difference between model and callgrind, in percent
    #[arg(long, default_value_t = 15.0)]
    tolerance: f64,
    /// Number of programs that may differ more
    #[arg(long, default_value_t = 6)]
    allowed: usize,
    /// Seconds that one run of callgrind may take
    #[arg(long, default_value_t = 300)]
    time_limit: u64,
    /// Compare nothing: sample every nest at the sizes of the source, in caches like those of a server, and print time
    /// and uncertainty
    #[arg(long)]
    full_size: bool,
    /// Folder for traffic.md and traffic.csv
    #[arg(long, default_value = "benchmarks/results")]
    out: PathBuf,
}

fn geometry(text: &str) -> Result<(u64, u32, u64), String> {
    let parts: Vec<u64> = text.split(',').map_while(|part| part.trim().parse().ok()).collect();
    match parts.as_slice() {
        &[bytes, ways, line] => Ok((bytes, u32::try_from(ways).map_err(|e| e.to_string())?, line)),
        _ => Err("it should be bytes,ways,bytes per line".to_owned()),
    }
}

/// Counts with both, and rewrites the table after each program.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let root = repository::root();
    let kernels = corpus::select(&root.join("benchmarks/kernels"), &args.kernels)?;
    if args.full_size {
        kernels.iter().try_for_each(full_size)?;
        return Ok(Verdict::Good);
    }
    let cache = root.join("target/traffic");
    fs::create_dir_all(&cache).with_context(|| format!("cannot create {}", cache.display()))?;
    let out = root.join(&args.out);
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    let cache_of = |name: &str, (bytes, ways, line_bytes): (u64, u32, u64)| CacheGeometry {
        name: name.to_owned(),
        bytes,
        line_bytes,
        ways,
    };
    let caches = [cache_of("D1", args.first), cache_of("LL", args.last)];

    let mut rows = Vec::new();
    for (idx, kernel) in kernels.iter().enumerate() {
        let row = match count(kernel, args, &caches, &cache) {
            Ok(row) => row,
            Err(error) => Row::failed(kernel, format!("{error:#}")),
        };
        eprintln!("[{}/{}] {}", idx + 1, kernels.len(), row.in_words());
        rows.push(row);
        write(&out.join("traffic.csv"), &table::csv(&rows))?;
        write(&out.join("traffic.md"), &table::markdown(&rows, &caches, args.tolerance, &args.flags))?;
    }
    let n_far = rows.iter().filter(|row| !row.is_close(args.tolerance)).count();
    println!("{} of {} within {} %", rows.len() - n_far, rows.len(), args.tolerance);
    Ok(if n_far <= args.allowed { Verdict::Good } else { Verdict::Bad })
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// One program by model and callgrind.
fn count(kernel: &Kernel, args: &Args, caches: &[CacheGeometry; 2], cache: &Path) -> Result<Row> {
    let (sizes, counted) = shrunk(kernel, args)?;
    let calls = counted.calls();
    let run = |max_accesses: u64| -> Result<(Traffic, f64)> {
        let options = TrafficOptions { max_accesses, ..TrafficOptions::default() };
        let begin = Instant::now();
        let found = call_traffic(&calls, counted.times, caches, options)?;
        Ok((found.total, begin.elapsed().as_secs_f64()))
    };
    let (full, _) = run(u64::MAX)?;
    let (sampled, sampled_seconds) = run(args.sampled)?;
    let flags: Vec<String> = args.flags.split_whitespace().map(str::to_owned).chain(sizes.clone()).collect();
    let reference: Misses =
        reference::count(kernel, &flags, caches, cache, Duration::from_secs(args.time_limit))?;
    let line_bytes = caches[1].line_bytes;
    Ok(Row::new(kernel, &sizes, &full, (&sampled, sampled_seconds), reference, line_bytes))
}

/// Prints the cost of sampling the nests of one program at the sizes of its source.
fn full_size(kernel: &Kernel) -> Result<()> {
    let cache = |name: &str, kib: u64, ways: u32| CacheGeometry {
        name: name.to_owned(),
        bytes: kib << 10,
        line_bytes: 64,
        ways,
    };
    let caches = [cache("L1", 48, 12), cache("L2", 2 << 10, 16), cache("L3", 32 << 10, 16)];
    let macros = kernel
        .sizes()
        .into_iter()
        .map(|(name, size)| Ok((name, i64::try_from(size)?)))
        .collect::<Result<_, std::num::TryFromIntError>>()?;
    let counted = Counted::read(&kernel.path, &[], &macros)?;
    for call in counted.calls() {
        for nest in call.program.nests.values() {
            let value_of = |id| call.values.get(&id).copied();
            let begin = Instant::now();
            let found = traffic(call.program, nest, &value_of, &caches, TrafficOptions::default());
            let seconds = begin.elapsed().as_secs_f64();
            let place = format!("{} {} {}", kernel.name, call.program.name, nest.id);
            match found {
                Ok(found) => {
                    let fills = found.levels.iter().map(|level| format!("{:11.1}", level.fill_bytes / 1e6));
                    let fills = fills.collect::<Vec<_>>().join(" ");
                    println!(
                        "{place:<48} {seconds:6.3} s  {:9.2e} accesses  {fills} MB ± {:5.1} %  at least {:.1} MB",
                        found.accesses,
                        100.0 * found.relative_error,
                        found.compulsory_bytes / 1e6,
                    );
                }
                Err(why) => println!("{place:<48} {why}"),
            }
        }
    }
    Ok(())
}

/// Size options under which a program stays within the limit of accesses, and what it then runs.
fn shrunk(kernel: &Kernel, args: &Args) -> Result<(Vec<String>, Counted)> {
    let mut divisor = args.shrink.unwrap_or(1);
    loop {
        let (mut options, mut macros) = (Vec::new(), BTreeMap::new());
        for (name, size) in kernel.sizes() {
            let size = if name == "T" { size.min(args.steps) } else { (size / divisor).max(size.min(4)) };
            options.push(format!("-D{name}={size}"));
            macros.insert(name, i64::try_from(size)?);
        }
        let counted = Counted::read(&kernel.path, &options, &macros)?;
        let accesses = call_accesses(&counted.calls(), counted.times)?;
        if args.shrink.is_some() || accesses <= args.accesses || divisor > 100 {
            return Ok((options, counted));
        }
        divisor += 1;
    }
}
