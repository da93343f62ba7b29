//! Why nests stay as they are, in so few reasons that many nests have the same.

use crate::machine::ENOUGH_PERCENT;
use crate::nest::{Standing, TunedNest};
use crate::schedule::Verdict;
use oxeye_host::Provenance;
use oxeye_profile::Bound;
use serde::Serialize;

/// Why a nest stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unchanged {
    /// Other nests take nearly all of the program's time.
    TooShort,
    /// It is not tuned for another reason, which the note has.
    LeftOut,
    /// No other schedule could be proved legal.
    NoLegalSchedule,
    /// The original does not run outside of its function; the note has why.
    NotReplayable,
    /// It is as fast as the machine allows.
    AtRoof,
    /// The budget was spent before anything could be tried.
    NothingTried,
    /// All that was tried failed, or was wrong.
    AllFailed,
    /// All that was tried is slower, or not faster beyond noise.
    NothingFaster,
    /// What was faster alone does not make the program faster, or changes what it prints.
    Dropped,
    /// Loops that do the same work gain more: those around it, or those inside it.
    Overlapped,
}

impl Unchanged {
    /// Each reason.
    pub const ALL: [Self; 10] = [
        Self::TooShort,
        Self::LeftOut,
        Self::NoLegalSchedule,
        Self::NotReplayable,
        Self::AtRoof,
        Self::NothingTried,
        Self::AllFailed,
        Self::NothingFaster,
        Self::Dropped,
        Self::Overlapped,
    ];

    /// The reason of one nest; `None` if it is rewritten.
    pub(crate) fn of(nest: &TunedNest) -> Option<Unchanged> {
        if nest.winner.is_some() {
            return None;
        }
        let any = |wanted: &[Verdict]| nest.trials.iter().any(|trial| wanted.contains(&trial.verdict));
        let is_at_roof = nest.before.as_ref().is_some_and(|profile| {
            let is_roof = !matches!(profile.bound, Bound::Overhead | Bound::Unknown);
            let reached = profile.roof_fraction.filter(|fraction| fraction.provenance != Provenance::Assumed);
            let left = reached.map_or(1.0, |fraction| 1.0 - fraction.value);
            is_roof && 100.0 * left <= f64::from(ENOUGH_PERCENT)
        });
        Some(match () {
            () if matches!(nest.standing, Standing::Short(_)) => Unchanged::TooShort,
            () if matches!(nest.standing, Standing::Skipped(_)) => Unchanged::LeftOut,
            () if any(&[Verdict::Dropped]) => Unchanged::Dropped,
            () if any(&[Verdict::Overlapped]) => Unchanged::Overlapped,
            () if nest.is_late && nest.trials.is_empty() && nest.refused.is_empty() => {
                Unchanged::NothingTried
            }
            () if nest.trials.iter().all(|t| matches!(t.verdict, Verdict::Refused | Verdict::Duplicate)) => {
                Unchanged::NoLegalSchedule
            }
            () if nest.is_late => Unchanged::NothingTried,
            () if nest.baseline_seconds.is_none() => Unchanged::NotReplayable,
            () if is_at_roof => Unchanged::AtRoof,
            () if any(&[Verdict::Slower, Verdict::TooSlow]) => Unchanged::NothingFaster,
            () if any(&[Verdict::WrongResult, Verdict::Crashed, Verdict::DoesNotCompile]) => {
                Unchanged::AllFailed
            }
            () => Unchanged::NothingTried,
        })
    }

    /// The reason in a short sentence without a subject or a period; `None` where only the nest's note has it.
    pub fn words(self) -> Option<&'static str> {
        Some(match self {
            Unchanged::TooShort => "too short to matter",
            Unchanged::LeftOut | Unchanged::NotReplayable => return None,
            Unchanged::NoLegalSchedule => "no other schedule could be proved legal",
            Unchanged::AtRoof => "already as fast as this machine allows",
            Unchanged::NothingTried => "the budget was spent before a candidate could be tried",
            Unchanged::AllFailed => "every candidate failed",
            Unchanged::NothingFaster => "no candidate was faster",
            Unchanged::Dropped => "faster alone, but not in the whole program",
            Unchanged::Overlapped => "tuned together with the loops around it or inside it",
        })
    }

    /// The reason in fewer words, for a line with many places; `None` where only the nest's note has it.
    pub fn short(self) -> Option<&'static str> {
        Some(match self {
            Unchanged::NoLegalSchedule => "no rewriting proved safe",
            Unchanged::AtRoof => "at the machine's limit",
            Unchanged::NothingTried => "budget spent",
            Unchanged::Dropped => "faster alone, not in the program",
            Unchanged::TooShort | Unchanged::Overlapped => return self.words(),
            Unchanged::AllFailed | Unchanged::NothingFaster => return self.words(),
            Unchanged::LeftOut | Unchanged::NotReplayable => return None,
        })
    }

    /// What the reason means.
    pub fn means(self) -> String {
        match self {
            Unchanged::TooShort => "other nests take nearly all of the program's time".into(),
            Unchanged::LeftOut => "it is not tuned for one of the reasons below".into(),
            Unchanged::NoLegalSchedule => {
                "every order but the present one would break a dependence, or was not proved".into()
            }
            Unchanged::NotReplayable => {
                "the original does not run outside of its function; the note says why".into()
            }
            Unchanged::AtRoof => format!("it is within {ENOUGH_PERCENT} % of the roof that bounds it"),
            Unchanged::NothingTried => "nests with more of the time had their turns first".into(),
            Unchanged::AllFailed => "candidates crashed, did not compile, or gave other results".into(),
            Unchanged::NothingFaster => "or not faster beyond noise".into(),
            Unchanged::Dropped => {
                "the program did not gain, or printed something else; the note says what".into()
            }
            Unchanged::Overlapped => "the same work gains more there".into(),
        }
    }

    /// What would help, if anything does.
    pub fn remedy(self) -> Option<&'static str> {
        Some(match self {
            Unchanged::TooShort => "run the program on larger input, if the nest takes time there",
            Unchanged::NoLegalSchedule => {
                "see the refused steps with `-v`; `-ffast-math` or `--fp reassociate`, if sums may be reordered"
            }
            Unchanged::AtRoof => "fewer bytes or operations: another algorithm, smaller types",
            Unchanged::NothingTried => "a longer `--budget`",
            Unchanged::AllFailed => "see the trials with `-v`",
            Unchanged::NothingFaster => "a longer `--budget`, a quiet machine",
            Unchanged::LeftOut | Unchanged::NotReplayable | Unchanged::Dropped | Unchanged::Overlapped => {
                return None;
            }
        })
    }
}
