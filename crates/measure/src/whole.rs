//! The whole program before and after.

use serde::Serialize;

use crate::busy::how_to_wait;
use crate::compare::Tolerance;
use crate::error::MeasureError;
use crate::left::{ComparedFile, Left, WatchedFiles};
use crate::process::{Exit, Invocation, Limits, RunOutcome};
use crate::statistics::{RatioInterval, Stat, ratio_interval};
use crate::text::{Pattern, TextRules, compare_text};
use crate::written::compare_files;

/// The variable that says how many threads OpenMP has.
const THREADS: &str = "OMP_NUM_THREADS";

/// How whole programs are run and compared.
#[derive(Clone, Debug)]
pub struct WholeOptions {
    /// Limits of each run.
    pub limits: Limits,
    /// `OMP_NUM_THREADS`, if it is to be set.
    pub threads: Option<usize>,
    /// How far numbers in the output may be apart, relative to the larger one; `None` asks for equal bytes.
    pub relative_tolerance: Option<f64>,
    /// How far those in files of arrays may be apart.
    pub array_tolerance: Tolerance,
    /// What matches one of these in a line of text is not compared.
    pub ignore: Vec<Pattern>,
    /// Files that the program writes, which are compared as well. They are removed before each run; what was there before all
    /// of them is put back in the end.
    pub files: Vec<ComparedFile>,
    /// What earlier runs of the program before left, from which numbers that vary from run to run are known even when `before`
    /// is run only once.
    pub earlier: Vec<Left>,
    /// What other builds of the program before leave ([`TextRules::witnesses`]).
    pub witnesses: Vec<Left>,
}

impl Default for WholeOptions {
    fn default() -> WholeOptions {
        WholeOptions {
            limits: Limits::default(),
            threads: None,
            relative_tolerance: Some(1e-6),
            array_tolerance: Tolerance::Relative { f64: 1e-6, f32: 1e-4 },
            ignore: Vec::new(),
            files: Vec::new(),
            earlier: Vec::new(),
            witnesses: Vec::new(),
        }
    }
}

impl WholeOptions {
    /// Runs a program and takes what it leaves, to be compared.
    ///
    /// # Errors
    /// When it cannot be started, or does not write a file that is compared.
    pub fn run(&self, program: &Invocation) -> Result<(RunOutcome, Left), MeasureError> {
        let watched = WatchedFiles::new(&self.files, program.cwd.as_deref())?;
        let (outcome, left) = self.run_watched(program, &watched)?;
        watched.expect_all(&left, outcome.exit)?;
        Ok((outcome, left))
    }

    /// How many threads OpenMP has in a program that is run so.
    fn threads_of(&self, program: &Invocation) -> usize {
        let set = || program.env.iter().rev().find(|(name, _)| name == THREADS)?.1.to_str()?.parse().ok();
        self.threads.or_else(set).unwrap_or_else(available_cores)
    }

    fn run_watched(
        &self,
        program: &Invocation,
        watched: &WatchedFiles,
    ) -> Result<(RunOutcome, Left), MeasureError> {
        let mut invocation = program.clone();
        if let Some(threads) = self.threads {
            invocation = invocation.env(THREADS, threads.to_string());
        }
        watched.run(&invocation, &self.limits)
    }
}

/// A program before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WholeComparison {
    /// Wall-clock nanoseconds of the runs before, without what they waited for cores that others had.
    pub before_ns: Stat,
    /// Those of the runs after.
    pub after_ns: Stat,
    /// Speedup: time before over time after.
    pub speedup: RatioInterval,
    /// How the first run before ended.
    pub before_exit: Exit,
    /// Whether a run before was stopped at the time limit.
    pub before_timed_out: bool,
    /// How the first run after that ended differently from it did, else the same.
    pub after_exit: Exit,
    /// Whether all runs ended alike and by themselves, with equal standard output and files.
    pub equal: bool,
    /// The difference in words.
    pub difference: Option<String>,
    /// Whether the difference is one of two numbers.
    pub is_number: bool,
    /// Largest relative difference of two numbers in the outputs, but for those that differ in their last printed place only.
    pub max_rel_error: f64,
    /// Numbers that do.
    pub last_place_numbers: usize,
    /// Numbers that already differ between runs of the program before, such as times it prints; they are not compared.
    pub unstable_numbers: usize,
    /// Words and lines that vary likewise.
    pub unstable_words: usize,
    /// Whether the order of lines varies, so that they are compared in any.
    pub in_any_order: bool,
    /// Numbers outside the tolerance that are as near as those of other builds of the program before.
    pub widened_numbers: usize,
    /// Parts that match a pattern, and are not compared.
    pub ignored_parts: usize,
    /// Lines about how many threads there are, which only a program with OpenMP prints so.
    pub thread_lines: usize,
}

