//! DaCe programs: written as C, tuned like any other file, and put back.
//!
//! In: an SDFG and the values of its arguments. Out: an SDFG in which tuned nests are tasklets, and a report. The C decides
//! which nests gain; DaCe's own build of the SDFG, on the same arguments, decides what of that is kept.
//!
//! A DaCe program goes the same way as C (`oxeye::commands::sdfg`): `sdfg::to_c` writes it as one function with a comment before and
//! behind every nest, and a harness that loads its arguments; the stages tune that file; `CProgram::changed` finds the nests with
//! another text, and `sdfg::replace_nests` puts each into the document, as a tasklet of C++ in the place of a node with its scope, or
//! of the states of a loop. What DaCe builds of both documents is compared and timed on the same arguments by a script that is run
//! with the user's Python (`helper.py`); nests are dropped until it is right and faster. What could not be read stands in the C as a
//! call that leaves invented values (`CProgram::invented`). An element of a complex container is two of an array whose last index
//! stands open (`lower::names::part`) until a statement says which part it means. Arrays that one operation hands to one other
//! are computed where they are read (`lower::fold`); such nests are put into the document even if nothing else makes them faster.
//! At last the nests without a faster schedule are tried as plain C: DaCe's own may have atomic updates, or hide what compilers
//! need to know.

mod program;
mod python;

use crate::request::{Error, Options, Progress, files, write_atomically};
use crate::session::Session;
use crate::stages::{Emitted, Report, SearchReport, entries, report};
use oxeye_database::{NewEntry, Origin};
use oxeye_ir::NestId;
use oxeye_measure::{RatioInterval, quantile, ratio_interval};
use oxeye_sdfg::{Changed, Replaced, replace_nests};
use program::SdfgProgram;
use python::Verdict;
use std::collections::BTreeSet;
use std::path::Path;

/// Whether a file is a DaCe program.
pub(super) fn is_sdfg(file: &Path) -> bool {
    file.extension().is_some_and(|e| e == "sdfg")
}

/// Seconds that two programs are timed against each other.
const TIMING_SECONDS: f64 = 3.0;
/// The same for a nest alone.
const ALONE_SECONDS: f64 = 1.0;

/// How the C is tuned.
pub(super) type Tuning<'a> = dyn Fn(&Session<'_>) -> Result<(Emitted, Option<SearchReport>), Error> + 'a;

/// Does something with the C that stands for a DaCe program: with its options.
///
/// # Errors
/// If there is no such C, and those of `run`.
pub(super) fn as_c<T>(options: &Options, run: impl FnOnce(&Options) -> Result<T, Error>) -> Result<T, Error> {
    files::check_readable(&options.file)?;
    let program = SdfgProgram::new(options)?;
    run(&program.options(options))
}

