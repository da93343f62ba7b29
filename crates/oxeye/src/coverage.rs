//! How much of the program's time is in loops that can be tuned, and where the rest is.

use oxeye_frontend::Included;
use oxeye_measure::SourceLine;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// With fewer samples nothing is said.
const LEAST_SAMPLES: usize = 20;

/// A line of the user's file, or of one that it includes; or the lines of several loops that are taken as one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct LineReport {
    /// The included file, as seen from the folder of the user's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// From 1.
    pub line: u32,
    /// The last line of several loops.
    #[serde(rename = "last_line", skip_serializing_if = "Option::is_none")]
    pub last: Option<u32>,
    /// From 1, where another loop is told of that begins in the same line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl LineReport {
    /// A line of the text that a file was read as.
    pub(crate) fn of(included: &Included, line: u32) -> Self {
        let found = included.line(line);
        Self { file: found.file.map(|file| file.name.clone()), line: found.line, ..Self::default() }
    }
}

impl From<u32> for LineReport {
    fn from(line: u32) -> Self {
        Self { line, ..Self::default() }
    }
}

impl std::fmt::Display for LineReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        match (self.last, self.column) {
            (Some(last), _) => write!(f, "{}-{last}", self.line),
            (None, Some(column)) => write!(f, "{}:{column}", self.line),
            (None, None) => self.line.fmt(f),
        }
    }
}

/// Where the program's processor time goes, by samples of its call stacks. Shares are from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Coverage {
    /// Samples that were taken in the program.
    pub samples: usize,
    /// Share in nests that can be tuned, with the functions they call.
    pub tunable: f64,
    /// Shares in other loops of the file, by their first lines, the largest first.
    pub loops: Vec<LoopShare>,
    /// Shares in other source files of the program, the largest first.
    pub files: Vec<FileShare>,
    /// Share of the rest: straight code of the file, and libraries that no loop of these calls.
    pub elsewhere: f64,
    /// Lines of the file that this is in, the largest first.
    pub outside: Vec<OutsideShare>,
}

/// A line of the file that is in no loop.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutsideShare {
    /// The line.
    #[serde(flatten)]
    pub line: LineReport,
    /// Its share of the time.
    pub share: f64,
    /// The library that is at work there; `None` for code of the file itself.
    pub library: Option<String>,
}

/// A loop that stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoopShare {
    /// Its first line.
    #[serde(flatten)]
    pub line: LineReport,
    /// Its share of the time, without that of nests and loops inside.
    pub share: f64,
    /// Its share with everything in it and what that calls.
    pub whole: f64,
}

/// Another file of the program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FileShare {
    /// As the debug information names it.
    pub file: PathBuf,
    /// Its share of the time.
    pub share: f64,
}

impl Coverage {
    /// The same with the lines of the text that a file was read as known by their files.
    pub(crate) fn located(mut self, included: &Included) -> Self {
        let lines = self.loops.iter_mut().map(|found| &mut found.line);
        let lines = lines.chain(self.outside.iter_mut().map(|found| &mut found.line));
        lines.for_each(|line| *line = LineReport::of(included, line.line));
        self
    }

    /// The same with the shares of nests as they are known otherwise: of each the line, and what is counted for it. A nest in the
    /// line of a loop that stays is that loop. What the samples have of the rest is made to fit beside them.
    pub(crate) fn fitted<'a>(mut self, nests: impl Iterator<Item = (&'a LineReport, f64)>) -> Self {
        let (mut tunable, mut staying) = (None, BTreeMap::new());
        for (line, share) in nests {
            match self
                .loops
                .iter()
                .position(|found| found.line.line == line.line && found.line.file == line.file)
            {
                Some(position) => *staying.entry(position).or_insert(0.0) += share,
                None => *tunable.get_or_insert(0.0) += share,
            }
        }
        self.tunable = tunable.unwrap_or(self.tunable).min(1.0);
        let known = self.tunable + staying.values().sum::<f64>();
        let is_staying = |position: &usize| staying.contains_key(position);
        let others =
            self.loops.iter().enumerate().filter(|(k, _)| !is_staying(k)).map(|(_, found)| found.share);
        let rest = others.chain(self.files.iter().map(|found| found.share)).sum::<f64>() + self.elsewhere;
        let factor = if rest > 0.0 { ((1.0 - known).max(0.0) / rest).min(1.0) } else { 1.0 };
        for (position, found) in self.loops.iter_mut().enumerate() {
            found.share = staying.get(&position).copied().unwrap_or(factor * found.share);
            found.whole = found.whole.max(found.share);
        }
        self.files.iter_mut().for_each(|found| found.share *= factor);
        self.outside.iter_mut().for_each(|found| found.share *= factor);
        self.elsewhere *= factor;
        self.loops.sort_by(|a, b| b.share.total_cmp(&a.share));
        self
    }

    /// The share of what is elsewhere that libraries have.
    pub fn in_libraries(&self) -> f64 {
        self.outside.iter().filter(|found| found.library.is_some()).map(|found| found.share).sum()
    }

    /// The share of the loop whose first line this is, without that of others inside.
    pub fn of_loop(&self, line: &LineReport) -> Option<f64> {
        self.loops.iter().find(|found| found.line == *line).map(|found| found.share)
    }

    /// The share of the loop whose first line this is, with everything in it.
    pub fn of_whole_loop(&self, line: &LineReport) -> Option<f64> {
        self.loops.iter().find(|found| found.line == *line).map(|found| found.whole)
    }
}

