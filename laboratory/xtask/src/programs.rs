//! `cargo xtask programs`: random C programs, rewritten with recipes that nobody measured, and compared with themselves at
//! several sizes, under sanitizers and optimised. Everything is a function of the seed.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::threads::on_threads;
use anyhow::{Context, Result};
use oxeye_evaluation::Verdict;
use oxeye_programs::{Builds, Failure, Program, Tally, Unusable, examine};

/// Options of `cargo xtask programs`.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    /// Programs to make.
    #[arg(long, default_value_t = 300)]
    programs: u64,
    /// The first seed; program k has seed S + k.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Where programs that fail are kept, made smaller.
    #[arg(long, default_value = "target/programs")]
    folder: PathBuf,
    /// Print the program of the first seed and nothing else.
    #[arg(long)]
    show: bool,
}

/// Faults after which to stop.
const MANY: usize = 40;

/// Results of all threads.
#[derive(Default)]
struct Results {
    tally: Tally,
    failures: Vec<Failure>,
    unusable: Vec<String>,
    miscompiled: Vec<String>,
    slowest: Option<(f64, u64)>,
}

/// Runs the programs and prints what was read, rewritten, and wrong.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    if args.show {
        print!("{}", Program::new(args.seed).text());
        return Ok(Verdict::Good);
    }
    let builds = Builds::found().context("neither gcc nor clang is there")?;
    let started = Instant::now();
    let next = AtomicU64::new(0);
    let results: Mutex<Results> = Mutex::default();
    let lock = || results.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let worker = || -> Result<()> {
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            if k >= args.programs || lock().failures.len() > MANY {
                return Ok(());
            }
            let began = Instant::now();
            let program = Program::new(args.seed + k);
            let examined = match examine(&program, &builds, Some(&args.folder)) {
                Ok(examined) => examined,
                Err(why @ Unusable::Original { .. }) => {
                    eprintln!("{}", why.to_string().lines().next().unwrap_or_default());
                    lock().unusable.push(why.to_string());
                    continue;
                }
                Err(why) => return Err(why.into()),
            };
            let mut results = lock();
            results.tally.add(&program, &examined);
            for failure in &examined.failures {
                eprintln!("{}", failure.what.lines().next().unwrap_or_default());
            }
            for what in &examined.miscompiled {
                eprintln!("the compiler gets the original wrong: {what}");
            }
            results.failures.extend(examined.failures);
            results.miscompiled.extend(examined.miscompiled);
            let seconds = began.elapsed().as_secs_f64();
            if results.slowest.is_none_or(|(most, _)| seconds > most) {
                results.slowest = Some((seconds, program.seed));
            }
            let n = results.tally.n_programs;
            if n.is_multiple_of(10) {
                let (n_bad, seconds) = (results.failures.len(), started.elapsed().as_secs_f64());
                eprintln!("{n} of {} programs, {n_bad} faults, {seconds:.0} s", args.programs);
            }
        }
    };
    on_threads(args.jobs, &worker)?;
    let results = std::mem::take(&mut *lock());
    print_results(args, &results, started.elapsed().as_secs_f64());
    let good = results.failures.is_empty() && results.unusable.is_empty();
    Ok(if good { Verdict::Good } else { Verdict::Bad })
}

fn print_results(args: &Args, results: &Results, seconds: f64) {
    let Results { tally, failures, unusable, miscompiled, slowest } = results;
    println!("{}", tally.table());
    println!(
        "{} programs from seed {} in {seconds:.0} s: {} wrong or crashed",
        tally.n_programs,
        args.seed,
        failures.len()
    );
    if let Some((seconds, seed)) = slowest {
        println!("  the slowest, seed {seed}, took {seconds:.0} s");
    }
    for what in miscompiled {
        println!("  besides, the compiler gets the original wrong too: {what}");
    }
    for what in unusable {
        println!("\n{what}");
    }
    for failure in failures {
        println!("\n{}", failure.what);
        if let Some(folder) = &failure.folder {
            println!("  kept in {}", folder.display());
        }
    }
}