/// Tunes a DaCe program and writes the tuned one. Also returns every trial, for a recipe database.
///
/// # Errors
/// If the run cannot be done; no file is written then.
pub(super) fn written(
    options: &Options,
    progress: &dyn Progress,
    origin: Origin,
    tuning: &Tuning<'_>,
) -> Result<(Report, Vec<NewEntry>), Error> {
    files::check_readable(&options.file)?;
    files::check_writable(&options.output_path(), &[])?;
    let program = SdfgProgram::new(options)?;
    let c_options = program.options(options);
    let session = Session::new(&c_options, progress)?;
    let (emitted, search) = session.outcome(tuning(&session))?;
    let mut made = Report { search, ..report(&session, &emitted) };
    let learnt = entries(&session, &emitted, origin);
    let changed = program.c.changed(&emitted.text).map_err(|e| Error::Input(e.to_string()))?;
    let judged = session.outcome(judged(&program, &changed, options, progress))?;
    let text = judged.kept.as_ref().map_or_else(|| program.text.clone(), |kept| kept.sdfg.write());
    session.check_cancelled()?;
    write_atomically(&options.output_path(), text.as_bytes())?;
    made.input = options.file.clone();
    made.output = options.output_path();
    made.changed = judged.kept.is_some();
    made.seconds = session.start().elapsed().as_secs_f64();
    made.notes.extend(program.c.invented.iter().cloned());
    let kept = judged.kept.iter().flat_map(|kept| &kept.nests);
    let folded: Vec<String> =
        kept.filter(|id| program.unit.folded.contains(*id)).map(|id| program.name(*id)).collect();
    if !folded.is_empty() {
        made.notes.push(format!("no arrays between operations any more: {}", folded.join(", ")));
    }
    made.notes.extend(judged.notes);
    let whole = &mut made.program;
    (whole.baseline_ms, whole.optimized_ms, whole.speedup) = (None, None, None);
    whole.compared = vec!["all arguments, of DaCe's own build".to_owned()];
    whole.mismatch = judged.mismatch;
    whole.tolerance = Some(program.tolerance().0);
    if let Some(times) = judged.times {
        whole.baseline_ms = Some(quantile(&times.before, 0.5) * 1e3);
        whole.optimized_ms = Some(quantile(&times.after, 0.5) * 1e3);
        whole.speedup = Some(times.speedup.median);
        whole.samples = times.before.len();
        whole.verified = true;
        whole.max_rel_error = Some(times.worst);
    }
    Ok((made, learnt))
}

/// Both programs as DaCe builds them.
struct Times {
    before: Vec<f64>,
    after: Vec<f64>,
    speedup: RatioInterval,
    worst: f64,
}

/// What is left of the tuned nests.
#[derive(Default)]
struct Judged {
    kept: Option<Replaced>,
    times: Option<Times>,
    mismatch: Option<String>,
    notes: Vec<String>,
}

/// What is worth writing nests as C that are no faster for a C compiler: DaCe's own may have atomic updates, or hide from
/// the compiler what it needs to know.
const LEAST_GAIN_OF_PLAIN_C: f64 = 1.05;

