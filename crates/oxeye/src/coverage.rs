//! How much of the program's time is in loops that can be tuned, and where the rest is.

use oxeye_measure::SourceLine;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// With fewer samples nothing is said.
const LEAST_SAMPLES: usize = 20;

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
}

/// A loop that stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoopShare {
    /// Its first line.
    pub line: u32,
    /// Its share of the time.
    pub share: f64,
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
    /// From call stacks, the innermost call first. `None` if there are too few of them.
    pub(crate) fn of(stacks: &[Vec<SourceLine>], ranges: &LineRanges) -> Option<Coverage> {
        // Threads that only wait for work have no line of the program.
        let stacks: Vec<&Vec<SourceLine>> = stacks.iter().filter(|stack| !stack.is_empty()).collect();
        if stacks.len() < LEAST_SAMPLES {
            return None;
        }
        let mut known = HashMap::new();
        let (mut tunable, mut elsewhere) = (0, 0);
        let (mut loops, mut files) = (BTreeMap::new(), BTreeMap::new());
        for stack in &stacks {
            match site(stack, ranges, &mut known) {
                Site::Tunable => tunable += 1,
                Site::Loop(line) => *loops.entry(line).or_insert(0) += 1,
                Site::File(file) => *files.entry(file).or_insert(0) += 1,
                Site::Elsewhere => elsewhere += 1,
            }
        }
        let share = |n: usize| n as f64 / stacks.len() as f64;
        let mut loops: Vec<LoopShare> =
            loops.into_iter().map(|(line, n)| LoopShare { line, share: share(n) }).collect();
        loops.sort_by(|a, b| b.share.total_cmp(&a.share));
        let mut files: Vec<FileShare> =
            files.into_iter().map(|(file, n)| FileShare { file, share: share(n) }).collect();
        files.sort_by(|a, b| b.share.total_cmp(&a.share));
        Some(Coverage {
            samples: stacks.len(),
            tunable: share(tunable),
            loops,
            files,
            elsewhere: share(elsewhere),
        })
    }

    /// The share of the loop whose first line this is.
    pub fn of_loop(&self, line: u32) -> Option<f64> {
        self.loops.iter().find(|found| found.line == line).map(|found| found.share)
    }
}

/// What the lines of the file belong to.
pub(crate) struct LineRanges {
    /// As debug information may name the file.
    file: PathBuf,
    /// First and last lines of nests that can be tuned.
    tunable: Vec<(u32, u32)>,
    /// The same of loops that stay.
    loops: Vec<(u32, u32)>,
}

impl LineRanges {
    /// First and last lines of nests that can be tuned, and of loops that stay, in a file.
    pub(crate) fn new(file: &Path, tunable: Vec<(u32, u32)>, loops: Vec<(u32, u32)>) -> Self {
        Self { file: absolute(file), tunable, loops }
    }
}

fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

enum Site {
    Tunable,
    Loop(u32),
    File(PathBuf),
    Elsewhere,
}

/// Where the time of one sample counts: in a tunable nest if one is at work, else in the innermost source file, and there in
/// the innermost loop. What headers define counts where it is used.
fn site<'a>(stack: &'a [SourceLine], ranges: &LineRanges, known: &mut HashMap<&'a Path, bool>) -> Site {
    let mut is_own =
        |at: &'a SourceLine| *known.entry(&at.file).or_insert_with(|| absolute(&at.file) == ranges.file);
    let around = |at: &SourceLine, loops: &[(u32, u32)]| {
        let around = loops.iter().filter(|lines| (lines.0..=lines.1).contains(&at.line));
        around.min_by_key(|lines| lines.1 - lines.0).map(|lines| lines.0)
    };
    if stack.iter().any(|at| is_own(at) && around(at, &ranges.tunable).is_some()) {
        return Site::Tunable;
    }
    let is_source = |at: &&SourceLine| at.file.extension().is_some_and(|e| e == "c") && at.file.exists();
    match stack.iter().find(|at| is_own(at) || is_source(at)) {
        Some(at) if !is_own(at) => Site::File(at.file.clone()),
        _ => {
            let mut own = stack.iter().filter(|at| is_own(at));
            own.find_map(|at| around(at, &ranges.loops)).map_or(Site::Elsewhere, Site::Loop)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(lines: &[(&str, u32)]) -> Vec<SourceLine> {
        lines.iter().map(|(file, line)| SourceLine { file: file.into(), line: *line }).collect()
    }

    #[test]
    fn a_sample_counts_where_something_could_be_done_about_it() {
        let ranges =
            LineRanges { file: "a.c".into(), tunable: vec![(10, 12)], loops: vec![(20, 40), (25, 30)] };
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
        let found = Coverage::of(&stacks, &ranges).expect("enough samples");
        assert_eq!((found.samples, found.tunable), (100, 0.5));
        assert_eq!((found.of_loop(25), found.of_loop(20)), (Some(0.2), Some(0.05)));
        assert_eq!(found.loops[0].line, 25);
        assert_eq!((found.files[0].share, found.elsewhere), (0.1, 0.15));
        assert_eq!(Coverage::of(&stacks[..19], &ranges), None);
    }
}
