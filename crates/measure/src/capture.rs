//! Running an instrumented program and reading what it captured.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::MeasureError;
use crate::process::{Invocation, Limits, RunOutcome, run_program};
use crate::sample::Sample;

/// C text for the top of an instrumented program. It needs no headers, and every name in it begins with
/// `oxeye_capture_`.
///
/// Around a nest, the program calls, with the number of the nest as `site` (below 1024, or `OXEYE_CAPTURE_SITES` if that is
/// defined):
///
/// ```c
/// if (oxeye_capture_enter(site)) {   /* else, this invocation is not looked at */
/// oxeye_capture_work(site, (double)n * n);   /* how much there is to do; may be left out */
/// oxeye_capture_arg(site, 0, A, bytes);      /* per argument; -1 bytes when the size is unknown */
/// oxeye_capture_scalar(site, 1, &n, sizeof n);
/// oxeye_capture_look(site, &rows, u, 1, 0, sizeof **u, ranges);  /* how `double **u` lies in memory */
/// oxeye_capture_rows_arg(site, 2, &rows);    /* its rows as one array; rows.extents are its dimensions */
/// }
/// /* the nest */
/// oxeye_capture_result(site, 1, &n, sizeof n);   /* per argument handed over as a copy that may have changed */
/// oxeye_capture_leave(site);
/// ```
///
/// The clock of an invocation starts when the last of `enter` and `arg` returns and stops when `leave` is called. Kept
/// are the inputs of the first invocation, of the one with most bytes (when over a quarter more than the others), of up to
/// two later ones with other scalars (arguments of at most 16 bytes), which are looked for when the number of the invocation
/// is a power of two, and of one in each of up to four further [`SizeClass`]es, those that take the most time. From 2^20 invocations on, or 2^12 that are short, about one in 61 is timed and stands for those since the last. What the
/// pointers point to must not change from the first `arg` to the last. Of a kept invocation that takes 0.4 s or more,
/// the results in its arguments are kept as well.
///
/// `OXEYE_CAPTURE_DIR` names the folder for the samples; unset, nothing is recorded. `OXEYE_CAPTURE_LIMIT` bounds their
/// total bytes (default 4 GiB). Where several sources of a program have this text, each is compiled with its own
/// `OXEYE_CAPTURE_PART`, a literal `"/name"`, and has its samples there ([`capture_parts`]).
pub const CAPTURE_RUNTIME_C: &str = include_str!("c/capture.c");

/// What was captured of one nest.
#[derive(Clone, Debug, PartialEq)]
pub struct Capture {
    /// Which nest.
    pub site: u32,
    /// Times it was entered.
    pub invocations: u64,
    /// Wall-clock seconds in all invocations together, without the time of capturing.
    pub seconds: f64,
    /// Invocations while another thread was in the nest; they are neither timed nor captured.
    pub concurrent: u64,
    /// Invocations that were left before their end; counted but not timed.
    pub abandoned: u64,
    /// Samples that could not be kept for lack of room.
    pub skipped: u64,
    /// Its invocations by how much they have to do, the smallest first.
    pub classes: Vec<SizeClass>,
    /// The kept invocations, in order.
    pub samples: Vec<Sample>,
}

/// The invocations of a nest that have about equally much to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeClass {
    /// They have between 2^log2 and twice that to do, in the units of `oxeye_capture_work`.
    pub log2: u32,
    /// How many they are.
    pub invocations: u64,
    /// Wall-clock seconds in all of them together.
    pub seconds: f64,
}

/// An instrumented run.
#[derive(Clone, Debug)]
pub struct CaptureRun {
    /// How the program ended, and its output.
    pub outcome: RunOutcome,
    /// Whether the program ended by itself, so that the counts and times are complete.
    pub complete: bool,
    /// Wall-clock seconds of the run that were spent writing samples.
    pub overhead_seconds: f64,
    /// The nests that were entered, by site.
    pub captures: Vec<Capture>,
    /// The processes of the run that have nests, as a launcher has numbered them; empty if none has.
    pub ranks: Vec<u64>,
}

/// By this, the capture runtime hears of which process samples are kept.
const WANTED_RANK: &str = "OXEYE_CAPTURE_RANK";

/// Runs an instrumented program with its samples in `dir`, which must exist. Of several processes that a launcher numbers, `rank`
/// says whose are kept; `None` is the one that spends most time in nests.
///
/// A program that crashes or is stopped at its time limit still gives what it captured until then; look at
/// [`CaptureRun::complete`] and the outcome.
///
/// # Errors
/// When the program cannot be started or its samples make no sense.
pub fn capture(
    invocation: &Invocation,
    limits: &Limits,
    dir: &Path,
    rank: Option<u32>,
) -> Result<CaptureRun, MeasureError> {
    CaptureRun::of(run_program(&observed(invocation, dir, rank), limits)?, dir)
}

fn observed(invocation: &Invocation, dir: &Path, rank: Option<u32>) -> Invocation {
    let mut invocation = invocation.clone().env("OXEYE_CAPTURE_DIR", OsString::from(dir));
    invocation.env.extend(rank.map(|rank| (WANTED_RANK.to_owned(), rank.to_string().into())));
    invocation
}

/// Bytes of samples that are kept of a run.
const MOST_BYTES: u64 = 4 << 30;

