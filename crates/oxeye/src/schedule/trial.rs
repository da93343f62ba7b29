//! A schedule of a nest from the first thought to the last figure.

use super::proof::{Proved, Rendering, Schedule, Unproved};
use crate::mix::{Part, speedup_from};
use oxeye_codegen::{Isa, SizeGuard};
use oxeye_ir::Span;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// A schedule that is or was to be tried, with what is known of it so far.
#[derive(Clone, Debug)]
pub struct Trial {
    /// What is tried.
    pub schedule: Schedule,
    /// What was thought of it.
    pub choice: Choice,
    /// What became of it.
    pub verdict: Verdict,
    /// Why, where the verdict does not say it all.
    pub why: Option<String>,
    /// What it makes of the nest; kept as long as it may still be run or emitted.
    pub proved: Option<Arc<Proved>>,
    /// What screening found, if it gave the right outputs.
    pub(crate) screened: Option<Screening>,
    /// The comparison with the original, if it was among the fastest.
    pub timed: Option<Timing>,
    /// The same by size, where calls of several sizes were timed, in the order of their classes.
    pub sizes: Vec<SizeTiming>,
    /// The sizes that it is emitted for.
    pub guard: SizeGuard,
    /// Built, as long as the nest is being measured.
    pub(crate) library: Option<PathBuf>,
    /// Whether its text is for one value of some size, or for some processors.
    pub(crate) is_special: bool,
    /// Whether it is for one value of a size.
    pub(crate) is_for_sizes: bool,
    /// Whether one thread runs it whose steps may be for several.
    pub(crate) is_alone: bool,
    /// Instructions that its text uses beyond those of the user's build.
    pub(crate) isa: Option<Isa>,
}

/// What running a candidate a few times told; its outputs are right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Screening {
    /// Seconds of one invocation, of the first sample.
    pub(crate) seconds: f64,
    /// What that would be if all that is timed gained as much together, where there is more than one sample.
    pub(crate) mixed: Option<f64>,
    /// Timed runs behind that.
    pub(crate) samples: usize,
    /// Largest relative difference of an output element; `None` if nobody remembers.
    pub(crate) max_rel_error: Option<f64>,
}

/// A candidate timed in turns with the original.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Median seconds of the original, on the first sample.
    pub baseline_seconds: f64,
    /// Median seconds of the candidate, on the first sample.
    pub seconds: f64,
    /// Original by candidate, over all samples that are timed.
    pub speedup: f64,
    /// Interval of the speedup, if there were enough runs for one.
    pub interval: Option<(f64, f64)>,
    /// Timed runs of each.
    pub samples: usize,
    /// Relative spread of the original's times, if there were several.
    pub spread: Option<f64>,
    /// Largest relative difference of an output element, over all samples that were compared.
    pub max_rel_error: f64,
}

/// A candidate timed in turns with the original on calls of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeTiming {
    /// Median seconds of the original.
    pub baseline_seconds: f64,
    /// Median seconds of the candidate.
    pub seconds: f64,
    /// Original by candidate.
    pub speedup: f64,
    /// Interval of the speedup, if there were enough runs for one.
    pub interval: Option<(f64, f64)>,
    /// Share of the original's time on all samples that are timed.
    pub(crate) weight: f64,
    /// How large the nest is.
    pub(crate) size: f64,
}

/// What is thought of a schedule before it is measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// Position of the donor that speaks for it most.
    pub donor_idx: Option<usize>,
    /// That donor, in a few words.
    pub donor: Option<String>,
    /// Its distance.
    pub distance: Option<f64>,
    /// The encoder's prediction: log2 of the speedup over the nest as it is.
    pub predicted: Option<f64>,
    /// What donors and prediction expect together: log2 of the speedup.
    pub expected: Option<f64>,
}

/// What became of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Chosen and emitted.
    Chosen,
    /// Right, and not the fastest, or not faster beyond noise.
    Slower,
    /// A step was refused as illegal, or does not apply.
    Refused,
    /// The same C text as an earlier candidate.
    Duplicate,
    /// The emitted C could not be compiled.
    DoesNotCompile,
    /// Stopped because it takes longer than what is already known.
    TooSlow,
    /// Crashed.
    Crashed,
    /// Its outputs differ from the original's.
    WrongResult,
    /// Faster alone, dropped because the whole program did not gain.
    Dropped,
    /// Faster, dropped because loops that do the same work gain more: those around it, or those inside it.
    Overlapped,
    /// The budget was spent first.
    NotTried,
}