/// A line and a column of the file, both from 1. The column is 0 where it is not known.
pub(crate) type Spot = (u32, u32);

/// Where a loop begins and ends: other code may stand on its first and last lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    /// Its first byte.
    pub(crate) first: Spot,
    /// Its last byte.
    pub(crate) last: Spot,
}

impl Lines {
    /// All that stands on these lines.
    pub(crate) fn whole(first: u32, last: u32) -> Self {
        Self { first: (first, 1), last: (last, u32::MAX) }
    }

    /// With so many lines before and behind.
    pub(crate) fn widened(&self, n: u32) -> Self {
        Self::whole(self.first.0.saturating_sub(n), self.last.0.saturating_add(n))
    }

    fn contain(&self, at: Spot) -> bool {
        match at {
            (line, 0) => (self.first.0..=self.last.0).contains(&line),
            at => (self.first..=self.last).contains(&at),
        }
    }
}

/// The call stacks of a run of the program, as far as they are in its sources.
pub(crate) struct Stacks(Vec<Stack>);

struct Stack {
    /// Places in the file, the innermost call first.
    own: Vec<Spot>,
    /// The source file of the innermost call, if it is another one.
    other: Option<PathBuf>,
    /// The header of the innermost call, if it is no system's: what it defines counts where it is used, if that is in a loop.
    header: Option<PathBuf>,
    /// The library that the innermost call is in, if that has no lines.
    library: Option<String>,
}

