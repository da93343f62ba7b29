//! `cargo xtask soak`: random nests with random recipes. All run in the interpreter, before and after; some are rendered as C,
//! compiled, with sanitizers every other time, and run as well.
//!
//! Data are chosen so that every order of evaluation gives the same bits: 64-bit integers (which wrap), floating point
//! under the strict policy, and products of small whole numbers where sums may be reassociated. Everything is a
//! function of the seed.

mod c;
mod pair;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::threads::on_threads;
use anyhow::{Context, Result, bail};
use oxeye_evaluation::Verdict;
use oxeye_measure::Compiler;

use pair::{Made, Pair};

/// Options of `cargo xtask soak`.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    /// Pairs of a nest and a recipe that applies to it.
    #[arg(long, default_value_t = 10_000)]
    pairs: u64,
    /// The first seed; pair k has seed S + k.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Compile the pairs whose seed is a multiple of this.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    compile_every: u64,
    /// Pairs per translation unit.
    #[arg(long, default_value_t = 80, value_parser = clap::value_parser!(u64).range(1..))]
    batch: u64,
    /// Threads.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

/// A compiler with flags; batches take turns.
const BUILDS: &[(&str, &[&str])] = &[
    ("gcc", &["-O1", "-fopenmp", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]),
    ("gcc", &["-O2", "-march=native", "-fopenmp"]),
    ("clang-19", &["-O1", "-fopenmp", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]),
    ("clang-19", &["-O2", "-march=native", "-fopenmp"]),
    ("gcc", &["-O1", "-march=native", "-fopenmp", "-fsanitize=address", "-fno-omit-frame-pointer"]),
    ("gcc", &["-O3", "-march=native", "-fopenmp"]),
];

/// Flags for all: integers wrap and products are not fused with sums, as in the interpreter.
const COMMON: &[&str] = &["-std=gnu99", "-fwrapv", "-ffp-contract=off", "-w"];

/// Time limit for the pairs of one batch.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Runs the soak and prints what went wrong.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let outcome = soak(args, &|line| eprintln!("{line}"))?;
    println!("{}", outcome.summary);
    for failure in &outcome.failures {
        println!("\n{failure}");
    }
    Ok(if outcome.failures.is_empty() { Verdict::Good } else { Verdict::Bad })
}

struct Outcome {
    summary: String,
    failures: Vec<String>,
}

/// Results of all threads.
#[derive(Default)]
struct Tally {
    failures: Vec<String>,
    /// Pairs whose original nest the compiler gets wrong too.
    miscompiled: Vec<String>,
    n_done: u64,
    n_normalized: u64,
    kinds: BTreeMap<&'static str, u64>,
    left_out: BTreeMap<String, u64>,
    /// Pairs compiled with each build.
    compiled: BTreeMap<String, u64>,
}

/// Faults after which to stop.
const MANY: usize = 20;

fn soak(args: &Args, progress: &(dyn Fn(&str) + Sync)) -> Result<Outcome> {
    let builds: Vec<_> = BUILDS.iter().filter(|build| works(build)).collect();
    if builds.is_empty() {
        bail!("neither gcc nor clang-19 is there");
    }
    let started = Instant::now();
    let (next_seed, n_planned, n_batches) =
        (AtomicU64::new(args.seed), AtomicU64::new(0), AtomicUsize::new(0));
    let tally: Mutex<Tally> = Mutex::default();
    let compile = |pairs: &mut Vec<Pair>| -> Result<()> {
        let (compiler, flags) = builds[n_batches.fetch_add(1, Ordering::Relaxed) % builds.len()];
        for (k, text) in run_batch(pairs, compiler, flags)? {
            // If the original nest is wrong too, it is a bug of the compiler.
            let untouched = [pairs.swap_remove(k).untouched()];
            let own = run_batch(&untouched, compiler, flags)?.is_empty();
            let mut tally = lock(&tally);
            if own { &mut tally.failures } else { &mut tally.miscompiled }.push(text);
            pairs.extend(untouched);
            let last = pairs.len() - 1;
            pairs.swap(k, last);
        }
        let build = format!("{compiler} {}", flags.join(" "));
        *lock(&tally).compiled.entry(build).or_default() += pairs.len() as u64;
        pairs.clear();
        Ok(())
    };
    let worker = || -> Result<()> {
        let mut waiting = Vec::new();
        while n_planned.fetch_add(1, Ordering::Relaxed) < args.pairs && lock(&tally).failures.len() <= MANY {
            let Some(pair) = next(&next_seed, &tally) else { break };
            let fault = pair.interpreted();
            {
                let mut tally = lock(&tally);
                tally.n_done += 1;
                tally.n_normalized += u64::from(pair.is_normalized());
                *tally.kinds.entry(pair.kind).or_default() += 1;
                if let Some(fault) = &fault {
                    tally.failures.push(pair.report(fault));
                }
                if tally.n_done.is_multiple_of(1000) {
                    let (n, n_bad) = (tally.n_done, tally.failures.len());
                    let seconds = started.elapsed().as_secs_f64();
                    progress(&format!("{n} of {} pairs, {n_bad} faults, {seconds:.0} s", args.pairs));
                }
            }
            if fault.is_none() && pair.seed.is_multiple_of(args.compile_every) {
                waiting.push(pair);
            }
            if waiting.len() as u64 == args.batch {
                compile(&mut waiting)?;
            }
        }
        if waiting.is_empty() { Ok(()) } else { compile(&mut waiting) }
    };
    on_threads(args.jobs, &worker)?;
    let tally = std::mem::take(&mut *lock(&tally));
    Ok(Outcome { summary: summary(args, &tally, started.elapsed()), failures: tally.failures })
}