impl Trial {
    /// A schedule before it is run, as its proof went.
    pub(crate) fn new(schedule: Schedule, choice: Choice, proof: Result<Arc<Proved>, Unproved>) -> Self {
        let (verdict, why, proved) = match proof {
            Ok(proved) => (Verdict::NotTried, None, Some(proved)),
            Err(why) => (Verdict::Refused, Some(why.to_string()), None),
        };
        let is_for_sizes = proved.as_ref().is_some_and(|proved| !proved.known.is_empty());
        let is_alone = proved.as_ref().is_some_and(|proved| proved.is_alone);
        let is_wide = proved.as_ref().is_some_and(|proved| proved.wide.is_some());
        let is_special = is_for_sizes || is_alone || is_wide;
        Self {
            is_special,
            is_for_sizes,
            is_alone,
            isa: proved.as_ref().and_then(|proved| proved.isa()),
            schedule,
            choice,
            verdict,
            why,
            proved,
            screened: None,
            timed: None,
            sizes: Vec::new(),
            guard: SizeGuard::default(),
            library: None,
        }
    }

    /// Whether it can be compiled and run, and was not yet.
    pub(crate) fn is_ready(&self) -> bool {
        self.verdict == Verdict::NotTried && self.proved.is_some()
    }

    /// Whether several threads run it.
    pub(crate) fn is_parallel(&self) -> bool {
        self.proved.as_ref().is_some_and(|proved| proved.is_parallel())
    }

    /// The same with one thread; `None` if it has one, or cannot be written so.
    pub(crate) fn alone(&self, how: Rendering<'_>, span: Option<Span>) -> Option<Self> {
        let proved = self.proved.as_ref().filter(|proved| proved.is_parallel())?;
        let alone = proved.alone(how, span).ok()?;
        let name = format!("{}, one thread", self.schedule.name);
        let schedule = Schedule { name, ..self.schedule.clone() };
        Some(Self::new(schedule, self.choice.clone(), Ok(Arc::new(alone))))
    }

    /// Ends it without a time.
    pub(crate) fn reject(&mut self, verdict: Verdict, why: String) {
        (self.verdict, self.why) = (verdict, Some(why));
    }

    /// Calls trials with the text of an earlier one duplicates.
    pub(crate) fn mark_duplicates(trials: &mut [Trial]) {
        for idx in 1..trials.len() {
            let (before, rest) = trials.split_at_mut(idx);
            let Some(text) = rest[0].proved.as_ref().map(|proved| &proved.text) else { continue };
            let same = before.iter().find(|t| t.proved.as_ref().is_some_and(|p| p.text == *text));
            if let Some(same) = same {
                let why = format!("the same as `{}`", same.schedule.name);
                rest[0].proved = None;
                rest[0].reject(Verdict::Duplicate, why);
            }
        }
    }
}

impl Screening {
    /// By what candidates are compared: seconds on all samples that are timed, as those of the first one.
    pub(crate) fn score(&self) -> f64 {
        self.mixed.unwrap_or(self.seconds)
    }
}

impl SizeTiming {
    /// What it is in a mix, with another speedup.
    pub(crate) fn part(&self, speedup: f64) -> Part {
        Part { weight: self.weight, size: self.size, speedup }
    }
}

impl Timing {
    /// Over calls of several sizes, where those below `least` stay as they are. `self` is of the first of them.
    pub(crate) fn over(self, sizes: &[SizeTiming], least: Option<f64>) -> Self {
        let of = |speedup: fn(&SizeTiming) -> f64| {
            let parts: Vec<Part> = sizes.iter().map(|size| size.part(speedup(size))).collect();
            speedup_from(&parts, least)
        };
        let ends =
            (of(|s| s.interval.map_or(s.speedup, |i| i.0)), of(|s| s.interval.map_or(s.speedup, |i| i.1)));
        let interval = sizes.iter().any(|size| size.interval.is_some()).then_some(ends);
        Self { speedup: of(|size| size.speedup), interval, ..self }
    }

    /// By single runs, against an original that takes so long.
    pub(crate) fn by_single_runs(screened: Screening, baseline_seconds: f64) -> Self {
        Self {
            baseline_seconds,
            seconds: screened.seconds,
            speedup: baseline_seconds / screened.seconds,
            interval: None,
            samples: 1,
            spread: None,
            max_rel_error: screened.max_rel_error.unwrap_or(0.0),
        }
    }

    /// The same against an original that takes less than it did in the comparison.
    pub(crate) fn against(mut self, baseline_seconds: f64) -> Self {
        if baseline_seconds < self.baseline_seconds {
            let factor = baseline_seconds / self.baseline_seconds;
            self.baseline_seconds = baseline_seconds;
            self.speedup *= factor;
            self.interval = self.interval.map(|(low, high)| (low * factor, high * factor));
        }
        self
    }

    /// The speedup at the lower end of its interval.
    pub(crate) fn pessimistic(&self) -> f64 {
        self.interval.map_or(self.speedup, |(low, _)| low)
    }
}

impl Verdict {
    /// Whether the candidate was compiled and run.
    pub fn was_run(self) -> bool {
        !matches!(self, Verdict::Refused | Verdict::Duplicate | Verdict::DoesNotCompile | Verdict::NotTried)
    }
}
