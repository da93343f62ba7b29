//! What a run is about: which nests it tunes, and which results are worth keeping.

use crate::causes::{LeftOut, NotKept};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What commands ask of [`Focus::least_speedup`] unless they are told otherwise.
pub const LEAST_SPEEDUP: f64 = 1.03;

/// The nests that a run is about, and what it has to gain from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Focus {
    /// Only the nests of this function are read.
    pub function: Option<String>,
    /// Only nests in one of these places are tuned; everywhere if there is none.
    pub only: Vec<NamedPlace>,
    /// Nests in these places are not tuned.
    pub exclude: Vec<NamedPlace>,
    /// Nests below this share of the program's time are not tuned; from 0 to 1.
    pub least_share: f64,
    /// A result by which the whole program is less than so many times as fast, or may be no faster, is not kept. At 1 and
    /// below, whatever is not slower is kept.
    pub least_speedup: f64,
    /// Look, but try nothing and write nothing.
    pub is_dry: bool,
}

impl Default for Focus {
    fn default() -> Self {
        Self {
            function: None,
            only: Vec::new(),
            exclude: Vec::new(),
            least_share: 0.0,
            least_speedup: 1.0,
            is_dry: false,
        }
    }
}

impl Focus {
    /// The first place that names none of these nests.
    pub(crate) fn unmatched(&self, nests: &[Stand<'_>]) -> Option<&NamedPlace> {
        let is_any = |place: &&NamedPlace| nests.iter().any(|nest| place.has(nest));
        self.only.iter().chain(&self.exclude).find(|place| !is_any(place))
    }

    /// Why a nest that stands there is not tuned; `None` if it is.
    pub(crate) fn refusal(&self, nest: &Stand<'_>, share: Option<f64>) -> Option<LeftOut> {
        let is_in = |places: &[NamedPlace]| places.iter().any(|place| place.has(nest));
        match share {
            _ if !self.only.is_empty() && !is_in(&self.only) => Some(LeftOut::OnlyOthers),
            _ if is_in(&self.exclude) => Some(LeftOut::Excluded),
            Some(share) if share < self.least_share => Some(LeftOut::BelowLeastShare(share)),
            _ => None,
        }
    }

    /// Why a gain of the whole program is too little to be kept; `None` if it is enough.
    pub(crate) fn too_little(&self, speedup: f64, interval: Option<(f64, f64)>) -> Option<NotKept> {
        let least = self.least_speedup;
        let (low, high) = interval.unwrap_or((speedup, speedup));
        match () {
            () if least <= 1.0 => None,
            () if speedup < least => Some(NotKept::TooLittle(speedup, least)),
            () if low <= 1.0 => Some(NotKept::MayBeNone(speedup, (low, high))),
            () => None,
        }
    }

    /// Whether any nest of a file, or of one that it includes, may be tuned.
    pub(crate) fn may_tune(&self, file: &Path, share: f64) -> bool {
        let is_excluded = |place: &NamedPlace| matches!(place, NamedPlace::File { path, lines: None } if file.ends_with(path));
        // What is in a header, or in a function, may be compiled with any source.
        let may_be = |place: &NamedPlace| match place {
            NamedPlace::File { path, .. } => {
                file.ends_with(path) || path.extension().is_none_or(|end| end != "c")
            }
            NamedPlace::Function(_) => true,
        };
        share >= self.least_share
            && !self.exclude.iter().any(is_excluded)
            && (self.only.is_empty() || self.only.iter().any(may_be))
    }
}

/// Where a nest stands. Lines and columns are from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stand<'a> {
    pub(crate) file: &'a Path,
    pub(crate) function: &'a str,
    /// Line and column of its first letter, and of its last.
    pub(crate) first: (u32, u32),
    pub(crate) last: (u32, u32),
}

/// A place that nests are in, as people and reports name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedPlace {
    /// A function.
    Function(String),
    /// A file by the end of its path, or what stands in some of its lines.
    File {
        /// The file; or a function, if there are lines.
        path: PathBuf,
        /// The lines.
        lines: Option<NamedLines>,
    },
}

/// A line, a letter of one, or the lines of several loops that are taken as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedLines {
    /// The line, from 1.
    pub first: u32,
    /// The last one of several.
    pub last: Option<u32>,
    /// The letter, from 1.
    pub column: Option<u32>,
}

impl NamedPlace {
    fn has(&self, nest: &Stand<'_>) -> bool {
        match self {
            Self::Function(name) => name == nest.function,
            Self::File { path, lines: None } => nest.file.ends_with(path),
            Self::File { path, lines: Some(lines) } => {
                (nest.file.ends_with(path) || path.as_os_str() == nest.function) && lines.have(nest)
            }
        }
    }
}

impl NamedLines {
    /// Whether a nest stands there: around the letter, in the line, or in part within the lines.
    fn have(&self, nest: &Stand<'_>) -> bool {
        match (self.last, self.column) {
            (_, Some(column)) => (nest.first..=nest.last).contains(&(self.first, column)),
            (last, None) => nest.first.0 <= last.unwrap_or(self.first) && self.first <= nest.last.0,
        }
    }
}