impl Stacks {
    /// Of samples of the program of a file with others in its text; `None` if there are too few of them.
    pub(crate) fn of(file: &Path, included: &Included, samples: &[Vec<SourceLine>]) -> Option<Self> {
        let others = included.files().iter().enumerate().skip(1);
        let files: HashMap<PathBuf, usize> =
            others.map(|(idx, other)| (absolute(&other.path), idx)).chain([(absolute(file), 0)]).collect();
        let in_text = |file: usize, line: u32| match included.is_any() {
            true => included.line_of(file, line),
            false => Some(line),
        };
        let mut known: HashMap<&Path, Option<usize>> = HashMap::new();
        let mut waiting: HashMap<&Path, HashSet<u32>> = HashMap::new();
        let mut stacks = Vec::new();
        for sample in samples {
            let mut stack = Stack { own: Vec::new(), other: None, header: None, library: None };
            let mut is_innermost = true;
            let mut waits = false;
            for at in sample {
                if at.line == 0 {
                    stack.library = at.file.file_name().map(|name| name.to_string_lossy().into_owned());
                    continue;
                }
                let own = *known.entry(&at.file).or_insert_with(|| files.get(&absolute(&at.file)).copied());
                let own = own.and_then(|file| in_text(file, at.line));
                let is_own = own.is_some();
                let is_source = is_own || (at.file.extension().is_some_and(|e| e == "c") && at.file.exists());
                if is_innermost && is_source {
                    waits = waiting.entry(&at.file).or_insert_with(|| waits_in(&at.file)).contains(&at.line);
                }
                if let Some(line) = own {
                    stack.own.push((line, at.column));
                } else if is_innermost && is_source {
                    stack.other = Some(at.file.clone());
                } else if is_innermost
                    && stack.header.is_none()
                    && !at.file.starts_with("/usr")
                    && at.file.exists()
                {
                    stack.header = Some(at.file.clone());
                }
                is_innermost &= !is_source;
            }
            // Threads that only wait for work have no line of the program, or that of the directive that made their team.
            if !sample.is_empty() && !waits {
                stacks.push(stack);
            }
        }
        (stacks.len() >= LEAST_SAMPLES).then_some(Self(stacks))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The share of the time in a loop, with what it calls.
    pub(crate) fn share(&self, lines: Lines) -> f64 {
        let is_inside = |stack: &&Stack| stack.own.iter().any(|at| lines.contain(*at));
        self.0.iter().filter(is_inside).count() as f64 / self.0.len() as f64
    }

    /// Where the time goes: to nests that can be tuned where one is at work, else to the innermost source file, and in that
    /// of the nests to the innermost loop.
    pub(crate) fn coverage(&self, tunable: &[Lines], loops: &[Lines]) -> Coverage {
        let around = |at: Spot, loops: &[Lines]| {
            let around = loops.iter().filter(|lines| lines.contain(at));
            around.min_by_key(|lines| lines.last.0 - lines.first.0).map(|lines| lines.first.0)
        };
        let share = |n: usize| n as f64 / self.0.len() as f64;
        let (mut n_tunable, mut n_elsewhere) = (0, 0);
        let (mut in_loops, mut in_files) = (BTreeMap::new(), BTreeMap::new());
        let mut outside: BTreeMap<(u32, Option<&String>), usize> = BTreeMap::new();
        // By first lines: the share of the largest loop there, as the smallest has the time of its own.
        let mut wholes: BTreeMap<u32, f64> = BTreeMap::new();
        for lines in loops {
            let whole = wholes.entry(lines.first.0).or_insert(0.0);
            *whole = whole.max(self.share(*lines));
        }
        for stack in &self.0 {
            if stack.own.iter().any(|at| around(*at, tunable).is_some()) {
                n_tunable += 1;
            } else if let Some(file) = &stack.other {
                *in_files.entry(file).or_insert(0) += 1;
            } else if let Some(line) = stack.own.iter().find_map(|at| around(*at, loops)) {
                *in_loops.entry(line).or_insert(0) += 1;
            } else if let Some(file) = &stack.header {
                *in_files.entry(file).or_insert(0) += 1;
            } else {
                n_elsewhere += 1;
                if let Some((line, _)) = stack.own.first() {
                    *outside.entry((*line, stack.library.as_ref())).or_insert(0) += 1;
                }
            }
        }
        let of_line = |(line, whole): (u32, f64)| LoopShare {
            line: line.into(),
            share: share(in_loops.get(&line).copied().unwrap_or(0)),
            whole,
        };
        let mut loops: Vec<LoopShare> =
            wholes.into_iter().filter(|(_, whole)| *whole > 0.0).map(of_line).collect();
        loops.sort_by(|a, b| b.share.total_cmp(&a.share));
        let mut files: Vec<FileShare> =
            in_files.into_iter().map(|(file, n)| FileShare { file: file.clone(), share: share(n) }).collect();
        files.sort_by(|a, b| b.share.total_cmp(&a.share));
        let outside = outside.into_iter().map(|((line, library), n)| OutsideShare {
            line: line.into(),
            share: share(n),
            library: library.cloned(),
        });
        let mut outside: Vec<OutsideShare> = outside.collect();
        outside.sort_by(|a, b| b.share.total_cmp(&a.share));
        let (tunable, elsewhere) = (share(n_tunable), share(n_elsewhere));
        Coverage { samples: self.0.len(), tunable, loops, files, elsewhere, outside }
    }
}

/// Lines of a source file at which threads only wait for each other: those of OpenMP's directives that make teams or end
/// with a barrier.
fn waits_in(file: &Path) -> HashSet<u32> {
    let text = std::fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let is_barrier = |line: &str| {
        let words = line.trim_start().strip_prefix('#').map(str::trim_start);
        let words = words.and_then(|rest| rest.strip_prefix("pragma")).map(str::trim_start);
        let directive = words.and_then(|rest| rest.strip_prefix("omp")).map(str::trim_start);
        let name = directive.and_then(|d| d.split(|c: char| !c.is_alphanumeric()).next());
        matches!(name, Some("parallel" | "for" | "barrier" | "sections" | "single"))
    };
    (1..).zip(text.lines()).filter(|(_, line)| is_barrier(line)).map(|(number, _)| number).collect()
}

fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(lines: &[(&str, u32)]) -> Vec<SourceLine> {
        lines.iter().map(|(file, line)| SourceLine { file: file.into(), line: *line, column: 0 }).collect()
    }