/// Runs a program of which several sources are instrumented, with their samples in folders below `dir`, which are made: one for
/// each of these names.
///
/// # Errors
/// As [`capture`], and when a folder cannot be made.
pub fn capture_parts(
    invocation: &Invocation,
    limits: &Limits,
    dir: &Path,
    names: &[String],
    rank: Option<u32>,
) -> Result<Vec<CaptureRun>, MeasureError> {
    let folders: Vec<PathBuf> = names.iter().map(|name| dir.join(name)).collect();
    for folder in &folders {
        let error = |source| MeasureError::Io { action: "make", path: folder.clone(), source };
        fs::create_dir_all(folder).map_err(error)?;
    }
    let limit = MOST_BYTES / names.len().max(1) as u64;
    let invocation = observed(invocation, dir, rank).env("OXEYE_CAPTURE_LIMIT", limit.to_string());
    let outcome = run_program(&invocation, limits)?;
    folders.iter().map(|folder| CaptureRun::of(outcome.clone(), folder)).collect()
}

impl CaptureRun {
    /// Reads what a run left in a folder.
    fn of(outcome: RunOutcome, dir: &Path) -> Result<CaptureRun, MeasureError> {
        let ranks = ranks(dir);
        let mut best: Option<(PathBuf, CaptureRun)> = None;
        for (_, folder) in &ranks {
            let run = CaptureRun::of_process(outcome.clone(), folder)?;
            let is_better = best.as_ref().is_none_or(|(_, best)| run.seconds() > best.seconds());
            let worse =
                if is_better { best.replace((folder.clone(), run)) } else { Some((folder.clone(), run)) };
            if let Some((folder, _)) = worse {
                // A file that stays does no harm.
                let _ = fs::remove_dir_all(folder);
            }
        }
        let ranks = ranks.into_iter().map(|(rank, _)| rank).collect();
        match best {
            Some((_, run)) => Ok(CaptureRun { ranks, ..run }),
            None => CaptureRun::of_process(outcome, dir),
        }
    }

    /// Seconds in all nests.
    fn seconds(&self) -> f64 {
        self.captures.iter().map(|capture| capture.seconds).sum()
    }

    /// What one process left in its folder.
    fn of_process(outcome: RunOutcome, dir: &Path) -> Result<CaptureRun, MeasureError> {
        let summary = dir.join("summary.txt");
        let text = match fs::read_to_string(&summary) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(MeasureError::Io { action: "read", path: summary, source }),
        };
        let Summary { complete, overhead_seconds, captures } = parse(&text, dir, &summary)?;
        Ok(CaptureRun { outcome, complete, overhead_seconds, captures, ranks: Vec::new() })
    }
}

/// The processes that a launcher has numbered, with their folders.
fn ranks(dir: &Path) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let number = |path: &Path| path.file_name()?.to_str()?.strip_prefix("rank")?.parse::<u64>().ok();
    let numbered = entries.filter_map(|entry| Some((number(&entry.path())?, entry.path())));
    let mut folders: Vec<(u64, PathBuf)> = numbered.collect();
    folders.sort();
    folders
}

struct Summary {
    complete: bool,
    overhead_seconds: f64,
    captures: Vec<Capture>,
}

fn parse(text: &str, dir: &Path, summary: &Path) -> Result<Summary, MeasureError> {
    let (mut complete, mut overhead_seconds) = (false, 0.0);
    let mut captures: Vec<Capture> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let damaged = || MeasureError::sample(summary, format!("damaged summary line `{line}`"));
        let number = |key: &str| {
            let at = words.iter().position(|word| *word == key);
            at.and_then(|at| words.get(at + 1)).and_then(|word| word.parse::<u64>().ok()).ok_or_else(damaged)
        };
        match words.first().copied() {
            Some("status") => complete = words.get(1) == Some(&"finished"),
            Some("overhead") => overhead_seconds = number("overhead")? as f64 * 1e-9,
            Some("site") => captures.push(Capture {
                site: number("site")? as u32,
                invocations: number("invocations")?,
                seconds: number("nanoseconds")? as f64 * 1e-9,
                concurrent: number("concurrent")?,
                abandoned: number("abandoned")?,
                skipped: number("skipped")?,
                classes: Vec::new(),
                samples: Vec::new(),
            }),
            Some("class") => {
                let class = SizeClass {
                    log2: number("class")? as u32,
                    invocations: number("invocations")?,
                    seconds: number("nanoseconds")? as f64 * 1e-9,
                };
                captures.last_mut().ok_or_else(damaged)?.classes.push(class);
            }
            Some("sample") => {
                let file = words.last().ok_or_else(damaged)?;
                let mut sample = match Sample::open(&dir.join(file)) {
                    Ok(sample) => sample,
                    // A program with several threads may end while one of them replaces the sample by another.
                    Err(MeasureError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                sample.nanoseconds = Some(number("nanoseconds")?);
                sample.least_nanoseconds = Some(number("least")?);
                sample.size_class = Some(number("class")? as u32);
                sample.results = Some(sample.path.with_extension("out")).filter(|path| path.exists());
                captures.last_mut().ok_or_else(damaged)?.samples.push(sample);
            }
            _ => {}
        }
    }
    for capture in &mut captures {
        capture.samples.sort_by_key(|sample| sample.invocation);
    }
    Ok(Summary { complete, overhead_seconds, captures })
}