/// The pair of the next seed that has one; `None` if there were too many faults on the way.
fn next(next_seed: &AtomicU64, tally: &Mutex<Tally>) -> Option<Pair> {
    loop {
        let seed = next_seed.fetch_add(1, Ordering::Relaxed);
        match pair::make(seed) {
            Made::Pair(pair) => return Some(*pair),
            Made::LeftOut(why) => *lock(tally).left_out.entry(why).or_default() += 1,
            Made::Fault(what) => {
                let mut tally = lock(tally);
                tally.failures.push(what);
                if tally.failures.len() > MANY {
                    return None;
                }
            }
        }
    }
}

fn summary(args: &Args, tally: &Tally, elapsed: Duration) -> String {
    let n_compiled: u64 = tally.compiled.values().sum();
    let mut text = format!(
        "{} pairs from seed {} in {:.0} s: {} wrong or crashed\n  all in the interpreter, {n_compiled} compiled; {} begin \
         with the normal form\n",
        tally.n_done,
        args.seed,
        elapsed.as_secs_f64(),
        tally.failures.len(),
        tally.n_normalized,
    );
    for (kind, n) in &tally.kinds {
        let _ = writeln!(text, "  {n} x {kind}");
    }
    for (build, n) in &tally.compiled {
        let _ = writeln!(text, "  {n} x {build}");
    }
    for (why, n) in &tally.left_out {
        let _ = writeln!(text, "  left out {n} x {why}");
    }
    if !tally.miscompiled.is_empty() {
        let n = tally.miscompiled.len();
        let _ = writeln!(text, "  besides, {n} x the compiler gets the untouched nest wrong too:");
        for report in &tally.miscompiled {
            let _ = writeln!(text, "    {}", report.lines().next().unwrap_or_default());
        }
    }
    text
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Whether the compiler is there, with what its flags link with.
fn works((compiler, flags): &(&str, &[&str])) -> bool {
    Compiler::new(*compiler, flags.iter().copied()).makes_programs(&[]).is_ok()
}

/// Compiles and runs; index and description of every pair that went wrong.
fn run_batch(pairs: &[Pair], compiler: &str, flags: &[&str]) -> Result<Vec<(usize, String)>> {
    let directory = tempfile::tempdir().context("no temporary folder")?;
    let path = |name: &str| directory.path().join(name);
    let (source, data) = c::unit(pairs);
    std::fs::write(path("soak.c"), &source)?;
    std::fs::write(path("data.bin"), data)?;
    let build = format!("{compiler} {} {}", COMMON.join(" "), flags.join(" "));
    let output = Command::new(compiler)
        .args(COMMON)
        .args(flags)
        .arg(path("soak.c"))
        .arg("-o")
        .arg(path("soak"))
        .arg("-lm")
        .output()
        .with_context(|| format!("{compiler} does not start"))?;
    if !output.status.success() {
        // Find those that do not compile by themselves.
        if let [only] = pairs {
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            return Ok(vec![(0, only.report(&format!("does not compile with {build}:\n{errors}")))]);
        }
        let middle = pairs.len() / 2;
        let mut found = run_batch(&pairs[..middle], compiler, flags)?;
        let rest = run_batch(&pairs[middle..], compiler, flags)?;
        found.extend(rest.into_iter().map(|(k, text)| (k + middle, text)));
        return Ok(found);
    }
    let mut failures = Vec::new();
    let mut first = 0;
    while first < pairs.len() {
        let (lines, ended) = execute(&path("soak"), &path("data.bin"), &path("out.txt"), first)?;
        let mut reached = first;
        for line in lines.lines() {
            let mut words = line.splitn(3, ' ');
            let (word, number, rest) = (words.next(), words.next(), words.next().unwrap_or_default());
            let Some(k) = number.and_then(|n| n.parse::<usize>().ok()).filter(|k| *k < pairs.len()) else {
                continue;
            };
            reached = k;
            if word == Some("bad") {
                failures.push((k, pairs[k].report(&format!("wrong with {build}: {rest}"))));
            }
        }
        match ended {
            None => break,
            Some(how) => failures.push((reached, pairs[reached].report(&format!("{how} with {build}")))),
        }
        first = reached + 1;
    }
    Ok(failures)
}

/// Runs the pairs from `first` on; returns the output, and how the program ended if it failed.
fn execute(program: &Path, data: &Path, out: &Path, first: usize) -> Result<(String, Option<String>)> {
    let errors = out.with_extension("err");
    let mut child = Command::new(program)
        .arg(data)
        .arg(first.to_string())
        .env("OMP_NUM_THREADS", "2")
        .env("OMP_WAIT_POLICY", "passive")
        .env("ASAN_OPTIONS", "detect_leaks=1")
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(out)?)
        .stderr(std::fs::File::create(&errors)?)
        .spawn()
        .context("the compiled pairs do not start")?;
    let deadline = Instant::now() + TIME_LIMIT;
    let ended = loop {
        if let Some(status) = child.try_wait()? {
            let words = std::fs::read_to_string(&errors).unwrap_or_default();
            let words: String = words.chars().take(3000).collect();
            break (!status.success()).then(|| format!("{status}\n{words}"));
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            break Some("does not end".to_owned());
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Ok((String::from_utf8_lossy(&std::fs::read(out)?).into_owned(), ended))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_ir::interpret::Value;

    /// A wrong result and a crash are both seen, and the pairs around them still run.
    #[test]
    fn faults_are_found() {
        let mut pairs = Vec::new();
        for seed in 1.. {
            if let Made::Pair(pair) = pair::make(seed) {
                pairs.push(*pair);
            }
            if pairs.len() == 4 {
                break;
            }
        }
        assert!(pairs.iter().all(|p| p.interpreted().is_none()));
        let buffer = pairs[1].after.buffers.values_mut().find(|b| !b.values.is_empty()).unwrap();
        buffer.values[0] = Some(match buffer.element {
            oxeye_ir::ScalarType::F64 => Value::F64(1e9),
            oxeye_ir::ScalarType::F32 => Value::F32(1e9),
            _ => Value::Int(77_777),
        });
        assert!(pairs[1].interpreted().is_some_and(|what| what.contains("wrong in the interpreter")));
        pairs[2].body = "{ abort(); }".into();
        let (compiler, flags) = BUILDS.iter().find(|build| works(build)).unwrap();
        let found = run_batch(&pairs, compiler, flags).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found
                .iter()
                .any(|(_, f)| f.contains(&format!("seed {} ", pairs[1].seed)) && f.contains("should be"))
        );
        assert!(
            found
                .iter()
                .any(|(_, f)| f.contains(&format!("seed {} ", pairs[2].seed)) && f.contains("signal"))
        );
    }

    #[test]
    fn pairs_compute_what_the_interpreter_computes() {
        let args = Args { pairs: 240, seed: 1, compile_every: 1, batch: 40, jobs: 2 };
        let outcome = soak(&args, &|_| {}).unwrap();
        assert!(outcome.failures.is_empty(), "{}\n{}", outcome.summary, outcome.failures.join("\n"));
        assert!(outcome.summary.contains("all in the interpreter, 240 compiled"), "{}", outcome.summary);
    }
}