/// Builds the original and the tuned program with DaCe, and takes out nests until the tuned one is right and faster. At last
/// the nests that were not tuned are tried as C as well.
fn judged(
    program: &SdfgProgram,
    changed: &Changed,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Judged, Error> {
    let mut judged = Judged::default();
    let all: BTreeSet<NestId> = changed.nests.keys().copied().collect();
    let whole = changed.whole();
    if whole.nests.is_empty() {
        return Ok(judged);
    }
    let python = program.python(options)?;
    let before = match python.build(&options.file, "original")? {
        Ok(folder) => folder,
        Err(error) => {
            return Err(Error::Input(format!("{}: {error}", options.file.display())));
        }
    };
    let mut n_builds = 0;
    let mut attempt = |wanted: &BTreeSet<NestId>, seconds: f64| -> Result<Attempt, Error> {
        if progress.cancelled() {
            return Err(Error::Cancelled);
        }
        let replaced = replace_nests(&program.sdfg, &program.unit, &program.c, &whole, wanted)
            .map_err(|e| Error::Input(e.to_string()))?;
        if replaced.nests.is_empty() {
            return Ok(Attempt { replaced, outcome: Err("no nest can be replaced".to_owned()) });
        }
        n_builds += 1;
        let name = format!("tuned{n_builds}");
        let path = program.folder.write(format!("{name}.sdfg"), replaced.sdfg.write())?;
        let outcome = match python.build(&path, &name)? {
            Err(error) => Err(error),
            Ok(after) => {
                let verdict = python.judge(
                    (&before, &after),
                    &program.arguments,
                    &program.scalars,
                    program.tolerance(),
                    seconds,
                )?;
                match verdict {
                    Verdict::Wrong(reason) => Err(reason),
                    Verdict::Right { before, after, worst } => {
                        let ratios: Vec<f64> = before.iter().zip(&after).map(|(b, a)| b / a).collect();
                        match ratio_interval(&ratios) {
                            Some(speedup) => Ok(Times { before, after, speedup, worst }),
                            None => Err("it could not be timed".to_owned()),
                        }
                    }
                }
            }
        };
        Ok(Attempt { replaced, outcome })
    };
    let mut best = match all.is_empty() {
        true => None,
        false => tuned_nests(program, &all, &mut attempt, &mut judged)?,
    };
    if !changed.plain.is_empty() {
        let wanted = match &best {
            Some(best) => best.replaced.nests.iter().chain(changed.plain.keys()).copied().collect(),
            None => changed.plain.keys().copied().collect(),
        };
        let with_plain = attempt(&wanted, TIMING_SECONDS)?;
        if with_plain.gains()
            && with_plain.gain() > best.as_ref().map_or(1.0, Attempt::gain) * LEAST_GAIN_OF_PLAIN_C
        {
            let plain = with_plain.replaced.nests.iter().filter(|id| changed.plain.contains_key(*id));
            let names: Vec<String> = plain.map(|id| program.name(*id)).collect();
            judged.notes.push(format!("as plain C faster than what DaCe makes of it: {}", names.join(", ")));
            best = Some(with_plain);
        }
    }
    if let Some(Attempt { replaced, outcome: Ok(times) }) = best {
        judged.kept = Some(replaced);
        judged.times = Some(times);
    }
    Ok(judged)
}

/// The tuned nests, or those of them that gain by themselves, if they gain.
fn tuned_nests(
    program: &SdfgProgram,
    all: &BTreeSet<NestId>,
    attempt: &mut Attempting<'_>,
    judged: &mut Judged,
) -> Result<Option<Attempt>, Error> {
    let first = attempt(all, TIMING_SECONDS)?;
    for (nest, reason) in &first.replaced.refused {
        judged.notes.push(format!("{} stays as it is: {reason}", program.name(*nest)));
    }
    let usable = first.replaced.nests.clone();
    if let Err(reason) = &first.outcome
        && !usable.is_empty()
    {
        judged.mismatch = Some(reason.clone());
    }
    let mut best = first.gains().then_some(first);
    // Each nest by itself, if all together do not gain.
    if best.is_none() && usable.len() > 1 {
        let mut good = BTreeSet::new();
        for nest in &usable {
            let alone = attempt(&BTreeSet::from([*nest]), ALONE_SECONDS)?;
            match &alone.outcome {
                Ok(_) if alone.gains() => {
                    good.insert(*nest);
                }
                Ok(_) => {
                    judged.notes.push(format!("{} is dropped: DaCe's own is not slower", program.name(*nest)))
                }
                Err(reason) => {
                    judged.notes.push(format!("{} is dropped: {reason}", program.name(*nest)));
                }
            }
        }
        if !good.is_empty() {
            let together = attempt(&good, TIMING_SECONDS)?;
            best = together.gains().then_some(together);
        }
    } else if best.is_none() && !usable.is_empty() {
        judged.notes.push(match &judged.mismatch {
            Some(reason) => format!("the tuned nests are discarded: {reason}"),
            None => "the tuned nests are no faster as DaCe builds them".to_owned(),
        });
    }
    Ok(best)
}

/// Builds and judges the program with these nests, timed for so many seconds.
type Attempting<'a> = dyn FnMut(&BTreeSet<NestId>, f64) -> Result<Attempt, Error> + 'a;

/// A program with some of the nests.
struct Attempt {
    replaced: Replaced,
    outcome: Result<Times, String>,
}

impl Attempt {
    /// Whether it is right, and faster beyond noise.
    fn gains(&self) -> bool {
        self.outcome.as_ref().is_ok_and(|times| times.speedup.low > 1.0)
    }

    fn gain(&self) -> f64 {
        self.outcome.as_ref().map_or(0.0, |times| times.speedup.median)
    }
}
