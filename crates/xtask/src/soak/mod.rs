//! `cargo xtask soak`: random nests with random recipes, rendered as C, compiled and run against the interpreter.
//!
//! Data are chosen so that every order of evaluation gives the same bits: 64-bit integers (which wrap), floating point
//! under the strict policy, and products of small whole numbers where sums may be reassociated. Everything is a function
//! of the seed.

mod c;
mod pair;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::Verdict;
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
    /// Pairs per translation unit.
    #[arg(long, default_value_t = 80)]
    batch: usize,
    /// Batches at a time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

/// A compiler with flags; batches take turns.
const BUILDS: &[(&str, &[&str])] = &[
    ("gcc", &["-O2", "-march=native", "-fopenmp"]),
    ("clang-19", &["-O1", "-march=native", "-fopenmp"]),
    ("gcc", &["-O1", "-march=native", "-fopenmp"]),
    ("clang-19", &["-O2", "-march=native", "-fopenmp"]),
    ("gcc", &["-O1", "-fopenmp", "-fsanitize=address", "-fno-omit-frame-pointer"]),
    ("gcc", &["-O3", "-march=native", "-fopenmp"]),
];

/// Flags for all: integers wrap and products are not fused with sums, as in the interpreter.
const COMMON: &[&str] = &["-std=gnu99", "-fwrapv", "-ffp-contract=off", "-w"];

/// How long the pairs of one batch may run.
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

fn soak(args: &Args, progress: &(dyn Fn(&str) + Sync)) -> Result<Outcome> {
    let builds: Vec<_> = BUILDS.iter().filter(|(compiler, _)| exists(compiler)).collect();
    if builds.is_empty() {
        bail!("neither gcc nor clang-19 is there");
    }
    let started = Instant::now();
    let (next_seed, n_done, n_batches) = (AtomicU64::new(args.seed), AtomicU64::new(0), AtomicU64::new(0));
    let (failures, miscompiled) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let left_out: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());
    let kinds: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());
    let worker = || -> Result<()> {
        loop {
            let batch_number = n_batches.fetch_add(1, Ordering::Relaxed);
            let planned = batch_number.saturating_mul(args.batch as u64);
            if planned >= args.pairs {
                return Ok(());
            }
            let wanted = (args.pairs - planned).min(args.batch as u64) as usize;
            let mut pairs = Vec::new();
            while pairs.len() < wanted {
                let seed = next_seed.fetch_add(1, Ordering::Relaxed);
                match pair::make(seed) {
                    Made::Pair(pair) => {
                        *lock(&kinds).entry(pair.kind.to_owned()).or_default() += 1;
                        pairs.push(*pair);
                    }
                    Made::LeftOut(why) => *lock(&left_out).entry(why).or_default() += 1,
                    Made::Fault(what) => lock(&failures).push(what),
                }
            }
            let build = builds[(batch_number % builds.len() as u64) as usize];
            let found = run_batch(&pairs, build.0, build.1)?;
            for (k, text) in found {
                // A compiler that gets the nest wrong as it was is at fault itself.
                let untouched = [pairs.swap_remove(k).untouched()];
                let own = run_batch(&untouched, build.0, build.1)?.is_empty();
                lock(if own { &failures } else { &miscompiled }).push(text);
                pairs.push(untouched.into_iter().next().context("the pair just made")?);
                let last = pairs.len() - 1;
                pairs.swap(k, last);
            }
            let n = n_done.fetch_add(pairs.len() as u64, Ordering::Relaxed) + pairs.len() as u64;
            progress(&format!(
                "{n} of {} pairs, {} faults, {:.0} s",
                args.pairs,
                lock(&failures).len(),
                started.elapsed().as_secs_f64()
            ));
            if lock(&failures).len() > 20 {
                return Ok(());
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..args.jobs.max(1)).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|w| match w.join() {
            Ok(result) => result,
            Err(_) => bail!("a worker panicked"),
        })
    })?;
    let mut summary = format!(
        "{} pairs from seed {} in {:.0} s: {} wrong or crashed\n",
        n_done.load(Ordering::Relaxed),
        args.seed,
        started.elapsed().as_secs_f64(),
        lock(&failures).len()
    );
    for (kind, n) in lock(&kinds).iter() {
        let _ = writeln!(summary, "  {n} x {kind}");
    }
    for (why, n) in lock(&left_out).iter() {
        let _ = writeln!(summary, "  left out {n} x {why}");
    }
    let miscompiled = std::mem::take(&mut *lock(&miscompiled));
    if !miscompiled.is_empty() {
        let n = miscompiled.len();
        let _ = writeln!(summary, "  besides, {n} x the compiler gets the untouched nest wrong too:");
        for text in &miscompiled {
            let _ = writeln!(summary, "    {}", text.lines().next().unwrap_or_default());
        }
    }
    let failures = std::mem::take(&mut *lock(&failures));
    Ok(Outcome { summary, failures })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn exists(compiler: &str) -> bool {
    let probe = Command::new(compiler).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    probe.is_ok_and(|s| s.success())
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

/// Runs the pairs from `first` on: what was printed, and how the program ended if not well.
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
        let buffer = pairs[1].after.buffers.values_mut().find(|b| !b.values.is_empty()).unwrap();
        buffer.values[0] = Some(match buffer.element {
            oxeye_ir::ScalarType::F64 => Value::F64(1e9),
            oxeye_ir::ScalarType::F32 => Value::F32(1e9),
            _ => Value::Int(77_777),
        });
        pairs[2].body = "{ abort(); }".into();
        let (compiler, flags) = BUILDS.iter().find(|(compiler, _)| exists(compiler)).unwrap();
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
        let args = Args { pairs: 240, seed: 1, batch: 40, jobs: 2 };
        let outcome = soak(&args, &|_| {}).unwrap();
        assert!(outcome.failures.is_empty(), "{}\n{}", outcome.summary, outcome.failures.join("\n"));
    }
}