/// How many threads run at a time.
pub fn available_cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// After a pair of runs with a smaller speedup no more are made.
const HOPELESS: f64 = 0.4;

/// Runs of two programs in turns.
#[derive(Clone, Debug)]
pub struct WholeRuns {
    befores: Vec<(RunOutcome, Left)>,
    /// With the threads that each had.
    afters: Vec<(RunOutcome, Left, usize)>,
}

/// Runs two programs `n` times each (at least once; fewer if the second is far slower), in turns.
///
/// # Errors
/// When one of them cannot be started, or `before` does not write a file that is compared.
pub fn run_whole(
    before: &Invocation,
    after: &Invocation,
    n: usize,
    options: &WholeOptions,
) -> Result<WholeRuns, MeasureError> {
    let watched = WatchedFiles::new(&options.files, before.cwd.as_deref())?;
    let mut befores: Vec<(RunOutcome, Left)> = Vec::new();
    let mut afters: Vec<(RunOutcome, Left)> = Vec::new();
    for round in 0..n.max(1) {
        let how = how_to_wait();
        // Taking turns at going first cancels a drift of the machine's speed.
        for first in [true, false] {
            let (program, runs) = match first == (round % 2 == 0) {
                true => (before, &mut befores),
                false => (after, &mut afters),
            };
            let (outcome, mut left) = options.run_watched(&program.clone().waiting(how), &watched)?;
            // Programs that always write the same do not need room for it more than once.
            if let Some((_, known)) = runs.first() {
                left.share_with(known);
            }
            runs.push((outcome, left));
        }
        let stopped =
            |runs: &[(RunOutcome, Left)]| runs.last().is_some_and(|(run, _)| run.exit == Exit::TimedOut);
        let last = |runs: &[(RunOutcome, Left)]| runs.last().map_or(0.0, |(run, _)| run.own_ns() as f64);
        if stopped(&befores) || stopped(&afters) || last(&befores) < HOPELESS * last(&afters) {
            break;
        }
    }
    for (outcome, left) in &befores {
        watched.expect_all(left, outcome.exit)?;
    }
    let threads = options.threads_of(after);
    let afters = afters.into_iter().map(|(outcome, left)| (outcome, left, threads)).collect();
    Ok(WholeRuns { befores, afters })
}

impl WholeRuns {
    /// Runs the second program once more, in another way; what that leaves is compared, its time is not. A run in more threads than
    /// there are cores that is stopped at the time limit does not count.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn add(&mut self, after: &Invocation, options: &WholeOptions) -> Result<(), MeasureError> {
        let watched = WatchedFiles::new(&options.files, after.cwd.as_deref())?;
        let (outcome, left) = options.run_watched(after, &watched)?;
        let has_cores = options.threads.is_none_or(|threads| threads <= available_cores());
        // They wait for each other, which may take any time then.
        if has_cores || outcome.exit != Exit::TimedOut {
            self.afters.push((outcome, left, options.threads_of(after)));
        }
        Ok(())
    }

    /// Compares times, exit codes, standard output, and the files they wrote.
    ///
    /// With two runs or more, or with earlier outputs, numbers that vary between runs of the program before by more than the
    /// tolerance are found and not compared.
    ///
    /// # Errors
    /// When an array that was written cannot be read.
    pub fn compared(&self, options: &WholeOptions) -> Result<WholeComparison, MeasureError> {
        let WholeRuns { befores, afters } = self;
        let before_runs: Vec<RunOutcome> = befores.iter().map(|(run, _)| run.clone()).collect();
        let after_runs: Vec<RunOutcome> = afters.iter().map(|(run, ..)| run.clone()).collect();
        let ratios: Vec<f64> = before_runs
            .iter()
            .zip(&after_runs)
            .map(|(b, a)| b.own_ns().max(1) as f64 / a.own_ns().max(1) as f64)
            .collect();
        let speedup = ratio_interval(&ratios).unwrap_or(RatioInterval {
            median: 1.0,
            low: 1.0,
            high: 1.0,
            n: 0,
            confidence: 0.0,
        });
        let before_exit = before_runs[0].exit;
        let odd = before_runs.iter().chain(&after_runs).find(|run| run.exit != before_exit);
        let after_exit =
            after_runs.iter().map(|run| run.exit).find(|exit| *exit != before_exit).unwrap_or(before_exit);
        let mut result = WholeComparison {
            before_ns: Stat::of(before_runs.iter().map(|run| run.own_ns() as f64)),
            after_ns: Stat::of(after_runs.iter().take(befores.len()).map(|run| run.own_ns() as f64)),
            speedup,
            before_exit,
            before_timed_out: before_runs.iter().any(|run| run.exit == Exit::TimedOut),
            after_exit,
            equal: true,
            difference: None,
            is_number: false,
            max_rel_error: 0.0,
            last_place_numbers: 0,
            unstable_numbers: 0,
            unstable_words: 0,
            in_any_order: false,
            widened_numbers: 0,
            ignored_parts: 0,
            thread_lines: 0,
        };
        if !matches!(before_exit, Exit::Exited(_)) {
            result.difference = Some(format!("the program before did not end by itself: {before_exit}"));
        } else if let Some(odd) = odd {
            result.difference = Some(format!("one run ended with {}, another with {before_exit}", odd.exit));
        } else {
            let references: Vec<&Left> =
                befores.iter().map(|(_, left)| left).chain(&options.earlier).collect();
            for (k, (_, after, threads)) in afters.iter().enumerate() {
                // What is the same, of as many threads, was compared already.
                let before = afters[..k].last().map(|(_, left, threads)| (left, threads));
                if before != Some((after, threads)) {
                    result.take_in((after, *threads), &references, options)?;
                }
            }
        }
        result.equal = result.difference.is_none();
        Ok(result)
    }
}