impl std::fmt::Display for NamedPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Function(name) => f.write_str(name),
            Self::File { path, lines: None } => path.display().fmt(f),
            Self::File { path, lines: Some(lines) } => write!(f, "{}:{lines}", path.display()),
        }
    }
}

impl std::fmt::Display for NamedLines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.first.fmt(f)?;
        self.last.map_or(Ok(()), |last| write!(f, "-{last}"))?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

impl FromStr for NamedLines {
    type Err = String;

    /// `12`, `12:5` or `12-20`.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| part.parse().map_err(|_| format!("`{part}` is no line"));
        let some = |part: Option<&str>| part.map(number).transpose();
        let (lines, column) = text.split_once(':').map_or((text, None), |(lines, at)| (lines, Some(at)));
        let (first, last) = lines.split_once('-').map_or((lines, None), |(first, last)| (first, Some(last)));
        Ok(Self { first: number(first)?, last: some(last)?, column: some(column)? })
    }
}

impl FromStr for NamedPlace {
    type Err = String;

    /// `kernel.c`, `src/kernel.c:12`, `kernel.c:12:5`, `jacobi:12`, or `jacobi`, the name of a function.
    fn from_str(text: &str) -> Result<Self, String> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let file = |path: &str, lines| Self::File { path: path.trim_start_matches("./").into(), lines };
        match text.split_once(':') {
            _ if text.is_empty() => Err("it is a file, FILE:LINE or a function".into()),
            Some((path, lines)) if !path.is_empty() => match lines.parse() {
                Ok(lines) => Ok(file(path, Some(lines))),
                Err(why) => Err(format!("{why}; it is a file, FILE:LINE or a function")),
            },
            Some(_) => Err("it is a file, FILE:LINE or a function".into()),
            None if text.chars().all(is_name) => Ok(Self::Function(text.to_owned())),
            None => Ok(file(text, None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn focus(only: &[&str], exclude: &[&str]) -> Focus {
        let places = |texts: &[&str]| texts.iter().map(|text| text.parse().expect("a place")).collect();
        Focus { only: places(only), exclude: places(exclude), ..Focus::default() }
    }

    #[test]
    fn places_are_files_lines_and_functions() {
        let stand =
            Stand { file: Path::new("/p/src/kernel.c"), first: (10, 5), last: (14, 6), function: "jacobi" };
        let nest = |focus: &Focus| focus.refusal(&stand, None).is_none();
        for (only, exclude, is_tuned) in [
            (&[][..], &[][..], true),
            (&["kernel.c"], &[], true),
            (&["src/kernel.c:12"], &[], true),
            (&["kernel.c:15"], &[], false),
            (&["jacobi"], &[], true),
            (&["other", "ernel.c"], &[], false),
            (&["kernel.c:10:5"], &[], true),
            (&["jacobi:10:5"], &[], true),
            (&["kernel.c:10:4"], &[], false),
            (&["kernel.c:14:7"], &[], false),
            (&["kernel.c:14-20"], &[], true),
            (&["kernel.c:15-20"], &[], false),
            (&[], &["jacobi:12"], false),
            (&[], &["jacobi"], false),
            (&["kernel.c"], &["./src/kernel.c:10"], false),
        ] {
            assert_eq!(nest(&focus(only, exclude)), is_tuned, "{only:?} {exclude:?}");
        }
        for wrong in ["kernel.c:x", "", ":3", "kernel.c:3:", "kernel.c:3:4:5"] {
            assert!(wrong.parse::<NamedPlace>().is_err(), "{wrong}");
        }
        for name in ["kernel.c:4:18", "main:4:18", "src/kernel.c:12-30", "jacobi"] {
            assert_eq!(name.parse::<NamedPlace>().map(|place| place.to_string()), Ok(name.to_owned()));
        }
    }

    #[test]
    fn gains_have_to_be_worth_it() {
        let focus = Focus { least_speedup: 1.03, ..Focus::default() };
        assert_eq!(focus.too_little(1.2, Some((1.1, 1.3))), None);
        let too_little =
            |speedup, interval| focus.too_little(speedup, interval).expect("too little").to_string();
        assert_eq!(
            too_little(1.02, Some((1.01, 1.03))),
            "not kept: the program gains 1.02x, less than --min-speedup 1.03"
        );
        assert_eq!(
            too_little(1.2, Some((0.9, 1.5))),
            "not kept: the gain of the program, 1.20x (0.90-1.50), may be none"
        );
        assert_eq!(Focus::default().too_little(0.99, None), None);
    }

    #[test]
    fn files_that_cannot_matter_are_not_looked_at() {
        let may =
            |only: &[&str], exclude: &[&str]| focus(only, exclude).may_tune(Path::new("/p/kernel.c"), 0.1);
        assert!(may(&[], &["other.c"]) && may(&["jacobi"], &[]) && may(&["stencil.h:12"], &[]));
        assert!(!may(&["other.c"], &[]) && !may(&[], &["kernel.c"]) && may(&[], &["kernel.c:3"]));
        assert!(!Focus { least_share: 0.2, ..Focus::default() }.may_tune(Path::new("kernel.c"), 0.1));
    }
}
