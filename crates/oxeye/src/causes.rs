//! Why nests are left out, why a result is not kept, and what else has the program's time: each cause with its words, and with what
//! would help, as reports and the book's index have them.

use std::fmt;

/// Why a nest is not tuned, before anything of it was tried.
#[derive(Clone, Debug, PartialEq)]
pub enum LeftOut {
    /// Others were asked for.
    NotChosen,
    /// The run only looks.
    DryRun,
    /// `--only` names others.
    OnlyOthers,
    /// `--exclude` names it.
    Excluded,
    /// It has this share of the time, which is below `--min-share`.
    BelowLeastShare(f64),
    /// It has this share of the time, which is next to nothing.
    TooShort(f64),
    /// The program does not run it.
    NeverRun,
    /// The program runs it, but as part of something that the build did not make.
    InOtherProduct,
    /// So the program ended while it was observed.
    Stopped(String),
    /// With this complaint, the compiler does not take the text that observes it.
    NotObserved(String),
    /// Threads that are there already share it, and one thread is all it may use.
    Team,
    /// The layout of the structures in this argument is not known.
    NoLayout(String),
    /// It is left without an end.
    Jump,
    /// Rows of this argument lie in each other, or in other arguments.
    RowsOverlap(String),
    /// Nothing tells how many elements this argument has.
    NoSize(String),
    /// Its arguments are larger than what is kept.
    TooLarge,
    /// It is in this header, which C++ may include.
    SharedWithCpp(String),
    /// It is in a header that this source includes, too, and reads otherwise.
    OtherMeaning(String),
    /// The loop at this line is searched, which has the body of its function.
    Inlined(String),
}

impl LeftOut {
    /// One of each, with `…` for what it names.
    pub fn all() -> Vec<Self> {
        let some = || "…".to_owned();
        vec![
            Self::NotChosen,
            Self::DryRun,
            Self::OnlyOthers,
            Self::Excluded,
            Self::BelowLeastShare(0.004),
            Self::TooShort(0.004),
            Self::NeverRun,
            Self::InOtherProduct,
            Self::Stopped(some()),
            Self::NotObserved(some()),
            Self::Team,
            Self::NoLayout(some()),
            Self::Jump,
            Self::RowsOverlap(some()),
            Self::NoSize(some()),
            Self::TooLarge,
            Self::SharedWithCpp(some()),
            Self::OtherMeaning(some()),
            Self::Inlined(some()),
        ]
    }

    /// What would help, if anything does.
    pub fn remedy(&self) -> Option<&'static str> {
        Some(match self {
            Self::NotChosen | Self::NotObserved(_) | Self::NoLayout(_) => return None,
            Self::RowsOverlap(_) | Self::Inlined(_) => return None,
            Self::DryRun => "leave out --dry-run",
            Self::OnlyOthers => "name it with --only, too",
            Self::Excluded => "leave out --exclude",
            Self::BelowLeastShare(_) => "a lower --min-share",
            Self::TooShort(_) => "run the program on larger input, if it takes time there",
            Self::NeverRun => "run the program on input for which it gets here",
            Self::InOtherProduct => "let the program load what the build makes, not what is installed",
            Self::Stopped(_) => "run the program on smaller input",
            Self::Team => "--threads with at least 2",
            Self::Jump => "let the loop end by itself, without `longjmp` or `exit`",
            Self::NoSize(_) => "allocate it by `malloc`, or make it an array with its extents",
            Self::TooLarge => "run the program on smaller input",
            Self::SharedWithCpp(_) => "say in the header what C++ sees, by `#ifdef __cplusplus`",
            Self::OtherMeaning(_) => "let the header mean the same there: the same macros and types",
        })
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotChosen => f.write_str("not chosen"),
            Self::DryRun => f.write_str("would be tuned"),
            Self::OnlyOthers => f.write_str("not among what --only names"),
            Self::Excluded => f.write_str("left out by --exclude"),
            Self::BelowLeastShare(share) => write!(f, "below --min-share ({:.1} %)", 100.0 * share),
            Self::TooShort(share) => {
                write!(f, "too short to matter ({:.1} % of the program's time)", 100.0 * share)
            }
            Self::NeverRun => f.write_str("the program never gets here"),
            Self::InOtherProduct => {
                f.write_str("it runs, but not in the program or library that this build makes")
            }
            Self::Stopped(exit) => {
                write!(f, "the program does not run to its end while it is observed ({exit})")
            }
            Self::NotObserved(why) => write!(f, "its arguments cannot be captured ({why})"),
            Self::Team => {
                f.write_str("a team of threads shares it, and it would be tuned for one (--threads)")
            }
            Self::NoLayout(name) => write!(
                f,
                "its results cannot be compared: the layout of the structures in `{name}` is not known"
            ),
            Self::Jump => f.write_str("the program leaves it by a jump"),
            Self::RowsOverlap(name) => write!(
                f,
                "when the program runs, what the loop may reach in rows of `{name}` overlaps, with each other or other \
                 arrays"
            ),
            Self::NoSize(name) => write!(f, "the size of `{name}` could not be found out"),
            Self::TooLarge => f.write_str("its arguments are too large to be kept"),
            Self::SharedWithCpp(name) => {
                write!(f, "sources in C++ may include {name}, which does not speak of that")
            }
            Self::OtherMeaning(name) => {
                write!(f, "{name} includes it as well, and it may mean something else there")
            }
            Self::Inlined(line) => {
                write!(f, "the loop at line {line} is searched, which has its function in place of the call")
            }
        }
    }
}