    #[test]
    fn a_sample_counts_where_something_could_be_done_about_it() {
        let (tunable, loops) = ([Lines::whole(10, 12)], [Lines::whole(20, 40), Lines::whole(25, 30)]);
        let mut stacks = Vec::new();
        let mut add = |n: usize, lines: &[(&str, u32)]| stacks.extend(vec![stack(lines); n]);
        add(40, &[("a.c", 11), ("a.c", 50)]);
        // In a function that the nest calls.
        add(10, &[("a.c", 3), ("a.c", 12)]);
        // In the inner of two loops that stay, and in a function that the outer calls.
        add(20, &[("a.c", 26)]);
        add(5, &[("a.c", 3), ("a.c", 35)]);
        add(15, &[("a.c", 3), ("a.c", 60)]);
        let other = tempfile::NamedTempFile::with_suffix(".c").expect("a file");
        let other = other.path().to_str().expect("a name");
        add(10, &[(other, 3), ("a.c", 35)]);
        add(100, &[]);
        let file = Path::new("a.c");
        let sampled = Stacks::of(file, &Included::default(), &stacks).expect("enough samples");
        let found = sampled.coverage(&tunable, &loops);
        assert_eq!(sampled.share(Lines::whole(50, 60)), 0.55);
        assert_eq!((found.samples, found.tunable), (100, 0.5));
        assert_eq!((found.of_loop(&25.into()), found.of_loop(&20.into())), (Some(0.2), Some(0.05)));
        assert_eq!(found.loops[0].line, 25.into());
        assert_eq!((found.files[0].share, found.elsewhere), (0.1, 0.15));
        assert!(Stacks::of(file, &Included::default(), &stacks[..19]).is_none());
    }

    #[test]
    fn functions_of_headers_count_for_the_loops_around_their_calls() {
        let header = tempfile::NamedTempFile::with_suffix(".h").expect("a file");
        let name = header.path().to_str().expect("a name");
        let mut stacks = vec![stack(&[(name, 3), ("a.c", 11)]); 50];
        stacks.extend(vec![stack(&[(name, 3), ("a.c", 35)]); 30]);
        stacks.extend(vec![stack(&[(name, 3), ("a.c", 60)]); 20]);
        let sampled = Stacks::of(Path::new("a.c"), &Included::default(), &stacks).expect("enough samples");
        let found = sampled.coverage(&[Lines::whole(10, 12)], &[Lines::whole(20, 40)]);
        assert_eq!((found.tunable, found.of_loop(&20.into()), found.elsewhere), (0.5, Some(0.3), 0.0));
        assert_eq!(found.files, [FileShare { file: header.path().into(), share: 0.2 }]);
    }

    #[test]
    fn calls_beside_a_loop_on_its_line_are_not_in_it() {
        let at = |line, column| SourceLine { file: "a.c".into(), line, column };
        // `for (...) { f(); for (...) x[i] = 0; }` on line 20, where `f` has the loop at line 5.
        let mut stacks = vec![vec![at(6, 7), at(20, 30)]; 60];
        stacks.extend(vec![vec![at(20, 48)]; 30]);
        stacks.extend(vec![vec![at(20, 0)]; 10]);
        let sampled = Stacks::of(Path::new("a.c"), &Included::default(), &stacks).expect("enough samples");
        let inner = Lines { first: (20, 35), last: (20, 60) };
        let found = sampled.coverage(&[inner], &[Lines::whole(5, 8), Lines::whole(20, 20)]);
        assert_eq!(
            (found.tunable, found.of_loop(&5.into()), found.of_loop(&20.into())),
            (0.4, Some(0.6), Some(0.0))
        );
        assert_eq!((found.of_whole_loop(&5.into()), found.of_whole_loop(&20.into())), (Some(0.6), Some(1.0)));
        assert_eq!(sampled.share(inner), 0.4);
    }

    #[test]
    fn threads_that_wait_for_their_team_do_not_count() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.c");
        std::fs::write(
            &file,
            "void f() {\n #  pragma omp parallel for\n for (;;) {\n#pragma omp atomic\n x++; } }\n",
        )
        .expect("a file");
        let name = file.to_str().expect("a name");
        let mut stacks = vec![stack(&[(name, 3), (name, 9)]); 30];
        stacks.extend(vec![stack(&[(name, 2), (name, 9)]); 70]);
        stacks.extend(vec![stack(&[(name, 4), (name, 9)]); 10]);
        let sampled = Stacks::of(&file, &Included::default(), &stacks).expect("enough samples");
        let found = sampled.coverage(&[Lines::whole(3, 5)], &[Lines::whole(8, 9)]);
        assert_eq!((found.samples, found.tunable, found.of_loop(&9.into())), (40, 1.0, None));
    }
}