impl WholeComparison {
    /// Compares what one run left, and how many threads it may tell of.
    fn take_in(
        &mut self,
        (after, threads): (&Left, usize),
        references: &[&Left],
        options: &WholeOptions,
    ) -> Result<(), MeasureError> {
        let printed: Vec<&[u8]> = references.iter().map(|left| &left.stdout[..]).collect();
        let witnesses: Vec<&[u8]> = options.witnesses.iter().map(|left| &left.stdout[..]).collect();
        let (relative_tolerance, ignore) = (options.relative_tolerance, &options.ignore[..]);
        let rules = TextRules { relative_tolerance, ignore, witnesses: &witnesses, threads: Some(threads) };
        let text = compare_text(&printed, &after.stdout, &rules);
        let (mut unstable, mut widened) = (text.unstable_numbers, text.widened_numbers);
        let (mut words, mut in_any_order) = (text.unstable_words, text.in_any_order);
        let (mut ignored, mut last_place) = (text.ignored_parts, text.last_place_numbers);
        let mut thread_lines = text.thread_lines;
        let mut take = |difference: Option<String>, is_number: bool, max_rel_error: f64| {
            self.max_rel_error = self.max_rel_error.max(max_rel_error);
            if self.difference.is_none() && difference.is_some() {
                (self.difference, self.is_number) = (difference, is_number);
            }
        };
        take(text.difference, text.is_number, text.max_rel_error);
        for (k, file) in options.files.iter().enumerate() {
            let of = |left: &'_ &Left| left.files.get(k).cloned().flatten();
            let before: Vec<_> = references.iter().filter_map(of).collect();
            let before: Vec<&[u8]> = before.iter().map(|bytes| &bytes[..]).collect();
            let witnesses: Vec<_> = options.witnesses.iter().filter_map(|left| of(&left)).collect();
            let witnesses: Vec<&[u8]> = witnesses.iter().map(|bytes| &bytes[..]).collect();
            let Some(written) = of(&after) else {
                take(Some(format!("{}: it is not written", file.path.display())), false, 0.0);
                continue;
            };
            let rules =
                TextRules { relative_tolerance, ignore, witnesses: &witnesses, threads: Some(threads) };
            let found = compare_files(file, &before, &written, &rules, options.array_tolerance)?;
            unstable += found.unstable_numbers;
            widened += found.widened_numbers;
            words += found.unstable_words;
            in_any_order |= found.in_any_order;
            ignored += found.ignored_parts;
            thread_lines += found.thread_lines;
            last_place += found.last_place_numbers;
            take(found.difference, found.is_number, found.max_rel_error);
        }
        (self.unstable_numbers, self.unstable_words) = (unstable, words);
        self.in_any_order |= in_any_order;
        self.widened_numbers = self.widened_numbers.max(widened);
        self.ignored_parts = ignored;
        self.thread_lines = self.thread_lines.max(thread_lines);
        self.last_place_numbers = self.last_place_numbers.max(last_place);
        Ok(())
    }
}