/// Why a result that was compared as a whole program is not kept.
#[derive(Clone, Debug, PartialEq)]
pub enum NotKept {
    /// It gains so many times, less than `--min-speedup` asks for.
    TooLittle(f64, f64),
    /// It gains so many times, with an interval that reaches 1.
    MayBeNone(f64, (f64, f64)),
    /// It gains nothing.
    NoGain(f64),
    /// It gains less than times of the original swing.
    Noise(f64),
    /// It behaves otherwise: how.
    Differs(String),
}

impl NotKept {
    /// One of each.
    pub fn all() -> Vec<Self> {
        vec![
            Self::TooLittle(1.02, 1.03),
            Self::MayBeNone(1.2, (0.9, 1.5)),
            Self::NoGain(0.99),
            Self::Noise(1.02),
            Self::Differs("…".into()),
        ]
    }

    /// What would help.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::TooLittle(..) => "a lower --min-speedup",
            Self::MayBeNone(..) | Self::Noise(_) => {
                "a quiet machine, more --budget for more runs, or --min-speedup 1"
            }
            Self::NoGain(_) => "more --budget, or larger input",
            Self::Differs(_) => "--tolerance or --ignore, if that difference is allowed",
        }
    }

    /// In fewer words, for a line with many places.
    pub fn short(&self) -> &'static str {
        match self {
            Self::TooLittle(..) => "faster alone, too little in the program",
            Self::MayBeNone(..) => "faster alone, not surely in the program",
            Self::NoGain(_) | Self::Noise(_) => "faster alone, not in the program",
            Self::Differs(_) => "the program behaves differently with it",
        }
    }
}

impl fmt::Display for NotKept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLittle(speedup, least) => {
                let speedup = digits_below(*speedup, *least);
                write!(f, "not kept: the program gains {speedup}x, less than --min-speedup {least}")
            }
            Self::MayBeNone(speedup, (low, high)) => write!(
                f,
                "not kept: the gain of the program, {speedup:.2}x ({low:.2}-{high:.2}), may be none"
            ),
            Self::NoGain(speedup) => write!(f, "the program does not gain from it ({speedup:.2}x)"),
            Self::Noise(speedup) => {
                write!(f, "what the program gains from it is no more than noise ({speedup:.2}x)")
            }
            Self::Differs(how) => write!(f, "the program behaves differently with it ({how})"),
        }
    }
}

/// A number with two digits behind the point, or with as many as it takes to be less than another that is greater.
fn digits_below(value: f64, greater: f64) -> String {
    let with = |digits: usize| format!("{value:.digits$}");
    let is_less = |text: &String| text.parse::<f64>().is_ok_and(|shown| shown < greater);
    (2..6).map(with).find(is_less).unwrap_or_else(|| value.to_string())
}

/// Time that is in no nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotInNests {
    /// In loops that are not read.
    Unread,
    /// In code of the file around its loops.
    OutsideOfLoops,
    /// In libraries that such code calls.
    Libraries,
    /// In other files of the program, of which none is tuned.
    OtherFiles,
    /// In other files and libraries of a project.
    OtherFilesAndLibraries,
    /// In a file none of whose loops can be tuned.
    NoNest,
    /// In a file that had no turn.
    NotLookedAt,
}

impl NotInNests {
    /// Each of them.
    pub const ALL: [Self; 7] = [
        Self::Unread,
        Self::OutsideOfLoops,
        Self::Libraries,
        Self::OtherFiles,
        Self::OtherFilesAndLibraries,
        Self::NoNest,
        Self::NotLookedAt,
    ];

    /// In a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Unread => "not read",
            Self::OutsideOfLoops => "outside of loops",
            Self::Libraries => "in libraries, outside of loops",
            Self::OtherFiles => "in other files",
            Self::OtherFilesAndLibraries => "in other files and libraries",
            Self::NoNest => "no loop that can be tuned (-v says why)",
            Self::NotLookedAt => "not looked at, as the budget was spent",
        }
    }

    /// What it means.
    pub fn means(self) -> &'static str {
        match self {
            Self::Unread => "loops with a construct that is not read; the message names it",
            Self::OutsideOfLoops => "the file's own code around its loops, and functions that it calls once",
            Self::Libraries => "what the named lines call: allocating, reading and writing, `MPI_Init`",
            Self::OtherFiles => "files that the compile command does not name for tuning",
            Self::OtherFilesAndLibraries => {
                "files with less than 2 % of the time, and code whose source is not part of the build"
            }
            Self::NoNest => "a file all of whose hot loops have a construct that is not read",
            Self::NotLookedAt => "files with more of the time had their turns first",
        }
    }

    /// What would help, if anything does.
    pub fn remedy(self) -> Option<&'static str> {
        Some(match self {
            Self::Unread => "the advice below the message; see the index below",
            Self::NoNest => "see the messages with `-v`, and the index below",
            Self::OutsideOfLoops | Self::Libraries => {
                "larger input, if loops take more of the time there; else another tool"
            }
            Self::OtherFiles => "tune those files, or the project as a whole",
            Self::OtherFilesAndLibraries => return None,
            Self::NotLookedAt => "a longer `--budget`",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_that_is_too_little_looks_like_less() {
        let told = |speedup| NotKept::TooLittle(speedup, 1.03).to_string();
        assert!(told(1.021).contains("gains 1.02x, less than --min-speedup 1.03"));
        assert!(told(1.0271).contains("gains 1.027x,") && told(1.02996).contains("gains 1.02996x,"));
    }

    #[test]
    fn every_cause_is_listed_once() {
        let left_out: Vec<String> = LeftOut::all().iter().map(ToString::to_string).collect();
        let not_kept: Vec<String> = NotKept::all().iter().map(ToString::to_string).collect();
        let mut all =
            [left_out, not_kept, NotInNests::ALL.map(|rest| rest.words().to_owned()).to_vec()].concat();
        let n = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), n);
    }
}
